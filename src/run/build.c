#include "run/build.h"

#include "base/test_hooks.h"
#include "project/graph.h"
#include "run/build_step.h"
#include "run/check_runner.h"

/* ---- Messages: what failed carries the model's name, once. */

static Status fail_model(const Model *model, Error *err) {
    bool names_model = str_starts_with(err->message, STR("model '")) || err->kind == ERROR_CHECK;
    if (names_model || err->kind == ERROR_INTERRUPTED) {
        return FAILED;
    }
    AUTO(error) Error named = {0};
    ErrorKind kind = err->kind == ERROR_SCHEMA || err->kind == ERROR_DEFINITION || err->kind == ERROR_PLAN
                         ? err->kind
                         : ERROR_EXECUTION;
    error_set_at(&named, kind, err->place, "model '" STR_FMT "' failed: " STR_FMT, STR_ARG(model->name),
                 STR_ARG(err->message));
    named.sql = str_copy(named.arena, err->sql);
    named.sql_offset = err->sql_offset;
    named.engine_type = err->engine_type;
    named.traceback = str_copy(named.arena, err->traceback);
    if (err->hint.size > 0) {
        error_hint(&named, STR_FMT, STR_ARG(err->hint));
    }
    error_details_copy(&named, err);
    error_place(&named, model->place);
    error_move(err, &named);
    return FAILED;
}

/* ---- Checks. */

static Str trigger_of(const BuildContext *context) {
    return context->options->verb == WINDOW_APPLY ? STR("apply") : STR("run");
}

/* The rows that the transaction at hand may have changed. A table of our own is written by nobody else while the
 * command lasts. A Python model may give other columns with each window, and rows of earlier ones change their type
 * with them. */
static Status changed_rows(const Build *build, Str *condition_out, Error *err) {
    *condition_out = STR_EMPTY;
    bool is_ours = !build->target.is_external && !build->target.is_aside && build->task->model->kind == MODEL_SQL;
    return build->window != NULL && is_ours ? build_window_condition(build, condition_out, err) : OK;
}

static Status run_checks(Build *build, bool *transaction_lost_out, Error *err) {
    BuildContext *context = build->context;
    Str window;
    TRY(changed_rows(build, &window, err));
    CheckRun run = {
        .session = context->session,
        .connection = build->connection,
        .relations = context->relations,
        .model = build->task->model,
        .table = build->target.is_aside ? build->target.checked : build->target.relation,
        .environment = context->plan->environment,
        .fingerprint = build->task->model->fingerprint,
        .trigger = trigger_of(context),
        .window = window,
        .passed = build->passed,
        .strict = context->options->strict,
        .one_by_one = build->checks_one_by_one,
        .is_cancelled = context->is_stopping,
        .cancel_context = context->stop_context,
    };
    build->result->checks = (CheckResultVec){0};
    return check_runner_run(&run, build->arena, &build->result->checks, transaction_lost_out, err);
}

/* Committed rows that nobody reads yet: each check by itself, so that one that fails while it runs spoils no other. */
static Status check_committed(Build *build, Error *err) {
    TRY(run_checks(build, NULL, err));
    TRY(build_record_checks(build, err));
    return check_results_gate(&build->result->checks, build->context->options->strict, err);
}

/* ---- One transaction: a whole model, a first build, or a batch of windows. */

/* Everything between BEGIN and the verdict; the caller commits or rolls back. */
static Status write_and_check(Build *build, bool check_inside, bool *transaction_lost_out, Error *err) {
    TRY(test_hook("build.begun", err));
    build->now = clock_now_us();
    build->filled = (Window){0};
    if (build->window != NULL &&
        !window_recordable(build->target.grain, *build->window, build->context->now, &build->filled)) {
        build->filled = (Window){0};
    }
    TRY(build_write_rows(build, err));
    TRY(build_create_physical(build, err));
    TRY(test_hook("build.written", err));
    if (check_inside) {
        TRY(run_checks(build, transaction_lost_out, err));
    }
    return test_hook("build.checked", err);
}

static void add_counts(RowCounts *sum, const RowCounts *counts) {
    sum->is_known = counts->is_known;
    sum->inserted += counts->inserted;
    sum->updated += counts->updated;
    sum->deleted += counts->deleted;
}

static StrVec passed_checks(const Build *build) {
    StrVec passed = {0};
    const CheckResultVec *results = &build->result->checks;
    for (size_t i = 0; i < results->count; i++) {
        if (str_equal(results->items[i].status, STR("passed"))) {
            str_vec_push(build->arena, &passed, results->items[i].check_name);
        }
    }
    return passed;
}

static Status commit_and_record(Build *build, bool is_verified, Error *err) {
    TRY(engine_commit(build->connection, err));
    build->passed = is_verified ? passed_checks(build) : (StrVec){0};
    TRY(test_hook("build.committed", err));
    if (is_verified) {
        TRY(build_record_ledger(build, err));
        TRY(test_hook("build.ledger", err));
    }
    if (!build->is_recorded && !build->target.is_aside) {
        TRY(build_record_snapshot(build, is_verified, err));
    }
    build->is_recorded = is_verified;
    build->target.is_there = is_verified;
    build->target.seed = (SqlRelation){0};
    add_counts(&build->result->rows, &build->rows);
    return test_hook("build.recorded", err);
}

/* Rows that would spoil something: readers see them, or what was there before would be lost with them. */
static bool must_roll_back(const Build *build) {
    return build->target.is_served || build->target.is_there || build->target.is_external || build->target.is_aside ||
           build->window != NULL || build->target.seed.name.size > 0;
}

/* A blocked table that no environment serves is kept, unverified, so that its rows can be looked at: it is never
 * promoted and the next apply builds it anew. */
static Status finish_blocked(Build *build, Error *blocked, Error *err) {
    if (must_roll_back(build)) {
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
    if (must_roll_back(build)) {
        TRY(build_record_checks(build, err));
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
    TRY(build_record_ledger(build, err));
    return build_record_snapshot(build, true, err);
}

/* Checks of a view may have shared a scan: which of them it was is not known. */
static bool can_tell_checks_apart(const Build *build) {
    return !build->checks_one_by_one && build->task->model->materialise == MATERIALISE_VIEW;
}

static Status build_checked(Build *build, Error *err);

/* The view is made once more, and its checks are run one by one. */
static Status build_checked_again(Build *build, Error *err) {
    build->checks_one_by_one = true;
    return build_checked(build, err);
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
        return can_tell_checks_apart(build) ? build_checked_again(build, err) : build_then_check(build, err);
    }
    TRY(build_record_checks(build, err));
    AUTO(error) Error blocked = {0};
    if (failed(check_results_gate(&build->result->checks, build->context->options->strict, &blocked))) {
        return finish_blocked(build, &blocked, err);
    }
    return commit_and_record(build, true, err);
}

bool build_goes_on(const Model *model, const BuildTarget *target) {
    return strategy_is_accumulating(model->strategy) && (target->is_there || target->seed.name.size > 0);
}

/* A view that is only put over other tables. */
static bool is_view_again(const Build *build) {
    const PlanTask *task = build->task;
    return task->action == TASK_RECREATE ||
           (task->action == TASK_REUSE && task->model->materialise == MATERIALISE_VIEW);
}

static Status build_model(Build *build, Error *err) {
    TRY(build_prepare(build, err));
    TRY(build_reconcile_physical(build, err));
    if (build->target.is_windowed) {
        TRY(build_windows(build, build_checked, err));
    } else {
        TRY(build_checked(build, err));
        build->result->tasks = 1;
    }
    build->result->outcome = is_view_again(build) ? OUTCOME_REUSED : OUTCOME_BUILT;
    return OK;
}

/* ---- Reuse: the rows are there; they are checked again for this environment. */

static Status reuse_or_build(Build *build, Error *err) {
    bool is_kept = build->target.is_skipped || (build->task->action == TASK_REUSE && build->target.is_there);
    if (!is_kept) {
        return build_model(build, err);
    }
    TRY(check_committed(build, err));
    TRY(build_record_reused(build, err));
    build->result->outcome = build->target.is_skipped ? OUTCOME_SKIPPED : OUTCOME_REUSED;
    return OK;
}

/* Nothing is due, and the version is on record. */
static bool is_done(const PlanTask *task, const BuildTarget *target) {
    return target->is_skipped && task->snapshot == NULL;
}

static const BuildTarget *target_of(const BuildContext *context, const PlanTask *task) {
    return &context->targets[task - context->plan->tasks.items];
}

Build build_begin(BuildContext *context, const PlanTask *task, const BuildTarget *target, EngineConnection *connection,
                  Arena *arena, ModelResult *result) {
    return (Build){
        .context = context,
        .task = task,
        .target = *target,
        .arena = arena,
        .connection = connection,
        .result = result,
    };
}

Status build_task(BuildContext *context, const PlanTask *task, Arena *arena, ModelResult *result, Error *err) {
    return build_target(context, task, target_of(context, task), arena, result, err);
}

Status build_target(BuildContext *context, const PlanTask *task, const BuildTarget *target, Arena *arena,
                    ModelResult *result, Error *err) {
    assert(context->is_stopping != NULL);
    result->rows = (RowCounts){0};
    result->tasks = 0;
    result->batches = (WindowVec){0};
    result->checks = (CheckResultVec){0};
    result->registrations = (RegistrationVec){0};
    if (task->action == TASK_RECORD || is_done(task, target)) {
        result->outcome = target->is_skipped ? OUTCOME_SKIPPED : OUTCOME_RECORDED;
        return OK;
    }
    if (target->is_gated) {
        Build gated = build_begin(context, task, target, NULL, arena, result);
        result->outcome = OUTCOME_GATED;
        return target->is_recorded ? OK : build_record_snapshot(&gated, true, err);
    }
    AUTO(engine_connection) EngineConnection *connection = NULL;
    TRY(engine_connect(context->engine, &connection, err));
    Build build = build_begin(context, task, target, connection, arena, result);
    build_read_physical(&build);
    if (failed(reuse_or_build(&build, err))) {
        engine_rollback(connection);
        return fail_model(task->model, err);
    }
    return OK;
}
