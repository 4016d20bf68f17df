#include "run/check_rows.h"

#include "config/config_value.h"
#include "project/graph.h"
#include "run/apply.h"

static Status refuse_check(const Model *model, Str name, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    StrVec names = {0};
    for (size_t i = 0; i < model->checks.count; i++) {
        str_vec_push(arena, &names, model->checks.items[i]->name);
    }
    error_set(err, ERROR_DEFINITION, "model '" STR_FMT "' has no check '" STR_FMT "'", STR_ARG(model->name),
              STR_ARG(name));
    error_code(err, STR("check.unknown"));
    if (names.count > 0) {
        error_hint(err, "it has " STR_FMT, STR_ARG(str_join(arena, names.items, names.count, STR(", "))));
    }
    return FAILED;
}

static Status find_check(const Project *project, const CheckRowsOptions *options, const Model **model_out,
                         const Check **check_out, Error *err) {
    const Model *model;
    TRY(project_get(project, options->model, &model, err));
    for (size_t i = 0; i < model->checks.count; i++) {
        if (str_equal(model->checks.items[i]->name, options->check)) {
            *model_out = model;
            *check_out = model->checks.items[i];
            return OK;
        }
    }
    return refuse_check(model, options->check, err);
}

static Status load_last(Session *session, const CheckRowsOptions *options, const Model *model, Arena *arena,
                        CheckResult *result_out, Error *err) {
    StateStore *state;
    CheckResultVec results = {0};
    CheckResultFilter filter = {
        .model = model->name, .environment = options->environment, .check = options->check, .limit = 1};
    TRY(session_state_for_reading(session, &state, err));
    TRY(state_load_checks(state, &filter, arena, &results, err));
    if (results.count == 0) {
        error_set(err, ERROR_CHECK, STR_FMT "." STR_FMT " has not run in '" STR_FMT "'", STR_ARG(model->name),
                  STR_ARG(options->check), STR_ARG(options->environment));
        error_hint(err, "run interlace checks run --select " STR_FMT, STR_ARG(model->name));
        return FAILED;
    }
    *result_out = results.items[0];
    return OK;
}

/* A Python check has rows when it returned them. */
static Status refuse_rowless(const Check *check, const CheckResult *result, Error *err) {
    if (str_equal(result->status, STR("error"))) {
        return error_set(err, ERROR_CHECK, STR_FMT "." STR_FMT " could not run: " STR_FMT, STR_ARG(result->model),
                         STR_ARG(result->check_name), STR_ARG(result->message));
    }
    if (check->type == CHECK_ROW_COUNT || check->type == CHECK_FRESHNESS) {
        return error_set(err, ERROR_CHECK, STR_FMT "." STR_FMT " judges the table, not its rows",
                         STR_ARG(result->model), STR_ARG(result->check_name));
    }
    return error_set(err, ERROR_CHECK, STR_FMT "." STR_FMT " gave no rows, only how many are wrong: %lld",
                     STR_ARG(result->model), STR_ARG(result->check_name), (long long)result->failures);
}

Status check_rows_load(Session *session, const CheckRowsOptions *options, Arena *arena, CheckRows *rows_out,
                       Error *err) {
    const Model *model;
    const Check *check;
    CheckRows rows = {0};
    TRY(environment_check_name(options->environment, err));
    TRY(find_check(session->project, options, &model, &check, err));
    TRY(recovery_finish_if_needed(session, err));
    TRY(load_last(session, options, model, arena, &rows.result, err));
    bool has_passed = str_equal(rows.result.status, STR("passed"));
    bool judges_table = check->type == CHECK_ROW_COUNT || check->type == CHECK_FRESHNESS;
    if (judges_table || (!has_passed && rows.result.sample_json.size == 0)) {
        return refuse_rowless(check, &rows.result, err);
    }
    if (!has_passed) {
        ConfigValue *sample;
        TRY(json_read(rows.result.sample_json, STR_EMPTY, arena, &sample, err));
        rows.sample = sample;
        size_t kept = config_find(rows.sample, STR("rows"))->count;
        rows.count = options->limit < (int64_t)kept ? (size_t)options->limit : kept;
    }
    *rows_out = rows;
    return OK;
}
