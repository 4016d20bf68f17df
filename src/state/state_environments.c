#include "state/state_sql.h"

static void read_pointer(sqlite3_stmt *row, Arena *arena, void *rows) {
    Pointer pointer = {
        .model = state_column_text(row, 0, arena),
        .fingerprint = state_column_text(row, 1, arena),
        .revision = state_column_int(row, 2),
        .promoted_at = state_column_int(row, 3),
        .environment = state_column_text(row, 4, arena),
    };
    pointer_vec_push(arena, rows, pointer);
}

Status state_load_pointers(StateStore *store, Str environment, Arena *arena, PointerVec *pointers_out, Error *err) {
    PointerVec pointers = {0};
    TRY(state_query(store,
                    "SELECT model, fingerprint, revision, promoted_at, NULL FROM pointers WHERE environment = ?1"
                    " ORDER BY model",
                    VALUES(state_text(environment)), read_pointer, arena, &pointers, err));
    *pointers_out = pointers;
    return OK;
}

Status state_load_all_pointers(StateStore *store, Arena *arena, PointerVec *pointers_out, Error *err) {
    PointerVec pointers = {0};
    TRY(state_query(store,
                    "SELECT model, fingerprint, revision, promoted_at, environment FROM pointers"
                    " ORDER BY model, environment <> 'prod', promoted_at, environment",
                    NO_VALUES, read_pointer, arena, &pointers, err));
    *pointers_out = pointers;
    return OK;
}

static void read_environment(sqlite3_stmt *row, Arena *arena, void *rows) {
    EnvironmentSummary environment = {
        .name = state_column_text(row, 0, arena),
        .pointer_count = (size_t)state_column_int(row, 1),
        .generation = state_column_int(row, 2),
        .promoted_at = state_column_int(row, 3),
    };
    environment_summary_vec_push(arena, rows, environment);
}

/* A dropped environment has generations left, but no pointers: it is not listed. */
Status state_load_environments(StateStore *store, Arena *arena, EnvironmentSummaryVec *list_out, Error *err) {
    EnvironmentSummaryVec list = {0};
    TRY(state_query(
        store,
        "WITH promoted AS ("
        "  SELECT environment, count(*) AS pointer_count, max(promoted_at) AS promoted_at"
        "  FROM pointers GROUP BY environment),"
        " latest AS ("
        "  SELECT environment, max(generation) AS generation, promoted_at FROM generations GROUP BY environment)"
        " SELECT promoted.environment, promoted.pointer_count, coalesce(latest.generation, 0),"
        "  max(promoted.promoted_at, coalesce(latest.promoted_at, 0))"
        " FROM promoted LEFT JOIN latest USING (environment) ORDER BY promoted.environment",
        NO_VALUES, read_environment, arena, &list, err));
    *list_out = list;
    return OK;
}
