/* Names and types that the engine gives an Arrow schema. Its converted schema cannot be asked, so an array without rows
 * is converted, and the columns of the chunk that comes out are. */
#include "duck/duck_arrow.h"

#include "duck/duck_internal.h"
#include "duck/duck_type.h"

/* --- An array without rows ---------------------------------------------------------------------------------------- */

/* Its memory is an arena's; releasing only says that it is gone. */
static void release_nothing(struct ArrowArray *array) {
    array->release = NULL;
}

static struct ArrowArray *empty_array(const struct ArrowSchema *schema, Arena *arena) {
    enum { BUFFER_COUNT_MAX = 3 };
    /* Lists and texts read one offset even without rows. */
    static const int64_t zeros[2] = {0};

    struct ArrowArray *array = ARENA_NEW(arena, struct ArrowArray);
    array->release = release_nothing;
    array->n_buffers = BUFFER_COUNT_MAX;
    array->buffers = ARENA_NEW_ARRAY(arena, const void *, BUFFER_COUNT_MAX);
    array->buffers[1] = zeros;
    array->buffers[2] = zeros;
    array->n_children = schema->n_children;
    array->children = ARENA_NEW_ARRAY(arena, struct ArrowArray *, (size_t)schema->n_children);
    for (int64_t i = 0; i < schema->n_children; i++) {
        array->children[i] = empty_array(schema->children[i], arena);
    }
    if (schema->dictionary != NULL) {
        array->dictionary = empty_array(schema->dictionary, arena);
    }
    return array;
}

/* --- Columns ------------------------------------------------------------------------------------------------------ */

static Status check_names(const struct ArrowSchema *schema, Error *err) {
    for (int64_t i = 0; i < schema->n_children; i++) {
        Str name = str_from(schema->children[i]->name);
        if (name.size == 0) {
            return error_set(err, ERROR_EXECUTION, "column %lld has no name", (long long)i + 1);
        }
        for (int64_t k = 0; k < i; k++) {
            if (str_equal_fold(name, str_from(schema->children[k]->name))) {
                return error_set(err, ERROR_EXECUTION,
                                 "two columns are named '" STR_FMT "' (names differ by more than case)", STR_ARG(name));
            }
        }
    }
    return OK;
}

/* The chunk without rows that a schema converts to. */
static Status convert(DuckConnection *connection, struct ArrowSchema *schema, Arena *arena,
                      duckdb_data_chunk *chunk_out, Error *err) {
    AUTO(duck_converted_schema) duckdb_arrow_converted_schema converted = NULL;
    AUTO(duck_error_data)
    duckdb_error_data schema_fault = duckdb_schema_from_arrow(connection->handle, schema, &converted);
    if (duckdb_error_data_has_error(schema_fault)) {
        return duck_error_set(err, STR_EMPTY, (int)duckdb_error_data_error_type(schema_fault),
                              duckdb_error_data_message(schema_fault));
    }

    AUTO(duck_error_data)
    duckdb_error_data fault =
        duckdb_data_chunk_from_arrow(connection->handle, empty_array(schema, arena), converted, chunk_out);
    if (duckdb_error_data_has_error(fault)) {
        return duck_error_set(err, STR_EMPTY, (int)duckdb_error_data_error_type(fault),
                              duckdb_error_data_message(fault));
    }
    return OK;
}

/* The engine does not say which column it cannot take: each is tried alone. */
static Status name_column_at_fault(DuckConnection *connection, const struct ArrowSchema *schema, Arena *arena,
                                   Error *err) {
    for (int64_t i = 0; i < schema->n_children; i++) {
        AUTO(duck_chunk) duckdb_data_chunk chunk = NULL;
        struct ArrowSchema single = *schema;
        single.n_children = 1;
        single.children = &schema->children[i];
        if (failed(convert(connection, &single, arena, &chunk, err))) {
            return error_set(err, ERROR_EXECUTION, "column '%s' has a type that the engine does not take: " STR_FMT,
                             schema->children[i]->name, STR_ARG(err->message));
        }
    }
    return FAILED;
}

static Status read_types(DuckConnection *connection, struct ArrowSchema *schema, Arena *arena,
                         DuckColumnVec *columns_out, Error *err) {
    AUTO(arena) Arena *scratch = arena_create();
    AUTO(duck_chunk) duckdb_data_chunk chunk = NULL;
    DuckColumnVec columns = {0};

    TRY(check_names(schema, err));
    if (failed(convert(connection, schema, scratch, &chunk, err))) {
        return name_column_at_fault(connection, schema, scratch, err);
    }
    for (int64_t i = 0; i < schema->n_children; i++) {
        AUTO(duck_logical_type)
        duckdb_logical_type type = duckdb_vector_get_column_type(duckdb_data_chunk_get_vector(chunk, (idx_t)i));
        DuckColumn column = {.name = str_copy(arena, str_from(schema->children[i]->name))};
        TRY(duck_type_name(connection, type, arena, &column.type, err));
        duck_column_vec_push(arena, &columns, column);
    }
    *columns_out = columns;
    return OK;
}

Status duck_arrow_columns(DuckConnection *connection, struct ArrowSchema *schema, Arena *arena,
                          DuckColumnVec *columns_out, Error *err) {
    TRY(duck_statement_check(connection, err));
    return duck_statement_done(connection, read_types(connection, schema, arena, columns_out, err));
}
