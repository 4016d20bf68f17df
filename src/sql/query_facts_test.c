#include "sql/sql_fixture.h"

typedef struct FactsCase {
    const char *sql, *form;
} FactsCase;

static void check_cases(SqlFixture *f, const FactsCase *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        Str sql = str_from(cases[i].sql);
        check_text(cases[i].sql, facts_form(f->arena, sql, analyze(f, sql).facts), cases[i].form);
    }
}

#define CHECK(...)                                                                                                     \
    do {                                                                                                               \
        static const FactsCase cases[] = {__VA_ARGS__};                                                                \
        check_cases(*state, cases, COUNT_OF(cases));                                                                   \
    } while (0)

static void tables_stand_where_they_are_written(void **state) {
    CHECK({"select 1 as a", "gives a at 0"},                                                             //
          {"from t", "t at 0"},                                                                          //
          {"table s.t", "s.t! at 0"},                                                                    //
          {"-- x\n select a from raw . /* c */ \"Orders\" o", "raw . /* c */ \"Orders\"* gives a at 6"}, //
          {"select * from a.b.c", "a.b.c at 0"},                                                         //
          {"select * from größe.\"na\"\"me\"", "größe.\"na\"\"me\" at 0"},                               //
          {"select * from x: t", "t* at 0"},                                                             //
          {"select (select max(b) from t2) from t where exists (from t3) and x in (from t4)",
           "t2 t t3 t4 functions max gives - at 0"}, //
          {"select * from t1 natural join t2 asof join t3 using (x) semi join t4 on true positional join t5, t6",
           "t1 t2 t3 t4 t5 t6 at 0"},                                                         //
          {"values ((select max(a) from t))", "t functions max at 0"},                        //
          {"select * from t at (version => 3) tablesample 10%", "t at 0"},                    //
          {"select array(select a from t)", "t functions array_agg list_value gives - at 0"}, //
          {"select a from t order by (select max(b) from t2) limit (select 1 from t3)",
           "t t2 t3 functions max gives a at 0 order"},
          {"select a\xC2\xA0"
           "from\xE2\x80\x83t",
           "t gives a at 0"}, );
}

static void every_place_counts_once(void **state) {
    CHECK({"select sum(x) over w, sum(y) over w from t window w as (order by (select max(a) from z))",
           "t z functions sum sum max gives - - at 0"},
          {"select case (select a from t) when 1 then 2 when 3 then 4 end", "t gives - at 0"},
          {"select x from t window w as (order by (select 1 from unused))", "t gives x at 0"});
}

static void ctes_hide_unqualified_names_in_their_scope(void **state) {
    CHECK({"with a as (select 1) select * from a, A, s.a", "s.a ctes a with 4"},
          {"with orders as (select * from orders) select * from orders", "orders ctes orders with 4"},
          {"with a as (select * from b), b as (select * from a) select * from b", "b ctes a b with 4"},
          {"with recursive a as (select 1 as x union all select x + 1 from a) select * from a", "ctes a with 14"},
          {"with recursive a as (select * from a union all select x + 1 from a) select * from a", "a ctes a with 14"},
          {"with recursive a as (with b as (select * from a) select * from b union all select * from a) from a",
           "a ctes b a with 14"},
          {"with recursive a as (select 1 as x union all (with b as (select * from a) from b)) from a",
           "ctes b a with 14"},
          {"with recursive a as (select * from a) select * from a", "a ctes a with 14"},
          {"with recursive w(a) using key (a) as (select 1 union select a from recurring.w) from w", "ctes w with 14"},
          {"select * from recurring.w", "recurring.w at 0"},
          {"select * from (with a as (select 1) from a), a", "a ctes a at 0"},
          {"select (with a as (select * from a) select max(x) from a) from a", "a a functions max ctes a gives - at 0"},
          {"with a as (select 1) select (select max(x) from a), (select 2 from main.a)",
           "main.a functions max ctes a gives - - with 4"},
          {"with a as (select 1) (select * from a) union all (with a as (select * from a) from a)", "ctes a with 4"},
          {"with a as (select 1) pivot a on x in (1)", "functions count_star ctes a with 4"}, );
}

static void names_that_look_like_columns_are_tables(void **state) {
    CHECK({"select * from t1, t1.lst", "t1 t1.lst at 0"},
          {"select * from t1, unnest(t1.lst)", "t1 functions unnest() at 0"});
}

static void describe_and_table_take_no_alias(void **state) {
    CHECK({"describe t", "t! at 0"}, {"(table t) union all (from t order by 1)", "t! t at 0"},
          {"with a as (table t) select * from a, (table/**/ s . t)", "t! s . t! ctes a with 4"},
          {"select * from (select * from t)", "t at 0"}, {"summarize s.t", "s.t! at 0"}, {"show t", "t! at 0"},
          {"describe select * from t", "t at 0"}, {"describe from t", "t at 0"},
          {"select * from (describe t)", "t! at 0"}, {"show tables", "at 0"}, );
}

static void pivots_name_their_source(void **state) {
    CHECK({"pivot s.t on k in ('a', 'b') using sum(v) group by g", "s.t functions sum at 0"},
          {"from t pivot (sum(x) for k in (1, 2) group by g)", "t functions sum at 0"},
          {"unpivot t on a, b into name n value v", "t at 0"},
          {"with p as (pivot t on k in ('a')) from p", "t functions count_star ctes p with 4"}, );
}

static void files_are_told_apart(void **state) {
    SqlFixture *f = *state;
    CHECK({"from 'x.csv'", "'x.csv' at 0"}, {"from \"x.csv\"", "\"x.csv\" at 0"},
          {"from read_csv('x.csv'), READ_PARQUET('y')",
           "functions read_csv() READ_PARQUET() readers read_csv read_parquet at 0"},
          {"select * from glob('*')", "functions glob() readers glob at 0"}, );
    assert_true(analyze(f, STR("from 'x.csv'")).facts->tables.items[0].is_file);
    assert_false(analyze(f, STR("from \"x.csv\"")).facts->tables.items[0].is_file);
}

static void clock_reads_stand_where_they_are_written(void **state) {
    CHECK(
        {"select now(), TODAY ( ), current_timestamp, main . now ( )",
         "functions now TODAY now clock now() TODAY ( ) current_timestamp=current_timestamp main . now ( ) "
         "gives - - current_timestamp - at 0"},
        {"select \"current_date\", t.current_date, today from t", "t gives current_date current_date today at 0"},
        {"select age(x), age(x, y) from t", "t functions age age clock age gives - - at 0"},
        {"select * from t where d = current_date", "t clock current_date at 0"},
        {"select now() as a, 1 + extract(year from now()) as b",
         "functions now extract now clock now()=a now()=b gives a b at 0"},
        {"select x as a from (select now() as x) where now() > x", "functions now now clock now() now() gives a at 0"},
        {"select now() as a union all select now()", "functions now now clock now() now() gives a at 0"},
        {"select case now() when 1 then 2 when 3 then 4 end as a", "functions now clock now()=a gives a at 0"},
        {"select current_date, now() from (select x as current_date from t)",
         "t functions now clock now() gives current_date - at 0"},
        {"with c(localtime) as (from t) select localtime from c, u as v(current_time) where current_time > 1",
         "t u* ctes c gives localtime with 4"},
        {"select (select current_date) as a from (select 1 as current_date)", "gives a at 0"},
        {"select current_date as current_date from t", "t clock current_date=current_date gives current_date at 0"},
        {"from range(today(), now())", "functions range() today now clock today() now() at 0"},
        {"select localtimestamp, localtime, current_time",
         "clock localtimestamp=localtimestamp localtime=localtime current_time=current_time gives localtimestamp "
         "localtime current_time at 0"}, );
}

static void clock_reads_know_what_they_give(void **state) {
    SqlFixture *f = *state;
    static const SqlClockKind kinds[] = {SQL_CLOCK_INSTANT, SQL_CLOCK_INSTANT, SQL_CLOCK_TIMESTAMP,    SQL_CLOCK_DATE,
                                         SQL_CLOCK_DATE,    SQL_CLOCK_TIME,    SQL_CLOCK_INSTANT_TIME, SQL_CLOCK_AGE};
    const SqlClockReadVec *reads = &analyze(f, STR("select get_current_timestamp(), transaction_timestamp(), "
                                                   "localtimestamp, today(), current_date, localtime, current_time, "
                                                   "age( x) from t"))
                                        .facts->clock_reads;
    assert_int_equal(reads->count, COUNT_OF(kinds));
    for (size_t i = 0; i < reads->count; i++) {
        assert_int_equal(reads->items[i].kind, kinds[i]);
    }
    assert_int_equal(reads->items[7].start, reads->items[7].end);
}

static void functions_are_those_written(void **state) {
    CHECK({"select a + 1, [a], {'b': a}, a[1:2], interval (a) day, a like 'x', count(*), s.f(a), a.upper() from t",
           "t functions count f upper trunc gives - - - - - - - - - at 0"},
          {"select extract(year from a) from t", "t functions extract gives - at 0"},
          {"select \"my fn\"(a), rank() over () from t", "t functions my fn rank gives - - at 0"},
          {"from range(1, (select max(a) from t))", "t functions range() max at 0"}, );
}

static void schema_prefixes_of_columns_are_found(void **state) {
    CHECK({"select raw.orders.id, orders.id, raw.orders.s.f from raw.orders",
           "raw.orders prefixes raw. raw. gives id id f at 0"},
          {"select raw.orders.id from raw.orders as o", "raw.orders* gives id at 0"},
          {"select main.orders.id, x.orders.f from orders", "orders prefixes main. gives id f at 0"},
          {"select c.raw.orders.id, raw.orders.id from c.raw.orders",
           "c.raw.orders prefixes c.raw. raw. gives id id at 0"},
          {"select RAW . /* x */ \"orders\".id from raw.orders", "raw.orders prefixes RAW . /* x */  gives id at 0"},
          {"select a from raw.orders where exists (select 1 from t where t.id = raw.orders.id)",
           "raw.orders t prefixes raw. gives a at 0"},
          {"select raw.orders.id from (from raw.orders), raw.x", "raw.orders raw.x gives id at 0"},
          {"with o as (from raw.orders) select raw.orders.f from raw", "raw.orders raw ctes o gives f with 4"}, );
}

static void with_goes_where_it_may_stand(void **state) {
    CHECK({"/* x */ with recursive a as (select 1) from a", "ctes a with 22"},
          {"(with b as (select 2) select * from b) order by 1", "ctes b with 5 order"},
          {"((with b as (select 2) select * from b) order by 1) limit 1", "ctes b with 6 order"},
          {"(with b as (select 2 x) select x from b) union all select y from t", "t ctes b gives x at 0"},
          {"(select a from t) except select 1", "t gives a at 0"}, {" ;; select a from t ; -- x", "t gives a at 4"}, );
}

static void output_names_are_the_explicit_ones(void **state) {
    CHECK(
        {"select a, t.b, c as D, e + 1, \"F\" from t", "t gives a b D - F at 0"},
        {"select a from t union all select b from t", "t t gives a at 0"},
        {"select a from t union all by name select b from t", "t t at 0"}, {"select a, * from t", "t at 0"},
        {"select a, columns('x')::int from t", "t at 0"}, {"select a, unnest(s) from t", "t functions unnest at 0"},
        {"select unnest(l) as x from t", "t functions unnest gives x at 0"},
        {"with recursive r as (select 1 as n union all select n from r) select n from r", "ctes r gives n with 14"}, );
}

/* --- The tree ----------------------------------------------------------------------------------------------------- */

static void hashes_do_not_see_places_and_case(void **state) {
    SqlFixture *f = *state;
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {"select a from t", "SELECT  A\nFROM T", true},
        {"select \"a\" from t", "select a from t", true},
        {"select (a) from t", "select a from t", true},
        {"select a::int", "select cast(a as integer)", true},
        {"select 'a'", "select 'A'", false},
        {"select a from t", "select distinct a from t", false},
        {"select a::int", "select a::bigint", false},
        {"select * exclude (a) from t", "select * exclude (b) from t", false},
        {"from t", "from t using sample 10", false},
        {"select ''", "select null", false},
        {"select a as x", "select a as y", false},
        {"select a order by 1", "select a order by 1 desc", false},
        {"select {'x': 1}", "select {'y': 1}", false},
        {"select a from t union select 1", "select a from t union all select 1", false},
        {"select true", "select false", false},
        {"select 1", "select 1.0", false},
        {"select sum(a) over (order by b)", "select sum(a) over (order by b rows 1 preceding)", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        bool same = parse(f, str_from(cases[i].a))->hash == parse(f, str_from(cases[i].b))->hash;
        if (same != cases[i].same) {
            fail_msg("%s\n%s", cases[i].a, cases[i].b);
        }
    }
}

static void an_alias_does_not_change_its_expression(void **state) {
    SqlFixture *f = *state;
    const Query *a = parse(f, STR("select x + 1 as y, z from t")), *b = parse(f, STR("select x + 1 as w, z from t"));
    assert_true(a->projections.items[0]->hash == b->projections.items[0]->hash);
    assert_true(a->hash != b->hash);
    assert_true(a->rest_hash == b->rest_hash);
    assert_true(a->rest_hash != parse(f, STR("select x + 1 as y, z from u"))->rest_hash);
    assert_true(a->projections.items[0]->hash != a->projections.items[1]->hash);
}

static void stars_know_their_rules(void **state) {
    SqlFixture *f = *state;
    const Query *query = parse(f, STR("select t.* exclude (a, t.b) replace (x + 1 as c) rename (d as e) from t"));
    const QueryExpr *star = query->projections.items[0];
    assert_int_equal(star->kind, QUERY_STAR);
    check_text("relation", star->name, "t");
    assert_int_equal(star->rules.count, 3);
    check_text("excluded", star->rules.items[0].column, "a");
    check_text("excluded of", star->rules.items[1].relation, "t");
    check_text("renamed", star->rules.items[2].new_name, "e");
    assert_int_equal(star->operands.count, 1);
    check_text("replaced", star->operands.items[0]->alias, "c");
    star = parse(f, STR("select columns('a.*') from t"))->projections.items[0];
    assert_true(star->is_columns);
    assert_int_equal(star->operands.count, 1);
}

static void joins_know_their_columns(void **state) {
    SqlFixture *f = *state;
    const QuerySource *join = parse(f, STR("from a join b using (x, y)"))->source;
    assert_int_equal(join->kind, QUERY_JOIN);
    assert_int_equal(join->using_columns.count, 2);
    assert_true(parse(f, STR("from a natural join b"))->source->is_natural);
    assert_true(parse(f, STR("from a anti join b on true"))->source->gives_left_only);
    assert_false(parse(f, STR("from a left join b on true"))->source->gives_left_only);
}

static void joins_know_what_passes_them(void **state) {
    SqlFixture *f = *state;
    static const struct {
        const char *sql;
        bool left, right, pairs_otherwise;
    } cases[] = {
        {"from a join b on true", true, true, false},
        {"from a, b", true, true, false},
        {"from a left join b on true", true, false, false},
        {"from a right join b on true", false, true, false},
        {"from a full join b on true", false, false, false},
        {"from a semi join b on true", true, false, false},
        {"from a natural join b", true, true, false},
        {"from a positional join b", true, true, true},
        {"from a asof left join b on a.x >= b.x", true, false, true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const QuerySource *join = parse(f, str_from(cases[i].sql))->source;
        assert_int_equal(join->passes_left, cases[i].left);
        assert_int_equal(join->passes_right, cases[i].right);
        assert_int_equal(join->pairs_otherwise, cases[i].pairs_otherwise);
    }
}

static void queries_know_what_they_cut_off(void **state) {
    SqlFixture *f = *state;
    assert_true(parse(f, STR("from a limit 3"))->has_limit);
    assert_true(parse(f, STR("from a offset 3"))->has_limit);
    assert_false(parse(f, STR("from a order by all"))->has_limit);
    assert_true(parse(f, STR("select distinct on (x) y from a"))->has_distinct_on);
    assert_false(parse(f, STR("select distinct y from a"))->has_distinct_on);
    assert_true(parse(f, STR("select x from a group by cube(x)"))->has_grouping_sets);
    assert_false(parse(f, STR("select x from a group by x, y"))->has_grouping_sets);
    assert_true(parse(f, STR("from a using sample 3"))->is_sampled);
    assert_true(parse(f, STR("from a tablesample 3"))->source->is_sampled);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_stand_where_they_are_written),
        cmocka_unit_test(every_place_counts_once),
        cmocka_unit_test(ctes_hide_unqualified_names_in_their_scope),
        cmocka_unit_test(names_that_look_like_columns_are_tables),
        cmocka_unit_test(describe_and_table_take_no_alias),
        cmocka_unit_test(pivots_name_their_source),
        cmocka_unit_test(files_are_told_apart),
        cmocka_unit_test(clock_reads_stand_where_they_are_written),
        cmocka_unit_test(clock_reads_know_what_they_give),
        cmocka_unit_test(functions_are_those_written),
        cmocka_unit_test(schema_prefixes_of_columns_are_found),
        cmocka_unit_test(with_goes_where_it_may_stand),
        cmocka_unit_test(output_names_are_the_explicit_ones),
        cmocka_unit_test(hashes_do_not_see_places_and_case),
        cmocka_unit_test(an_alias_does_not_change_its_expression),
        cmocka_unit_test(stars_know_their_rules),
        cmocka_unit_test(joins_know_their_columns),
        cmocka_unit_test(joins_know_what_passes_them),
        cmocka_unit_test(queries_know_what_they_cut_off),
    };
    return cmocka_run_group_tests_name("query facts", tests, sql_fixture_setup, sql_fixture_teardown);
}
