/* Runs the tasks of a graph on a few threads: a task starts as soon as all it needs is done and a thread is free; there
 * are no levels. Knows nothing of models: `run` does the work, on a thread of the schedule.
 *
 * The first failure stops the rest (or, with keep_going, only what needs the failed one); running tasks are then told
 * to end by `interrupt`. A task that failed beside others may ask to be run once more while nothing else runs. A task
 * may share its work with threads that have none. */
#ifndef INTERLACE_RUN_SCHEDULE_H
#define INTERLACE_RUN_SCHEDULE_H

#include "base/vec.h"

typedef enum TaskState {
    TASK_WAITING, /* never started */
    TASK_READY,
    TASK_RUNNING,
    TASK_DONE,
    TASK_FAILED,
    TASK_CANCELLED
} TaskState;

typedef enum TaskVerdict {
    VERDICT_TASK_DONE,
    VERDICT_TASK_FAILED,
    VERDICT_TASK_CANCELLED,
    VERDICT_TASK_AGAIN_ALONE
} TaskVerdict;

typedef struct Schedule Schedule;

typedef struct ScheduleOptions {
    size_t task_count;
    const IndexVec *needs; /* a vector a task: the tasks it waits for; without a cycle */
    size_t thread_count;   /* at least 1: the most that are busy at once */
    size_t helpers;        /* the most that all tasks can use beside their own threads */
    Schedule **handle;     /* gets the schedule before the first task starts, for schedule_share; NULL: none shares */
    bool keep_going;
    /* `is_alone`: this is the second try, nothing else runs; AGAIN_ALONE then counts as failed. */
    TaskVerdict (*run)(void *context, size_t task, bool is_alone);
    void (*interrupt)(void *context); /* from the calling thread, again every 50 ms while tasks still run */
    bool (*is_cancelled)(void *context);
    void *context;
} ScheduleOptions;

/* Returns when nothing runs any more. `states_out` gets a state a task: WAITING (never started), DONE, FAILED or
 * CANCELLED. Fails only when not a single thread could be started. */
MUST_CHECK bool schedule_run(const ScheduleOptions *options, TaskState *states_out);

/* For a running task: calls `step` until it gives false, on this thread and on at most `helpers` idle ones; a task that
 * becomes ready gets its thread between two steps. Returns when no thread is in `step` any more. Nobody helps a task
 * that runs alone. Without a schedule (NULL) this thread does all of it. */
void schedule_share(Schedule *schedule, size_t helpers, bool (*step)(void *context), void *context);

#endif
