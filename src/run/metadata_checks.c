#include "run/metadata_checks.h"

#include "run/check_runner.h"
#include "run/contract.h"

static Status check_promoted_contract(EngineConnection *connection, const Model *model, SqlRelation relation,
                                      Arena *arena, Error *err) {
    if (!model->has_contract) {
        return OK;
    }
    SqlText query = sql_text_all_rows(arena, relation);
    DuckColumnVec columns = {0};
    TRY(engine_describe(connection, &query, arena, &columns, err));
    return contract_check(model, &columns, err);
}

static Status check_promoted(Apply *apply, EngineConnection *connection, const Model *model, Error *err) {
    Arena *arena = apply->result->arena;
    SqlRelation table = apply->relations.items[model->index];
    TRY(check_promoted_contract(connection, model, table, arena, err));

    CheckRun run = {
        .session = apply->session,
        .connection = connection,
        .relations = &apply->relations,
        .model = model,
        .table = table,
        .environment = apply->options->environment,
        .fingerprint = model->fingerprint,
        .trigger = STR("apply"),
        .strict = apply->options->strict,
    };
    CheckResultVec results = {0};
    TRY(check_runner_run(&run, arena, &results, NULL, err));
    for (size_t i = 0; i < results.count; i++) {
        session_emit(apply->session, (Event){.type = EVENT_CHECK, .model = model, .check = &results.items[i]});
        apply->result->summary.checks_total++;
        apply->result->summary.checks_passed += str_equal(results.items[i].status, STR("passed"));
    }
    TRY(state_record_checks(apply->state, &results, err));
    return check_results_gate(&results, apply->options->strict, err);
}

/* A model whose checks need no rows is recorded without opening the warehouse. */
static Status check_model(Apply *apply, const Model *model, Error *err) {
    Snapshot snapshot = *apply->result->plan->current[model->index];
    if (model_has_relation(model) && (model->checks.count > 0 || model->has_contract)) {
        Engine *engine = NULL;
        TRY(session_engine(apply->session, false, &engine, err));
        AUTO(engine_connection) EngineConnection *connection = NULL;
        TRY(engine_connect(engine, &connection, err));
        TRY(check_promoted(apply, connection, model, err));
    }
    snapshot.metadata_hash = model->metadata_hash;
    return state_record_snapshot(apply->state, &snapshot, err);
}

Status metadata_checks_run(Apply *apply, Error *err) {
    const Plan *plan = apply->result->plan;
    if (plan->metadata.count == 0) {
        return OK;
    }
    apply->relations = relation_map_from_plan(plan, apply->result->arena);
    for (size_t i = 0; i < plan->metadata.count; i++) {
        const Model *model = project_find(plan->project, plan->metadata.items[i]);
        if (model != NULL && plan->current[model->index] != NULL) {
            TRY(check_model(apply, model, err));
        }
    }
    return OK;
}
