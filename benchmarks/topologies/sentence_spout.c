/* A spout that emits `sentences` (of conf) sentences, one a call, each with an id; what fails it does not repeat. */
#define _GNU_SOURCE
#include "../multilang.h"

static const char *const SENTENCES[] = {
    "the cow jumped over the moon", "an apple a day keeps the doctor away", "four score and seven years ago",
    "snow white and the seven dwarfs", "i am at two with nature",
};

int main(void) {
    struct span hello = next_message(), sentences = value_of(value_of(hello, "conf"), "sentences");
    long left = sentences.at ? strtol(sentences.at, NULL, 10) : 0;
    shake_hands_with(hello);
    for (long number = 0;;) {
        struct span command = value_of(next_message(), "command");
        if (!command.at)
            continue; /* task ids */
        if (is(command, "\"next\"") && number < left) {
            char text[256];
            number++;
            int size = snprintf(text, sizeof text, "{\"command\":\"emit\",\"id\":%ld,\"tuple\":[\"%s\"]}\nend\n", number,
                                SENTENCES[number % 5]);
            say(text, (size_t)size);
        }
        SAY("{\"command\":\"sync\"}\nend\n");
    }
}
