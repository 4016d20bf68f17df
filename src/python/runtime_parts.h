/* What the files of the runtime share. */
#ifndef INTERLACE_PYTHON_RUNTIME_PARTS_H
#define INTERLACE_PYTHON_RUNTIME_PARTS_H

#include "python/python_runtime.h"
#include "python/task.h"
#include "python/worker_pool.h"

#include <stdatomic.h>

struct PythonRuntime {
    PythonOptions options;
    WorkerSetup *setup;
    WorkerPool *pool;
    Arena *arena;   /* of `secrets` */
    StrVec secrets; /* values that no log and no error may show; const */
    _Atomic int64_t last_task;
};

/* Writes the frame that asks for a task. */
typedef Str (*TaskWriter)(const void *context, int64_t task_id, Arena *arena);

/* One request from beginning to end. */
typedef struct TaskPlan {
    const PythonTask *request;
    Str what;
    const PythonParameterVec *parameters;
    TaskWriter write;
    const void *context;                                        /* for `write` */
    Status (*work)(Task *task, void *work_context, Error *err); /* after task_begin; NULL: nothing but the outcome */
    /* Judges a result before it counts; NULL: all are good. A worker with a bad one gets no other task. */
    Status (*verify)(const Task *task, void *work_context, Error *err);
    void *work_context;
} TaskPlan;

/* Borrows a worker, does the task (once more with a fresh worker when the first had stale files), and gives the worker
 * back. On OK the outcome is TASK_RESULT, and `*result_out` is in the arena. */
MUST_CHECK Status runtime_do(PythonRuntime *runtime, const TaskPlan *plan, Arena *arena, const ConfigValue **result_out,
                             Error *err);

/* discovery.c */
Status discovery_run(void *context, const ProjectConfig *config, const PythonFileVec *files, Arena *arena,
                     const ConfigValue **manifest_out, ErrorList *faults);

#endif
