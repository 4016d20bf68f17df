#include "window/wall_fixture.h"

Arena *arena;
const Zone *utc;

int wall_setup(void **state) {
    (void)state;
    arena = arena_create();
    unsetenv("TZDIR");
    utc = zone_of("UTC");
    return 0;
}

int wall_teardown(void **state) {
    (void)state;
    arena_destroy(arena);
    return 0;
}

const Zone *zone_of(const char *name) {
    AUTO(error) Error err;
    error_init(&err);
    const Zone *zone = NULL;
    assert_done(zone_load(str_from(name), arena, &zone, &err), &err);
    return zone;
}

WallUs at(const char *text) {
    return at_in(utc, text);
}

WallUs at_in(const Zone *zone, const char *text) {
    AUTO(error) Error err;
    error_init(&err);
    WallUs wall = 0;
    assert_done(wall_parse(str_from(text), zone, &wall, &err), &err);
    return wall;
}

int64_t random_below(int64_t limit) {
    static uint64_t number = UINT64_C(0x9E3779B97F4A7C15);
    number ^= number << 13;
    number ^= number >> 7;
    number ^= number << 17;
    return (int64_t)(number % (uint64_t)limit);
}
