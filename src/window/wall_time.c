/* Wall times as a person writes them and as SQL does (zone.h). */
#include "window/zone.h"

#include "sql/sql_buf.h"

typedef struct WallParts {
    CivilDate date;
    int hour, minute, second, fraction_us;
} WallParts;

static WallParts wall_parts(int64_t time_us) {
    int64_t days = time_us / US_PER_DAY - (time_us % US_PER_DAY < 0);
    int64_t time_of_day_us = time_us - days * US_PER_DAY;
    int64_t seconds = time_of_day_us / US_PER_SECOND;
    return (WallParts){
        .date = civil_from_days(days),
        .hour = (int)(seconds / 3600),
        .minute = (int)(seconds / 60 % 60),
        .second = (int)(seconds % 60),
        .fraction_us = (int)(time_of_day_us % US_PER_SECOND),
    };
}

static void write_date(StrBuf *out, const WallParts *parts) {
    strbuf_format(out, "%04lld-%02d-%02d", (long long)parts->date.year, parts->date.month, parts->date.day);
}

static void write_time(StrBuf *out, const WallParts *parts) {
    strbuf_format(out, "%02d:%02d:%02d", parts->hour, parts->minute, parts->second);
    if (parts->fraction_us != 0) {
        strbuf_format(out, ".%06d", parts->fraction_us);
    }
}

static bool is_midnight(const WallParts *parts) {
    return parts->hour == 0 && parts->minute == 0 && parts->second == 0 && parts->fraction_us == 0;
}

static int64_t civil_us(const CivilTime *time) {
    return civil_to_days(time->date) * US_PER_DAY + time->time_of_day_us;
}

static bool is_in_calendar(WallUs wall) {
    return wall >= WALL_MIN && wall < WALL_MAX;
}

/* ---- A person's text. */

Status wall_parse(Str text, const Zone *zone, WallUs *wall_out, Error *err) {
    CivilTime time;
    TRY(civil_time_parse(text, &time, err));
    WallUs wall = civil_us(&time);
    if (time.has_offset) {
        wall = zone_wall(zone, wall - time.offset_seconds * US_PER_SECOND);
    }
    if (!is_in_calendar(wall)) {
        return error_set(err, ERROR_USAGE, "'" STR_FMT "' is outside of the years 1 to 9999", STR_ARG(text));
    }
    *wall_out = wall;
    return OK;
}

Str wall_format(Arena *arena, WallUs wall, bool always_time) {
    AUTO(strbuf) StrBuf text = {0};
    WallParts parts = wall_parts(wall);
    write_date(&text, &parts);
    if (always_time || !is_midnight(&parts)) {
        strbuf_char(&text, 'T');
        write_time(&text, &parts);
    }
    return strbuf_copy(&text, arena);
}

Str window_format(Arena *arena, Grain grain, Window window) {
    Str start = wall_format(arena, window.start, false);
    if (grain_count(grain, window.start, window.end) == 1) {
        return start;
    }
    Str end = wall_format(arena, window.end, false);
    return str_format(arena, STR_FMT " … " STR_FMT, STR_ARG(start), STR_ARG(end));
}

/* ---- SQL. */

typedef struct TimeType {
    Str name;
    TimeColumnKind kind;
} TimeType;

/* clang-format off */
static const TimeType time_types[] = {
    {STR_INIT("DATE"),                     TIME_COLUMN_DATE},
    {STR_INIT("TIMESTAMP"),                TIME_COLUMN_NAIVE},
    {STR_INIT("TIMESTAMP_S"),              TIME_COLUMN_NAIVE},
    {STR_INIT("TIMESTAMP_MS"),             TIME_COLUMN_NAIVE},
    {STR_INIT("TIMESTAMP_NS"),             TIME_COLUMN_NAIVE},
    {STR_INIT("TIMESTAMP WITH TIME ZONE"), TIME_COLUMN_ZONED},
};
/* clang-format on */

bool time_column_kind(Str type, TimeColumnKind *kind_out) {
    for (size_t i = 0; i < COUNT_OF(time_types); i++) {
        if (str_equal_fold(time_types[i].name, type)) {
            *kind_out = time_types[i].kind;
            return true;
        }
    }
    return false;
}

void wall_literal(StrBuf *sql, WallUs wall, TimeColumnKind kind, const Zone *zone) {
    static const char *const types[] = {
        [TIME_COLUMN_DATE] = "DATE", [TIME_COLUMN_NAIVE] = "TIMESTAMP", [TIME_COLUMN_ZONED] = "TIMESTAMPTZ"};
    WallParts parts = wall_parts(kind == TIME_COLUMN_ZONED ? zone_instant(zone, wall) : wall);
    strbuf_format(sql, "%s '", types[kind]);
    write_date(sql, &parts);
    if (kind == TIME_COLUMN_DATE) {
        assert(is_midnight(&parts));
    } else {
        strbuf_char(sql, ' ');
        write_time(sql, &parts);
    }
    strbuf_text(sql, kind == TIME_COLUMN_ZONED ? "+00'" : "'");
}

void wall_bucket(StrBuf *sql, Str column, Grain grain, int64_t step, WallUs origin, const Zone *zone) {
    int64_t size = (grain.months > 0 ? grain.months : grain.size_us) * step;
    strbuf_format(sql, "time_bucket(to_%s(%lld), CAST(", grain.months > 0 ? "months" : "microseconds", (long long)size);
    sql_identifier(sql, column);
    strbuf_text(sql, " AS TIMESTAMP), ");
    wall_literal(sql, origin, TIME_COLUMN_NAIVE, zone);
    strbuf_char(sql, ')');
}

void wall_group(StrBuf *sql, Str column, Grain grain, WallUs origin, const Zone *zone) {
    if (!grain_is_whole_days(grain)) {
        wall_bucket(sql, column, grain, 1, origin, zone);
        return;
    }
    strbuf_text(sql, "CAST(");
    sql_identifier(sql, column);
    strbuf_text(sql, " AS DATE)");
}

/* Takes the offset off the end of "… 08:30:00+05:30"; false when there is none. */
static bool split_offset(Str *text, int64_t *offset_out) {
    size_t sign = text->size;
    while (sign > 0 && text->ptr[sign - 1] != '+' && text->ptr[sign - 1] != '-') {
        sign--;
    }
    if (sign < sizeof "2026-01-01 00:00:00") { /* the last sign is one of the date's own */
        return false;
    }
    bool is_west = text->ptr[sign - 1] == '-';
    Str rest = str_skip(*text, sign);
    int64_t offset = 0;
    for (int64_t unit = 3600; unit > 0 && rest.size > 0; unit /= 60) {
        int64_t number;
        if (!str_to_int64(str_slice(rest, 0, 2), &number) || number < 0) {
            return false;
        }
        offset += number * unit;
        rest = str_skip(rest, 2);
        rest = str_starts_with(rest, STR(":")) ? str_skip(rest, 1) : rest;
    }
    *text = str_slice(*text, 0, sign - 1);
    *offset_out = is_west ? -offset : offset;
    return rest.size == 0;
}

/* The engine prints the offset of its session's zone without the seconds that offsets had before 1900. Where that zone
 * is the project's, as it is but for a person's own setting, the zone file knows them. */
static WallUs zoned_wall(WallUs printed, int64_t printed_offset, const Zone *zone) {
    TimeUs instant = printed - printed_offset * US_PER_SECOND;
    int64_t offset = zone_offset(zone, instant);
    if (offset / 60 * 60 == printed_offset) {
        instant = printed - offset * US_PER_SECOND;
    }
    return zone_wall_reached(zone, instant);
}

static Status refuse_value(Str text, const char *problem, Error *err) {
    error_set(err, ERROR_EXECUTION, "the time column holds '" STR_FMT "', %s", STR_ARG(text), problem);
    error_code(err, STR("time.value"));
    return FAILED;
}

Status wall_from_sql(Str text, TimeColumnKind kind, const Zone *zone, WallUs *wall_out, Error *err) {
    if (str_ends_with(text, STR("infinity"))) {
        return refuse_value(text, "which lies in no window", err);
    }
    AUTO(error) Error ignored; /* its words are for a text that a person wrote */
    error_init(&ignored);
    Str rest = text;
    int64_t offset = 0;
    CivilTime time;
    bool has_offset = kind == TIME_COLUMN_ZONED && split_offset(&rest, &offset);
    if (failed(civil_time_parse(rest, &time, &ignored)) || time.has_offset ||
        time.has_time != (kind != TIME_COLUMN_DATE) || has_offset != (kind == TIME_COLUMN_ZONED)) {
        return refuse_value(text, "which is no time between the years 1 and 9999", err);
    }
    WallUs wall = kind == TIME_COLUMN_ZONED ? zoned_wall(civil_us(&time), offset, zone) : civil_us(&time);
    if (!is_in_calendar(wall)) {
        return refuse_value(text, "which is no time between the years 1 and 9999", err);
    }
    *wall_out = wall;
    return OK;
}
