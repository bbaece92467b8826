/* A spout that never has anything to emit: it answers every command with sync at once. */
#define _GNU_SOURCE
#include "multilang.h"

int main(void) {
    shake_hands();
    for (;;) {
        if (value_of(next_message(), "command").at)
            SAY("{\"command\":\"sync\"}\nend\n");
    }
}
