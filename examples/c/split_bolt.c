/* A bolt that splits sentences into words. Storm starts this program and talks to it over stdin and stdout. */
#define _POSIX_C_SOURCE 200809L
#include "multilang.h"

/* The first value of a tuple, which is a JSON array. */
static Value first_value(Value tuple) {
    const char *p = skip_space(tuple.text + 1);
    return (Value){p, *p == ']' ? 0 : (size_t)(skip_value(p) - p)};
}

/* How many characters of white space stand at p. In a JSON string a tab or a line end is written as two: \t, \n. */
static size_t blank(const char *p, bool string) {
    if (string && *p == '\\') return strchr("tnrf", p[1]) != NULL ? 2 : 0;
    return *p == ' ' || *p == '\t' || *p == '\n' || *p == '\r';
}

/* Where the word at p ends. An escaped character is two: in \\n there is no line end, but a backslash and an n. */
static const char *skip_word(const char *p, const char *end, bool string) {
    while (p < end && blank(p, string) == 0) p += string && *p == '\\' ? 2 : 1;
    return p;
}

/* Words of a string are right as they stand. Those of another value, such as ["a"], become strings here. */
static void put_word(const char *word, const char *end, bool string) {
    for (; word < end; word++) {
        if (!string && (*word == '"' || *word == '\\')) putchar('\\');
        putchar(*word);
    }
}

/* Emit each word of the first value, anchored to the tuple it comes from; then ack that tuple, exactly once. */
static void process(Value id, Value tuple) {
    Value sentence = first_value(tuple);
    bool string = sentence.length > 0 && *sentence.text == '"';
    const char *p = sentence.text + string, *end = sentence.text + sentence.length - string;
    while (p < end) {
        size_t space = blank(p, string);
        if (space > 0) {
            p += space;
            continue;
        }
        const char *word = p;
        p = skip_word(p, end, string);
        /* The anchor ties the word to its sentence: if the word gets lost, Storm replays the sentence.
         * need_task_ids false: we do not want to be told which tasks get the word. */
        printf("{\"command\":\"emit\",\"anchors\":[%.*s],\"need_task_ids\":false,\"tuple\":[\"", (int)id.length,
               id.text);
        put_word(word, p, string);
        fputs("\"]}\nend\n", stdout);
    }
    printf("{\"command\":\"ack\",\"id\":%.*s}\nend\n", (int)id.length, id.text);
}

int main(void) {
    handshake();
    for (;;) {
        const char *message = read_message();
        if (*skip_space(message) == '[') continue; /* task ids, the answer to an emit: we have no use for them */
        Value id = member(message, "id"), tuple = member(message, "tuple");
        if (is(member(message, "stream"), "\"__heartbeat\"") && is(member(message, "task"), "-1"))
            fputs("{\"command\":\"sync\"}\nend\n", stdout); /* Storm asks whether we live. It must not be acked */
        else if (id.text != NULL && tuple.text != NULL && *tuple.text == '[')
            process(id, tuple);
        else
            die("this message is no tuple");
        flush_messages();
    }
}
