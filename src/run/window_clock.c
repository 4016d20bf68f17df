#include "run/window_clock.h"

/* "08:30:00.123456" */
static Str time_of_day(WallUs wall, Arena *arena) {
    Str text = wall_format(arena, wall, true);
    return str_skip(text, str_find_char(text, 'T') + 1);
}

static Str date_of(WallUs wall, Arena *arena) {
    Str text = wall_format(arena, wall, true);
    return str_slice(text, 0, str_find_char(text, 'T'));
}

/* "+05:30" */
static Str offset_text(int64_t seconds, Arena *arena) {
    int64_t size = seconds < 0 ? -seconds : seconds;
    return str_format(arena, "%c%02d:%02d", seconds < 0 ? '-' : '+', (int)(size / 3600), (int)(size / 60 % 60));
}

const Str *window_clock_literals(WallUs end, const Zone *zone, Arena *arena) {
    TimeUs instant = zone_instant(zone, end) - 1;
    WallUs local = zone_wall(zone, instant);
    Str date = date_of(local, arena), time = time_of_day(local, arena);
    Str utc_date = date_of(instant, arena), utc_time = time_of_day(instant, arena);
    Str offset = offset_text(zone_offset(zone, instant), arena);
    Str *literals = ARENA_NEW_ARRAY(arena, Str, SQL_CLOCK_KIND_COUNT);
    literals[SQL_CLOCK_INSTANT] =
        str_format(arena, "TIMESTAMPTZ '" STR_FMT " " STR_FMT "+00'", STR_ARG(utc_date), STR_ARG(utc_time));
    literals[SQL_CLOCK_TIMESTAMP] =
        str_format(arena, "TIMESTAMP '" STR_FMT " " STR_FMT "'", STR_ARG(date), STR_ARG(time));
    literals[SQL_CLOCK_DATE] = str_format(arena, "DATE '" STR_FMT "'", STR_ARG(date));
    literals[SQL_CLOCK_TIME] = str_format(arena, "TIME '" STR_FMT "'", STR_ARG(time));
    literals[SQL_CLOCK_INSTANT_TIME] =
        str_format(arena, "TIMETZ '" STR_FMT STR_FMT "'", STR_ARG(time), STR_ARG(offset));
    literals[SQL_CLOCK_AGE] = str_format(arena, "TIMESTAMP '" STR_FMT " 00:00:00'", STR_ARG(date));
    return literals;
}
