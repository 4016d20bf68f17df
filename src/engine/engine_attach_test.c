/* Attached DuckDB files: who may write to them, what they can, which columns are there. */
#include "base/files.h"
#include "engine/engine_fixture.h"

static int open_ground(void **state) {
    return ground_open(state, STR("duckdb"), STR("w.duckdb"));
}

static Str attach_file(Ground *g, const char *alias, const char *file) {
    Str path = path_join(g->arena, g->folder, str_from(file));
    attach_config_vec_push(g->arena, &g->config.attach, (AttachConfig){.alias = str_from(alias), .uri = path});
    return path;
}

static void only_named_attachments_are_writable_and_made(void **state) {
    Ground *g = *state;
    StrVec writable = {0};
    str_vec_push(g->arena, &writable, STR("OUT"));
    Str path = attach_file(g, "out", "sub/out.duckdb");
    ground_reopen(g, &writable);

    EngineConnection *connection = ground_connect(g);
    assert_true(file_exists(path));
    assert_ok(engine_create_external_schema(connection, STR("out"), STR("Mart"), &g->err), &g->err);
    assert_ok(engine_create_external_schema(connection, STR("out"), STR("mart"), &g->err), &g->err);
    run(g, connection, "CREATE TABLE out.mart.t AS SELECT 1 AS a");
    engine_release(connection);

    ground_reopen(g, NULL);
    connection = ground_connect(g);
    assert_int_equal(number(g, connection, "SELECT a FROM out.mart.t"), 1);
    run_failing(g, connection, "DELETE FROM out.mart.t");
    assert_contains(g->err.message, "read-only");
    assert_failed(engine_create_external_schema(connection, STR("out"), STR("more"), &g->err));
    assert_contains(g->err.hint, "create schema 'more' in 'out' by hand");
    engine_release(connection);
}

static void targets_tell_what_they_can(void **state) {
    Ground *g = *state;
    EngineCapabilities can;
    (void)attach_file(g, "out", "out.duckdb");
    attach_config_vec_push(g->arena, &g->config.attach,
                           (AttachConfig){.alias = STR("crm"), .uri = STR("postgres://h/d")});
    assert_ok(engine_target_capabilities(g->engine, STR_EMPTY, &can, &g->err), &g->err);
    assert_true(can.create_or_replace);
    assert_ok(engine_target_capabilities(g->engine, STR("Out"), &can, &g->err), &g->err);
    assert_true(can.create_or_replace && can.merge && !can.remote_alter && can.name_limit == 0);
    assert_ok(engine_target_capabilities(g->engine, STR("CRM"), &can, &g->err), &g->err);
    assert_true(!can.create_or_replace && !can.merge && can.remote_alter && can.name_limit == 63);
    assert_failed(engine_target_capabilities(g->engine, STR("none"), &can, &g->err));
    assert_contains(g->err.message, "has no attachment 'none'");
}

static void columns_are_told_from_absence_and_from_failure(void **state) {
    Ground *g = *state;
    (void)attach_file(g, "out", "out.duckdb");
    StrVec writable = {0};
    str_vec_push(g->arena, &writable, STR("out"));
    ground_reopen(g, &writable);
    EngineConnection *connection = ground_connect(g);
    run(g, connection,
        "CREATE SCHEMA s; CREATE TABLE s.t (id BIGINT, \"a b\" DECIMAL(9,2)); CREATE VIEW s.v AS FROM s.t");
    run(g, connection, "CREATE TABLE out.main.x (id INTEGER)");
    run(g, connection,
        "CREATE SCHEMA r; CREATE TABLE r.gone (a INT); CREATE VIEW s.gone AS FROM r.gone; DROP TABLE r.gone");

    assert_ok(engine_begin(connection, &g->err), &g->err);
    assert_str(columns_text(g, connection, "", "s", "t"), "id BIGINT, a b DECIMAL(9,2)");
    assert_str(columns_text(g, connection, "", "S", "V"), "id BIGINT, a b DECIMAL(9,2)");
    assert_str(columns_text(g, connection, "out", "main", "x"), "id INTEGER");
    assert_str(columns_text(g, connection, "", "s", "none"), "absent");
    assert_str(columns_text(g, connection, "", "none", "t"), "absent");
    assert_str(columns_text(g, connection, "out", "s", "t"), "absent");
    assert_str(columns_text(g, connection, "out", "main", "none"), "absent");
    assert_str(columns_text(g, connection, "", "s", "gone"), "Table with name gone does not exist!");
    assert_str(columns_text(g, connection, "nowhere", "s", "t"), "Catalog \"nowhere\" does not exist!");
    run(g, connection, "INSERT INTO s.t VALUES (1, 2)");
    assert_ok(engine_commit(connection, &g->err), &g->err);
    engine_release(connection);
}

int main(void) {
#define GROUND_TEST(name) cmocka_unit_test_setup_teardown(name, open_ground, ground_close)
    const struct CMUnitTest tests[] = {
        GROUND_TEST(only_named_attachments_are_writable_and_made),
        GROUND_TEST(targets_tell_what_they_can),
        GROUND_TEST(columns_are_told_from_absence_and_from_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
