#include "sql/sql_fixture.h"

/* "text AS name" of each unnamed item, one a line. */
static Str items_form(SqlFixture *f, const char *sql) {
    const SqlFacts *facts = analyze(f, str_from(sql)).facts;
    AUTO(strbuf) StrBuf form = {0};
    for (size_t i = 0; i < facts->unnamed_items.count; i++) {
        const SqlUnnamedItem *item = &facts->unnamed_items.items[i];
        Str text = str_slice(str_from(sql), item->start, item->end);
        strbuf_format(&form, "%s" STR_FMT " AS " STR_FMT, i == 0 ? "" : "\n", STR_ARG(text), STR_ARG(item->name));
    }
    return strbuf_copy(&form, f->arena);
}

typedef struct ItemCase {
    const char *sql, *items;
} ItemCase;

static void check_items(SqlFixture *f, const ItemCase *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        check_text(cases[i].sql, items_form(f, cases[i].sql), cases[i].items);
    }
}

static void unnamed_items_get_the_name_the_engine_gives(void **state) {
    static const ItemCase cases[] = {
        {"select (SELECT count(*) FROM a)", "(SELECT count(*) FROM a) AS (SELECT count_star() FROM a)"},
        {"select 1 + (select x from s.t) is null, 2",
         "1 + (select x from s.t) is null AS ((1 + (SELECT x FROM s.t)) IS NULL)"},
        {"from a select exists(from a) -- c\n;", "exists(from a) AS EXISTS(SELECT * FROM a)"},
        {"select distinct on ((select 1 from b)) (select 2 from a) order by 1",
         "(select 2 from a) AS (SELECT 2 FROM a)"},
        {"select distinct (select 2 from a) limit 1", "(select 2 from a) AS (SELECT 2 FROM a)"},
        {"select (select 1 from a) is distinct from 2 from b",
         "(select 1 from a) is distinct from 2 AS ((SELECT 1 FROM a) IS DISTINCT FROM 2)"},
        {"select sum((select x from a)) over w from a window w as (order by x) qualify true",
         "sum((select x from a)) over w AS sum((SELECT x FROM a)) OVER (ORDER BY x)"},
        {"select [(select 1 from a)], {'k': (select 2 from a)}",
         "[(select 1 from a)] AS main.list_value((SELECT 1 FROM a))\n"
         "{'k': (select 2 from a)} AS main.struct_pack(k := (SELECT 2 FROM a))"},
        {"select (select 1 from 'x.csv'), (select 2 from read_csv('y.csv'))",
         "(select 1 from 'x.csv') AS (SELECT 1 FROM \"x.csv\")\n"
         "(select 2 from read_csv('y.csv')) AS (SELECT 2 FROM read_csv('y.csv'))"},
        {"select '\xC3\xA4' ||\xC2\xA0(select x from a)",
         "'\xC3\xA4' ||\xC2\xA0(select x from a) AS ('\xC3\xA4' || (SELECT x FROM a))"},
    };
    check_items(*state, cases, COUNT_OF(cases));
}

static void items_of_inner_lists_count_too(void **state) {
    static const ItemCase cases[] = {
        {"select * from (select (select x from a))", "(select x from a) AS (SELECT x FROM a)"},
        {"with c as (select (select x from a)) from c", "(select x from a) AS (SELECT x FROM a)"},
        {"select 1 as n union all select (select x from a)", "(select x from a) AS (SELECT x FROM a)"},
        {"select (select (select x from a))",
         "(select x from a) AS (SELECT x FROM a)\n(select (select x from a)) AS (SELECT (SELECT x FROM a))"},
    };
    check_items(*state, cases, COUNT_OF(cases));
}

static void items_that_need_no_name_are_left(void **state) {
    static const ItemCase cases[] = {
        {"select a, b + 1, count(*) from t", ""},
        {"select (select x from a) as n, (select x from a) m, k: (select x from a)", ""},
        {"select (select 1), t.x from (from a) t where x in (select y from b) order by (select 1 from c)", ""},
        {"select * replace ((select x from b) as x) from a", ""},
        {"select columns(*) + (select x from b) from a", ""},
        {"values ((select x from a))", ""},
        {"with c as (select 1 as x) select (select x from c)", ""},
    };
    check_items(*state, cases, COUNT_OF(cases));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unnamed_items_get_the_name_the_engine_gives),
        cmocka_unit_test(items_of_inner_lists_count_too),
        cmocka_unit_test(items_that_need_no_name_are_left),
    };
    return cmocka_run_group_tests_name("sql item names", tests, sql_fixture_setup, sql_fixture_teardown);
}
