/* The child's side of the multilang protocol for components in C: framed reading, buffered writing, the handshake.
 *
 * Reads in large pieces and writes when everything that was read is answered, as a fast component does. A value is a
 * span of the JSON text, so that what came in can go out again byte for byte. Messages are compact and keys are ASCII,
 * as Storm writes them; a message has one line, as Storm's have.
 */
#ifndef MULTILANG_H
#define MULTILANG_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_SIZE = 1 << 20, FLUSH_AT = 1 << 16 };

/* Part of a JSON text; `at` is NULL if there is none. */
struct span {
    const char *at;
    size_t size;
};

static char *in_buffer, *out_buffer;
static size_t in_start, in_end, in_room, out_size, out_room;

static void die(const char *why) {
    fprintf(stderr, "%s\n", why);
    exit(1);
}

static void flush_output(void) {
    size_t done = 0;
    while (done < out_size) {
        ssize_t written = write(STDOUT_FILENO, out_buffer + done, out_size - done);
        if (written > 0)
            done += (size_t)written;
        else if (errno != EINTR)
            exit(0); /* Nobody listens any more. */
    }
    out_size = 0;
}

static void say(const char *text, size_t size) {
    if (out_size + size > out_room) {
        out_room = 2 * (out_size + size) + FLUSH_AT;
        out_buffer = realloc(out_buffer, out_room);
        if (!out_buffer)
            die("no memory");
    }
    memcpy(out_buffer + out_size, text, size);
    out_size += size;
}

#define SAY(literal) say(literal, sizeof(literal) - 1)

static void say_span(struct span span) { say(span.at, span.size); }

/* Reads more; ends the program at the end of stdin. */
static void read_more(void) {
    flush_output();
    if (in_start > 0) {
        memmove(in_buffer, in_buffer + in_start, in_end - in_start);
        in_end -= in_start;
        in_start = 0;
    }
    if (in_room - in_end < READ_SIZE) {
        in_room = 2 * in_end + 2 * READ_SIZE;
        in_buffer = realloc(in_buffer, in_room);
        if (!in_buffer)
            die("no memory");
    }
    ssize_t got;
    do
        got = read(STDIN_FILENO, in_buffer + in_end, in_room - in_end);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        exit(0);
    in_end += (size_t)got;
}

/* The next message's text, without its terminator; valid until the next call. */
static struct span next_message(void) {
    static const char terminator[] = "\nend\n";
    size_t searched = 0;
    for (;;) {
        size_t from = in_start + (searched > 4 ? searched - 4 : 0);
        const char *found = in_end > from ? memmem(in_buffer + from, in_end - from, terminator, 5) : NULL;
        if (found) {
            struct span message = {in_buffer + in_start, (size_t)(found - (in_buffer + in_start))};
            in_start += message.size + 5;
            return message;
        }
        searched = in_end - in_start;
        read_more();
    }
}

/* The first byte after the JSON string that begins at `p`. */
static const char *after_string(const char *p, const char *end) {
    for (p++; p < end && *p != '"'; p++)
        if (*p == '\\')
            p++;
    return p < end ? p + 1 : end;
}

/* The first byte after the JSON value that begins at `p`. */
static const char *after_value(const char *p, const char *end) {
    int depth = 0;
    while (p < end) {
        if (*p == '"') {
            p = after_string(p, end);
        } else {
            if (*p == '[' || *p == '{')
                depth++;
            else if (*p == ']' || *p == '}')
                depth--;
            else if (*p == ',' && depth == 0)
                return p;
            if (depth < 0)
                return p;
            p++;
            continue;
        }
        if (depth == 0)
            return p;
    }
    return end;
}

/* The value of a top-level key of a message that is an object; none if it is no object or has no such key. */
static struct span value_of(struct span message, const char *key) {
    const char *p = message.at + 1, *end = message.at + message.size;
    size_t size = strlen(key);
    if (message.size == 0 || *message.at != '{')
        return (struct span){NULL, 0};
    while (p < end && *p == '"') {
        const char *name = p + 1;
        p = after_string(p, end);
        int wanted = (size_t)(p - 1 - name) == size && memcmp(name, key, size) == 0;
        const char *value = p + 1; /* past the colon */
        p = after_value(value, end);
        if (wanted)
            return (struct span){value, (size_t)(p - value)};
        if (p < end)
            p++; /* past the comma */
    }
    return (struct span){NULL, 0};
}

static int is(struct span span, const char *json) {
    return span.at && span.size == strlen(json) && memcmp(span.at, json, span.size) == 0;
}

/* The answer to the handshake: the empty file named by our pid, and the pid. */
static void shake_hands_with(struct span hello) {
    struct span folder = value_of(hello, "pidDir");
    char path[4096];
    size_t size = 0;
    if (!folder.at || folder.size + 32 > sizeof path)
        die("no pidDir in the first message");
    for (const char *p = folder.at + 1; p < folder.at + folder.size - 1; p++)
        if (*p != '\\')
            path[size++] = *p;
    snprintf(path + size, sizeof path - size, "/%d", (int)getpid());
    int file = open(path, O_WRONLY | O_CREAT, 0666);
    if (file < 0)
        die("can't make the pid file");
    close(file);
    char reply[64];
    say(reply, (size_t)snprintf(reply, sizeof reply, "{\"pid\":%d}\nend\n", (int)getpid()));
}

/* The handshake, of whoever wants nothing of it. */
static inline void shake_hands(void) { shake_hands_with(next_message()); }

#endif
