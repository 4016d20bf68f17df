#include "run/build.h"

#include "base/test_hooks.h"
#include "project/graph.h"
#include "run/build_rows.h"
#include "run/check_runner.h"
#include "run/contract.h"

/* ---- Messages: what failed carries the model's name, once. */

static Status fail_model(const Model *model, Error *err) {
    bool names_model = str_starts_with(err->message, STR("model '")) || err->kind == ERROR_CHECK;
    if (names_model || err->kind == ERROR_INTERRUPTED) {
        return FAILED;
    }
    AUTO(error) Error named = {0};
    ErrorKind kind = err->kind == ERROR_SCHEMA || err->kind == ERROR_DEFINITION ? err->kind : ERROR_EXECUTION;
    error_set_at(&named, kind, err->place, "model '" STR_FMT "' failed: " STR_FMT, STR_ARG(model->name),
                 STR_ARG(err->message));
    named.sql = str_copy(named.arena, err->sql);
    named.sql_offset = err->sql_offset;
    named.engine_type = err->engine_type;
    named.traceback = str_copy(named.arena, err->traceback);
    if (err->hint.size > 0) {
        error_hint(&named, STR_FMT, STR_ARG(err->hint));
    }
    error_place(&named, model->place);
    error_move(err, &named);
    return FAILED;
}

/* ---- State: one connection for all builders. */

static Snapshot snapshot_of(const Build *build, TimeUs verified_at) {
    const Model *model = build->task->model;
    bool is_sql = model->kind == MODEL_SQL;
    const char *category = change_category_name(build->task->category);
    return (Snapshot){
        .name = model->name,
        .fingerprint = model->fingerprint,
        .local_fingerprint = model->local_fingerprint,
        .metadata_hash = model->metadata_hash,
        .physical_hash = model->physical_hash,
        .definition_sql = is_sql ? model->query.text : STR_EMPTY,
        .definition_source = is_sql ? STR_EMPTY : model->python->source,
        .physical_schema = build->relation.schema,
        .physical_name = build->relation.name,
        .is_view = model->materialise == MATERIALISE_VIEW,
        .change_category = str_from(category),
        .engine = model->engine,
        .created_at = clock_now_us(),
        .verified_at = verified_at,
        .columns_json = build->columns_json,
    };
}

static Status record_snapshot(Build *build, bool is_verified, Error *err) {
    Snapshot snapshot = snapshot_of(build, is_verified ? clock_now_us() : 0);
    BuildContext *context = build->context;
    pthread_mutex_lock(&context->state_mutex);
    Status status = state_record_snapshot(context->state, &snapshot, err);
    pthread_mutex_unlock(&context->state_mutex);
    return status;
}

static Status record_checks(Build *build, Error *err) {
    BuildContext *context = build->context;
    if (build->result->checks.count == 0) {
        return OK;
    }
    for (size_t i = 0; i < build->result->checks.count; i++) {
        session_emit(
            context->session,
            (Event){.type = EVENT_CHECK, .model = build->task->model, .check = &build->result->checks.items[i]});
    }
    pthread_mutex_lock(&context->state_mutex);
    Status status = state_record_checks(context->state, &build->result->checks, err);
    pthread_mutex_unlock(&context->state_mutex);
    return status;
}

/* Does any environment point at this snapshot? Its readers then see every commit to the relation. */
static Status is_served(Build *build, bool *served_out, Error *err) {
    BuildContext *context = build->context;
    const Model *model = build->task->model;
    EnvironmentSummaryVec environments = {0};
    bool served = false;
    pthread_mutex_lock(&context->state_mutex);
    Status status = state_load_environments(context->state, build->arena, &environments, err);
    for (size_t i = 0; i < environments.count && !failed(status); i++) {
        PointerVec pointers = {0};
        status = state_load_pointers(context->state, environments.items[i].name, build->arena, &pointers, err);
        for (size_t p = 0; p < pointers.count; p++) {
            served = served || (str_equal(pointers.items[p].model, model->name) &&
                                str_equal(pointers.items[p].fingerprint, model->fingerprint));
        }
    }
    pthread_mutex_unlock(&context->state_mutex);
    *served_out = served;
    return status;
}

/* ---- Checks. */

static Status run_checks(Build *build, bool *transaction_lost_out, Error *err) {
    BuildContext *context = build->context;
    CheckRun run = {
        .session = context->session,
        .connection = build->connection,
        .relations = context->relations,
        .model = build->task->model,
        .table = build->relation,
        .environment = context->plan->environment,
        .fingerprint = build->task->model->fingerprint,
        .trigger = STR("apply"),
        .strict = context->strict,
        .is_cancelled = context->is_stopping,
        .cancel_context = context->stop_context,
    };
    build->result->checks = (CheckResultVec){0};
    return check_runner_run(&run, build->arena, &build->result->checks, transaction_lost_out, err);
}

/* Committed rows that nobody reads yet: each check by itself, so that one that fails while it runs spoils no other. */
static Status check_committed(Build *build, Error *err) {
    TRY(run_checks(build, NULL, err));
    TRY(record_checks(build, err));
    return check_results_gate(&build->result->checks, build->context->strict, err);
}

/* ---- One whole-table build. */

/* Everything between BEGIN and the verdict; the caller commits or rolls back. */
static Status write_and_check(Build *build, bool check_inside, bool *transaction_lost_out, Error *err) {
    TRY(test_hook("build.begun", err));
    TRY(build_write_rows(build, err));
    TRY(test_hook("build.written", err));
    if (check_inside) {
        TRY(run_checks(build, transaction_lost_out, err));
    }
    return test_hook("build.checked", err);
}

static Status commit_and_record(Build *build, bool is_verified, Error *err) {
    TRY(engine_commit(build->connection, err));
    TRY(test_hook("build.committed", err));
    TRY(record_snapshot(build, is_verified, err));
    return test_hook("build.recorded", err);
}

/* A blocked table that no environment serves is kept, unverified, so that its rows can be looked at: it is never
 * promoted and the next apply builds it anew. One that is served is rolled back: readers must not see its rows. */
static Status finish_blocked(Build *build, Error *blocked, Error *err) {
    bool served = false;
    TRY(is_served(build, &served, err));
    if (served) {
        engine_rollback(build->connection);
    } else {
        TRY(commit_and_record(build, false, err));
    }
    error_move(err, blocked);
    return FAILED;
}

/* The transaction died with a check that failed while it ran (a cast, a missing file), and the rows with it. They are
 * written once more and committed unverified, and the checks are made on committed rows. */
static Status build_then_check(Build *build, Error *err) {
    bool served = false;
    TRY(is_served(build, &served, err));
    if (served) {
        TRY(record_checks(build, err));
        TRY(check_results_gate(&build->result->checks, true, err));
    }
    bool unused = false;
    TRY(engine_begin(build->connection, err));
    if (failed(write_and_check(build, false, &unused, err))) {
        engine_rollback(build->connection);
        return FAILED;
    }
    TRY(commit_and_record(build, false, err));
    TRY(check_committed(build, err));
    return record_snapshot(build, true, err);
}

static Status build_checked(Build *build, Error *err) {
    bool transaction_lost = false;
    TRY(engine_begin(build->connection, err));
    if (failed(write_and_check(build, true, &transaction_lost, err))) {
        engine_rollback(build->connection);
        return FAILED;
    }
    if (transaction_lost) {
        engine_rollback(build->connection);
        return build_then_check(build, err);
    }
    TRY(record_checks(build, err));
    AUTO(error) Error blocked = {0};
    if (failed(check_results_gate(&build->result->checks, build->context->strict, &blocked))) {
        return finish_blocked(build, &blocked, err);
    }
    return commit_and_record(build, true, err);
}

static Status build_model(Build *build, Error *err) {
    const Model *model = build->task->model;
    TRY(build_prepare(build, err));
    TRY(build_checked(build, err));
    build->result->outcome = OUTCOME_BUILT;
    build->result->rows = model->materialise == MATERIALISE_VIEW ? ROWS_UNKNOWN : build->rows;
    return OK;
}

/* ---- Reuse: the rows are there; they are checked again for this environment. */

static Status reuse_model(Build *build, bool *is_gone_out, Error *err) {
    *is_gone_out = engine_catalog_kind(build->context->catalog, build->relation) == RELATION_ABSENT;
    if (*is_gone_out) {
        return OK;
    }
    TRY(check_committed(build, err));
    build->result->outcome = OUTCOME_REUSED;
    return OK;
}

static Status reuse_or_build(Build *build, Error *err) {
    bool is_gone = true;
    if (build->task->action == TASK_REUSE) {
        TRY(reuse_model(build, &is_gone, err));
    }
    return is_gone ? build_model(build, err) : OK;
}

Status build_task(BuildContext *context, const PlanTask *task, Arena *arena, ModelResult *result, Error *err) {
    result->rows = ROWS_UNKNOWN;
    assert(context->is_stopping != NULL);
    if (task->action == TASK_RECORD) {
        result->outcome = OUTCOME_RECORDED;
        return OK;
    }
    AUTO(engine_connection) EngineConnection *connection = NULL;
    TRY(engine_connect(context->engine, &connection, err));
    Build build = {
        .context = context,
        .task = task,
        .arena = arena,
        .connection = connection,
        .relation = context->relations->items[task->model->index],
        .result = result,
        .rows = ROWS_UNKNOWN,
    };
    if (failed(reuse_or_build(&build, err))) {
        engine_rollback(connection);
        return fail_model(task->model, err);
    }
    return OK;
}
