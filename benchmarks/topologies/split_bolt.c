/* A bolt that emits each word of a sentence, anchored to it, and acks it; the task ids it does not wait for. */
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
        struct span id = value_of(message, "id"), values = value_of(message, "tuple");
        if (!id.at || !values.at)
            die("a message that is no tuple");
        const char *word = values.at + 2, *end = values.at + values.size - 2; /* past [" and before "] */
        while (word < end) {
            const char *space = memchr(word, ' ', (size_t)(end - word));
            struct span one = {word, (size_t)((space ? space : end) - word)};
            SAY("{\"command\":\"emit\",\"anchors\":[");
            say_span(id);
            SAY("],\"tuple\":[\"");
            say_span(one);
            SAY("\"]}\nend\n");
            word += one.size + 1;
        }
        SAY("{\"command\":\"ack\",\"id\":");
        say_span(id);
        SAY("}\nend\n");
        if (out_size >= FLUSH_AT)
            flush_output();
    }
}
