#include "run/window_clock.h"

#include "base/testing.h"

typedef struct Case {
    const char *zone, *end;
    const char *literals[SQL_CLOCK_KIND_COUNT];
} Case;

/* clang-format off */
static const Case cases[] = {
    {"UTC", "2026-07-02", {
        [SQL_CLOCK_INSTANT] = "TIMESTAMPTZ '2026-07-01 23:59:59.999999+00'",
        [SQL_CLOCK_TIMESTAMP] = "TIMESTAMP '2026-07-01 23:59:59.999999'",
        [SQL_CLOCK_DATE] = "DATE '2026-07-01'",
        [SQL_CLOCK_TIME] = "TIME '23:59:59.999999'",
        [SQL_CLOCK_INSTANT_TIME] = "TIMETZ '23:59:59.999999+00:00'",
        [SQL_CLOCK_AGE] = "TIMESTAMP '2026-07-01 00:00:00'"}},
    {"Asia/Kolkata", "2026-01-01", {
        [SQL_CLOCK_INSTANT] = "TIMESTAMPTZ '2025-12-31 18:29:59.999999+00'",
        [SQL_CLOCK_TIMESTAMP] = "TIMESTAMP '2025-12-31 23:59:59.999999'",
        [SQL_CLOCK_DATE] = "DATE '2025-12-31'",
        [SQL_CLOCK_TIME] = "TIME '23:59:59.999999'",
        [SQL_CLOCK_INSTANT_TIME] = "TIMETZ '23:59:59.999999+05:30'",
        [SQL_CLOCK_AGE] = "TIMESTAMP '2025-12-31 00:00:00'"}},
    {"America/New_York", "2026-07-01T12:00:00", {
        [SQL_CLOCK_INSTANT] = "TIMESTAMPTZ '2026-07-01 15:59:59.999999+00'",
        [SQL_CLOCK_TIMESTAMP] = "TIMESTAMP '2026-07-01 11:59:59.999999'",
        [SQL_CLOCK_DATE] = "DATE '2026-07-01'",
        [SQL_CLOCK_TIME] = "TIME '11:59:59.999999'",
        [SQL_CLOCK_INSTANT_TIME] = "TIMETZ '11:59:59.999999-04:00'",
        [SQL_CLOCK_AGE] = "TIMESTAMP '2026-07-01 00:00:00'"}},
    /* The hour from 2 to 3 comes twice: the window ends with its second pass, at 01:00 UTC. */
    {"Europe/Berlin", "2026-10-25T03:00:00", {
        [SQL_CLOCK_INSTANT] = "TIMESTAMPTZ '2026-10-25 01:59:59.999999+00'",
        [SQL_CLOCK_TIMESTAMP] = "TIMESTAMP '2026-10-25 02:59:59.999999'",
        [SQL_CLOCK_DATE] = "DATE '2026-10-25'",
        [SQL_CLOCK_TIME] = "TIME '02:59:59.999999'",
        [SQL_CLOCK_INSTANT_TIME] = "TIMETZ '02:59:59.999999+01:00'",
        [SQL_CLOCK_AGE] = "TIMESTAMP '2026-10-25 00:00:00'"}},
};
/* clang-format on */

static void reads_get_the_last_microsecond_of_the_window(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err;
    error_init(&err);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const Zone *zone = NULL;
        WallUs end = 0;
        assert_false(failed(zone_load(str_from(cases[i].zone), arena, &zone, &err)));
        assert_false(failed(wall_parse(str_from(cases[i].end), zone, &end, &err)));
        const Str *literals = window_clock_literals(end, zone, arena);
        for (size_t kind = 0; kind < SQL_CLOCK_KIND_COUNT; kind++) {
            assert_string_equal(str_to_c(arena, literals[kind]), cases[i].literals[kind]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_get_the_last_microsecond_of_the_window)};
    return cmocka_run_group_tests_name("window clock", tests, NULL, NULL);
}
