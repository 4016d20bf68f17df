#include "base/files.h"
#include "duck/duck_connection.h"
#include "project/project_fixture.h"

static void write_config(Fixture *f) {
    fixture_write(f, "interlace.yaml",
                  "name: shop\ndatabase: data/wh.duckdb\nattach: {src: data/src.duckdb}\ntimezone: UTC\n");
}

static void test_01_7_1_an_external_table_is_not_a_model_of_another_schema(void **state) {
    Fixture *f = *state;
    fixture_write(f, "models/orders.sql", "SELECT 1 AS id");
    fixture_write(f, "models/stg/orders.sql", "SELECT * FROM raw.orders");
    fixture_write(f, "models/stg/more.sql", "SELECT * FROM raw.orders o JOIN RAW.Orders o2 USING (id)");
    assert_loads(f);
    assert_upstreams(f, "stg.orders", "");
    assert_int_equal(f->project->notes.count, 1);
    assert_contains(f->project->notes.items[0], "raw.orders");
    assert_contains(f->project->notes.items[0], "'orders'");
    assert_contains(f->project->notes.items[0], "stg.");
}

static void a_model_is_no_tail_of_itself(void **state) {
    Fixture *f = *state;
    fixture_write(f, "models/stg/orders.sql",
                  "SELECT * FROM raw.orders, read_csv('orders.csv'), src.main.orders, unknown");
    assert_loads(f);
    assert_int_equal(f->project->notes.count, 0);
}

static void test_01_7_2_a_cte_hides_only_unqualified_names(void **state) {
    Fixture *f = *state;
    fixture_write(f, "models/orders.sql", "SELECT 1 AS id");
    fixture_write(f, "models/a.sql",
                  "WITH orders AS (SELECT 1 AS id) SELECT * FROM orders JOIN main.orders USING (id)");
    fixture_write(f, "models/b.sql", "WITH orders AS (SELECT 1 AS id) SELECT * FROM orders");
    assert_loads(f);
    assert_upstreams(f, "a", "orders");
    assert_upstreams(f, "b", "");
}

static void case_002_a_cte_named_like_the_model_it_reads(void **state) {
    Fixture *f = *state;
    write_config(f);
    fixture_write(f, "models/orders.sql",
                  "SELECT * FROM (VALUES (1,'ann',10.0),(2,'bo',20.0),(3,'ann',5.0)) t(id, cust, amount)");
    fixture_write(f, "models/big_orders.sql",
                  "WITH orders AS (SELECT * FROM orders WHERE amount >= 10)\n"
                  "SELECT cust, count(*) AS n FROM orders GROUP BY cust");
    assert_loads(f);
    assert_upstreams(f, "big_orders", "orders");
    const Model *model = fixture_model(f, "big_orders");
    assert_int_equal(model->facts->tables.count, 1);
    assert_int_equal(model->references[0].model, fixture_model(f, "orders")->index);
}

static void test_01_7_4_a_model_that_reads_itself_is_refused(void **state) {
    Fixture *f = *state;
    write_config(f);
    fixture_write(f, "models/me.sql", "SELECT *\nFROM me");
    fixture_write(f, "models/you.sql", "SELECT * FROM main.You");
    fixture_write(f, "models/they.sql", "SELECT * FROM wh.main.they");
    fixture_write(f, "models/we.sql", "/* interlace: {depends_on: we} */ SELECT 1");
    assert_fault_count(f, 4);
    assert_fault(f, "reference.self", "model 'me': it reads itself (models/me.sql:2:6)");
    assert_fault(f, "reference.self", "model 'you'");
    assert_fault(f, "reference.self", "model 'they'");
    assert_fault(f, "reference.self", "model 'we'");
}

static void test_01_7_5_unquoted_names_have_no_case(void **state) {
    Fixture *f = *state;
    fixture_write(f, "models/Orders.sql", "SELECT 1 AS id");
    fixture_write(f, "models/a.sql", "SELECT orders.id FROM ORDERS");
    fixture_write(f, "models/b.sql", "SELECT * FROM \"Orders\"");
    fixture_write(f, "models/c.sql", "SELECT * FROM \"orders\"");
    fixture_write(f, "models/Silver/X.sql", "SELECT 1 AS id");
    fixture_write(f, "models/d.sql", "SELECT * FROM silver.\"X\"");
    fixture_write(f, "models/e.sql", "SELECT * FROM \"silver\".x");
    assert_loads(f);
    assert_upstreams(f, "a", "Orders");
    assert_upstreams(f, "b", "Orders");
    assert_upstreams(f, "c", "");
    assert_upstreams(f, "d", "Silver.X");
    assert_upstreams(f, "e", "");
}

static void the_catalog_of_the_warehouse_is_dropped(void **state) {
    Fixture *f = *state;
    write_config(f);
    fixture_write(f, "models/orders.sql", "SELECT 1 AS id");
    fixture_write(f, "models/silver/items.sql", "SELECT 1 AS id");
    fixture_write(f, "models/a.sql", "SELECT * FROM wh.main.orders, WH.silver.items");
    fixture_write(f, "models/b.sql", "SELECT * FROM wh.orders");
    fixture_write(f, "models/c.sql", "SELECT * FROM src.main.orders, src.orders, other.main.orders");
    assert_loads(f);
    assert_upstreams(f, "a", "orders, silver.items");
    assert_upstreams(f, "b", "orders");
    assert_upstreams(f, "c", "");
}

static void the_catalog_of_a_lake_is_its_alias(void **state) {
    Fixture *f = *state;
    fixture_write(f, "interlace.yaml", "name: shop\ndatabase: 'ducklake:data/wh.ducklake'\ntimezone: UTC\n");
    fixture_write(f, "models/silver/orders.sql", "SELECT 1 AS id");
    fixture_write(f, "models/a.sql", "SELECT * FROM Shop.silver.orders");
    fixture_write(f, "models/b.sql", "SELECT * FROM wh.silver.orders");
    assert_loads(f);
    assert_upstreams(f, "a", "silver.orders");
    assert_upstreams(f, "b", "");
}

/* As the engine names it, so that a change there shows here. */
static void the_catalog_is_named_as_the_engine_names_it(void **state) {
    static const char *const files[] = {"wh.duckdb", "data.v1.duckdb", "my-wh.db",
                                        "plain",     "main.duckdb",    "temp.duckdb"};
    Fixture *f = *state;
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        AUTO(error) Error err;
        error_init(&err);
        DuckDatabase *database;
        DuckConnection *connection;
        DuckRows rows;
        DuckOpenOptions options = {.path = path_join(f->arena, f->root, str_from(files[i]))};
        assert_done(duck_database_open(&options, &database, &err), &err);
        assert_done(duck_connection_open(database, &connection, &err), &err);
        assert_done(duck_query(connection, STR("SELECT current_database()"), f->arena, &rows, &err), &err);
        duck_connection_close(connection);
        duck_database_close(database);

        Str catalog = duck_cell(&rows, 0, 0)->text;
        fixture_write(f, "interlace.yaml", str_format(f->arena, "database: %s\n", files[i]).ptr);
        fixture_write(f, "models/orders.sql", "SELECT 1 AS id");
        fixture_write(f, "models/a.sql",
                      str_format(f->arena, "SELECT * FROM \"" STR_FMT "\".main.orders", STR_ARG(catalog)).ptr);
        assert_loads(f);
        assert_upstreams(f, "a", "orders");
    }
}

static void a_deep_schema_is_reached_in_both_spellings(void **state) {
    Fixture *f = *state;
    fixture_write(f, "models/a/b/c.sql", "SELECT 1 AS id");
    fixture_write(f, "models/x.sql", "SELECT * FROM \"a.b\".c");
    fixture_write(f, "models/y.sql", "SELECT * FROM a.b.c");
    assert_loads(f);
    assert_str(fixture_model(f, "a.b.c")->schema, "a.b", "schema");
    assert_str(fixture_model(f, "a.b.c")->base, "c", "base");
    assert_upstreams(f, "x", "a.b.c");
    assert_upstreams(f, "y", "a.b.c");
}

static void main_is_the_schema_of_names_without_dots(void **state) {
    Fixture *f = *state;
    fixture_write(f, "models/main/orders.sql", "SELECT 1 AS id");
    fixture_write(f, "models/a.sql", "SELECT * FROM orders, main.orders");
    assert_loads(f);
    assert_upstreams(f, "a", "main.orders");
    fixture_write(f, "models/orders.sql", "SELECT 2 AS id");
    assert_fault_count(f, 1);
    assert_fault(f, "name.duplicate", "names of one table");
}

static void references_stand_beside_their_tables(void **state) {
    Fixture *f = *state;
    fixture_write(f, "models/a.sql", "SELECT 1 AS id");
    fixture_write(f, "models/b.sql", "SELECT * FROM ext.t, a, 'x.csv', a AS again, (SELECT * FROM a) s");
    assert_loads(f);
    const Model *b = fixture_model(f, "b");
    size_t a = fixture_model(f, "a")->index;
    const size_t expected[] = {MODEL_NONE, a, MODEL_NONE, a, a};
    assert_int_equal(b->facts->tables.count, COUNT_OF(expected));
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        assert_int_equal(b->references[i].model, expected[i]);
    }
    assert_int_equal(b->upstreams.count, 1);
    assert_int_equal(fixture_model(f, "a")->downstreams.count, 1);
}

static void declared_upstreams_join_the_read_ones(void **state) {
    Fixture *f = *state;
    fixture_write(f, "models/a.sql", "SELECT 1 AS id");
    fixture_write(f, "models/b.sql", "SELECT 1 AS id");
    fixture_write(f, "models/c.sql", "/* interlace: {depends_on: [b, A]} */ SELECT * FROM a");
    assert_loads(f);
    assert_upstreams(f, "c", "a, b");
    fixture_write(f, "models/d.sql", "/* interlace: {depends_on: [bb]} */ SELECT 1");
    assert_fault_count(f, 1);
    assert_fault(f, "reference.unknown",
                 "depends_on names 'bb', which is no model; did you mean 'b'? (models/d.sql:1:16)");
}

static void files_leave_nothing_to_read(void **state) {
    Fixture *f = *state;
    fixture_write(f, "models/out.sql", "/* interlace: {materialise: file, path: out.csv} */ SELECT 1 AS id");
    fixture_write(f, "models/a.sql", "SELECT * FROM out");
    fixture_write(f, "models/b.sql", "/* interlace: {depends_on: out} */ SELECT 1");
    assert_fault_count(f, 2);
    assert_fault(f, "combo.file_dep", "model 'a': it reads 'out'");
    assert_fault(f, "combo.file_dep", "model 'b': it reads 'out'");
}

static void engines_keep_tables_and_ephemerals_to_themselves(void **state) {
    Fixture *f = *state;
    fixture_write(f, "interlace.yaml",
                  "engines:\n  a: {database: a.duckdb, attach: {crm: crm.duckdb}}\n"
                  "  b: {database: b.duckdb}\ndefault_engine: a\n");
    fixture_write(f, "models/t.sql", "/* interlace: {materialise: table, target: crm.t} */ SELECT 1 AS id");
    fixture_write(f, "models/e.sql", "/* interlace: {materialise: ephemeral} */ SELECT 1 AS id");
    fixture_write(f, "models/v.sql", "SELECT 1 AS id");
    fixture_write(f, "models/x.sql", "/* interlace: {engine: b} */ SELECT * FROM t");
    fixture_write(f, "models/y.sql", "/* interlace: {engine: b} */ SELECT * FROM e");
    fixture_write(f, "models/z.sql", "/* interlace: {engine: b} */ SELECT * FROM v");
    assert_fault_count(f, 2);
    assert_fault(f, "combo.table_cross_engine", "engine 'b' and reads the table 't' delivered on engine 'a'");
    assert_fault(f, "combo.ephemeral_engine", "engine 'b' and inlines the ephemeral 'e' of engine 'a'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PROJECT_TEST(test_01_7_1_an_external_table_is_not_a_model_of_another_schema),
        PROJECT_TEST(a_model_is_no_tail_of_itself),
        PROJECT_TEST(test_01_7_2_a_cte_hides_only_unqualified_names),
        PROJECT_TEST(case_002_a_cte_named_like_the_model_it_reads),
        PROJECT_TEST(test_01_7_4_a_model_that_reads_itself_is_refused),
        PROJECT_TEST(test_01_7_5_unquoted_names_have_no_case),
        PROJECT_TEST(the_catalog_of_the_warehouse_is_dropped),
        PROJECT_TEST(the_catalog_of_a_lake_is_its_alias),
        PROJECT_TEST(the_catalog_is_named_as_the_engine_names_it),
        PROJECT_TEST(a_deep_schema_is_reached_in_both_spellings),
        PROJECT_TEST(main_is_the_schema_of_names_without_dots),
        PROJECT_TEST(references_stand_beside_their_tables),
        PROJECT_TEST(declared_upstreams_join_the_read_ones),
        PROJECT_TEST(files_leave_nothing_to_read),
        PROJECT_TEST(engines_keep_tables_and_ephemerals_to_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
