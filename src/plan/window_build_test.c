/* The range of a first build, what of a window is recorded, and what is said about both (spec 02 §10, §11). */
#include "plan/window_fixture.h"

#define JUNE "2026-06-01/2026-07-01"

/* ---- First builds. */

static void test_02_10_1_first_builds(void **state) {
    (void)state;
    static const struct {
        const char *interval, *backfill, *min, *max, *range;
    } cases[] = {
        /* The maximum lies inside, also on a boundary, as every DATE does. */
        {"1d", "auto", "2026-06-01", "2026-06-30", "2026-06-01/2026-07-01"},
        {"1d", "auto", "2026-06-01T08:00:00", "2026-06-30T23:59:59.999999", "2026-06-01/2026-07-01"},
        {"1d", "auto", "2026-06-01", "2026-06-01", "2026-06-01/2026-06-02"},
        {"6h", "auto", "2026-06-01T07:00:00", "2026-06-01T18:00:00", "2026-06-01T06:00:00/2026-06-02"},
        {"1mo", "auto", "2026-01-15", "2026-06-30", "2026-01-01/2026-07-01"},
        {"1w", "auto", "2026-07-01", "2026-07-01", "2026-06-29/2026-07-06"},
        {"1d", "2026-06-15", "2026-06-01", "2026-06-30", "2026-06-15/2026-07-01"},
        {"1d", "2026-06-15T06:00:00", "2026-06-01", "2026-06-30", "2026-06-15/2026-07-01"},
        {"1d", "2026-05-01", "2026-06-01", "2026-06-30", "2026-05-01/2026-07-01"},
        {"1d", "2026-08-01", "2026-06-01", "2026-06-30", "2026-08-01/2026-08-02"},
        {"1d", "2026-06-15T00:00:00+02:00", "2026-06-01", "2026-06-30", "2026-06-14/2026-07-01"},
        {"1d", "auto", "2026-06-01", "2031-01-01", "2026-06-01/2031-01-02"}, /* rows after now are rows */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AUTO(error) Error err;
        error_init(&err);
        Model model = incremental_model(cases[i].interval, cases[i].backfill, 0);
        Window range = {0};
        bool is_empty = true;
        assert_done(window_first_range(&model, true, at(cases[i].min), at(cases[i].max), utc, &range, &is_empty, &err),
                    &err);
        assert_false(is_empty);
        IntervalSet set = {0};
        interval_set_add(arena, &set, range);
        assert_str(windows_text(&set), cases[i].range, cases[i].backfill);
    }
}

static void test_02_10_5_a_source_without_rows_gives_no_window(void **state) {
    (void)state;
    static const char *const backfills[] = {"auto", "2026-06-15"};
    for (size_t i = 0; i < COUNT_OF(backfills); i++) {
        AUTO(error) Error err;
        error_init(&err);
        Model model = incremental_model(NULL, backfills[i], 0);
        Window range;
        bool is_empty = false;
        assert_done(window_first_range(&model, false, 0, 0, utc, &range, &is_empty, &err), &err);
        assert_true(is_empty);
    }
}

static void a_backfill_outside_of_the_calendar_names_the_model(void **state) {
    (void)state;
    AUTO(error) Error err;
    error_init(&err);
    Model model = incremental_model(NULL, "0000-06-15", 0);
    Window range;
    bool is_empty;
    assert_true(failed(window_first_range(&model, true, 0, 0, utc, &range, &is_empty, &err)));
    assert_int_equal(err.kind, ERROR_DEFINITION);
    assert_str(err.place.file, "models/sales.sql", "the place");
}

static void test_02_11_4_the_running_grain_is_never_recorded(void **state) {
    (void)state;
    static const struct {
        const char *interval, *window, *now, *recorded;
    } cases[] = {
        {"1d", "2026-06-01/2026-07-01", "2026-06-30T12:00:00", "2026-06-01/2026-06-30"},
        {"1d", "2026-06-01/2026-07-01", "2026-07-01", "2026-06-01/2026-07-01"},
        {"1d", "2026-06-01/2026-07-01", "2026-07-09", "2026-06-01/2026-07-01"},
        {"1d", "2026-06-30/2026-07-01", "2026-06-30T23:59:59.999999", ""},
        {"1d", "2026-08-01/2026-08-02", "2026-06-30T12:00:00", ""},
        {"1mo", "2026-05-01/2026-07-01", "2026-06-30T12:00:00", "2026-05-01/2026-06-01"},
        {"6h", "2026-06-30/2026-07-01", "2026-06-30T13:00:00", "2026-06-30/2026-06-30T12:00:00"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AUTO(error) Error err;
        error_init(&err);
        Grain grain;
        assert_done(grain_parse(str_from(cases[i].interval), &grain, &err), &err);
        IntervalSet window = windows_of(cases[i].window);
        Window recorded = {0};
        IntervalSet result = {0};
        if (window_recordable(grain, window.items[0], at(cases[i].now), &recorded)) {
            interval_set_add(arena, &result, recorded);
        }
        assert_str(windows_text(&result), cases[i].recorded, cases[i].now);
    }
}

/* ---- Notes. */

static void test_02_10_an_unfilled_latest_grain_is_noted(void **state) {
    (void)state;
    static const struct {
        const char *filled, *now, *environment, *note; /* NULL: none */
    } cases[] = {
        {JUNE, "2026-07-01T12:00:00", NULL, NULL},
        {JUNE, "2026-07-02T12:00:00", NULL, "sales: 2026-07-01 to 2026-07-02 is not filled: interlace run -s sales"},
        {JUNE, "2026-07-02T12:00:00", "dev",
         "sales: 2026-07-01 to 2026-07-02 is not filled: interlace run -s sales --env dev"},
        {"2026-07-01/2026-07-01T06:00:00", "2026-07-02", NULL,
         "sales: 2026-07-01 to 2026-07-02 is not filled: interlace run -s sales"},
        {"", "2026-07-02", NULL, "sales: 2026-07-01 to 2026-07-02 is not filled: interlace run -s sales"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AUTO(error) Error err;
        error_init(&err);
        Model model = incremental_model(NULL, NULL, 0);
        IntervalSet filled = windows_of(cases[i].filled);
        bool has_note;
        Str note = STR_EMPTY;
        assert_done(window_due_note(&model, &filled, at(cases[i].now), str_from(cases[i].environment), arena, &has_note,
                                    &note, &err),
                    &err);
        assert_int_equal(has_note, cases[i].note != NULL);
        assert_str(note, cases[i].note == NULL ? "" : cases[i].note, cases[i].now);
    }
}

static void test_02_9_2_grains_that_do_not_divide_a_day_are_noted(void **state) {
    (void)state;
    static const struct {
        const char *interval, *note;
    } cases[] = {
        {"1d", NULL},
        {"6h", NULL},
        {"90m", NULL},
        {"1w", NULL},
        {"3mo", NULL},
        {"7h", "sales: windows of 7h are counted from 0001-01-01 00:00; the present one began at 2026-07-05T10:00:00"},
        {"5d", "sales: windows of 5d are counted from 0001-01-01 00:00; the present one began at 2026-07-04"},
        {"2w", "sales: windows of 2w are counted from 0001-01-01 00:00; the present one began at 2026-06-22"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AUTO(error) Error err;
        error_init(&err);
        Model model = incremental_model(cases[i].interval, NULL, 0);
        bool has_note;
        Str note = STR_EMPTY;
        assert_done(window_grain_note(&model, at("2026-07-05T12:00:00"), arena, &has_note, &note, &err), &err);
        assert_int_equal(has_note, cases[i].note != NULL);
        assert_str(note, cases[i].note == NULL ? "" : cases[i].note, cases[i].interval);
    }
}

static void builds_without_rows_are_noted(void **state) {
    (void)state;
    Model model = incremental_model(NULL, NULL, 0);
    assert_str(window_empty_source_note(&model, arena),
               "sales: its source has no row with a time: the table is made empty, and the next run tries again",
               "empty source");
    assert_str(window_nothing_written_note(&model, STR("dev"), arena),
               "sales: nothing was written and its table is empty; to load earlier rows:"
               " interlace run -s sales --start DATE --end DATE --env dev",
               "nothing written");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_02_10_1_first_builds),
        TEST(test_02_10_5_a_source_without_rows_gives_no_window),
        TEST(a_backfill_outside_of_the_calendar_names_the_model),
        TEST(test_02_11_4_the_running_grain_is_never_recorded),
        TEST(test_02_10_an_unfilled_latest_grain_is_noted),
        TEST(test_02_9_2_grains_that_do_not_divide_a_day_are_noted),
        TEST(builds_without_rows_are_noted),
    };
    return cmocka_run_group_tests_name("window_build", tests, wall_setup, wall_teardown);
}
