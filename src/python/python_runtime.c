#include "python/python_runtime.h"

#include "python/arrow_ipc_in.h"
#include "python/connection_secrets.h"
#include "python/runtime_parts.h"

Status python_runtime_create(const PythonOptions *options, PythonRuntime **runtime_out, Error *err) {
    (void)err;
    PythonRuntime *runtime = heap_alloc_zeroed(1, sizeof *runtime);
    runtime->options = *options;
    runtime->arena = arena_create();
    runtime->secrets = connections_secrets(options->config->connections, runtime->arena);
    runtime->setup = worker_setup_create(options->config);
    runtime->pool = worker_pool_create(runtime->setup, options->workers_max);
    *runtime_out = runtime;
    return OK;
}

void python_runtime_destroy(PythonRuntime *runtime) {
    if (runtime != NULL) {
        worker_pool_destroy(runtime->pool);
        worker_setup_destroy(runtime->setup);
        arena_destroy(runtime->arena);
        free(runtime);
    }
}

PythonDiscovery python_runtime_discovery(PythonRuntime *runtime) {
    return (PythonDiscovery){.discover = discovery_run, .context = runtime};
}

/* ---- Lines that a model prints */

typedef struct ModelLog {
    const PythonLog *log;
    const StrVec *secrets;
    Str model;
} ModelLog;

static void write_log(void *context, Str level, Str line) {
    const ModelLog *log = context;
    AUTO(arena) Arena *arena = arena_create();
    log->log->write(log->log->context, log->model, level, secrets_hide(log->secrets, line, arena));
}

static LogSink log_sink(ModelLog *log) {
    return log->log->write == NULL ? (LogSink){0} : (LogSink){.write = write_log, .context = log};
}

/* ---- One task */

/* Whose failure is told, when several things failed: a cancellation, then what failed on our side, then an input, then
 * the worker. */
static Status conclude(const Task *task, Status work, Error *work_reason, Status inputs, Error *input_reason,
                       Error *err) {
    if (task->outcome == TASK_CANCELLED) {
        error_copy(err, &task->reason);
        return FAILED;
    }
    bool is_broken = str_equal(error_detail_find(work_reason, STR("code")), STR(ARROW_IPC_BROKEN));
    if (failed(work) && !is_broken) {
        error_move(err, work_reason);
        return FAILED;
    }
    if (failed(inputs)) {
        error_move(err, input_reason);
        return error_wrap(err, "running " STR_FMT, STR_ARG(task->what));
    }
    if (task->outcome == TASK_FAILED) {
        error_copy(err, &task->reason);
        return FAILED;
    }
    if (failed(work)) {
        error_move(err, work_reason);
        return FAILED;
    }
    return OK;
}

static Status carry_out(Task *task, const TaskPlan *plan, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error work_reason;
    AUTO(error) Error input_reason;
    error_init(&work_reason);
    error_init(&input_reason);

    task_begin(task, plan->write(plan->context, task->id, arena));
    Status work = plan->work == NULL ? OK : plan->work(task, plan->work_context, &work_reason);
    task_wait_for_outcome(task);
    Status inputs = task_finish(task, &input_reason);
    /* An input that failed may have ended the output too: it is the reason then, not what is missing. */
    bool is_to_verify = !failed(work) && !failed(inputs) && task->outcome == TASK_RESULT && plan->verify != NULL;
    if (is_to_verify && failed(plan->verify(task, plan->work_context, &work_reason))) {
        work = FAILED;
        task->is_spent = true;
    }
    return conclude(task, work, &work_reason, inputs, &input_reason, err);
}

static void give_back(PythonRuntime *runtime, const Task *task) {
    if (task->is_spent) {
        worker_pool_discard(runtime->pool, task->worker);
    } else {
        worker_pool_give_back(runtime->pool, task->worker);
    }
}

static Status do_once(PythonRuntime *runtime, const TaskPlan *plan, Arena *arena, const ConfigValue **result_out,
                      bool *is_stale_out, Error *err) {
    Worker *worker;
    TRY(worker_pool_take(runtime->pool, plan->request->is_cancelled, plan->request->cancel_context, &worker, err));
    ModelLog log = {.log = &runtime->options.log, .secrets = &runtime->secrets, .model = plan->request->model->name};
    AUTO(task) Task task;
    task_init(&task);
    task.arena = arena;
    task.worker = worker;
    task.request = plan->request;
    task.id = ++runtime->last_task;
    task.what = plan->what;
    task.log = log_sink(&log);
    task.parameters = plan->parameters;

    Status status = carry_out(&task, plan, err);
    if (failed(status)) {
        secrets_hide_in_error(&runtime->secrets, err);
    }
    give_back(runtime, &task);
    *is_stale_out = task.outcome == TASK_STALE;
    *result_out = task.result;
    return status;
}

Status runtime_do(PythonRuntime *runtime, const TaskPlan *plan, Arena *arena, const ConfigValue **result_out,
                  Error *err) {
    bool is_stale = true;
    for (int attempt = 0; attempt < 3 && is_stale; attempt++) {
        TRY(do_once(runtime, plan, arena, result_out, &is_stale, err));
    }
    if (is_stale) {
        return error_set(err, ERROR_EXECUTION, STR_FMT " failed: its files change while they are read",
                         STR_ARG(plan->what));
    }
    return OK;
}
