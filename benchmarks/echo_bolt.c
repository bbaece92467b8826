/* A bolt that emits each tuple's values, anchored to it, and acks it: as little work as a correct bolt can do.
 *
 * It reads the task ids of its emits, when they come, and answers heartbeats.
 */
#define _GNU_SOURCE
#include "multilang.h"

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
        struct span id = value_of(message, "id"), values = value_of(message, "tuple");
        if (!id.at || !values.at)
            die("a message that is no tuple");
        SAY("{\"command\":\"emit\",\"anchors\":[");
        say_span(id);
        SAY("],\"tuple\":");
        say_span(values);
        SAY("}\nend\n{\"command\":\"ack\",\"id\":");
        say_span(id);
        SAY("}\nend\n");
        if (out_size >= FLUSH_AT)
            flush_output();
    }
}
