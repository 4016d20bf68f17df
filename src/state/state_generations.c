/* Generations: the mappings that an environment had, one for each promotion that changed it. */
#include "state/state_sql.h"

static void read_generation(sqlite3_stmt *row, Arena *arena, void *rows) {
    Generation generation = {
        .number = state_column_int(row, 0),
        .promoted_at = state_column_int(row, 1),
        .command = state_column_text(row, 2, arena),
        .model_count = (size_t)state_column_int(row, 3),
    };
    generation_vec_push(arena, rows, generation);
}

Status state_load_generations(StateStore *store, Str environment, Arena *arena, GenerationVec *generations_out,
                              Error *err) {
    GenerationVec generations = {0};
    TRY(state_query(store,
                    "SELECT generation, promoted_at, command, (SELECT count(*) FROM generation_pointers AS held"
                    "  WHERE held.environment = made.environment AND held.generation = made.generation)"
                    " FROM generations AS made WHERE environment = ?1 ORDER BY generation DESC",
                    VALUES(state_text(environment)), read_generation, arena, &generations, err));
    *generations_out = generations;
    return OK;
}

static void read_pointer(sqlite3_stmt *row, Arena *arena, void *rows) {
    Pointer pointer = {
        .model = state_column_text(row, 0, arena),
        .fingerprint = state_column_text(row, 1, arena),
        .revision = state_column_int(row, 2),
    };
    pointer_vec_push(arena, rows, pointer);
}

Status state_load_generation(StateStore *store, Str environment, int64_t number, Arena *arena, PointerVec *pointers_out,
                             Error *err) {
    PointerVec pointers = {0};
    TRY(state_query(store,
                    "SELECT model, fingerprint, revision FROM generation_pointers"
                    " WHERE environment = ?1 AND generation = ?2 ORDER BY model",
                    VALUES(state_text(environment), state_int(number)), read_pointer, arena, &pointers, err));
    *pointers_out = pointers;
    return OK;
}

/* A snapshot that was built again since is there. */
Status state_load_reclaimed(StateStore *store, Arena *arena, PointerVec *pointers_out, Error *err) {
    PointerVec pointers = {0};
    TRY(state_query(store,
                    "SELECT name, fingerprint, revision FROM reclaimed"
                    " WHERE (name, fingerprint, revision) NOT IN (SELECT name, fingerprint, revision FROM snapshots)",
                    NO_VALUES, read_pointer, arena, &pointers, err));
    *pointers_out = pointers;
    return OK;
}
