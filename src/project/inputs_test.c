/* Inputs: spec 01 §10, and what §7 says of their names. */
#include "project/input_scan.h"
#include "project/project_fixture.h"

#define NOW_US 1782894600000000 /* 2026-07-01T08:30:00Z */

static void write_config(Fixture *f, const char *inputs) {
    Str text = str_format(f->arena, "timezone: UTC\ninputs:\n%s", inputs);
    fixture_write(f, "interlace.yaml", text.ptr);
}

/* The name of the input that table `table` of the model stands for; "" for none. */
static Str input_of(const Fixture *f, const char *model, size_t table) {
    size_t input = fixture_model(f, model)->references[table].input;
    return input == INPUT_NONE ? STR_EMPTY : f->project->config->inputs.items[input].name;
}

static void assert_input(const Fixture *f, const char *model, size_t table, const char *expected) {
    Str found = input_of(f, model, table);
    if (!str_equal(found, str_from(expected))) {
        fail_msg("table %zu of %s is '" STR_FMT "' instead of '%s'", table, model, STR_ARG(found), expected);
    }
}

static void test_01_7_an_input_comes_after_ctes_and_models(void **state) {
    Fixture *f = *state;
    write_config(f, "  orders: {format: csv, path: o.csv}\n  Items: {format: csv, path: i.csv}\n");
    fixture_write(f, "models/silver/orders.sql", "SELECT 1 AS id");
    fixture_write(f, "models/a.sql", "SELECT * FROM ORDERS, items, \"Items\", \"items\"");
    fixture_write(f, "models/b.sql", "WITH orders AS (SELECT 1) SELECT * FROM orders");
    fixture_write(f, "models/c.sql", "WITH orders AS (SELECT * FROM orders) SELECT * FROM orders");
    fixture_write(f, "models/d.sql", "SELECT * FROM silver.orders, main.orders, 'orders'");
    assert_loads(f);
    assert_input(f, "a", 0, "orders");
    assert_input(f, "a", 1, "Items");
    assert_input(f, "a", 2, "Items");
    assert_input(f, "a", 3, "");
    assert_int_equal(fixture_model(f, "b")->facts->tables.count, 0);
    assert_input(f, "c", 0, "orders");
    for (size_t i = 0; i < 3; i++) {
        assert_input(f, "d", i, "");
    }
    assert_upstreams(f, "d", "silver.orders");
}

static void test_01_10_4_an_input_named_like_a_model_is_refused(void **state) {
    Fixture *f = *state;
    write_config(f, "  orders: {format: csv, path: o.csv}\n  items: {format: csv, path: i.csv}\n");
    fixture_write(f, "models/Orders.sql", "SELECT 1 AS id");
    fixture_write(f, "models/x.sql", "/* interlace: {name: main.items} */ SELECT 1 AS id");
    assert_fault_count(f, 2);
    assert_fault(f, "name.duplicate", "input 'orders' has the name of the model 'Orders' (models/Orders.sql)");
    assert_fault(f, "name.duplicate", "input 'items' has the name of the model 'main.items'");
}

static void test_01_10_an_engine_that_is_not_of_the_duckdb_family_reads_no_input(void **state) {
    Fixture *f = *state;
    fixture_write(f, "interlace.yaml",
                  "engines: {pg: {type: postgres, database: 'host=h'}}\n"
                  "inputs: {orders: {format: csv, path: o.csv}}\n");
    fixture_write(f, "models/a.sql", "/* interlace: {engine: pg} */ SELECT * FROM orders");
    assert_fault_count(f, 1);
    assert_fault(f, "input.engine", "model 'a' reads the input 'orders' on engine 'pg' of type postgres");
    assert_int_equal(f->faults.items[0].kind, ERROR_COMPILATION);
}

static void a_python_model_takes_no_input(void **state) {
    Fixture *f = *state;
    write_config(f, "  orders: {format: csv, path: o.csv}\n");
    fixture_write(f, "models/a.sql", "/* interlace: {depends_on: orders} */ SELECT 1 AS id");
    assert_fault_count(f, 1);
    assert_fault(f, "reference.unknown",
                 "depends_on names 'orders', which is no model: it is an input, which SQL alone reads");
}

/* ---- Watching */

static Str config_of(const Fixture *f, const char *model) {
    return fixture_model(f, model)->config_json;
}

static void assert_config_changes(Fixture *f, const char *model, bool changes) {
    Str before = str_copy(f->arena, config_of(f, model));
    assert_loads(f);
    if (str_equal(before, config_of(f, model)) == changes) {
        fail_msg("%s: " STR_FMT " → " STR_FMT, model, STR_ARG(before), STR_ARG(config_of(f, model)));
    }
}

static void test_01_10_2_watched_files_are_a_part_of_their_readers(void **state) {
    Fixture *f = *state;
    write_config(f, "  orders: {format: csv, path: 'seeds/**/*.csv', watch: true}\n"
                    "  items: {format: csv, path: items.csv}\n");
    fixture_write(f, "seeds/a.csv", "id\n1\n");
    fixture_write(f, "seeds/x/b.csv", "id\n2\n");
    fixture_write(f, "items.csv", "id\n1\n");
    fixture_write(f, "models/reader.sql", "SELECT * FROM orders");
    fixture_write(f, "models/other.sql", "SELECT * FROM items");
    assert_loads(f);
    assert_contains(config_of(f, "reader"), "\"inputs\":{\"orders\":\"");
    assert_contains(config_of(f, "other"), "\"inputs\":{}");

    fixture_write(f, "seeds/a.csv", "id\n1\n");
    assert_config_changes(f, "reader", false);
    fixture_write(f, "seeds/x/b.csv", "id\n2\n3\n");
    assert_config_changes(f, "reader", true);
    fixture_write(f, "seeds/c.csv", "id\n");
    assert_config_changes(f, "reader", true);
    fixture_remove(f, "seeds/c.csv");
    fixture_write(f, "seeds/d.csv", "id\n");
    assert_config_changes(f, "reader", true);
    fixture_write(f, "items.csv", "id\n2\n");
    assert_config_changes(f, "other", false);
}

static void test_01_10_a_watched_input_without_a_local_file_is_refused(void **state) {
    Fixture *f = *state;
    write_config(f, "  a: {format: csv, path: nosuch/*.csv, watch: true}\n");
    assert_fault_count(f, 1);
    assert_fault(f, "input.watch", "input 'a' is watched, but no file matches '");
    assert_int_equal(f->faults.items[0].kind, ERROR_CONFIGURATION);
    write_config(f, "  a: {format: csv, path: 's3://b/*.csv', watch: true}\n");
    assert_fault_count(f, 1);
    assert_fault(f, "input.watch", "input 'a': watch: only files of this machine can be watched (interlace.yaml:3:");
}

static void a_query_that_does_not_read_is_a_fault_beside_watched_inputs(void **state) {
    Fixture *f = *state;
    write_config(f, "  orders: {format: csv, path: orders.csv, watch: true}\n");
    fixture_write(f, "orders.csv", "id\n1\n");
    fixture_write(f, "models/a.sql", "SELECT * FROM orders WHERE");
    assert_fault_count(f, 1);
    assert_int_equal(f->faults.items[0].kind, ERROR_COMPILATION);
}

/* ---- Scans */

/* With the project's root as R. */
static Str scan(Fixture *f, const char *input) {
    write_config(f, str_format(f->arena, "  a: %s\n", input).ptr);
    assert_loads(f);
    Str text = input_scans(f->project->config, NOW_US, f->arena)[0];
    size_t root = str_find(text, f->project->config->root);
    return root == STR_NOT_FOUND ? text
                                 : str_format(f->arena, STR_FMT "R" STR_FMT, STR_ARG(str_slice(text, 0, root)),
                                              STR_ARG(str_skip(text, root + f->project->config->root.size)));
}

static void test_01_10_scans_have_absolute_paths_and_the_options(void **state) {
    Fixture *f = *state;
    static const struct {
        const char *input, *expected;
    } cases[] = {
        {"{format: parquet, path: data}", "(SELECT * FROM read_parquet('R/data'))"},
        {"{format: json, path: \"it's.json\"}", "(SELECT * FROM read_json('R/it''s.json'))"},
        {"{format: csv, path: /x/*.csv}", "(SELECT * FROM read_csv('/x/*.csv', header = true))"},
        {"{format: parquet, path: 's3://b/${date}/*'}", "(SELECT * FROM read_parquet('s3://b/2026-07-01/*'))"},
        {"{format: csv, path: 'd/${datetime}.csv'}",
         "(SELECT * FROM read_csv('R/d/20260701T083000Z.csv', header = true))"},
        {"{format: csv, path: a, options: {delimiter: ';', quote: \"'\", nullstr: NA, columns: {n: BIGINT}}}",
         "(SELECT * FROM read_csv('R/a', header = true, delim = ';', quote = '''', nullstr = ['NA'], "
         "types = {'n': 'BIGINT'}))"},
        {"{format: csv, path: a, options: {header: false, nullstr: ['', x], columns: {n: INT, m: DATE}}}",
         "(SELECT * FROM read_csv('R/a', header = false, nullstr = ['', 'x'], columns = {'n': 'INT', 'm': 'DATE'}))"},
        {"{format: delta, path: lake}", "(SELECT * FROM delta_scan('R/lake'))"},
        {"{format: iceberg, path: lake}", "(SELECT * FROM iceberg_scan('R/lake'))"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Str found = scan(f, cases[i].input);
        if (!str_equal(found, str_from(cases[i].expected))) {
            fail_msg("%s\n" STR_FMT "\n%s", cases[i].input, STR_ARG(found), cases[i].expected);
        }
    }
}

static void test_01_10_formats_and_addresses_name_their_extensions(void **state) {
    Fixture *f = *state;
    static const struct {
        const char *input, *expected;
    } cases[] = {
        {"{format: csv, path: a}", ""},
        {"{format: delta, path: a}", "delta"},
        {"{format: iceberg, path: 's3://b/a'}", "iceberg httpfs"},
        {"{format: parquet, path: 'https://h/a.parquet'}", "httpfs"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        (void)scan(f, cases[i].input);
        StrVec names = {0};
        input_extensions(&f->project->config->inputs.items[0], f->arena, &names);
        Str found = str_join(f->arena, names.items, names.count, STR(" "));
        assert_string_equal(found.ptr, cases[i].expected);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PROJECT_TEST(test_01_7_an_input_comes_after_ctes_and_models),
        PROJECT_TEST(test_01_10_4_an_input_named_like_a_model_is_refused),
        PROJECT_TEST(test_01_10_an_engine_that_is_not_of_the_duckdb_family_reads_no_input),
        PROJECT_TEST(a_python_model_takes_no_input),
        PROJECT_TEST(test_01_10_2_watched_files_are_a_part_of_their_readers),
        PROJECT_TEST(test_01_10_a_watched_input_without_a_local_file_is_refused),
        PROJECT_TEST(a_query_that_does_not_read_is_a_fault_beside_watched_inputs),
        PROJECT_TEST(test_01_10_scans_have_absolute_paths_and_the_options),
        PROJECT_TEST(test_01_10_formats_and_addresses_name_their_extensions),
    };
    return cmocka_run_group_tests_name("inputs", tests, NULL, NULL);
}
