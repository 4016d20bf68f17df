#include "base/files.h"
#include "project/graph.h"
#include "run/apply_steps.h"
#include "run/forward_only.h"
#include "run/plan_drift.h"

/* What only the warehouse tells is asked where it can be: `apply` asks again, and refuses before it writes a row. */
static Status check_forward_only(Session *session, Plan *plan, Error *err) {
    AUTO(error) Error closed = {0};
    AUTO(engine_connection) EngineConnection *connection = NULL;
    Engine *engine = NULL;
    if (!plan_goes_on_from_copies(plan)) {
        return OK;
    }
    error_init(&closed);
    if (failed(session_engine(session, true, &engine, &closed)) ||
        failed(engine_connect(engine, &connection, &closed))) {
        str_vec_push(plan->arena, &plan->warnings,
                     str_format(plan->arena,
                                "whether the old rows fit the new definition is only known to apply: " STR_FMT,
                                STR_ARG(closed.message)));
        return OK;
    }
    return forward_only_check(plan, connection, err);
}

/* A warehouse file that somebody removed took every relation with it: what the state remembers is built anew. */
static bool is_warehouse_gone(const Project *project) {
    const EngineConfig *engine = project_config_engine(project->config, project->config->default_engine);
    return str_equal(engine->type, STR("duckdb")) && !file_exists(engine->database_path);
}

static bool has_revisions(const SnapshotVec *snapshots) {
    for (size_t i = 0; i < snapshots->count; i++) {
        if (snapshots->items[i].revision > 0) {
            return true;
        }
    }
    return false;
}

static Status load_of_another(StateStore *state, Str environment, Arena *arena, PlanState *plan_state, Error *err) {
    TRY(environment_check_name(environment, err));
    TRY(state_load_pointers(state, environment, arena, &plan_state->pointers, err));
    if (plan_state->pointers.count == 0) {
        return error_set(err, ERROR_PLAN, "No environment '" STR_FMT "'.", STR_ARG(environment));
    }
    plan_state->compared_with = environment;
    return OK;
}

static Status load_compared(StateStore *state, const PlanOptions *options, Arena *arena, PlanState *plan_state,
                            Error *err) {
    if (options->against.size > 0) {
        return load_of_another(state, options->against, arena, plan_state, err);
    }
    TRY(state_load_pointers(state, options->environment, arena, &plan_state->pointers, err));
    plan_state->is_adopted = options->from.size > 0 && plan_state->pointers.count == 0;
    return plan_state->is_adopted ? load_of_another(state, options->from, arena, plan_state, err) : OK;
}

/* A plan compares what changed; the record of a version that the project has would only say the same again. */
static bool is_compared(const void *project, Str name, Str fingerprint) {
    const Model *model = project_find(project, name);
    return model == NULL || !str_equal(model->fingerprint, fingerprint);
}

Status plan_from_state(const Project *project, StateStore *state, const PlanOptions *options, Arena *arena,
                       Plan **plan_out, Error *err) {
    PlanState plan_state = {0};
    TRY(state_load_snapshots_for(state, is_compared, project, arena, &plan_state.snapshots, err));
    if (plan_state.snapshots.count > 0 && is_warehouse_gone(project)) {
        return plan_build(project, &(PlanState){0}, options, plan_out, err);
    }
    TRY(load_compared(state, options, arena, &plan_state, err));
    if (has_revisions(&plan_state.snapshots)) {
        TRY(state_load_all_pointers(state, arena, &plan_state.shown, err));
    }
    return plan_build(project, &plan_state, options, plan_out, err);
}

static Status read_plan(Session *session, const PlanOptions *options, Plan **plan_out, Error *err) {
    TRY(environment_check_name(options->environment, err));
    TRY(recovery_finish_if_needed(session, err));
    StateStore *state = NULL;
    TRY(session_state_for_reading(session, &state, err));
    AUTO(plan) Plan *plan = NULL;
    TRY(plan_from_state(session->project, state, options, session->arena, &plan, err));
    TRY(check_forward_only(session, plan, err));
    plan_look_at_targets(session, plan);
    *plan_out = TAKE(plan);
    return OK;
}

Status plan_for_reading(Session *session, const PlanOptions *options, Plan **plan_out, ErrorList *faults) {
    TRY(project_check_supported(session->project, faults));
    AUTO(error) Error err = {0};
    if (failed(read_plan(session, options, plan_out, &err))) {
        error_list_take(faults, &err);
        return FAILED;
    }
    return OK;
}
