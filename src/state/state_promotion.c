/* Promotion in three steps: (a) state_intent_begin writes down what is to happen, (b) the caller makes the views, which
 * it may do any number of times, (c) state_intent_commit makes it so. After a crash between (a) and (c) whoever holds
 * the lock next does (b) and (c) from what (a) wrote. Hence (c) works from the recorded intent, not from the caller's.
 */
#include "state/state_sql.h"

#include "base/test_hooks.h"

/* ---- (a) */

static Status refuse_unfinished(StateStore *store, Str environment, Error *err) {
    int64_t count;
    TRY(state_query_int(store, "SELECT count(*) FROM intents WHERE environment = ?1", VALUES(state_text(environment)),
                        &count, err));
    if (count == 0) {
        return OK;
    }
    return error_set(err, ERROR_INTERNAL,
                     "environment '" STR_FMT "' has an unfinished promotion, which must be finished first",
                     STR_ARG(environment));
}

static Status insert_intent(StateStore *store, const Intent *intent, int64_t *id_out, Error *err) {
    TRY(state_execute(
        store, "INSERT INTO intents (environment, command, created_at) VALUES (?1, ?2, ?3)",
        VALUES(state_text(intent->environment), state_text(intent->command), state_int(intent->created_at)), err));
    *id_out = sqlite3_last_insert_rowid(store->db);
    return OK;
}

static Status insert_pointers(StateStore *store, int64_t id, const Intent *intent, Error *err) {
    AUTO(statement) sqlite3_stmt *insert = NULL;
    TRY(state_prepare(store,
                      "INSERT INTO intent_pointers (intent, position, model, fingerprint, revision, promoted_at)"
                      " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                      &insert, err));
    int64_t position = 0;
    for (size_t i = 0; i < intent->put.count; i++) {
        const Pointer *put = &intent->put.items[i];
        TRY(state_run(store, insert,
                      VALUES(state_int(id), state_int(position++), state_text(put->model), state_text(put->fingerprint),
                             state_int(put->revision), state_int(put->promoted_at)),
                      err));
    }
    for (size_t i = 0; i < intent->removed.count; i++) {
        TRY(state_run(store, insert,
                      VALUES(state_int(id), state_int(position++), state_text(intent->removed.items[i]),
                             (StateValue){.kind = STATE_NULL}, state_int(0), state_int(intent->created_at)),
                      err));
    }
    return OK;
}

static Status insert_views(StateStore *store, int64_t id, const IntentViewVec *views, Error *err) {
    AUTO(statement) sqlite3_stmt *insert = NULL;
    TRY(state_prepare(store,
                      "INSERT INTO intent_views (intent, position, engine, view_schema, view_name, relation_schema,"
                      " relation_name) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                      &insert, err));
    for (size_t i = 0; i < views->count; i++) {
        const IntentView *view = &views->items[i];
        TRY(state_run(store, insert,
                      VALUES(state_int(id), state_int((int64_t)i), state_text(view->engine),
                             state_text(view->view_schema), state_text(view->view_name),
                             state_optional_text(view->relation_schema), state_optional_text(view->relation_name)),
                      err));
    }
    return OK;
}

Status state_intent_begin(StateStore *store, StateLock *lock, Intent *intent, Error *err) {
    TRY(test_hook("state.intent_begin", err));
    AUTO(state_transaction) StateTransaction transaction = {0};
    TRY(state_fenced_begin(&transaction, store, lock, err));
    TRY(refuse_unfinished(store, intent->environment, err));

    int64_t id;
    TRY(insert_intent(store, intent, &id, err));
    TRY(insert_pointers(store, id, intent, err));
    TRY(insert_views(store, id, &intent->views, err));
    TRY(state_write_drafts(store, &intent->changes, err));
    TRY(state_transaction_commit(&transaction, err));

    intent->id = id;
    return test_hook("state.intent_begun", err);
}

/* ---- (c) */

/* Snapshots that the environment is about to leave; another environment may still point at them. */
#define RELEASE_SNAPSHOTS                                                                                              \
    "UPDATE snapshots SET released_at = ?3"                                                                            \
    " WHERE (name, fingerprint, revision) IN ("                                                                        \
    "  SELECT held.model, held.fingerprint, held.revision FROM intent_pointers AS next"                                \
    "  CROSS JOIN pointers AS held ON held.environment = ?2 AND held.model = next.model"                               \
    "  WHERE next.intent = ?1 AND (next.fingerprint IS NOT held.fingerprint OR next.revision <> held.revision))"

#define REMOVE_POINTERS                                                                                                \
    "DELETE FROM pointers WHERE environment = ?2"                                                                      \
    " AND model IN (SELECT model FROM intent_pointers WHERE intent = ?1 AND fingerprint IS NULL)"

/* A pointer that does not move keeps its time: whoever showed a relation first owns it. */
#define PUT_POINTERS                                                                                                   \
    "INSERT INTO pointers (environment, model, fingerprint, revision, promoted_at)"                                    \
    " SELECT ?2, model, fingerprint, revision, CASE promoted_at WHEN 0 THEN ?3 ELSE promoted_at END"                   \
    " FROM intent_pointers WHERE intent = ?1 AND fingerprint IS NOT NULL"                                              \
    " ON CONFLICT (environment, model) DO UPDATE SET model = excluded.model, fingerprint = excluded.fingerprint,"      \
    " revision = excluded.revision, promoted_at = CASE"                                                                \
    " WHEN pointers.fingerprint = excluded.fingerprint AND pointers.revision = excluded.revision"                      \
    " THEN pointers.promoted_at ELSE excluded.promoted_at END"

static Status move_pointers(StateStore *store, const Intent *intent, TimeUs now, Error *err) {
    StateValue id = state_int(intent->id);
    StateValue environment = state_text(intent->environment);
    TRY(state_execute(store, RELEASE_SNAPSHOTS, VALUES(id, environment, state_int(now)), err));
    TRY(state_execute(store, REMOVE_POINTERS, VALUES(id, environment), err));
    return state_execute(store, PUT_POINTERS, VALUES(id, environment, state_int(now)), err);
}

/* Pointers that generation ?2 has not, or that it has otherwise; and whether it has more than there are. */
#define MAPPING_DIFFERS                                                                                                \
    "SELECT EXISTS ("                                                                                                  \
    "  SELECT 1 FROM pointers AS now LEFT JOIN generation_pointers AS recorded"                                        \
    "  ON recorded.environment = now.environment AND recorded.generation = ?2 AND recorded.model = now.model"          \
    "  WHERE now.environment = ?1"                                                                                     \
    "  AND (recorded.fingerprint IS NOT now.fingerprint OR recorded.revision IS NOT now.revision))"                    \
    " OR (SELECT count(*) FROM pointers WHERE environment = ?1)"                                                       \
    "  <> (SELECT count(*) FROM generation_pointers WHERE environment = ?1 AND generation = ?2)"

static Status insert_generation(StateStore *store, const Intent *intent, int64_t generation, TimeUs now, Error *err) {
    StateValue environment = state_text(intent->environment);
    TRY(state_execute(store,
                      "INSERT INTO generations (environment, generation, promoted_at, command) VALUES (?1, ?2, ?3, ?4)",
                      VALUES(environment, state_int(generation), state_int(now), state_text(intent->command)), err));
    return state_execute(store,
                         "INSERT INTO generation_pointers (environment, generation, model, fingerprint, revision)"
                         " SELECT environment, ?2, model, fingerprint, revision FROM pointers WHERE environment = ?1",
                         VALUES(environment, state_int(generation)), err);
}

static Status record_generation(StateStore *store, const Intent *intent, TimeUs now, int64_t *generation_out,
                                Error *err) {
    StateValue environment = state_text(intent->environment);
    int64_t latest;
    TRY(state_query_int(store, "SELECT max(generation) FROM generations WHERE environment = ?1", VALUES(environment),
                        &latest, err));
    int64_t differs;
    TRY(state_query_int(store, MAPPING_DIFFERS, VALUES(environment, state_int(latest)), &differs, err));
    bool is_kept = str_equal(intent->command, STR(COMMAND_ENV_DROP));
    if (differs != 0 && !is_kept) {
        latest++;
        TRY(insert_generation(store, intent, latest, now, err));
    }
    *generation_out = latest;
    return OK;
}

static Status delete_intent(StateStore *store, const Intent *intent, Error *err) {
    TRY(state_execute(store, "DELETE FROM intents WHERE id = ?1 AND environment = ?2",
                      VALUES(state_int(intent->id), state_text(intent->environment)), err));
    if (state_changed_count(store) == 1) {
        return OK;
    }
    return error_set(err, ERROR_INTERNAL, "promotion %lld of environment '" STR_FMT "' is not recorded",
                     (long long)intent->id, STR_ARG(intent->environment));
}

Status state_intent_commit(StateStore *store, StateLock *lock, const Intent *intent, int64_t *generation_out,
                           Error *err) {
    TRY(test_hook("state.intent_commit", err));
    AUTO(state_transaction) StateTransaction transaction = {0};
    TRY(state_fenced_begin(&transaction, store, lock, err));

    TimeUs now = clock_now_us();
    int64_t generation;
    TRY(move_pointers(store, intent, now, err));
    TRY(record_generation(store, intent, now, &generation, err));
    TRY(delete_intent(store, intent, err));
    TRY(state_record_drafts(store, intent->environment, now, err));
    TRY(state_transaction_commit(&transaction, err));

    *generation_out = generation;
    return test_hook("state.intent_committed", err);
}

Status state_pointers_move(StateStore *store, Intent *intent, TimeUs now, Error *err) {
    int64_t generation;
    if (intent->put.count + intent->removed.count == 0) {
        return OK;
    }
    intent->created_at = now;
    TRY(refuse_unfinished(store, intent->environment, err));
    TRY(insert_intent(store, intent, &intent->id, err));
    TRY(insert_pointers(store, intent->id, intent, err));
    TRY(move_pointers(store, intent, now, err));
    TRY(record_generation(store, intent, now, &generation, err));
    return delete_intent(store, intent, err);
}

/* ---- Recovery. */

Status state_intent_abandon(StateStore *store, StateLock *lock, const Intent *intent, Error *err) {
    AUTO(state_transaction) StateTransaction transaction = {0};
    TRY(state_fenced_begin(&transaction, store, lock, err));
    TRY(delete_intent(store, intent, err));
    return state_transaction_commit(&transaction, err);
}

static void read_intent(sqlite3_stmt *row, Arena *arena, void *rows) {
    Intent intent = {
        .id = state_column_int(row, 0),
        .environment = state_column_text(row, 1, arena),
        .command = state_column_text(row, 2, arena),
        .created_at = state_column_int(row, 3),
    };
    intent_vec_push(arena, rows, intent);
}

static void read_intent_pointer(sqlite3_stmt *row, Arena *arena, void *rows) {
    Intent *intent = rows;
    Str model = state_column_text(row, 0, arena);
    Str fingerprint = state_column_text(row, 1, arena);
    if (fingerprint.size == 0) {
        str_vec_push(arena, &intent->removed, model);
        return;
    }
    pointer_vec_push(arena, &intent->put,
                     (Pointer){.model = model,
                               .fingerprint = fingerprint,
                               .revision = state_column_int(row, 2),
                               .promoted_at = state_column_int(row, 3)});
}

static void read_intent_view(sqlite3_stmt *row, Arena *arena, void *rows) {
    IntentView view = {
        .engine = state_column_text(row, 0, arena),
        .view_schema = state_column_text(row, 1, arena),
        .view_name = state_column_text(row, 2, arena),
        .relation_schema = state_column_text(row, 3, arena),
        .relation_name = state_column_text(row, 4, arena),
    };
    intent_view_vec_push(arena, rows, view);
}

static Status load_intent_parts(StateStore *store, Arena *arena, Intent *intent, Error *err) {
    TRY(state_query(store,
                    "SELECT model, fingerprint, revision, promoted_at FROM intent_pointers WHERE intent = ?1"
                    " ORDER BY position",
                    VALUES(state_int(intent->id)), read_intent_pointer, arena, intent, err));
    return state_query(store,
                       "SELECT engine, view_schema, view_name, relation_schema, relation_name FROM intent_views"
                       " WHERE intent = ?1 ORDER BY position",
                       VALUES(state_int(intent->id)), read_intent_view, arena, &intent->views, err);
}

Status state_load_intents(StateStore *store, Arena *arena, IntentVec *intents_out, Error *err) {
    IntentVec intents = {0};
    TRY(state_query(store, "SELECT id, environment, command, created_at FROM intents ORDER BY id", NO_VALUES,
                    read_intent, arena, &intents, err));
    for (size_t i = 0; i < intents.count; i++) {
        TRY(load_intent_parts(store, arena, &intents.items[i], err));
    }
    *intents_out = intents;
    return OK;
}
