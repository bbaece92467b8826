/* Spouts and bolts of Apache Storm in C: the multilang protocol, without other libraries.
 *
 * Values are JSON text: what Storm sent is handed on as it stands there, so no digit and no escape is lost. Where a
 * function wants a value, STORM_JSON("[1, \"two\"]") writes one down, and storm_quote makes one of any text. */
#ifndef STORM_H
#define STORM_H

#include <stdbool.h>
#include <stddef.h>

/* A JSON value: a piece of text. `text` is NULL where there is no value. It is valid until the handler returns. */
typedef struct {
    const char *text;
    size_t length;
} StormJson;

#define STORM_JSON(literal) ((StormJson){literal, sizeof(literal) - 1})

typedef struct {
    StormJson id, component, stream, task, values;
} StormTuple;

/* What to emit. All but `values` may be left out. */
typedef struct {
    StormJson values; /* a list, one value for each field */
    StormJson stream; /* a string */
    StormJson task;   /* a number: to that task alone, on a direct stream */
    StormJson id;     /* of a spout's tuple: any value; without one nobody follows the tuple */
    const StormJson *anchors; /* ids of tuples; a basic bolt's emit is anchored to its input whatever stands here */
    size_t anchor_count;
    bool wants_ids; /* wait for the ids of the tasks that get it */
} StormEmit;

/* A handler returns NULL, or what went wrong, in UTF-8: that is reported, and the tuple fails. Those left out are NULL. */
typedef struct {
    const char *(*initialize)(StormJson conf, StormJson context);
    const char *(*process)(const StormTuple *tuple); /* ticks too: their stream is __tick */
    bool basic;                                      /* each emit is anchored, and each tuple acked, by the library */
} StormBolt;

typedef struct {
    const char *(*initialize)(StormJson conf, StormJson context);
    const char *(*next_tuple)(void);
    const char *(*ack)(StormJson id);
    const char *(*fail)(StormJson id);
    const char *(*activate)(void);
    const char *(*deactivate)(void);
} StormSpout;

typedef enum { STORM_TRACE, STORM_DEBUG, STORM_INFO, STORM_WARN, STORM_ERROR } StormLevel;

/* Both return only by exit(), when Storm closes the pipe. What is printed to stdout goes to stderr meanwhile. */
_Noreturn void storm_run_bolt(const StormBolt *bolt);
_Noreturn void storm_run_spout(const StormSpout *spout);

/* The list of task ids, valid until the next emit; no value where they are not wanted, or the emit is direct. */
StormJson storm_emit(const StormEmit *emit);
void storm_ack(StormJson id);
void storm_fail(StormJson id);
void storm_log(StormLevel level, StormJson text);
void storm_error(StormJson text);

/* The value of a key of an object; the next item of a list, true while there is one, `item` begins as {0}. */
StormJson storm_member(StormJson object, const char *key);
bool storm_each(StormJson list, StormJson *item);

/* True if a string is this text. */
bool storm_is(StormJson string, const char *text);

/* UTF-8 of a JSON string, and a JSON string of UTF-8; both are the caller's to free. */
char *storm_decode(StormJson string);
char *storm_quote(const char *text);

#endif
