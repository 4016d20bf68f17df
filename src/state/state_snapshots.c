#include "state/state_sql.h"

#include "base/test_hooks.h"

typedef struct SnapshotRows {
    SnapshotVec snapshots;
    SnapshotIsRead *is_read; /* NULL: all are */
    const void *context;
} SnapshotRows;

static void read_snapshot(sqlite3_stmt *row, Arena *arena, void *target) {
    SnapshotRows *rows = target;
    int column = 0;
    Snapshot snapshot = {0};
    snapshot.name = state_column_text(row, column++, arena);
    snapshot.fingerprint = state_column_text(row, column++, arena);
    snapshot.revision = state_column_int(row, column++);
    snapshot.local_fingerprint = state_column_text(row, column++, arena);
    snapshot.metadata_hash = state_column_text(row, column++, arena);
    snapshot.physical_hash = state_column_text(row, column++, arena);
    snapshot.physical_catalog = state_column_text(row, column++, arena);
    snapshot.physical_schema = state_column_text(row, column++, arena);
    snapshot.physical_name = state_column_text(row, column++, arena);
    snapshot.is_view = state_column_int(row, column++) != 0;
    snapshot.change_category = state_column_text(row, column++, arena);
    snapshot.engine = state_column_text(row, column++, arena);
    snapshot.created_at = state_column_int(row, column++);
    snapshot.verified_at = state_column_int(row, column++);
    snapshot.released_at = state_column_int(row, column++);
    snapshot.columns_json = state_column_text(row, column++, arena);
    snapshot.physical_objects = state_column_text(row, column++, arena);
    if (rows->is_read == NULL || rows->is_read(rows->context, snapshot.name, snapshot.fingerprint)) {
        snapshot.definition_sql = state_column_text(row, column++, arena);
        snapshot.definition_source = state_column_text(row, column++, arena);
        snapshot.config_json = state_column_text(row, column++, arena);
    }
    snapshot_vec_push(arena, &rows->snapshots, snapshot);
}

Status state_load_snapshots_for(StateStore *store, SnapshotIsRead *is_read, const void *context, Arena *arena,
                                SnapshotVec *snapshots_out, Error *err) {
    int64_t count;
    TRY(state_query_int(store, "SELECT count(*) FROM snapshots", NO_VALUES, &count, err));
    SnapshotRows rows = {
        .snapshots = {.items = ARENA_NEW_ARRAY(arena, Snapshot, (size_t)count), .capacity = (size_t)count},
        .is_read = is_read,
        .context = context,
    };
    TRY(state_query(store,
                    "SELECT name, fingerprint, revision, local_fingerprint, metadata_hash, physical_hash,"
                    " physical_catalog, physical_schema, physical_name, is_view, change_category, engine, created_at,"
                    " verified_at, released_at, columns_json, physical_objects,"
                    " definition_sql, definition_source, config_json"
                    " FROM snapshots",
                    NO_VALUES, read_snapshot, arena, &rows, err));
    *snapshots_out = rows.snapshots;
    return OK;
}

Status state_load_snapshots(StateStore *store, Arena *arena, SnapshotVec *snapshots_out, Error *err) {
    return state_load_snapshots_for(store, NULL, NULL, arena, snapshots_out, err);
}

/* A snapshot that is built again keeps the moment of its release: gc's grace counts from there. What defined it is kept
 * where it is not given: who records a version that it has read may have read it without (state_load_snapshots_for). */
#define RECORD_SNAPSHOT                                                                                                \
    "INSERT INTO snapshots (name, fingerprint, revision, local_fingerprint, metadata_hash, physical_hash,"             \
    " definition_sql, definition_source, physical_catalog, physical_schema, physical_name, is_view,"                   \
    " change_category, engine, created_at, verified_at, released_at, columns_json, config_json, physical_objects)"     \
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)"              \
    " ON CONFLICT (name, fingerprint, revision) DO UPDATE SET name = excluded.name,"                                   \
    " local_fingerprint = excluded.local_fingerprint, metadata_hash = excluded.metadata_hash,"                         \
    " physical_hash = excluded.physical_hash, definition_sql = coalesce(excluded.definition_sql, definition_sql),"     \
    " definition_source = coalesce(excluded.definition_source, definition_source),"                                    \
    " physical_catalog = excluded.physical_catalog,"                                                                   \
    " physical_schema = excluded.physical_schema, physical_name = excluded.physical_name,"                             \
    " is_view = excluded.is_view, change_category = excluded.change_category, engine = excluded.engine,"               \
    " created_at = excluded.created_at, verified_at = excluded.verified_at,"                                           \
    " released_at = max(released_at, excluded.released_at), columns_json = excluded.columns_json,"                     \
    " config_json = coalesce(excluded.config_json, config_json),"                                                      \
    " physical_objects = coalesce(excluded.physical_objects, physical_objects)"

Status state_record_snapshot(StateStore *store, const Snapshot *snapshot, Error *err) {
    TRY(test_hook("state.snapshot", err));
    return state_execute(
        store, RECORD_SNAPSHOT,
        VALUES(state_text(snapshot->name), state_text(snapshot->fingerprint), state_int(snapshot->revision),
               state_text(snapshot->local_fingerprint), state_text(snapshot->metadata_hash),
               state_text(snapshot->physical_hash), state_optional_text(snapshot->definition_sql),
               state_optional_text(snapshot->definition_source), state_optional_text(snapshot->physical_catalog),
               state_optional_text(snapshot->physical_schema), state_optional_text(snapshot->physical_name),
               state_int(snapshot->is_view), state_optional_text(snapshot->change_category),
               state_text(snapshot->engine), state_int(snapshot->created_at), state_int(snapshot->verified_at),
               state_int(snapshot->released_at), state_optional_text(snapshot->columns_json),
               state_optional_text(snapshot->config_json), state_optional_text(snapshot->physical_objects)),
        err);
}

Status state_mark_verified(StateStore *store, Str name, Str fingerprint, int64_t revision, TimeUs at, Error *err) {
    TRY(state_execute(store,
                      "UPDATE snapshots SET verified_at = ?4 WHERE name = ?1 AND fingerprint = ?2 AND revision = ?3",
                      VALUES(state_text(name), state_text(fingerprint), state_int(revision), state_int(at)), err));
    if (state_changed_count(store) == 1) {
        return OK;
    }
    return error_set(err, ERROR_INTERNAL, "model '" STR_FMT "' has no snapshot " STR_FMT " that checks could verify",
                     STR_ARG(name), STR_ARG(fingerprint));
}

bool snapshot_has_view(const Snapshot *snapshot) {
    return snapshot != NULL && str_starts_with(snapshot->physical_schema, STR("interlace__"));
}
