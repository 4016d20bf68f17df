#include "base/civil.h"
#include "base/clock.h"
#include "base/testing.h"

#define SECONDS(count) ((int64_t)(count)*US_PER_SECOND)

static void days_and_dates_convert_both_ways(void **state) {
    (void)state;
    int64_t days = civil_to_days((CivilDate){.year = -401, .month = 1, .day = 1});
    int64_t last = civil_to_days((CivilDate){.year = 2801, .month = 1, .day = 1});
    CivilDate expected = {.year = -401, .month = 1, .day = 1};
    for (; days < last; days++) { /* each next day follows from the calendar's rules alone */
        CivilDate date = civil_from_days(days);
        assert_int_equal(date.year, expected.year);
        assert_int_equal(date.month, expected.month);
        assert_int_equal(date.day, expected.day);
        assert_int_equal(civil_to_days(date), days);
        if (++expected.day > civil_month_days(expected.year, expected.month)) {
            expected.day = 1;
            if (++expected.month > 12) {
                expected.month = 1;
                expected.year++;
            }
        }
    }
    assert_int_equal(civil_to_days((CivilDate){.year = 1970, .month = 1, .day = 1}), 0);
    assert_int_equal(civil_to_days((CivilDate){.year = 2000, .month = 3, .day = 1}), 11017);
}

static void leap_years_follow_the_century_rules(void **state) {
    (void)state;
    static const struct {
        int64_t year;
        int days;
    } cases[] = {{2024, 29}, {2026, 28}, {2000, 29}, {1900, 28}, {2100, 28}, {0, 29}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(civil_month_days(cases[i].year, 2), cases[i].days);
    }
}

static void instants_are_formatted_in_utc(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    static const struct {
        TimeUs time_us;
        const char *text;
    } cases[] = {
        {0, "1970-01-01T00:00:00Z"},
        {-1, "1969-12-31T23:59:59.999999Z"},
        {SECONDS(1782894600), "2026-07-01T08:30:00Z"},
        {SECONDS(1782894600) + 123456, "2026-07-01T08:30:00.123456Z"},
        {SECONDS(1782894600) + 5, "2026-07-01T08:30:00.000005Z"},
        {-US_PER_DAY, "1969-12-31T00:00:00Z"},
        {SECONDS(-62135596800), "0001-01-01T00:00:00Z"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_str(time_format_iso(arena, cases[i].time_us), cases[i].text, cases[i].text);
    }
}

static void iso_texts_are_parsed_to_instants(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err;
    error_init(&err);
    static const struct {
        const char *text, *instant;
    } cases[] = {
        {"2026-07-01", "2026-07-01T00:00:00Z"},
        {"2026-07-01T08:30", "2026-07-01T08:30:00Z"},
        {"2026-07-01 08:30:15", "2026-07-01T08:30:15Z"},
        {"2026-07-01T08:30:15.5Z", "2026-07-01T08:30:15.500000Z"},
        {"2026-07-01T08:30:15.1234567890Z", "2026-07-01T08:30:15.123456Z"},
        {"2026-07-01T08:30:00+02:00", "2026-07-01T06:30:00Z"},
        {"2026-07-01T08:30:00+0530", "2026-07-01T03:00:00Z"},
        {"2026-07-01T20:00:00-08", "2026-07-02T04:00:00Z"},
        {"2024-02-29", "2024-02-29T00:00:00Z"},
        {"0001-01-01", "0001-01-01T00:00:00Z"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        TimeUs time_us;
        assert_done(time_parse_iso(str_from(cases[i].text), &time_us, &err), &err);
        assert_str(time_format_iso(arena, time_us), cases[i].instant, cases[i].text);
    }
}

static void impossible_times_are_refused(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "today",
        "2026-02-30",
        "2026-13-01",
        "2026-00-01",
        "2026-01-00",
        "2026-1-1",
        "2026-01-01T",
        "2026-01-01T8:00",
        "2026-01-01T24:00:00",
        "2026-01-01T08:60",
        "2026-01-01T08:00:60",
        "2026-01-01T08:00:00.",
        "2026-01-01T08:00:00+25:00",
        "2026-01-01T08:00:00+02:",
        "2026-01-01T08:00:00Zx",
        "2026-01-01x",
        " 2026-01-01",
        "2023-02-29",
        "20260101",
        "2026-01-01+02:00",
        "-2026-01-01",
        "2026-01-01T08:00:00+02:60",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        TimeUs time_us = 42;
        AUTO(error) Error err;
        error_init(&err);
        Status status = time_parse_iso(str_from(texts[i]), &time_us, &err);
        if (!failed(status)) {
            fail_msg("'%s' was taken", texts[i]);
        }
        assert_int_equal(err.kind, ERROR_USAGE);
        assert_int_equal(time_us, 42);
    }
}

static void civil_time_knows_what_was_written(void **state) {
    (void)state;
    AUTO(error) Error err;
    error_init(&err);
    CivilTime time;
    assert_done(civil_time_parse(STR("2026-07-01"), &time, &err), &err);
    assert_false(time.has_time);
    assert_false(time.has_offset);
    assert_done(civil_time_parse(STR("2026-07-01T01:00:00-00:30"), &time, &err), &err);
    assert_true(time.has_time);
    assert_true(time.has_offset);
    assert_int_equal(time.offset_seconds, -1800);
    assert_int_equal(time.time_of_day_us, SECONDS(3600));
    assert_done(civil_time_parse(STR("2026-07-01T01:00:00"), &time, &err), &err);
    assert_false(time.has_offset);
}

static void durations_are_a_number_and_a_unit(void **state) {
    (void)state;
    AUTO(error) Error err;
    error_init(&err);
    static const struct {
        const char *text;
        int64_t seconds; /* -1: refused */
    } cases[] = {
        {"90s", 90},
        {"30m", 1800},
        {"24h", 86400},
        {"7d", 604800},
        {"2w", 1209600},
        {"01d", 86400},
        {"0d", 0},
        {"", -1},
        {"d", -1},
        {"7", -1},
        {"7 d", -1},
        {"-1d", -1},
        {"1.5h", -1},
        {"1y", -1},
        {"7D", -1},
        {"1d2h", -1},
        {"99999999999999999d", -1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int64_t duration_us = SECONDS(-1);
        Status status = duration_parse(str_from(cases[i].text), &duration_us, &err);
        assert_int_equal(failed(status), cases[i].seconds < 0);
        assert_int_equal(duration_us, SECONDS(cases[i].seconds));
    }
}

static void interlace_now_fixes_the_wall_clock(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    assert_str(time_format_iso(arena, clock_now_us()), "2026-07-01T08:30:00Z", "set by main");
    int64_t before = clock_monotonic_us();
    assert_true(clock_monotonic_us() >= before);
}

int main(void) {
    (void)setenv("INTERLACE_NOW", "2026-07-01T10:30:00+02:00", 1);
    const struct CMUnitTest tests[] = {
        TEST(days_and_dates_convert_both_ways),  TEST(leap_years_follow_the_century_rules),
        TEST(instants_are_formatted_in_utc),     TEST(iso_texts_are_parsed_to_instants),
        TEST(impossible_times_are_refused),      TEST(civil_time_knows_what_was_written),
        TEST(durations_are_a_number_and_a_unit), TEST(interlace_now_fixes_the_wall_clock),
    };
    return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
