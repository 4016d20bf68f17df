/* Grains and their lattice (spec 02 §9.1, §9.2). */
#include "window/wall_fixture.h"

static Grain grain(const char *text) {
    AUTO(error) Error err;
    error_init(&err);
    Grain parsed = {0};
    assert_done(grain_parse(str_from(text), &parsed, &err), &err);
    return parsed;
}

/* What loading a project accepts is accepted here, and the other way round. */
static void test_02_9_1_grains(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool is_grain;
        int64_t seconds, months;
    } cases[] = {
        {"1d", true, 86400, 0},       {"6h", true, 6 * 3600, 0}, {" 6h ", true, 6 * 3600, 0},
        {"15 m", true, 900, 0},       {"2w", true, 1209600, 0},  {"3mo", true, 0, 3},
        {"24mo", true, 0, 24},        {"12 mo", true, 0, 12},    {"90s", true, 90, 0},
        {"007d", true, 7 * 86400, 0}, {"\t1\th", true, 3600, 0}, {"5mo", false, 0, 0},
        {"18mo", false, 0, 0},        {"0d", false, 0, 0},       {"1D", false, 0, 0},
        {"5", false, 0, 0},           {"-1d", false, 0, 0},      {"+1d", false, 0, 0},
        {"1y", false, 0, 0},          {"1.5h", false, 0, 0},     {"d", false, 0, 0},
        {"M", false, 0, 0},           {"", false, 0, 0},         {"1 d 2 h", false, 0, 0},
        {"1MO", false, 0, 0},         {"0mo", false, 0, 0},      {"99999999999999999999d", false, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AUTO(error) Error err;
        error_init(&err);
        Grain parsed = {0};
        bool is_grain = !failed(grain_parse(str_from(cases[i].text), &parsed, &err));
        if (is_grain != cases[i].is_grain || parsed.size_us != cases[i].seconds * US_PER_SECOND ||
            parsed.months != cases[i].months) {
            fail_msg("'%s' is read wrongly", cases[i].text);
        }
        if (!is_grain) {
            assert_int_equal(err.kind, ERROR_DEFINITION);
            assert_str(error_detail_find(&err, STR("code")), "grain.syntax", cases[i].text);
            assert_true(err.hint.size > 0);
        }
    }
}

static void grains_longer_than_the_calendar_are_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"521723w", "9223372036854775807w", "120000mo", "3652060d"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        AUTO(error) Error err;
        error_init(&err);
        Grain parsed;
        assert_true(failed(grain_parse(str_from(texts[i]), &parsed, &err)));
        assert_str(error_detail_find(&err, STR("code")), "grain.syntax", texts[i]);
    }
    grain("521722w");
    grain("3652059d");
    grain("119988mo");
}

static void grains_know_their_days(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool is_whole_days;
    } cases[] = {
        {"1d", true}, {"24h", true}, {"6h", false}, {"90m", false}, {"1s", false}, {"7h", false},  {"25h", false},
        {"5d", true}, {"48h", true}, {"1w", true},  {"1mo", true},  {"7m", false}, {"15m", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        if (grain_is_whole_days(grain(cases[i].text)) != cases[i].is_whole_days) {
            fail_msg("%s", cases[i].text);
        }
    }
}

static void floor_and_ceil_lie_on_the_lattice(void **state) {
    (void)state;
    static const struct {
        const char *grain, *time, *floor, *ceil;
    } cases[] = {
        {"1d", "2026-07-01T12:30:00", "2026-07-01", "2026-07-02"},
        {"1d", "2026-07-01", "2026-07-01", "2026-07-01"},
        {"1d", "2026-07-01T00:00:00.000001", "2026-07-01", "2026-07-02"},
        {"1d", "2026-06-30T23:59:59.999999", "2026-06-30", "2026-07-01"},
        {"6h", "2026-07-01T12:30:00", "2026-07-01T12:00:00", "2026-07-01T18:00:00"},
        {"15m", "2026-07-01T12:44:59", "2026-07-01T12:30:00", "2026-07-01T12:45:00"},
        {"1w", "2026-07-01", "2026-06-29", "2026-07-06"}, /* Mondays */
        {"1w", "1969-12-31", "1969-12-29", "1970-01-05"},
        {"1w", "0001-01-01", "0001-01-01", "0001-01-01"},
        {"7h", "0001-01-01T08:00:00", "0001-01-01T07:00:00", "0001-01-01T14:00:00"},
        {"5d", "0001-01-08", "0001-01-06", "0001-01-11"},
        {"1mo", "2026-07-15", "2026-07-01", "2026-08-01"},
        {"3mo", "2026-06-30T23:00:00", "2026-04-01", "2026-07-01"},
        {"12mo", "2026-06-30", "2026-01-01", "2027-01-01"},
        {"1mo", "2024-02-29", "2024-02-01", "2024-03-01"},
        {"1mo", "1969-12-31T23:59:59", "1969-12-01", "1970-01-01"},
        {"24mo", "2026-07-01", "2025-01-01", "2027-01-01"},
        {"12mo", "9999-12-31", "9999-01-01", "10000-01-01"},
        {"1w", "9999-12-31", "9999-12-27", "10000-01-01"}, /* clamped: the next Monday is in the year 10000 */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Grain parsed = grain(cases[i].grain);
        WallUs time = at(cases[i].time);
        assert_str(wall_format(arena, grain_floor(parsed, time), false), cases[i].floor, cases[i].time);
        assert_str(wall_format(arena, grain_ceil(parsed, time), false), cases[i].ceil, cases[i].time);
    }
}

static void steps_and_counts_agree(void **state) {
    (void)state;
    static const struct {
        const char *grain, *from, *to;
        int64_t count;
    } cases[] = {
        {"1d", "2026-07-01", "2026-07-05", 4},  {"1m", "2020-01-01", "2024-01-01", 2103840},
        {"1mo", "2023-11-01", "2024-02-01", 3}, {"3mo", "1969-10-01", "1970-04-01", 2},
        {"1w", "2026-06-29", "2026-07-06", 1},  {"6h", "1969-12-31T18:00:00", "1970-01-01T06:00:00", 2},
        {"1d", "2026-07-01", "2026-07-01", 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Grain parsed = grain(cases[i].grain);
        WallUs from = at(cases[i].from);
        WallUs to = at(cases[i].to);
        assert_int_equal(grain_count(parsed, from, to), cases[i].count);
        assert_int_equal(grain_step(parsed, from, cases[i].count), to);
        assert_int_equal(grain_step(parsed, to, -cases[i].count), from);
    }
}

static void steps_end_with_the_calendar(void **state) {
    (void)state;
    static const char *const texts[] = {"1s", "7h", "1d", "1w", "1mo", "36mo"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        Grain parsed = grain(texts[i]);
        assert_int_equal(grain_step(parsed, WALL_MIN, -1), WALL_MIN);
        assert_int_equal(grain_step(parsed, WALL_MIN, INT64_MIN), WALL_MIN);
        assert_int_equal(grain_step(parsed, WALL_MAX, 1), WALL_MAX);
        assert_int_equal(grain_step(parsed, grain_floor(parsed, 0), INT64_MAX), WALL_MAX);
        assert_int_equal(grain_floor(parsed, INT64_MIN), WALL_MIN);
        assert_int_equal(grain_ceil(parsed, INT64_MAX), WALL_MAX);
        WallUs last = grain_floor(parsed, WALL_MAX - 1);
        assert_int_equal(grain_step(parsed, last, 1), WALL_MAX);
        assert_int_equal(grain_step(parsed, WALL_MAX, -1), last); /* though WALL_MAX need not be a boundary */
        assert_int_equal(grain_count(parsed, last, WALL_MAX), 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_02_9_1_grains),     TEST(grains_longer_than_the_calendar_are_refused),
        TEST(grains_know_their_days), TEST(floor_and_ceil_lie_on_the_lattice),
        TEST(steps_and_counts_agree), TEST(steps_end_with_the_calendar),
    };
    return cmocka_run_group_tests_name("grain", tests, wall_setup, wall_teardown);
}
