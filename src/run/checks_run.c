#include "run/apply.h"

#include "project/graph.h"
#include "run/apply_steps.h"
#include "run/cancel.h"
#include "run/check_runner.h"
#include "run/input_access.h"

#include <stdlib.h>

void checks_run_result_destroy(ChecksRunResult *result) {
    if (result != NULL) {
        arena_destroy(result->arena);
        free(result);
    }
}

typedef struct ChecksRun {
    Session *session;
    const ChecksRunOptions *options;
    const Plan *plan;
    RelationMap relations;
    StateStore *state;
    EngineConnection *connection;
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

static bool has_blocking_outcome(const ChecksRun *run) {
    for (size_t i = 0; i < run->result->results.count; i++) {
        if (check_result_is_blocking(&run->result->results.items[i], run->options->strict)) {
            return true;
        }
    }
    return false;
}

static Status run_model(ChecksRun *run, const Model *model, Error *err) {
    ChecksRunResult *result = run->result;
    if (model->checks.count == 0) {
        return OK;
    }
    const Snapshot *snapshot = run->plan->current[model->index];
    if (snapshot == NULL) {
        skip(run, model,
             str_format(result->arena, "not promoted in '" STR_FMT "'", STR_ARG(run->options->environment)));
        return OK;
    }
    if (run->options->fail_fast && has_blocking_outcome(run)) {
        skip(run, model, STR("not begun after a failure"));
        return OK;
    }
    CheckRun check_run = {
        .session = run->session,
        .connection = run->connection,
        .relations = &run->relations,
        .model = model,
        .table = run->relations.items[model->index],
        .environment = run->options->environment,
        .fingerprint = snapshot->fingerprint,
        .trigger = STR("adhoc"),
        .only = run->options->check,
        .is_cancelled = is_cancelled,
    };
    return check_runner_run(&check_run, result->arena, &result->results, NULL, err);
}

static Status prepare_inputs(const ChecksRun *run, const Selection *selection, Error *err) {
    const Project *project = run->session->project;
    bool *is_read = input_flags(project->config, run->result->arena);
    input_flags_add_views(project, is_read);
    for (size_t i = 0; i < project->model_count; i++) {
        if (selection->contains[i]) {
            input_flags_add_checks(project->models[i], is_read);
        }
    }
    return input_access_prepare(run->connection, project->config, is_read, err);
}

static Status run_selected(ChecksRun *run, const Selection *selection, Error *err) {
    const Project *project = run->session->project;
    for (size_t i = 0; i < project->model_count; i++) {
        if (selection->contains[i]) {
            TRY(run_model(run, project->models[i], err));
        }
    }
    ChecksRunResult *result = run->result;
    for (size_t i = 0; i < result->results.count; i++) {
        result->passed += str_equal(result->results.items[i].status, STR("passed"));
    }
    result->is_blocked = has_blocking_outcome(run);
    return state_record_checks(run->state, &result->results, err);
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

    Engine *engine = NULL;
    TRY(session_engine(session, true, &engine, err));
    AUTO(engine_connection) EngineConnection *connection = NULL;
    TRY(engine_connect(engine, &connection, err));
    run.connection = connection;
    TRY(prepare_inputs(&run, &selection, err));
    TRY(run_selected(&run, &selection, err));
    TRY(require_known_check(&run, err));
    *result_out = TAKE(result);
    return OK;
}
