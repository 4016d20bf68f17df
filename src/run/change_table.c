#include "run/change_table.h"

#include "base/test_hooks.h"
#include "window/zone.h"

#define ROWS_A_STATEMENT 500

typedef struct ChangeTable {
    EngineConnection *connection;
    Arena *arena;
    SqlRelation relation; /* with the database's name: that may be `interlace` too */
    bool is_there;
    int64_t row_count;
} ChangeTable;

/* "HEAD <the table>TAIL" */
static Str sentence(const ChangeTable *table, const char *head, const char *tail) {
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, head);
    sql_relation(&sql, table->relation);
    strbuf_text(&sql, tail);
    return strbuf_copy(&sql, table->arena);
}

/* ---- What it lacks. */

static Status look(ChangeTable *table, Error *err) {
    SqlText question = sql_text_own(table->arena, STR("SELECT current_database()"));
    DuckRows rows;
    DuckColumnVec columns = {0};
    TRY(engine_query(table->connection, &question, table->arena, &rows, err));
    table->relation = (SqlRelation){duck_cell(&rows, 0, 0)->text, STR("interlace"), STR("changes")};
    TRY(engine_relation_columns(table->connection, table->relation, table->arena, &table->is_there, &columns, err));
    if (!table->is_there) {
        return OK;
    }
    SqlText count = sql_text_own(table->arena, sentence(table, "SELECT count(*) FROM ", ""));
    return engine_query_int(table->connection, &count, &table->row_count, err);
}

/* ---- Writing. */

static void append_number(StrBuf *sql, int64_t number, bool is_known) {
    if (is_known) {
        strbuf_format(sql, "%lld", (long long)number);
    } else {
        strbuf_text(sql, "NULL");
    }
}

static void append_text(StrBuf *sql, Str text) {
    if (text.size == 0) {
        strbuf_text(sql, "NULL");
    } else {
        sql_literal(sql, text);
    }
}

static void append_windows(StrBuf *sql, const IntervalSet *windows, Arena *arena) {
    strbuf_char(sql, '[');
    for (size_t i = 0; i < windows->count; i++) {
        strbuf_format(sql, "%s{'start': TIMESTAMP '" STR_FMT "', 'end': TIMESTAMP '" STR_FMT "'}", i > 0 ? ", " : "",
                      STR_ARG(wall_format(arena, windows->items[i].start, true)),
                      STR_ARG(wall_format(arena, windows->items[i].end, true)));
    }
    strbuf_char(sql, ']');
}

static void append_measure(StrBuf *sql, const ChangeRecord *change) {
    append_text(sql, change->measure);
    if (change->measure.size == 0) {
        strbuf_text(sql, ", NULL, NULL, ");
    } else {
        strbuf_format(sql, ", '%.17g', '%.17g', ", change->measure_before, change->measure_after);
    }
}

static void append_row(StrBuf *sql, const ChangeRecord *change, Arena *arena) {
    strbuf_format(sql, "(%lld, ", (long long)change->id);
    sql_literal(sql, str_from(change_kind_name(change->kind)));
    strbuf_text(sql, ", ");
    sql_literal(sql, change->environment);
    strbuf_text(sql, ", ");
    sql_literal(sql, change->model);
    strbuf_text(sql, ", ");
    append_windows(sql, &change->windows, arena);
    strbuf_text(sql, ", ");
    append_number(sql, change->rows_before, change->rows_before != CHANGE_ROWS_UNKNOWN);
    strbuf_text(sql, ", ");
    append_number(sql, change->rows_after, change->rows_after != CHANGE_ROWS_UNKNOWN);
    strbuf_text(sql, ", ");
    append_measure(sql, change);
    append_text(sql, change->note);
    strbuf_text(sql, ", ");
    sql_literal(sql, change->who);
    strbuf_format(sql, ", TIMESTAMPTZ '" STR_FMT "', ", STR_ARG(time_format_iso(arena, change->at)));
    append_number(sql, change->campaign, change->campaign != 0);
    strbuf_char(sql, ')');
}

static Status insert_rows(const ChangeTable *table, const ChangeRecord *changes, size_t count, Error *err) {
    AUTO(strbuf) StrBuf stale = {0};
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_append(&stale, sentence(table, "DELETE FROM ", " WHERE id IN ("));
    strbuf_append(&sql, sentence(table, "INSERT INTO ", " VALUES "));
    for (size_t i = 0; i < count; i++) {
        strbuf_format(&stale, "%s%lld", i > 0 ? ", " : "", (long long)changes[i].id);
        strbuf_text(&sql, i > 0 ? ", " : "");
        append_row(&sql, &changes[i], table->arena);
    }
    strbuf_char(&stale, ')');
    if (table->row_count > 0) {
        TRY(engine_execute_own(table->connection, strbuf_str(&stale), err));
    }
    return engine_execute_own(table->connection, strbuf_str(&sql), err);
}

#define COLUMNS                                                                                                        \
    " (id BIGINT, kind VARCHAR, environment VARCHAR, model VARCHAR,"                                                   \
    " windows STRUCT(\"start\" TIMESTAMP, \"end\" TIMESTAMP)[], rows_before BIGINT, rows_after BIGINT,"                \
    " measure VARCHAR, measure_old DOUBLE, measure_new DOUBLE, note VARCHAR, who VARCHAR, changed_at TIMESTAMPTZ,"     \
    " campaign BIGINT)"

static Status create(const ChangeTable *table, Error *err) {
    AUTO(strbuf) StrBuf schema = {0};
    strbuf_text(&schema, "CREATE SCHEMA IF NOT EXISTS ");
    sql_relation(&schema, (SqlRelation){.schema = table->relation.catalog, .name = table->relation.schema});
    TRY(engine_execute_own(table->connection, strbuf_str(&schema), err));
    return engine_execute_own(table->connection, sentence(table, "CREATE TABLE IF NOT EXISTS ", COLUMNS), err);
}

static Status insert_all(const ChangeTable *table, const ChangeRecordVec *changes, Error *err) {
    for (size_t i = 0; i < changes->count; i += ROWS_A_STATEMENT) {
        size_t rest = changes->count - i;
        TRY(insert_rows(table, &changes->items[i], rest < ROWS_A_STATEMENT ? rest : ROWS_A_STATEMENT, err));
    }
    return OK;
}

/* Rows that the table has already, after a crash before the state knew, are put again. */
static Status write(const ChangeTable *table, const ChangeRecordVec *changes, Error *err) {
    TRY(engine_begin(table->connection, err));
    if ((!table->is_there && failed(create(table, err))) || failed(insert_all(table, changes, err)) ||
        failed(test_hook("changes.publish", err))) {
        engine_rollback(table->connection);
        return FAILED;
    }
    return engine_commit(table->connection, err);
}

/* ---- Both. */

static Status update(Session *session, StateStore *state, StateLock *lock, int64_t count, int64_t unpublished,
                     Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    AUTO(engine_connection) EngineConnection *connection = NULL;
    Engine *engine = NULL;
    TRY(session_engine(session, false, &engine, err));
    if (!engine_database_exists(engine)) {
        return OK;
    }
    TRY(engine_connect(engine, &connection, err));
    ChangeTable table = {.connection = connection, .arena = arena};
    TRY(look(&table, err));
    bool has_lost = table.row_count < count - unpublished;
    if (unpublished == 0 && !has_lost && table.is_there) {
        return OK;
    }
    ChangeRecordVec changes = {0};
    ChangeFilter filter = {.unpublished = table.is_there && !has_lost, .oldest_first = true};
    TRY(state_load_changes(state, &filter, arena, &changes, err));
    TRY(write(&table, &changes, err));
    TRY(test_hook("changes.published", err));
    return unpublished == 0 ? OK : state_changes_published(state, lock, err);
}

Status change_table_update(Session *session, StateStore *state, StateLock *lock, Error *err) {
    int64_t count;
    int64_t unpublished;
    TRY(state_count_changes(state, &count, &unpublished, err));
    bool is_open = session->engine != NULL && !session->engine_is_read_only;
    if (unpublished == 0 && (count == 0 || !is_open)) {
        return OK;
    }
    return update(session, state, lock, count, unpublished, err);
}
