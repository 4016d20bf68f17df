/* python_run_check: asks a worker for the verdict of a check's function. */
#include "config/json_writer.h"
#include "python/runtime_parts.h"
#include "python/worker_error.h"

typedef struct CheckRequest {
    const Check *check;
    const PythonTask *task;
} CheckRequest;

static Str write_request(const void *context, int64_t task_id, Arena *arena) {
    const CheckRequest *request = context;
    AUTO(strbuf) StrBuf text = {0};
    JsonWriter json;
    json_writer_init(&json, &text, JSON_COMPACT);
    json_begin_object(&json);
    json_text_field(&json, STR("t"), STR("run_check"));
    json_int_field(&json, STR("task"), task_id);
    json_text_field(&json, STR("module_path"), request->check->module_path);
    json_text_field(&json, STR("function"), request->check->function);
    json_text_field(&json, STR("model"), request->task->model->name);
    json_text_field(&json, STR("check"), request->check->name);
    json_end_object(&json);
    return strbuf_copy(&text, arena);
}

/* ---- Verdict */

static PythonVerdict verdict_of_error(const Error *reason, Arena *arena) {
    return (PythonVerdict){.status = VERDICT_ERROR, .message = error_line(reason, arena)};
}

static PythonVerdict verdict_of_raise(const ConfigValue *failure, Arena *arena) {
    AUTO(error) Error reason;
    error_init(&reason);
    const WorkerErrorForm form = {.raised = STR_EMPTY, .refused = STR_EMPTY, .raised_kind = ERROR_EXECUTION};
    worker_error_set(failure, &form, &reason);
    return verdict_of_error(&reason, arena);
}

static PythonVerdict read_verdict(const ConfigValue *result, Arena *arena) {
    Str word = config_text(result, STR("verdict"));
    const ConfigValue *failure = config_find(result, STR("error"));
    if (failure != NULL) {
        return verdict_of_raise(failure, arena);
    }
    PythonVerdict verdict = {
        .status = VERDICT_ERROR,
        .failures = frame_int(result, STR("failures")),
        .message = str_copy(arena, config_text(result, STR("message"))),
        .sample_json = str_copy(arena, config_text(result, STR("sample"))),
    };
    if (str_equal(word, STR("passed"))) {
        verdict.status = VERDICT_PASSED;
    } else if (str_equal(word, STR("failed"))) {
        verdict.status = VERDICT_FAILED;
    }
    return verdict;
}

Status python_run_check(PythonRuntime *runtime, const Check *check, const PythonTask *task, Arena *arena,
                        PythonVerdict *verdict_out, Error *err) {
    PythonParameter table = {.name = STR("table"), .kind = PARAMETER_UPSTREAM, .model = task->model->index};
    PythonParameterVec parameters = {.items = &table, .count = 1, .capacity = 1};
    PythonTask request = *task;
    request.output = (PythonOutput){0};
    CheckRequest check_request = {.check = check, .task = task};
    TaskPlan plan = {
        .request = &request,
        .what = str_format(arena, "check '" STR_FMT "' of model '" STR_FMT "'", STR_ARG(check->name),
                           STR_ARG(task->model->name)),
        .parameters = &parameters,
        .write = write_request,
        .context = &check_request,
    };
    AUTO(error) Error reason;
    error_init(&reason);
    const ConfigValue *result;
    if (!failed(runtime_do(runtime, &plan, arena, &result, &reason))) {
        *verdict_out = read_verdict(result, arena);
        return OK;
    }
    if (reason.kind == ERROR_INTERRUPTED) {
        error_move(err, &reason);
        return FAILED;
    }
    *verdict_out = verdict_of_error(&reason, arena);
    return OK;
}
