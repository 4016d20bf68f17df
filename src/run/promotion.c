#include "run/promotion.h"

#include "base/test_hooks.h"
#include "project/graph.h"
#include "run/apply.h"
#include "run/command_lock.h"
#include "run/relations.h"
#include "sql/sql_buf.h"
#include "state/state_campaigns.h"

/* ---- The intent of a plan. */

IntentView promotion_view_of_model(const Plan *plan, const Model *model, SqlRelation relation, Arena *arena) {
    return (IntentView){
        .engine = model->engine,
        .view_schema = environment_view_schema(arena, plan->environment, model->schema),
        .view_name = model->base,
        .relation_schema = relation.schema,
        .relation_name = relation.name,
    };
}

IntentView promotion_view_of_name(const ProjectConfig *config, Str environment, Str name, Arena *arena) {
    size_t dot = str_find_last_char(name, '.');
    Str schema = dot == STR_NOT_FOUND ? STR("main") : str_slice(name, 0, dot);
    return (IntentView){
        .engine = config->default_engine,
        .view_schema = environment_view_schema(arena, environment, schema),
        .view_name = dot == STR_NOT_FOUND ? name : str_skip(name, dot + 1),
    };
}

static void add_task(const Plan *plan, const PlanTask *task, const BuildTarget *target, Arena *arena, Intent *intent) {
    const Model *model = task->model;
    SqlRelation relation = target->relation;
    pointer_vec_push(arena, &intent->put,
                     (Pointer){.model = model->name, .fingerprint = model->fingerprint, .revision = target->revision});

    const Snapshot *shown = plan->current[model->index];
    bool had_view = snapshot_has_view(shown);
    if (model_is_terminal(model)) {
        relation = (SqlRelation){0};
    }
    if (relation.name.size > 0 || had_view) {
        /* Without a relation (it is ephemeral now) the view of its earlier self goes. */
        intent_view_vec_push(arena, &intent->views, promotion_view_of_model(plan, model, relation, arena));
    }
}

bool promotion_put(const ProjectConfig *config, Arena *arena, Intent *intent, const Pointer *pointer,
                   const Snapshot *snapshot) {
    pointer_vec_push(
        arena, &intent->put,
        (Pointer){.model = pointer->model, .fingerprint = pointer->fingerprint, .revision = pointer->revision});
    if (!snapshot_has_view(snapshot)) {
        return false;
    }
    IntentView view = promotion_view_of_name(config, intent->environment, pointer->model, arena);
    view.engine = snapshot->engine;
    view.relation_schema = snapshot->physical_schema;
    view.relation_name = snapshot->physical_name;
    intent_view_vec_push(arena, &intent->views, view);
    return true;
}

void promotion_intent(const Plan *plan, const BuildTarget *targets, Arena *arena, Intent *intent_out) {
    Intent intent = {.environment = plan->environment, .command = STR("apply")};
    for (size_t i = 0; i < plan->tasks.count; i++) {
        add_task(plan, &plan->tasks.items[i], &targets[i], arena, &intent);
    }
    for (size_t i = 0; i < plan->adopted.count; i++) {
        const KnownPointer *adopted = &plan->adopted.items[i];
        (void)promotion_put(plan->project->config, arena, &intent, adopted->pointer, adopted->snapshot);
    }
    for (size_t i = 0; i < plan->changes.count; i++) {
        const PlanChange *change = &plan->changes.items[i];
        if (change->type == CHANGE_REMOVED) {
            str_vec_push(arena, &intent.removed, change->name);
            intent_view_vec_push(arena, &intent.views,
                                 promotion_view_of_name(plan->project->config, plan->environment, change->name, arena));
        }
    }
    *intent_out = intent;
}

/* ---- Names that are taken. */

static Str view_key(Arena *arena, Str schema, Str name) {
    return str_format(arena, STR_FMT "." STR_FMT, STR_ARG(schema), STR_ARG(name));
}

/* The environment views that exist, by "schema.name" without case. */
static Status load_environment_views(EngineConnection *connection, Arena *arena, StrMap **views_out, Error *err) {
    EngineViewVec views = {0};
    TRY(engine_environment_views(connection, arena, &views, err));
    StrMap *by_key = str_map_create(arena, STR_MAP_FOLD);
    for (size_t i = 0; i < views.count; i++) {
        str_map_put(by_key, view_key(arena, views.items[i].schema, views.items[i].name), &views.items[i]);
    }
    *views_out = by_key;
    return OK;
}

static Status refuse_foreign(const IntentView *view, RelationKind kind, Error *err) {
    error_set(err, ERROR_PLAN,
              "the name " STR_FMT "." STR_FMT " is taken by a %s that interlace did not make for this model",
              STR_ARG(view->view_schema), STR_ARG(view->view_name), kind == RELATION_TABLE ? "table" : "view");
    error_hint(err, "rename or move it, or give the model another name; nothing was changed");
    error_code(err, STR("view.occupied"));
    return FAILED;
}

/* A view of ours that shows a model of another schema is another environment's: model `dev__main.b` in prod has the
 * view that model `b` would get in dev. */
static bool shows_this_model(const StrMap *ours, const IntentView *view, Arena *arena) {
    const EngineView *existing = str_map_find(ours, view_key(arena, view->view_schema, view->view_name));
    return existing != NULL && str_equal_fold(existing->target.schema, view->relation_schema);
}

static Status create_view_schemas(EngineConnection *connection, const Intent *intent, Arena *arena, Error *err) {
    StrVec schemas = {0};
    StrMap *seen = str_map_create(arena, STR_MAP_FOLD);
    for (size_t i = 0; i < intent->views.count; i++) {
        const IntentView *view = &intent->views.items[i];
        if (view->relation_name.size > 0 && !str_map_contains(seen, view->view_schema)) {
            str_map_put(seen, view->view_schema, seen);
            str_vec_push(arena, &schemas, view->view_schema);
        }
    }
    return engine_create_schemas(connection, &schemas, err);
}

Status promotion_preflight(EngineConnection *connection, const EngineCatalog *catalog, const Intent *intent,
                           Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    StrMap *ours = NULL;
    TRY(load_environment_views(connection, arena, &ours, err));
    for (size_t i = 0; i < intent->views.count; i++) {
        const IntentView *view = &intent->views.items[i];
        if (view->relation_name.size == 0 || shows_this_model(ours, view, arena)) {
            continue;
        }
        SqlRelation relation = {.schema = view->view_schema, .name = view->view_name};
        RelationKind kind = engine_catalog_kind(catalog, relation);
        if (kind != RELATION_ABSENT) {
            return refuse_foreign(view, kind, err);
        }
    }
    return create_view_schemas(connection, intent, arena, err);
}

/* ---- (b): the views, in one transaction. */

static Status create_view(EngineConnection *connection, const IntentView *view, Error *err) {
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "CREATE OR REPLACE VIEW ");
    sql_relation(&sql, (SqlRelation){.schema = view->view_schema, .name = view->view_name});
    strbuf_text(&sql, " AS SELECT * FROM ");
    sql_relation(&sql, (SqlRelation){.schema = view->relation_schema, .name = view->relation_name});
    return engine_execute_own(connection, strbuf_str(&sql), err);
}

Status promotion_show(EngineConnection *connection, const IntentViewVec *views, Error *err) {
    for (size_t i = 0; i < views->count; i++) {
        TRY(test_hook("promotion.view", err));
        TRY(create_view(connection, &views->items[i], err));
    }
    return OK;
}

/* Only a view of ours goes: an object of the same name that somebody else made stays. */
static Status drop_view(EngineConnection *connection, const IntentView *view, const StrMap *ours, Arena *arena,
                        Error *err) {
    if (!str_map_contains(ours, view_key(arena, view->view_schema, view->view_name))) {
        return OK;
    }
    SqlRelation relation = {.schema = view->view_schema, .name = view->view_name};
    return engine_drop_relation(connection, RELATION_VIEW, relation, err);
}

static Status move_views(EngineConnection *connection, const Intent *intent, const StrMap *ours, Arena *arena,
                         Error *err) {
    for (size_t i = 0; i < intent->views.count; i++) {
        const IntentView *view = &intent->views.items[i];
        TRY(test_hook("promotion.view", err));
        if (view->relation_name.size > 0) {
            TRY(create_view(connection, view, err));
        } else {
            TRY(drop_view(connection, view, ours, arena, err));
        }
    }
    return OK;
}

static Status move_views_in_transaction(Session *session, const Intent *intent, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    Engine *engine = NULL;
    TRY(session_engine(session, false, &engine, err));
    AUTO(engine_connection) EngineConnection *connection = NULL;
    TRY(engine_connect(engine, &connection, err));
    StrMap *ours = NULL;
    TRY(load_environment_views(connection, arena, &ours, err));
    TRY(create_view_schemas(connection, intent, arena, err));

    TRY(engine_begin(connection, err));
    if (failed(move_views(connection, intent, ours, arena, err))) {
        engine_rollback(connection);
        return error_wrap(err, "moving the views of '" STR_FMT "'", STR_ARG(intent->environment));
    }
    return engine_commit(connection, err);
}

static StrVec schemas_of_views(const Intent *intent, Arena *arena) {
    StrVec schemas = {0};
    for (size_t i = 0; i < intent->views.count; i++) {
        Str schema = intent->views.items[i].view_schema;
        if (!str_vec_contains_fold(&schemas, schema)) {
            str_vec_push(arena, &schemas, schema);
        }
    }
    return schemas;
}

/* One that is not empty is refused by the engine, and holds what somebody else put there. */
static Status drop_schemas(Session *session, const Intent *intent, StrVec *kept_out, Error *err) {
    AUTO(engine_connection) EngineConnection *connection = NULL;
    Engine *engine = NULL;
    StrVec schemas = schemas_of_views(intent, session->arena);
    if (schemas.count == 0 || str_equal_fold(intent->environment, STR("prod"))) {
        return OK;
    }
    TRY(session_engine(session, false, &engine, err));
    TRY(engine_connect(engine, &connection, err));
    for (size_t i = 0; i < schemas.count; i++) {
        AUTO(error) Error refusal = {0};
        if (failed(engine_drop_schema(connection, schemas.items[i], false, &refusal))) {
            str_vec_push(session->arena, kept_out, schemas.items[i]);
        }
    }
    return OK;
}

/* ---- (b) and (c), for a new intent and for one that a dead process left. */

static Status move_all_views(Session *session, const Intent *intent, StrVec *kept_schemas_out, Error *err) {
    if (intent->views.count > 0) {
        TRY(move_views_in_transaction(session, intent, err));
    }
    if (str_equal(intent->command, STR(COMMAND_ENV_DROP))) {
        TRY(drop_schemas(session, intent, kept_schemas_out, err));
    }
    return test_hook("promotion.moved", err);
}

static Status commit_intent(Session *session, StateLock *lock, const Intent *intent, int64_t *generation_out,
                            Error *err) {
    StateStore *state = NULL;
    TRY(session_state_for_writing(session, &state, err));
    return state_intent_commit(state, lock, intent, generation_out, err);
}

Status promotion_carry_out(Session *session, StateLock *lock, Intent *intent, int64_t *generation_out,
                           StrVec *kept_schemas_out, Error *err) {
    StateStore *state = NULL;
    TRY(session_state_for_writing(session, &state, err));
    TRY(state_intent_begin(state, lock, intent, err));
    TRY(test_hook("promotion.intended", err));
    TRY(move_all_views(session, intent, kept_schemas_out, err));
    return commit_intent(session, lock, intent, generation_out, err);
}

/* ---- Recovery. */

/* The views move in one transaction, so when the engine refuses them, none has moved: readers and pointers agree on the
 * old versions, and nothing is lost by forgetting the intent. Without this a warehouse that somebody deleted would stop
 * every later command. */
static Status abandon(Session *session, StateLock *lock, const Intent *intent, Error *reason, Error *err) {
    if (reason->kind != ERROR_EXECUTION) {
        error_move(err, reason);
        return error_wrap(err, "finishing a promotion of '" STR_FMT "' that was interrupted",
                          STR_ARG(intent->environment));
    }
    StateStore *state = NULL;
    TRY(session_state_for_writing(session, &state, err));
    TRY(state_intent_abandon(state, lock, intent, err));
    session_note(session,
                 "a promotion of '" STR_FMT "' that was interrupted cannot be finished: " STR_FMT
                 "; its views stay as they were",
                 STR_ARG(intent->environment), STR_ARG(reason->message));
    return OK;
}

static Status finish(Session *session, StateLock *lock, const Intent *intent, Error *err) {
    AUTO(error) Error reason = {0};
    StrVec kept_schemas = {0};
    if (failed(move_all_views(session, intent, &kept_schemas, &reason))) {
        return abandon(session, lock, intent, &reason, err);
    }
    int64_t generation;
    TRY(commit_intent(session, lock, intent, &generation, err));
    session_note(session, "finished a promotion of '" STR_FMT "' that was interrupted (generation %lld)",
                 STR_ARG(intent->environment), (long long)generation);
    return OK;
}

Status recovery_finish(Session *session, StateLock *lock, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    StateStore *state = NULL;
    TRY(session_state_for_writing(session, &state, err));
    IntentVec intents = {0};
    TRY(state_load_intents(state, arena, &intents, err));
    for (size_t i = 0; i < intents.count; i++) {
        TRY(finish(session, lock, &intents.items[i], err));
    }
    return session->options.recover == NULL ? OK : session->options.recover(session, lock, err);
}

/* An intent whose command is still alive is being carried out right now: that command will finish it, so a reader looks
 * at the old pointers and goes on. Hence the lock is only tried. */
Status recovery_finish_if_needed(Session *session, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    StateStore *state = NULL;
    TRY(session_state_for_reading(session, &state, err));
    IntentVec intents = {0};
    CampaignRecordVec campaigns = {0};
    bool has_drafts;
    TRY(state_load_intents(state, arena, &intents, err));
    TRY(state_campaigns_interrupted(state, arena, &campaigns, err));
    TRY(state_has_drafts(state, &has_drafts, err));
    if (intents.count + campaigns.count == 0 && !has_drafts) {
        return OK;
    }
    TRY(session_state_for_writing(session, &state, err));
    StateLock *lock = NULL;
    if (failed(state_lock_acquire(state, &(LockOptions){.command = STR("recovery")}, &lock, err))) {
        bool is_busy = err->kind == ERROR_LOCK;
        if (is_busy) {
            error_clear(err);
        }
        return is_busy ? OK : FAILED;
    }
    Status status = recovery_finish(session, lock, err);
    command_release(session, lock);
    return status;
}
