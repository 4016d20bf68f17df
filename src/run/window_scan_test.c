#include "run/window_scan.h"

#include "base/testing.h"

typedef struct Case {
    TimeColumnKind kind;
    bool is_widened;
    const char *units[3]; /* the last one first */
    const char *start, *end;
    const char *condition;
} Case;

/* clang-format off */
static const Case cases[] = {
    {TIME_COLUMN_NAIVE, false, {0}, "2026-07-01T06:00:00", "2026-07-01T07:00:00",
     "\"t\"\"s\" >= TIMESTAMP '2026-07-01 06:00:00' AND \"t\"\"s\" < TIMESTAMP '2026-07-01 07:00:00'"},
    {TIME_COLUMN_NAIVE, false, {"day"}, "2026-07-01", "2026-07-02",
     "\"t\"\"s\" >= TIMESTAMP '2026-07-01 00:00:00' AND \"t\"\"s\" < TIMESTAMP '2026-07-02 00:00:00'"},
    {TIME_COLUMN_NAIVE, false, {"hour"}, "2026-07-01T06:10:00", "2026-07-01T06:20:00",
     "\"t\"\"s\" >= TIMESTAMP '2026-07-01 06:10:00' AND \"t\"\"s\" < TIMESTAMP '2026-07-01 07:00:00'"},
    {TIME_COLUMN_NAIVE, false, {"month", "week"}, "2026-07-01", "2026-07-02",
     "\"t\"\"s\" >= TIMESTAMP '2026-07-01 00:00:00' AND \"t\"\"s\" < TIMESTAMP '2026-08-03 00:00:00'"},
    {TIME_COLUMN_NAIVE, false, {"quarter"}, "2026-07-01", "2026-10-01",
     "\"t\"\"s\" >= TIMESTAMP '2026-07-01 00:00:00' AND \"t\"\"s\" < TIMESTAMP '2026-10-01 00:00:00'"},
    {TIME_COLUMN_NAIVE, false, {"year", "second", "minute"}, "2026-07-01", "2026-07-02",
     "\"t\"\"s\" >= TIMESTAMP '2026-07-01 00:00:00' AND \"t\"\"s\" < TIMESTAMP '2027-01-01 00:00:00'"},
    {TIME_COLUMN_DATE, false, {0}, "2026-07-01", "2026-07-02",
     "\"t\"\"s\" >= DATE '2026-07-01' AND \"t\"\"s\" < DATE '2026-07-02'"},
    {TIME_COLUMN_DATE, false, {"hour"}, "2026-07-01T06:00:00", "2026-07-01T07:00:00",
     "\"t\"\"s\" >= DATE '2026-07-01' AND \"t\"\"s\" < DATE '2026-07-02'"},
    {TIME_COLUMN_ZONED, false, {0}, "2026-07-01", "2026-07-02",
     "\"t\"\"s\" >= TIMESTAMPTZ '2026-06-30 22:00:00+00' AND \"t\"\"s\" < TIMESTAMPTZ '2026-07-01 22:00:00+00'"},
    {TIME_COLUMN_NAIVE, false, {"5m"}, "2026-07-01", "2026-07-01T00:12:00",
     "\"t\"\"s\" >= TIMESTAMP '2026-07-01 00:00:00' AND \"t\"\"s\" < TIMESTAMP '2026-07-01 00:15:00'"},
    {TIME_COLUMN_NAIVE, false, {"3mo"}, "2026-07-01", "2026-07-02",
     "\"t\"\"s\" >= TIMESTAMP '2026-07-01 00:00:00' AND \"t\"\"s\" < TIMESTAMP '2026-10-01 00:00:00'"},
    {TIME_COLUMN_NAIVE, false, {"5d"}, "2026-07-01", "2026-07-02",
     "\"t\"\"s\" >= TIMESTAMP '2026-07-01 00:00:00' AND \"t\"\"s\" < TIMESTAMP '2026-07-07 00:00:00'"},
    {TIME_COLUMN_NAIVE, false, {"24mo"}, "2026-07-01", "2026-07-02",
     "\"t\"\"s\" >= TIMESTAMP '2026-07-01 00:00:00' AND \"t\"\"s\" < TIMESTAMP '2028-08-01 00:00:00'"},
    {TIME_COLUMN_ZONED, true, {"1d"}, "2026-07-01", "2026-07-02",
     "\"t\"\"s\" >= TIMESTAMPTZ '2026-06-29 22:00:00+00' AND \"t\"\"s\" < TIMESTAMPTZ '2026-07-03 22:00:00+00'"},
    {TIME_COLUMN_ZONED, true, {"day"}, "2026-07-01", "2026-07-02",
     "\"t\"\"s\" >= TIMESTAMPTZ '2026-06-29 22:00:00+00' AND \"t\"\"s\" < TIMESTAMPTZ '2026-07-02 22:00:00+00'"},
};
/* clang-format on */

static const Zone *berlin(Arena *arena, Error *err) {
    const Zone *zone = NULL;
    assert_false(failed(zone_load(STR("Europe/Berlin"), arena, &zone, err)));
    return zone;
}

static Window window_of(const Zone *zone, const char *start, const char *end, Error *err) {
    Window window = {0};
    assert_false(failed(wall_parse(str_from(start), zone, &window.start, err)));
    assert_false(failed(wall_parse(str_from(end), zone, &window.end, err)));
    return window;
}

static void edges_move_out_to_the_lattice(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err;
    error_init(&err);
    const Zone *zone = berlin(arena, &err);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const Case *c = &cases[i];
        WindowScan scan = {.kind = c->kind, .is_widened = c->is_widened, .scan.column = STR("t\"s")};
        for (size_t u = 0; u < COUNT_OF(c->units) && c->units[u] != NULL; u++) {
            str_vec_push(arena, &scan.scan.units, str_from(c->units[u]));
        }
        Str condition = window_scan_condition(&scan, window_of(zone, c->start, c->end, &err), zone, arena);
        assert_string_equal(str_to_c(arena, condition), c->condition);
    }
}

static void assert_reach(const char *before, const char *after, const char *start, const char *end) {
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err;
    error_init(&err);
    const Zone *zone = berlin(arena, &err);
    ConfigValue values[] = {{.kind = CONFIG_SCALAR, .text = str_from(before)},
                            {.kind = CONFIG_SCALAR, .text = str_from(after)}};
    ConfigEntry entries[] = {{.key = STR("before"), .value = &values[0]}, {.key = STR("after"), .value = &values[1]}};
    ConfigValue declared = {.kind = CONFIG_MAP, .entries = entries, .count = COUNT_OF(entries)};
    WindowScan scan = {.kind = TIME_COLUMN_NAIVE, .scan = {.column = STR("ts"), .declared = &declared}};
    Window range = window_scan_range(&scan, window_of(zone, "2026-07-15", "2026-07-16", &err));
    assert_string_equal(str_to_c(arena, wall_format(arena, range.start, false)), start);
    assert_string_equal(str_to_c(arena, wall_format(arena, range.end, false)), end);
}

static void a_declared_range_reaches_around_the_window(void **state) {
    (void)state;
    assert_reach("1d", "0d", "2026-07-14", "2026-07-16");
    assert_reach("36h", "15m", "2026-07-13T12:00:00", "2026-07-16T00:15:00");
    assert_reach("0d", "2w", "2026-07-15", "2026-07-30");
    assert_reach("1mo", "1mo", "2026-06-01", "2026-09-01");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_move_out_to_the_lattice),
        cmocka_unit_test(a_declared_range_reaches_around_the_window),
    };
    return cmocka_run_group_tests_name("window scan", tests, NULL, NULL);
}
