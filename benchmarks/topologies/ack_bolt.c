/* A bolt that acks: the last of a topology. */
#define _GNU_SOURCE
#include "../multilang.h"

int main(void) {
    shake_hands();
    for (;;) {
        struct span message = next_message();
        if (message.size == 0 || *message.at == '[')
            continue; /* task ids */
        if (is(value_of(message, "stream"), "\"__heartbeat\"")) {
            SAY("{\"command\":\"sync\"}\nend\n");
            continue;
        }
        SAY("{\"command\":\"ack\",\"id\":");
        say_span(value_of(message, "id"));
        SAY("}\nend\n");
        if (out_size >= FLUSH_AT)
            flush_output();
    }
}
