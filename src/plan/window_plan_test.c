/* Which windows a command processes (spec 02 §10): every row of the table, and its examples. */
#include "plan/window_fixture.h"

typedef struct PlanCase {
    const char *what;
    WindowVerb verb;
    const char *interval, *backfill; /* NULL: 1d, auto */
    int64_t lookback;
    const char *filled;
    const char *start, *end; /* NULL: not given */
    bool catch_up, is_missing, is_forward_only;
    const char *now;         /* NULL: 2026-07-05T12:00:00 */
    const char *environment; /* NULL: none */
    bool first_build;
    const char *due, *take_out, *notes, *warnings; /* NULL: none; lines end with '\n' but for the last */
} PlanCase;

static void assert_lines(const StrVec *lines, const char *expected, const char *what) {
    Str text = str_join(arena, lines->items, lines->count, STR("\n"));
    assert_str(text, expected == NULL ? "" : expected, what);
}

static WindowRequest request_of(const PlanCase *c) {
    return (WindowRequest){
        .verb = c->verb,
        .has_start = c->start != NULL,
        .has_end = c->end != NULL,
        .start = c->start == NULL ? 0 : at(c->start),
        .end = c->end == NULL ? 0 : at(c->end),
        .catch_up = c->catch_up,
        .is_forward_only = c->is_forward_only,
        .now = at(c->now == NULL ? "2026-07-05T12:00:00" : c->now),
        .environment = str_from(c->environment),
    };
}

static void check(const PlanCase *c) {
    AUTO(error) Error err;
    error_init(&err);
    Model model = incremental_model(c->interval, c->backfill, c->lookback);
    IntervalSet filled = windows_of(c->filled == NULL ? "" : c->filled);
    WindowRequest request = request_of(c);
    WindowWork work;
    assert_done(window_plan(&model, &filled, !c->is_missing, &request, arena, &work, &err), &err);
    assert_str(windows_text(&work.due), c->due == NULL ? "" : c->due, c->what);
    assert_str(windows_text(&work.take_out), c->take_out == NULL ? "" : c->take_out, c->what);
    assert_lines(&work.notes, c->notes, c->what);
    assert_lines(&work.warnings, c->warnings, c->what);
    if (work.first_build != c->first_build) {
        fail_msg("%s: first build", c->what);
    }
}

#define CHECK_ALL(cases)                                                                                               \
    for (size_t i_ = 0; i_ < COUNT_OF(cases); i_++) {                                                                  \
        check(&(cases)[i_]);                                                                                           \
    }

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define JUNE "2026-06-01/2026-07-01"
#define YESTERDAY "2026-07-04/2026-07-05"
#define RUNNING "sales: the window that begins at 2026-07-05 is not over: its rows so far are loaded, and it stays due"
#define UNFILLED                                                                                                       \
    "sales: 3 grains between 2026-07-01 and 2026-07-04 are not filled:"                                                \
    " interlace run -s sales --start 2026-07-01 --end 2026-07-04"

static void test_02_10_the_table_without_bounds(void **state) {
    (void)state;
    const PlanCase cases[] = {
        {"apply, empty", WINDOW_APPLY, .first_build = true},
        {"apply, empty, no relation", WINDOW_APPLY, .is_missing = true, .first_build = true},
        {"apply, empty, none", WINDOW_APPLY, .backfill = "none", .due = YESTERDAY},
        {"apply, empty, a date", WINDOW_APPLY, .backfill = "2026-06-15", .first_build = true},
        {"apply over a copy, empty", WINDOW_APPLY, .is_forward_only = true, .due = YESTERDAY},
        {"apply over a copy", WINDOW_APPLY, .is_forward_only = true, .filled = JUNE, .due = YESTERDAY},
        {"apply for another reason: never more history", WINDOW_APPLY, .filled = JUNE, .due = YESTERDAY},
        {"apply for another reason, filled", WINDOW_APPLY, .filled = YESTERDAY, .due = YESTERDAY},
        {"apply has no lookback", WINDOW_APPLY, .filled = YESTERDAY, .lookback = 2, .due = YESTERDAY},

        {"run, empty", WINDOW_RUN, .first_build = true},
        {"run, empty, none", WINDOW_RUN, .backfill = "none", .due = YESTERDAY},
        {"run, empty, catch-up", WINDOW_RUN, .catch_up = true, .first_build = true},
        {"run, empty, none, catch-up", WINDOW_RUN, .backfill = "none", .catch_up = true, .due = YESTERDAY},
        {"run, filled to yesterday", WINDOW_RUN, .filled = "2026-06-01/2026-07-05"},
        {"run, filled to the day before", WINDOW_RUN, .filled = "2026-06-01/2026-07-04", .due = YESTERDAY},

        {"restate, empty", WINDOW_RESTATE, .first_build = true},
        {"restate, empty, none", WINDOW_RESTATE, .backfill = "none", .due = YESTERDAY, .take_out = YESTERDAY},
        {"restate, filled", WINDOW_RESTATE, .filled = "2026-06-01/2026-07-05", .due = YESTERDAY, .take_out = YESTERDAY},
        {"restate has no lookback", WINDOW_RESTATE, .filled = JUNE, .lookback = 3, .due = YESTERDAY,
         .take_out = YESTERDAY},
    };
    CHECK_ALL(cases);
}

static void test_02_10_the_table_with_bounds(void **state) {
    (void)state;
    const PlanCase cases[] = {
        {"run, empty", WINDOW_RUN, .start = "2026-06-01", .end = "2026-06-03", .due = "2026-06-01/2026-06-03"},
        {"run, filled (example 3)", WINDOW_RUN, .filled = JUNE, .start = "2026-06-01", .end = "2026-07-01"},
        {"run, holes (11 example 2)", WINDOW_RUN, .filled = "2026-06-01/2026-06-03 2026-06-05/2026-06-07",
         .start = "2026-06-01", .end = "2026-06-08", .due = "2026-06-03/2026-06-05 2026-06-07/2026-06-08"},
        {"run, partly filled days", WINDOW_RUN, .filled = "2026-06-01T06:00:00/2026-06-02T12:00:00",
         .start = "2026-06-01", .end = "2026-06-04", .due = "2026-06-01/2026-06-04"},
        {"run does not look back with bounds", WINDOW_RUN, .filled = JUNE, .lookback = 9, .start = "2026-06-20",
         .end = "2026-06-22"},
        {"restate (example 3)", WINDOW_RESTATE, .filled = JUNE, .start = "2026-06-08", .end = "2026-06-15",
         .due = "2026-06-08/2026-06-15", .take_out = "2026-06-08/2026-06-15"},
        {"restate, empty", WINDOW_RESTATE, .start = "2026-06-08", .end = "2026-06-09", .due = "2026-06-08/2026-06-09",
         .take_out = "2026-06-08/2026-06-09"},
        {"only a start: to now", WINDOW_RUN, .filled = "2026-06-01/2026-07-02", .start = "2026-07-01",
         .due = "2026-07-02/2026-07-06", .notes = RUNNING},
        {"only a start, now on a boundary", WINDOW_RUN, .start = "2026-07-01", .now = "2026-07-03",
         .due = "2026-07-01/2026-07-03"},
        {"only an end: one grain", WINDOW_RUN, .end = "2026-06-10", .due = "2026-06-09/2026-06-10"},
        {"only an end, months", WINDOW_RESTATE, .interval = "3mo", .end = "2026-04-01", .due = "2026-01-01/2026-04-01",
         .take_out = "2026-01-01/2026-04-01"},
        {"backfill none is for first builds", WINDOW_RUN, .backfill = "none", .start = "2026-06-01",
         .end = "2026-06-02", .due = "2026-06-01/2026-06-02"},
    };
    CHECK_ALL(cases);
}

static void test_02_10_4_bounds_are_widened_to_whole_windows(void **state) {
    (void)state;
    const PlanCase cases[] = {
        {"both", WINDOW_RUN, .start = "2026-06-08T06:00:00", .end = "2026-06-09T06:00:00",
         .due = "2026-06-08/2026-06-10",
         .notes = "sales: the start moves to 2026-06-08 and the end to 2026-06-10, so that windows of 1d are whole"},
        {"the start", WINDOW_RUN, .start = "2026-06-08T06:00:00", .end = "2026-06-09", .due = "2026-06-08/2026-06-09",
         .notes = "sales: the start moves to 2026-06-08, so that windows of 1d are whole"},
        {"the end", WINDOW_RESTATE, .start = "2026-06-08", .end = "2026-06-08T00:00:01", .due = "2026-06-08/2026-06-09",
         .take_out = "2026-06-08/2026-06-09",
         .notes = "sales: the end moves to 2026-06-09, so that windows of 1d are whole"},
        {"only an end", WINDOW_RUN, .end = "2026-06-08T06:00:00", .due = "2026-06-07/2026-06-09",
         .notes = "sales: the end moves to 2026-06-09, so that windows of 1d are whole"},
        {"only a start", WINDOW_RUN, .start = "2026-07-04T18:00:00", .due = "2026-07-04/2026-07-06",
         .notes = "sales: the start moves to 2026-07-04, so that windows of 1d are whole\n" RUNNING},
        {"months (case 022)", WINDOW_RUN, .interval = "1mo", .start = "2023-11-15", .end = "2024-01-03",
         .due = "2023-11-01/2024-02-01",
         .notes = "sales: the start moves to 2023-11-01 and the end to 2024-02-01, so that windows of 1mo are whole"},
        {"hours", WINDOW_RUN, .interval = "6h", .start = "2026-06-08T05:00:00", .end = "2026-06-08T13:00:00",
         .due = "2026-06-08/2026-06-08T18:00:00",
         .notes = "sales: the start moves to 2026-06-08 and the end to 2026-06-08T18:00:00,"
                  " so that windows of 6h are whole"},
    };
    CHECK_ALL(cases);
}

static void test_02_10_windows_that_begin_after_now_are_left_out(void **state) {
    (void)state;
    const PlanCase cases[] = {
        {"some", WINDOW_RUN, .start = "2026-07-04", .end = "2026-07-09", .due = "2026-07-04/2026-07-06",
         .notes = "sales: 3 windows from 2026-07-06 to 2026-07-09 begin after now (2026-07-05T12:00:00)"
                  " and are left out\n" RUNNING},
        {"one", WINDOW_RUN, .filled = "2026-07-01/2026-07-04", .start = "2026-07-03", .end = "2026-07-05",
         .now = "2026-07-03T23:59:00", .due = NULL,
         .notes = "sales: 1 window from 2026-07-04 to 2026-07-05 begins after now (2026-07-03T23:59:00)"
                  " and is left out"},
        {"all, and the bounds are not moved for nothing", WINDOW_RESTATE, .start = "2026-08-01T06:00:00",
         .end = "2026-08-03",
         .notes = "sales: 2 windows from 2026-08-01 to 2026-08-03 begin after now (2026-07-05T12:00:00)"
                  " and are left out"},
        {"the end is moved, but what it moves to is left out", WINDOW_RUN, .start = "2026-07-04",
         .end = "2026-07-06T06:00:00", .due = "2026-07-04/2026-07-06",
         .notes = "sales: 1 window from 2026-07-06 to 2026-07-07 begins after now (2026-07-05T12:00:00)"
                  " and is left out\n" RUNNING},
        {"a window that begins now is not after it", WINDOW_RUN, .start = "2026-07-04", .end = "2026-07-06",
         .now = "2026-07-05", .due = "2026-07-04/2026-07-06", .notes = RUNNING},
    };
    CHECK_ALL(cases);
}

static void test_02_10_6_a_start_must_lie_before_now(void **state) {
    (void)state;
    static const char *const starts[] = {"2026-07-05T12:00:00", "2026-07-05T18:00:00", "2027-01-01"};
    for (size_t i = 0; i < COUNT_OF(starts); i++) {
        AUTO(error) Error err;
        error_init(&err);
        Model model = incremental_model(NULL, NULL, 0);
        IntervalSet filled = {0};
        WindowRequest request = {
            .verb = WINDOW_RUN, .has_start = true, .start = at(starts[i]), .now = at("2026-07-05T12:00:00")};
        WindowWork work;
        assert_true(failed(window_plan(&model, &filled, true, &request, arena, &work, &err)));
        assert_int_equal(err.kind, ERROR_USAGE);
        assert_true(str_find(err.message, STR("2026-07-05T12:00:00")) != STR_NOT_FOUND);
    }
}

static void test_02_10_7_an_unfilled_past_is_named_with_its_command(void **state) {
    (void)state;
    const PlanCase cases[] = {
        {"a run", WINDOW_RUN, .filled = JUNE, .due = YESTERDAY, .notes = UNFILLED},
        {"again: still unfilled", WINDOW_RUN, .filled = JUNE " " YESTERDAY, .notes = UNFILLED},
        {"one grain, in another environment", WINDOW_RUN, .filled = "2026-06-01/2026-07-03", .environment = "dev",
         .due = YESTERDAY,
         .notes = "sales: 1 grain between 2026-07-03 and 2026-07-04 is not filled:"
                  " interlace run -s sales --start 2026-07-03 --end 2026-07-04 --env dev"},
        {"holes", WINDOW_RUN, .filled = "2026-06-01/2026-06-03 2026-06-05/2026-06-07 2026-06-08/2026-07-05",
         .notes = "sales: 3 grains between 2026-06-03 and 2026-06-08 are not filled:"
                  " interlace run -s sales --start 2026-06-03 --end 2026-06-08"},
        {"hours", WINDOW_RUN, .interval = "6h", .filled = "2026-07-04/2026-07-05",
         .due = "2026-07-05T06:00:00/2026-07-05T12:00:00",
         .notes = "sales: 1 grain between 2026-07-05 and 2026-07-05T06:00:00 is not filled:"
                  " interlace run -s sales --start 2026-07-05 --end 2026-07-05T06:00:00"},
        {"a ledger of other grains: its first, partly filled month is not missed", WINDOW_RUN, .interval = "1mo",
         .filled = "2026-03-10/2026-06-01", .due = "2026-06-01/2026-07-01"},
        {"catch-up", WINDOW_RUN, .filled = JUNE, .catch_up = true, .due = "2026-07-01/2026-07-05"},
        {"catch-up leaves older holes, and says so", WINDOW_RUN,
         .filled = "2026-06-01/2026-06-03 2026-06-05/2026-07-03", .catch_up = true, .due = "2026-07-03/2026-07-05",
         .notes = "sales: 2 grains between 2026-06-03 and 2026-06-05 are not filled:"
                  " interlace run -s sales --start 2026-06-03 --end 2026-06-05"},
        {"catch-up, nothing to do", WINDOW_RUN, .filled = "2026-06-01/2026-07-05", .catch_up = true},
        {"catch-up does a partly filled grain whole", WINDOW_RUN, .filled = "2026-06-01/2026-07-03T06:00:00",
         .catch_up = true, .due = "2026-07-03/2026-07-05"},
        {"apply and restate do not speak of it", WINDOW_APPLY, .filled = JUNE, .due = YESTERDAY},
        {"a run with bounds neither", WINDOW_RUN, .filled = JUNE, .start = "2026-07-04", .end = "2026-07-05",
         .due = YESTERDAY},
    };
    CHECK_ALL(cases);
}

static void test_02_10_lookback_redoes_what_is_filled(void **state) {
    (void)state;
    const PlanCase cases[] = {
        {"filled to the day before", WINDOW_RUN, .lookback = 2, .filled = "2026-06-01/2026-07-04",
         .due = "2026-07-02/2026-07-05"},
        {"all filled", WINDOW_RUN, .lookback = 2, .filled = "2026-06-01/2026-07-05", .due = "2026-07-02/2026-07-04"},
        {"over the gap", WINDOW_RUN, .lookback = 3, .filled = JUNE, .due = "2026-07-01/2026-07-05"},
        {"into the gap", WINDOW_RUN, .lookback = 1, .filled = JUNE, .due = "2026-07-03/2026-07-05",
         .notes = "sales: 2 grains between 2026-07-01 and 2026-07-03 are not filled:"
                  " interlace run -s sales --start 2026-07-01 --end 2026-07-03"},
        {"months", WINDOW_RUN, .interval = "1mo", .lookback = 2, .filled = "2026-01-01/2026-07-01",
         .due = "2026-04-01/2026-06-01"},
        {"with catch-up", WINDOW_RUN, .lookback = 5, .catch_up = true, .filled = JUNE, .due = "2026-06-29/2026-07-05"},
        {"no further than the calendar", WINDOW_RUN, .interval = "1mo", .lookback = INT64_MAX,
         .filled = "2026-01-01/2026-07-01", .due = "0001-01-01/2026-06-01",
         .warnings = "sales: 24,305 windows of 1mo from 0001-01-01 to 2026-06-01"},
    };
    CHECK_ALL(cases);
}

static void test_02_10_many_windows_are_warned_of(void **state) {
    (void)state;
    const PlanCase cases[] = {
        {"366", WINDOW_RUN, .start = "2024-01-01", .end = "2025-01-01", .due = "2024-01-01/2025-01-01"},
        {"367", WINDOW_RUN, .start = "2024-01-01", .end = "2025-01-02", .due = "2024-01-01/2025-01-02",
         .warnings = "sales: 367 windows of 1d from 2024-01-01 to 2025-01-02"},
        {"those that are filled do not count", WINDOW_RUN, .filled = "2024-02-01/2024-02-02", .start = "2024-01-01",
         .end = "2025-01-02", .due = "2024-01-01/2024-02-01 2024-02-02/2025-01-02"},
        {"case 022", WINDOW_RUN, .interval = "1m", .start = "2020-01-01", .end = "2024-01-01",
         .due = "2020-01-01/2024-01-01", .warnings = "sales: 2,103,840 windows of 1m from 2020-01-01 to 2024-01-01"},
    };
    CHECK_ALL(cases);
}

static void test_02_11_a_ledger_without_its_relation_is_cleared(void **state) {
    (void)state;
    static const char *const warning = "sales: its table is missing, although 30 windows are recorded as filled:"
                                       " the record is cleared";
    const PlanCase cases[] = {
        {"run", WINDOW_RUN, .filled = JUNE, .is_missing = true, .first_build = true, .take_out = JUNE,
         .warnings = warning},
        {"apply", WINDOW_APPLY, .filled = JUNE, .is_missing = true, .first_build = true, .take_out = JUNE,
         .warnings = warning},
        {"none", WINDOW_RUN, .backfill = "none", .filled = JUNE, .is_missing = true, .due = YESTERDAY, .take_out = JUNE,
         .warnings = warning},
        {"bounds", WINDOW_RUN, .filled = JUNE, .is_missing = true, .start = "2026-06-10", .end = "2026-06-12",
         .due = "2026-06-10/2026-06-12", .take_out = JUNE, .warnings = warning},
        {"restate", WINDOW_RESTATE, .filled = JUNE, .is_missing = true, .start = "2026-06-30", .end = "2026-07-02",
         .due = "2026-06-30/2026-07-02", .take_out = "2026-06-01/2026-07-02", .warnings = warning},
        {"one window", WINDOW_RUN, .filled = YESTERDAY, .is_missing = true, .first_build = true, .take_out = YESTERDAY,
         .warnings = "sales: its table is missing, although 1 window is recorded as filled: the record is cleared"},
    };
    CHECK_ALL(cases);
}

static void an_interval_that_is_no_grain_names_the_model(void **state) {
    (void)state;
    AUTO(error) Error err;
    error_init(&err);
    Model model = incremental_model("99999999999w", NULL, 0);
    IntervalSet filled = {0};
    WindowRequest request = {.verb = WINDOW_RUN, .now = 0};
    WindowWork work;
    assert_true(failed(window_plan(&model, &filled, true, &request, arena, &work, &err)));
    assert_int_equal(err.kind, ERROR_DEFINITION);
    assert_str(err.place.file, "models/sales.sql", "the place");
    assert_true(str_find(error_line(&err, arena), STR("sales")) != STR_NOT_FOUND);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_02_10_the_table_without_bounds),
        TEST(test_02_10_the_table_with_bounds),
        TEST(test_02_10_4_bounds_are_widened_to_whole_windows),
        TEST(test_02_10_windows_that_begin_after_now_are_left_out),
        TEST(test_02_10_6_a_start_must_lie_before_now),
        TEST(test_02_10_7_an_unfilled_past_is_named_with_its_command),
        TEST(test_02_10_lookback_redoes_what_is_filled),
        TEST(test_02_10_many_windows_are_warned_of),
        TEST(test_02_11_a_ledger_without_its_relation_is_cleared),
        TEST(an_interval_that_is_no_grain_names_the_model),
    };
    return cmocka_run_group_tests_name("window_plan", tests, wall_setup, wall_teardown);
}
