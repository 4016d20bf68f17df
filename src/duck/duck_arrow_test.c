/* Rows out and in as Arrow, without the IPC between. */
#include "duck/arrow_fixture.h"
#include "duck/duck_arrow.h"
#include "duck/duck_error.h"
#include "duck/duck_fixture.h"
#include "duck/duck_internal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/* Streams `query` on a second connection into table main.`table`, made from the stream's schema. Gives the rows. */
static int64_t copy_query(Fixture *f, const char *query, const char *table) {
    AUTO(duck_connection) DuckConnection *reader = NULL;
    AUTO(duck_stream) DuckStream *stream = NULL;
    AUTO(duck_appender) DuckAppender *appender = NULL;
    assert_ok(duck_connection_open(f->database, &reader, &f->err), &f->err);
    assert_ok(duck_stream_open(reader, str_from(query), &stream, &f->err), &f->err);

    struct ArrowSchema *schema = (struct ArrowSchema *)duck_stream_schema(stream);
    DuckColumnVec columns = {0};
    assert_ok(duck_begin(f->connection, &f->err), &f->err);
    assert_ok(duck_arrow_columns(f->connection, schema, f->arena, &columns, &f->err), &f->err);
    AUTO(strbuf) StrBuf create = {0};
    strbuf_format(&create, "CREATE TABLE %s (", table);
    for (size_t i = 0; i < columns.count; i++) {
        strbuf_format(&create, "%s\"" STR_FMT "\" " STR_FMT, i == 0 ? "" : ", ", STR_ARG(columns.items[i].name),
                      STR_ARG(columns.items[i].type));
    }
    strbuf_char(&create, ')');
    run_sql(f, strbuf_c(&create));

    assert_ok(duck_appender_open(f->connection, STR("main"), str_from(table), schema, &appender, &f->err), &f->err);
    while (true) {
        struct ArrowArray array;
        assert_ok(duck_stream_next(stream, &array, &f->err), &f->err);
        if (array.release == NULL) {
            break;
        }
        assert_ok(duck_appender_append(appender, &array, &f->err), &f->err);
        assert_null(array.release);
    }
    int64_t rows = -1;
    assert_ok(duck_appender_finish(appender, &rows, &f->err), &f->err);
    assert_ok(duck_commit(f->connection, &f->err), &f->err);
    return rows;
}

static void assert_same(Fixture *f, const char *left, const char *right) {
    Str sql = str_format(f->arena,
                         "SELECT count(*) FROM ((FROM %s EXCEPT ALL FROM %s) UNION ALL (FROM %s EXCEPT ALL FROM %s))",
                         left, right, right, left);
    assert_int_equal(query_number(f, str_to_c(f->arena, sql)), 0);
}

/* Expression, type that comes back (NULL: the same), both checked with NULLs between. */
static void every_type_comes_back(void **state) {
    Fixture *f = *state;
    run_sql(f, "CREATE TYPE mood AS ENUM ('a', 'b'); SET TimeZone = 'UTC'");
    static const struct {
        const char *value, *type;
    } cases[] = {
        {"i % 2 = 0", NULL},
        {"i::TINYINT", NULL},
        {"-i::SMALLINT", NULL},
        {"i::INTEGER", NULL},
        {"i::BIGINT - 9223372036854775807", NULL},
        {"i::UTINYINT", NULL},
        {"i::USMALLINT", NULL},
        {"i::UINTEGER", NULL},
        {"18446744073709551615::UBIGINT - i::UBIGINT", NULL},
        {"i::FLOAT / 3", NULL},
        {"CASE i WHEN 1 THEN 'nan'::DOUBLE WHEN 2 THEN 'inf'::DOUBLE ELSE i / 7 END", NULL},
        {"(i * 1.01)::DECIMAL(4,2)", NULL},
        {"(i * 1.01)::DECIMAL(18,3)", NULL},
        {"(i * 1.01)::DECIMAL(38,4)", NULL},
        {"99999999999999999999999999999999999999::HUGEINT - i", "DECIMAL(38,0)"},
        {"repeat('é', i::INT)", NULL},
        {"('\\x00\\xFF' || repeat('z', i::INT))::BLOB", NULL},
        {"DATE '2026-01-01' + i::INT", NULL},
        {"TIME '00:00:00.000001'", NULL},
        {"TIME_NS '00:00:00.000000001'", NULL},
        {"TIMESTAMP '2026-01-01 00:00:00.000001'", NULL},
        {"TIMESTAMP_S '2026-01-01 00:00:01'", NULL},
        {"TIMESTAMP_MS '2026-01-01 00:00:00.001'", NULL},
        {"TIMESTAMP_NS '2026-01-01 00:00:00.000000001'", NULL},
        {"TIMESTAMPTZ '2026-01-01 00:00:00+02'", NULL},
        {"INTERVAL (i) MONTH", NULL},
        {"uuid()", "VARCHAR"},
        {"'{\"a\": 1}'::JSON", "VARCHAR"},
        {"range(i)", NULL},
        {"[{'name': 'x', 'n': i}, NULL]", NULL},
        {"{'name': 'x', 'list': [i]}", NULL},
        {"MAP {i: 'x'}", NULL},
        {"[i, NULL, 3]::BIGINT[3]", NULL},
        {"CASE WHEN i % 2 = 0 THEN i::UNION(n BIGINT, t VARCHAR) ELSE 'x'::UNION(n BIGINT, t VARCHAR) END", NULL},
        {"'b'::mood", "VARCHAR"},
        {"['b'::mood]", "VARCHAR[]"},
        {"{'select': 'b'::mood, 'b': MAP {'k': '01'::BIT}, 'l': [1.5::DECIMAL(3,1)]}",
         "STRUCT(\"select\" VARCHAR, b MAP(VARCHAR, VARCHAR), l DECIMAL(3,1)[])"},
        {"'0101'::BIT", "VARCHAR"},
        {"TIMETZ '10:00:00+01'", "VARCHAR"},
        {"'[1]'::JSON::VARIANT", "VARCHAR"},
        {"NULL", "INTEGER"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Str query = str_format(f->arena,
                               "SELECT i, %s AS \"the value\" FROM range(7) r(i) WHERE i > 0 UNION ALL SELECT 0, NULL",
                               cases[i].value);
        Str source = str_format(f->arena, "CREATE TABLE source%zu AS " STR_FMT, i, STR_ARG(query));
        run_sql(f, str_to_c(f->arena, source));
        Str read = str_format(f->arena, "FROM source%zu -- all", i);
        Str copy = str_format(f->arena, "copy%zu", i);
        assert_int_equal(copy_query(f, str_to_c(f->arena, read), str_to_c(f->arena, copy)), 7);

        Str type = str_format(f->arena, "SELECT any_value(typeof(\"the value\")) FROM %s%zu",
                              cases[i].type ? "copy" : "source", i);
        Str copied = str_format(f->arena, "SELECT any_value(typeof(\"the value\")) FROM copy%zu", i);
        assert_str(query_text(f, str_to_c(f->arena, copied)),
                   cases[i].type ? cases[i].type : str_to_c(f->arena, query_text(f, str_to_c(f->arena, type))));
        assert_same(
            f,
            str_to_c(f->arena,
                     str_format(f->arena, "(SELECT * REPLACE (\"the value\"::%s AS \"the value\") FROM source%zu)",
                                cases[i].type ? cases[i].type : "VARCHAR", i)),
            str_to_c(f->arena,
                     str_format(f->arena, "(SELECT * REPLACE (\"the value\"::%s AS \"the value\") FROM copy%zu)",
                                cases[i].type ? cases[i].type : "VARCHAR", i)));
    }
}

static void many_chunks_come_back_whole(void **state) {
    Fixture *f = *state;
    run_sql(f, "CREATE TABLE source AS SELECT i, 'row ' || i AS t FROM range(300001) r(i)");
    assert_int_equal(copy_query(f, "FROM source", "copied"), 300001);
    assert_same(f, "source", "copied");
}

static void a_stream_without_rows_has_a_schema_and_ends(void **state) {
    Fixture *f = *state;
    assert_int_equal(copy_query(f, "SELECT 1 AS a, 'x' AS b, [1] AS c WHERE false", "none"), 0);
    assert_str(query_text(f, "SELECT column_name, column_type FROM (DESCRIBE none)"),
               "a|INTEGER;b|VARCHAR;c|INTEGER[]");
}

static void a_run_time_error_appears_in_the_stream(void **state) {
    Fixture *f = *state;
    AUTO(duck_stream) DuckStream *stream = NULL;
    Str sql =
        STR("SELECT CASE WHEN i = 200000 THEN error('row ' || i) ELSE i::VARCHAR END AS a FROM range(300000) r(i)");
    assert_ok(duck_stream_open(f->connection, sql, &stream, &f->err), &f->err);
    Status status = OK;
    while (!failed(status)) {
        struct ArrowArray array;
        status = duck_stream_next(stream, &array, &f->err);
        if (!failed(status)) {
            assert_non_null(array.release);
            array.release(&array);
        }
    }
    assert_str(f->err.message, "row 200000");
}

static void an_open_stream_occupies_its_connection(void **state) {
    Fixture *f = *state;
    DuckRows rows;
    DuckStream *stream = NULL;
    assert_ok(duck_stream_open(f->connection, STR("FROM range(100000)"), &stream, &f->err), &f->err);
    assert_failed(duck_query(f->connection, STR("SELECT 1"), f->arena, &rows, &f->err));
    assert_int_equal(f->err.kind, ERROR_INTERNAL);
    duck_stream_close(stream);
    assert_int_equal(query_number(f, "SELECT 1"), 1);
}

static void errors_of_a_stream_that_cannot_begin_are_placed(void **state) {
    Fixture *f = *state;
    DuckStream *stream = NULL;
    assert_failed(duck_stream_open(f->connection, STR("SELECT nothing FROM range(3)"), &stream, &f->err));
    assert_int_equal(f->err.sql_offset, 7);
    assert_int_equal(query_number(f, "SELECT 1"), 1);
}

typedef struct Interrupter {
    DuckConnection *connection;
    atomic_bool stop;
} Interrupter;

static void *interrupt_until_told(void *argument) {
    Interrupter *interrupter = argument;
    while (!atomic_load(&interrupter->stop)) {
        duck_interrupt(interrupter->connection);
        (void)usleep(2000);
    }
    return NULL;
}

static void an_interrupt_ends_a_stream(void **state) {
    Fixture *f = *state;
    AUTO(duck_stream) DuckStream *stream = NULL;
    assert_ok(duck_stream_open(f->connection, STR("FROM range(1000000000000)"), &stream, &f->err), &f->err);
    Interrupter interrupter = {.connection = f->connection};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, interrupt_until_told, &interrupter), 0);
    Status status = OK;
    while (!failed(status)) {
        struct ArrowArray array;
        status = duck_stream_next(stream, &array, &f->err);
        if (!failed(status)) {
            array.release(&array);
        }
    }
    atomic_store(&interrupter.stop, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(f->err.kind, ERROR_INTERRUPTED);
}

/* The engine does this to itself when one of its threads fails. */
static void interrupt_by_the_engine(Fixture *f, const char *query) {
    AUTO(duck_stream) DuckStream *stream = NULL;
    assert_ok(duck_stream_open(f->connection, str_from(query), &stream, &f->err), &f->err);
    Status status = OK;
    while (!failed(status)) {
        struct ArrowArray array;
        duckdb_interrupt(f->connection->handle);
        status = duck_stream_next(stream, &array, &f->err);
        if (!failed(status)) {
            assert_non_null(array.release);
            array.release(&array);
        }
    }
    assert_int_equal(f->err.kind, ERROR_EXECUTION);
    assert_str(f->err.sql, query);
}

static void an_interrupt_that_nobody_asked_for_tells_its_cause(void **state) {
    Fixture *f = *state;
    interrupt_by_the_engine(f,
                            "SELECT CASE WHEN range < 300000 THEN 1 ELSE CAST('not a ' || range AS INTEGER) END AS v "
                            "FROM range(300001)");
    assert_contains(f->err.message, "not a 300000");
    interrupt_by_the_engine(f, "FROM range(300000)");
    assert_contains(f->err.message, "does not tell why");
    assert_int_equal(query_number(f, "SELECT 1"), 1);

    assert_ok(duck_begin(f->connection, &f->err), &f->err);
    interrupt_by_the_engine(f, "FROM range(300000)");
    assert_contains(f->err.message, "does not tell why");
    duck_rollback(f->connection);
    assert_int_equal(query_number(f, "SELECT 1"), 1);
}

/* --- Arrow of others ---------------------------------------------------------------------------------------------- */

static struct ArrowArray *two_texts(Arena *arena, const char *data) {
    static const int32_t offsets[] = {0, 1, 2};
    return array_new(arena, 2, 0, BUFFERS(NULL, offsets, data), 0);
}

static void null_and_dictionary_columns_become_text(void **state) {
    Fixture *f = *state;
    struct ArrowSchema *dictionary = schema_new(f->arena, "c", "d", 0);
    dictionary->dictionary = schema_new(f->arena, "u", "", 0);
    struct ArrowSchema *list_of_null = schema_new(f->arena, "+l", "l", 1, schema_new(f->arena, "n", "item", 0));
    struct ArrowSchema *schema =
        schema_new(f->arena, "+s", "", 3, schema_new(f->arena, "n", "n", 0), dictionary, list_of_null);

    DuckColumnVec columns;
    assert_ok(duck_arrow_columns(f->connection, schema, f->arena, &columns, &f->err), &f->err);
    assert_str(columns.items[0].type, "VARCHAR");
    assert_str(columns.items[1].type, "VARCHAR");

    static const int8_t codes[] = {1, 0};
    static const int32_t list_offsets[] = {0, 1, 1};
    struct ArrowArray *nulls = array_new(f->arena, 2, 2, NO_BUFFERS, 0);
    struct ArrowArray *coded = array_new(f->arena, 2, 0, BUFFERS(NULL, codes), 0);
    coded->dictionary = two_texts(f->arena, "xy");
    live_arrays--; /* goes with `coded` */
    struct ArrowArray *item = array_new(f->arena, 1, 1, NO_BUFFERS, 0);
    struct ArrowArray *lists = array_new(f->arena, 2, 0, BUFFERS(NULL, list_offsets), 1, item);
    struct ArrowArray *batch = array_new(f->arena, 2, 0, NO_BUFFERS, 3, nulls, coded, lists);

    AUTO(duck_appender) DuckAppender *appender = NULL;
    int64_t rows = 0;
    assert_ok(duck_begin(f->connection, &f->err), &f->err);
    /* A table may have its own type for a column of nothing but NULL. */
    run_sql(f, "CREATE TABLE t (n DATE, d VARCHAR, l VARCHAR[])");
    assert_ok(duck_appender_open(f->connection, STR("main"), STR("t"), schema, &appender, &f->err), &f->err);
    assert_ok(duck_appender_append(appender, batch, &f->err), &f->err);
    assert_ok(duck_appender_finish(appender, &rows, &f->err), &f->err);
    assert_ok(duck_commit(f->connection, &f->err), &f->err);
    assert_int_equal(rows, 2);
    assert_str(query_text(f, "FROM t"), "NULL|y|[NULL];NULL|x|[]");
}

static void unsound_text_names_column_and_row_of_the_output(void **state) {
    Fixture *f = *state;
    struct ArrowSchema *schema = schema_new(f->arena, "+s", "", 1, schema_new(f->arena, "u", "city", 0));
    AUTO(duck_appender) DuckAppender *appender = NULL;
    assert_ok(duck_begin(f->connection, &f->err), &f->err);
    run_sql(f, "CREATE TABLE t (city VARCHAR)");
    assert_ok(duck_appender_open(f->connection, STR("main"), STR("t"), schema, &appender, &f->err), &f->err);
    int live = live_arrays;
    struct ArrowArray *good = array_new(f->arena, 2, 0, NO_BUFFERS, 1, two_texts(f->arena, "ab"));
    struct ArrowArray *bad = array_new(f->arena, 2, 0, NO_BUFFERS, 1, two_texts(f->arena, "c\xFF"));
    assert_ok(duck_appender_append(appender, good, &f->err), &f->err);
    assert_failed(duck_appender_append(appender, bad, &f->err));
    assert_contains(f->err.message, "column 'city' has text in row 4");
    assert_int_equal(live_arrays, live);
    assert_failed(duck_commit(f->connection, &f->err));
}

static void rows_of_an_unfinished_appender_cannot_be_committed(void **state) {
    Fixture *f = *state;
    struct ArrowSchema *schema = schema_new(f->arena, "+s", "", 1, schema_new(f->arena, "u", "a", 0));
    run_sql(f, "CREATE TABLE t (a VARCHAR)");
    DuckAppender *appender = NULL;
    assert_ok(duck_begin(f->connection, &f->err), &f->err);
    assert_ok(duck_appender_open(f->connection, STR("main"), STR("t"), schema, &appender, &f->err), &f->err);
    struct ArrowArray *batch = array_new(f->arena, 2, 0, NO_BUFFERS, 1, two_texts(f->arena, "ab"));
    assert_ok(duck_appender_append(appender, batch, &f->err), &f->err);
    duck_appender_close(appender);
    assert_failed(duck_commit(f->connection, &f->err));
    assert_int_equal(query_number(f, "SELECT count(*) FROM t"), 0);
}

static void an_appender_needs_a_transaction_and_its_table(void **state) {
    Fixture *f = *state;
    DuckAppender *appender = NULL;
    struct ArrowSchema *schema = schema_new(f->arena, "+s", "", 1, schema_new(f->arena, "u", "a", 0));
    assert_failed(duck_appender_open(f->connection, STR("main"), STR("t"), schema, &appender, &f->err));
    assert_int_equal(f->err.kind, ERROR_INTERNAL);

    assert_ok(duck_begin(f->connection, &f->err), &f->err);
    assert_failed(duck_appender_open(f->connection, STR("main"), STR("t"), schema, &appender, &f->err));
    assert_contains(f->err.message, "could not be found");
    duck_rollback(f->connection);

    assert_ok(duck_begin(f->connection, &f->err), &f->err);
    run_sql(f, "CREATE TABLE t (a VARCHAR, b INTEGER)");
    assert_failed(duck_appender_open(f->connection, STR("main"), STR("t"), schema, &appender, &f->err));
    assert_contains(f->err.message, "table 'main.t' has 2 columns, the rows have 1");
}

static void a_constraint_of_the_table_fails_the_append(void **state) {
    Fixture *f = *state;
    struct ArrowSchema *schema = schema_new(f->arena, "+s", "", 1, schema_new(f->arena, "u", "a", 0));
    run_sql(f, "CREATE TABLE t (a VARCHAR PRIMARY KEY)");
    AUTO(duck_appender) DuckAppender *appender = NULL;
    int64_t rows = 0;
    assert_ok(duck_begin(f->connection, &f->err), &f->err);
    assert_ok(duck_appender_open(f->connection, STR("main"), STR("t"), schema, &appender, &f->err), &f->err);
    struct ArrowArray *batch = array_new(f->arena, 2, 0, NO_BUFFERS, 1, two_texts(f->arena, "aa"));
    assert_ok(duck_appender_append(appender, batch, &f->err), &f->err);
    assert_failed(duck_appender_finish(appender, &rows, &f->err));
    assert_contains(f->err.message, "uplicate key");
    assert_failed(duck_commit(f->connection, &f->err));
    assert_int_equal(query_number(f, "SELECT count(*) FROM t"), 0);
}

static void running_out_of_memory_while_appending_is_told(void **state) {
    Fixture *f = *state;
    enum { ROWS = 100000 };
    struct ArrowSchema *schema = schema_new(f->arena, "+s", "", 1, schema_new(f->arena, "l", "a", 0));
    int64_t *values = ARENA_NEW_ARRAY(f->arena, int64_t, ROWS);
    for (int64_t i = 0; i < ROWS; i++) {
        values[i] = i * 7919 * 7919 * 104729;
    }
    AUTO(duck_appender) DuckAppender *appender = NULL;
    run_sql(f, "SET GLOBAL memory_limit = '10MB'; SET GLOBAL temp_directory = ''");
    assert_ok(duck_begin(f->connection, &f->err), &f->err);
    run_sql(f, "CREATE TABLE t (a BIGINT)");
    assert_ok(duck_appender_open(f->connection, STR("main"), STR("t"), schema, &appender, &f->err), &f->err);
    Status status = OK;
    for (int i = 0; i < 1000 && !failed(status); i++) {
        struct ArrowArray *numbers = array_new(f->arena, ROWS, 0, BUFFERS(NULL, values), 0);
        status = duck_appender_append(appender, array_new(f->arena, ROWS, 0, NO_BUFFERS, 1, numbers), &f->err);
    }
    assert_failed(status);
    assert_true(duck_error_is_out_of_memory(&f->err));
    duck_appender_close(TAKE(appender));
    duck_rollback(f->connection);
    assert_int_equal(query_number(f, "SELECT count(*) FROM duckdb_tables()"), 0);
}

static void columns_that_cannot_be_taken_are_named(void **state) {
    Fixture *f = *state;
    DuckColumnVec columns;
    struct ArrowSchema *half =
        schema_new(f->arena, "+s", "", 2, schema_new(f->arena, "l", "a", 0), schema_new(f->arena, "e", "half", 0));
    assert_failed(duck_arrow_columns(f->connection, half, f->arena, &columns, &f->err));
    assert_contains(f->err.message, "column 'half'");
    assert_contains(f->err.message, "Unsupported");
    struct ArrowSchema *twice =
        schema_new(f->arena, "+s", "", 2, schema_new(f->arena, "l", "Id", 0), schema_new(f->arena, "l", "id", 0));
    assert_failed(duck_arrow_columns(f->connection, twice, f->arena, &columns, &f->err));
    assert_contains(f->err.message, "two columns are named 'id'");
    struct ArrowSchema *unnamed = schema_new(f->arena, "+s", "", 1, schema_new(f->arena, "l", "", 0));
    assert_failed(duck_arrow_columns(f->connection, unnamed, f->arena, &columns, &f->err));
    assert_contains(f->err.message, "column 1 has no name");
}

/* Arrow format and the type it is given. */
static void formats_of_other_programs_have_types(void **state) {
    Fixture *f = *state;
    static const struct {
        const char *format, *type;
    } cases[] = {
        {"U", "VARCHAR"},         {"Z", "BLOB"},
        {"w:4", "BLOB"},          {"tdm", "DATE"},
        {"tts", "TIME"},          {"ttn", "TIME_NS"},
        {"tsn:", "TIMESTAMP_NS"}, {"tsu:Europe/Berlin", "TIMESTAMP WITH TIME ZONE"},
        {"tDm", "INTERVAL"},      {"d:7,2", "DECIMAL(7,2)"},
        {"L", "UBIGINT"},         {"b", "BOOLEAN"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        DuckColumnVec columns;
        struct ArrowSchema *schema = schema_new(f->arena, "+s", "", 1, schema_new(f->arena, cases[i].format, "a", 0));
        assert_ok(duck_arrow_columns(f->connection, schema, f->arena, &columns, &f->err), &f->err);
        assert_str(columns.items[0].type, cases[i].type);
    }
}

int main(void) {
#define FIXTURE_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(every_type_comes_back),
        FIXTURE_TEST(many_chunks_come_back_whole),
        FIXTURE_TEST(a_stream_without_rows_has_a_schema_and_ends),
        FIXTURE_TEST(a_run_time_error_appears_in_the_stream),
        FIXTURE_TEST(an_open_stream_occupies_its_connection),
        FIXTURE_TEST(errors_of_a_stream_that_cannot_begin_are_placed),
        FIXTURE_TEST(an_interrupt_ends_a_stream),
        FIXTURE_TEST(an_interrupt_that_nobody_asked_for_tells_its_cause),
        FIXTURE_TEST(null_and_dictionary_columns_become_text),
        FIXTURE_TEST(unsound_text_names_column_and_row_of_the_output),
        FIXTURE_TEST(rows_of_an_unfinished_appender_cannot_be_committed),
        FIXTURE_TEST(an_appender_needs_a_transaction_and_its_table),
        FIXTURE_TEST(a_constraint_of_the_table_fails_the_append),
        FIXTURE_TEST(running_out_of_memory_while_appending_is_told),
        FIXTURE_TEST(columns_that_cannot_be_taken_are_named),
        FIXTURE_TEST(formats_of_other_programs_have_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
