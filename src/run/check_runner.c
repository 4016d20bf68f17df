#include "run/check_runner.h"

#include "config/json_writer.h"
#include "engine/rows_json.h"
#include "run/python_part.h"

#define SAMPLE_ROWS_MAX 100

/* The engine's message or the rows of one check, while it runs. */
typedef struct CheckOutcome {
    Str status;
    int64_t failures;
    Str message, sample_json;
} CheckOutcome;

static SqlRelation relation_of_model(void *context, size_t model) {
    const RelationMap *relations = context;
    return relations->items[model];
}

static CheckContext check_context(const CheckRun *run, RelationMap *relations) {
    return (CheckContext){
        .table = run->table,
        .relation_of = relation_of_model,
        .context = relations,
        .inputs = relations->inputs,
        .timezone = run->session->project->config->timezone,
    };
}

/* What a row check need not look at: rows outside of the window have passed it, and are as they were. */
static Str rows_to_judge(const CheckRun *run, const Check *check) {
    bool is_rest_good = check_verdict_lasts(check) && str_vec_contains(&run->passed, check->name);
    return is_rest_good ? run->window : STR_EMPTY;
}

static CheckOutcome outcome_of_error(const Error *err, Arena *arena) {
    return (CheckOutcome){.status = STR("error"), .message = str_copy(arena, err->message)};
}

/* A check that needs a model which has no rows here cannot judge: an error of the check, not of the build. */
static Status require_read_models(const CheckRun *run, const Check *check, Error *err) {
    for (size_t i = 0; i < check->reads.count; i++) {
        size_t model = check->reads.items[i];
        if (run->relations->items[model].name.size == 0) {
            return error_set(err, ERROR_CHECK, "'" STR_FMT "' is not built in this environment",
                             STR_ARG(run->session->project->models[model]->name));
        }
    }
    return OK;
}

/* Rows for a person to look at. They are a courtesy: a failure to get them is no failure of the check, but it may have
 * cost the transaction. */
static void sample_failing_rows(const CheckRun *run, const Check *check, Arena *arena, CheckOutcome *outcome) {
    AUTO(error) Error err = {0};
    RelationMap relations = *run->relations;
    CheckContext context = check_context(run, &relations);
    context.rows = rows_to_judge(run, check);
    SqlText query = {0};
    DuckRows rows = {0};
    if (failed(check_failing_rows_query(check, &context, SAMPLE_ROWS_MAX, arena, &query, &err)) ||
        query.text.size == 0) {
        return;
    }
    DuckColumnVec columns = {0};
    if (failed(engine_describe(run->connection, &query, arena, &columns, &err))) {
        return;
    }
    if (!failed(engine_query(run->connection, &query, arena, &rows, &err))) {
        outcome->sample_json = rows_to_json(&rows, arena);
    }
}

/* ---- Several checks in one scan. Only of a view, whose query each of them would run again: of a table each scan reads
 * its own columns alone, and where the engine's statistics answer it reads nothing, which is the quicker way. */

typedef struct CheckScan {
    const Check **checks;
    size_t count;
    int64_t *failures; /* of each; NULL: they are to be run one by one */
    double seconds;    /* of each */
} CheckScan;

static bool is_wanted(const CheckRun *run, const Check *check) {
    return run->only.size == 0 || str_equal(run->only, check->name);
}

/* One that does not bind by itself is left out: it would take the others with it. */
static bool binds(const CheckRun *run, const Check *check, const CheckContext *context) {
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error unused = {0};
    SqlText query = {0};
    DuckColumnVec columns = {0};
    return !failed(check_compile(check, context, arena, &query, &unused)) &&
           !failed(engine_describe(run->connection, &query, arena, &columns, &unused));
}

static CheckScan choose_scan(const CheckRun *run, const CheckContext *context, Arena *arena) {
    CheckScan scan = {.checks = ARENA_NEW_ARRAY(arena, const Check *, run->model->checks.count)};
    bool is_shared = run->model->materialise == MATERIALISE_VIEW && !run->one_by_one;
    for (size_t i = 0; i < run->model->checks.count && is_shared; i++) {
        const Check *check = run->model->checks.items[i];
        if (is_wanted(run, check) && check_judges_rows(check) && binds(run, check, context)) {
            scan.checks[scan.count++] = check;
        }
    }
    return scan;
}

static Status read_failures(const DuckRows *rows, CheckScan *scan, Arena *arena, Error *err) {
    int64_t *failures = ARENA_NEW_ARRAY(arena, int64_t, scan->count);
    for (size_t i = 0; i < scan->count; i++) {
        if (!str_to_int64(duck_cell(rows, 0, i)->text, &failures[i])) {
            return error_set(err, ERROR_INTERNAL, "a count of failures is no number");
        }
    }
    scan->failures = failures;
    return OK;
}

/* A statement that fails says nothing of the single checks: they are then run one by one. */
static Status run_scan(const CheckRun *run, Arena *arena, CheckScan *scan_out, Error *err) {
    AUTO(error) Error fault = {0};
    RelationMap relations = *run->relations;
    CheckContext context = check_context(run, &relations);
    CheckScan scan = choose_scan(run, &context, arena);
    if (scan.count > 1) {
        int64_t started_us = clock_monotonic_us();
        SqlText query = {0};
        DuckRows rows = {0};
        if (!failed(check_compile_together(scan.checks, scan.count, &context, arena, &query, &fault)) &&
            !failed(engine_query(run->connection, &query, arena, &rows, &fault))) {
            TRY(read_failures(&rows, &scan, arena, err));
        }
        scan.seconds = (double)(clock_monotonic_us() - started_us) / 1e6 / (double)scan.count;
    }
    if (fault.kind == ERROR_INTERRUPTED) {
        error_move(err, &fault);
        return FAILED;
    }
    *scan_out = scan;
    return OK;
}

/* NULL: the scan did not count it. */
static const int64_t *failures_in_scan(const CheckScan *scan, const Check *check) {
    for (size_t i = 0; i < scan->count && scan->failures != NULL; i++) {
        if (scan->checks[i] == check) {
            return &scan->failures[i];
        }
    }
    return NULL;
}

/* ---- One check */

static void set_failures(const CheckRun *run, const Check *check, int64_t failures, Arena *arena,
                         CheckOutcome *outcome_out) {
    *outcome_out = (CheckOutcome){.status = failures == 0 ? STR("passed") : STR("failed"), .failures = failures};
    if (failures > 0) {
        sample_failing_rows(run, check, arena, outcome_out);
    }
}

/* Binding comes first by itself: a check that does not bind leaves the transaction alive, one that fails while it runs
 * does not (facts/duckdb.md §5). */
static Status run_declared(const CheckRun *run, const Check *check, Arena *arena, CheckOutcome *outcome_out,
                           Error *err) {
    AUTO(error) Error fault = {0};
    RelationMap relations = *run->relations;
    CheckContext context = check_context(run, &relations);
    context.rows = rows_to_judge(run, check);
    SqlText query = {0};
    DuckColumnVec columns = {0};
    if (failed(require_read_models(run, check, &fault)) ||
        failed(check_compile(check, &context, arena, &query, &fault)) ||
        failed(engine_describe(run->connection, &query, arena, &columns, &fault))) {
        *outcome_out = outcome_of_error(&fault, arena);
        return OK;
    }
    int64_t failures = 0;
    if (failed(engine_query_int(run->connection, &query, &failures, &fault))) {
        bool wants_memory = run->shares_memory && engine_error_is_out_of_memory(&fault);
        if (fault.kind == ERROR_INTERRUPTED || wants_memory) {
            error_move(err, &fault);
            return FAILED;
        }
        *outcome_out = outcome_of_error(&fault, arena);
        return OK;
    }
    set_failures(run, check, failures, arena, outcome_out);
    return OK;
}

/* ---- Python checks read the relation as a stream of the same connection, so also rows that are not committed yet. */

static Status open_table(void *context, const PythonParameter *parameter, const PythonPart *part,
                         DuckStream **stream_out, Error *err) {
    const CheckRun *run = context;
    AUTO(arena) Arena *arena = arena_create();
    SqlText query = sql_text_all_rows(arena, run->table);
    TRY(python_part_query(run->connection, parameter->name, part, arena, &query, err));
    return duck_stream_open(engine_connection_duck(run->connection), query.text, stream_out, err);
}

static void close_table(void *context, const PythonParameter *parameter, DuckStream *stream) {
    (void)context;
    (void)parameter;
    duck_stream_close(stream);
}

static Str verdict_status(PythonVerdictStatus status) {
    switch (status) {
    case VERDICT_PASSED:
        return STR("passed");
    case VERDICT_FAILED:
        return STR("failed");
    case VERDICT_ERROR:
        break;
    }
    return STR("error");
}

static Status run_python(const CheckRun *run, const Check *check, Arena *arena, CheckOutcome *outcome_out, Error *err) {
    CheckRun table_of = *run;
    PythonTask task = {
        .model = run->model,
        .environment = run->environment,
        .inputs = {.open = open_table, .close = close_table, .context = &table_of},
        .is_cancelled = run->is_cancelled,
        .cancel_context = run->cancel_context,
    };
    PythonVerdict verdict = {0};
    TRY(python_run_check(run->session->python, check, &task, arena, &verdict, err));
    *outcome_out = (CheckOutcome){
        .status = verdict_status(verdict.status),
        .failures = verdict.failures,
        .message = verdict.message,
        .sample_json = verdict.sample_json,
    };
    return OK;
}

static CheckResult result_of(const CheckRun *run, const Check *check, const CheckOutcome *outcome, double seconds) {
    return (CheckResult){
        .environment = run->environment,
        .model = run->model->name,
        .fingerprint = run->fingerprint,
        .check_name = check->name,
        .check_type = str_from(check_type_name(check->type)),
        .severity = str_from(check_severity_name(check->severity)),
        .status = outcome->status,
        .failures = outcome->failures,
        .message = outcome->message,
        .executed_at = clock_now_us(),
        .seconds = seconds,
        .trigger = run->trigger,
        .run_id = run->session->run_id,
        .sample_json = outcome->sample_json,
    };
}

Status check_runner_run(const CheckRun *run, Arena *arena, CheckResultVec *results_out, bool *transaction_lost_out,
                        Error *err) {
    CheckScan scan = {0};
    TRY(run_scan(run, arena, &scan, err));
    if (engine_transaction_is_lost(run->connection)) {
        *transaction_lost_out = true;
        return OK;
    }
    for (size_t i = 0; i < run->model->checks.count; i++) {
        const Check *check = run->model->checks.items[i];
        if (!is_wanted(run, check)) {
            continue;
        }
        int64_t started_us = clock_monotonic_us();
        CheckOutcome outcome = {0};
        const int64_t *failures = failures_in_scan(&scan, check);
        if (failures != NULL) {
            set_failures(run, check, *failures, arena, &outcome);
        } else if (check->type == CHECK_PYTHON) {
            TRY(run_python(run, check, arena, &outcome, err));
        } else {
            TRY(run_declared(run, check, arena, &outcome, err));
        }
        double seconds = (double)(clock_monotonic_us() - started_us) / 1e6 + (failures != NULL ? scan.seconds : 0);
        check_result_vec_push(arena, results_out, result_of(run, check, &outcome, seconds));
        if (engine_transaction_is_lost(run->connection)) {
            *transaction_lost_out = true;
            return OK;
        }
    }
    return OK;
}

bool check_result_is_blocking(const CheckResult *result, bool strict) {
    bool is_gating = str_equal(result->severity, STR("error")) || (strict && str_equal(result->severity, STR("warn")));
    return is_gating && !str_equal(result->status, STR("passed"));
}

Status check_results_gate(const CheckResultVec *results, bool strict, Error *err) {
    AUTO(strbuf) StrBuf list = {0};
    for (size_t i = 0; i < results->count; i++) {
        const CheckResult *result = &results->items[i];
        if (!check_result_is_blocking(result, strict)) {
            continue;
        }
        strbuf_text(&list, list.size > 0 ? "; " : "");
        strbuf_format(&list, STR_FMT "." STR_FMT, STR_ARG(result->model), STR_ARG(result->check_name));
        if (str_equal(result->status, STR("error"))) {
            strbuf_format(&list, " (" STR_FMT ")", STR_ARG(result->message));
        } else {
            strbuf_format(&list, " (%lld failing)", (long long)result->failures);
        }
    }
    if (list.size == 0) {
        return OK;
    }
    Str text = strbuf_str(&list);
    return error_set(err, ERROR_CHECK, "checks failed — promotion blocked: " STR_FMT, STR_ARG(text));
}
