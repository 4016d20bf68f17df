/* Wall times as texts (spec 02 §9.3, §9.4). */
#include "window/wall_fixture.h"

static void test_02_9_2_bounds_with_an_offset_are_converted(void **state) {
    (void)state;
    static const struct {
        const char *text, *zone, *wall;
    } cases[] = {
        {"2026-07-01T00:00:00+02:00", "UTC", "2026-06-30T22:00:00"},
        {"2026-07-01T00:00:00+02:00", "Europe/Berlin", "2026-07-01"},
        {"2026-07-01T00:00:00Z", "Europe/Berlin", "2026-07-01T02:00:00"},
        {"2026-07-01", "Asia/Kolkata", "2026-07-01"},
        {"2026-07-01 08:30", "Asia/Kolkata", "2026-07-01T08:30:00"},
        {"2026-07-01T08:30:00.5", "UTC", "2026-07-01T08:30:00.500000"},
        {"2026-07-01T00:00:00-0330", "UTC", "2026-07-01T03:30:00"},
        {"0001-01-01", "UTC", "0001-01-01"},
        {"9999-12-31T23:59:59.999999", "UTC", "9999-12-31T23:59:59.999999"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_str(wall_format(arena, at_in(zone_of(cases[i].zone), cases[i].text), false), cases[i].wall,
                   cases[i].text);
    }
    assert_str(wall_format(arena, at("2026-07-01"), true), "2026-07-01T00:00:00", "with a time");
    assert_str(wall_format(arena, WALL_MAX, false), "10000-01-01", "the end");
}

static void test_02_10_6_bounds_that_are_no_times_are_refused(void **state) {
    (void)state;
    static const char *const texts[] = {
        "yesterday",
        "tomorrow",
        "",
        "2024-02-30",
        "2026-13-01",
        "2026-07-01T24:00:00",
        "20260701",
        "2026-7-1",
        "0000-12-31",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
        "10000-01-01",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        AUTO(error) Error err;
        error_init(&err);
        WallUs wall;
        if (!failed(wall_parse(str_from(texts[i]), utc, &wall, &err))) {
            fail_msg("'%s' is accepted", texts[i]);
        }
        assert_int_equal(err.kind, ERROR_USAGE);
    }
}

static void time_columns_have_a_kind(void **state) {
    (void)state;
    static const struct {
        const char *type;
        TimeColumnKind kind;
    } times[] = {
        {"DATE", TIME_COLUMN_DATE},          {"TIMESTAMP", TIME_COLUMN_NAIVE},
        {"TIMESTAMP_S", TIME_COLUMN_NAIVE},  {"TIMESTAMP_MS", TIME_COLUMN_NAIVE},
        {"TIMESTAMP_NS", TIME_COLUMN_NAIVE}, {"TIMESTAMP WITH TIME ZONE", TIME_COLUMN_ZONED},
    };
    static const char *const others[] = {"VARCHAR", "TIME", "BIGINT", "TIME WITH TIME ZONE", "DATE[]", "INTERVAL", ""};
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        TimeColumnKind kind = TIME_COLUMN_ZONED;
        assert_true(time_column_kind(str_from(times[i].type), &kind));
        assert_int_equal(kind, times[i].kind);
    }
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        TimeColumnKind kind;
        assert_false(time_column_kind(str_from(others[i]), &kind));
    }
}

static void edges_are_typed_literals(void **state) {
    (void)state;
    static const struct {
        const char *wall, *zone;
        TimeColumnKind kind;
        const char *literal;
    } cases[] = {
        {"2026-07-01", "Europe/Berlin", TIME_COLUMN_DATE, "DATE '2026-07-01'"},
        {"2026-07-01T08:30:00", "Europe/Berlin", TIME_COLUMN_NAIVE, "TIMESTAMP '2026-07-01 08:30:00'"},
        {"2026-07-01T08:30:00.25", "UTC", TIME_COLUMN_NAIVE, "TIMESTAMP '2026-07-01 08:30:00.250000'"},
        {"2026-07-01T08:30:00", "Europe/Berlin", TIME_COLUMN_ZONED, "TIMESTAMPTZ '2026-07-01 06:30:00+00'"},
        {"2026-03-29T02:30:00", "Europe/Berlin", TIME_COLUMN_ZONED, "TIMESTAMPTZ '2026-03-29 01:00:00+00'"},
        {"2026-10-25T02:30:00", "Europe/Berlin", TIME_COLUMN_ZONED, "TIMESTAMPTZ '2026-10-25 00:30:00+00'"},
        {"1969-12-31T23:59:59.999999", "UTC", TIME_COLUMN_ZONED, "TIMESTAMPTZ '1969-12-31 23:59:59.999999+00'"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AUTO(strbuf) StrBuf sql = {0};
        wall_literal(&sql, at(cases[i].wall), cases[i].kind, zone_of(cases[i].zone));
        assert_str(strbuf_str(&sql), cases[i].literal, cases[i].wall);
    }
    AUTO(strbuf) StrBuf sql = {0};
    wall_literal(&sql, WALL_MAX, TIME_COLUMN_NAIVE, utc);
    assert_str(strbuf_str(&sql), "TIMESTAMP '10000-01-01 00:00:00'", "the end, as the engine reads it too");
}

static void values_of_a_time_column_are_read(void **state) {
    (void)state;
    static const struct {
        const char *text;
        TimeColumnKind kind;
        const char *zone, *wall; /* wall NULL: refused */
    } cases[] = {
        {"2026-06-30", TIME_COLUMN_DATE, "UTC", "2026-06-30"},
        {"0001-01-01", TIME_COLUMN_DATE, "UTC", "0001-01-01"},
        {"2026-06-30 10:00:00", TIME_COLUMN_NAIVE, "Asia/Kolkata", "2026-06-30T10:00:00"},
        {"2026-06-30 10:00:00.5", TIME_COLUMN_NAIVE, "UTC", "2026-06-30T10:00:00.500000"},
        {"1969-12-31 23:59:59.999999999", TIME_COLUMN_NAIVE, "UTC", "1969-12-31T23:59:59.999999"},
        {"2026-06-30 10:00:00+00", TIME_COLUMN_ZONED, "UTC", "2026-06-30T10:00:00"},
        {"2026-06-30 10:00:00+00", TIME_COLUMN_ZONED, "Europe/Berlin", "2026-06-30T12:00:00"},
        {"2026-06-30 12:00:00+02", TIME_COLUMN_ZONED, "Europe/Berlin", "2026-06-30T12:00:00"},
        {"2026-06-30 15:30:00.25+05:30", TIME_COLUMN_ZONED, "UTC", "2026-06-30T10:00:00.250000"},
        {"2026-06-30 06:30:00-03:30", TIME_COLUMN_ZONED, "UTC", "2026-06-30T10:00:00"},
        /* The second pass through a repeated hour: rows of it lie in the window in which the hour ends. */
        {"2026-10-25 02:10:00+02", TIME_COLUMN_ZONED, "Europe/Berlin", "2026-10-25T02:10:00"},
        {"2026-10-25 02:10:00+01", TIME_COLUMN_ZONED, "Europe/Berlin", "2026-10-25T02:59:59.999999"},
        {"2026-10-25 03:00:00+01", TIME_COLUMN_ZONED, "Europe/Berlin", "2026-10-25T03:00:00"},
        /* The session in the project's zone, before 1900: the engine leaves out the offset's seconds. */
        {"1800-01-01 05:53:28+05:53", TIME_COLUMN_ZONED, "Asia/Kolkata", "1800-01-01T05:53:28"},
        {"1800-01-01 00:00:00-04:56", TIME_COLUMN_ZONED, "America/New_York", "1800-01-01"},
        {"1800-01-01 05:53:28+05:53:28", TIME_COLUMN_ZONED, "UTC", "1800-01-01"},
        {"infinity", TIME_COLUMN_DATE, "UTC", NULL},
        {"-infinity", TIME_COLUMN_NAIVE, "UTC", NULL},
        {"infinity", TIME_COLUMN_ZONED, "UTC", NULL},
        {"0044-03-15 (BC)", TIME_COLUMN_DATE, "UTC", NULL},
        {"0044-03-15 (BC) 10:00:00", TIME_COLUMN_NAIVE, "UTC", NULL},
        {"10000-01-01", TIME_COLUMN_DATE, "UTC", NULL},
        {"9999-12-31 23:30:00+00", TIME_COLUMN_ZONED, "Asia/Kolkata", NULL},
        {"2026-06-30 10:00:00", TIME_COLUMN_ZONED, "UTC", NULL},
        {"2026-06-30 10:00:00+00", TIME_COLUMN_NAIVE, "UTC", NULL},
        {"2026-06-30 10:00:00+0x", TIME_COLUMN_ZONED, "UTC", NULL},
        {"2026-06-30 10:00:00", TIME_COLUMN_DATE, "UTC", NULL},
        {"2026-06-30", TIME_COLUMN_NAIVE, "UTC", NULL},
        {"oops", TIME_COLUMN_NAIVE, "UTC", NULL},
        {"", TIME_COLUMN_DATE, "UTC", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AUTO(error) Error err;
        error_init(&err);
        WallUs wall = 0;
        Status status = wall_from_sql(str_from(cases[i].text), cases[i].kind, zone_of(cases[i].zone), &wall, &err);
        if (failed(status) != (cases[i].wall == NULL)) {
            fail_msg("'%s'", cases[i].text);
        }
        if (cases[i].wall == NULL) {
            assert_int_equal(err.kind, ERROR_EXECUTION);
            assert_str(error_detail_find(&err, STR("code")), "time.value", cases[i].text);
        } else {
            assert_str(wall_format(arena, wall, false), cases[i].wall, cases[i].text);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_02_9_2_bounds_with_an_offset_are_converted),
        TEST(test_02_10_6_bounds_that_are_no_times_are_refused),
        TEST(time_columns_have_a_kind),
        TEST(edges_are_typed_literals),
        TEST(values_of_a_time_column_are_read),
    };
    return cmocka_run_group_tests_name("wall_time", tests, wall_setup, wall_teardown);
}
