/* Checks as they are declared; what they find is in check_compile_test.c. */
#include "project/project_fixture.h"

static int open_orders(void **state) {
    (void)fixture_open(state);
    fixture_write(*state, "models/customers.sql", "SELECT 1 AS id");
    fixture_write(*state, "models/eph.sql", "/* interlace: {materialise: ephemeral} */ SELECT 1 AS id");
    fixture_write(*state, "models/out.sql", "/* interlace: {materialise: file, path: out.csv} */ SELECT 1 AS id");
    return 0;
}
#define CHECK_TEST(name) cmocka_unit_test_setup_teardown(name, open_orders, fixture_close)

/* `checks` is a YAML list in flow style. */
static void write_orders(Fixture *f, const char *checks) {
    fixture_write(f, "models/orders.sql",
                  str_format(f->arena, "/* interlace:\n  checks: %s\n*/\nSELECT 1 AS id, 2 AS amount", checks).ptr);
}

static Str check_names(const Fixture *f) {
    const CheckVec *checks = &fixture_model(f, "orders")->checks;
    StrVec names = {0};
    for (size_t i = 0; i < checks->count; i++) {
        str_vec_push(f->arena, &names, checks->items[i]->name);
    }
    return str_join(f->arena, names.items, names.count, STR(" "));
}

typedef struct Case {
    const char *checks, *expected;
} Case;

static void test_05_1_1_all_forms_give_one_check(void **state) {
    Fixture *f = *state;
    static const Case cases[] = {
        {"[{not_null: id}, {not_null: {column: id}}, {type: not_null, columns: [id]}]",
         "not_null_id not_null_id_2 not_null_id_3"},
        {"[{unique: [id, day]}, {unique: {columns: [id, day]}}, {type: unique, columns: [id, day]}]",
         "unique_id_day unique_id_day_2 unique_id_day_3"},
        {"[{accepted_values: {column: s, values: [a, 1, true]}}]", "accepted_values_s"},
        {"[{type: range, column: amount, min: 0, severity: warn}]", "range_amount"},
        {"[{range: {column: d, min: '2026-01-01', max: 2026-12-31}}]", "range_d"},
        {"[{pattern: {column: e, regex: '.+@.+'}}]", "pattern_e"},
        {"[{freshness: {column: ts, max_age: 24h}}]", "freshness_ts"},
        {"[{relationships: {column: c, to: Customers, field: id}}]", "relationships_c"},
        {"[{row_count: {min: 1}}]", "row_count"},
        {"[{expression: {expression: amount >= 0}}, {expression: {expression: amount < 9, severity: null}}]",
         "expression expression_2"},
        {"[{sql: {query: 'SELECT * FROM {table} WHERE amount < 0'}}]", "sql"},
        {"[{not_null: {column: id, name: ids}}, {unique: {column: id, name: ids}}]", "ids ids_2"},
        {"[{not_null: {column: id, where: amount > 0, description: why}}]", "not_null_id"},
        {"[]", ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        write_orders(f, cases[i].checks);
        assert_loads(f);
        assert_str(check_names(f), cases[i].expected, cases[i].checks);
    }
}

static void test_05_1_2_wrong_checks_are_refused(void **state) {
    Fixture *f = *state;
    static const Case cases[] = {
        {"[not_null]", "'not_null' alone is no check"},
        {"[[a]]", "each entry must be a map that names a type"},
        {"[{not_null: id, severity: warn}]", "'not_null' and 'severity' in one entry are ambiguous"},
        {"[{nonsense: id}]", "check type 'nonsense' is not one of not_null, unique"},
        {"[{python: id}]", "check type 'python' is not one of"},
        {"[{type: not_null, column: id, severity: fatal}]", "severity 'fatal' is not one of error, warn, info"},
        {"not_null", "must be a list of checks"},
        {"{not_null: id}", "must be a list of checks"},
        {"[{row_count: 5}]", "check 'row_count' needs a map"},
        {"[{relationships: c}]", "check 'relationships' needs a map"},
        {"[{expression: amount >= 0}]", "check 'expression' needs a map"},
        {"[{not_null: null}]", "check 'not_null' needs a column"},
        {"[{not_null: []}]", "check 'not_null' needs a column"},
        {"[{unique: [a, a]}]", "names the column 'a' twice"},
        {"[{range: a}]", "check 'range' needs min: or max:"},
        {"[{range: {columns: [a, b], min: 0}}]", "takes one column, not 2"},
        {"[{range: {column: a, min: 3, max: 2}}]", "a min above its max"},
        {"[{range: {column: a, min: low}}]", "needs a number, a date or a timestamp in 'min'"},
        {"[{row_count: {min: 1.5}}]", "needs a whole number of at least 0 in 'min'"},
        {"[{row_count: {column: a, min: 1}}]", "takes no column"},
        {"[{accepted_values: a}]", "needs values:"},
        {"[{accepted_values: {column: a, values: open}}]", "needs a list in 'values'"},
        {"[{accepted_values: {column: a, values: [[x]]}}]", "not a list"},
        {"[{accepted_values: {column: a, values: [null]}}]", "needs texts, numbers or booleans"},
        {"[{pattern: a}]", "needs regex:"},
        {"[{pattern: {column: a, regex: '('}}]", "has a regex '(' with an unclosed ("},
        {"[{freshness: {column: a}}]", "needs max_age:"},
        {"[{freshness: {column: a, max_age: 1 day}}]", "needs a duration"},
        {"[{relationships: {column: c, to: customrs, field: id}}]",
         "'customrs', which is no model; did you mean 'customers'?"},
        {"[{relationships: {column: c, to: eph, field: id}}]", "'eph', which is materialised as ephemeral"},
        {"[{relationships: {column: c, to: out, field: id}}]", "'out', which is materialised as file"},
        {"[{relationships: {column: c, to: customers}}]", "needs field:"},
        {"[{not_null: {column: a, min: 0}}]", "check 'not_null' has no 'min'; it takes where, column, severity"},
        {"[{row_count: {min: 0, where: a > 0}}]", "check 'row_count' has no 'where'"},
        {"[{expression: {severity: warn}}]", "needs expression:"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        write_orders(f, cases[i].checks);
        assert_fault_count(f, 1);
        assert_contains(error_line(&f->faults.items[0], f->arena), cases[i].expected);
        assert_contains(f->faults.items[0].message, "model 'orders'");
        assert_contains(f->faults.items[0].place.file, "models/orders.sql");
        assert_int_equal(f->faults.items[0].kind, ERROR_DEFINITION);
    }
}

static void sql_in_checks_is_read_when_the_project_loads(void **state) {
    Fixture *f = *state;
    static const Case cases[] = {
        {"[{expression: {expression: 'amount >'}}]", "while reading check 'expression' of model 'orders'"},
        {"[{not_null: {column: id, where: '1 = = 2'}}]", "(models/orders.sql:2:48); while reading check 'not_null'"},
        {"[{sql: {query: 'SELECT * FROM {table} WHERE'}}]", "while reading check 'sql' of model 'orders'"},
        {"[{sql: {query: 'DELETE FROM {table}'}}]", "DELETE"},
        {"[{sql: {query: 'SELECT 1; SELECT 2'}}]", "2 statements"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        write_orders(f, cases[i].checks);
        assert_fault_count(f, 1);
        assert_int_equal(f->faults.items[0].kind, ERROR_COMPILATION);
        assert_contains(error_line(&f->faults.items[0], f->arena), cases[i].expected);
    }
}

static void checks_know_what_they_read(void **state) {
    Fixture *f = *state;
    write_orders(
        f,
        "[{relationships: {column: c, to: customers, field: id}}, {relationships: {column: p, to: orders, field: id}},"
        "{sql: {query: 'SELECT * FROM {table} JOIN customers USING (id) JOIN ext.t USING (id)'}},"
        "{expression: {expression: 'id IN (SELECT id FROM main.customers)'}}]");
    assert_loads(f);
    const Model *orders = fixture_model(f, "orders");
    size_t customers = fixture_model(f, "customers")->index;
    static const size_t counts[] = {1, 0, 1, 1};
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        const Check *check = orders->checks.items[i];
        assert_int_equal(check->model, orders->index);
        assert_int_equal(check->reads.count, counts[i]);
        assert_true(check->reads.count == 0 || check->reads.items[0] == customers);
    }
    assert_int_equal(orders->upstreams.count, 0); /* a check is no edge of the graph */
}

static void a_check_may_read_a_model_that_reads_its_own(void **state) {
    Fixture *f = *state;
    fixture_write(f, "models/sums.sql", "SELECT count(*) AS n FROM orders");
    write_orders(f, "[{sql: {query: SELECT * FROM sums WHERE n = 0}}]");
    assert_loads(f);
    assert_int_equal(fixture_model(f, "orders")->checks.items[0]->reads.items[0], fixture_model(f, "sums")->index);
}

static void a_check_is_metadata(void **state) {
    Fixture *f = *state;
    write_orders(f, "[{not_null: id}]");
    assert_loads(f);
    Str config = str_copy(f->arena, fixture_model(f, "orders")->config_json);
    assert_contains(
        fixture_model(f, "orders")->metadata_json,
        "{\"columns\":[\"id\"],\"description\":null,\"name\":\"not_null_id\",\"params\":{},\"severity\":\"error\","
        "\"type\":\"not_null\"}");
    Str metadata = str_copy(f->arena, fixture_model(f, "orders")->metadata_json);
    write_orders(f, "[{type: not_null, column: id, severity: warn}]");
    assert_loads(f);
    assert_str(fixture_model(f, "orders")->config_json, str_to_c(f->arena, config), "config");
    assert_false(str_equal(fixture_model(f, "orders")->metadata_json, metadata));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CHECK_TEST(test_05_1_1_all_forms_give_one_check),         CHECK_TEST(test_05_1_2_wrong_checks_are_refused),
        CHECK_TEST(sql_in_checks_is_read_when_the_project_loads), CHECK_TEST(checks_know_what_they_read),
        CHECK_TEST(a_check_may_read_a_model_that_reads_its_own),  CHECK_TEST(a_check_is_metadata),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
