#include "run/physical_changes.h"

#include "run/physical.h"

static Status change_model(Apply *apply, EngineConnection *connection, const Model *model, Error *err) {
    Arena *arena = apply->result->arena;
    Plan *plan = apply->result->plan;
    Snapshot *snapshot = ARENA_NEW(arena, Snapshot);
    *snapshot = *plan->current[model->index];
    SqlRelation relation = relation_of_snapshot(snapshot);
    PhysicalWork work = physical_work(plan->project, model, relation, snapshot->physical_objects, arena);
    if (failed(physical_reconcile(&work, connection, arena, err))) {
        return error_wrap(err, "changing the table of model '" STR_FMT "'", STR_ARG(model->name));
    }
    snapshot->physical_objects = physical_record(&work, arena);
    snapshot->physical_hash = model->physical_hash;
    plan->current[model->index] = snapshot; /* what the next steps record */
    return state_record_snapshot(apply->state, snapshot, err);
}

Status physical_changes_run(Apply *apply, Error *err) {
    const Plan *plan = apply->result->plan;
    if (plan->physical_models.count == 0) {
        return OK;
    }
    Engine *engine = NULL;
    TRY(session_engine(apply->session, false, &engine, err));
    AUTO(engine_connection) EngineConnection *connection = NULL;
    TRY(engine_connect(engine, &connection, err));
    for (size_t i = 0; i < plan->physical_models.count; i++) {
        TRY(change_model(apply, connection, project_find(plan->project, plan->physical_models.items[i]), err));
    }
    return OK;
}
