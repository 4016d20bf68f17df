/* Time zones (spec 02 §9.3): the system's zone files, and libc as the oracle. */
#include "base/files.h"
#include "window/wall_fixture.h"
#include "window/zone_rule.h"

#include <time.h>

#define HOUR (INT64_C(3600) * US_PER_SECOND)

/* ---- Edges of windows. */

typedef struct EdgeCase {
    const char *zone, *wall, *instant;
} EdgeCase;

static void wall_times_have_one_instant(void **state) {
    (void)state;
    static const EdgeCase cases[] = {
        {"UTC", "2026-03-29T02:30:00", "2026-03-29T02:30:00"},
        {"Europe/Berlin", "2026-01-15T12:00:00", "2026-01-15T11:00:00"},
        {"Europe/Berlin", "2026-07-15T12:00:00", "2026-07-15T10:00:00"},
        /* 2026-03-29: 02:00 to 03:00 is skipped. */
        {"Europe/Berlin", "2026-03-29T01:59:59.999999", "2026-03-29T00:59:59.999999"},
        {"Europe/Berlin", "2026-03-29T02:00:00", "2026-03-29T01:00:00"},
        {"Europe/Berlin", "2026-03-29T02:30:00", "2026-03-29T01:00:00"},
        {"Europe/Berlin", "2026-03-29T03:00:00", "2026-03-29T01:00:00"},
        {"Europe/Berlin", "2026-03-29T03:30:00", "2026-03-29T01:30:00"},
        /* 2026-10-25: 02:00 to 03:00 comes twice. */
        {"Europe/Berlin", "2026-10-25T01:59:00", "2026-10-24T23:59:00"},
        {"Europe/Berlin", "2026-10-25T02:00:00", "2026-10-25T00:00:00"},
        {"Europe/Berlin", "2026-10-25T02:30:00", "2026-10-25T00:30:00"},
        {"Europe/Berlin", "2026-10-25T02:59:59.999999", "2026-10-25T00:59:59.999999"},
        {"Europe/Berlin", "2026-10-25T03:00:00", "2026-10-25T02:00:00"},
        {"Europe/Berlin", "2050-07-01T00:00:00", "2050-06-30T22:00:00"}, /* behind the table: the rule */
        {"Europe/Berlin", "2050-03-27T02:15:00", "2050-03-27T01:00:00"},
        {"Europe/Berlin", "2050-10-30T02:15:00", "2050-10-30T00:15:00"},
        {"Europe/Berlin", "1893-03-31T23:00:00", "1893-03-31T22:06:32"}, /* local mean time */
        {"Asia/Kolkata", "2026-07-15T00:00:00", "2026-07-14T18:30:00"},
        {"America/New_York", "2026-11-01T01:30:00", "2026-11-01T05:30:00"},
        {"America/St_Johns", "2026-01-01T00:00:00", "2026-01-01T03:30:00"},
        {"Australia/Lord_Howe", "2026-04-05T01:45:00", "2026-04-04T14:45:00"}, /* half an hour comes twice */
        /* 2011-12-30 does not exist: the whole day is the moment in which it was left out. */
        {"Pacific/Apia", "2011-12-29T23:59:59", "2011-12-30T09:59:59"},
        {"Pacific/Apia", "2011-12-30T00:00:00", "2011-12-30T10:00:00"},
        {"Pacific/Apia", "2011-12-30T18:00:00", "2011-12-30T10:00:00"},
        {"Pacific/Apia", "2011-12-31T00:00:00", "2011-12-30T10:00:00"},
        {"Pacific/Apia", "2011-12-31T00:00:01", "2011-12-30T10:00:01"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        TimeUs instant = zone_instant(zone_of(cases[i].zone), at(cases[i].wall));
        Str expected = wall_format(arena, at(cases[i].instant), true);
        assert_str(wall_format(arena, instant, true), expected.ptr, cases[i].wall);
    }
}

static void test_02_9_4_hours_of_a_clock_change_neither_overlap_nor_leave_a_hole(void **state) {
    (void)state;
    const Zone *berlin = zone_of("Europe/Berlin");
    static const struct {
        const char *first;
        int64_t hours[4]; /* real length of the windows from `first` */
    } cases[] = {
        {"2026-03-29T01:00:00", {1, 0, 1, 1}},
        {"2026-10-25T01:00:00", {1, 2, 1, 1}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        for (int64_t hour = 0; hour < 4; hour++) {
            WallUs start = at(cases[i].first) + hour * HOUR;
            TimeUs length = zone_instant(berlin, start + HOUR) - zone_instant(berlin, start);
            assert_int_equal(length, cases[i].hours[hour] * HOUR);
        }
    }
}

/* Windows of a quarter of an hour, shorter than what is skipped and repeated. */
static void each_instant_lies_in_the_window_of_the_wall_time_reached(void **state) {
    (void)state;
    static const char *const names[] = {"Europe/Berlin", "Pacific/Apia", "Australia/Lord_Howe", "America/Sao_Paulo"};
    const int64_t quarter = HOUR / 4;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const Zone *zone = zone_of(names[i]);
        TimeUs end = at("2012-01-10");
        for (TimeUs instant = at("2011-01-01"); instant < end; instant += 7 * HOUR / 60) {
            WallUs start = zone_wall_reached(zone, instant) / quarter * quarter;
            if (zone_instant(zone, start) > instant || zone_instant(zone, start + quarter) <= instant) {
                fail_msg("%s: %.*s", names[i], STR_ARG(wall_format(arena, instant, true)));
            }
        }
    }
}

/* ---- libc as the oracle. */

static void set_process_zone(const char *name) {
    if (name == NULL) {
        unsetenv("TZ");
    } else {
        setenv("TZ", name, 1);
    }
    tzset();
}

static void offsets_agree_with_libc(void **state) {
    (void)state;
    static const char *const names[] = {
        "Europe/Berlin",    "Europe/Dublin",       "America/New_York",   "America/Sao_Paulo", "America/Nuuk",
        "Asia/Kolkata",     "Asia/Tehran",         "Asia/Gaza",          "Africa/Casablanca", "Africa/Monrovia",
        "Pacific/Apia",     "Australia/Lord_Howe", "Antarctica/Troll",   "Pacific/Chatham",   "Asia/Jerusalem",
        "America/Santiago", "Etc/GMT+12",          "Pacific/Kiritimati", "EST5EDT",           "Etc/UTC",
    };
    const int64_t first = at("1850-01-01") / US_PER_SECOND;
    const int64_t span = at("2200-01-01") / US_PER_SECOND - first;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const Zone *zone = zone_of(names[i]);
        set_process_zone(names[i]);
        for (int k = 0; k < 5000; k++) {
            time_t seconds = (time_t)(first + random_below(span));
            struct tm local;
            assert_non_null(localtime_r(&seconds, &local));
            if (zone_offset(zone, seconds * US_PER_SECOND) != local.tm_gmtoff) {
                fail_msg("%s at %lld: %lld, not %ld", names[i], (long long)seconds,
                         (long long)zone_offset(zone, seconds * US_PER_SECOND), local.tm_gmtoff);
            }
        }
    }
    set_process_zone(NULL);
}

/* ---- Rules. */

static void rules_are_read(void **state) {
    (void)state;
    static const char *const sound[] = {
        "UTC0",
        "<+0530>-5:30",
        "CET-1CEST,M3.5.0,M10.5.0/3",
        "<-03>3<-02>,M3.5.0/-2,M10.5.0/-1",
        "IST-1GMT0,M10.5.0,M3.5.0/1",
        "XXX3EDT4,0/0,J365/23",
        "AAA12:34:56BBB,J60/167:59:59,365",
    };
    static const char *const broken[] = {
        "",
        "1",
        "CET",
        "CET-25",
        "CET-1CEST",
        "CET-1CEST,M3.5.0",
        "CET-1x",
        "<CET-1",
        "<>-1",
        "CET-1CEST,M13.1.0,M1.1.0",
        "CET-1CEST,M3.6.0,M1.1.0",
        "CET-1CEST,M3.5.7,M1.1.0",
        "CET-1CEST,J0,J1",
        "CET-1CEST,366,1",
        "CET-1CEST,M3.5.0,M10.5.0/3x",
        "CET-1CEST,M3.5.0/168,M10.5.0",
        "CET-1:60",
        "CET-",
    };
    ZoneRule rule;
    for (size_t i = 0; i < COUNT_OF(sound); i++) {
        if (!zone_rule_parse(str_from(sound[i]), &rule)) {
            fail_msg("'%s' is refused", sound[i]);
        }
    }
    for (size_t i = 0; i < COUNT_OF(broken); i++) {
        if (zone_rule_parse(str_from(broken[i]), &rule)) {
            fail_msg("'%s' is accepted", broken[i]);
        }
    }
}

static void rules_agree_with_libc(void **state) {
    (void)state;
    static const char *const texts[] = {
        "CET-1CEST,M3.5.0,M10.5.0/3", "<-03>3<-02>,M3.5.0/-2,M10.5.0/-1", "IST-1GMT0,M10.5.0,M3.5.0/1",
        "AAA3BBB,J60,J300/4:30",      "AAA-5:45BBB-7,59/0,299/24",        "AEST-10AEDT,M10.1.0,M4.1.0/3",
    };
    const int64_t span = at("2200-01-01") / US_PER_SECOND;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        ZoneRule rule;
        assert_true(zone_rule_parse(str_from(texts[i]), &rule));
        set_process_zone(texts[i]);
        for (int k = 0; k < 5000; k++) {
            time_t seconds = (time_t)random_below(span);
            struct tm local;
            assert_non_null(localtime_r(&seconds, &local));
            ZoneSegment segment = zone_rule_segment(&rule, seconds);
            if (segment.offset != local.tm_gmtoff || segment.start > seconds || segment.end <= seconds) {
                fail_msg("%s at %lld", texts[i], (long long)seconds);
            }
        }
    }
    set_process_zone(NULL);
}

static void a_rule_may_keep_summer_for_ever(void **state) {
    (void)state;
    ZoneRule rule;
    assert_true(zone_rule_parse(STR("XXX3EDT4,0/0,J365/23"), &rule));
    for (int64_t day = 0; day < 1000; day++) {
        assert_int_equal(zone_rule_segment(&rule, day * 86400).offset, -4 * 3600);
    }
}

/* ---- Names and files. */

static void assert_unknown(const char *name) {
    AUTO(error) Error err;
    error_init(&err);
    const Zone *zone = NULL;
    if (!failed(zone_load(str_from(name), arena, &zone, &err))) {
        fail_msg("'%s' is loaded", name);
    }
    assert_int_equal(err.kind, ERROR_CONFIGURATION);
    assert_str(error_detail_find(&err, STR("code")), "timezone.unknown", name);
    assert_true(err.hint.size > 0);
}

static void names_that_are_no_zones_are_refused(void **state) {
    (void)state;
    static const char *const names[] = {
        "",
        "Mars/Olympus",
        "Europe",
        "Europe/",
        "/Europe/Berlin",
        "../zoneinfo/UTC",
        "Europe/../Europe/Berlin",
        "Europe//Berlin",
        "./UTC",
        "/etc/passwd",
        "zone.tab",
        "tzdata.zi",
        "leapseconds",
        "Europe/Berlin ",
    };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        assert_unknown(names[i]);
    }
}

static void utc_needs_no_file(void **state) {
    (void)state;
    setenv("TZDIR", "/nowhere", 1);
    assert_non_null(zone_of("UTC"));
    assert_int_equal(zone_instant(utc, 1234567), 1234567);
    assert_int_equal(zone_wall(utc, -1234567), -1234567);
    assert_unknown("Europe/Berlin");
    unsetenv("TZDIR");
    assert_non_null(zone_of("Europe/Berlin"));
}

/* Cut at any byte, and with any byte of its head and of a sample of the others changed: refused or read, never more. */
static void damaged_files_are_refused(void **state) {
    (void)state;
    AUTO(error) Error err;
    error_init(&err);
    Str content;
    assert_done(file_read(STR("/usr/share/zoneinfo/Europe/Berlin"), 1 << 20, arena, &content, &err), &err);
    Str folder = test_directory(arena);
    Str path = path_join(arena, folder, STR("Cut"));
    setenv("TZDIR", folder.ptr, 1);

    for (size_t size = 0; size < content.size; size++) {
        assert_done(file_write_atomic(path, str_slice(content, 0, size), false, &err), &err);
        assert_unknown("Cut");
    }
    char *bytes = arena_alloc(arena, content.size);
    for (size_t i = 0; i < content.size; i += i < 64 ? 1 : 37) {
        memcpy(bytes, content.ptr, content.size);
        bytes[i] = (char)(bytes[i] ^ 0xff);
        assert_done(file_write_atomic(path, (Str){bytes, content.size}, false, &err), &err);
        const Zone *zone;
        if (!failed(zone_load(STR("Cut"), arena, &zone, &err))) {
            for (TimeUs instant = -40 * 365 * US_PER_DAY; instant < 90 * 365 * US_PER_DAY; instant += 99 * US_PER_DAY) {
                WallUs wall = zone_wall(zone, instant);
                assert_true(zone_instant(zone, wall) <= instant);
            }
        }
    }
    unsetenv("TZDIR");
    test_directory_remove(arena, folder);
}

static void the_local_zone_is_that_of_the_process(void **state) {
    (void)state;
    static const struct {
        const char *variable, *name;
    } cases[] = {
        {"America/New_York", "America/New_York"},
        {":Asia/Tokyo", "Asia/Tokyo"},
        {"/usr/share/zoneinfo/Europe/Berlin", "Europe/Berlin"},
        {"UTC", "UTC"},
        {"", "UTC"},
        {"CET-1CEST,M3.5.0,M10.5.0/3", "UTC"}, /* a rule, which has no name */
        {"../../etc/passwd", "UTC"},
        {"Mars/Olympus", "UTC"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        setenv("TZ", cases[i].variable, 1);
        assert_str(zone_local_name(arena), cases[i].name, cases[i].variable);
    }
    unsetenv("TZ");
    AUTO(error) Error err;
    error_init(&err);
    const Zone *zone;
    assert_done(zone_load(zone_local_name(arena), arena, &zone, &err), &err);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(wall_times_have_one_instant),
        TEST(test_02_9_4_hours_of_a_clock_change_neither_overlap_nor_leave_a_hole),
        TEST(each_instant_lies_in_the_window_of_the_wall_time_reached),
        TEST(offsets_agree_with_libc),
        TEST(rules_are_read),
        TEST(rules_agree_with_libc),
        TEST(a_rule_may_keep_summer_for_ever),
        TEST(names_that_are_no_zones_are_refused),
        TEST(utc_needs_no_file),
        TEST(damaged_files_are_refused),
        TEST(the_local_zone_is_that_of_the_process),
    };
    return cmocka_run_group_tests_name("zone", tests, wall_setup, wall_teardown);
}
