/* Small results as cells, and the columns of a query.
 *
 * How values become text: by the engine's own cast. A query that has columns other than booleans, integers up to 64
 * bits, text and blobs is sent once more, wrapped: SELECT CAST(#1 AS VARCHAR), #2 … FROM query('…'). So nested types,
 * timestamps, decimals, NaN and inf look as the engine prints them, in the session's time zone; nothing of that
 * is written here. Rows keep their order. Statements that cannot stand in query() (CALL, EXECUTE, … RETURNING) must
 * give plain columns. */
#include "duck/duck_internal.h"
#include "duck/duck_type.h"

/* --- Columns ------------------------------------------------------------------------------------------------------ */

static Status read_column(DuckConnection *connection, duckdb_prepared_statement prepared, idx_t index, Arena *arena,
                          DuckColumn *column_out, Error *err) {
    AUTO(duck_logical_type) duckdb_logical_type type = duckdb_prepared_statement_column_logical_type(prepared, index);
    const char *name = duckdb_prepared_statement_column_name(prepared, index);
    DuckColumn column = {.name = str_copy(arena, str_from(name))};
    duckdb_free((void *)(uintptr_t)name);

    if (type == NULL || duckdb_get_type_id(type) == DUCKDB_TYPE_INVALID) {
        return error_set(err, ERROR_EXECUTION, "the types of the query's columns depend on a parameter without a type");
    }
    TRY(duck_type_name(connection, type, arena, &column.type, err));
    *column_out = column;
    return OK;
}

static Status read_columns(DuckConnection *connection, duckdb_prepared_statement prepared, Arena *arena,
                           DuckColumnVec *columns_out, Error *err) {
    DuckColumnVec columns = {0};
    idx_t count = duckdb_prepared_statement_column_count(prepared);
    for (idx_t i = 0; i < count; i++) {
        DuckColumn column;
        TRY(read_column(connection, prepared, i, arena, &column, err));
        duck_column_vec_push(arena, &columns, column);
    }
    *columns_out = columns;
    return OK;
}

static Status describe(DuckConnection *connection, Str sql, Arena *arena, DuckColumnVec *columns_out, Error *err) {
    AUTO(duck_prepared) duckdb_prepared_statement prepared = NULL;
    TRY(duck_statement_prepare_single(connection, sql, &prepared, err));
    return read_columns(connection, prepared, arena, columns_out, err);
}

Status duck_describe(DuckConnection *connection, Str sql, Arena *arena, DuckColumnVec *columns_out, Error *err) {
    TRY(duck_statement_check(connection, err));
    Status status = describe(connection, sql, arena, columns_out, err);
    if (failed(status)) {
        duck_transaction_probe(connection);
    }
    return status;
}

/* --- Cells -------------------------------------------------------------------------------------------------------- */

static DuckCell read_boolean(const void *data, idx_t row, Arena *arena) {
    (void)arena;
    return (DuckCell){.text = ((const bool *)data)[row] ? STR("true") : STR("false")};
}

static Str number_text(Arena *arena, int64_t number) {
    return str_format(arena, "%lld", (long long)number);
}

#define DEFINE_READ_INTEGER(name, Type)                                                                                \
    static DuckCell name(const void *data, idx_t row, Arena *arena) {                                                  \
        return (DuckCell){.text = number_text(arena, (int64_t)((const Type *)data)[row])};                             \
    }
DEFINE_READ_INTEGER(read_int8, int8_t)
DEFINE_READ_INTEGER(read_int16, int16_t)
DEFINE_READ_INTEGER(read_int32, int32_t)
DEFINE_READ_INTEGER(read_int64, int64_t)
DEFINE_READ_INTEGER(read_uint8, uint8_t)
DEFINE_READ_INTEGER(read_uint16, uint16_t)
DEFINE_READ_INTEGER(read_uint32, uint32_t)

static DuckCell read_text(const void *data, idx_t row, Arena *arena) {
    /* The engine's accessor takes no const, and changes nothing. */
    duckdb_string_t *text = (duckdb_string_t *)(uintptr_t)data + row;
    Str value = {.ptr = duckdb_string_t_data(text), .size = duckdb_string_t_length(*text)};
    return (DuckCell){.text = str_copy(arena, value)};
}

static DuckCell read_blob(const void *data, idx_t row, Arena *arena) {
    static const char digits[] = "0123456789abcdef";
    duckdb_string_t *blob = (duckdb_string_t *)(uintptr_t)data + row;
    const unsigned char *bytes = (const unsigned char *)duckdb_string_t_data(blob);
    AUTO(strbuf) StrBuf hex = {0};
    strbuf_text(&hex, "\\x");
    for (uint32_t i = 0; i < duckdb_string_t_length(*blob); i++) {
        strbuf_char(&hex, digits[bytes[i] >> 4]);
        strbuf_char(&hex, digits[bytes[i] & 15]);
    }
    return (DuckCell){.text = strbuf_copy(&hex, arena)};
}

/* What a column of a type is read with, and what its cells are. `read` NULL: the value is cast to text by the engine.
 */
/* clang-format off */
typedef struct CellReader {
    duckdb_type type;
    DuckCellKind kind;
    DuckCell (*read)(const void *data, idx_t row, Arena *arena);
} CellReader;

static const CellReader cell_readers[] = {
    {DUCKDB_TYPE_BOOLEAN,   DUCK_CELL_BOOLEAN, read_boolean},
    {DUCKDB_TYPE_TINYINT,   DUCK_CELL_INTEGER, read_int8},
    {DUCKDB_TYPE_SMALLINT,  DUCK_CELL_INTEGER, read_int16},
    {DUCKDB_TYPE_INTEGER,   DUCK_CELL_INTEGER, read_int32},
    {DUCKDB_TYPE_BIGINT,    DUCK_CELL_INTEGER, read_int64},
    {DUCKDB_TYPE_UTINYINT,  DUCK_CELL_INTEGER, read_uint8},
    {DUCKDB_TYPE_USMALLINT, DUCK_CELL_INTEGER, read_uint16},
    {DUCKDB_TYPE_UINTEGER,  DUCK_CELL_INTEGER, read_uint32},
    {DUCKDB_TYPE_VARCHAR,   DUCK_CELL_TEXT,    read_text},
    {DUCKDB_TYPE_BLOB,      DUCK_CELL_TEXT,    read_blob}, /* \xaa00: the engine's cast leaves printable bytes as they are */
    {DUCKDB_TYPE_UBIGINT,   DUCK_CELL_INTEGER, NULL}, /* of these three, what 64 bits can hold: sum() gives HUGEINT */
    {DUCKDB_TYPE_HUGEINT,   DUCK_CELL_INTEGER, NULL},
    {DUCKDB_TYPE_UHUGEINT,  DUCK_CELL_INTEGER, NULL},
    {DUCKDB_TYPE_FLOAT,     DUCK_CELL_DOUBLE,  NULL},
    {DUCKDB_TYPE_DOUBLE,    DUCK_CELL_DOUBLE,  NULL},
};
/* clang-format on */

static const CellReader *find_reader(duckdb_type type) {
    static const CellReader other = {DUCKDB_TYPE_ANY, DUCK_CELL_TEXT, NULL};
    for (size_t i = 0; i < COUNT_OF(cell_readers); i++) {
        if (cell_readers[i].type == type) {
            return &cell_readers[i];
        }
    }
    return &other;
}

static DuckCellKind kind_of_text(DuckCellKind kind, Str text) {
    int64_t number;
    bool too_wide = kind == DUCK_CELL_INTEGER && !str_to_int64(text, &number);
    return too_wide ? DUCK_CELL_TEXT : kind;
}

static DuckCell read_cell(duckdb_vector vector, const CellReader *column, idx_t row, Arena *arena) {
    uint64_t *validity = duckdb_vector_get_validity(vector);
    if (validity != NULL && !duckdb_validity_row_is_valid(validity, row)) {
        return (DuckCell){.kind = DUCK_CELL_NULL, .text = STR_EMPTY};
    }
    const void *data = duckdb_vector_get_data(vector);
    DuckCell cell = column->read != NULL ? column->read(data, row, arena) : read_text(data, row, arena);
    cell.kind = kind_of_text(column->kind, cell.text);
    return cell;
}

/* --- Rows --------------------------------------------------------------------------------------------------------- */

DEFINE_VEC(DuckCellVec, duck_cell_vec, DuckCell)

/* A query on its way to rows: what was bound, how each column is read, and what has been read. */
typedef struct QueryRun {
    DuckConnection *connection;
    Str sql;
    Arena *arena;
    DuckColumnVec columns;
    const CellReader **readers;
    DuckCellVec cells;
    size_t row_count;
} QueryRun;

static Status take_chunk(QueryRun *run, duckdb_data_chunk chunk, Error *err) {
    idx_t rows = duckdb_data_chunk_get_size(chunk);
    run->row_count += rows;
    if (run->row_count > DUCK_ROWS_MAX) {
        (void)error_set(err, ERROR_EXECUTION, "the query gives more than %d rows", DUCK_ROWS_MAX);
        error_hint(err, "add a LIMIT, or write the rows to a table");
        return FAILED;
    }
    for (idx_t row = 0; row < rows; row++) {
        for (size_t i = 0; i < run->columns.count; i++) {
            duckdb_vector vector = duckdb_data_chunk_get_vector(chunk, i);
            duck_cell_vec_push(run->arena, &run->cells, read_cell(vector, run->readers[i], row, run->arena));
        }
    }
    return OK;
}

static Status fetch_all(QueryRun *run, duckdb_result *result, Error *err) {
    while (true) {
        AUTO(duck_chunk) duckdb_data_chunk chunk = duckdb_fetch_chunk(*result);
        if (chunk == NULL) {
            break;
        }
        TRY(take_chunk(run, chunk, err));
    }
    const char *reason = duckdb_result_error(result);
    return reason == NULL ? OK : duck_error_set(err, run->sql, (int)duckdb_result_error_type(result), reason);
}

static Status run_prepared(QueryRun *run, duckdb_prepared_statement prepared, Error *err) {
    AUTO(duck_result) duckdb_result result = {0};
    TRY(duck_statement_run_streaming(run->connection, prepared, run->sql, &result, err));
    return fetch_all(run, &result, err);
}

static Status run_wrapped(QueryRun *run, Error *err) {
    AUTO(duck_prepared) duckdb_prepared_statement prepared = NULL;
    DuckWrapColumnVec columns = {0};
    for (size_t i = 0; i < run->columns.count; i++) {
        Str cast_type = run->readers[i]->read == NULL ? STR("VARCHAR") : STR_EMPTY;
        duck_wrap_column_vec_push(run->arena, &columns, (DuckWrapColumn){run->columns.items[i].name, cast_type});
    }
    Str wrapped = duck_wrap_query(run->arena, run->sql, &columns);
    TRY(duck_statement_prepare_single(run->connection, wrapped, &prepared, err));
    return run_prepared(run, prepared, err);
}

/* The first column that has to be cast to text; the count when all are plain. */
static size_t find_cast_column(const QueryRun *run) {
    size_t index = 0;
    while (index < run->columns.count && run->readers[index]->read != NULL) {
        index++;
    }
    return index;
}

static Status run_query(QueryRun *run, Error *err) {
    AUTO(duck_prepared) duckdb_prepared_statement prepared = NULL;

    TRY(duck_statement_prepare_single(run->connection, run->sql, &prepared, err));
    TRY(read_columns(run->connection, prepared, run->arena, &run->columns, err));
    run->readers = ARENA_NEW_ARRAY(run->arena, const CellReader *, run->columns.count);
    for (size_t i = 0; i < run->columns.count; i++) {
        run->readers[i] = find_reader(duckdb_prepared_statement_column_type(prepared, i));
    }

    size_t cast_column = find_cast_column(run);
    if (cast_column == run->columns.count) {
        return run_prepared(run, prepared, err);
    }
    if (duckdb_prepared_statement_type(prepared) != DUCKDB_STATEMENT_TYPE_SELECT) {
        const DuckColumn *column = &run->columns.items[cast_column];
        return error_set(err, ERROR_EXECUTION,
                         "column '" STR_FMT "' has the type " STR_FMT
                         ", which this kind of statement cannot show; cast it to VARCHAR",
                         STR_ARG(column->name), STR_ARG(column->type));
    }
    return run_wrapped(run, err);
}

Status duck_query(DuckConnection *connection, Str sql, Arena *arena, DuckRows *rows_out, Error *err) {
    TRY(duck_statement_check(connection, err));

    QueryRun run = {.connection = connection, .sql = sql, .arena = arena};
    TRY(duck_statement_done(connection, run_query(&run, err)));
    *rows_out = (DuckRows){.columns = run.columns, .row_count = run.row_count, .cells = run.cells.items};
    return OK;
}

const DuckColumn *duck_column_find(const DuckColumnVec *columns, Str name) {
    for (size_t i = 0; i < columns->count; i++) {
        if (str_equal_fold(columns->items[i].name, name)) {
            return &columns->items[i];
        }
    }
    return NULL;
}

Status duck_rows_int(const DuckRows *rows, int64_t *number_out, Error *err) {
    if (rows->row_count != 1 || rows->columns.count != 1) {
        return error_set(err, ERROR_EXECUTION, "one number is expected, the query gives %zu rows of %zu columns",
                         rows->row_count, rows->columns.count);
    }

    const DuckCell *cell = duck_cell(rows, 0, 0);
    int64_t number = 0;
    if (cell->kind != DUCK_CELL_NULL && !str_to_int64(cell->text, &number)) {
        return error_set(err, ERROR_EXECUTION, "a whole number is expected, the query gives '" STR_FMT "'",
                         STR_ARG(cell->text));
    }
    *number_out = number;
    return OK;
}

Status duck_query_int(DuckConnection *connection, Str sql, int64_t *number_out, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    DuckRows rows;
    TRY(duck_query(connection, sql, arena, &rows, err));
    return duck_rows_int(&rows, number_out, err);
}
