#include "sql/sql_fixture.h"

#include <time.h>

static int setup(void **state) {
    SqlFixture *fixture = heap_alloc_zeroed(1, sizeof *fixture);
    fixture->arena = arena_create();
    error_init(&fixture->err);
    *state = fixture;
    return 0;
}

static const SqlVar vars[] = {{.name = {"region", 6}, .literal = {"'O''Brien; DROP TABLE x'", 24}},
                              {.name = {"limit", 5}, .literal = {"42", 2}},
                              {.name = {"since", 5}, .literal = {"DATE '2026-01-01'", 17}},
                              {.name = {"debt", 4}, .literal = {"-5", 2}}};

static SqlMacroSet *macros_of(SqlFixture *f, const char *file) {
    SqlMacroSet *set = sql_macro_set_create(f->arena);
    if (failed(sql_macro_set_read(set, source_file(f->arena, "macros/m.sql", str_from(file)), &f->err))) {
        fail_msg("%s: " STR_FMT, file, STR_ARG(f->err.message));
    }
    return set;
}

static Status expand(SqlFixture *f, const char *macros, const char *sql, SqlText *expanded_out) {
    SqlText text = whole_file(f->arena, source_file(f->arena, "models/a.sql", str_from(sql)));
    return sql_expand(&text, macros_of(f, macros), vars, COUNT_OF(vars), f->arena, expanded_out, &f->err);
}

typedef struct ExpandCase {
    const char *macros, *sql, *expanded;
} ExpandCase;

static void check_cases(SqlFixture *f, const ExpandCase *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        SqlText expanded = {0};
        if (failed(expand(f, cases[i].macros, cases[i].sql, &expanded))) {
            fail_msg("%s\n%s\n" STR_FMT, cases[i].macros, cases[i].sql, STR_ARG(f->err.message));
        }
        check_text(cases[i].sql, expanded.text, cases[i].expanded);
    }
}

#define CHECK(...)                                                                                                     \
    do {                                                                                                               \
        static const ExpandCase cases[] = {__VA_ARGS__};                                                               \
        check_cases(*state, cases, COUNT_OF(cases));                                                                   \
    } while (0)

/* --- Calls -------------------------------------------------------------------------------------------------------- */

#define CENTS "create macro cents(x) as (x / 100)::decimal(16, 2);"

static void calls_become_the_body_in_parentheses(void **state) {
    CHECK({CENTS, "select cents(total) from t", "select ((total / 100)::decimal(16, 2)) from t"},
          {CENTS, "select CENTS ( a + b ), \"cents\"(1)",
           "select (((a + b) / 100)::decimal(16, 2)), ((1 / 100)::decimal(16, 2))"},
          {CENTS, "select cents(cents(a))", "select ((((a / 100)::decimal(16, 2)) / 100)::decimal(16, 2))"},
          {CENTS, "select cents(-- x\n a /* y */ -- z\n)", "select ((a / 100)::decimal(16, 2))"},
          {CENTS, "select cents(a -- x\n + b)", "select (((a -- x\n + b) / 100)::decimal(16, 2))"}, );
}

static void text_without_calls_is_given_back(void **state) {
    SqlFixture *f = *state;
    static const char *const cases[] = {"select cents from t",
                                        "select t.cents(1)",
                                        "select 'cents(1)', \"cents(1)\" -- cents(1)",
                                        "with cents(a, b) as (select 1, 2) from cents",
                                        "with x as (select 1), cents(a) as materialized (select 1) from x",
                                        "select * from t as cents(a)",
                                        "select variance(x), var, x.var('region'), var(region), var(1)"};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        SqlText text = whole_file(f->arena, source_file(f->arena, "a.sql", str_from(cases[i]))), expanded = {0};
        assert_false(failed(sql_expand(&text, macros_of(f, CENTS), vars, 3, f->arena, &expanded, &f->err)));
        assert_ptr_equal(expanded.text.ptr, text.text.ptr);
        assert_ptr_equal(expanded.segments, text.segments);
    }
}

static void macros_call_macros(void **state) {
    CHECK(
        {"create macro a(x) as b(x) + 1; create macro b(y) as y * 2", "a(3)", "((3 * 2) + 1)"},
        {"create macro twice(x) as x + x; create macro four(x) as twice(twice(x))", "four(a)", "(((a + a) + (a + a)))"},
        {"create macro pi2() as pi() * 2", "select pi2()", "select (pi() * 2)"},
        {"create macro one(x) as x", "one(one(one(one(one(one(one(one(one(one(one(one(1))))))))))))",
         "((((((((((((1))))))))))))"}, );
}

static void parameters_stand_for_columns_only(void **state) {
    CHECK({"create macro m(x) as t.x + x.a + x(1) + X + \"x\"", "m(9)", "(t.x + x.a + x(1) + 9 + 9)"},
          {"create macro m(x) as struct_pack(x := x, y => 1) || {x: x, 'x': x}", "m(9)",
           "(struct_pack(x := 9, y => 1) || {x: 9, 'x': 9})"},
          {"create macro m(year) as extract(year from year)", "m(d)", "(extract(year from d))"},
          {"create macro m(x) as cast(x as x)::x", "m(9)", "(cast(9 as x)::x)"},
          {"create macro m(x) as x is distinct from x", "m(9)", "(9 is distinct from 9)"},
          {"create macro m(x) as trim(both x from x)", "m(a)", "(trim(both a from a))"},
          {"create macro m(x) as case x when x then x else x end", "m(a)", "(case a when a then a else a end)"},
          {"create macro m(x) as interval x day", "m(a + 1)", "(interval (a + 1) day)"},
          {"create macro m(x, y) as l[x:y]", "m(1, 2)", "(l[1:2])"},
          {"create macro m(x) as sum(x) over x", "m(a)", "(sum(a) over x)"},
          {"create macro m(j) as j -> 'a' ->> 'b'", "m(p)", "(p -> 'a' ->> 'b')"}, );
}

static void inner_scopes_keep_their_names(void **state) {
    CHECK({"create macro m(x, l) as list_transform(l, x -> x + 1) || x", "m(9, [1])",
           "(list_transform(([1]), x -> x + 1) || 9)"},
          {"create macro m(x, l) as list_transform(l, lambda x: x + 1) || x", "m(9, a)",
           "(list_transform(a, lambda x: x + 1) || 9)"},
          {"create macro m(x, i, l) as list_transform(l, (x, i) -> x + i + x) || x", "m(9, 8, a)",
           "(list_transform(a, (x, i) -> x + i + x) || 9)"},
          {"create macro m(x, l) as [x + 1 for x in l if x > 1] || x", "m(9, a)", "([x + 1 for x in a if x > 1] || 9)"},
          {"create macro m(x) as (select max(x) from t)", "m(9)", "((select max(9) from t))"},
          {"create macro m(x) as (select max(x) from (select a as x from t)) + x", "m(9)",
           "((select max(x) from (select a as x from t)) + 9)"},
          {"create macro m(x) as (select max(a) x from t order by x) + x", "m(9)",
           "((select max(a) x from t order by x) + 9)"},
          {"create macro m(t) as (select count(*) from t, t where a = t)", "m(9)",
           "((select count(*) from t, t where a = 9))"},
          {"create macro m(k) as (select name from dim join k on k = id where id = k)", "m(z)",
           "((select name from dim join k on z = id where id = z))"},
          {"create macro m(x) as (with a as (select 1), x as (select x) select x from x)", "m(9)",
           "((with a as (select 1), x as (select 9) select 9 from x))"}, );
}

static void vars_become_literals(void **state) {
    CHECK(
        {"", "select * from t where region = var('region')", "select * from t where region = 'O''Brien; DROP TABLE x'"},
        {"", "VAR ( 'limit' ) + Var('since')", "42 + DATE '2026-01-01'"},
        {"create macro m(x) as x > var('limit')", "m(var('since'))", "((DATE '2026-01-01') > 42)"},
        {"", "1 -var('debt')", "1 -(-5)"}, {"", "'var(''limit'')'", "'var(''limit'')'"}, );
}

/* --- Errors ------------------------------------------------------------------------------------------------------- */

static void check_errors(SqlFixture *f, const ExpandCase *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        SqlText expanded = {0};
        if (!failed(expand(f, cases[i].macros, cases[i].sql, &expanded))) {
            fail_msg("%s: " STR_FMT, cases[i].sql, STR_ARG(expanded.text));
        }
        assert_int_equal(f->err.kind, ERROR_DEFINITION);
        check_text(cases[i].sql, error_line(&f->err, f->arena), cases[i].expanded);
        error_clear(&f->err);
    }
}

static void wrong_calls_are_refused_at_their_place(void **state) {
    static const ExpandCase cases[] = {
        {CENTS, "select 'ä',\n cents(1, 2)", "macro 'cents' takes 1 argument (x), but 2 are given (models/a.sql:2:2)"},
        {CENTS, "cents()", "macro 'cents' takes 1 argument (x), but 0 are given (models/a.sql:1:1)"},
        {"create macro m(a, b) as a", "m(1)", "macro 'm' takes 2 arguments (a, b), but 1 is given (models/a.sql:1:1)"},
        {CENTS, "cents(x := 1)", "macro 'cents' takes its arguments by position, not by name (models/a.sql:1:7)"},
        {CENTS, "cents(x => 1)", "macro 'cents' takes its arguments by position, not by name (models/a.sql:1:7)"},
        {"create macro m(a, b) as a", "m(1,)", "an argument of macro 'm' is empty (models/a.sql:1:5)"},
        {"create macro m(a) as m(a)", "m(1)", "macro 'm' is recursive: it calls itself (macros/m.sql:1:14)"},
        {"create macro a(x) as b(x); create macro b(x) as a(x) + a(x)", "a(1)",
         "macro 'a' is recursive: a calls b, b calls a (macros/m.sql:1:14)"},
        {"create macro m(x) as l(x) + l(x); create macro l(x) as M(x) + 1", "1 + l(2)",
         "macro 'l' is recursive: l calls m, m calls l (macros/m.sql:1:48)"},
        {"create macro m(x) as l(x); create macro l(x) as l(x)", "m(2)",
         "macro 'l' is recursive: it calls itself (macros/m.sql:1:41)"},
        {"create macro a(x) as b(x); create macro b(x) as c(x); create macro c(x) as d(x); create macro d(x) as e(x);"
         "create macro e(x) as f(x); create macro f(x) as g(x); create macro g(x) as h(x); create macro h(x) as i(x);"
         "create macro i(x) as j(x); create macro j(x) as k(x); create macro k(x) as x",
         "a(1)", "macro 'k' is nested too deeply: after 10 passes its calls are not used up (macros/m.sql:1:282)"},
        {"create macro m(y) as list_transform(l, x -> x + y)", "m(z + x)",
         "argument 'x' of macro 'm' would be taken for the variable of that name in the macro's lambda "
         "(models/a.sql:1:7)"},
        {"", "var('nope')", "unknown var 'nope' (models/a.sql:1:1)"},
        {"create macro m(x) as x + var('regoin')", "m(1)", "unknown var 'regoin' (macros/m.sql:1:26)"},
    };
    check_errors(*state, cases, COUNT_OF(cases));
}

static void unknown_vars_list_the_known(void **state) {
    SqlFixture *f = *state;
    SqlText expanded = {0};
    assert_true(failed(expand(f, "", "select var('regio')", &expanded)));
    check_text("hint", f->err.hint, "did you mean 'region'? Known vars: region, limit, since, debt");
    error_clear(&f->err);
    assert_true(failed(expand(f, "", "select var('Region')", &expanded)));
    check_text("exact", f->err.message, "unknown var 'Region'");
    error_clear(&f->err);
}

/* a0 is 1, each of the others holds the one before twice. */
static Str doubling_macros(SqlFixture *f, size_t count, const char *sum) {
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_format(&sql, "create macro a0(x) as %s;\n", sum);
    for (size_t i = 1; i <= count; i++) {
        strbuf_format(&sql, "create macro a%zu(x) as a%zu(x) + a%zu(x);\n", i, i - 1, i - 1);
    }
    return strbuf_copy(&sql, f->arena);
}

static void deep_chains_without_recursion_expand(void **state) {
    SqlFixture *f = *state;
    SqlText expanded = {0};
    Str macros = doubling_macros(f, 8, "x");
    assert_false(failed(expand(f, str_to_c(f->arena, macros), "a8(1)", &expanded)));
    assert_true(expanded.text.size > 256);
}

/* Checked memory makes the same work several times slower. */
#ifdef __SANITIZE_ADDRESS__
#define REFUSAL_SECONDS_MAX 5
#else
#define REFUSAL_SECONDS_MAX 1
#endif

static double cpu_seconds(void) {
    return (double)clock() / CLOCKS_PER_SEC;
}

/* Recursive or not: what doubles is refused before it costs time (spec 01 §6 line 2: within a second). */
static void test_01_6_2_what_grows_without_end_is_refused_at_once(void **state) {
    SqlFixture *f = *state;
    static const struct {
        const char *macros, *sql;
    } cases[] = {
        {"create macro f(x) as g(x+x)+g(x+x)+g(x+x)+g(x+x); create macro g(x) as f(x+x)+f(x+x)+f(x+x)+f(x+x)", "f(1)"},
        {"create macro f(x) as g(g(x)+g(x)); create macro g(x) as f(f(x)+f(x))", "f(1)"},
        {"create macro f(x) as x+x+x+x+x+x+x+x+x+x", "f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(1))))))))))))))))"},
        {"create macro f(x) as x+x", "f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(1))))))))))))))))))))))))"},
        {"create macro f(x) as g(x+x)+g(x+x)+g(x+x)+g(x+x); create macro g(x) as h(x+x)+h(x+x)+h(x+x)+h(x+x);"
         "create macro h(x) as i(x+x)+i(x+x)+i(x+x)+i(x+x); create macro i(x) as j(x+x)+j(x+x)+j(x+x)+j(x+x);"
         "create macro j(x) as k(x+x)+k(x+x)+k(x+x)+k(x+x); create macro k(x) as l(x+x)+l(x+x)+l(x+x)+l(x+x);"
         "create macro l(x) as x+x+x+x",
         "f(1)"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        SqlText expanded = {0};
        double started = cpu_seconds();
        assert_true(failed(expand(f, cases[i].macros, cases[i].sql, &expanded)));
        double seconds = cpu_seconds() - started;
        assert_int_equal(f->err.kind, ERROR_DEFINITION);
        error_clear(&f->err);
        assert_true(seconds < REFUSAL_SECONDS_MAX);
    }
}

static void expansion_has_a_limit(void **state) {
    SqlFixture *f = *state;
    SqlText expanded = {0};
    assert_true(failed(expand(f, "create macro f(x) as x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x",
                              "f(f(f(f(f(f(f(f(f(f(f(1)))))))))))", &expanded)));
    assert_int_equal(f->err.kind, ERROR_DEFINITION);
    error_clear(&f->err);
    assert_true(failed(expand(f, "create macro f(x) as f(f(x)+f(x)+f(x))+f(x)", "f(1)", &expanded)));
    assert_int_equal(f->err.kind, ERROR_DEFINITION);
    error_clear(&f->err);
}

/* --- Definitions -------------------------------------------------------------------------------------------------- */

static void definitions_are_read(void **state) {
    SqlFixture *f = *state;
    SqlMacroSet *set = macros_of(f, "-- all of ours\ncreate or replace macro a(x) as x; CREATE FUNCTION b() AS 1;;\n"
                                    "create macro \"c\"(\"p q\", r) as (select ';' from t where a = \"p q\");");
    assert_int_equal(sql_macro_set_count(set), 3);
    assert_int_equal(sql_macro_set_count(macros_of(f, " -- nothing\n")), 0);
}

static void wrong_definitions_are_refused_at_their_place(void **state) {
    SqlFixture *f = *state;
    static const struct {
        const char *file, *error;
    } cases[] = {
        {"select 1", "a macro file holds only CREATE MACRO name(parameters) AS expression statements (m.sql:1:1)"},
        {"create table t(a int)",
         "a macro file holds only CREATE MACRO name(parameters) AS expression statements (m.sql:1:1)"},
        {"create temp macro t(a) as a",
         "a macro file holds only CREATE MACRO name(parameters) AS expression statements (m.sql:1:1)"},
        {"create macro a(x) as x;\ncreate macro A(y) as y", "macro 'A' is already defined in m.sql:1 (m.sql:2:14)"},
        {"create macro a(x) as table select 1", "a table macro cannot be expanded; write a model instead (m.sql:1:22)"},
        {"create macro a(x) as select 1",
         "a macro's body is an expression, not a query; write a model, or put a scalar subquery in () (m.sql:1:22)"},
        {"create macro a(x := 1) as x", "a macro's parameter cannot have a default value (m.sql:1:16)"},
        {"create macro a(x int) as x", "a macro's parameter has no type (m.sql:1:18)"},
        {"create macro a(x, X) as x", "two parameters of the macro have this name (m.sql:1:19)"},
        {"create macro s.a(x) as x",
         "a macro's name has no schema: macros are not objects of the warehouse (m.sql:1:14)"},
        {"create macro a as 1", "( and the macro's parameters are expected behind its name (m.sql:1:16)"},
        {"create macro a(x) x", "AS and an expression are expected behind a macro's parameters (m.sql:1:19)"},
        {"create macro a(x) as", "the macro has no body (m.sql:1:21)"},
        {"create macro a(x) as ;", "the macro has no body (m.sql:1:22)"},
        {"create macro a(x) as (x", "this bracket has no counterpart (m.sql:1:22)"},
        {"create macro a(x) as x)", "this bracket has no counterpart (m.sql:1:23)"},
        {"create macro a(x) as (x]", "this bracket has no counterpart (m.sql:1:22)"},
        {"create macro a(x) as 'x", "this string, name or comment does not end (m.sql:1:22)"},
        {"create macro a(x) as x +", "the macro's body ends in the middle of an expression (m.sql:1:24)"},
        {"create macro a(x) as x, (y) as y",
         "a macro has one body: variants with other parameters are not supported (m.sql:1:23)"},
        {"create macro a(1) as x", "a parameter's name is expected here (m.sql:1:16)"},
        {"create macro a(x", "a comma or ) is expected behind a macro's parameter (m.sql:1:17)"},
        {"create macro (x) as x", "a macro's name is expected here (m.sql:1:14)"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        SqlMacroSet *set = sql_macro_set_create(f->arena);
        Status status = sql_macro_set_read(set, source_file(f->arena, "m.sql", str_from(cases[i].file)), &f->err);
        if (!failed(status) || f->err.kind != ERROR_DEFINITION) {
            fail_msg("%s", cases[i].file);
        }
        check_text(cases[i].file, error_line(&f->err, f->arena), cases[i].error);
        error_clear(&f->err);
    }
}

static void two_files_with_one_name_are_both_named(void **state) {
    SqlFixture *f = *state;
    SqlMacroSet *set = sql_macro_set_create(f->arena);
    assert_false(
        failed(sql_macro_set_read(set, source_file(f->arena, "a.sql", STR("\ncreate macro m() as 1")), &f->err)));
    assert_true(failed(sql_macro_set_read(set, source_file(f->arena, "b.sql", STR("create macro M() as 2")), &f->err)));
    check_text("both", error_line(&f->err, f->arena), "macro 'M' is already defined in a.sql:2 (b.sql:1:14)");
    error_clear(&f->err);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_become_the_body_in_parentheses),
        cmocka_unit_test(text_without_calls_is_given_back),
        cmocka_unit_test(macros_call_macros),
        cmocka_unit_test(parameters_stand_for_columns_only),
        cmocka_unit_test(inner_scopes_keep_their_names),
        cmocka_unit_test(vars_become_literals),
        cmocka_unit_test(wrong_calls_are_refused_at_their_place),
        cmocka_unit_test(unknown_vars_list_the_known),
        cmocka_unit_test(expansion_has_a_limit),
        cmocka_unit_test(deep_chains_without_recursion_expand),
        cmocka_unit_test(test_01_6_2_what_grows_without_end_is_refused_at_once),
        cmocka_unit_test(definitions_are_read),
        cmocka_unit_test(wrong_definitions_are_refused_at_their_place),
        cmocka_unit_test(two_files_with_one_name_are_both_named),
    };
    return cmocka_run_group_tests_name("sql macro", tests, setup, sql_fixture_teardown);
}
