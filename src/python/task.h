/* Task: one request to one worker, from sending it to its outcome: events of the worker, rows of inputs and of the
 * output, cancellation, death. One thread. */
#ifndef INTERLACE_PYTHON_TASK_H
#define INTERLACE_PYTHON_TASK_H

#include "python/input_pump.h"
#include "python/worker.h"

typedef enum TaskOutcome {
    TASK_RUNNING,
    TASK_RESULT,    /* `result` has its fields */
    TASK_FAILED,    /* `reason`: user code failed, the worker died or talked nonsense */
    TASK_CANCELLED, /* `reason` */
    TASK_STALE,     /* nothing was done: another worker has to do it */
} TaskOutcome;

typedef struct Task {
    /* Set by the caller. */
    Arena *arena; /* of the outcome */
    Worker *worker;
    const PythonTask *request;
    int64_t id;
    Str what; /* "model 'orders'": for messages */
    LogSink log;
    const PythonParameterVec *parameters; /* whose rows may be asked for */

    TaskOutcome outcome;
    const ConfigValue *result; /* in the arena */
    Error reason;
    InputPumpVec pumps; /* in the arena */
    int output;         /* where the rows come from; -1: nothing yet */
    bool is_spent;      /* the worker must not get another task */
} Task;

void task_init(Task *task);
void task_deinit(Task *task); /* pumps must have been finished */
DEFINE_AUTO_VALUE(Task, task, task_deinit)

/* Sends the request's frame. A worker that is gone shows in the outcome. */
void task_begin(Task *task, Str frame);

/* Deals with events until the output is there or the outcome is. */
void task_wait_for_output(Task *task);
void task_wait_for_outcome(Task *task);

/* Bytes of the output: an ArrowSource with the task as its context. */
Status task_read_output(void *context, void *target, size_t size, size_t *size_out, Error *err);

/* The output broke off: why, the worker is about to say. */
void task_await_last_words(Task *task);
/* Makes the worker stop, unless there is an outcome already; it gets no other task. */
void task_stop(Task *task);

/* Ends inputs and log; fails with the reason of an input that failed. */
MUST_CHECK Status task_finish(Task *task, Error *err);

#endif
