/* python_run_model: asks a worker to run a model's function and drains its output on the calling thread. */
#include "config/json_writer.h"
#include "python/arrow_ipc_in.h"
#include "python/runtime_parts.h"

static const char *const parameter_kind_names[] = {
    [PARAMETER_UPSTREAM] = "upstream", [PARAMETER_THIS] = "this", [PARAMETER_CURSOR] = "cursor",
    [PARAMETER_WINDOW] = "window",     [PARAMETER_CTX] = "ctx",
};

static void write_parameters(JsonWriter *json, const PythonParameterVec *parameters) {
    json_key(json, STR("params"));
    json_begin_array(json);
    for (size_t i = 0; i < parameters->count; i++) {
        json_begin_object(json);
        json_text_field(json, STR("name"), parameters->items[i].name);
        json_text_field(json, STR("kind"), str_from(parameter_kind_names[parameters->items[i].kind]));
        json_end_object(json);
    }
    json_end_array(json);
}

static Str write_request(const void *context, int64_t task_id, Arena *arena) {
    const PythonTask *request = context;
    const PythonDefinition *python = request->model->python;
    AUTO(strbuf) StrBuf text = {0};
    JsonWriter json;
    json_writer_init(&json, &text, JSON_COMPACT);
    json_begin_object(&json);
    json_text_field(&json, STR("t"), STR("run_model"));
    json_int_field(&json, STR("task"), task_id);
    json_text_field(&json, STR("module_path"), python->module_path);
    json_text_field(&json, STR("function"), python->function);
    json_text_field(&json, STR("model"), request->model->name);
    json_text_field(&json, STR("environment"), request->environment);
    json_text_field(&json, STR("run"), request->run_id);
    write_parameters(&json, &python->parameters);
    json_end_object(&json);
    return strbuf_copy(&text, arena);
}

/* ---- Rows */

typedef struct Drain {
    const PythonOutput *output;
    bool has_begun;
    int64_t rows;
} Drain;

static Status append_all(Drain *drain, ArrowIpcIn *stream, Error *err) {
    for (;;) {
        struct ArrowArray array = {.release = NULL};
        TRY(arrow_ipc_in_next(stream, &array, err));
        if (array.release == NULL) {
            return OK;
        }
        drain->rows += array.length;
        TRY(drain->output->append(drain->output->context, &array, err));
    }
}

static Status drain_output(Task *task, Drain *drain, Error *err) {
    AUTO(arrow_ipc_in) ArrowIpcIn *stream = NULL;
    ArrowSource source = {.read = task_read_output, .context = task};
    TRY(arrow_ipc_in_open(&source, &stream, err));
    TRY(drain->output->begin(drain->output->context, arrow_ipc_in_schema(stream), err));
    drain->has_begun = true;
    return append_all(drain, stream, err);
}

/* A stream that broke off has its reason at the worker; anything else is a reason of its own to make that one stop. */
static Status work(Task *task, void *context, Error *err) {
    task_wait_for_output(task);
    if (task->output < 0) {
        return OK;
    }
    Status status = drain_output(task, context, err);
    if (failed(status)) {
        bool is_broken = str_equal(error_detail_find(err, STR("code")), STR(ARROW_IPC_BROKEN));
        if (is_broken) {
            task_await_last_words(task);
        }
        task_stop(task);
        error_wrap(err, "while running " STR_FMT, STR_ARG(task->what));
    }
    return status;
}

static Status verify(const Task *task, void *context, Error *err) {
    const Drain *drain = context;
    int64_t claimed = frame_int(task->result, STR("rows"));
    if (!drain->has_begun) {
        return error_set(err, ERROR_EXECUTION, STR_FMT " failed: its worker gave no output", STR_ARG(task->what));
    }
    if (claimed != drain->rows) {
        return error_set(err, ERROR_EXECUTION, STR_FMT " failed: its worker speaks of %lld rows, but %lld came",
                         STR_ARG(task->what), (long long)claimed, (long long)drain->rows);
    }
    return OK;
}

Status python_run_model(PythonRuntime *runtime, const PythonTask *task, int64_t *rows_out, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    Drain drain = {.output = &task->output};
    TaskPlan plan = {
        .request = task,
        .what = str_format(arena, "model '" STR_FMT "'", STR_ARG(task->model->name)),
        .parameters = &task->model->python->parameters,
        .write = write_request,
        .context = task,
        .work = work,
        .verify = verify,
        .work_context = &drain,
    };
    const ConfigValue *result;
    TRY(runtime_do(runtime, &plan, arena, &result, err));
    *rows_out = drain.rows;
    return OK;
}
