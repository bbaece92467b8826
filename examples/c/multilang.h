/* The pipe to Storm, for a C program: messages are JSON, a newline, and a line "end".
 *
 * This is no JSON library. Values are found in the text of a message and used as they stand there: the id of a tuple
 * goes back byte by byte as it came. */
#ifndef MULTILANG_H
#define MULTILANG_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* A JSON value: a piece of a message's text. Where there is no such value, text is NULL. */
typedef struct {
    const char *text;
    size_t length;
} Value;

/* Stdout belongs to the protocol: whatever people should read goes to stderr. */
static inline _Noreturn void die(const char *why) {
    fprintf(stderr, "%s\n", why);
    exit(1);
}

static inline const char *skip_space(const char *p) {
    return p + strspn(p, " \t\r\n");
}

/* p stands on the opening quote; the end is behind the closing one. A backslash hides what follows it. */
static inline const char *skip_string(const char *p) {
    for (p++; *p != '"'; p++) {
        if (*p == '\\') p++;
        if (*p == '\0') die("a message ends within a string");
    }
    return p + 1;
}

/* Skip one value of any kind. It counts brackets and does not recurse: no nesting is too deep. */
static inline const char *skip_value(const char *p) {
    long depth = 0;
    do {
        if (*p == '"') p = skip_string(p);
        else if (*p == '{' || *p == '[') depth++, p++;
        else if (*p == '}' || *p == ']') depth--, p++;
        else if (depth > 0 && *p != '\0' && strchr(",: \t\r\n", *p)) p++;
        else p += strcspn(p, "{}[]\",: \t\r\n"); /* a number, true, false or null */
        if (depth < 0 || (depth > 0 && *p == '\0')) die("the brackets of a message do not match");
    } while (depth > 0);
    return p;
}

/* The value of a key of a JSON object. The keys may stand in any order, and others than this may be there. */
static inline Value member(const char *object, const char *key) {
    Value found = {NULL, 0};
    const char *p = skip_space(object);
    if (*p != '{') return found;
    p = skip_space(p + 1);
    while (*p == '"') {
        const char *name = p + 1, *end = skip_string(p);
        bool same = (size_t)(end - 1 - name) == strlen(key) && memcmp(name, key, strlen(key)) == 0;
        p = skip_space(end);
        if (*p != ':') die("a key of a message has no value");
        const char *value = skip_space(p + 1);
        p = skip_value(value);
        if (same) found = (Value){value, (size_t)(p - value)};
        p = skip_space(p);
        if (*p == ',') p = skip_space(p + 1);
    }
    return found;
}

static inline bool is(Value value, const char *text) {
    return value.length == strlen(text) && memcmp(value.text, text, value.length) == 0;
}

/* The next message, valid until the next call. When Storm closes the pipe, the worker is gone: exit. */
static inline const char *read_message(void) {
    static char *message, *line;
    static size_t room, line_room;
    size_t length = 0;
    for (;;) {
        ssize_t got = getline(&line, &line_room, stdin);
        if (got <= 0 || line[got - 1] != '\n') exit(0);
        if (length + (size_t)got >= room) {
            room = 2 * (length + (size_t)got) + 1;
            if ((message = realloc(message, room)) == NULL) die("out of memory");
        }
        if (strcmp(line, "end\n") == 0 || strcmp(line, "end\r\n") == 0) {
            message[length] = '\0';
            return message;
        }
        memcpy(message + length, line, (size_t)got);
        length += (size_t)got;
    }
}

/* Send what was printed. Without this it would wait in a buffer, and Storm would wait for it. */
static inline void flush_messages(void) {
    if (fflush(stdout) != 0) exit(0); /* Storm no longer reads */
}

static inline unsigned long unicode_escape(const char *digits) {
    char four[5] = "";
    return strtoul(strncat(four, digits, 4), NULL, 16);
}

static inline void put_utf8(unsigned long code, FILE *out) {
    if (code < 0x80) {
        fputc((int)code, out);
        return;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3; /* bytes after the first, 6 bits each */
    fputc((int)((0xF00UL >> more & 0xFF & ~0x0FUL >> 0) | code >> (6 * more)), out);
    while (more-- > 0) fputc((int)(0x80 | (code >> (6 * more) & 0x3F)), out);
}
#endif
