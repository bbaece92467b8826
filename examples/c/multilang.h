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
    static const unsigned char first[] = {0x00, 0xC0, 0xE0, 0xF0};
    int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    fputc((int)(first[more] | code >> 6 * more), out);
    while (more-- > 0) fputc((int)(0x80 | (code >> 6 * more & 0x3F)), out);
}

/* Write what a JSON string means. Storm escapes even the slash: "\/tmp". */
static inline void put_decoded(Value string, FILE *out) {
    static const char letters[] = "bfnrt", meanings[] = "\b\f\n\r\t";
    const char *end = string.text + string.length - 1;
    for (const char *p = string.text + 1; p < end; p++) {
        if (*p != '\\') {
            fputc(*p, out);
        } else if (*++p == 'u') {
            unsigned long code = unicode_escape(p + 1);
            p += 4;
            if (code >= 0xD800 && code < 0xDC00 && p[1] == '\\' && p[2] == 'u') { /* half of a pair */
                code = 0x10000 + ((code - 0xD800) << 10) + (unicode_escape(p + 3) - 0xDC00);
                p += 6;
            }
            put_utf8(code, out);
        } else {
            const char *letter = strchr(letters, *p);
            fputc(letter ? meanings[letter - letters] : *p, out);
        }
    }
}

/* Answer Storm's first message with our process id, and leave an empty file of that name in its directory. */
static inline void handshake(void) {
    Value pid_dir = member(read_message(), "pidDir");
    if (pid_dir.text == NULL || *pid_dir.text != '"') die("the first message has no pidDir");
    char *path = NULL;
    size_t size;
    FILE *text = open_memstream(&path, &size);
    if (text == NULL) die("out of memory");
    put_decoded(pid_dir, text);
    fprintf(text, "/%ld", (long)getpid());
    fclose(text);
    FILE *file = fopen(path, "w");
    if (file == NULL) die("cannot make the pid file");
    fclose(file);
    free(path);
    printf("{\"pid\":%ld}\nend\n", (long)getpid());
    flush_messages();
}
#endif
