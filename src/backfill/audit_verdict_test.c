/* What figures decide, and what may be published (spec 04 §6). */
#include "backfill/audit_verdict.h"

#include "base/testing.h"

#include <math.h>

static AuditFigure figure(double before, double after) {
    return (AuditFigure){true, before, after};
}

static AuditThreshold threshold(double amount, bool is_percent) {
    return (AuditThreshold){.amount = amount, .is_percent = is_percent};
}

static void thresholds_hold_up_to_their_limit(void **state) {
    (void)state;
    const struct {
        double amount;
        bool is_percent;
        AuditFigure figure;
        bool holds;
    } cases[] = {
        {1, true, figure(100, 101), true},     {1, true, figure(100, 101.5), false},
        {1, true, figure(-100, -99), true},    {1, true, figure(100, 99), true},
        {1, true, figure(100, 98), false},     {0, false, figure(10, 10), true},
        {0, false, figure(10, 11), false},     {2, false, figure(10, 8), true},
        {2, false, figure(10, 7), false},      {0, true, figure(0, 0), true},
        {5, true, figure(0, 1), false},        {5, false, figure(0, 1), true},
        {0, true, figure(1, 1 + 1e-15), true}, {0, false, figure(1e9, 1e9 + 1e-5), true},
        {5, true, figure(1, NAN), false},      {5, false, figure(1, NAN), false},
        {5, true, figure(1, INFINITY), false}, {100, true, (AuditFigure){0}, false},
        {100, false, (AuditFigure){0}, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AuditThreshold tried = threshold(cases[i].amount, cases[i].is_percent);
        if (audit_threshold_holds(&tried, cases[i].figure) != cases[i].holds) {
            fail_msg("case %zu", i);
        }
    }
}

static void changes_are_told_in_percent_of_before(void **state) {
    (void)state;
    double percent;
    assert_true(audit_change_percent(figure(200, 190), &percent));
    assert_true(percent == -5);
    assert_true(audit_change_percent(figure(-200, -190), &percent));
    assert_true(percent == 5);
    assert_true(audit_change_percent(figure(0, 0), &percent));
    assert_true(percent == 0);
    assert_false(audit_change_percent(figure(0, 3), &percent));
    assert_false(audit_change_percent(figure(INFINITY, 3), &percent));
}

static const char *const report =
    "{\"models\": [{\"name\": \"raw.sales\", \"thresholds\": ["
    "{\"measure\": \"rows\", \"holds\": true}, {\"measure\": \"revenue\", \"holds\": false}],"
    "\"checks\": [{\"name\": \"a\", \"severity\": \"warn\", \"status\": \"failed\"},"
    "{\"name\": \"b\", \"severity\": \"error\", \"status\": \"passed\"}]},"
    "{\"name\": \"m\", \"thresholds\": [{\"measure\": \"keys_removed\", \"holds\": false}], \"checks\": []}]}";

/* `accepted`: names with a blank between them. */
static Status pass(const char *json, const char *accepted, Arena *arena, Error *err) {
    ConfigValue *value = NULL;
    StrVec names = {0};
    if (json != NULL) {
        assert_done(json_read(str_from(json), STR("report"), arena, &value, err), err);
    }
    for (Str rest = str_from(accepted); rest.size > 0;) {
        size_t blank = str_find_char(rest, ' ');
        str_vec_push(arena, &names, str_slice(rest, 0, blank));
        rest = blank == STR_NOT_FOUND ? STR_EMPTY : str_skip(rest, blank + 1);
    }
    return audit_gate(value, 7, &names, err);
}

static void the_gate_names_what_stands_in_the_way(void **state) {
    (void)state;
    const struct {
        const char *json, *accepted, *code, *named;
    } cases[] = {
        {NULL, "", NULL, ""},
        {report, "raw.sales.revenue m.keys_removed", NULL, ""},
        {report, "RAW.sales.Revenue m.keys_removed raw.sales.rows", NULL, ""},
        {report, "", "audit.acceptance", "raw.sales.revenue, m.keys_removed"},
        {report, "raw.sales.revenue", "audit.acceptance", ": m.keys_removed"},
        {report, "raw.sales.revenu", "", "'raw.sales.revenu' is no threshold"},
        {NULL, "m.rows", "", "'m.rows' is no threshold"},
        {"{\"models\": [{\"name\": \"m\", \"thresholds\": [], \"checks\": ["
         "{\"name\": \"a\", \"severity\": \"error\", \"status\": \"failed\"},"
         "{\"name\": \"b\", \"severity\": \"error\", \"status\": \"error\"}]}]}",
         "", "audit.blocked", "m.a, m.b"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AUTO(arena) Arena *arena = arena_create();
        AUTO(error) Error err = {0};
        bool passes = !failed(pass(cases[i].json, cases[i].accepted, arena, &err));
        if (passes != (cases[i].code == NULL)) {
            fail_msg("case %zu", i);
        }
        if (!passes) {
            assert_str(error_detail_find(&err, STR("code")), cases[i].code, cases[i].accepted);
            assert_true(str_find(err.message, str_from(cases[i].named)) != STR_NOT_FOUND);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(thresholds_hold_up_to_their_limit),
        TEST(changes_are_told_in_percent_of_before),
        TEST(the_gate_names_what_stands_in_the_way),
    };
    return cmocka_run_group_tests_name("audit_verdict", tests, NULL, NULL);
}
