/* Worker: one process of the user's interpreter, its control socket and its output. It speaks frames (frame.h) and may
 * die, hang or talk nonsense at any time.
 *
 * Used by one thread at a time. Order: start; for each task begin_task, send and wait as often as needed, end_task;
 * close. */
#ifndef INTERLACE_PYTHON_WORKER_H
#define INTERLACE_PYTHON_WORKER_H

#include "python/frame.h"
#include "python/interpreter.h"
#include "python/sdk.h"
#include "python/spawner.h"
#include "python/worker_log.h"

typedef struct Worker Worker;

typedef struct WorkerOptions {
    const ProjectConfig *config;
    const Interpreter *interpreter;
    const Sdk *sdk;
    Spawner *spawner;
} WorkerOptions;

/* Starts the process and greets it; its answer is awaited by worker_wait, so that a first task can be sent at once. */
MUST_CHECK Status worker_start(const WorkerOptions *options, Worker **worker_out, Error *err);

/* An idle worker leaves by itself when it is told so; worker_close then waits for at most `grace_ms`, kills its process
 * group and frees it. NULL is fine. */
void worker_ask_to_end(Worker *worker);
void worker_close(Worker *worker, int grace_ms);

void worker_begin_task(Worker *worker, LogSink sink);
void worker_end_task(Worker *worker);

typedef enum WorkerEvent {
    WORKER_FRAME,    /* worker_frame has it; valid until the next wait */
    WORKER_READABLE, /* `extra_fd` can be read */
    WORKER_TIMEOUT,
    WORKER_DIED /* all that it had sent has been given before; worker_death says how */
} WorkerEvent;

/* Waits for whatever comes first; passes output on meanwhile. `extra_fd` may be -1. Fails (ExecutionError) when what
 * came is no frame, (ConfigurationError) when it does not start or speaks another protocol: then it is of no use any
 * more. */
MUST_CHECK Status worker_wait(Worker *worker, int extra_fd, int timeout_ms, WorkerEvent *event_out, Error *err);
const Frame *worker_frame(const Worker *worker);

/* The descriptor that came with the frame of the last wait; the caller's then. Fails when there was none. */
MUST_CHECK Status worker_take_fd(Worker *worker, int *fd_out, Error *err);

/* Sends a frame, with `fd` (which stays the caller's) unless it is -1. A worker that is gone is noticed by the next
 * wait. */
MUST_CHECK Status worker_send(Worker *worker, Str json, int fd, Error *err);

/* SIGINT asks the task to stop and goes to the worker alone; others go to its whole process group. */
void worker_signal(Worker *worker, int number);

/* "was killed by SIGKILL; perhaps memory ran out", "ended with exit code 3". */
Str worker_death(const Worker *worker, Arena *arena);

/* False once it has died, lost its output, grown over 2 GiB or done its share of tasks: a fresh one serves better. */
bool worker_is_reusable(const Worker *worker);

#endif
