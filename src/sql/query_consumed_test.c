/* Which columns of `up` a query uses, and what new ones of it mean to the query (spec 03 §3.2). */
#include "sql/query_consumed.h"
#include "sql/sql_fixture.h"

/* The places of the table `up`. */
static void find_places(SqlFixture *f, Str sql, size_t *offsets, size_t *count) {
    const SqlFacts *facts = analyze(f, sql).facts;
    *count = 0;
    for (size_t i = 0; i < facts->tables.count && *count < 4; i++) {
        if (str_equal_fold(facts->tables.items[i].name, STR("up"))) {
            offsets[(*count)++] = facts->tables.items[i].start;
        }
    }
}

/* "x y", "all"; then " closed", " open", " passes" on. */
static Str consumption_form(SqlFixture *f, Str sql) {
    size_t offsets[4], count;
    find_places(f, sql, offsets, &count);
    QueryConsumption consumption;
    query_consumed(parse(f, sql), offsets, count, f->arena, &consumption);
    Str columns = str_join(f->arena, consumption.columns.items, consumption.columns.count, STR(" "));
    const char *state = consumption.passes_on ? "passes" : consumption.open_reason.size > 0 ? "open" : "closed";
    return str_format(f->arena, STR_FMT " | %s", STR_ARG(consumption.all_reason.size > 0 ? STR("all") : columns),
                      state);
}

#define CHECK(...)                                                                                                     \
    do {                                                                                                               \
        static const char *const cases[][2] = {__VA_ARGS__};                                                           \
        for (size_t i = 0; i < COUNT_OF(cases); i++) {                                                                 \
            check_text(cases[i][0], consumption_form(*state, str_from(cases[i][0])), cases[i][1]);                     \
        }                                                                                                              \
    } while (0)

static void columns_of_one_source_need_no_name_in_front(void **state) {
    CHECK({"SELECT x FROM up", "x | closed"}, {"SELECT count(*) n FROM up", " | closed"},
          {"SELECT x + y s FROM up WHERE z > 1 GROUP BY x, y HAVING max(w) > 1 ORDER BY v", "x y z w v | closed"},
          {"SELECT u.x, main.up.y FROM up u", "x y main | closed"}, {"SELECT rec.f FROM up", "rec | closed"},
          {"SELECT up.rec.f FROM up", "rec | closed"}, {"SELECT main.up.y FROM main.up", "y | closed"},
          {"SELECT sum(x) OVER (PARTITION BY y ORDER BY z) s FROM up", "x y z | closed"});
}

static void test_03_3_5_columns_of_several_sources_need_one(void **state) {
    CHECK({"SELECT u.x, o.w FROM up u JOIN other o ON u.id = o.id", "id x | closed"},
          {"SELECT u.x, w FROM up u JOIN other o ON u.id = o.id", "all | closed"},
          {"SELECT u.x FROM up u JOIN other o USING (id)", "id x | closed"},
          {"SELECT u.x, (SELECT max(o.v) FROM other o WHERE o.id = u.id) m FROM up u", "x id | closed"},
          {"SELECT o.v FROM other o WHERE EXISTS (SELECT 1 FROM up WHERE up.k = o.k)", "k | closed"},
          {"WITH c AS (SELECT u.x FROM up u) SELECT c.x FROM c", "x | closed"},
          {"WITH c AS (SELECT u.x FROM up u) SELECT x FROM c", "all | closed"},
          {"SELECT a.x, b.y FROM up a JOIN up b ON a.id = b.id", "id x y | closed"},
          {"SELECT u.x FROM up u UNION ALL SELECT o.y FROM other o", "x | closed"});
}

static void stars_use_all_and_pass_new_columns_on(void **state) {
    CHECK({"SELECT * FROM up", "all | passes"}, {"FROM up", "all | passes"},
          {"SELECT u.*, 1 AS k FROM up u", "all | passes"},
          {"SELECT * EXCLUDE (x) FROM up WHERE y > 1", "all | passes"},
          {"SELECT * REPLACE (x + 1 AS x) FROM up", "all | passes"},
          {"SELECT u.*, o.w FROM up u JOIN other o USING (id)", "all | passes"},
          {"WITH c AS (SELECT * FROM up) SELECT c.x FROM c", "all | passes"},
          {"SELECT o.v FROM other o WHERE EXISTS (SELECT * FROM up WHERE up.k = o.k)", "all | passes"});
}

static void stars_that_let_new_columns_change_old_ones_are_only_open(void **state) {
    CHECK({"SELECT DISTINCT * FROM up", "all | open"}, {"SELECT * FROM up UNION ALL SELECT * FROM other", "all | open"},
          {"SELECT * FROM up JOIN other USING (id)", "all | open"},
          {"SELECT u.*, o.* FROM up u, other o", "all | open"}, {"SELECT max(COLUMNS(*)) FROM up", "all | open"},
          {"SELECT x FROM up WHERE COLUMNS(*) > 1", "all | open"},
          {"SELECT * FROM (SELECT * FROM up) AS s(a, b)", "all | open"},
          {"SELECT * FROM up ORDER BY x LIMIT 3", "all | open"},
          {"WITH c(a) AS (SELECT * FROM up) SELECT a FROM c", "all | open"},
          {"SELECT count(*) n, g FROM (SELECT * FROM up) GROUP BY ALL", "all | passes"},
          {"SELECT x, * FROM up GROUP BY ALL", "all | open"});
}

static void what_sees_new_columns_is_open(void **state) {
    CHECK({"SELECT x FROM up NATURAL JOIN other", "all | open"}, {"SELECT u FROM up u", "all | open"},
          {"SELECT to_json(up) j FROM up", "all | open"}, {"SELECT x, u FROM up u", "all | open"},
          {"PIVOT up ON x IN (1, 2) USING sum(y)", "all | open"}, {"SUMMARIZE up", "all | open"},
          {"DESCRIBE up", "all | open"}, {"SELECT x FROM up UNION BY NAME SELECT y FROM other", "all | open"},
          {"SELECT a FROM up AS u(a, b)", "all | open"}, {"SELECT rowid, x FROM up", "all | open"});
}

static void names_that_could_be_taken_over_are_kept(void **state) {
    SqlFixture *f = *state;
    Str sql =
        STR("SELECT u.*, o.w AS z, list_transform(u.l, v -> v + 1) t FROM up u JOIN other o USING (k) ORDER BY q");
    size_t offsets[4], count;
    find_places(f, sql, offsets, &count);
    QueryConsumption consumption;
    query_consumed(parse(f, sql), offsets, count, f->arena, &consumption);
    static const char *const loose[] = {"k", "z", "t", "v", "q"};
    for (size_t i = 0; i < COUNT_OF(loose); i++) {
        assert_true(str_vec_contains_fold(&consumption.loose, str_from(loose[i])));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_of_one_source_need_no_name_in_front),
        cmocka_unit_test(test_03_3_5_columns_of_several_sources_need_one),
        cmocka_unit_test(stars_use_all_and_pass_new_columns_on),
        cmocka_unit_test(stars_that_let_new_columns_change_old_ones_are_only_open),
        cmocka_unit_test(what_sees_new_columns_is_open),
        cmocka_unit_test(names_that_could_be_taken_over_are_kept),
    };
    return cmocka_run_group_tests_name("query_consumed", tests, sql_fixture_setup, sql_fixture_teardown);
}
