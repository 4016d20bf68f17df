#include "sql/sql_time_source.h"

#include "sql/sql_fixture.h"

/* "table.column day>month -absent": units from the last to the first; or "!obstacle". */
static Str source_form(SqlFixture *f, const char *sql, const char *output) {
    static const char *const obstacles[] = {
        [SQL_TIME_COMPUTED] = "!computed",
        [SQL_TIME_LIMIT] = "!limit",
        [SQL_TIME_SET_OPERATION] = "!set",
        [SQL_TIME_RECURSIVE] = "!recursive",
        [SQL_TIME_DISTINCT_ON] = "!distinct",
        [SQL_TIME_GROUPING_SETS] = "!sets",
        [SQL_TIME_WINDOW] = "!window",
        [SQL_TIME_SAMPLE] = "!sample",
        [SQL_TIME_JOIN] = "!join",
        [SQL_TIME_UNQUALIFIED] = "!unqualified",
        [SQL_TIME_SHARED] = "!shared",
        [SQL_TIME_RENAMED] = "!renamed",
        [SQL_TIME_ROW_ID] = "!rowid",
        [SQL_TIME_NO_TABLE] = "!table",
    };
    const SqlFacts *facts = analyze(f, str_from(sql)).facts;
    const SqlTimeSource *source = sql_time_source_find(facts, str_from(output));
    if (source->obstacle != SQL_TIME_PROVEN) {
        return str_from(obstacles[source->obstacle]);
    }
    const SqlTableRef *table = &facts->tables.items[source->table];
    Str column = source->column.size > 0 ? source->column : str_from(output);
    AUTO(strbuf) StrBuf form = {0};
    strbuf_format(&form, STR_FMT "." STR_FMT, STR_ARG(table->name), STR_ARG(column));
    for (size_t i = 0; i < source->units.count; i++) {
        strbuf_format(&form, "%s" STR_FMT, i == 0 ? " " : ">", STR_ARG(source->units.items[i]));
    }
    for (size_t i = 0; i < source->absent.count; i++) {
        strbuf_format(&form, " -" STR_FMT, STR_ARG(source->absent.items[i]));
    }
    return strbuf_copy(&form, f->arena);
}

typedef struct Case {
    const char *sql, *expected; /* of the column d */
} Case;

static void check_cases(SqlFixture *f, const Case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        check_text(cases[i].sql, source_form(f, cases[i].sql, "d"), cases[i].expected);
    }
}
#define CHECK(...)                                                                                                     \
    do {                                                                                                               \
        static const Case cases[] = {__VA_ARGS__};                                                                     \
        check_cases(*state, cases, COUNT_OF(cases));                                                                   \
    } while (0)

static void columns_casts_and_truncations_are_followed(void **state) {
    CHECK({"select d, x from t", "t.d"}, {"select ts as d from s.t", "t.ts"}, {"select T.TS as D from t", "t.TS"},
          {"select cast(ts as date) as d from t", "t.ts day"}, {"select ts::date d from t", "t.ts day"},
          {"select date_trunc('Month', ts) as d from t", "t.ts month"},
          {"select datetrunc('week', e.ts)::date as d from t e", "t.ts day>week"},
          {"select \"ts\"::DATE as d from t", "t.ts day"},
          {"select time_bucket(interval '5 minutes', ts) as d from t", "t.ts 5m"},
          {"select time_bucket(INTERVAL 2 WEEK, ts) as d from t", "t.ts 2w"},
          {"select time_bucket(interval '1' quarter, date_trunc('day', ts)) as d from t", "t.ts 3mo>day"},
          {"select time_bucket(to_hours(6), ts)::date as d from t", "t.ts day>6h"});
}

static void what_is_computed_is_not(void **state) {
    CHECK({"select ts + interval 1 day as d from t", "!computed"}, {"select max(ts) as d from t", "!computed"},
          {"select try_cast(ts as date) as d from t", "!computed"}, {"select ts::timestamp as d from t", "!computed"},
          {"select date_trunc(u, ts) as d from t", "!computed"},
          {"select date_trunc('decade', ts) as d from t", "!computed"},
          {"select m.date_trunc('day', ts) as d from t", "!computed"},
          {"select date_part('day', ts) as d from t", "!computed"},
          {"select time_bucket(w, ts) as d from t", "!computed"},
          {"select time_bucket(interval '1 day 2 hours', ts) as d from t", "!computed"},
          {"select time_bucket(interval '90.5 seconds', ts) as d from t", "!computed"},
          {"select time_bucket(interval '-1 day', ts) as d from t", "!computed"},
          {"select time_bucket(interval (n) day, ts) as d from t", "!computed"},
          {"select time_bucket(interval '1 day', ts, interval '2 hours') as d from t", "!computed"},
          {"select coalesce(ts, now()) as d from t", "!computed"}, {"select (select ts) as d from t", "!computed"},
          {"select e.s.ts as d from t e", "!computed"}, {"select raw.t.ts as d from raw.t", "!computed"},
          {"select case when true then ts end as d from t", "!computed"}, {"select 1 as x from t", "!computed"},
          {"select unnest(ts) as d from t", "!computed"}, {"select unnest(s), ts::date as d from t", "!computed"},
          {"select lag(ts) over (partition by ts) as d from t", "!computed"});
}

static void filters_grouping_and_order_let_it_pass(void **state) {
    CHECK({"select ts::date as d, count(*) from t where x > 1 group by 1 having count(*) > 2 order by d", "t.ts day"},
          {"select ts::date as d, count(*) from t group by d", "t.ts day"},
          {"select ts::date as d, count(*) from t group by all", "t.ts day"},
          {"select distinct ts::date as d from t", "t.ts day"},
          {"select ts as d from t where x in (select x from u) and exists (from t)", "t.ts"},
          {"select ts as d, (select max(ts) from t) from t", "t.ts"});
}

static void what_needs_all_rows_is_an_obstacle(void **state) {
    CHECK({"select ts as d from t limit 10", "!limit"}, {"select ts as d from t offset 10", "!limit"},
          {"select ts as d from t limit 10%", "!limit"}, {"select d from (select ts as d from t limit 3)", "!limit"},
          {"with c as (from t order by d limit 3) from c", "!limit"},
          {"select distinct on (x) ts as d from t", "!distinct"},
          {"select ts as d from t union all select ts as d from t", "!set"},
          {"select d from (select d from t except select d from u)", "!set"},
          {"with recursive c as (select d from t union all select d from c) select d from c", "!recursive"},
          {"select ts::date as d, x, count(*) from t group by rollup(ts::date, x)", "!sets"},
          {"select ts as d from t tablesample 10%", "!sample"}, {"select ts as d from t using sample 3", "!sample"},
          {"select d from (select d from t using sample 3)", "!sample"});
}

static void windows_must_be_partitioned_by_the_time(void **state) {
    CHECK({"select ts as d, row_number() over () from t", "!window"},
          {"select ts as d, row_number() over (order by ts) from t", "!window"},
          {"select ts as d, row_number() over (partition by id) from t", "!window"},
          {"select ts as d, row_number() over (partition by id, ts) from t", "t.ts"},
          {"select ts::date as d, row_number() over (partition by ts::date) from t", "t.ts day"},
          {"select ts::date as d, row_number() over (partition by ts) from t", "t.ts day"},
          {"select ts::date as d, row_number() over (partition by date_trunc('month', ts)) from t", "!window"},
          {"select ts::date as d, row_number() over (partition by d) from t", "!window"},
          {"select ts as d from t qualify row_number() over (partition by id order by ts) = 1", "!window"},
          {"select ts as d from t qualify row_number() over (partition by ts order by id) = 1", "t.ts"},
          {"select ts as d, 1 + coalesce(lag(x) over w, 0) from t window w as (order by ts)", "!window"},
          {"select ts as d, sum(x) over w, sum(y) over w from t window w as (partition by ts)", "t.ts"},
          {"select *, row_number() over (partition by id) as n from t", "!window"},
          {"select *, row_number() over (partition by d) as n from t", "!window"},
          {"select d from (select *, row_number() over (order by d) as n from t) where n = 1", "!window"},
          {"select ts::date as d, sum(count(*)) over (order by ts::date) from t group by 1", "!window"});
}

static void joins_pass_on_their_preserved_side(void **state) {
    CHECK({"select e.ts as d from t e join u on e.id = u.id", "t.ts"}, {"select e.ts as d from u, t as e", "t.ts"},
          {"select t.ts as d from u join t using (id)", "t.ts"},
          {"select t.ts as d from t left join u using (id)", "t.ts"},
          {"select t.ts as d from u left join t using (id)", "!join"},
          {"select t.ts as d from u right join t using (id)", "t.ts"},
          {"select t.ts as d from t right join u using (id)", "!join"},
          {"select t.ts as d from t full join u using (id)", "!join"},
          {"select t.ts as d from t semi join u using (id)", "t.ts"},
          {"select t.ts as d from t anti join u using (id)", "t.ts"},
          {"select t.ts as d from t positional join u", "!join"},
          {"select t.ts as d from t asof join u on t.id = u.id and t.ts >= u.ts", "!join"},
          {"select t.ts as d from u left join (t join v using (id)) using (id)", "!join"},
          {"select t.ts as d from (t left join v using (id)) left join u using (id)", "t.ts"},
          {"select a.ts as d from t a join t b on a.id = b.id", "t.ts"},
          {"select ts as d from t join u using (id)", "!unqualified"},
          {"select t.ts as d from a.t join b.t using (id)", "!unqualified"},
          {"select x.ts as d from t join u using (id)", "!unqualified"}, {"select x.ts as d from t", "!unqualified"},
          {"select e.ts as d from t e, lateral (select count(*) from u where u.id = e.id)", "t.ts"},
          {"select e.ts as d, x from t e, unnest(e.list) as l(x)", "t.ts"});
}

static void subqueries_and_ctes_are_looked_through(void **state) {
    CHECK({"select d from (select ts::date as d from t) s", "t.ts day"},
          {"select s.m::date as d from (select date_trunc('month', ts) as m from t) s join u using (id)",
           "t.ts day>month"},
          {"with c as (select ts as d from t) select d from c", "t.ts"},
          {"with a as (select * from t), b as (select *, 1 as x from a) select d from b", "t.d"},
          {"with t as (select * from raw.t) select d from t", "t.d"},
          {"with t as (select * from t) select d from t", "t.d"}, {"select d from (with c as (from t) from c)", "t.d"},
          {"with c as (from t) select d from c where x > (select avg(x) from c)", "!shared"},
          {"with c as (from t) select a.d from c a join c b using (id)", "!shared"},
          {"with c as (from t), e as (select max(d) from c) select c.d from c, e", "!shared"},
          {"with c as (from t) select c.d from c, query_table('c')", "!shared"},
          {"with c(d) as (select ts from t) select d from c", "!renamed"}, {"select d from t as e(d, x)", "!renamed"},
          {"select d from (select ts from t) as e(d)", "!renamed"},
          {"select d from (select max(ts) as d from t)", "!computed"},
          {"select d from (select x from t)", "!computed"});
}

static void the_source_must_be_a_table(void **state) {
    CHECK({"select d from read_parquet('x')", "!table"}, {"select d from 'x.csv'", "!table"},
          {"select d from (values (1)) v", "!table"}, {"select d from t at (version => 3)", "!table"},
          {"select d from (pivot t on k in ('a') using sum(x))", "!table"}, {"select d from (table t)", "!table"},
          {"table t", "!table"}, {"select rowid, d from t", "!rowid"},
          {"select d from t where e.\"ROWID\" > 3", "!rowid"},
          {"select d from (select d, filename as f from t)", "!rowid"}, {"select 1 as d", "!computed"});
}

static void stars_give_what_no_item_names(void **state) {
    CHECK({"from t", "t.d"}, {"select * from t where x", "t.d"}, {"select t.*, u.x from t join u using (id)", "t.d"},
          {"select * from t join u using (id)", "!unqualified"}, {"select t.*, u.* from t, u", "!computed"},
          {"select *, ts::date as d from t", "t.ts day -d"}, {"select ts::date as d, * from t", "t.ts day"},
          {"select t.*, t.ts::date as d from t join u using (id)", "t.ts day -d"},
          {"select u.*, t.ts::date as d from t join u using (id)", "!unqualified"},
          {"select *, ts::date as d from (from t)", "!unqualified"}, {"select *, x + 1 as d from t", "!computed"},
          {"select * exclude (d) from t", "!computed"}, {"select * replace (x as d) from t", "!computed"},
          {"select * rename (x as d) from t", "!computed"}, {"select columns('.*') from t", "!computed"},
          {"select * from (select ts::date as d, * from t)", "t.ts day"},
          {"select * from (select *, x + 1 as d from t)", "!computed"},
          {"with c as (select x + 1 as d, * from t) select * from (select * from c)", "!computed"},
          {"select * exclude (x), ts as d from t", "!computed"}, {"select ts as d, ts::date as d from t", "t.ts"});
}

static void a_name_that_no_item_gives_is_not_the_star_of_another(void **state) {
    SqlFixture *f = *state;
    const char *sql = "select *, x + 1 as y from t";
    check_text("y", source_form(f, sql, "y"), "!computed");
    check_text("z", source_form(f, sql, "z"), "t.z");
}

static void many_ctes_cost_no_more_than_their_number(void **state) {
    SqlFixture *f = *state;
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "with c0 as (select * from t)");
    for (int i = 1; i < 60; i++) {
        strbuf_format(&sql, ", c%d as (select * from c%d a join c%d b using (id))", i, i - 1, i - 1);
    }
    strbuf_text(&sql, " select * from c59 where x");
    check_text("doubling", source_form(f, str_to_c(f->arena, strbuf_str(&sql)), "d"), "!unqualified");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_casts_and_truncations_are_followed),
        cmocka_unit_test(what_is_computed_is_not),
        cmocka_unit_test(filters_grouping_and_order_let_it_pass),
        cmocka_unit_test(what_needs_all_rows_is_an_obstacle),
        cmocka_unit_test(windows_must_be_partitioned_by_the_time),
        cmocka_unit_test(joins_pass_on_their_preserved_side),
        cmocka_unit_test(subqueries_and_ctes_are_looked_through),
        cmocka_unit_test(the_source_must_be_a_table),
        cmocka_unit_test(stars_give_what_no_item_names),
        cmocka_unit_test(a_name_that_no_item_gives_is_not_the_star_of_another),
        cmocka_unit_test(many_ctes_cost_no_more_than_their_number),
    };
    return cmocka_run_group_tests_name("time source", tests, sql_fixture_setup, sql_fixture_teardown);
}
