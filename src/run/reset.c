/* The state goes first: a process that dies then leaves views and tables that nothing points at, which the next reset
 * finds in the catalog. The other way round, pointers would show tables that are gone. */
#include "run/reset.h"

#include "base/test_hooks.h"
#include "run/apply.h"
#include "run/command_lock.h"

typedef struct Reset {
    Session *session;
    const ResetRequest *request;
    StateStore *state;
    StateLock *lock; /* NULL: a dry run */
    Arena *arena;
    ResetResult *out;
} Reset;

static Status begin(Reset *reset, Error *err) {
    if (reset->request->dry_run) {
        TRY(recovery_finish_if_needed(reset->session, err));
        return session_state_for_reading(reset->session, &reset->state, err);
    }
    return command_lock(reset->session, STR("reset"), reset->request->lock_timeout_us, &reset->state, &reset->lock,
                        err);
}

/* ---- The state */

static Status count_state(Reset *reset, Error *err) {
    EnvironmentSummaryVec environments = {0};
    SnapshotVec snapshots = {0};
    TRY(state_load_environments(reset->state, reset->arena, &environments, err));
    TRY(state_load_snapshots(reset->state, reset->arena, &snapshots, err));
    for (size_t i = 0; i < environments.count; i++) {
        str_vec_push(reset->arena, &reset->out->environments, environments.items[i].name);
    }
    for (size_t i = 0; i < snapshots.count; i++) {
        bool is_own = snapshot_has_view(&snapshots.items[i]);
        reset->out->cleared_snapshots += is_own;
        if (!is_own && !str_vec_contains_fold(&reset->out->kept_terminals, snapshots.items[i].name)) {
            str_vec_push(reset->arena, &reset->out->kept_terminals, snapshots.items[i].name);
        }
    }
    str_vec_sort(&reset->out->kept_terminals);
    return OK;
}

/* ---- The warehouse */

static void add_schema(Reset *reset, Str schema) {
    if (!str_vec_contains_fold(&reset->out->dropped_schemas, schema)) {
        str_vec_push(reset->arena, &reset->out->dropped_schemas, schema);
    }
}

/* One view at a time could leave half of an environment to be read; so all of them in one transaction. */
static Status drop_views(EngineConnection *connection, const EngineViewVec *views, Error *err) {
    TRY(engine_begin(connection, err));
    for (size_t i = 0; i < views->count; i++) {
        SqlRelation view = {.schema = views->items[i].schema, .name = views->items[i].name};
        if (failed(engine_drop_relation(connection, RELATION_VIEW, view, err))) {
            engine_rollback(connection);
            return FAILED;
        }
    }
    return engine_commit(connection, err);
}

/* A sandbox schema with something in it that interlace did not make is refused by the engine, and stays. */
static Status drop_schemas(Reset *reset, EngineConnection *connection, Error *err) {
    StrVec wanted = reset->out->dropped_schemas;
    reset->out->dropped_schemas = (StrVec){0};
    for (size_t i = 0; i < wanted.count; i++) {
        AUTO(error) Error kept = {0};
        bool is_own = str_starts_with(wanted.items[i], STR("interlace__"));
        TRY(test_hook("reset.schema", err));
        if (is_own) {
            TRY(engine_drop_schema(connection, wanted.items[i], true, err));
        } else if (failed(engine_drop_schema(connection, wanted.items[i], false, &kept))) {
            continue;
        }
        str_vec_push(reset->arena, &reset->out->dropped_schemas, wanted.items[i]);
    }
    return OK;
}

static void find_schemas(Reset *reset, const EngineViewVec *views, const OwnedRelationVec *owned) {
    for (size_t i = 0; i < owned->count; i++) {
        add_schema(reset, owned->items[i].relation.schema);
    }
    for (size_t i = 0; i < views->count; i++) {
        const EngineView *view = &views->items[i];
        Str key = str_format(reset->arena, STR_FMT "." STR_FMT, STR_ARG(view->schema), STR_ARG(view->name));
        str_vec_push(reset->arena, &reset->out->dropped_views, key);
        /* dev__silver shows interlace__silver; silver itself, of prod, stays. */
        Str shown = str_skip(view->target.schema, STR("interlace__").size);
        if (!str_equal_fold(shown, view->schema)) {
            add_schema(reset, view->schema);
        }
    }
}

static Status clear_warehouse(Reset *reset, Error *err) {
    Engine *engine = NULL;
    AUTO(engine_connection) EngineConnection *connection = NULL;
    EngineViewVec views = {0};
    OwnedRelationVec owned = {0};
    TRY(session_engine(reset->session, reset->request->dry_run, &engine, err));
    if (!engine_database_exists(engine)) {
        return OK;
    }
    TRY(engine_connect(engine, &connection, err));
    TRY(engine_environment_views(connection, reset->arena, &views, err));
    TRY(engine_owned_relations(connection, reset->arena, &owned, err));
    find_schemas(reset, &views, &owned);
    if (reset->lock == NULL) {
        return OK;
    }
    TRY(drop_views(connection, &views, err));
    return drop_schemas(reset, connection, err);
}

static Status run(Reset *reset, Error *err) {
    TRY(begin(reset, err));
    TRY(count_state(reset, err));
    if (reset->lock != NULL) {
        TRY(state_reset(reset->state, reset->lock, err));
        TRY(test_hook("reset.cleared", err));
    }
    return clear_warehouse(reset, err);
}

Status reset_run(Session *session, const ResetRequest *request, Arena *arena, ResetResult *result_out, Error *err) {
    Reset reset = {.session = session, .request = request, .arena = arena, .out = result_out};
    Status status = run(&reset, err);
    command_release(session, reset.lock);
    return status;
}
