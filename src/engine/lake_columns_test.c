/* Types as the engine spells them: which a DuckLake refuses, and what is suggested. */
#include "duck/duck_fixture.h"

#include "engine/lake_columns.h"

static void types_that_a_lake_cannot_store_are_refused_with_a_cast(void **state) {
    static const struct {
        const char *type, *message, *hint; /* NULL: stored */
    } cases[] = {
        {"INTEGER", NULL, NULL},
        {"DECIMAL(18,2)", NULL, NULL},
        {"TIMESTAMP WITH TIME ZONE", NULL, NULL},
        {"INTEGER[][]", NULL, NULL},
        {"STRUCT(bit INTEGER, \"enum ENUM('x')\" VARCHAR[], m MAP(VARCHAR, STRUCT(a DECIMAL(3,1))))", NULL, NULL},
        {"STRUCT(\"a\"\" BIT\" INTEGER)", NULL, NULL},
        {"BIT", "cannot store it", "AS VARCHAR)"},
        {"ENUM('a', 'it''s)')", "cannot store it", "AS VARCHAR)"},
        {"UNION(num INTEGER, str VARCHAR)", "cannot store it", "AS VARCHAR)"},
        {"BIGNUM", "cannot store it", "AS DECIMAL(38,0))"},
        {"INTEGER[3]", "cannot store it", "AS INTEGER[])"},
        {"BIT[]", "cannot store BIT", "AS VARCHAR)"},
        {"STRUCT(a INTEGER, \"b c\" INTEGER[2])", "cannot store INTEGER[2]", "AS INTEGER[])"},
        {"MAP(VARCHAR, ENUM('x', 'y'))", "cannot store ENUM('x', 'y')", "AS VARCHAR)"},
        {"STRUCT(a STRUCT(b BIT)[])[]", "cannot store BIT", "AS VARCHAR)"},
    };
    Fixture *f = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        DuckColumnVec columns = {0};
        duck_column_vec_push(f->arena, &columns, (DuckColumn){STR("id"), STR("BIGINT")});
        duck_column_vec_push(f->arena, &columns, (DuckColumn){STR("odd"), str_from(cases[i].type)});
        if (cases[i].message == NULL) {
            assert_ok(lake_columns_check(&columns, &f->err), &f->err);
            continue;
        }
        assert_failed(lake_columns_check(&columns, &f->err));
        assert_int_equal(f->err.kind, ERROR_COMPILATION);
        assert_contains(f->err.message, "column 'odd'");
        assert_contains(f->err.message, cases[i].message);
        assert_contains(f->err.hint, cases[i].hint);
    }
}

/* What is sent here are the engine's own texts: they are made from real columns. */
static void real_spellings_are_read(void **state) {
    Fixture *f = *state;
    static const struct {
        const char *expression;
        bool stored;
    } cases[] = {
        {"{'bit': 1, 'a b': [1], 'it''s': MAP {'x': 1.5}}", true},
        {"array_value(1, 2)", false},
        {"{'x': 'a'::ENUM('a')}", false},
        {"[bitstring('1', 8)]", false},
        {"union_value(k := 1)", false},
        {"now()", true},
        {"uuid()", true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        DuckColumnVec columns;
        Str sql = str_format(f->arena, "SELECT %s AS c", cases[i].expression);
        assert_ok(duck_describe(f->connection, sql, f->arena, &columns, &f->err), &f->err);
        Status status = lake_columns_check(&columns, &f->err);
        if (failed(status) == cases[i].stored) {
            fail_msg("%s is " STR_FMT, cases[i].expression, STR_ARG(columns.items[0].type));
        }
    }
}

int main(void) {
#define FIXTURE_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(types_that_a_lake_cannot_store_are_refused_with_a_cast),
        FIXTURE_TEST(real_spellings_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
