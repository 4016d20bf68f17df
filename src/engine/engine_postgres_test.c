/* PostgreSQL databases attached to a DuckDB engine, on a server of the test's own (tests/postgres_server.py). Skipped
 * only where no server is installed. */
#include "engine/engine_fixture.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { WITHOUT_SERVER = 77 };

/* Serves until `hold` is closed, by us or by our end. */
static struct Server {
    pid_t pid;
    int hold;
    char dsn[256]; /* empty: none is installed */
} server;

static int start_server(void **state) {
    (void)state;
    int input[2], output[2];
    char program[] = "python3", script[] = "tests/postgres_server.py";
    char *arguments[] = {program, script, NULL};
    posix_spawn_file_actions_t actions;
    if (pipe(input) != 0 || pipe(output) != 0 || posix_spawn_file_actions_init(&actions) != 0) {
        return -1;
    }
    (void)posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
    (void)posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
    (void)posix_spawn_file_actions_addclose(&actions, input[1]);
    (void)posix_spawn_file_actions_addclose(&actions, output[0]);
    int failure = posix_spawnp(&server.pid, arguments[0], &actions, NULL, arguments, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(input[0]);
    (void)close(output[1]);
    if (failure != 0) {
        return -1;
    }
    server.hold = input[1];
    FILE *lines = fdopen(output[0], "r");
    if (fgets(server.dsn, sizeof server.dsn, lines) != NULL) {
        server.dsn[strcspn(server.dsn, "\n")] = '\0';
    }
    (void)fclose(lines);
    return 0;
}

static int stop_server(void **state) {
    (void)state;
    int status = 0;
    (void)close(server.hold);
    (void)waitpid(server.pid, &status, 0);
    bool is_well = WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == WITHOUT_SERVER);
    return is_well ? 0 : -1;
}

static const StrVec writable = {.items = (Str[]){STR_INIT("crm")}, .count = 1, .capacity = 1};

static int open_ground(void **state) {
    (void)ground_open(state, STR("duckdb"), STR("w.duckdb"));
    Ground *g = *state;
    attach_config_vec_push(g->arena, &g->config.attach,
                           (AttachConfig){.alias = STR("crm"), .uri = str_from(server.dsn)});
    ground_reopen(g, &writable);
    return 0;
}

/* The schema `name`, for one test. */
static EngineConnection *connect_to_schema(Ground *g, const char *name) {
    if (server.dsn[0] == '\0') {
        skip();
    }
    EngineConnection *connection = ground_connect(g);
    assert_ok(engine_create_external_schema(connection, STR("crm"), str_from(name), &g->err), &g->err);
    return connection;
}

static void statements_in_one_transaction_count_their_rows(void **state) {
    Ground *g = *state;
    EngineConnection *connection = connect_to_schema(g, "kit");
    run(g, connection, "CREATE TABLE src AS SELECT range AS id, 'new' AS v FROM range(5, 15)");
    assert_ok(engine_begin(connection, &g->err), &g->err);
    run(g, connection, "CREATE TABLE crm.kit.t (id BIGINT, v VARCHAR)");
    static const struct {
        const char *sql;
        int64_t changed;
    } cases[] = {
        {"INSERT INTO crm.kit.t (id, v) SELECT range, 'a' FROM range(10)", 10},
        {"INSERT INTO crm.kit.t BY NAME SELECT 'b' AS v, 11::BIGINT AS id", 1},
        {"UPDATE crm.kit.t AS d SET v = s.v FROM src AS s WHERE d.id = s.id", 6},
        {"DELETE FROM crm.kit.t WHERE id IN (SELECT id FROM src WHERE id > 8)", 2},
        {"DELETE FROM crm.kit.t AS d WHERE EXISTS (FROM src AS s WHERE s.id = d.id AND s.id = 7)", 1},
        {"DELETE FROM crm.kit.t AS d USING src AS s WHERE s.id = d.id AND s.id = 6", 1},
        {"DELETE FROM crm.kit.t WHERE id IN (SELECT id FROM src EXCEPT SELECT 5)", 1},
        {"MERGE INTO crm.kit.t AS d USING src AS s ON d.id = s.id WHEN MATCHED THEN UPDATE SET v = 'm'"
         " WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v) WHEN NOT MATCHED BY SOURCE THEN DELETE",
         15},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        if (changed(g, connection, cases[i].sql) != cases[i].changed) {
            fail_msg("%s", cases[i].sql);
        }
    }
    run(g, connection, "ALTER TABLE crm.kit.t ADD COLUMN extra INTEGER");
    run(g, connection, "INSERT INTO crm.kit.t BY NAME SELECT 100::BIGINT AS id, 5 AS extra");
    assert_ok(engine_commit(connection, &g->err), &g->err);
    assert_int_equal(number(g, connection, "SELECT count(*) FROM crm.kit.t"), 11);
    assert_int_equal(number(g, connection, "SELECT sum(extra) FROM crm.kit.t"), 5);
    engine_release(connection);
}

/* What DuckDB's cache remembers of a table that was never committed makes the next one empty, without an error. */
static void tables_are_whole_after_rollbacks_and_failures(void **state) {
    Ground *g = *state;
    EngineConnection *connection = connect_to_schema(g, "whole");
    assert_ok(engine_begin(connection, &g->err), &g->err);
    run(g, connection, "CREATE TABLE crm.whole.a AS SELECT 1 AS x");
    engine_rollback(connection);
    assert_str(columns_text(g, connection, "crm", "whole", "a"), "absent");
    run(g, connection, "CREATE TABLE crm.whole.a AS SELECT 1 AS x");
    assert_int_equal(number(g, connection, "SELECT count(*) FROM crm.whole.a"), 1);

    run_failing(g, connection, "CREATE TABLE crm.whole.b AS SELECT error('no') AS x");
    run(g, connection, "CREATE TABLE crm.whole.b AS SELECT 1 AS x");
    assert_int_equal(number(g, connection, "SELECT count(*) FROM crm.whole.b"), 1);

    assert_ok(engine_begin(connection, &g->err), &g->err);
    run(g, connection, "CREATE TABLE crm.whole.c AS SELECT 1 AS x");
    engine_release(connection); /* rolls back */
    connection = ground_connect(g);
    run(g, connection, "CREATE TABLE crm.whole.c AS SELECT 1 AS x");
    assert_int_equal(number(g, connection, "SELECT count(*) FROM crm.whole.c"), 1);
    engine_release(connection);
}

/* While another session is in a transaction the cache stays: clearing it would make that one fail. */
static void the_cache_waits_for_other_sessions(void **state) {
    Ground *g = *state;
    EngineConnection *first = connect_to_schema(g, "wait");
    EngineConnection *second = ground_connect(g);
    run(g, first, "CREATE TABLE crm.wait.t AS SELECT 1 AS x");
    assert_ok(engine_begin(second, &g->err), &g->err);
    assert_int_equal(changed(g, second, "UPDATE crm.wait.t SET x = 2"), 1);
    assert_ok(engine_begin(first, &g->err), &g->err);
    run(g, first, "CREATE TABLE crm.wait.a AS SELECT 1 AS x");
    engine_rollback(first);
    assert_int_equal(changed(g, second, "UPDATE crm.wait.t SET x = 3"), 1);
    assert_ok(engine_commit(second, &g->err), &g->err);
    run(g, first, "CREATE TABLE crm.wait.a AS SELECT 1 AS x");
    assert_int_equal(number(g, first, "SELECT count(*) FROM crm.wait.a"), 1);
    engine_release(first);
    engine_release(second);
}

static void columns_are_those_of_the_moment(void **state) {
    Ground *g = *state;
    EngineConnection *connection = connect_to_schema(g, "live");
    run(g, connection, "CREATE TABLE crm.live.t (id BIGINT)");
    assert_str(columns_text(g, connection, "crm", "live", "t"), "id BIGINT");
    run(g, connection, "CALL postgres_execute('crm', 'ALTER TABLE live.t ADD COLUMN n numeric(10,2)')");
    assert_str(columns_text(g, connection, "crm", "live", "t"), "id BIGINT, n DECIMAL(10,2)");
    run(g, connection, "CALL postgres_execute('crm', 'CREATE VIEW live.v AS SELECT n FROM live.t')");
    assert_str(columns_text(g, connection, "crm", "live", "v"), "n DECIMAL(10,2)");
    run(g, connection, "CALL postgres_execute('crm', 'DROP TABLE live.t CASCADE')");
    assert_str(columns_text(g, connection, "crm", "live", "t"), "absent");
    assert_str(columns_text(g, connection, "crm", "none", "t"), "absent");
    engine_release(connection);
}

/* What deliveries count on when they alter a column (strategy/columns.c). */
static void an_alter_without_effect_shows_what_the_server_altered(void **state) {
    Ground *g = *state;
    EngineConnection *connection = connect_to_schema(g, "grow");
    run(g, connection, "CALL postgres_execute('crm', 'CREATE TABLE grow.t (n int, d text DEFAULT ''dflt'')')");
    assert_ok(engine_begin(connection, &g->err), &g->err);
    run(g, connection, "INSERT INTO crm.grow.t (n) SELECT 1");
    run(g, connection, "CALL postgres_execute('crm', 'ALTER TABLE grow.t ALTER COLUMN n TYPE bigint')");
    run(g, connection, "ALTER TABLE crm.grow.t ADD COLUMN IF NOT EXISTS n BOOLEAN");
    assert_str(columns_text(g, connection, "crm", "grow", "t"), "n BIGINT, d VARCHAR");
    run(g, connection, "INSERT INTO crm.grow.t (n) SELECT 5000000000");
    assert_int_equal(number(g, connection, "SELECT sum(n) FROM crm.grow.t WHERE d = 'dflt'"), 5000000001);
    engine_rollback(connection);
    assert_str(columns_text(g, connection, "crm", "grow", "t"), "n INTEGER, d VARCHAR");
    engine_release(connection);
}

static void a_lost_race_is_a_conflict(void **state) {
    Ground *g = *state;
    EngineConnection *first = connect_to_schema(g, "race");
    EngineConnection *second = ground_connect(g);
    run(g, first, "CREATE TABLE crm.race.t AS SELECT 1 AS x");
    assert_ok(engine_begin(first, &g->err), &g->err);
    assert_ok(engine_begin(second, &g->err), &g->err);
    assert_int_equal(number(g, first, "SELECT x FROM crm.race.t"), 1);
    assert_int_equal(number(g, second, "SELECT x FROM crm.race.t"), 1);
    run(g, first, "UPDATE crm.race.t SET x = 2");
    assert_ok(engine_commit(first, &g->err), &g->err);
    run_failing(g, second, "UPDATE crm.race.t SET x = 3");
    assert_true(engine_error_is_conflict(&g->err));
    engine_release(first);
    engine_release(second);
}

static void it_is_read_only_unless_it_is_named(void **state) {
    Ground *g = *state;
    engine_release(connect_to_schema(g, "guard"));
    ground_reopen(g, NULL);
    EngineConnection *connection = ground_connect(g);
    run_failing(g, connection, "CREATE TABLE crm.guard.t (a INT)");
    assert_contains(g->err.message, "read-only");
    assert_str(columns_text(g, connection, "crm", "guard", "t"), "absent");
    engine_release(connection);
}

static void lost_connections_show_no_password(void **state) {
    Ground *g = *state;
    EngineConnection *connection = NULL;
    g->config.attach.items[0].uri = STR("postgresql://etl:hidden@127.0.0.1:1/crm");
    g->config.attach.items[0].place = (SourceSpan){.file = STR("interlace.yaml"), .line = 7};
    assert_failed(engine_connect(g->engine, &connection, &g->err));
    assert_int_equal(g->err.kind, ERROR_CONFIGURATION);
    assert_int_equal(g->err.place.line, 7);
    Str line = error_line(&g->err, g->arena);
    assert_contains(line, "port 1 failed");
    assert_int_equal(str_find(line, STR("hidden")), STR_NOT_FOUND);
}

static void a_lake_may_have_its_catalog_there(void **state) {
    Ground *g = *state;
    engine_release(connect_to_schema(g, "lakes"));
    g->config.type = STR("ducklake");
    g->config.database = str_format(g->arena, "ducklake:%s", server.dsn);
    g->config.database_path = STR_EMPTY;
    g->config.metadata_schema = STR("lakes");
    ground_reopen(g, NULL);
    EngineConnection *connection = NULL;
    assert_failed(engine_connect(g->engine, &connection, &g->err));
    assert_contains(g->err.hint, "data_path");
    assert_int_equal(str_find(error_line(&g->err, g->arena), STR("not-asked-for")), STR_NOT_FOUND);

    g->config.data_path = str_format(g->arena, STR_FMT "/data", STR_ARG(g->folder));
    for (int64_t opened = 1; opened <= 2; opened++) {
        ground_reopen(g, NULL);
        connection = ground_connect(g);
        run(g, connection, "CREATE TABLE IF NOT EXISTS t (a INT); INSERT INTO t VALUES (1)");
        assert_int_equal(number(g, connection, "SELECT count(*) FROM t"), opened);
        engine_release(connection);
    }
}

int main(void) {
#define GROUND_TEST(name) cmocka_unit_test_setup_teardown(name, open_ground, ground_close)
    const struct CMUnitTest tests[] = {
        GROUND_TEST(statements_in_one_transaction_count_their_rows),
        GROUND_TEST(tables_are_whole_after_rollbacks_and_failures),
        GROUND_TEST(the_cache_waits_for_other_sessions),
        GROUND_TEST(columns_are_those_of_the_moment),
        GROUND_TEST(an_alter_without_effect_shows_what_the_server_altered),
        GROUND_TEST(a_lost_race_is_a_conflict),
        GROUND_TEST(it_is_read_only_unless_it_is_named),
        GROUND_TEST(lost_connections_show_no_password),
        GROUND_TEST(a_lake_may_have_its_catalog_there),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
