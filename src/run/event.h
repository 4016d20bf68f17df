/* What happens while a command works, as typed events: drawn by the terminal, printed as JSON lines, stored. One
 * emission serves all. */
#ifndef INTERLACE_RUN_EVENT_H
#define INTERLACE_RUN_EVENT_H

#include "plan/plan.h"
#include "state/state_store.h"

typedef enum EventType {
    EVENT_PLAN,            /* `plan`: computed under the lock */
    EVENT_MODEL_START,     /* `model`; `total`: models that there will be, where no plan was told */
    EVENT_MODEL_WINDOW,    /* `model`, `done`, `total`: grains of an incremental model, after each batch; `rows` so far
                              where they are known */
    EVENT_MODEL_DONE,      /* `model`, `seconds`, `rows` */
    EVENT_MODEL_FAILED,    /* `model`, `seconds`, `error` */
    EVENT_MODEL_CANCELLED, /* `model`, `seconds` */
    EVENT_CHECK,           /* `check` */
    EVENT_LOG,             /* `model`, `level`, `text`: a line that a Python model printed or logged */
    EVENT_NOTE,            /* `text`: recovery of an unfinished promotion, waiting for the lock, … */
    EVENT_PROMOTED,        /* `promoted`, `generation` */
    EVENT_SUMMARY          /* `summary`: the last one */
} EventType;

/* What a build did to its relation's rows (spec 02 §3). */
typedef struct RowCounts {
    bool is_known; /* false: views, and engines that do not tell */
    int64_t inserted, updated, deleted;
} RowCounts;

struct RunSummary; /* run/apply.h */

typedef struct Event {
    EventType type;
    TimeUs at;
    const Plan *plan;
    const Model *model;
    double seconds;
    RowCounts rows;
    int64_t done, total;
    const Error *error;
    const CheckResult *check;
    Str level, text;
    size_t promoted;
    int64_t generation;
    const struct RunSummary *summary;
} Event;

/* Calls come from several threads, but never two at once: the emitter holds a lock. Must not call back into run/. */
typedef struct EventSink {
    void (*emit)(void *context, const Event *event);
    void *context;
} EventSink;

const char *event_type_name(EventType type); /* "plan", "start", "done", … as in --json=lines */

#endif
