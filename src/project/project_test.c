#include "project/project_fixture.h"

#include <sys/stat.h>

static void test_01_1_1_an_empty_folder_is_an_empty_project(void **state) {
    Fixture *f = *state;
    assert_loads(f);
    assert_int_equal(f->project->model_count, 0);
}

static void models_are_named_by_their_paths(void **state) {
    Fixture *f = *state;
    fixture_write(f, "interlace.yaml", "model_paths: [models/, more]\n");
    fixture_write(f, "models/a.sql", "SELECT 1");
    fixture_write(f, "models/silver/orders.sql", "SELECT 1");
    fixture_write(f, "models/gold.items.sql", "SELECT 1");
    fixture_write(f, "models/named.sql", "/* interlace: {name: other.name} */ SELECT 1");
    fixture_write(f, "more/b.sql", "SELECT 1");
    fixture_write(f, "models/README.md", "no model");
    assert_loads(f);
    assert_int_equal(f->project->model_count, 5);
    (void)fixture_model(f, "a");
    (void)fixture_model(f, "SILVER.orders");
    (void)fixture_model(f, "gold.items");
    (void)fixture_model(f, "b");
    const Model *model = fixture_model(f, "other.name");
    assert_str(model->schema, "other", "schema");
    assert_str(model->place.file, "models/named.sql", "file");
}

static void names_that_collide_are_refused_with_both_files(void **state) {
    Fixture *f = *state;
    fixture_write(f, "models/a.sql", "SELECT 1");
    fixture_write(f, "models/A.sql", "SELECT 1");
    fixture_write(f, "models/x/y.sql", "SELECT 1");
    fixture_write(f, "models/z.sql", "/* interlace: {name: x.y} */ SELECT 1");
    assert_fault_count(f, 2);
    assert_fault(f, "name.duplicate",
                 "'A' (models/A.sql) and 'a' (models/a.sql) have names that differ only in letter");
    assert_fault(f, "name.duplicate", "'x.y' (models/x/y.sql) and 'x.y' (models/z.sql) have one name");
}

static void names_that_are_no_identifiers_or_reserved_are_refused(void **state) {
    Fixture *f = *state;
    fixture_write(f, "models/1st.sql", "SELECT 1");
    fixture_write(f, "models/größe.sql", "SELECT 1");
    fixture_write(f, "models/a b.sql", "SELECT 1");
    fixture_write(f, "models/a..b.sql", "SELECT 1");
    fixture_write(f, "models/n.sql", "/* interlace: {name: 'a-b'} */ SELECT 1");
    fixture_write(f, "models/interlace/x.sql", "SELECT 1");
    fixture_write(f, "models/Streams/x.sql", "SELECT 1");
    fixture_write(f, "models/interlace__y/x.sql", "SELECT 1");
    fixture_write(f, "models/streams.sql", "SELECT 1"); /* a name, not a schema */
    assert_fault_count(f, 8);
    assert_fault(f, "name.part", "models/1st.sql");
    assert_fault(f, "name.part", "models/größe.sql");
    assert_fault(f, "name.part", "models/a b.sql");
    assert_fault(f, "name.part", "models/a..b.sql");
    assert_fault(f, "name.part",
                 "'a-b' is no identifier (letters, digits and underscores, no digit first) (models/n.sql:1:22)");
    assert_fault(f, "name.reserved", "models/interlace/x.sql");
    assert_fault(f, "name.reserved", "models/Streams/x.sql");
    assert_fault(f, "name.reserved", "models/interlace__y/x.sql");
}

static void case_048_byte_order_mark_crlf_and_letter_case(void **state) {
    Fixture *f = *state;
    fixture_write(f, "models/sizes.sql", "\xEF\xBB\xBFSELECT 1 AS id,\r\n  'Weiß' AS \"Farbe\"\r\n");
    fixture_write(f, "models/Orders.sql", "SELECT 1 AS id");
    fixture_write(f, "models/sub/x.sql", "SELECT id FROM orders");
    assert_loads(f);
    assert_upstreams(f, "sub.x", "Orders");
    assert_true(str_starts_with(fixture_model(f, "sizes")->query.text, STR("SELECT")));
    fixture_write(f, "models/orders.sql", "SELECT 2 AS id");
    assert_fault_count(f, 1);
    assert_fault(f, "name.duplicate", "'Orders' (models/Orders.sql) and 'orders' (models/orders.sql)");
    fixture_remove(f, "models/orders.sql");
    fixture_write(f, "models/bad.sql", "SELECT 1,\n 'M\xFCller'");
    assert_fault_count(f, 1);
    assert_fault(f, "file.encoding", "'models/bad.sql' is not UTF-8: byte 0xFC (models/bad.sql:2:4)");
}

static void case_004_configuration_is_never_ignored(void **state) {
    Fixture *f = *state;
    fixture_write(f, "models/a.sql", "/* interlace:\n  strategy: merge\n   key: id\n*/\nSELECT * FROM src.main.stock");
    fixture_write(f, "models/b.sql",
                  "/* (c) Example Ltd */\n/* interlace: {owner: me} */\nSELECT * FROM src.main.stock");
    fixture_write(f, "models/c.sql", "/* interlace:\n  startegy: merge\n  key: id\n*/\nSELECT 1");
    fixture_write(f, "models/d.sql", "SELECT (1\nFROM t");
    assert_fault_count(f, 3);
    assert_contains(error_line(&f->faults.items[0], f->arena), "(models/a.sql:3:");
    assert_fault(f, "key.unknown", "'startegy'; did you mean 'strategy'? (models/c.sql:2:3)");
    assert_fault(f, "CompilationError", "models/d.sql:2:1");
    assert_fault(f, "CompilationError", "model 'd'");

    fixture_remove(f, "models/a.sql");
    fixture_remove(f, "models/c.sql");
    fixture_remove(f, "models/d.sql");
    assert_loads(f);
    assert_str(fixture_model(f, "b")->owner, "me", "a licence may come first");
}

static void test_01_3_3_only_one_query_is_a_model(void **state) {
    Fixture *f = *state;
    fixture_write(f, "models/two.sql", "SELECT 1; SELECT 2");
    fixture_write(f, "models/insert.sql", "INSERT INTO t VALUES (1)");
    fixture_write(f, "models/nothing.sql", "-- nothing");
    fixture_write(f, "models/pivot.sql", "PIVOT t ON a USING sum(b)");
    fixture_write(f, "models/good.sql", "SELECT 4 AS x;");
    fixture_write(f, "models/from.sql", "FROM range(3)");
    fixture_write(f, "models/values.sql", "VALUES (1), (2)");
    assert_fault_count(f, 4);
    assert_fault(f, "CompilationError", "model 'two'");
    assert_fault(f, "CompilationError", "INSERT");
    assert_fault(f, "CompilationError", "model 'nothing'");
    assert_fault(f, "CompilationError", "models/pivot.sql:1:1");
}

static void files_that_cannot_be_read_are_named(void **state) {
    Fixture *f = *state;
    fixture_write(f, "models/x.sql/inner.sql", "SELECT 1");
    fixture_write(f, "models/ok.sql", "SELECT 1");
    fixture_write_bytes(f, "models/nul.sql", "SELECT 1\0", 9);
    assert_int_equal(symlink("nowhere.sql", str_format(f->arena, STR_FMT "/models/gone.sql", STR_ARG(f->root)).ptr), 0);
    assert_fault_count(f, 3);
    assert_fault(f, "file.directory", "'models/x.sql' is a folder");
    assert_fault(f, "file.encoding", "'models/nul.sql' holds a NUL byte");
    assert_fault(f, "file.unreadable", "gone.sql': No such file or directory (models/gone.sql)");
}

static void test_01_5_4_all_faults_are_told_in_file_order(void **state) {
    Fixture *f = *state;
    fixture_write(f, "models/c.sql", "/* interlace: {strategy: merge} */ SELECT 1");
    fixture_write(f, "models/a.sql", "/* interlace: {materialise: view, strategy: scd} */ SELECT 1");
    fixture_write(f, "models/b.sql", "/* interlace: {strategy: append, ownr: x} */ SELECT 1 FROM");
    assert_fault_count(f, 5);
    const char *const files[] = {"models/a.sql", "models/b.sql", "models/b.sql", "models/b.sql", "models/c.sql"};
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        assert_str(f->faults.items[i].place.file, files[i], "order");
    }
}

static void test_01_4_2_values_that_name_nothing_are_refused(void **state) {
    Fixture *f = *state;
    fixture_write(f, "models/a.sql", "/* interlace: {key: [id, id]} */ SELECT 1");
    fixture_write(f, "models/b.sql", "/* interlace: {engine: nowhere} */ SELECT 1");
    fixture_write(f, "models/c.sql", "/* interlace: {depends_on: [nothing]} */ SELECT 1");
    fixture_write(f, "models/d.sql", "/* interlace: {dialect: cobol} */ SELECT 1");
    assert_fault_count(f, 4);
    assert_fault(f, "key.value", "names 'id' twice");
    assert_fault(f, "key.value", "engine 'nowhere' is not configured; there are default");
    assert_fault(f, "reference.unknown", "'nothing'");
    assert_fault(f, "key.value", "dialect 'cobol' is not one of");
}

static void test_01_6_macros_and_vars_are_expanded_first(void **state) {
    Fixture *f = *state;
    fixture_write(f, "interlace.yaml",
                  "vars: {region: {type: string, value: \"O'Brien; DROP TABLE x\"}, "
                  "low: {type: int, value: -5}, day: {type: date, value: 2026-01-01}}\n");
    fixture_write(f, "macros/m.sql",
                  "CREATE MACRO cents(x) AS (x / 100)::DECIMAL(16,2);\n"
                  "CREATE MACRO in_orders(i) AS i IN (SELECT id FROM orders);\n");
    fixture_write(f, "models/orders.sql", "SELECT 1 AS id");
    fixture_write(f, "models/a.sql",
                  "SELECT cents(5) AS c, 1-var('low') AS l, VAR('day') AS d WHERE 'x' = var('region')");
    fixture_write(f, "models/b.sql", "SELECT 1 AS id WHERE in_orders(1)");
    assert_loads(f);
    Str sql = fixture_model(f, "a")->query.text;
    assert_contains(sql, "'O''Brien; DROP TABLE x'");
    assert_contains(sql, "1-(-5)");
    assert_contains(sql, "DATE '2026-01-01'");
    assert_contains(sql, "/ 100)");
    assert_upstreams(f, "b", "orders");

    fixture_write(f, "models/c.sql", "SELECT cents(1, 2)");
    fixture_write(f, "models/d.sql", "SELECT var('nope')");
    assert_fault_count(f, 2);
    assert_fault(f, "DefinitionError", "model 'c'");
    assert_fault(f, "DefinitionError", "region");
}

static void defaults_written_out_change_no_json_part(void **state) {
    Fixture *f = *state;
    fixture_write(f, "models/a.sql", "SELECT 1 AS ts, 1 AS id");
    fixture_write(
        f, "models/b.sql",
        "/* interlace: {materialise: virtual, strategy: replace, key: [], engine: default, dialect: duckdb} */"
        "SELECT 1 AS ts, 1 AS id");
    fixture_write(f, "models/c.sql", "/* interlace: {strategy: incremental, time_column: ts} */ SELECT 1 AS ts");
    fixture_write(f, "models/d.sql",
                  "/* interlace: {time_column: ts, backfill: none, interval: ' 1 d', tags: [x], "
                  "strategy: incremental_by_time, batch: 3, owner: me} */ SELECT 1 AS ts");
    assert_loads(f);
    Str plain = fixture_model(f, "a")->config_json;
    assert_str(fixture_model(f, "b")->config_json, str_to_c(f->arena, plain), "replace");
    assert_str(fixture_model(f, "d")->config_json, str_to_c(f->arena, fixture_model(f, "c")->config_json),
               "incremental");
    assert_contains(fixture_model(f, "c")->config_json, "\"interval\":\"1d\"");
    assert_str(fixture_model(f, "a")->physical_json, "", "nothing physical");
    assert_str(fixture_model(f, "a")->metadata_json,
               "{\"checks\":[],\"columns\":null,\"description\":null,\"owner\":null,\"tags\":[]}", "metadata");
}

/* Each covered key moves the part; each other one leaves it (spec 01 §13). */
static void json_parts_cover_what_the_fingerprint_covers(void **state) {
    static const struct {
        const char *base, *changed;
        bool moves;
    } cases[] = {
        {"tags: [a]", "materialise: view", true},
        {"tags: [a]", "key: id", true},
        {"strategy: merge, key: id", "strategy: hash_merge, key: id", true},
        {"strategy: incremental, time_column: a", "strategy: incremental, time_column: b", true},
        {"strategy: incremental, time_column: a", "strategy: incremental, time_column: a, interval: 2d", true},
        {"strategy: incremental, time_column: a", "strategy: incremental, time_column: a, clock: wall", true},
        {"strategy: incremental, time_column: a", "strategy: incremental, time_column: a, reads: {x: {before: 1d}}",
         true},
        {"strategy: incremental, time_column: a",
         "strategy: incremental, time_column: a, backfill: none, batch: 2, "
         "lookback: 1, concurrency: 2",
         false},
        {"materialise: file, path: a.csv", "materialise: file, path: b.csv", true},
        {"materialise: file, path: a.csv", "materialise: file, path: a.csv, format: json", true},
        {"materialise: file, path: a.csv", "materialise: file, path: a.csv, format: csv, environments: [prod]", false},
        {"materialise: file, path: a.csv", "materialise: file, path: a.csv, options: {header: false}", true},
        {"materialise: file, path: a.csv, environments: [x, y]", "materialise: file, path: a.csv, environments: [y, x]",
         false},
        {"materialise: file, path: a.csv", "materialise: file, path: a.csv, environments: [dev]", true},
        {"tags: [a]", "owner: me, description: d, columns: [a], schedule: {every: 1h}", false},
        {"tags: [a]", "indexes: [a], audit: {rows: 1%}, checks: [{row_count: {min: 1}}]", false},
    };
    Fixture *f = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        fixture_write(f, "models/a.sql", str_format(f->arena, "/* interlace: {%s} */ SELECT 1", cases[i].base).ptr);
        assert_loads(f);
        Str before = str_copy(f->arena, fixture_model(f, "a")->config_json);
        fixture_write(f, "models/a.sql", str_format(f->arena, "/* interlace: {%s} */ SELECT 1", cases[i].changed).ptr);
        assert_loads(f);
        if (str_equal(before, fixture_model(f, "a")->config_json) == cases[i].moves) {
            print_error("%s / %s\n", cases[i].base, cases[i].changed);
            fail();
        }
    }
}

static void two_models_do_not_deliver_to_one_place(void **state) {
    Fixture *f = *state;
    fixture_write(f, "interlace.yaml", "attach: {crm: crm.duckdb}\n");
    fixture_write(f, "models/a.sql", "/* interlace: {materialise: file, path: out/a.csv} */ SELECT 1");
    fixture_write(f, "models/b.sql", "/* interlace: {materialise: file, path: ./out/../out/a.csv} */ SELECT 1");
    fixture_write(f, "models/c.sql", "/* interlace: {materialise: table, target: crm.t} */ SELECT 1");
    fixture_write(f, "models/d.sql", "/* interlace: {materialise: table, target: crm.T, strategy: append} */ SELECT 1");
    fixture_write(f, "models/e.sql", "/* interlace: {materialise: table, target: crm.u, strategy: append} */ SELECT 1");
    fixture_write(f, "models/g.sql", "/* interlace: {materialise: table, target: crm.u, strategy: append} */ SELECT 1");
    assert_fault_count(f, 2);
    assert_fault(f, "combo.shared", "path './out/../out/a.csv' is that of model 'a' (models/a.sql) too");
    assert_fault(f, "combo.shared", "target 'crm.T' is that of model 'c'");
}

static void later_features_are_refused_by_name(void **state) {
    static const char *const cases[][2] = {
        {"dialect: postgres", "a dialect that is not its engine's"},
        {"engine: second", "an engine other than the default one"},
    };
    Fixture *f = *state;
    fixture_write(f, "interlace.yaml",
                  "engines:\n  default: {database: a.duckdb, attach: {crm: crm.duckdb}}\n"
                  "  second: {database: b.duckdb}\n");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        fixture_write(f, "models/a.sql", str_format(f->arena, "/* interlace: {%s} */ SELECT 1 AS id", cases[i][0]).ptr);
        assert_loads(f);
        assert_true(failed(project_check_supported(f->project, &f->faults)));
        assert_int_equal(f->faults.count, 1);
        assert_int_equal(f->faults.items[0].kind, ERROR_PLAN);
        assert_fault(f, "feature.later", cases[i][1]);
        assert_fault(f, "feature.later", "model 'a'");
    }
}

static void what_this_version_does_is_supported(void **state) {
    Fixture *f = *state;
    fixture_write(f, "models/a.sql",
                  "/* interlace: {key: id, owner: me, tags: [x], description: d, columns: [id], "
                  "schedule: {every: 1h}, checks: [{not_null: id}]} */ SELECT 1 AS id");
    fixture_write(f, "models/b.sql", "/* interlace: {materialise: view} */ SELECT * FROM a");
    fixture_write(f, "models/c.sql", "/* interlace: {materialise: ephemeral} */ SELECT * FROM a");
    fixture_write(f, "models/d.sql", "/* interlace: {strategy: merge, key: id} */ SELECT * FROM a");
    fixture_write(f, "models/e.sql", "/* interlace: {materialise: file, path: a.csv} */ SELECT * FROM a");
    assert_loads(f);
    assert_false(failed(project_check_supported(f->project, &f->faults)));
}

static void looking_up_names_the_nearest(void **state) {
    Fixture *f = *state;
    fixture_write(f, "models/orders.sql", "SELECT 1");
    assert_loads(f);
    AUTO(error) Error err;
    error_init(&err);
    const Model *model;
    assert_false(failed(project_get(f->project, STR("ORDERS"), &model, &err)));
    assert_true(failed(project_get(f->project, STR("ordres"), &model, &err)));
    assert_int_equal(err.kind, ERROR_SELECTION);
    assert_contains(err.message, "'ordres'");
    assert_contains(err.hint, "'orders'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PROJECT_TEST(test_01_1_1_an_empty_folder_is_an_empty_project),
        PROJECT_TEST(models_are_named_by_their_paths),
        PROJECT_TEST(names_that_collide_are_refused_with_both_files),
        PROJECT_TEST(names_that_are_no_identifiers_or_reserved_are_refused),
        PROJECT_TEST(case_048_byte_order_mark_crlf_and_letter_case),
        PROJECT_TEST(case_004_configuration_is_never_ignored),
        PROJECT_TEST(test_01_3_3_only_one_query_is_a_model),
        PROJECT_TEST(files_that_cannot_be_read_are_named),
        PROJECT_TEST(test_01_5_4_all_faults_are_told_in_file_order),
        PROJECT_TEST(test_01_4_2_values_that_name_nothing_are_refused),
        PROJECT_TEST(test_01_6_macros_and_vars_are_expanded_first),
        PROJECT_TEST(defaults_written_out_change_no_json_part),
        PROJECT_TEST(json_parts_cover_what_the_fingerprint_covers),
        PROJECT_TEST(two_models_do_not_deliver_to_one_place),
        PROJECT_TEST(later_features_are_refused_by_name),
        PROJECT_TEST(what_this_version_does_is_supported),
        PROJECT_TEST(looking_up_names_the_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
