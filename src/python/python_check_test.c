/* Python checks: what a function returns, and the verdict (spec 05 §4). */
#include "python/python_fixture.h"

typedef struct CheckCase {
    const char *body;
    PythonVerdictStatus status;
    int64_t failures;
    const char *message, *sample;
} CheckCase;

static const CheckCase cases[] = {
    {"return True", VERDICT_PASSED, 0, "", ""},
    {"return None", VERDICT_PASSED, 0, "", ""},
    {"return 0", VERDICT_PASSED, 0, "", ""},
    {"return 3", VERDICT_FAILED, 3, "", ""},
    {"return False", VERDICT_FAILED, 1, "", ""},
    {"return 10**40", VERDICT_FAILED, INT64_MAX, "", ""},
    {"import numpy\n    return numpy.bool_(False)", VERDICT_FAILED, 1, "", ""},
    {"import numpy\n    return numpy.int64(4)", VERDICT_FAILED, 4, "", ""},
    {"return table.table().slice(0, 0)", VERDICT_PASSED, 0, "", ""},
    {"return table.table()", VERDICT_FAILED, 3, "", "[{\"id\": 0},{\"id\": 1},{\"id\": 2}]"},
    {"return next(iter(table.reader()))", VERDICT_FAILED, 3, "", "[{\"id\": 0},{\"id\": 1},{\"id\": 2}]"},
    {"return sum(batch.num_rows for batch in table.reader()) - 3", VERDICT_PASSED, 0, "", ""},
    {"return -1", VERDICT_ERROR, 0, "it returned the number -1; wanted is True, False", ""},
    {"return 'bad'", VERDICT_ERROR, 0, "it returned a str; wanted is", ""},
    {"return [1]", VERDICT_ERROR, 0, "it returned a list; wanted is", ""},
    {"raise ValueError('boom')", VERDICT_ERROR, 0, "ValueError: boom (models/m", ""},
    {"raise SystemExit", VERDICT_ERROR, 0, "SystemExit", ""},
    {"table.table()\n    return table.table()", VERDICT_ERROR, 0, "upstream 'table' has been read already", ""},
    {"import os\n    os._exit(4)", VERDICT_ERROR, 0,
     "check 'c' of model 'm' failed: its Python worker ended with exit code 4", ""},
};

static void test_05_4_each_return_has_its_verdict(void **state) {
    PythonFixture *f = *state;
    fixture_input(f, "table", "SELECT range AS id FROM range(3)");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AUTO(strbuf) StrBuf source = {0};
        strbuf_format(&source, "from interlace import check\n@check(model='m')\ndef c(table):\n    %s\n",
                      cases[i].body);
        PythonVerdict verdict = fixture_check(f, strbuf_c(&source));
        if (verdict.status != cases[i].status || verdict.failures != cases[i].failures) {
            fail_msg("%s: status %d, %lld failures, " STR_FMT, cases[i].body, (int)verdict.status,
                     (long long)verdict.failures, STR_ARG(verdict.message));
        }
        assert_contains(verdict.message, cases[i].message);
        assert_str(verdict.sample_json, cases[i].sample, cases[i].body);
    }
}

static void an_asynchronous_check_is_awaited(void **state) {
    PythonFixture *f = *state;
    fixture_input(f, "table", "SELECT 1 AS id");
    PythonVerdict verdict = fixture_check(f, "from interlace import check\nimport asyncio\n"
                                             "@check(model='m')\nasync def c(rows):\n"
                                             "    await asyncio.sleep(0)\n    return rows.table().num_rows\n");
    assert_int_equal(verdict.status, VERDICT_FAILED);
    assert_int_equal(verdict.failures, 1);
}

static void a_sample_has_at_most_a_hundred_rows(void **state) {
    PythonFixture *f = *state;
    fixture_input(f, "table", "SELECT range AS id, DATE '2026-01-02' AS d, 'x'::BLOB AS b FROM range(1000)");
    PythonVerdict verdict =
        fixture_check(f, "from interlace import check\n@check(model='m')\ndef c(table): return table.table()\n");
    assert_int_equal(verdict.failures, 1000);
    assert_contains(verdict.sample_json, "\"id\": 99,");
    assert_contains(verdict.sample_json, "\"d\": \"2026-01-02\"");
    assert_int_equal(str_find(verdict.sample_json, STR("\"id\": 100,")), STR_NOT_FOUND);
}

static void a_failing_relation_is_an_error_with_its_reason(void **state) {
    PythonFixture *f = *state;
    fixture_input(f, "table", "SELECT missing FROM nowhere");
    PythonVerdict verdict =
        fixture_check(f, "from interlace import check\n@check(model='m')\ndef c(table): return table.table()\n");
    assert_int_equal(verdict.status, VERDICT_ERROR);
    assert_contains(verdict.message, "nowhere");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PYTHON_TEST(test_05_4_each_return_has_its_verdict),
        PYTHON_TEST(an_asynchronous_check_is_awaited),
        PYTHON_TEST(a_sample_has_at_most_a_hundred_rows),
        PYTHON_TEST(a_failing_relation_is_an_error_with_its_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
