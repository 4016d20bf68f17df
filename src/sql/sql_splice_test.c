#include "sql/sql_fixture.h"

/* Every table but those of catalog `keep` becomes "p"."<name>_1". */
static Str spliced(SqlFixture *f, const char *sql) {
    SqlText text = sql_text_own(f->arena, str_from(sql));
    SqlAnalysis analysis = analyze(f, text.text);
    SqlReplacement *replacements = ARENA_NEW_ARRAY(f->arena, SqlReplacement, analysis.facts->tables.count);
    for (size_t i = 0; i < analysis.facts->tables.count; i++) {
        const SqlTableRef *table = &analysis.facts->tables.items[i];
        if (!str_equal(table->catalog, STR("keep"))) {
            replacements[i].relation =
                (SqlRelation){.schema = STR("p"), .name = str_format(f->arena, STR_FMT "_1", STR_ARG(table->name))};
        }
    }
    SqlText result = {0};
    SqlSplice splice = {.replacements = replacements};
    assert_false(failed(sql_splice(&text, analysis.facts, &splice, f->arena, &result, &f->err)));
    (void)parse(f, result.text); /* still SQL */
    return result.text;
}

/* Every read of the clock becomes a literal; every table is cut by a filter and keeps its name. */
static Str bound(SqlFixture *f, const char *sql) {
    static const Str clock[SQL_CLOCK_KIND_COUNT] = {
        [SQL_CLOCK_INSTANT] = STR_INIT("TIMESTAMPTZ 'i'"), [SQL_CLOCK_TIMESTAMP] = STR_INIT("TIMESTAMP 'w'"),
        [SQL_CLOCK_DATE] = STR_INIT("DATE 'd'"),           [SQL_CLOCK_TIME] = STR_INIT("TIME 't'"),
        [SQL_CLOCK_INSTANT_TIME] = STR_INIT("TIMETZ 'z'"), [SQL_CLOCK_AGE] = STR_INIT("TIMESTAMP 'm'")};
    SqlText text = sql_text_own(f->arena, str_from(sql));
    SqlAnalysis analysis = analyze(f, text.text);
    SqlReplacement *replacements = ARENA_NEW_ARRAY(f->arena, SqlReplacement, analysis.facts->tables.count);
    for (size_t i = 0; i < analysis.facts->tables.count; i++) {
        replacements[i].filter = STR("x > 1");
    }
    SqlText result = {0};
    StrVec wall = {0};
    str_vec_push(f->arena, &wall, STR("loaded_at"));
    SqlSplice splice = {.replacements = replacements, .clock = clock, .clock_columns = &wall};
    assert_false(failed(sql_splice(&text, analysis.facts, &splice, f->arena, &result, &f->err)));
    (void)parse(f, result.text);
    return result.text;
}

static void reads_of_the_clock_are_bound_and_keep_their_column(void **state) {
    SqlFixture *f = *state;
    static const struct {
        const char *sql, *bound;
    } cases[] = {
        {"select now() as a, current_date as b", "select (TIMESTAMPTZ 'i') as a, (DATE 'd') as b"},
        {"select now(), 1, Current_Date, today ( )",
         "select (TIMESTAMPTZ 'i') AS \"now()\", 1, (DATE 'd') AS \"Current_Date\", (DATE 'd') AS \"today()\""},
        {"select age((x)) as a, age(y, now()) as b",
         "select age(TIMESTAMP 'm', (x)) as a, age(y, (TIMESTAMPTZ 'i')) as b"},
        {"select now()::date as a, localtimestamp as b, localtime as c, current_time as d",
         "select (TIMESTAMPTZ 'i')::date as a, (TIMESTAMP 'w') as b, (TIME 't') as c, (TIMETZ 'z') as d"},
        {"select now() as Loaded_at, today() as d", "select now() as Loaded_at, (DATE 'd') as d"},
        {"select \"current_date\", t.current_date, 'now()' as a /* now() */", 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        check_text(cases[i].sql, bound(f, cases[i].sql), cases[i].bound == NULL ? cases[i].sql : cases[i].bound);
    }
}

static void a_filter_stands_at_the_scan(void **state) {
    SqlFixture *f = *state;
    static const struct {
        const char *sql, *bound;
    } cases[] = {
        {"select a from t", "select a from (SELECT * FROM t WHERE x > 1) AS \"t\""},
        {"select T.a from T, raw.u as v",
         "select T.a from (SELECT * FROM T WHERE x > 1) AS \"t\", (SELECT * FROM raw.u WHERE x > 1) as v"},
        {"select raw.t.a from raw.t", "select t.a from (SELECT * FROM raw.t WHERE x > 1) AS \"t\""},
        {"from x: t", "from x: (SELECT * FROM t WHERE x > 1)"},
        {"select a from t e(a)", "select a from (SELECT * FROM t WHERE x > 1) e(a)"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        check_text(cases[i].sql, bound(f, cases[i].sql), cases[i].bound);
    }
}

static void names_are_replaced_and_nothing_else(void **state) {
    SqlFixture *f = *state;
    static const struct {
        const char *sql, *spliced;
    } cases[] = {
        {"select 1", "select 1"},
        {"SELECT a -- x\nFROM  t", "SELECT a -- x\nFROM  \"p\".\"t_1\" AS \"t\""},
        {"from raw.Orders", "from \"p\".\"Orders_1\" AS \"orders\""},
        {"from raw.\"Orders\"", "from \"p\".\"Orders_1\" AS \"Orders\""},
        {"from \"a\"\"b\"", "from \"p\".\"a\"\"b_1\" AS \"a\"\"b\""},
        {"from t o, u as v, w x(a, b)", "from \"p\".\"t_1\" o, \"p\".\"u_1\" as v, \"p\".\"w_1\" x(a, b)"},
        {"from x: t", "from x: \"p\".\"t_1\""},
        {"from keep.s.t, t", "from keep.s.t, \"p\".\"t_1\" AS \"t\""},
        {"from t tablesample 10%", "from \"p\".\"t_1\" AS \"t\" tablesample 10%"},
        {"from t at (version => 3)", "from \"p\".\"t_1\" AS \"t\" at (version => 3)"},
        {"table t", "table \"p\".\"t_1\""},
        {"describe t", "describe \"p\".\"t_1\""},
        {"select * from (summarize s.t)", "select * from (summarize \"p\".\"t_1\")"},
        {"select raw.t.a, t.b, raw.t.c.d from raw.t", "select t.a, t.b, t.c.d from \"p\".\"t_1\" AS \"t\""},
        {"select main.t.a from t", "select t.a from \"p\".\"t_1\" AS \"t\""},
        {"select raw . t . a from raw.t where raw.t.b > 1", "select t . a from \"p\".\"t_1\" AS \"t\" where t.b > 1"},
        {"select keep.raw.t.a, raw.t.b from keep.raw.t", "select keep.raw.t.a, raw.t.b from keep.raw.t"},
        {"select sum(x) over w, sum(y) over w from t window w as (order by (from u))",
         "select sum(x) over w, sum(y) over w from \"p\".\"t_1\" AS \"t\" window w as (order by (from \"p\".\"u_1\" AS "
         "\"u\"))"},
        {"with t as (select * from t) from t", "with t as (select * from \"p\".\"t_1\" AS \"t\") from t"},
        {"pivot t on k in ('a')", "pivot \"p\".\"t_1\" AS \"t\" on k in ('a')"},
        {"select größe from größen", "select größe from \"p\".\"größen_1\" AS \"größen\""},
        {"select a from\xC2\xA0\xE2\x80\x83t", "select a from\xC2\xA0\xE2\x80\x83\"p\".\"t_1\" AS \"t\""},
        {"select (select max(x) from t), 2",
         "select (select max(x) from \"p\".\"t_1\" AS \"t\") AS \"(SELECT max(x) FROM "
         "t)\", 2"},
        {"select (select max(x) from keep.s.t)", "select (select max(x) from keep.s.t)"},
        {"from t;", "from \"p\".\"t_1\" AS \"t\";"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        check_text(cases[i].sql, spliced(f, cases[i].sql), cases[i].spliced);
    }
}

static void relative_files_become_absolute_from_a_root(void **state) {
    SqlFixture *f = *state;
    static const struct {
        const char *sql, *spliced;
    } cases[] = {
        {"from 'a/x.csv'", "from '/it''s/a/x.csv'"},
        {"from 'o''x.csv' as o", "from '/it''s/o''x.csv' as o"},
        {"from 'a.csv', '/b.csv', 's3://c/d.csv', '~/e.csv'",
         "from '/it''s/a.csv', '/b.csv', 's3://c/d.csv', '~/e.csv'"},
        {"select * from read_csv('x.csv', delim = '|')", "select * from read_csv('/it''s/x.csv', delim = '|')"},
        {"select * from Read_Parquet ( /* all */ ['x.parquet', '/y', 'z/*.parquet'] )",
         "select * from Read_Parquet ( /* all */ ['/it''s/x.parquet', '/y', '/it''s/z/*.parquet'] )"},
        {"from range(3), t where 'x.csv' = 'y'", "from range(3), t where 'x.csv' = 'y'"},
        {"select (select max(a) from 'x.csv')",
         "select (select max(a) from '/it''s/x.csv') AS \"(SELECT max(a) FROM \"\"x.csv\"\")\""},
        {"from read_csv('a' || '.csv'), read_csv(e'x.csv')", "from read_csv('/it''s/a' || '.csv'), read_csv(e'x.csv')"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        SqlText text = sql_text_own(f->arena, str_from(cases[i].sql)), result = {0};
        const SqlFacts *facts = analyze(f, text.text).facts;
        SqlReplacement *none = ARENA_NEW_ARRAY(f->arena, SqlReplacement, facts->tables.count);
        SqlSplice splice = {.replacements = none, .file_root = STR("/it's")};
        assert_false(failed(sql_splice(&text, facts, &splice, f->arena, &result, &f->err)));
        check_text(cases[i].sql, result.text, cases[i].spliced);
        (void)parse(f, result.text);
    }
}

/* --- Inlined models ----------------------------------------------------------------------------------------------- */

/* Tables called e or f become the inlined models of these names. */
static Str inlined(SqlFixture *f, const char *sql, const char *const *bodies, size_t count) {
    static const char *const names[] = {"_eph_e", "_eph_f"};
    SqlText text = sql_text_own(f->arena, str_from(sql));
    SqlAnalysis analysis = analyze(f, text.text);
    SqlReplacement *replacements = ARENA_NEW_ARRAY(f->arena, SqlReplacement, analysis.facts->tables.count);
    SqlInlined models[2];
    for (size_t i = 0; i < count; i++) {
        models[i] = (SqlInlined){.cte_name = str_from(names[i]), .body = sql_text_own(f->arena, str_from(bodies[i]))};
    }
    for (size_t i = 0; i < analysis.facts->tables.count; i++) {
        Str name = analysis.facts->tables.items[i].name;
        replacements[i].relation.name = str_format(f->arena, "_eph_" STR_FMT, STR_ARG(name));
    }
    SqlText result = {0};
    SqlSplice splice = {.replacements = replacements, .inlined = models, .inlined_count = count};
    assert_false(failed(sql_splice(&text, analysis.facts, &splice, f->arena, &result, &f->err)));
    (void)parse(f, result.text);
    return result.text;
}

static void inlined_models_come_first(void **state) {
    SqlFixture *f = *state;
    static const struct {
        const char *sql, *inlined;
    } cases[] = {
        {"from e", "WITH \"_eph_e\" AS (select 1 as a) from \"_eph_e\" AS \"e\""},
        {"-- x\nselect * from e;", "-- x\nWITH \"_eph_e\" AS (select 1 as a) select * from \"_eph_e\" AS \"e\";"},
        {"with a as (from e) from a", "with \"_eph_e\" AS (select 1 as a),  a as (from \"_eph_e\" AS \"e\") from a"},
        {"WITH RECURSIVE a as (select 1) from a, e",
         "WITH RECURSIVE \"_eph_e\" AS (select 1 as a),  a as (select 1) from a, \"_eph_e\" AS \"e\""},
        {"with e as (from e) from e", "with \"_eph_e\" AS (select 1 as a),  e as (from \"_eph_e\" AS \"e\") from e"},
        {"(from e) union all select 2",
         "WITH \"_eph_e\" AS (select 1 as a) (from \"_eph_e\" AS \"e\") union all select 2"},
        {"(with b as (from e) from b) limit 1",
         "(with \"_eph_e\" AS (select 1 as a),  b as (from \"_eph_e\" AS \"e\") from b) limit 1"},
        {"(with b as (select 1) from b) union from e",
         "WITH \"_eph_e\" AS (select 1 as a) (with b as (select 1) from b) union from \"_eph_e\" AS \"e\""},
        {"pivot e on a in (1)", "WITH \"_eph_e\" AS (select 1 as a) pivot \"_eph_e\" AS \"e\" on a in (1)"},
        {"values ((from e))", "WITH \"_eph_e\" AS (select 1 as a) values ((from \"_eph_e\" AS \"e\"))"},
        {"table e", "WITH \"_eph_e\" AS (select 1 as a) table \"_eph_e\""},
        {"describe e -- x", "WITH \"_eph_e\" AS (select 1 as a) FROM (describe \"_eph_e\") -- x"},
        {"summarize from e ;", "WITH \"_eph_e\" AS (select 1 as a) FROM (summarize from \"_eph_e\" AS \"e\") ;"},
    };
    const char *const body = "select 1 as a ; -- x";
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        check_text(cases[i].sql, inlined(f, cases[i].sql, &body, 1), cases[i].inlined);
    }
    check_text("a name", inlined(f, "select exists(from e)", &body, 1),
               "WITH \"_eph_e\" AS (select 1 as a) select exists(from \"_eph_e\" AS \"e\") AS \"EXISTS(SELECT * FROM "
               "e)\"");
    const char *const bodies[] = {"select 1", "from _eph_e"};
    check_text("two", inlined(f, "from f", bodies, 2),
               "WITH \"_eph_e\" AS (select 1), \"_eph_f\" AS (from _eph_e) from \"_eph_f\" AS \"f\"");
    check_text("two before a CTE", inlined(f, "with a as (from f) from a", bodies, 2),
               "with \"_eph_e\" AS (select 1), \"_eph_f\" AS (from _eph_e),  a as (from \"_eph_f\" AS \"f\") from a");
}

static void cte_names_do_not_clash(void **state) {
    SqlFixture *f = *state;
    const SqlFacts *facts = analyze(f, STR("with _eph_e as (select 1), _EPH_E_2 as (select 2) from _eph_e")).facts;
    check_text("taken twice", sql_unused_cte_name(facts, STR("_eph_e"), f->arena), "_eph_e_3");
    check_text("free", sql_unused_cte_name(facts, STR("_eph_f"), f->arena), "_eph_f");
}

static void bodies_lose_their_tail(void **state) {
    SqlFixture *f = *state;
    static const struct {
        const char *sql, *body;
    } cases[] = {
        {"select 1", "select 1"},
        {"select 1 ; ", "select 1"},
        {"select 1; -- x", "select 1"},
        {"select 1 -- x", "select 1"},
        {"select ';' /* ; */ ;;\n", "select ';'"},
        {"/* a */ select 1", "/* a */ select 1"},
        {"-- x", ""},
        {"", ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        SqlText text = sql_text_own(f->arena, str_from(cases[i].sql));
        check_text(cases[i].sql, sql_text_as_body(&text, f->arena).text, cases[i].body);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_of_the_clock_are_bound_and_keep_their_column),
        cmocka_unit_test(a_filter_stands_at_the_scan),
        cmocka_unit_test(names_are_replaced_and_nothing_else),
        cmocka_unit_test(relative_files_become_absolute_from_a_root),
        cmocka_unit_test(inlined_models_come_first),
        cmocka_unit_test(cte_names_do_not_clash),
        cmocka_unit_test(bodies_lose_their_tail),
    };
    return cmocka_run_group_tests_name("sql splice", tests, sql_fixture_setup, sql_fixture_teardown);
}
