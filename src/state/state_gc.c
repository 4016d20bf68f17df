/* Garbage: snapshots that no environment shows, relations that no snapshot has, and records that are old. */
#include "state/state_sql.h"

#include "base/test_hooks.h"

#define GENERATIONS_KEPT 50

/* Not shown, not about to be, and old enough since it was made or last shown. What was delivered last is what the next
 * delivery is compared with, so the newest record of a delivery stays. */
#define CANDIDATES                                                                                                     \
    " FROM snapshots AS s WHERE max(s.created_at, s.released_at) <= ?1"                                                \
    " AND NOT EXISTS (SELECT 1 FROM pointers AS p WHERE p.model = s.name AND p.fingerprint = s.fingerprint"            \
    "  AND p.revision = s.revision)"                                                                                   \
    " AND NOT EXISTS (SELECT 1 FROM intent_pointers AS i WHERE i.model = s.name AND i.fingerprint = s.fingerprint"     \
    "  AND i.revision = s.revision)"                                                                                   \
    " AND (s.physical_schema LIKE 'interlace\\_\\_%' ESCAPE '\\' AND s.physical_catalog IS NULL OR s.created_at <"     \
    "  (SELECT max(o.created_at) FROM snapshots AS o WHERE o.name = s.name))"

static void read_reclaimed(sqlite3_stmt *row, Arena *arena, void *rows) {
    ReclaimedSnapshot reclaimed = {
        .name = state_column_text(row, 0, arena),
        .fingerprint = state_column_text(row, 1, arena),
        .revision = state_column_int(row, 2),
        .engine = state_column_text(row, 3, arena),
        .physical_schema = state_column_text(row, 4, arena),
        .physical_name = state_column_text(row, 5, arena),
    };
    reclaimed_snapshot_vec_push(arena, rows, reclaimed);
}

Status state_gc_candidates(StateStore *store, TimeUs before, Arena *arena, ReclaimedSnapshotVec *found_out,
                           int64_t *kept_out, Error *err) {
    ReclaimedSnapshotVec found = {0};
    TRY(state_query(store,
                    "SELECT name, fingerprint, revision, engine, physical_schema, physical_name" CANDIDATES
                    " ORDER BY name, fingerprint, revision",
                    VALUES(state_int(before)), read_reclaimed, arena, &found, err));
    TRY(state_query_int(store, "SELECT count(*) FROM snapshots", NO_VALUES, kept_out, err));
    *kept_out -= (int64_t)found.count;
    *found_out = found;
    return OK;
}

/* Of relations that no snapshot has any more; those of other databases keep none of their own. */
#define DELETE_LEDGERS                                                                                                 \
    "DELETE FROM ledger WHERE catalog = '' AND schema LIKE 'interlace\\_\\_%' ESCAPE '\\'"                             \
    " AND NOT EXISTS (SELECT 1 FROM snapshots AS s WHERE s.physical_schema = ledger.schema"                            \
    "  AND s.physical_name = ledger.name)"

Status state_gc_take(StateStore *store, StateLock *lock, TimeUs before, Error *err) {
    AUTO(state_transaction) StateTransaction transaction = {0};
    StateValue time = state_int(before);
    TRY(state_fenced_begin(&transaction, store, lock, err));
    TRY(state_execute(store,
                      "DELETE FROM reclaimed WHERE (name, fingerprint, revision) IN"
                      " (SELECT name, fingerprint, revision FROM snapshots)",
                      NO_VALUES, err));
    TRY(state_execute(store,
                      "INSERT INTO reclaimed (name, fingerprint, revision, engine, physical_schema, physical_name,"
                      " is_dropped) SELECT name, fingerprint, revision, engine, physical_schema, physical_name,"
                      " physical_catalog IS NOT NULL OR physical_name IS NULL"
                      " OR coalesce(physical_schema, '') NOT LIKE 'interlace\\_\\_%' ESCAPE '\\'" CANDIDATES,
                      VALUES(time), err));
    TRY(state_execute(store,
                      "DELETE FROM snapshots WHERE (name, fingerprint, revision) IN"
                      " (SELECT name, fingerprint, revision FROM reclaimed)",
                      NO_VALUES, err));
    TRY(state_execute(store, DELETE_LEDGERS, NO_VALUES, err));
    TRY(state_transaction_commit(&transaction, err));
    return test_hook("gc.taken", err);
}

Status state_gc_undropped(StateStore *store, Arena *arena, ReclaimedSnapshotVec *found_out, Error *err) {
    ReclaimedSnapshotVec found = {0};
    TRY(state_query(store,
                    "SELECT name, fingerprint, revision, engine, physical_schema, physical_name FROM reclaimed"
                    " WHERE is_dropped = 0 ORDER BY name, fingerprint, revision",
                    NO_VALUES, read_reclaimed, arena, &found, err));
    *found_out = found;
    return OK;
}

/* Thousands of relations against thousands of records: they stand in a table of this connection, with a key. */
static Status list_relations(StateStore *store, const DroppedRelationVec *relations, Error *err) {
    TRY(state_execute(store,
                      "CREATE TEMP TABLE IF NOT EXISTS listed (engine TEXT, schema TEXT, name TEXT,"
                      " PRIMARY KEY (engine, schema, name)) WITHOUT ROWID",
                      NO_VALUES, err));
    TRY(state_execute(store, "DELETE FROM temp.listed", NO_VALUES, err));
    for (size_t i = 0; i < relations->count; i++) {
        const DroppedRelation *relation = &relations->items[i];
        TRY(state_execute(
            store, "INSERT OR IGNORE INTO temp.listed (engine, schema, name) VALUES (?1, ?2, ?3)",
            VALUES(state_text(relation->engine), state_text(relation->schema), state_text(relation->name)), err));
    }
    return OK;
}

Status state_gc_dropped(StateStore *store, StateLock *lock, const DroppedRelationVec *relations, Error *err) {
    AUTO(state_transaction) StateTransaction transaction = {0};
    TRY(state_fenced_begin(&transaction, store, lock, err));
    TRY(list_relations(store, relations, err));
    TRY(state_execute(store,
                      "UPDATE reclaimed SET is_dropped = 1 WHERE (engine, physical_schema, physical_name) IN"
                      " (SELECT engine, schema, name FROM temp.listed)",
                      NO_VALUES, err));
    TRY(state_execute(store,
                      "DELETE FROM orphans WHERE (engine, schema, name) IN"
                      " (SELECT engine, schema, name FROM temp.listed)",
                      NO_VALUES, err));
    return state_transaction_commit(&transaction, err);
}

static void read_relation(sqlite3_stmt *row, Arena *arena, void *rows) {
    DroppedRelation relation = {
        .engine = state_column_text(row, 0, arena),
        .schema = state_column_text(row, 1, arena),
        .name = state_column_text(row, 2, arena),
    };
    dropped_relation_vec_push(arena, rows, relation);
}

Status state_recorded_relations(StateStore *store, const DroppedRelationVec *relations, Arena *arena,
                                DroppedRelationVec *recorded_out, Error *err) {
    AUTO(state_transaction) StateTransaction transaction = {0};
    DroppedRelationVec recorded = {0};
    TRY(state_transaction_begin(&transaction, store, err));
    TRY(list_relations(store, relations, err));
    TRY(state_query(store,
                    "SELECT DISTINCT engine, physical_schema, physical_name FROM snapshots"
                    " WHERE (engine, physical_schema, physical_name) IN (SELECT engine, schema, name FROM temp.listed)",
                    NO_VALUES, read_relation, arena, &recorded, err));
    *recorded_out = recorded;
    return state_transaction_commit(&transaction, err);
}

Status state_orphan_note(StateStore *store, StateLock *lock, Str engine, Str schema, Str name, TimeUs now,
                         TimeUs *seen_at_out, Error *err) {
    AUTO(state_transaction) StateTransaction transaction = {0};
    TRY(state_fenced_begin(&transaction, store, lock, err));
    TRY(state_execute(store, "INSERT OR IGNORE INTO orphans (engine, schema, name, seen_at) VALUES (?1, ?2, ?3, ?4)",
                      VALUES(state_text(engine), state_text(schema), state_text(name), state_int(now)), err));
    TRY(state_query_int(store, "SELECT seen_at FROM orphans WHERE engine = ?1 AND schema = ?2 AND name = ?3",
                        VALUES(state_text(engine), state_text(schema), state_text(name)), seen_at_out, err));
    return state_transaction_commit(&transaction, err);
}

/* A relation that was recorded again, or is gone, is no orphan: what is noted of it must not count later. */
Status state_orphans_forget(StateStore *store, StateLock *lock, TimeUs before, Error *err) {
    AUTO(state_transaction) StateTransaction transaction = {0};
    TRY(state_fenced_begin(&transaction, store, lock, err));
    TRY(state_execute(store,
                      "DELETE FROM orphans WHERE seen_at < ?1 OR EXISTS (SELECT 1 FROM snapshots AS s"
                      " WHERE s.engine = orphans.engine AND s.physical_schema = orphans.schema"
                      " AND s.physical_name = orphans.name)",
                      VALUES(state_int(before)), err));
    return state_transaction_commit(&transaction, err);
}

static Status trim(StateStore *store, const char *sql, StateValue value, int64_t *count, Error *err) {
    TRY(state_execute(store, sql, &value, 1, err));
    *count = state_changed_count(store);
    return OK;
}

Status state_gc_trim(StateStore *store, StateLock *lock, TimeUs before, GcTrimmed *trimmed_out, Error *err) {
    AUTO(state_transaction) StateTransaction transaction = {0};
    TRY(state_fenced_begin(&transaction, store, lock, err));
    TRY(trim(store, "DELETE FROM events WHERE happened_at < ?1", state_int(before), &trimmed_out->events, err));
    TRY(trim(store, "DELETE FROM check_results WHERE executed_at < ?1", state_int(before), &trimmed_out->checks, err));
    TRY(trim(store,
             "DELETE FROM generations WHERE generation <= (SELECT max(g.generation) FROM generations AS g"
             " WHERE g.environment = generations.environment) - ?1",
             state_int(GENERATIONS_KEPT), &trimmed_out->generations, err));
    TRY(state_execute(store, "DELETE FROM notices WHERE state = 'delivered' AND ended_at < ?1",
                      VALUES(state_int(before)), err));
    TRY(state_execute(store,
                      "DELETE FROM reclaimed WHERE is_dropped = 1 AND (name, fingerprint, revision) NOT IN"
                      " (SELECT model, fingerprint, revision FROM generation_pointers)",
                      NO_VALUES, err));
    return state_transaction_commit(&transaction, err);
}

Status state_reset(StateStore *store, StateLock *lock, Error *err) {
    static const char *const statements[] = {
        ("DELETE FROM snapshots WHERE physical_catalog IS NULL"
         " AND physical_schema LIKE 'interlace\\_\\_%' ESCAPE '\\'"),
        ("DELETE FROM pointers WHERE (model, fingerprint, revision) NOT IN"
         " (SELECT name, fingerprint, revision FROM snapshots)"),
        "DELETE FROM ledger WHERE catalog = '' AND schema LIKE 'interlace\\_\\_%' ESCAPE '\\'",
        "DELETE FROM generations",
        "DELETE FROM reclaimed",
        "DELETE FROM orphans",
        "DELETE FROM campaigns",
        "DELETE FROM campaign_plans",
        "DELETE FROM check_results",
        "DELETE FROM events",
    };
    AUTO(state_transaction) StateTransaction transaction = {0};
    TRY(state_fenced_begin(&transaction, store, lock, err));
    for (size_t i = 0; i < COUNT_OF(statements); i++) {
        TRY(state_execute(store, statements[i], NO_VALUES, err));
    }
    return state_transaction_commit(&transaction, err);
}
