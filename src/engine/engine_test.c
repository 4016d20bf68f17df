/* The pool, the catalog questions and the way of an error back to its file, on the DuckDB engine. */
#include "base/files.h"
#include "engine/engine_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static int open_ground(void **state) {
    return ground_open(state, STR("duckdb"), STR("w.duckdb"));
}

/* --- Life --------------------------------------------------------------------------------------------------------- */

static void nothing_is_opened_before_the_first_connection(void **state) {
    Ground *g = *state;
    assert_false(engine_database_exists(g->engine));
    assert_str(engine_name(g->engine), "default");
    assert_true(engine_capabilities(g->engine)->transactions);
    assert_false(file_exists(g->config.database_path));
    engine_release(ground_connect(g));
    assert_true(engine_database_exists(g->engine));
}

static void types_that_are_not_there_are_refused(void **state) {
    Ground *g = *state;
    Engine *engine = NULL;
    g->config.type = STR("spark");
    assert_failed(engine_create(&g->options, &engine, &g->err));
    assert_contains(g->err.message, "spark");
}

static void a_failed_opening_is_tried_again(void **state) {
    Ground *g = *state;
    EngineConnection *connection = NULL;
    g->options.read_only = true;
    Engine *reader = NULL;
    assert_ok(engine_create(&g->options, &reader, &g->err), &g->err);
    assert_failed(engine_connect(reader, &connection, &g->err));
    assert_contains(g->err.message, "does not exist");

    engine_release(ground_connect(g));
    engine_destroy(TAKE(g->engine));
    g->options.read_only = false;
    assert_ok(engine_connect(reader, &connection, &g->err), &g->err);
    run_failing(g, connection, "CREATE TABLE t (a INT)");
    engine_release(connection);
    engine_destroy(reader);
}

static void settings_and_attachments_are_there_for_all_connections(void **state) {
    Ground *g = *state;
    Str crm = path_join(g->arena, g->folder, STR("crm.duckdb"));
    AUTO(duck_database) DuckDatabase *other = NULL;
    AUTO(duck_connection) DuckConnection *writer = NULL;
    DuckOpenOptions open = {.path = crm};
    assert_ok(duck_database_open(&open, &other, &g->err), &g->err);
    assert_ok(duck_connection_open(other, &writer, &g->err), &g->err);
    assert_ok(duck_execute(writer, STR("CREATE TABLE t AS SELECT 42 AS a"), NULL, &g->err), &g->err);
    duck_connection_close(TAKE(writer));
    duck_database_close(TAKE(other));

    config_setting_vec_push(g->arena, &g->config.settings, (ConfigSetting){STR("threads"), STR("2")});
    attach_config_vec_push(g->arena, &g->config.attach, (AttachConfig){.alias = STR("crm"), .uri = crm});
    AUTO(engine_connection) EngineConnection *first = ground_connect(g);
    AUTO(engine_connection) EngineConnection *second = ground_connect(g);
    assert_int_equal(number(g, first, "SELECT current_setting('threads')"), 2);
    assert_int_equal(number(g, second, "SELECT a FROM crm.t"), 42);
    engine_release(TAKE(first));
    engine_release(TAKE(second));
}

static void a_missing_attachment_has_the_place_of_its_line(void **state) {
    Ground *g = *state;
    EngineConnection *connection = NULL;
    AttachConfig attachment = {
        .alias = STR("crm"),
        .uri = path_join(g->arena, g->folder, STR("none.duckdb")),
        .place = {.file = STR("interlace.yaml"), .line = 4, .column = 3},
    };
    attach_config_vec_push(g->arena, &g->config.attach, attachment);
    assert_failed(engine_connect(g->engine, &connection, &g->err));
    assert_int_equal(g->err.kind, ERROR_CONFIGURATION);
    assert_int_equal(g->err.place.line, 4);
}

/* --- The pool ----------------------------------------------------------------------------------------------------- */

static void a_released_connection_is_used_again_without_its_transaction(void **state) {
    Ground *g = *state;
    EngineConnection *first = ground_connect(g);
    run(g, first, "CREATE TABLE t (a INT)");
    assert_ok(engine_begin(first, &g->err), &g->err);
    run(g, first, "INSERT INTO t VALUES (1)");
    engine_release(first);

    EngineConnection *again = ground_connect(g);
    assert_ptr_equal(again, first);
    assert_int_equal(number(g, again, "SELECT count(*) FROM t"), 0);
    EngineConnection *other = ground_connect(g);
    assert_ptr_not_equal(other, again);
    engine_release(again);
    engine_release(other);
}

enum { BUILDER_COUNT = 4 };

typedef struct Builder {
    Ground *ground;
    pthread_t thread;
    int index;
    bool failed;
    ErrorKind kind;
    atomic_int *running;
} Builder;

static void *build_table(void *argument) {
    Builder *builder = argument;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err;
    error_init(&err);
    AUTO(engine_connection) EngineConnection *connection = NULL;
    builder->failed = failed(engine_connect(builder->ground->engine, &connection, &err));
    for (int i = 0; i < 10 && !builder->failed; i++) {
        SqlText sql =
            sql_text_own(arena, str_format(arena, "CREATE TABLE t%d_%d AS FROM range(100)", builder->index, i));
        builder->failed = failed(engine_begin(connection, &err)) ||
                          failed(engine_execute(connection, &sql, NULL, &err)) ||
                          failed(engine_commit(connection, &err));
    }
    return NULL;
}

static void builders_work_side_by_side_from_a_cold_start(void **state) {
    Ground *g = *state;
    Builder builders[BUILDER_COUNT];
    for (int i = 0; i < BUILDER_COUNT; i++) {
        builders[i] = (Builder){.ground = g, .index = i};
        assert_int_equal(pthread_create(&builders[i].thread, NULL, build_table, &builders[i]), 0);
    }
    for (int i = 0; i < BUILDER_COUNT; i++) {
        assert_int_equal(pthread_join(builders[i].thread, NULL), 0);
        assert_false(builders[i].failed);
    }
    EngineConnection *connection = ground_connect(g);
    assert_int_equal(number(g, connection, "SELECT count(*) FROM duckdb_tables()"), BUILDER_COUNT * 10);
    engine_release(connection);
}

static void *build_forever(void *argument) {
    Builder *builder = argument;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err;
    error_init(&err);
    AUTO(engine_connection) EngineConnection *connection = NULL;
    builder->failed = failed(engine_connect(builder->ground->engine, &connection, &err));
    SqlText sql = sql_text_own(
        arena, STR("SELECT count(*) FROM range(1000000) a, range(10000000) b WHERE hash(a.range, b.range) = 1"));
    (void)atomic_fetch_add(builder->running, 1);
    int64_t count = 0;
    builder->failed = failed(engine_query_int(connection, &sql, &count, &err));
    builder->kind = err.kind;
    (void)atomic_fetch_sub(builder->running, 1);
    return NULL;
}

static void interrupting_all_ends_every_statement_and_lets_none_begin(void **state) {
    Ground *g = *state;
    atomic_int running = 0;
    Builder builders[BUILDER_COUNT];
    for (int i = 0; i < BUILDER_COUNT; i++) {
        builders[i] = (Builder){.ground = g, .running = &running};
        assert_int_equal(pthread_create(&builders[i].thread, NULL, build_forever, &builders[i]), 0);
    }
    while (atomic_load(&running) < BUILDER_COUNT) {
        (void)usleep(1000);
    }
    while (atomic_load(&running) > 0) {
        engine_interrupt_all(g->engine);
        (void)usleep(1000);
    }
    for (int i = 0; i < BUILDER_COUNT; i++) {
        assert_int_equal(pthread_join(builders[i].thread, NULL), 0);
        assert_true(builders[i].failed);
        assert_int_equal(builders[i].kind, ERROR_INTERRUPTED);
    }

    EngineConnection *connection = ground_connect(g);
    SqlText sql = sql_text_own(g->arena, STR("SELECT 1"));
    int64_t one = 0;
    assert_failed(engine_query_int(connection, &sql, &one, &g->err));
    assert_int_equal(g->err.kind, ERROR_INTERRUPTED);
    engine_resume(g->engine);
    assert_int_equal(number(g, connection, "SELECT 1"), 1);
    engine_release(connection);
}

/* --- Statements --------------------------------------------------------------------------------------------------- */

static void errors_have_the_place_the_user_wrote(void **state) {
    Ground *g = *state;
    SourceFile file = {.path = STR("models/a.sql"), .content = STR("SELECT 'é' AS x,\n  amont\nFROM range(3)")};
    SqlText parts[] = {
        sql_text_own(g->arena, STR("CREATE TABLE \"t\" AS ")),
        sql_text_from_file(g->arena, &file, 0, file.content.size),
    };
    SqlText sql = sql_text_concat(g->arena, parts, COUNT_OF(parts));
    EngineConnection *connection = ground_connect(g);
    assert_failed(engine_execute(connection, &sql, NULL, &g->err));
    assert_int_equal(g->err.kind, ERROR_EXECUTION);
    assert_str(g->err.place.file, "models/a.sql");
    assert_int_equal(g->err.place.line, 2);
    assert_int_equal(g->err.place.column, 3);

    DuckRows rows;
    DuckColumnVec columns;
    assert_failed(engine_query(connection, &parts[1], g->arena, &rows, &g->err));
    assert_int_equal(g->err.place.line, 2);
    assert_failed(engine_describe(connection, &parts[1], g->arena, &columns, &g->err));
    assert_int_equal(g->err.place.line, 2);
    engine_release(connection);
}

static void a_commit_after_a_failed_statement_fails(void **state) {
    Ground *g = *state;
    EngineConnection *connection = ground_connect(g);
    assert_ok(engine_begin(connection, &g->err), &g->err);
    run(g, connection, "CREATE TABLE t (a INT)");
    run_failing(g, connection, "SELECT nothing");
    assert_failed(engine_commit(connection, &g->err));
    assert_int_equal(number(g, connection, "SELECT count(*) FROM duckdb_tables()"), 0);
    engine_release(connection);
}

/* --- Catalog ------------------------------------------------------------------------------------------------------ */

static void fill_catalog(Ground *g, EngineConnection *connection) {
    run(g, connection, "CREATE SCHEMA interlace__silver; CREATE SCHEMA silver; CREATE SCHEMA \"interlace__a.b\"");
    run(g, connection, "CREATE SCHEMA interlacexx; CREATE TABLE interlacexx.not_ours (a INT)");
    run(g, connection, "CREATE TABLE interlace__silver.orders__0a (id INT)");
    run(g, connection, "CREATE VIEW interlace__silver.v__0b AS SELECT * FROM interlace__silver.orders__0a");
    run(g, connection, "CREATE TABLE \"interlace__a.b\".\"odd \"\"name\" (id INT)");
    run(g, connection, "CREATE VIEW silver.orders AS SELECT * FROM \"interlace__silver\".\"orders__0a\"");
    run(g, connection, "CREATE VIEW silver.odd AS SELECT * FROM \"interlace__a.b\".\"odd \"\"name\"");
    run(g, connection, "CREATE VIEW silver.by_hand AS SELECT id FROM interlace__silver.orders__0a");
    run(g, connection, "CREATE VIEW silver.filtered AS SELECT * FROM interlace__silver.orders__0a WHERE id > 1");
    run(g, connection, "CREATE VIEW silver.foreign_one AS SELECT * FROM interlacexx.not_ours");
    run(g, connection, "CREATE TEMP TABLE orders (a INT)");
}

static void relations_are_found_without_case(void **state) {
    Ground *g = *state;
    EngineConnection *connection = ground_connect(g);
    fill_catalog(g, connection);
    static const struct {
        const char *schema, *name;
        RelationKind kind;
    } cases[] = {
        {"interlace__silver", "orders__0a", RELATION_TABLE},
        {"INTERLACE__Silver", "Orders__0A", RELATION_TABLE},
        {"interlace__silver", "v__0b", RELATION_VIEW},
        {"silver", "orders", RELATION_VIEW},
        {"main", "orders", RELATION_ABSENT},
        {"interlace__a.b", "odd \"name", RELATION_TABLE},
        {"none", "orders", RELATION_ABSENT},
        {"it's", "x", RELATION_ABSENT},
    };
    EngineCatalog *catalog;
    assert_ok(engine_catalog_load(connection, g->arena, &catalog, &g->err), &g->err);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        SqlRelation relation = {.schema = str_from(cases[i].schema), .name = str_from(cases[i].name)};
        assert_int_equal(engine_catalog_kind(catalog, relation), cases[i].kind);
    }
    engine_release(connection);
}

static void environment_views_are_told_from_the_users(void **state) {
    Ground *g = *state;
    EngineConnection *connection = ground_connect(g);
    EngineViewVec views;
    fill_catalog(g, connection);
    assert_ok(engine_environment_views(connection, g->arena, &views, &g->err), &g->err);
    AUTO(strbuf) StrBuf text = {0};
    for (size_t i = 0; i < views.count; i++) {
        strbuf_format(&text, STR_FMT "." STR_FMT "=" STR_FMT "|" STR_FMT ";", STR_ARG(views.items[i].schema),
                      STR_ARG(views.items[i].name), STR_ARG(views.items[i].target.schema),
                      STR_ARG(views.items[i].target.name));
    }
    assert_str(strbuf_str(&text), "silver.odd=interlace__a.b|odd \"name;silver.orders=interlace__silver|orders__0a;");
    engine_release(connection);
}

static void missing_schemas_are_created_together(void **state) {
    Ground *g = *state;
    EngineConnection *connection = ground_connect(g);
    StrVec schemas = {0};
    str_vec_push(g->arena, &schemas, STR("interlace__silver"));
    str_vec_push(g->arena, &schemas, STR("a.\"b"));
    str_vec_push(g->arena, &schemas, STR("main"));
    for (int i = 0; i < 2; i++) {
        assert_ok(engine_create_schemas(connection, &schemas, &g->err), &g->err);
        assert_int_equal(
            number(g, connection,
                   "SELECT count(*) FROM duckdb_schemas() WHERE schema_name IN ('interlace__silver', 'a.\"b')"),
            2);
    }
    assert_ok(engine_begin(connection, &g->err), &g->err);
    assert_failed(engine_create_schemas(connection, &schemas, &g->err));
    assert_int_equal(g->err.kind, ERROR_INTERNAL);
    engine_release(connection);
}

static void a_schema_named_like_the_file_is_refused(void **state) {
    Ground *g = *state;
    EngineConnection *connection = ground_connect(g);
    StrVec schemas = {0};
    str_vec_push(g->arena, &schemas, STR("W"));
    assert_failed(engine_create_schemas(connection, &schemas, &g->err));
    assert_int_equal(g->err.kind, ERROR_CONFIGURATION);
    assert_contains(g->err.message, "schema 'W' has the name of the database");
    assert_contains(g->err.hint, "give the file another name");
    engine_release(connection);
}

int main(void) {
#define GROUND_TEST(name) cmocka_unit_test_setup_teardown(name, open_ground, ground_close)
    const struct CMUnitTest tests[] = {
        GROUND_TEST(nothing_is_opened_before_the_first_connection),
        GROUND_TEST(types_that_are_not_there_are_refused),
        GROUND_TEST(a_failed_opening_is_tried_again),
        GROUND_TEST(settings_and_attachments_are_there_for_all_connections),
        GROUND_TEST(a_missing_attachment_has_the_place_of_its_line),
        GROUND_TEST(a_released_connection_is_used_again_without_its_transaction),
        GROUND_TEST(builders_work_side_by_side_from_a_cold_start),
        GROUND_TEST(interrupting_all_ends_every_statement_and_lets_none_begin),
        GROUND_TEST(errors_have_the_place_the_user_wrote),
        GROUND_TEST(a_commit_after_a_failed_statement_fails),
        GROUND_TEST(relations_are_found_without_case),
        GROUND_TEST(environment_views_are_told_from_the_users),
        GROUND_TEST(missing_schemas_are_created_together),
        GROUND_TEST(a_schema_named_like_the_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
