#include "run/plan_drift.h"

#include "plan/delivery.h"

static bool is_rejecting(const Plan *plan, const PlanChange *change) {
    const Model *model = change->model;
    if (model == NULL || model->materialise != MATERIALISE_TABLE || change->blocking.size > 0 ||
        !model_delivers_in(model, plan->environment)) {
        return false;
    }
    const ConfigValue *policy = model->schema_policy == NULL ? NULL : config_find(model->schema_policy, STR("columns"));
    return policy != NULL && str_equal(policy->text, STR("reject"));
}

/* An item of the select list without a name is empty text, and tells nothing. */
static StrVec known_columns(const Model *model, Arena *arena) {
    StrVec names = {0};
    for (size_t i = 0; i < model->contract.count; i++) {
        str_vec_push(arena, &names, model->contract.items[i].name);
    }
    for (size_t i = 0; model->facts != NULL && i < model->facts->output_names.count; i++) {
        if (model->facts->output_names.items[i].size > 0) {
            str_vec_push(arena, &names, model->facts->output_names.items[i]);
        }
    }
    return names;
}

static Status look_at(EngineConnection *connection, Plan *plan, PlanChange *change, Error *err) {
    StrVec names = known_columns(change->model, plan->arena);
    DuckColumnVec columns = {0};
    bool exists = false;
    TRY(engine_relation_columns(connection, delivery_place(change->model), plan->arena, &exists, &columns, err));
    for (size_t i = 0; exists && i < names.count; i++) {
        if (duck_column_find(&columns, names.items[i]) == NULL) {
            change->blocking =
                str_format(plan->arena, "column '" STR_FMT "' is not in the target, and its schema policy is reject",
                           STR_ARG(names.items[i]));
            change->category = change->category == CATEGORY_NONE ? CATEGORY_NONE : CATEGORY_BREAKING;
            plan->is_breaking = plan->is_breaking || change->category == CATEGORY_BREAKING;
            return OK;
        }
    }
    return OK;
}

static Status look_at_all(Session *session, Plan *plan, Error *err) {
    AUTO(engine_connection) EngineConnection *connection = NULL;
    for (size_t i = 0; i < plan->changes.count; i++) {
        PlanChange *change = &plan->changes.items[i];
        if (!is_rejecting(plan, change)) {
            continue;
        }
        if (connection == NULL) {
            Engine *engine = NULL;
            TRY(session_engine(session, true, &engine, err));
            if (!engine_database_exists(engine)) {
                return OK;
            }
            TRY(engine_connect(engine, &connection, err));
        }
        TRY(look_at(connection, plan, change, err));
    }
    return OK;
}

void plan_look_at_targets(Session *session, Plan *plan) {
    AUTO(error) Error err;
    error_init(&err);
    if (failed(look_at_all(session, plan, &err))) {
        str_vec_push(plan->arena, &plan->warnings,
                     str_format(plan->arena, "live drift was not checked: " STR_FMT, STR_ARG(err.message)));
    }
}
