/* A spout that emits sentences, and again those that failed. Storm starts this program and talks to it over stdin and
 * stdout. */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "multilang.h"

static const char *const SENTENCES[] = {
    "the cow jumped over the moon", "an apple a day keeps the doctor away", "four score and seven years ago",
    "snow white and the seven dwarfs", "i am at two with nature",
};
enum { COUNT = sizeof SENTENCES / sizeof *SENTENCES };

/* What became of each sentence: still to be emitted, emitted and not yet acked, or acked. */
static enum { WAITING, PENDING, DONE } states[COUNT];

/* Emit one sentence. Because it has an id, its number as a string, Storm will tell us its fate: ack or fail. */
static void next_tuple(void) {
    for (int i = 0; i < COUNT; i++) {
        if (states[i] == WAITING) {
            states[i] = PENDING;
            /* need_task_ids false: we do not want to be told which tasks get the sentence. */
            printf("{\"command\":\"emit\",\"id\":\"%d\",\"need_task_ids\":false,\"tuple\":[\"%s\"]}\nend\n", i + 1,
                   SENTENCES[i]);
            return;
        }
    }
    /* Nothing to emit: do not let Storm ask again at full speed. */
    nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
}

/* The sentence that was emitted with this id is acked or failed. An id that we do not wait for is nothing to us. */
static void settle(Value id, int state) {
    for (int i = 0; i < COUNT; i++) {
        char known[16];
        snprintf(known, sizeof known, "\"%d\"", i + 1);
        if (states[i] == PENDING && is(id, known)) states[i] = state;
    }
}

int main(void) {
    handshake();
    for (;;) {
        const char *message = read_message();
        if (*skip_space(message) == '[') continue; /* task ids, the answer to an emit: we have no use for them */
        Value command = member(message, "command");
        if (is(command, "\"next\"")) next_tuple();
        else if (is(command, "\"ack\"")) settle(member(message, "id"), DONE);
        else if (is(command, "\"fail\"")) settle(member(message, "id"), WAITING);
        /* Each command is answered by exactly one sync, also those that need no work: activate and deactivate. */
        fputs("{\"command\":\"sync\"}\nend\n", stdout);
        flush_messages();
    }
}
