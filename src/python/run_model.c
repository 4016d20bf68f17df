/* python_run_model: asks a worker to run a model's function and drains its output on the calling thread. */
#include "base/clock.h"
#include "python/arrow_ipc_in.h"
#include "python/connection_secrets.h"
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

typedef struct ModelRequest {
    const PythonTask *task;
    const ProjectConfig *config;
} ModelRequest;

static void write_window(JsonWriter *json, const PythonWindow *window) {
    json_key(json, STR("window"));
    json_begin_object(json);
    json_int_field(json, STR("start_us"), window->start);
    json_int_field(json, STR("end_us"), window->end);
    json_text_field(json, STR("grain"), window->grain);
    json_end_object(json);
}

static Str engine_setting(const EngineConfig *engine, Str name) {
    for (size_t i = 0; engine != NULL && i < engine->settings.count; i++) {
        if (str_equal_fold(engine->settings.items[i].name, name)) {
            return engine->settings.items[i].value;
        }
    }
    return STR_EMPTY;
}

/* What the scratch database may use: as much as the engine of the model. */
static void write_scratch(JsonWriter *json, const ModelRequest *request) {
    const EngineConfig *engine = project_config_engine(request->config, request->task->model->engine);
    json_key(json, STR("scratch"));
    json_begin_object(json);
    json_text_field(json, STR("memory_limit"), engine_setting(engine, STR("memory_limit")));
    json_text_field(json, STR("threads"), engine_setting(engine, STR("threads")));
    json_text_field(json, STR("folder"), request->config->cache_path);
    json_end_object(json);
}

/* What the run tells the function besides rows. */
static void write_run(JsonWriter *json, const ModelRequest *request) {
    const PythonTask *task = request->task;
    json_text_field(json, STR("environment"), task->environment);
    json_text_field(json, STR("run"), task->run_id);
    json_int_field(json, STR("attempt"), task->attempt > 0 ? task->attempt : 1);
    json_int_field(json, STR("now_us"), task->now != 0 ? task->now : clock_now_us());
    json_bool_field(json, STR("may_yield_nothing"), task->may_yield_nothing);
    json_bool_field(json, STR("may_register"), task->registrations != NULL);
    if (task->window != NULL) {
        write_window(json, task->window);
    }
    json_key(json, STR("connections"));
    connections_write(json, request->config->connections);
    write_scratch(json, request);
}

static Str write_request(const void *context, int64_t task_id, Arena *arena) {
    const ModelRequest *request = context;
    const Model *model = request->task->model;
    AUTO(strbuf) StrBuf text = {0};
    JsonWriter json;
    json_writer_init(&json, &text, JSON_COMPACT);
    json_begin_object(&json);
    json_text_field(&json, STR("t"), STR("run_model"));
    json_int_field(&json, STR("task"), task_id);
    json_text_field(&json, STR("module_path"), model->python->module_path);
    json_text_field(&json, STR("function"), model->python->function);
    json_text_field(&json, STR("model"), model->name);
    write_run(&json, request);
    write_parameters(&json, &model->python->parameters);
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
        error_wrap(err, "running " STR_FMT, STR_ARG(task->what));
    }
    return status;
}

/* The worker says so itself: an output that got lost is not taken for one that never was. */
static bool may_be_without_output(const Task *task) {
    return task->request->may_yield_nothing && frame_flag(task->result, STR("yielded_nothing"));
}

static Status verify(const Task *task, void *context, Error *err) {
    const Drain *drain = context;
    int64_t claimed = frame_int(task->result, STR("rows"));
    if (!drain->has_begun && !may_be_without_output(task)) {
        return error_set(err, ERROR_EXECUTION, STR_FMT " failed: its worker gave no output", STR_ARG(task->what));
    }
    if (claimed != drain->rows) {
        return error_set(err, ERROR_EXECUTION, STR_FMT " failed: its worker speaks of %lld rows, but %lld came",
                         STR_ARG(task->what), (long long)claimed, (long long)drain->rows);
    }
    return OK;
}

/* A result lives in the arena of the registrations, when there are any. */
static void take_registrations(const ConfigValue *result, PythonRegistrations *registrations) {
    const ConfigValue *models = config_find(result, STR("models"));
    registrations->models = models != NULL && models->kind == CONFIG_LIST ? models : NULL;
}

Status python_run_model(PythonRuntime *runtime, const PythonTask *task, int64_t *rows_out, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    Drain drain = {.output = &task->output};
    ModelRequest request = {.task = task, .config = runtime->options.config};
    TaskPlan plan = {
        .request = task,
        .what = str_format(arena, "model '" STR_FMT "'", STR_ARG(task->model->name)),
        .parameters = &task->model->python->parameters,
        .write = write_request,
        .context = &request,
        .work = work,
        .verify = verify,
        .work_context = &drain,
    };
    const ConfigValue *result;
    PythonRegistrations *registrations = task->registrations;
    TRY(runtime_do(runtime, &plan, registrations == NULL ? arena : registrations->arena, &result, err));
    if (registrations != NULL) {
        take_registrations(result, registrations);
    }
    *rows_out = drain.rows;
    return OK;
}
