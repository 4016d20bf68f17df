#include "run/apply.h"

#include "project/graph.h"
#include "run/apply_steps.h"
#include "run/cancel.h"
#include "run/check_runner.h"
#include "run/input_access.h"
#include "run/schedule.h"

#include <stdatomic.h>
#include <stdlib.h>

void checks_run_result_destroy(ChecksRunResult *result) {
    if (result == NULL) {
        return;
    }
    for (size_t i = 0; i < result->model_arena_count; i++) {
        arena_destroy(result->model_arenas[i]);
    }
    arena_destroy(result->arena);
    free(result);
}

/* The checks of one model, which one thread runs. */
typedef struct ModelChecks {
    const Model *model;
    Str left_out; /* why it is; empty: it is checked */
    CheckResultVec results;
    Error error;
} ModelChecks;

typedef struct ChecksRun {
    Session *session;
    const ChecksRunOptions *options;
    const Plan *plan;
    RelationMap relations;
    StateStore *state;
    Engine *engine;
    ModelChecks *models;
    size_t model_count;
    atomic_bool is_blocked; /* an outcome that blocks was seen */
    ChecksRunResult *result;
} ChecksRun;

static bool is_cancelled(void *context) {
    (void)context;
    return cancel_requested();
}

static Status refuse_unknown_environment(Str environment, Error *err) {
    error_set(err, ERROR_PLAN, "no environment '" STR_FMT "' — run interlace apply first", STR_ARG(environment));
    error_code(err, STR("environment.unknown"));
    return FAILED;
}

/* The relations an environment points at now, whatever the project's files say. */
static RelationMap promoted_relations(const Plan *plan, Arena *arena) {
    const Project *project = plan->project;
    RelationMap map = relation_map_create(project, arena);
    for (size_t i = 0; i < project->model_count; i++) {
        if (plan->current[i] != NULL) {
            map.items[i] = relation_of_snapshot(plan->current[i]);
        }
    }
    return map;
}

static void skip(ChecksRun *run, const Model *model, Str reason) {
    Arena *arena = run->result->arena;
    str_vec_push(arena, &run->result->skipped_models, model->name);
    str_vec_push(arena, &run->result->skipped,
                 str_format(arena, STR_FMT " — " STR_FMT, STR_ARG(model->name), STR_ARG(reason)));
}

/* ---- One model */

static bool has_blocking_outcome(const ChecksRun *run, const CheckResultVec *results) {
    for (size_t i = 0; i < results->count; i++) {
        if (check_result_is_blocking(&results->items[i], run->options->strict)) {
            return true;
        }
    }
    return false;
}

static Status check_model(const ChecksRun *run, ModelChecks *checks, Arena *arena, bool is_alone) {
    AUTO(engine_connection) EngineConnection *connection = NULL;
    const Model *model = checks->model;
    TRY(engine_connect(run->engine, &connection, &checks->error));
    CheckRun check_run = {
        .session = run->session,
        .connection = connection,
        .relations = &run->relations,
        .model = model,
        .table = run->relations.items[model->index],
        .environment = run->options->environment,
        .fingerprint = run->plan->current[model->index]->fingerprint,
        .trigger = STR("adhoc"),
        .only = run->options->check,
        .shares_memory = !is_alone,
        .is_cancelled = is_cancelled,
    };
    return check_runner_run(&check_run, arena, &checks->results, NULL, &checks->error);
}

static TaskVerdict verdict_of_failure(const Error *err, bool is_alone) {
    if (err->kind == ERROR_INTERRUPTED) {
        return VERDICT_TASK_CANCELLED;
    }
    return engine_error_is_out_of_memory(err) && !is_alone ? VERDICT_TASK_AGAIN_ALONE : VERDICT_TASK_FAILED;
}

static TaskVerdict run_task(void *context, size_t index, bool is_alone) {
    ChecksRun *run = context;
    ModelChecks *checks = &run->models[index];
    if (checks->left_out.size == 0 && run->options->fail_fast && atomic_load(&run->is_blocked)) {
        checks->left_out = STR("not begun after a failure");
    }
    if (checks->left_out.size > 0) {
        return VERDICT_TASK_DONE;
    }
    Arena **arena = &run->result->model_arenas[index];
    arena_destroy(*arena); /* of an attempt before */
    *arena = arena_create();
    checks->results = (CheckResultVec){0};
    error_clear(&checks->error);
    if (failed(check_model(run, checks, *arena, is_alone))) {
        return verdict_of_failure(&checks->error, is_alone);
    }
    if (has_blocking_outcome(run, &checks->results)) {
        atomic_store(&run->is_blocked, true);
    }
    return VERDICT_TASK_DONE;
}

/* ---- All */

static void interrupt(void *context) {
    const ChecksRun *run = context;
    engine_interrupt_all(run->engine);
}

/* Empty: its checks run. */
static Str reason_to_skip(const ChecksRun *run, const Model *model) {
    Str environment = run->options->environment;
    if (run->plan->current[model->index] == NULL) {
        return str_format(run->result->arena, "not promoted in '" STR_FMT "'", STR_ARG(environment));
    }
    if (model_is_terminal(model) && !model_delivers_in(model, environment)) {
        return str_format(run->result->arena, "not delivered in '" STR_FMT "'", STR_ARG(environment));
    }
    return STR_EMPTY;
}

static void choose_models(ChecksRun *run, const Selection *selection) {
    const Project *project = run->session->project;
    run->models = ARENA_NEW_ARRAY(run->result->arena, ModelChecks, project->model_count);
    for (size_t i = 0; i < project->model_count; i++) {
        const Model *model = project->models[i];
        if (selection->contains[i] && model->checks.count > 0) {
            run->models[run->model_count++] = (ModelChecks){.model = model, .left_out = reason_to_skip(run, model)};
        }
    }
}

/* Of several failures the first is told; that some were never begun only when nothing says why. */
static Status require_all_done(ChecksRun *run, const TaskState *states, Error *err) {
    Status status = OK;
    bool is_stopped = false;
    for (size_t i = 0; i < run->model_count; i++) {
        AUTO(error) Error reason = {0};
        error_move(&reason, &run->models[i].error);
        if ((states[i] == TASK_FAILED || states[i] == TASK_CANCELLED) && !failed(status)) {
            error_move(err, &reason);
            status = FAILED;
        }
        is_stopped = is_stopped || states[i] != TASK_DONE;
    }
    return is_stopped && !failed(status) ? error_set(err, ERROR_INTERRUPTED, "interrupted") : status;
}

static Status run_models(ChecksRun *run, Error *err) {
    Arena *arena = run->result->arena;
    size_t parallelism = run->options->parallelism;
    run->result->model_arenas = ARENA_NEW_ARRAY(arena, Arena *, run->model_count);
    run->result->model_arena_count = run->model_count;
    ScheduleOptions options = {
        .task_count = run->model_count,
        .needs = ARENA_NEW_ARRAY(arena, IndexVec, run->model_count),
        .thread_count = parallelism > 0 ? parallelism : (size_t)run->session->project->config->parallelism,
        .run = run_task,
        .interrupt = interrupt,
        .is_cancelled = is_cancelled,
        .context = run,
    };
    TaskState *states = ARENA_NEW_ARRAY(arena, TaskState, run->model_count);
    if (run->model_count > 0 && !schedule_run(&options, states)) {
        return error_set(err, ERROR_EXECUTION, "no thread could be started to run checks");
    }
    engine_resume(run->engine);
    return require_all_done(run, states, err);
}

/* In the order of the models, whichever came first. */
static void collect(ChecksRun *run) {
    ChecksRunResult *result = run->result;
    for (size_t i = 0; i < run->model_count; i++) {
        const ModelChecks *checks = &run->models[i];
        if (checks->left_out.size > 0) {
            skip(run, checks->model, checks->left_out);
        }
        for (size_t c = 0; c < checks->results.count; c++) {
            const CheckResult *outcome = &checks->results.items[c];
            check_result_vec_push(result->arena, &result->results, *outcome);
            result->passed += str_equal(outcome->status, STR("passed"));
        }
    }
    result->is_blocked = has_blocking_outcome(run, &result->results);
}

static Status prepare_inputs(const ChecksRun *run, const Selection *selection, Error *err) {
    AUTO(engine_connection) EngineConnection *connection = NULL;
    const Project *project = run->session->project;
    bool *is_read = input_flags(project->config, run->result->arena);
    input_flags_add_views(project, is_read);
    for (size_t i = 0; i < project->model_count; i++) {
        if (selection->contains[i]) {
            input_flags_add_checks(project->models[i], is_read);
        }
    }
    TRY(engine_connect(run->engine, &connection, err));
    return input_access_prepare(connection, project->config, is_read, err);
}

static Status require_known_check(const ChecksRun *run, Error *err) {
    if (run->options->check.size == 0 || run->result->results.count > 0) {
        return OK;
    }
    return error_set(err, ERROR_SELECTION, "no check '" STR_FMT "' on the selected models",
                     STR_ARG(run->options->check));
}

Status checks_run(Session *session, const ChecksRunOptions *options, ChecksRunResult **result_out, Error *err) {
    TRY(environment_check_name(options->environment, err));
    TRY(recovery_finish_if_needed(session, err));
    AUTO(checks_run_result) ChecksRunResult *result = heap_alloc_zeroed(1, sizeof *result);
    result->arena = arena_create();
    ChecksRun run = {.session = session, .options = options, .result = result};

    StateStore *state = NULL;
    TRY(session_state_for_reading(session, &state, err));
    PointerVec pointers = {0};
    TRY(state_load_pointers(state, options->environment, result->arena, &pointers, err));
    if (pointers.count == 0) {
        return refuse_unknown_environment(options->environment, err);
    }
    TRY(session_state_for_writing(session, &run.state, err));

    AUTO(plan) Plan *plan = NULL;
    PlanOptions plan_options = {.environment = options->environment};
    TRY(plan_from_state(session->project, run.state, &plan_options, result->arena, &plan, err));
    run.plan = plan;
    run.relations = promoted_relations(plan, result->arena);

    Selection selection = {0};
    SelectionOptions selection_options = {
        .select = options->select, .exclude = options->exclude, .is_modified = plan->is_modified};
    TRY(selection_resolve(session->project, &selection_options, result->arena, &selection, err));

    TRY(session_engine(session, true, &run.engine, err));
    TRY(prepare_inputs(&run, &selection, err));
    choose_models(&run, &selection);
    TRY(run_models(&run, err));
    collect(&run);
    TRY(state_record_checks(run.state, &result->results, err));
    TRY(require_known_check(&run, err));
    *result_out = TAKE(result);
    return OK;
}
