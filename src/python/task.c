#include "python/task.h"

#include "base/clock.h"
#include "config/json_writer.h"
#include "python/process_spawn.h"
#include "python/worker_error.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>

#define TICK_MS 100
#define US_PER_MS INT64_C(1000)

void task_init(Task *task) {
    *task = (Task){.output = -1};
    error_init(&task->reason);
}

void task_deinit(Task *task) {
    fd_close(&task->output);
    error_deinit(&task->reason);
}

/* ---- Outcomes. The first one holds. */

static void fail(Task *task, bool is_spent) {
    task->outcome = TASK_FAILED;
    task->is_spent |= is_spent;
}

static void take_death(Task *task) {
    if (task->outcome == TASK_RUNNING) {
        error_set(&task->reason, ERROR_EXECUTION, STR_FMT " failed: its Python worker " STR_FMT, STR_ARG(task->what),
                  STR_ARG(worker_death(task->worker, task->arena)));
        error_code(&task->reason, STR("python.died"));
        fail(task, true);
    }
}

/* The worker's own words, or ours about its nonsense, are in `reason`. */
static void take_nonsense(Task *task) {
    if (task->reason.kind == ERROR_EXECUTION) {
        error_wrap(&task->reason, "in the worker of " STR_FMT, STR_ARG(task->what));
    }
    fail(task, true);
}

/* ---- Frames */

static const PythonParameter *find_parameter(const Task *task, Str name) {
    for (size_t i = 0; i < task->parameters->count; i++) {
        if (str_equal(task->parameters->items[i].name, name)) {
            return &task->parameters->items[i];
        }
    }
    return NULL;
}

static bool was_asked_for(const Task *task, const PythonParameter *parameter) {
    for (size_t i = 0; i < task->pumps.count; i++) {
        if (input_pump_parameter(task->pumps.items[i]) == parameter) {
            return true;
        }
    }
    return false;
}

static Status send_input(Task *task, Str name, int reader, Error *err) {
    AUTO(strbuf) StrBuf text = {0};
    JsonWriter json;
    json_writer_init(&json, &text, JSON_COMPACT);
    json_begin_object(&json);
    json_text_field(&json, STR("t"), STR("input"));
    json_int_field(&json, STR("task"), task->id);
    json_text_field(&json, STR("param"), name);
    json_end_object(&json);
    return worker_send(task->worker, strbuf_str(&text), reader, err);
}

/* The pump reads it while other frames come. */
static PythonPart part_asked_for(const Task *task, const Frame *frame) {
    PythonPart part = {.filter = str_copy(task->arena, config_text(frame->fields, STR("filter")))};
    const ConfigValue *columns = config_find(frame->fields, STR("columns"));
    for (size_t i = 0; columns != NULL && columns->kind == CONFIG_LIST && i < columns->count; i++) {
        str_vec_push(task->arena, &part.columns, str_copy(task->arena, columns->items[i]->text));
    }
    return part;
}

static Status on_open_input(Task *task, const Frame *frame, Error *err) {
    Str name = config_text(frame->fields, STR("param"));
    const PythonParameter *parameter = find_parameter(task, name);
    if (parameter == NULL || was_asked_for(task, parameter)) {
        return error_set(err, ERROR_EXECUTION, "protocol error: rows of '" STR_FMT "' were asked for", STR_ARG(name));
    }
    InputPump *pump;
    AUTO(fd) int reader = -1;
    PythonPart part = part_asked_for(task, frame);
    TRY(input_pump_start(&task->request->inputs, parameter, part, &pump, &reader, err));
    input_pump_vec_push(task->arena, &task->pumps, pump);
    return send_input(task, name, reader, err);
}

static Status on_output(Task *task, const Frame *frame, Error *err) {
    (void)frame;
    if (task->output >= 0 || task->request->output.begin == NULL) {
        return error_set(err, ERROR_EXECUTION, "protocol error: an output that was not asked for");
    }
    return worker_take_fd(task->worker, &task->output, err);
}

static Status on_result(Task *task, const Frame *frame, Error *err) {
    ConfigValue *fields = NULL;
    TRY(json_read(str_copy(task->arena, frame->text), STR("frame"), task->arena, &fields, err));
    task->result = fields;
    task->outcome = TASK_RESULT;
    return OK;
}

static Status on_error(Task *task, const Frame *frame, Error *err) {
    (void)err;
    WorkerErrorForm form = {
        .raised = str_format(task->arena, STR_FMT " failed: ", STR_ARG(task->what)),
        .refused = str_format(task->arena, STR_FMT ": ", STR_ARG(task->what)),
        .raised_kind = ERROR_EXECUTION,
    };
    worker_error_set(frame->fields, &form, &task->reason);
    fail(task, false);
    return OK;
}

static Status on_stale(Task *task, const Frame *frame, Error *err) {
    (void)frame;
    (void)err;
    task->outcome = TASK_STALE;
    task->is_spent = true;
    return OK;
}

static Status on_unexpected(Task *task, const Frame *frame, Error *err) {
    (void)task;
    return error_set(err, ERROR_EXECUTION, "protocol error: a frame '" STR_FMT "' that has no place in a task",
                     STR_ARG(config_text(frame->fields, STR("t"))));
}

static Status (*const frame_handlers[])(Task *task, const Frame *frame, Error *err) = {
    [FRAME_READY] = on_unexpected,      [FRAME_LOADING] = on_unexpected, [FRAME_MANIFEST] = on_unexpected,
    [FRAME_OPEN_INPUT] = on_open_input, [FRAME_OUTPUT] = on_output,      [FRAME_LOG] = on_unexpected,
    [FRAME_RESULT] = on_result,         [FRAME_ERROR] = on_error,        [FRAME_STALE] = on_stale,
    [FRAME_PONG] = on_unexpected,
};
static_assert(COUNT_OF(frame_handlers) == FRAME_TYPE_COUNT, "one handler per FrameType");

static void take_frame(Task *task) {
    const Frame *frame = worker_frame(task->worker);
    Status status = frame->task == task->id ? frame_handlers[frame->type](task, frame, &task->reason)
                                            : on_unexpected(task, frame, &task->reason);
    if (failed(status)) {
        take_nonsense(task);
    }
}

/* ---- Events */

/* True when `extra_fd` can be read. */
static bool step(Task *task, int extra_fd, int timeout_ms) {
    WorkerEvent event;
    if (failed(worker_wait(task->worker, extra_fd, timeout_ms, &event, &task->reason))) {
        take_nonsense(task);
        return false;
    }
    switch (event) {
    case WORKER_FRAME:
        take_frame(task);
        return false;
    case WORKER_READABLE:
        return true;
    case WORKER_DIED:
        take_death(task);
        return false;
    case WORKER_TIMEOUT:
        return false;
    }
    return false;
}

static bool has_failed_input(const Task *task) {
    for (size_t i = 0; i < task->pumps.count; i++) {
        if (input_pump_has_failed(task->pumps.items[i])) {
            return true;
        }
    }
    return false;
}

static bool is_cancelled(const Task *task) {
    const PythonTask *request = task->request;
    return request->is_cancelled != NULL && request->is_cancelled(request->cancel_context);
}

/* ---- Stopping: first politely, after 2 s TERM, after 5 s KILL. The outcome is whatever it was, or comes meanwhile. */

typedef struct StopStep {
    int signal;
    int wait_ms; /* for an outcome, afterwards */
} StopStep;

static const StopStep stop_steps[] = {{SIGINT, 2000}, {SIGTERM, 3000}, {SIGKILL, 5000}};

static void wait_at_most(Task *task, int wait_ms) {
    int64_t deadline_us = clock_monotonic_us() + wait_ms * US_PER_MS;
    while (task->outcome == TASK_RUNNING && clock_monotonic_us() < deadline_us) {
        (void)step(task, -1, TICK_MS);
    }
}

void task_stop(Task *task) {
    task->is_spent = true;
    fd_close(&task->output); /* a writer of rows notices at once */
    for (size_t i = 0; i < COUNT_OF(stop_steps) && task->outcome == TASK_RUNNING; i++) {
        worker_signal(task->worker, stop_steps[i].signal);
        wait_at_most(task, stop_steps[i].wait_ms);
    }
    if (task->outcome == TASK_RUNNING) { /* it hangs in the kernel: not even SIGKILL ends that at once */
        error_set(&task->reason, ERROR_EXECUTION, STR_FMT " failed: its Python worker cannot be ended",
                  STR_ARG(task->what));
        fail(task, true);
    }
}

static void cancel(Task *task) {
    task_stop(task);
    error_clear(&task->reason);
    error_set(&task->reason, ERROR_INTERRUPTED, STR_FMT " was cancelled", STR_ARG(task->what));
    task->outcome = TASK_CANCELLED;
}

#define LAST_WORDS_MS 5000

void task_await_last_words(Task *task) {
    wait_at_most(task, LAST_WORDS_MS);
}

/* What is looked at between events. */
static void check_progress(Task *task) {
    if (task->outcome != TASK_RUNNING) {
        return;
    }
    if (is_cancelled(task)) {
        cancel(task);
    } else if (has_failed_input(task)) {
        task_stop(task);
    }
}

/* ---- The course of a task */

void task_begin(Task *task, Str frame) {
    worker_begin_task(task->worker, task->log);
    if (failed(worker_send(task->worker, frame, -1, &task->reason))) {
        take_nonsense(task);
    }
}

void task_wait_for_output(Task *task) {
    while (task->outcome == TASK_RUNNING && task->output < 0) {
        (void)step(task, -1, TICK_MS);
        check_progress(task);
    }
}

void task_wait_for_outcome(Task *task) {
    while (task->outcome == TASK_RUNNING) {
        (void)step(task, -1, TICK_MS);
        check_progress(task);
    }
}

/* Bytes that are there, without waiting: 0 with `*is_there` false when there are none yet. */
static Status try_read(int fd, void *target, size_t size, bool *is_there, size_t *size_out, Error *err) {
    ssize_t got = recv(fd, target, size, MSG_DONTWAIT);
    *is_there = got >= 0;
    *size_out = got > 0 ? (size_t)got : 0;
    if (got < 0 && errno != EAGAIN && errno != EINTR) {
        return error_set_errno(err, ERROR_EXECUTION, "the output cannot be read");
    }
    return OK;
}

/* Rows that are there are read before anything else is looked at. Once the worker has said its last word, what is not
 * there will never come. */
Status task_read_output(void *context, void *target, size_t size, size_t *size_out, Error *err) {
    Task *task = context;
    check_progress(task);
    while (task->output >= 0 && task->outcome != TASK_CANCELLED && task->outcome != TASK_FAILED) {
        bool is_there = false;
        bool was_over = task->outcome != TASK_RUNNING;
        TRY(try_read(task->output, target, size, &is_there, size_out, err));
        if (is_there) {
            return OK;
        }
        if (was_over) {
            break;
        }
        (void)step(task, task->output, TICK_MS);
        check_progress(task);
    }
    *size_out = 0;
    return OK;
}

Status task_finish(Task *task, Error *err) {
    Status status = OK;
    for (size_t i = 0; i < task->pumps.count; i++) {
        AUTO(error) Error reason;
        error_init(&reason);
        if (failed(input_pump_finish(task->pumps.items[i], &reason)) && !failed(status)) {
            error_move(err, &reason);
            status = FAILED;
        }
    }
    task->pumps.count = 0;
    worker_end_task(task->worker);
    return status;
}
