/* A bolt that floods, as no bolt should: after the handshake, 1 GiB without a line end.
 *
 * Its argument says where: "stdout", "stderr", or "nowhere" for a bolt that only waits.
 */
#define _GNU_SOURCE
#include "multilang.h"

enum { PIECE = 1 << 16, PIECES = 1 << 14 };

int main(int count, char **words) {
    static char piece[PIECE];
    const char *where = count > 1 ? words[1] : "nowhere";
    shake_hands();
    flush_output();
    memset(piece, 'x', sizeof piece);
    int target = strcmp(where, "stdout") == 0 ? STDOUT_FILENO : STDERR_FILENO;
    for (int number = 0; number < PIECES && strcmp(where, "nowhere") != 0; number++)
        if (write(target, piece, sizeof piece) < 0)
            return 0;
    for (;;)
        next_message();
}
