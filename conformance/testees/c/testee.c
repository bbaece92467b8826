/* The testee of storm.c: it does what a tuple (a bolt) or the conf (a spout) tells it. The contract: mlcheck docs testees.
 *
 *   ./testee bolt|basic|spout */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "storm.h"

void plant_mutant(const char *name); /* mutants.c */

enum { MOST_HELD = 64, MOST_ANCHORS = 64 };

static bool basic;
static StormJson conf, context;
static char *task_ids; /* of the last emit that gave some */

/* Tuples that are kept under a name: their ids. */
static struct {
    char *name, *id;
} held[MOST_HELD];
static size_t held_count;

static char *copy(StormJson value) {
    return strndup(value.text, value.length);
}

static StormJson json_of(const char *text) {
    return (StormJson){text, text ? strlen(text) : 0};
}

static double number(StormJson value) {
    return value.text ? strtod(value.text, NULL) : 0;
}

/* The id of the tuple of a name: `input`, or one that is held. */
static StormJson named(StormJson name, const StormTuple *input) {
    for (size_t i = 0; i < held_count; i++)
        if (name.text && storm_is(name, held[i].name)) return json_of(held[i].id);
    return input->id;
}

static void emit_as(StormJson action, StormJson values, const StormTuple *input) {
    StormJson anchors[MOST_ANCHORS], name = {0}, names = storm_member(action, "anchors");
    size_t count = 0;
    if (input && names.text == NULL) anchors[count++] = input->id;
    while (input && count < MOST_ANCHORS && storm_each(names, &name)) anchors[count++] = named(name, input);
    StormJson wanted = storm_member(action, "ids");
    StormJson ids = storm_emit(&(StormEmit){
        .values = values,
        .stream = storm_member(action, "stream"),
        .task = storm_member(action, "task"),
        .id = storm_member(action, "id"),
        .anchors = anchors,
        .anchor_count = count,
        .wants_ids = wanted.text && *wanted.text == 't',
    });
    if (ids.text == NULL) return;
    free(task_ids);
    task_ids = copy(ids);
}

/* Emit what the tuple has behind the plan. */
static void echo(const StormTuple *input) {
    StormJson item = {0}, all = input->values;
    storm_each(all, &item);
    const char *rest = item.text + item.length;
    while (*rest != ',' && *rest != ']') rest++;
    char *values = NULL;
    size_t size;
    FILE *text = open_memstream(&values, &size);
    fprintf(text, "[%.*s", (int)(all.text + all.length - rest - (*rest == ',')), rest + (*rest == ','));
    fclose(text);
    emit_as((StormJson){0}, json_of(values), input);
    free(values);
}

/* What the spout was called, since this was told last: items of a JSON list. */
static char *calls;

static void called(const char *name, StormJson id) {
    char *longer = NULL;
    size_t size;
    FILE *text = open_memstream(&longer, &size);
    fprintf(text, "%s%s[\"%s\"", calls ? calls : "", calls ? "," : "", name);
    if (id.text) fprintf(text, ",%.*s", (int)id.length, id.text);
    fputc(']', text);
    fclose(text);
    free(calls);
    calls = longer;
}

static void tell(StormJson what, const StormTuple *input) {
    char *told = NULL;
    size_t size;
    FILE *text = open_memstream(&told, &size);
    fprintf(text, "[%.*s,", (int)what.length, what.text);
    if (storm_is(what, "conf")) fprintf(text, "%.*s", (int)conf.length, conf.text);
    else if (storm_is(what, "context")) fprintf(text, "%.*s", (int)context.length, context.text);
    else if (storm_is(what, "task_ids")) fputs(task_ids ? task_ids : "[]", text);
    else if (storm_is(what, "calls")) fprintf(text, "[%s]", calls ? calls : "");
    else if (input)
        fprintf(text, "{\"id\":%.*s,\"component\":%.*s,\"stream\":%.*s,\"task\":%.*s,\"values\":%.*s}",
                (int)input->id.length, input->id.text, (int)input->component.length, input->component.text,
                (int)input->stream.length, input->stream.text, (int)input->task.length, input->task.text,
                (int)input->values.length, input->values.text);
    fputc(']', text);
    fclose(text);
    if (storm_is(what, "calls")) free(calls), calls = NULL;
    storm_emit(&(StormEmit){.values = json_of(told), .stream = STORM_JSON("\"told\"")});
    free(told);
}

static StormLevel level_of(StormJson level) {
    static const char *const names[] = {"trace", "debug", "info", "warn", "error"};
    for (int i = STORM_TRACE; i <= STORM_ERROR; i++)
        if (storm_is(level, names[i])) return (StormLevel)i;
    return STORM_INFO;
}

static void pause_for(double seconds) {
    struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&time, &time) != 0) continue;
}

static void print(StormJson text) {
    char *decoded = storm_decode(text);
    puts(decoded);
    fflush(stdout);
    free(decoded);
}

/* Do one action. `input`: the tuple of the plan, NULL in a spout. What is returned went wrong. */
static const char *act(StormJson action, const StormTuple *input) {
    StormJson what = storm_member(action, "do"), message = storm_member(action, "message");
    if (storm_is(what, "emit")) emit_as(action, storm_member(action, "values"), input);
    else if (storm_is(what, "log")) storm_log(level_of(storm_member(action, "level")), message);
    else if (storm_is(what, "error")) storm_error(message);
    else if (storm_is(what, "raise")) return storm_decode(message);
    else if (storm_is(what, "exit")) exit((int)number(storm_member(action, "code")));
    else if (storm_is(what, "sleep")) pause_for(number(storm_member(action, "seconds")));
    else if (storm_is(what, "print")) print(storm_member(action, "text"));
    else if (storm_is(what, "stderr")) fprintf(stderr, "%*s", (int)number(storm_member(action, "bytes")), "");
    else if (storm_is(what, "tell")) tell(storm_member(action, "what"), input);
    else if (input == NULL) return "no such action in a spout";
    else if (storm_is(what, "echo")) echo(input);
    else if (storm_is(what, "ack")) {
        if (!basic) storm_ack(named(storm_member(action, "tuple"), input));
    } else if (storm_is(what, "fail")) storm_fail(named(storm_member(action, "tuple"), input));
    else if (storm_is(what, "hold") && held_count < MOST_HELD) {
        held[held_count].name = storm_decode(storm_member(action, "as"));
        held[held_count++].id = copy(input->id);
    } else return "no such action in a bolt";
    return NULL;
}

static const char *carry_out(StormJson plan, const StormTuple *input) {
    StormJson action = {0};
    const char *trouble = NULL;
    while (trouble == NULL && storm_each(plan, &action)) trouble = act(action, input);
    return trouble;
}

static const char *initialize(StormJson given_conf, StormJson given_context) {
    conf = given_conf;
    context = given_context;
    return NULL;
}

/* A plan is a list of objects, each with a key `do`, and not empty. */
static bool is_plan(StormJson value) {
    StormJson action = {0};
    size_t count = 0;
    while (storm_each(value, &action)) {
        if (storm_member(action, "do").text == NULL) return false;
        count++;
    }
    return count > 0;
}

static const char *process(const StormTuple *tuple) {
    StormJson first = {0};
    storm_each(tuple->values, &first);
    if (is_plan(first)) return carry_out(first, tuple);
    if (!storm_is(tuple->stream, "__tick")) emit_as((StormJson){0}, tuple->values, tuple);
    if (!basic) storm_ack(tuple->id);
    return NULL;
}

/* The spout: for each call a list of actions, if conf has a plan. */
static StormJson plan;
static unsigned long next_count;
static char *again[MOST_HELD]; /* ids that failed, to be emitted once more */
static size_t again_count;

static const char *call(const char *name, StormJson id) {
    called(name, id);
    return carry_out(storm_member(plan, name), NULL);
}

static const char *initialize_spout(StormJson given_conf, StormJson given_context) {
    initialize(given_conf, given_context);
    plan = storm_member(conf, "mlcheck.testee");
    return carry_out(storm_member(plan, "initialize"), NULL);
}

/* Without a plan: the number of this call, as a word and as its id; one that failed before comes first. */
static void emit_word(void) {
    char id[32], values[64];
    if (again_count > 0) {
        char *first = again[0];
        snprintf(id, sizeof id, "%s", first);
        free(first);
        memmove(again, again + 1, --again_count * sizeof *again);
    } else {
        snprintf(id, sizeof id, "\"%lu\"", ++next_count);
    }
    snprintf(values, sizeof values, "[\"word %s]", id + 1);
    storm_emit(&(StormEmit){.values = json_of(values), .id = json_of(id)});
}

static const char *next_tuple(void) {
    called("next", (StormJson){0});
    if (plan.text == NULL) {
        emit_word();
        return NULL;
    }
    StormJson actions = {0}, lists = storm_member(plan, "next");
    next_count++;
    for (unsigned long i = 0; i < next_count; i++)
        if (!storm_each(lists, &actions)) return NULL;
    return carry_out(actions, NULL);
}

static const char *ack(StormJson id) {
    return call("ack", id);
}

static const char *fail(StormJson id) {
    if (plan.text == NULL && again_count < MOST_HELD) again[again_count++] = copy(id);
    return call("fail", id);
}

static const char *activate(void) {
    return call("activate", (StormJson){0});
}

static const char *deactivate(void) {
    return call("deactivate", (StormJson){0});
}

int main(int count, char **words) {
    const char *part = count > 1 ? words[1] : "bolt", *mutant = getenv("MLCHECK_MUTANT");
    if (mutant != NULL) plant_mutant(mutant);
    basic = strcmp(part, "basic") == 0;
    if (strcmp(part, "spout") != 0)
        storm_run_bolt(&(StormBolt){.initialize = initialize, .process = process, .basic = basic});
    storm_run_spout(&(StormSpout){initialize_spout, next_tuple, ack, fail, activate, deactivate});
}
