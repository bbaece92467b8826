/* Bugs for the testee, one at a time: MLCHECK_MUTANT=ack-twice. What each breaks is in mutants.yaml. The library does not
 * know of them: a process of our own stands between its stdout and Storm, and changes what it says. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In messages that begin with `begins`, `from` becomes `to`; `twice`: such a message is said twice. */
typedef struct {
    const char *name, *begins, *from, *to;
    int twice;
} Mutant;

static const Mutant MUTANTS[] = {
    {.name = "ack-twice", .begins = "{\"command\":\"ack\"", .twice = 1},
    {.name = "ack-id-number", .begins = "{\"command\":\"ack\"", .from = "\"id\":\"", .to = "\"id\":"},
    {.name = "fail-as-ack", .begins = "{\"command\":\"fail\"", .from = "fail", .to = "ack"},
    {.name = "anchors-missing", .begins = "{\"command\":\"emit\"", .from = "\"anchors\":[", .to = "\"unused\":["},
    {.name = "anchors-nested", .begins = "{\"command\":\"emit\"", .from = "\"anchors\":[\"", .to = "\"anchors\":[[\""},
    {.name = "task-string", .begins = "{\"command\":\"emit\"", .from = "\"task\":4", .to = "\"task\":\"4\""},
    {.name = "log-level-text", .begins = "{\"command\":\"log\"", .from = "\"level\":3", .to = "\"level\":\"warn\""},
    {.name = "sync-twice", .begins = "{\"command\":\"sync\"", .twice = 1},
    {.name = "id-lost", .begins = "{\"command\":\"emit\"", .from = "\"id\":", .to = "\"key\":"},
};

/* The bracket or quote that was opened by what is left out or put in is closed alike. */
static const char *closing(const Mutant *bug) {
    return strcmp(bug->name, "anchors-nested") == 0 ? "]" : "";
}

static void say(const Mutant *bug, const char *line) {
    const char *found = bug->from ? strstr(line, bug->from) : NULL;
    if (found == NULL) {
        fputs(line, stdout);
        return;
    }
    const char *rest = found + strlen(bug->from);
    fwrite(line, 1, (size_t)(found - line), stdout);
    fputs(bug->to, stdout);
    if (strcmp(bug->name, "ack-id-number") == 0) { /* the digits, without the quote behind them */
        const char *quote = strchr(rest, '"');
        fprintf(stdout, "%.*s%s", (int)(quote - rest), rest, quote + 1);
    } else if (*closing(bug)) {
        const char *bracket = strchr(rest, ']');
        fprintf(stdout, "%.*s%s%s", (int)(bracket - rest), rest, closing(bug), bracket);
    } else {
        fputs(rest, stdout);
    }
}

/* Each message is one line and the line "end". */
static _Noreturn void stand_between(const Mutant *bug) {
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        int hit = strncmp(line, bug->begins, strlen(bug->begins)) == 0;
        if (hit) say(bug, line);
        else fputs(line, stdout);
        if (hit && bug->twice) fputs("end\n", stdout), say(bug, line);
        fflush(stdout);
    }
    exit(0);
}

void plant_mutant(const char *name) {
    for (size_t i = 0; i < sizeof MUTANTS / sizeof *MUTANTS; i++) {
        if (strcmp(MUTANTS[i].name, name) != 0) continue;
        int pipes[2];
        if (pipe(pipes) != 0) abort();
        pid_t child = fork();
        if (child < 0) abort();
        if (child == 0) {
            dup2(pipes[0], STDIN_FILENO);
            close(pipes[0]);
            close(pipes[1]);
            stand_between(&MUTANTS[i]);
        }
        dup2(pipes[1], STDOUT_FILENO);
        close(pipes[0]);
        close(pipes[1]);
        return;
    }
    fprintf(stderr, "no such mutant: %s\n", name);
    exit(2);
}
