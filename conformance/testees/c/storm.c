/* The pipe to Storm: a message is JSON, a newline, and a line "end". */
#define _POSIX_C_SOURCE 200809L
#include "storm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Messages that came while an emit waited for its task ids: the main loop handles them later, in their order. */
typedef struct Kept {
    char *message;
    struct Kept *next;
} Kept;

static Kept *first_kept, **last_kept = &first_kept;
static FILE *out;
static char *task_ids;
static const StormTuple *input; /* the tuple that a bolt handles */
static bool basic, settled;     /* whether the library settles it; whether that is done */

static _Noreturn void die(const char *why) {
    fprintf(stderr, "%s\n", why);
    exit(1);
}

static StormJson json_of(const char *text) {
    return (StormJson){text, strlen(text)};
}

/* The next message from the pipe, the caller's to free. When Storm closes the pipe, the worker is gone: exit. */
static char *receive(void) {
    static char *line;
    static size_t line_room;
    char *message = NULL;
    size_t length = 0, room = 0;
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

static bool is_list(const char *message) {
    return message[strspn(message, " \t\r\n")] == '[';
}

/* The next message to handle: one that was kept, else one from the pipe. Task ids that nobody waits for are dropped. */
static char *next_message(void) {
    for (;;) {
        char *message;
        if (first_kept != NULL) {
            Kept *kept = first_kept;
            message = kept->message;
            if ((first_kept = kept->next) == NULL) last_kept = &first_kept;
            free(kept);
        } else {
            message = receive();
        }
        if (!is_list(message)) return message;
        free(message);
    }
}

/* Read until the list of task ids comes; tuples, heartbeats and commands may come before it. */
static void receive_task_ids(void) {
    free(task_ids);
    while (!is_list(task_ids = receive())) {
        Kept *kept = malloc(sizeof *kept);
        if (kept == NULL) die("out of memory");
        *kept = (Kept){.message = task_ids};
        *last_kept = kept;
        last_kept = &kept->next;
    }
}

static void put(const char *key, StormJson value) {
    if (value.text != NULL) fprintf(out, ",\"%s\":%.*s", key, (int)value.length, value.text);
}

/* End a message and send it. In a buffer it would wait, and Storm would wait for it. */
static void end_message(void) {
    fputs("}\nend\n", out);
    if (fflush(out) != 0) exit(0); /* Storm no longer reads */
}

static void send_command(const char *command, const char *key, StormJson value) {
    fprintf(out, "{\"command\":\"%s\"", command);
    put(key, value);
    end_message();
}

StormJson storm_emit(const StormEmit *emit) {
    const StormJson *anchors = basic && input ? &input->id : emit->anchors;
    size_t count = basic && input ? 1 : emit->anchor_count;
    bool waits = emit->wants_ids && emit->task.text == NULL;
    fprintf(out, "{\"command\":\"emit\",\"need_task_ids\":%s", waits ? "true" : "false");
    put("stream", emit->stream);
    put("task", emit->task);
    put("id", emit->id);
    fputs(",\"anchors\":[", out);
    for (size_t i = 0; i < count; i++) fprintf(out, "%s%.*s", i ? "," : "", (int)anchors[i].length, anchors[i].text);
    fputc(']', out);
    put("tuple", emit->values);
    end_message();
    if (!waits) return (StormJson){0};
    receive_task_ids();
    return json_of(task_ids);
}

static void settle(const char *command, StormJson id) {
    settled = settled || (input && id.length == input->id.length && memcmp(id.text, input->id.text, id.length) == 0);
    send_command(command, "id", id);
}

void storm_ack(StormJson id) {
    settle("ack", id);
}

void storm_fail(StormJson id) {
    settle("fail", id);
}

void storm_error(StormJson text) {
    send_command("error", "msg", text);
}

void storm_log(StormLevel level, StormJson text) {
    fprintf(out, "{\"command\":\"log\",\"level\":%d", (int)level);
    put("msg", text);
    end_message();
}

/* Tell Storm what a handler returned; false if all is well. */
static bool reported(const char *trouble) {
    if (trouble == NULL) return false;
    char *quoted = storm_quote(trouble);
    storm_error(json_of(quoted));
    free(quoted);
    return true;
}

/* Answer the first message with our process id, leave an empty file of that name, and hand conf and context on. */
static void begin(const char *(*initialize)(StormJson, StormJson)) {
    int to_storm = dup(STDOUT_FILENO);
    if (to_storm < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || (out = fdopen(to_storm, "w")) == NULL)
        die("cannot keep stdout for the protocol");
    StormJson hello = json_of(receive()); /* kept: conf and context may be needed for ever */
    char *folder = storm_decode(storm_member(hello, "pidDir"));
    char *path = malloc(strlen(folder) + 32);
    if (path == NULL) die("out of memory");
    sprintf(path, "%s/%ld", folder, (long)getpid());
    FILE *file = fopen(path, "w");
    if (file == NULL) die("cannot make the pid file");
    fclose(file);
    free(path);
    free(folder);
    fprintf(out, "{\"pid\":%ld", (long)getpid());
    end_message();
    if (initialize == NULL) return;
    if (reported(initialize(storm_member(hello, "conf"), storm_member(hello, "context")))) exit(1);
}

/* A tuple that its handler settled is not settled again, whatever goes wrong behind that. */
static void handle_tuple(const StormBolt *bolt, const StormTuple *tuple) {
    input = tuple;
    settled = false;
    bool tick = storm_is(tuple->stream, "__tick");
    bool failed = !(basic && tick) && reported(bolt->process(tuple));
    if (!settled && failed) storm_fail(tuple->id);
    else if (!settled && basic) storm_ack(tuple->id);
    input = NULL;
}

void storm_run_bolt(const StormBolt *bolt) {
    basic = bolt->basic;
    begin(bolt->initialize);
    for (;;) {
        char *text = next_message();
        StormJson message = json_of(text + strspn(text, " \t\r\n"));
        StormTuple tuple = {
            .id = storm_member(message, "id"),
            .component = storm_member(message, "comp"),
            .stream = storm_member(message, "stream"),
            .task = storm_member(message, "task"),
            .values = storm_member(message, "tuple"),
        };
        if (storm_is(tuple.stream, "__heartbeat")) send_command("sync", "", (StormJson){0});
        else handle_tuple(bolt, &tuple);
        free(text);
    }
}

static const char *command(const StormSpout *spout, StormJson message) {
    StormJson name = storm_member(message, "command"), id = storm_member(message, "id");
    if (storm_is(name, "next")) return spout->next_tuple();
    if (storm_is(name, "ack")) return spout->ack ? spout->ack(id) : NULL;
    if (storm_is(name, "fail")) return spout->fail ? spout->fail(id) : NULL;
    if (storm_is(name, "activate")) return spout->activate ? spout->activate() : NULL;
    if (storm_is(name, "deactivate")) return spout->deactivate ? spout->deactivate() : NULL;
    return NULL;
}

void storm_run_spout(const StormSpout *spout) {
    begin(spout->initialize);
    for (;;) {
        char *text = next_message();
        reported(command(spout, json_of(text + strspn(text, " \t\r\n"))));
        send_command("sync", "", (StormJson){0}); /* each command is answered by exactly one */
        free(text);
    }
}
