#include "sql/sql_fixture.h"

#include "sql/sql_fence.h"
#include "sql/sql_fence_functions.h"

/* The project owns t, main.t, stg.u and "Odd Name". */
static bool owns(void *context, const SqlTableRef *table) {
    (void)context;
    bool is_main = table->schema.size == 0 || str_equal_fold(table->schema, STR("main"));
    if (table->catalog.size > 0) {
        return false;
    }
    if (str_equal_fold(table->schema, STR("stg"))) {
        return str_equal_fold(table->name, STR("u"));
    }
    return is_main && (str_equal_fold(table->name, STR("t")) || str_equal(table->name, STR("Odd Name")));
}

static Status check(SqlFixture *f, Str sql) {
    SqlFacts facts = {0};
    SqlFencePolicy policy = {.owns_relation = owns};
    return sql_fence_check(f->parser, sql, &policy, f->arena, &facts, &f->err);
}

static void hostile_texts_are_refused(void **state) {
    SqlFixture *f = *state;
    static const char *const cases[] = {
        /* nothing, several, no query */
        "",
        "-- x",
        "/* x */ ;",
        "select 1; select 2",
        "select 1; delete from t",
        "delete from t",
        "insert into t values (1)",
        "update t set a = 1",
        "truncate t",
        "drop table t",
        "create table x as select 1",
        "create view x as select 1",
        "alter table t add column x int",
        "merge into t using t s on true when matched then delete",
        "install httpfs",
        "load httpfs",
        "attach 'x.db'",
        "detach x",
        "copy t to 'x.csv'",
        "copy (select 1) to 'x.csv'",
        "export database 'x'",
        "import database 'x'",
        "set threads = 1",
        "reset threads",
        "pragma version",
        "pragma database_list",
        "call f()",
        "checkpoint",
        "vacuum",
        "begin",
        "commit",
        "explain select 1",
        "explain analyze select * from t",
        "use x",
        "prepare x as select 1",
        "execute x",
        "comment on table t is 'x'",
        "create macro m() as 1",
        "select 'a",
        /* writing or locking in a query */
        "with d as (delete from t returning *) select * from d",
        "with d as (insert into t values (1) returning *) from d",
        "select 1 into x",
        "select * from t for update",
        "select * from t for share",
        /* files and the network */
        "select * from read_csv('secret.csv')",
        "select * from 'secret.csv'",
        "select * from \"secret.csv\"",
        "select * from (from read_csv('secret.csv'))",
        "from 'https://example.com/x.csv'",
        "from 's3://b/x.parquet'",
        "select * from glob('*')",
        "select * from parquet_scan('x.parquet')",
        "from read_text('/etc/passwd')",
        "from read_blob('/etc/passwd')",
        "from read_json('x')",
        "from read_duckdb('x.db')",
        "from sniff_csv('x.csv')",
        "from parquet_metadata('x')",
        "from \"../x.csv\"",
        "from '/etc/passwd'",
        "select (select a from 'x.csv')",
        "select * from t where a in (from 'x.csv')",
        "select * from t, lateral (from read_csv('x'))",
        "select * from t join 'x.csv' on true",
        "from t union all from 'x.csv'",
        "describe 'x.csv'",
        "summarize 'x.csv'",
        "describe \"x.csv\"",
        "pivot 'x.csv' on a in (1)",
        "from t order by (select max(a) from 'x.csv')",
        "from t limit (select 1 from 'x.csv')",
        "values ((select a from 'x.csv'))",
        "with c as (from 'x.csv') from c",
        "from e'x.csv'",
        "from $$x.csv$$",
        "from t at (version => (select 1 from 'x.csv'))",
        "select sum(a) over (order by (select 1 from 'x.csv')) from t",
        "select [x for x in (from 'x.csv')]",
        /* names that a CTE does not hide everywhere */
        "with \"secret.csv\" as (select * from \"secret.csv\") from \"secret.csv\"",
        "with recursive \"secret.csv\" as (select * from \"secret.csv\" union all select * from \"secret.csv\") from "
        "\"secret.csv\"",
        "with recursive r as (with q as (select * from r) from q union all from r) from r",
        "with a as (from \"secret.csv\"), \"secret.csv\" as (select 1) from a",
        "select * from (with \"secret.csv\" as (select 1) from \"secret.csv\"), \"secret.csv\"",
        "from recurring.\"secret.csv\"",
        "with x as (select 1) from main.x",
        /* relations of others */
        "from x",
        "from information_schema.tables",
        "from pg_catalog.pg_tables",
        "from sqlite_master",
        "from duckdb_tables",
        "from other.main.t",
        "from stg.t",
        "from \"odd name\"",
        "describe x",
        "summarize x",
        "from t, t.lst",
        "table x",
        "show tables",
        "show all tables",
        "describe",
        "show databases",
        "from duckdb_settings()",
        "from duckdb_secrets()",
        "from pragma_table_info('t')",
        "from t as information_schema, information_schema.tables",
        /* functions */
        "from query('select 42')",
        "from query_table('t')",
        "select getenv('HOME')",
        "select current_setting('threads')",
        "select nextval('s')",
        "select currval('s')",
        "select setseed(0.5)",
        "select getvariable('x')",
        "select sleep_ms(1000)",
        "select write_log('x')",
        "from which_secret('x', 's3')",
        "select pg_sleep(1)",
        "select json_serialize_plan('from t')",
        "from json_execute_serialized_sql('x')",
        "select txid_current()",
        "select stats(a) from t",
        "select has_table_privilege('t', 'select')",
        "select unknown_function(1)",
        "select a.getenv() from t",
        "select main.getenv('HOME')",
        "select t.a from t where current_setting('x') = 'y'",
        "select list_transform([1], x -> getenv('HOME'))",
        "select sum(nextval('s')) over () from t",
        "select count(*) filter (where getenv('x') = 'y') from t",
        "select string_agg(a order by getenv('x')) from t",
        "select case when true then getenv('x') end",
        "select cast(getenv('x') as int)",
        "select * replace (getenv('x') as a) from t",
        "select columns(c -> getenv('x') = c) from t",
        "select 1 from t group by getenv('x')",
        "select 1 from t having getenv('x') = '1'",
        "select 1 from t qualify getenv('x') = '1'",
        "select distinct on (getenv('x')) a from t",
        "from range(getenv('x')::int)",
        "from unnest([getenv('x')])",
        "from t pivot (max(getenv('x')) for a in (1))",
        "values (getenv('x'))",
        "from t join t s on getenv('x') = '1'",
        "select {'a': getenv('x')}",
        "select [getenv('x')]",
        "select getenv('x') between 1 and 2",
        "select \"getenv\"('x')",
        "select GETENV('x')",
        "select read_csv('x.csv')",
        "select query('select 1')",
        "from repeat('a', 3)",
        "from test_all_types()",
        "from json_each('[1]')",
        "from evil.range(1)",
        "from stg.unnest([1])",
        "from icu_calendar_names()",
        "from seq_scan('t')",
        "from duckdb_functions()",
        "select __internal_compress_string_ubigint('x')",
    };
    size_t count = 0;
    for (size_t i = 0; i < COUNT_OF(cases); i++, count++) {
        if (!failed(check(f, str_from(cases[i])))) {
            fail_msg("let through: %s", cases[i]);
        }
        if (f->err.kind != ERROR_QUERY || f->err.message.size == 0 ||
            str_find_char(f->err.message, '\n') != STR_NOT_FOUND) {
            fail_msg("%s: %s: " STR_FMT, cases[i], error_kind_name(f->err.kind), STR_ARG(f->err.message));
        }
        error_clear(&f->err);
    }
    assert_true(count >= 60);
}

static void harmless_texts_are_let_through(void **state) {
    SqlFixture *f = *state;
    static const char *const cases[] = {
        "SELECT * FROM t ORDER BY id DESC",
        "SELECT id FROM t EXCEPT SELECT 1",
        "FROM t",
        "SELECT count(*) FROM range(5)",
        "SELECT ';' AS s;",
        "SELECT \"name\" FROM t",
        "table t",
        "values (1, 2)",
        "describe t",
        "summarize t",
        "show t",
        "describe select * from t",
        "select * from (describe t)",
        "from main.t, stg.u, \"Odd Name\", T",
        "with a as (from t), b as (from a) select * from a, b",
        "with \"secret.csv\" as (select 1) from \"secret.csv\"",
        "with recursive r as (select 1 as n union all select n + 1 from r where n < 5) from r",
        "with recursive t as (select id from t union all select id + 1 from t where id < 5) from t",
        "with recursive w(a) using key (a) as (select 1 union select a + 1 from recurring.w where a < 3) from w",
        "pivot t on a in (1, 2) using sum(b)",
        "from t unpivot (v for n in (a, b))",
        "select [x + 1 for x in [1, 2] if x > 1]",
        "select a ->> 'b', a -> 'c', a[1:2], a.b, {'x': a}, map {'k': 1}, a.upper(), a::decimal(10, 2), try_cast(a as "
        "int) from t",
        "select a like 'x%', a ilike 'y', a ~ 'z', a similar to 'q', a not like 'w' escape '$', a !~ 'x', 5!, a ^@ "
        "'x', a <-> b from t",
        "select interval 1 day, date '2026-01-01', now(), current_date, extract(year from a), a at time zone 'UTC' "
        "from t",
        "select sum(a) filter (where b), row_number() over w, lag(a) over (order by b) from t window w as (partition "
        "by c)",
        "select list_transform([1], lambda x: x + 1), list_filter([1], x -> x > 0), list_sum([1]), unnest([1])",
        "select coalesce(a, b), nullif(a, b), ifnull(a, b), if(a, b, c), case a when 1 then 2 end, greatest(a, b) from "
        "t",
        "select columns('a.*'), * exclude (a) replace (1 as b) rename (c as d) from t",
        "from t using sample 10",
        "from generate_series(1, 10) g(i), unnest([1, 2]) u(x)",
        "select exists (from t), a in (from t), array(select a from t) from t",
        "select grouping(a), count(distinct b), quantile_cont(c, 0.5), string_agg(d, ',' order by e) from t group by "
        "rollup (a)",
        "select trim(both 'x' from a), substring(a from 1 for 2), position('a' in b) from t",
        "select regexp_extract(a, 'x'), strftime(b, '%Y'), printf('%d', 1), json_extract(c, '$.a'), md5(a), hash(a), "
        "uuid() from t",
        "from t at (version => 3)",
        "select t.* from t natural join stg.u semi join t x on true positional join t y",
        "select (1, 2) in ((1, 2)), row(1, 2), a is distinct from b, a between 1 and 2, not a, a is null, a collate "
        "nocase from t",
        "from t select a qualify rank() over (order by a) = 1 limit 10%",
        "select current_user, version(), typeof(a) from t",
        "select $1",
        "from t asof join stg.u using (a)",
        "select count() from t group by all order by all",
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        if (failed(check(f, str_from(cases[i])))) {
            fail_msg("%s: " STR_FMT, cases[i], STR_ARG(f->err.message));
        }
    }
}

static void refusals_say_what_and_where(void **state) {
    SqlFixture *f = *state;
    static const struct {
        const char *sql, *message;
        size_t offset;
    } cases[] = {
        {"select getenv('x')", "function 'getenv' is not allowed in a read-only query", 7},
        {"from 'x.csv'", "reading the file 'x.csv' is not allowed in a read-only query", 5},
        {"select 1 from other.main.t", "'other.main.t' is no relation of this project", 14},
        {"from read_csv('x')", "table function 'read_csv' is not allowed in a read-only query", 5},
        {"delete from t", "a query is expected, but this is a statement of kind DELETE", 0},
        {"selec 1", "syntax error at or near \"selec\"", 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_true(failed(check(f, str_from(cases[i].sql))));
        check_text(cases[i].sql, f->err.message, cases[i].message);
        assert_int_equal(f->err.sql_offset, cases[i].offset);
        error_clear(&f->err);
    }
}

static void the_list_of_functions_is_sound(void **state) {
    SqlFixture *f = *state;
    assert_int_equal(sql_fence_functions_check(), STR_NOT_FOUND);
    assert_true(sql_fence_allows_function(STR("SUM"), f->arena));
    assert_false(sql_fence_allows_function(STR(""), f->arena));
    assert_false(sql_fence_allows_function(STR("summ"), f->arena));
    assert_false(sql_fence_allows_sign(STR("sum")));
    assert_true(sql_fence_allows_sign(STR("!~~*")));
}

/* Whatever DuckDB has under the names below must never be on the list. */
static void dangerous_functions_are_not_on_the_list(void **state) {
    SqlFixture *f = *state;
    static const char *const names[] = {
        "getenv",
        "getvariable",
        "current_setting",
        "set_config",
        "nextval",
        "currval",
        "setseed",
        "write_log",
        "sleep_ms",
        "pg_sleep",
        "which_secret",
        "query",
        "query_table",
        "read_csv",
        "read_text",
        "read_blob",
        "glob",
        "json_serialize_plan",
        "json_execute_serialized_sql",
        "parquet_scan",
        "sniff_csv",
        "duckdb_secrets",
        "pragma_version",
        "txid_current",
        "current_query",
        "in_search_path",
        "current_schemas",
        "stats",
        "pg_get_viewdef",
        "has_table_privilege",
        "lo_export",
        "pg_read_file",
        "dblink",
        "http_get",
        "curl",
        "st_read",
        "iceberg_scan",
        "delta_scan",
        "postgres_query",
        "sqlite_scan",
    };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (sql_fence_allows_function(str_from(names[i]), f->arena)) {
            fail_msg("%s", names[i]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_texts_are_refused),
        cmocka_unit_test(harmless_texts_are_let_through),
        cmocka_unit_test(refusals_say_what_and_where),
        cmocka_unit_test(the_list_of_functions_is_sound),
        cmocka_unit_test(dangerous_functions_are_not_on_the_list),
    };
    return cmocka_run_group_tests_name("sql fence", tests, sql_fixture_setup, sql_fixture_teardown);
}
