/* A DuckLake with each of its catalogs in files: what is made, who waits for whom, what it refuses. */
#include "base/files.h"
#include "engine/engine_fixture.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static int open_duckdb_lake(void **state) {
    return ground_open(state, STR("ducklake"), STR("ducklake:sub/lake.ducklake"));
}

static int open_sqlite_lake(void **state) {
    return ground_open(state, STR("ducklake"), STR("ducklake:sqlite:sub/lake.sqlite"));
}

/* --- Opening ------------------------------------------------------------------------------------------------------ */

static void a_lake_is_made_read_and_opened_again(void **state) {
    Ground *g = *state;
    assert_false(engine_database_exists(g->engine));
    StrVec schemas = {0};
    str_vec_push(g->arena, &schemas, STR("interlace__silver"));
    str_vec_push(g->arena, &schemas, STR("silver"));
    EngineConnection *connection = ground_connect(g);
    assert_true(engine_database_exists(g->engine));
    assert_ok(engine_create_schemas(connection, &schemas, &g->err), &g->err);
    assert_ok(engine_begin(connection, &g->err), &g->err);
    assert_int_equal(
        changed(g, connection, "CREATE TABLE interlace__silver.o__0a AS SELECT range AS id FROM range(20)"), 20);
    run(g, connection, "CREATE OR REPLACE VIEW silver.o AS SELECT * FROM interlace__silver.o__0a");
    assert_int_equal(changed(g, connection, "DELETE FROM interlace__silver.o__0a WHERE id >= 15"), 5);
    assert_ok(engine_commit(connection, &g->err), &g->err);
    engine_release(connection);

    g->options.read_only = true;
    ground_reopen(g, NULL);
    connection = ground_connect(g);
    assert_int_equal(number(g, connection, "SELECT count(*) FROM silver.o"), 15);
    assert_str(columns_text(g, connection, "", "silver", "o"), "id BIGINT");
    assert_str(columns_text(g, connection, "shop", "silver", "O"), "id BIGINT");
    assert_str(columns_text(g, connection, "", "silver", "p"), "absent");
    assert_str(columns_text(g, connection, "", "none", "p"), "absent");
    run_failing(g, connection, "CREATE TABLE silver.t (a INT)");
    assert_contains(g->err.message, "read-only");

    EngineCatalog *catalog;
    EngineViewVec views;
    assert_ok(engine_catalog_load(connection, g->arena, &catalog, &g->err), &g->err);
    SqlRelation table = {.schema = STR("interlace__silver"), .name = STR("O__0A")};
    assert_int_equal(engine_catalog_kind(catalog, table), RELATION_TABLE);
    assert_ok(engine_environment_views(connection, g->arena, &views, &g->err), &g->err);
    assert_int_equal(views.count, 1);
    assert_str(views.items[0].schema, "silver");
    assert_str(views.items[0].target.name, "o__0a");
    engine_release(connection);
}

static void reading_makes_no_lake(void **state) {
    Ground *g = *state;
    EngineConnection *connection = NULL;
    g->options.read_only = true;
    ground_reopen(g, NULL);
    assert_failed(engine_connect(g->engine, &connection, &g->err));
    assert_int_equal(g->err.kind, ERROR_CONFIGURATION);
    assert_contains(g->err.message, "does not exist");
    assert_false(file_exists(path_directory(g->config.database_path)));
}

static void data_and_metadata_go_where_the_configuration_says(void **state) {
    Ground *g = *state;
    g->config.data_path = path_join(g->arena, g->folder, STR("it's/data"));
    g->config.metadata_schema = STR("meta");
    ground_reopen(g, NULL);
    EngineConnection *connection = ground_connect(g);
    run(g, connection, "CREATE TABLE t AS SELECT range AS a FROM range(1000)");
    assert_int_equal(number(g, connection, "SELECT count(*) FROM __ducklake_metadata_shop.meta.ducklake_snapshot"), 2);
    engine_release(connection);
    FileEntryVec files = {0};
    assert_ok(directory_walk(g->config.data_path, STR("."), g->arena, &files, &g->err), &g->err);
    assert_true(files.count > 0);
}

static void a_schema_named_like_the_lake_is_refused(void **state) {
    Ground *g = *state;
    StrVec schemas = {0};
    str_vec_push(g->arena, &schemas, STR("Shop"));
    EngineConnection *connection = ground_connect(g);
    assert_failed(engine_create_schemas(connection, &schemas, &g->err));
    assert_contains(g->err.message, "schema 'Shop' has the name of the database");
    assert_contains(g->err.hint, "alias");
    engine_release(connection);
}

static void a_lake_held_by_another_process_names_it(void **state) {
    Ground *g = *state;
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    (void)fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        EngineConnection *held = NULL;
        Status status = engine_connect(g->engine, &held, &g->err);
        (void)!write(ready[1], failed(status) ? "n" : "y", 1);
        (void)pause();
        _exit(0);
    }
    char answer = 0;
    assert_int_equal(read(ready[0], &answer, 1), 1);
    EngineConnection *connection = NULL;
    Status status = engine_connect(g->engine, &connection, &g->err);
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
    (void)close(ready[0]);
    (void)close(ready[1]);

    assert_int_equal(answer, 'y');
    assert_failed(status);
    assert_int_equal(g->err.kind, ERROR_CONFIGURATION);
    assert_str(error_detail_find(&g->err, STR("code")), "warehouse.locked");
    Str holder = str_format(g->arena, "is in use by process %d", (int)child);
    assert_contains(g->err.message, str_to_c(g->arena, holder));
    assert_contains(g->err.message, str_to_c(g->arena, g->config.database_path));
}

/* --- One writer --------------------------------------------------------------------------------------------------- */

typedef struct Writer {
    Ground *ground;
    pthread_t thread;
    const char *sql;
    bool in_transaction;
    atomic_bool has_begun; /* is about to ask for its turn */
    atomic_bool is_done;
    bool failed;
    ErrorKind kind;
} Writer;

static void *write_in_turn(void *argument) {
    Writer *writer = argument;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err;
    error_init(&err);
    AUTO(engine_connection) EngineConnection *connection = NULL;
    writer->failed = failed(engine_connect(writer->ground->engine, &connection, &err));
    SqlText sql = sql_text_own(arena, str_from(writer->sql));
    atomic_store(&writer->has_begun, true);
    if (!writer->failed && writer->in_transaction) {
        writer->failed = failed(engine_begin(connection, &err));
    }
    writer->failed = writer->failed || failed(engine_execute(connection, &sql, NULL, &err));
    if (!writer->failed && writer->in_transaction) {
        writer->failed = failed(engine_commit(connection, &err));
    }
    writer->kind = err.kind;
    atomic_store(&writer->is_done, true);
    return NULL;
}

static void start(Writer *writer) {
    assert_int_equal(pthread_create(&writer->thread, NULL, write_in_turn, writer), 0);
    while (!atomic_load(&writer->has_begun)) {
        (void)usleep(1000);
    }
}

static void writers_wait_for_each_other_and_readers_do_not(void **state) {
    Ground *g = *state;
    EngineConnection *first = ground_connect(g);
    EngineConnection *reader = ground_connect(g);
    run(g, first, "CREATE TABLE t AS SELECT 1 AS a");
    assert_ok(engine_begin(first, &g->err), &g->err);
    run(g, first, "DELETE FROM t");
    Writer writers[] = {
        {.ground = g, .sql = "INSERT INTO t VALUES (2)", .in_transaction = true},
        {.ground = g, .sql = "INSERT INTO t VALUES (3)"},
    };
    for (size_t i = 0; i < COUNT_OF(writers); i++) {
        start(&writers[i]);
    }
    (void)usleep(100000); /* time enough to go ahead, if nothing held them */
    assert_int_equal(number(g, reader, "SELECT count(*) FROM t"), 1);
    assert_ok(engine_begin_read_only(reader, &g->err), &g->err);
    assert_int_equal(number(g, reader, "SELECT count(*) FROM t"), 1);
    assert_false(atomic_load(&writers[0].is_done));
    assert_false(atomic_load(&writers[1].is_done));

    assert_ok(engine_commit(first, &g->err), &g->err);
    for (size_t i = 0; i < COUNT_OF(writers); i++) {
        assert_int_equal(pthread_join(writers[i].thread, NULL), 0);
        assert_false(writers[i].failed);
    }
    assert_ok(engine_commit(reader, &g->err), &g->err);
    assert_int_equal(number(g, reader, "SELECT sum(a) FROM t"), 5);
    engine_release(first);
    engine_release(reader);
}

static void a_waiting_writer_can_be_interrupted(void **state) {
    Ground *g = *state;
    EngineConnection *first = ground_connect(g);
    assert_ok(engine_begin(first, &g->err), &g->err);
    run(g, first, "CREATE TABLE t (a INT)");
    Writer writer = {.ground = g, .sql = "CREATE TABLE u (a INT)", .in_transaction = true};
    start(&writer);
    engine_interrupt_all(g->engine);
    assert_int_equal(pthread_join(writer.thread, NULL), 0);
    assert_true(writer.failed);
    assert_int_equal(writer.kind, ERROR_INTERRUPTED);
    engine_resume(g->engine);
    engine_release(first); /* rolls back, and gives the turn back */

    EngineConnection *next = ground_connect(g);
    run(g, next, "CREATE TABLE u (a INT)");
    assert_str(columns_text(g, next, "", "main", "t"), "absent");
    engine_release(next);
}

static void a_release_waits_for_no_statement(void **state) {
    Ground *g = *state;
    EngineConnection *idle = ground_connect(g);
    Writer endless = {
        .ground = g,
        .sql = "SELECT count(*) FROM range(1000000) a, range(10000000) b WHERE hash(a.range, b.range) = 1",
    };
    start(&endless);
    (void)usleep(100000); /* time enough to be in the statement */
    engine_release(idle);
    assert_false(atomic_load(&endless.is_done));
    while (!atomic_load(&endless.is_done)) {
        engine_interrupt_all(g->engine);
        (void)usleep(1000);
    }
    assert_int_equal(pthread_join(endless.thread, NULL), 0);
    assert_int_equal(endless.kind, ERROR_INTERRUPTED);
}

static void the_turn_is_given_back_after_failures(void **state) {
    Ground *g = *state;
    EngineConnection *first = ground_connect(g);
    EngineConnection *second = ground_connect(g);
    run_failing(g, first, "SELECT nothing");
    assert_ok(engine_begin(second, &g->err), &g->err);
    run_failing(g, second, "CREATE TABLE x AS SELECT error('no')");
    assert_failed(engine_commit(second, &g->err));
    assert_ok(engine_begin(first, &g->err), &g->err);
    engine_rollback(first);
    run(g, second, "CREATE TABLE t (a INT)");
    engine_release(first);
    engine_release(second);
}

enum { BUILDER_COUNT = 6, ROUND_COUNT = 4 };

typedef struct Builder {
    Ground *ground;
    pthread_t thread;
    int index;
    bool failed;
} Builder;

static void *build_in_rounds(void *argument) {
    Builder *builder = argument;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err;
    error_init(&err);
    AUTO(engine_connection) EngineConnection *connection = NULL;
    builder->failed = failed(engine_connect(builder->ground->engine, &connection, &err));
    SqlText read = sql_text_own(arena, STR("SELECT count(*) FROM seed"));
    for (int round = 0; round < ROUND_COUNT && !builder->failed; round++) {
        int64_t count = 0;
        SqlText sql =
            sql_text_own(arena, str_format(arena,
                                           "CREATE TABLE interlace__s.t%d__%d AS FROM seed;"
                                           "CREATE OR REPLACE VIEW s.t%d AS SELECT * FROM interlace__s.t%d__%d",
                                           builder->index, round, builder->index, builder->index, round));
        builder->failed =
            failed(engine_query_int(connection, &read, &count, &err)) || failed(engine_begin(connection, &err)) ||
            failed(engine_execute(connection, &sql, NULL, &err)) || failed(engine_commit(connection, &err));
    }
    if (builder->failed) {
        print_error(STR_FMT "\n", STR_ARG(err.message));
    }
    return NULL;
}

static void parallel_builders_leave_no_table_astray_and_lose_no_view(void **state) {
    Ground *g = *state;
    EngineConnection *connection = ground_connect(g);
    run(g, connection,
        "CREATE SCHEMA interlace__s; CREATE SCHEMA s; CREATE TABLE seed AS SELECT range AS a FROM range(99)");
    Builder builders[BUILDER_COUNT];
    for (int i = 0; i < BUILDER_COUNT; i++) {
        builders[i] = (Builder){.ground = g, .index = i};
        assert_int_equal(pthread_create(&builders[i].thread, NULL, build_in_rounds, &builders[i]), 0);
    }
    for (int i = 0; i < BUILDER_COUNT; i++) {
        assert_int_equal(pthread_join(builders[i].thread, NULL), 0);
        assert_false(builders[i].failed);
    }
    EngineCatalog *catalog;
    EngineViewVec views;
    assert_ok(engine_catalog_load(connection, g->arena, &catalog, &g->err), &g->err);
    assert_ok(engine_environment_views(connection, g->arena, &views, &g->err), &g->err);
    assert_int_equal(views.count, BUILDER_COUNT);
    assert_int_equal(number(g, connection,
                            "SELECT count(*) FROM duckdb_tables() WHERE database_name = 'shop'"
                            " AND schema_name = 'interlace__s'"),
                     BUILDER_COUNT * ROUND_COUNT);
    assert_int_equal(number(g, connection,
                            "SELECT count(*) FROM duckdb_tables() WHERE database_name = 'shop'"
                            " AND schema_name = 'main'"),
                     1);
    for (size_t i = 0; i < views.count; i++) {
        Str last = str_format(g->arena, STR_FMT "__%d", STR_ARG(views.items[i].name), ROUND_COUNT - 1);
        assert_str(views.items[i].target.name, str_to_c(g->arena, last));
    }
    engine_release(connection);
}

/* --- What it can -------------------------------------------------------------------------------------------------- */

static void columns_it_cannot_store_are_named(void **state) {
    Ground *g = *state;
    EngineConnection *connection = ground_connect(g);
    DuckColumnVec columns;
    SqlText good = sql_text_own(g->arena, STR("SELECT 1 AS a, [1] AS b"));
    SqlText bad = sql_text_own(g->arena, STR("SELECT 1 AS a, 'x'::ENUM('x') AS kind"));
    assert_ok(engine_describe(connection, &good, g->arena, &columns, &g->err), &g->err);
    assert_ok(engine_check_columns(g->engine, &columns, &g->err), &g->err);
    assert_ok(engine_describe(connection, &bad, g->arena, &columns, &g->err), &g->err);
    assert_failed(engine_check_columns(g->engine, &columns, &g->err));
    assert_contains(g->err.message, "column 'kind' is of type ENUM('x')");
    engine_release(connection);
}

/* Another writer beside ours: its commit between our begin and our commit. */
static void a_lost_race_is_a_conflict(void **state) {
    Ground *g = *state;
    EngineConnection *ours = ground_connect(g);
    EngineConnection *other = ground_connect(g);
    run(g, ours, "CREATE TABLE t AS SELECT range AS a FROM range(100)");
    assert_ok(engine_begin(ours, &g->err), &g->err);
    run(g, ours, "DELETE FROM t WHERE a = 1");
    DuckConnection *unheld = engine_connection_duck(other); /* past the turn, as another process would be */
    assert_ok(duck_execute(unheld, STR("DELETE FROM t WHERE a = 2"), NULL, &g->err), &g->err);
    assert_failed(engine_commit(ours, &g->err));
    assert_true(engine_error_is_conflict(&g->err));
    assert_false(engine_capabilities(g->engine)->parallel_writers);
    engine_release(ours);
    engine_release(other);
}

int main(void) {
#define DUCKDB_LAKE_TEST(name) cmocka_unit_test_setup_teardown(name, open_duckdb_lake, ground_close)
#define SQLITE_LAKE_TEST(name)                                                                                         \
    { #name "_in_sqlite", name, open_sqlite_lake, ground_close, NULL }
    const struct CMUnitTest tests[] = {
        /* First the one that forks: no thread of the engine may be there yet. */
        DUCKDB_LAKE_TEST(a_lake_held_by_another_process_names_it),
        DUCKDB_LAKE_TEST(a_lake_is_made_read_and_opened_again),
        SQLITE_LAKE_TEST(a_lake_is_made_read_and_opened_again),
        DUCKDB_LAKE_TEST(reading_makes_no_lake),
        SQLITE_LAKE_TEST(reading_makes_no_lake),
        DUCKDB_LAKE_TEST(data_and_metadata_go_where_the_configuration_says),
        DUCKDB_LAKE_TEST(a_schema_named_like_the_lake_is_refused),
        DUCKDB_LAKE_TEST(writers_wait_for_each_other_and_readers_do_not),
        SQLITE_LAKE_TEST(writers_wait_for_each_other_and_readers_do_not),
        DUCKDB_LAKE_TEST(parallel_builders_leave_no_table_astray_and_lose_no_view),
        DUCKDB_LAKE_TEST(a_waiting_writer_can_be_interrupted),
        DUCKDB_LAKE_TEST(a_release_waits_for_no_statement),
        DUCKDB_LAKE_TEST(the_turn_is_given_back_after_failures),
        DUCKDB_LAKE_TEST(columns_it_cannot_store_are_named),
        DUCKDB_LAKE_TEST(a_lost_race_is_a_conflict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
