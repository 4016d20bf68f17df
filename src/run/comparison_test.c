#include "run/comparison.h"

#include "duck/duck_fixture.h"

/* "id BIGINT, v VARCHAR" */
static DuckColumnVec columns_of(Arena *arena, const char *text) {
    DuckColumnVec columns = {0};
    for (Str rest = str_from(text); rest.size > 0;) {
        size_t comma = str_find(rest, STR(", "));
        Str one = str_slice(rest, 0, comma);
        size_t blank = str_find_char(one, ' ');
        duck_column_vec_push(arena, &columns, (DuckColumn){str_slice(one, 0, blank), str_skip(one, blank + 1)});
        rest = comma == STR_NOT_FOUND ? STR_EMPTY : str_skip(rest, comma + 2);
    }
    return columns;
}

static StrVec names_of(Arena *arena, const char *text) {
    DuckColumnVec columns = columns_of(arena, text);
    StrVec names = {0};
    for (size_t i = 0; i < columns.count; i++) {
        str_vec_push(arena, &names, columns.items[i].name);
    }
    return names;
}

typedef struct Asked {
    const char *left, *right, *on, *key;
    double tolerance;
} Asked;

static Status make(Fixture *f, const Asked *asked, Comparison *comparison_out) {
    ComparedSide left = {.relation = {.schema = STR("main"), .name = STR("l")}};
    ComparedSide right = {.relation = {.schema = STR("main"), .name = STR("r")}};
    left.columns = columns_of(f->arena, asked->left);
    right.columns = columns_of(f->arena, asked->right);
    StrVec on = {0}, key = {0};
    if (asked->on != NULL) {
        on = names_of(f->arena, asked->on);
    }
    if (asked->key != NULL) {
        key = names_of(f->arena, asked->key);
    }
    ComparisonOptions options = {.on = &on, .key = &key, .tolerance = asked->tolerance, .sample_limit = 3};
    return comparison_make(&left, &right, &options, f->arena, comparison_out, &f->err);
}

/* "key | values | added | removed | retyped | missing keys" */
static Str comparison_text(Fixture *f, const Comparison *comparison) {
    StrBuf text = {0};
    for (size_t i = 0; i < comparison->columns.count; i++) {
        strbuf_text(&text, i == comparison->key_count ? "| " : "");
        strbuf_format(&text, STR_FMT " ", STR_ARG(comparison->columns.items[i].name));
    }
    strbuf_text(&text, comparison->key_count == comparison->columns.count ? "| |" : "|");
    for (size_t i = 0; i < comparison->added.count; i++) {
        strbuf_format(&text, " +" STR_FMT, STR_ARG(comparison->added.items[i].name));
    }
    for (size_t i = 0; i < comparison->removed.count; i++) {
        strbuf_format(&text, " -" STR_FMT, STR_ARG(comparison->removed.items[i].name));
    }
    for (size_t i = 0; i < comparison->retyped.count; i++) {
        strbuf_format(&text, " ~" STR_FMT, STR_ARG(comparison->retyped.items[i].name));
    }
    for (size_t i = 0; i < comparison->missing_keys.count; i++) {
        strbuf_format(&text, " ?" STR_FMT, STR_ARG(comparison->missing_keys.items[i]));
    }
    Str copy = strbuf_copy(&text, f->arena);
    strbuf_deinit(&text);
    return copy;
}

static const struct MakeCase {
    Asked asked;
    const char *made;
} make_cases[] = {
    {{"id BIGINT, v VARCHAR", "id BIGINT, v VARCHAR", NULL, "id", 0}, "id | v |"},
    {{"id BIGINT, v VARCHAR", "V VARCHAR, ID BIGINT", NULL, "Id", 0}, "id | v |"},
    {{"id BIGINT, v VARCHAR", "id BIGINT, v VARCHAR", NULL, NULL, 0}, "id v | |"},
    {{"id BIGINT, v VARCHAR", "id BIGINT, v VARCHAR", "v, V", "id", 0}, "v | id |"},
    {{"id BIGINT, a INTEGER, b INTEGER", "id BIGINT, a BIGINT, c INTEGER", NULL, "id", 0}, "id | a | +c -b ~a"},
    {{"id BIGINT, k BIGINT, v DOUBLE", "id BIGINT, v DOUBLE", NULL, "id, k", 0}, "id v | | -k ?k"},
    {{"a INTEGER, x DOUBLE, y FLOAT", "a INTEGER, x DOUBLE, y FLOAT", NULL, NULL, 0.5}, "a | x y |"},
    {{"x DOUBLE, d DECIMAL(9,2)", "x INTEGER, d DECIMAL(9,2)", NULL, NULL, 0.5}, "d | x | ~x"},
    {{"x DOUBLE", "x DOUBLE", NULL, NULL, 0.5}, "| x |"},
    {{"x DOUBLE, y DOUBLE", "x DOUBLE, y DOUBLE", "x", NULL, 0.5}, "x | y |"},
    {{"a INTEGER", "b INTEGER", NULL, "a", 0}, "| | +b -a ?a"},
};

static void columns_and_key_are_those_of_both_sides(void **state) {
    Fixture *f = *state;
    for (size_t i = 0; i < COUNT_OF(make_cases); i++) {
        Comparison comparison;
        assert_ok(make(f, &make_cases[i].asked, &comparison), &f->err);
        Str text = comparison_text(f, &comparison);
        if (!str_equal(text, str_from(make_cases[i].made))) {
            fail_msg("%s with %s: %s, expected %s", make_cases[i].asked.left, make_cases[i].asked.right,
                     str_to_c(f->arena, text), make_cases[i].made);
        }
    }
}

static const struct RefusalCase {
    Asked asked;
    const char *message, *hint;
} refusal_cases[] = {
    {{"id BIGINT, amount INTEGER", "id BIGINT, amount INTEGER", "amuont", "id", 0},
     "neither 'main.l' nor 'main.r' has a column 'amuont' to match rows by",
     "did you mean 'amount'?"},
    {{"id BIGINT, a INTEGER", "id BIGINT, b INTEGER", "a", "id", 0}, "'main.r' has no column 'a' to match rows by", ""},
    {{"id BIGINT, a INTEGER", "id BIGINT, b INTEGER", "B", "id", 0}, "'main.l' has no column 'B' to match rows by", ""},
    {{"a INTEGER", "b INTEGER", "zzz", NULL, 0},
     "neither 'main.l' nor 'main.r' has a column 'zzz' to match rows by",
     ""},
};

static void a_key_that_is_no_common_column_is_refused(void **state) {
    Fixture *f = *state;
    for (size_t i = 0; i < COUNT_OF(refusal_cases); i++) {
        Comparison comparison;
        assert_failed(make(f, &refusal_cases[i].asked, &comparison));
        assert_int_equal(f->err.kind, ERROR_SELECTION);
        assert_str(f->err.message, refusal_cases[i].message);
        assert_str(f->err.hint, refusal_cases[i].hint);
        error_clear(&f->err);
    }
}

static void a_sample_names_no_column_twice(void **state) {
    Fixture *f = *state;
    Comparison comparison;
    Asked asked = {"left_v INTEGER, v INTEGER", "left_v INTEGER, v INTEGER", NULL, "left_v", 0};
    assert_ok(make(f, &asked, &comparison), &f->err);
    StrVec names = comparison_sample_names(&comparison, ROWS_CHANGED, f->arena);
    assert_str(str_join(f->arena, names.items, names.count, STR(" ")), "left_v left_v_ right_v");
    names = comparison_sample_names(&comparison, ROWS_LEFT_ONLY, f->arena);
    assert_str(str_join(f->arena, names.items, names.count, STR(" ")), "left_v v");
}

/* --- Values ----------------------------------------------------------------------------------------------------------
 * One row a side with the key 1: matched, changed, or two rows of their own where the value itself is the key. */

static const struct ValueCase {
    const char *left, *right;
    double tolerance;
    bool is_equal;
} value_cases[] = {
    {"NULL::INTEGER", "NULL::INTEGER", 0, true},
    {"NULL::INTEGER", "0", 0, false},
    {"NULL::VARCHAR", "''", 0, false},
    {"'nan'::DOUBLE", "'nan'::DOUBLE", 0, true},
    {"'nan'::DOUBLE", "1.0::DOUBLE", 0.5, false},
    {"'nan'::DOUBLE", "NULL::DOUBLE", 0.5, false},
    {"'inf'::DOUBLE", "'inf'::DOUBLE", 0.5, true},
    {"'inf'::DOUBLE", "'-inf'::DOUBLE", 0.5, false},
    {"'inf'::DOUBLE", "1e308::DOUBLE", 0.5, false},
    {"0.0::DOUBLE", "-0.0::DOUBLE", 0, true},
    {"1.0::DOUBLE", "1.25::DOUBLE", 0.25, true},
    {"1.0::DOUBLE", "1.25::DOUBLE", 0.2, false},
    {"1.0::FLOAT", "1.25::FLOAT", 0.25, true},
    {"1::INTEGER", "1.25::DOUBLE", 0.25, true},
    {"1.0::DECIMAL(9,2)", "1.01::DECIMAL(9,2)", 0.25, false}, /* no float: exact */
    {"1::INTEGER", "1::BIGINT", 0, true},
    {"1::UBIGINT", "-1::BIGINT", 0, false},
    {"1.5::DECIMAL(9,2)", "1.50::DECIMAL(18,4)", 0, true},
    {"1.5::DECIMAL(9,2)", "1.5::DOUBLE", 0, true},
    {"9007199254740993::BIGINT", "9007199254740993::HUGEINT", 0, true},
    {"5::HUGEINT", "5::UHUGEINT", 0, true},
    {"DATE '2026-01-01'", "TIMESTAMP '2026-01-01'", 0, true},
    {"DATE '2026-01-01'", "TIMESTAMP '2026-01-01 00:00:01'", 0, false},
    {"TIMESTAMP_S '2026-01-01'", "TIMESTAMP '2026-01-01'", 0, true},
    {"DATE '2026-01-01'", "'2026-01-01'", 0, true},
    {"1::INTEGER", "'1'", 0, true},
    {"1::INTEGER", "'one'", 0, false},
    {"true", "1", 0, false},
    {"'a'::ENUM('a', 'b')", "'a'", 0, true},
    {"{'a': 1, 'b': [1, NULL]}", "{'a': 1, 'b': [1, NULL]}", 0, true},
    {"{'a': 1, 'b': [1, NULL]}", "{'a': 1, 'b': [1, 2]}", 0, false},
    {"{'a': NULL::INTEGER}", "NULL::STRUCT(a INTEGER)", 0, false},
    {"{'a': 1::INTEGER}", "{'a': 1::BIGINT}", 0, true},
    {"MAP {'a': 1}", "MAP {'a': 1}", 0, true},
    {"MAP {'a': 1}", "MAP {'a': 2}", 0, false},
    {"[0.0::DOUBLE]", "[-0.0::DOUBLE]", 0, true},
    {"'a'::BLOB", "'a'::BLOB", 0, true},
    {"'{\"a\": 1}'::JSON", "'{\"a\": 1}'", 0, true},
    {"INTERVAL '1 day'", "INTERVAL '1 day'", 0, true},
    {"uuid '00000000-0000-0000-0000-000000000001'", "uuid '00000000-0000-0000-0000-000000000001'", 0, true},
};

static DuckColumnVec describe(Fixture *f, const char *table) {
    DuckColumnVec columns = {0};
    Str sql = str_format(f->arena, "SELECT * FROM %s", table);
    assert_ok(duck_describe(f->connection, sql, f->arena, &columns, &f->err), &f->err);
    return columns;
}

static Comparison compare_tables(Fixture *f, const ComparisonOptions *options) {
    Comparison comparison;
    ComparedSide left = {.relation = {.name = STR("l")}, .columns = describe(f, "l")};
    ComparedSide right = {.relation = {.name = STR("r")}, .columns = describe(f, "r")};
    assert_ok(comparison_make(&left, &right, options, f->arena, &comparison, &f->err), &f->err);
    return comparison;
}

/* "matched changed left-only right-only", by the statement for unique keys or the one for those that repeat. */
static Str counts_by(Fixture *f, const Comparison *comparison, bool is_repeated) {
    int64_t left = query_number(f, "SELECT count(*) FROM l"), right = query_number(f, "SELECT count(*) FROM r");
    Str sql = is_repeated ? comparison_pair_repeated(comparison, f->arena)
                          : comparison_pair(comparison, left, right, f->arena);
    run_sql(f, str_to_c(f->arena, sql));
    return query_text(f, "SELECT matched + pairs - left_only - right_only - changed, changed, left_only, right_only "
                         "FROM temp.interlace__diff");
}

static void values_are_equal_as_they_are_told_to_be(void **state) {
    Fixture *f = *state;
    StrVec id = {0}, value = {0};
    str_vec_push(f->arena, &id, STR("id"));
    str_vec_push(f->arena, &value, STR("v"));
    for (size_t i = 0; i < COUNT_OF(value_cases); i++) {
        const struct ValueCase *row = &value_cases[i];
        run_sql(f, str_to_c(f->arena,
                            str_format(f->arena, "CREATE OR REPLACE TABLE l AS SELECT 1 AS id, %s AS v", row->left)));
        run_sql(f, str_to_c(f->arena,
                            str_format(f->arena, "CREATE OR REPLACE TABLE r AS SELECT 1 AS id, %s AS v", row->right)));
        for (int repeated = 0; repeated < 2; repeated++) {
            ComparisonOptions options = {.on = &id, .tolerance = row->tolerance, .sample_limit = 1};
            Comparison by_id = compare_tables(f, &options);
            const char *expected = row->is_equal ? "1|0|0|0" : "0|1|0|0";
            Str found = counts_by(f, &by_id, repeated == 1);
            if (!str_equal(found, str_from(expected))) {
                fail_msg("%s and %s: %s", row->left, row->right, str_to_c(f->arena, found));
            }
            if (row->tolerance > 0) {
                continue; /* a key is compared exactly */
            }
            options.on = &value;
            Comparison by_value = compare_tables(f, &options);
            expected = row->is_equal ? "1|0|0|0" : "0|0|1|1";
            found = counts_by(f, &by_value, repeated == 1);
            if (!str_equal(found, str_from(expected))) {
                fail_msg("as keys, %s and %s: %s", row->left, row->right, str_to_c(f->arena, found));
            }
        }
    }
}

static void columns_called_as_those_of_the_statements_are_no_trouble(void **state) {
    Fixture *f = *state;
    run_sql(f, "CREATE TABLE l AS SELECT 1 AS c1, 2 AS c0, 3 AS here, 4 AS l0, 5 AS in_left, 6 AS number");
    run_sql(f, "CREATE TABLE r AS SELECT 1 AS c1, 2 AS c0, 3 AS here, 0 AS l0, 5 AS in_left, 6 AS number");
    StrVec key = {0};
    str_vec_push(f->arena, &key, STR("c0"));
    ComparisonOptions options = {.on = &key, .sample_limit = 1};
    Comparison comparison = compare_tables(f, &options);
    assert_str(counts_by(f, &comparison, false), "0|1|0|0");
    assert_str(counts_by(f, &comparison, true), "0|1|0|0");
}

/* --- Rows ------------------------------------------------------------------------------------------------------------
 */

static void a_condition_cuts_each_side(void **state) {
    Fixture *f = *state;
    run_sql(f, "CREATE TABLE l AS SELECT i AS id, i AS day, 0 AS v FROM range(10) t(i)");
    run_sql(f, "CREATE TABLE r AS SELECT i AS id, i AS day, i // 8 AS v FROM range(10) t(i)");
    StrVec id = {0};
    str_vec_push(f->arena, &id, STR("id"));
    ComparisonOptions options = {.key = &id};
    Comparison comparison = compare_tables(f, &options);
    comparison.left.where = STR("day >= 2 AND day < 9 -- to the end of the line");
    comparison.right.where = STR("day >= 3 AND day < 9 OR false");
    assert_str(query_text(f, str_to_c(f->arena, comparison_count(&comparison, f->arena))), "7|6");
    run_sql(f, str_to_c(f->arena, comparison_pair(&comparison, 7, 6, f->arena)));
    assert_str(query_text(f, str_to_c(f->arena, comparison_result)), "7|1|0|1|1|0|0|0");
}

static const struct UniqueCase {
    const char *left, *right;
    bool is_unique;
} unique_cases[] = {
    {"(1), (2), (3)", "(1), (2), (4)", true},
    {"(NULL), (1)", "(NULL), (2)", true},
    {"(1), (1)", "(1)", false},
    {"(1)", "(1), (1)", false},
    {"(1), (1)", "(1), (1)", false},
    {"(1), (1)", "(2)", false},
    {"(2)", "(1), (1), (3)", false},
    {"(NULL), (NULL)", "(1)", false},
    {"(1), (1), (2)", "(1), (2), (2)", false},
};

static void keys_that_repeat_are_noticed_wherever_they_are(void **state) {
    Fixture *f = *state;
    for (size_t i = 0; i < COUNT_OF(unique_cases); i++) {
        const struct UniqueCase *row = &unique_cases[i];
        run_sql(f, str_to_c(f->arena,
                            str_format(f->arena, "CREATE OR REPLACE TABLE l AS FROM (VALUES %s) t(k)", row->left)));
        run_sql(f, str_to_c(f->arena,
                            str_format(f->arena, "CREATE OR REPLACE TABLE r AS FROM (VALUES %s) t(k)", row->right)));
        ComparisonOptions options = {.sample_limit = 0};
        Comparison comparison = compare_tables(f, &options);
        int64_t left = query_number(f, "SELECT count(*) FROM l"), right = query_number(f, "SELECT count(*) FROM r");
        run_sql(f, str_to_c(f->arena, comparison_pair(&comparison, left, right, f->arena)));
        ComparisonResult result = {
            .pairs = query_number(f, "SELECT pairs FROM temp.interlace__diff"),
            .left_only = query_number(f, "SELECT left_only FROM temp.interlace__diff"),
            .right_only = query_number(f, "SELECT right_only FROM temp.interlace__diff"),
            .left_keys = query_number(f, "SELECT left_keys FROM temp.interlace__diff"),
            .right_keys = query_number(f, "SELECT right_keys FROM temp.interlace__diff"),
        };
        assert_true(result.pairs <= left + right + 1);
        if (comparison_is_unique(&result, left, right) != row->is_unique) {
            fail_msg("%s with %s", row->left, row->right);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(columns_and_key_are_those_of_both_sides, fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(a_key_that_is_no_common_column_is_refused, fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(a_sample_names_no_column_twice, fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(values_are_equal_as_they_are_told_to_be, fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(columns_called_as_those_of_the_statements_are_no_trouble, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(a_condition_cuts_each_side, fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(keys_that_repeat_are_noticed_wherever_they_are, fixture_open, fixture_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
