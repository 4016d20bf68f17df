/* What an edit of a query can change (spec 03 §3.1), and whether a query gives the same rows again. */
#include "sql/query_determined.h"
#include "sql/query_diff.h"
#include "sql/sql_fixture.h"

typedef struct DiffCase {
    const char *before, *after;
    const char *form; /* "same", "+ names", "~ touched + added", "all" */
} DiffCase;

static QueryDiff diff_of(SqlFixture *f, const char *before, const char *after) {
    QueryVersion old = {.text = str_from(before), .query = parse(f, str_from(before))};
    QueryVersion new = {.text = str_from(after), .query = parse(f, str_from(after))};
    QueryDiff diff;
    query_diff(&old, &new, f->arena, &diff);
    return diff;
}

static Str diff_form(SqlFixture *f, const QueryDiff *diff) {
    Str touched = str_join(f->arena, diff->touched.items, diff->touched.count, STR(" "));
    Str added = str_join(f->arena, diff->added.items, diff->added.count, STR(" "));
    switch (diff->kind) {
    case QUERY_DIFF_NONE:
        return STR("same");
    case QUERY_DIFF_ALL:
        return STR("all");
    case QUERY_DIFF_ADDED:
        return str_format(f->arena, "+ " STR_FMT, STR_ARG(added));
    case QUERY_DIFF_TOUCHED:
        break;
    }
    return added.size == 0 ? str_format(f->arena, "~ " STR_FMT, STR_ARG(touched))
                           : str_format(f->arena, "~ " STR_FMT " + " STR_FMT, STR_ARG(touched), STR_ARG(added));
}

static void check_cases(SqlFixture *f, const DiffCase *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        QueryDiff diff = diff_of(f, cases[i].before, cases[i].after);
        check_text(cases[i].after, diff_form(f, &diff), cases[i].form);
        assert_true(diff.reason.size > 0);
    }
}

#define CHECK(...)                                                                                                     \
    do {                                                                                                               \
        static const DiffCase cases[] = {__VA_ARGS__};                                                                 \
        check_cases(*state, cases, COUNT_OF(cases));                                                                   \
    } while (0)

static void new_columns_leave_the_old_ones_alone(void **state) {
    CHECK(
        {"SELECT 1 AS x, 2 AS y", "SELECT 1 AS x, 2 AS y, 3 AS z", "+ z"},
        {"SELECT a, b FROM t WHERE a > 1", "SELECT new, a, b, a + b AS s FROM t WHERE a > 1", "+ new s"},
        {"SELECT g, count(*) n FROM s GROUP BY g", "SELECT g, count(*) n, sum(v) t FROM s GROUP BY g", "+ t"},
        {"SELECT count(*) n FROM s", "SELECT count(*) n, max(v) m FROM s", "+ m"},
        {"SELECT sum(v) s FROM t", "SELECT sum(v) s, 1 AS one FROM t", "+ one"},
        {"SELECT t.a FROM t JOIN u USING (k)", "SELECT t.a, u.b, rank() OVER (ORDER BY u.b) r FROM t JOIN u USING (k)",
         "+ b r"},
        {"WITH c AS (SELECT z, a FROM t) SELECT a FROM c", "WITH c AS (SELECT z, a FROM t) SELECT a, z FROM c", "+ z"},
        {"SELECT a FROM t", "SELECT a, (SELECT u.b FROM u WHERE u.id = t.id) b FROM t", "+ b"});
}

static void changed_columns_are_told_apart(void **state) {
    CHECK({"SELECT 1 AS x, 2 AS y", "SELECT 1 AS x, 20 AS y", "~ y"}, {"SELECT 1 AS x, 2 AS y", "SELECT 1 AS x", "~ y"},
          {"SELECT id, note FROM t", "SELECT id, note AS memo FROM t", "~ note + memo"},
          {"SELECT id, lower(n) AS n, m FROM t", "SELECT id, upper(n) AS n, 1 AS k, m FROM t", "~ n + k"},
          {"SELECT g, sum(v) s FROM t GROUP BY g", "SELECT g, avg(v) s FROM t GROUP BY g", "~ s"},
          {"SELECT t.x, 1 AS y FROM t WHERE t.y > 1", "SELECT t.x, 2 AS y FROM t WHERE t.y > 1", "~ y"});
}

static void spelling_alone_is_no_change(void **state) {
    CHECK({"SELECT a x FROM t", "SELECT (a) AS x FROM t", "same"},
          {"SELECT a::INT AS x FROM t", "SELECT CAST(a AS INTEGER) AS x FROM t", "same"},
          {"SELECT a AS \"X\" FROM t", "SELECT a AS \"x\" FROM t", "all"},
          {"SELECT a AS x FROM t", "SELECT a AS \"X\" FROM t", "all"},
          {"SELECT a FROM 'Data.csv'", "SELECT a, 1 AS b FROM 'data.csv'", "all"});
}

static void the_rest_of_a_query_decides_about_rows(void **state) {
    CHECK({"SELECT a FROM t", "SELECT a FROM t WHERE a > 1", "all"},
          {"SELECT a FROM t", "SELECT a, b FROM t, u", "all"},
          {"SELECT count(*) n FROM s GROUP BY g", "SELECT h, count(*) n FROM s GROUP BY g, h", "all"},
          {"WITH c AS (SELECT 1 AS a) SELECT a FROM c", "WITH c AS (SELECT 2 AS a) SELECT a FROM c", "all"},
          {"SELECT a FROM t ORDER BY a LIMIT 3", "SELECT a, b FROM t ORDER BY a LIMIT 4", "all"},
          {"SELECT a FROM t QUALIFY rank() OVER (ORDER BY t.k) = 1",
           "SELECT a FROM t QUALIFY rank() OVER (ORDER BY t.l) = 1", "all"},
          {"SELECT a, b FROM t", "SELECT b, a FROM t", "all"}, {"SELECT a, b FROM t", "SELECT b, a, c FROM t", "all"},
          {"SELECT a FROM t", "SELECT DISTINCT a FROM t", "all"},
          {"SELECT a FROM t", "SELECT a FROM t USING SAMPLE 10%", "all"});
}

static void test_03_3_2_what_may_move_rows_is_anything(void **state) {
    CHECK({"SELECT 1 AS one FROM t", "SELECT 1 AS one, count(*) AS n FROM t", "all"},
          {"SELECT 1 AS one, count(*) AS n FROM t", "SELECT 1 AS one FROM t", "all"},
          {"SELECT 1 AS one FROM t", "SELECT count(*) AS one FROM t", "all"},
          {"SELECT a FROM t", "SELECT a, unnest(l) AS e FROM t", "all"},
          {"SELECT a FROM t", "SELECT a, regexp_split_to_table(b, ',') AS e FROM t", "all"},
          {"SELECT a FROM t", "SELECT a, my_macro(b) AS m FROM t", "all"},
          {"SELECT 1 AS one FROM t", "SELECT 1 AS one, (SELECT sum(t.x)) AS s FROM t", "all"},
          {"SELECT a, unnest(l) AS e FROM t", "SELECT a FROM t", "all"},
          {"SELECT 1 AS o, (SELECT max(v) FROM u) m FROM t",
           "SELECT 1 AS o, (SELECT max(v) FROM u) m, count(*) n FROM t", "all"});
}

static void what_cannot_be_compared_is_anything(void **state) {
    CHECK({"SELECT * FROM t", "SELECT *, 1 AS z FROM t", "all"},
          {"SELECT t.* FROM t", "SELECT t.*, 1 AS z FROM t", "all"},
          {"SELECT COLUMNS('a') FROM t", "SELECT COLUMNS('a'), 1 AS z FROM t", "all"},
          {"SELECT 1 AS a UNION SELECT 2", "SELECT 1 AS a, 2 AS b UNION SELECT 2, 3", "all"},
          {"VALUES (1)", "VALUES (2)", "all"}, {"SELECT a + 1 FROM t", "SELECT a + 1, b FROM t", "all"},
          {"SELECT a, b AS A FROM t", "SELECT a, b AS A, c FROM t", "all"},
          {"SELECT DISTINCT a FROM t", "SELECT DISTINCT a, b FROM t", "all"},
          {"SELECT g, count(*) n FROM t GROUP BY ALL", "SELECT g, count(*) n, sum(v) s FROM t GROUP BY ALL", "all"},
          {"SELECT count(*) n FROM t GROUP BY ()", "SELECT count(*) n, sum(v) s FROM t GROUP BY ()", "all"},
          {"SELECT g, count(*) n FROM t GROUP BY 1", "SELECT g, count(*) n, sum(v) s FROM t GROUP BY 1", "all"},
          {"SELECT a, b FROM t ORDER BY 2 LIMIT 10", "SELECT c, a, b FROM t ORDER BY 2 LIMIT 10", "all"},
          {"SELECT a FROM t ORDER BY ALL LIMIT 1", "SELECT a, b FROM t ORDER BY ALL LIMIT 1", "all"},
          {"SELECT a, #1 AS b FROM t", "SELECT c, a, #1 AS b FROM t", "all"});
}

static void an_alias_that_other_parts_read_is_anything(void **state) {
    CHECK({"SELECT a AS x, x + 1 AS y FROM t", "SELECT a * 2 AS x, x + 1 AS y FROM t", "all"},
          {"SELECT id, a AS x FROM t WHERE x > 1", "SELECT id, b AS x FROM t WHERE x > 1", "all"},
          {"SELECT id FROM t ORDER BY x LIMIT 1", "SELECT id, b AS x FROM t ORDER BY x LIMIT 1", "all"},
          {"SELECT count(*) n FROM t GROUP BY g", "SELECT count(*) n, 1 AS g FROM t GROUP BY g", "all"},
          {"SELECT x + 1 AS y FROM t", "SELECT 5 AS x, x + 1 AS y FROM t", "all"},
          {"SELECT id FROM t QUALIFY x = 1", "SELECT id, rank() OVER (ORDER BY k) AS x FROM t QUALIFY x = 1", "all"},
          {"SELECT id, r FROM t WHERE r.f > 1", "SELECT id, {'f': 1} AS r FROM t WHERE r.f > 1", "all"},
          {"SELECT a FROM t", "SELECT a, b AS x, x + 1 AS y FROM t", "+ x y"},
          {"SELECT t.a FROM t WHERE t.x > 1", "SELECT t.a, 1 AS x FROM t WHERE t.x > 1", "+ x"});
}

static void a_reason_names_what_decides(void **state) {
    static const struct ReasonCase {
        const char *before, *after, *reason;
        size_t offset;
    } cases[] = {
        {"SELECT 1 AS x", "SELECT 1 AS x, 2 AS y, 3 AS z", "columns 'y', 'z' are new", 15},
        {"SELECT 1 AS x, 2 AS y", "SELECT 1 AS x, 20 AS y", "column 'y' changed", 15},
        {"SELECT 1 AS x, 2 AS y", "SELECT 1 AS x", "column 'y' is gone", STR_NOT_FOUND},
        {"SELECT a FROM t", "SELECT a FROM t WHERE a > 1", "its WHERE changed", STR_NOT_FOUND},
        {"SELECT g FROM t GROUP BY g", "SELECT g FROM t GROUP BY g, h", "its GROUP BY changed", STR_NOT_FOUND},
        {"SELECT a FROM t", "SELECT a, unnest(l) AS e FROM t",
         "unnest() in column 'e' may change how many rows there are", 10},
        {"SELECT * FROM t", "SELECT *, 1 AS z FROM t", "its text changed, and its select list has a *", STR_NOT_FOUND},
        {"SELECT a AS x, x + 1 AS y FROM t", "SELECT 2 AS x, x + 1 AS y FROM t",
         "the name 'x' of a column that changed is used elsewhere in it", 15},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        QueryDiff diff = diff_of(*state, cases[i].before, cases[i].after);
        check_text(cases[i].after, diff.reason, cases[i].reason);
        assert_int_equal(diff.offset, cases[i].offset);
    }
}

static void what_decides_no_row_by_chance_is_determined(void **state) {
    static const char *const determined[] = {
        "SELECT a, sum(b) s FROM t GROUP BY a",
        "SELECT a, rank() OVER (PARTITION BY a ORDER BY b) r, sum(b) OVER (ORDER BY b) s FROM t",
        "SELECT a, b FROM t ORDER BY b, a LIMIT 3",
        "SELECT a + 1 AS k FROM t ORDER BY a + 1 LIMIT 3",
        "SELECT DISTINCT ON (a) a, b FROM t ORDER BY a, b",
        "SELECT a FROM t ORDER BY b",
        "SELECT u.x, l.e FROM u, unnest(u.xs) AS l(e), range(3) r(i)",
    };
    for (size_t i = 0; i < COUNT_OF(determined); i++) {
        SqlFixture *f = *state;
        check_text(determined[i], query_undetermined(parse(f, str_from(determined[i])), f->arena), "");
    }
}

static void chance_time_and_undecided_order_are_found(void **state) {
    static const struct ChanceCase {
        const char *sql, *reason;
    } cases[] = {
        {"SELECT random() r", "it calls random()"},
        {"SELECT a FROM (SELECT uuid() a)", "it calls uuid()"},
        {"SELECT a FROM t WHERE d < now()", "it calls now()"},
        {"SELECT current_date AS d", "it reads current_date"},
        {"SELECT nextval('s') n", "it calls nextval(), of which nothing is known"},
        {"SELECT a FROM t USING SAMPLE 3", "it takes a sample"},
        {"SELECT a FROM t TABLESAMPLE 10%", "it takes a sample"},
        {"SELECT a, b FROM t ORDER BY b LIMIT 3", "its LIMIT picks rows that no ORDER BY over all its columns decides"},
        {"SELECT DISTINCT ON (a) a, b FROM t ORDER BY a",
         "its DISTINCT ON picks rows that no ORDER BY over all its columns decides"},
        {"SELECT * FROM t ORDER BY a LIMIT 3", "its LIMIT picks rows that no ORDER BY over all its columns decides"},
        {"SELECT first(a) f FROM t", "the result of first() depends on the order of rows"},
        {"SELECT a FROM t QUALIFY row_number() OVER (PARTITION BY a ORDER BY b) = 1",
         "the result of row_number() depends on the order of rows"},
        {"SELECT sum(a) OVER (ORDER BY b ROWS 3 PRECEDING) s FROM t", "the frame of sum() counts rows"},
        {"SELECT a FROM t POSITIONAL JOIN u", "it joins by position or by the nearest row"},
        {"SELECT my_macro(a) m FROM t", "it calls my_macro(), of which nothing is known"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        SqlFixture *f = *state;
        check_text(cases[i].sql, query_undetermined(parse(f, str_from(cases[i].sql)), f->arena), cases[i].reason);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_columns_leave_the_old_ones_alone),
        cmocka_unit_test(changed_columns_are_told_apart),
        cmocka_unit_test(spelling_alone_is_no_change),
        cmocka_unit_test(the_rest_of_a_query_decides_about_rows),
        cmocka_unit_test(test_03_3_2_what_may_move_rows_is_anything),
        cmocka_unit_test(what_cannot_be_compared_is_anything),
        cmocka_unit_test(an_alias_that_other_parts_read_is_anything),
        cmocka_unit_test(a_reason_names_what_decides),
        cmocka_unit_test(what_decides_no_row_by_chance_is_determined),
        cmocka_unit_test(chance_time_and_undecided_order_are_found),
    };
    return cmocka_run_group_tests_name("query_diff", tests, sql_fixture_setup, sql_fixture_teardown);
}
