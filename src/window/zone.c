/* Zones from TZif files (RFC 9636), version 2 and later: a table of changes, and a rule for the time behind it. Read by
 * ourselves, because libc knows one zone at a time and keeps it for the whole process. */
#include "window/zone.h"

#include "base/files.h"
#include "config/time_zone.h"
#include "window/zone_rule.h"

#include <stdlib.h>
#include <unistd.h>

#define ZONE_FILE_SIZE_MAX ((size_t)1024 * 1024)
#define OFFSET_MAX (INT64_C(26) * 3600) /* seconds; the format's own limit */

struct Zone {
    int64_t first_offset; /* before the first change; offsets are seconds east of UTC */
    size_t change_count;
    const int64_t *changes; /* seconds since 1970 UTC, ascending */
    const int64_t *offsets; /* behind each change */
    bool has_rule;          /* for the time behind the last change */
    ZoneRule rule;
};

/* ---- The file. */

typedef struct ZoneBytes {
    Str rest;
    bool is_short; /* something was read behind the end */
} ZoneBytes;

static Str take_bytes(ZoneBytes *bytes, size_t size) {
    if (bytes->rest.size < size) {
        bytes->is_short = true;
        bytes->rest = STR_EMPTY;
        return STR_EMPTY;
    }
    Str taken = str_slice(bytes->rest, 0, size);
    bytes->rest = str_skip(bytes->rest, size);
    return taken;
}

/* A signed number of `size` bytes, the highest first. */
static int64_t take_number(ZoneBytes *bytes, size_t size) {
    Str taken = take_bytes(bytes, size);
    uint64_t number = taken.size > 0 && (taken.ptr[0] & 0x80) != 0 ? UINT64_MAX : 0;
    for (size_t i = 0; i < taken.size; i++) {
        number = number << 8 | (uint8_t)taken.ptr[i];
    }
    return (int64_t)number;
}

typedef struct ZoneHeader {
    char version;
    size_t utc_count, standard_count, leap_count, change_count, type_count, name_size;
} ZoneHeader;

static size_t take_count(ZoneBytes *bytes) {
    return (size_t)(take_number(bytes, 4) & 0xffffffff);
}

static bool take_header(ZoneBytes *bytes, ZoneHeader *header) {
    bool is_zone = str_equal(take_bytes(bytes, 4), STR("TZif"));
    Str version = take_bytes(bytes, 1);
    header->version = version.size == 0 ? '\0' : version.ptr[0];
    take_bytes(bytes, 15);
    header->utc_count = take_count(bytes);
    header->standard_count = take_count(bytes);
    header->leap_count = take_count(bytes);
    header->change_count = take_count(bytes);
    header->type_count = take_count(bytes);
    header->name_size = take_count(bytes);
    return is_zone && !bytes->is_short;
}

/* The first of the two tables has instants of 32 bits; the second says all of it again. */
static void skip_old_table(ZoneBytes *bytes, const ZoneHeader *header) {
    take_bytes(bytes, header->change_count * 5 + header->type_count * 6 + header->name_size + header->leap_count * 8 +
                          header->standard_count + header->utc_count);
}

static bool take_changes(ZoneBytes *bytes, const ZoneHeader *header, Arena *arena, Zone *zone) {
    Str instants = take_bytes(bytes, header->change_count * 8);
    Str types = take_bytes(bytes, header->change_count);
    Str type_records = take_bytes(bytes, header->type_count * 6);
    if (bytes->is_short || header->type_count == 0) {
        return false;
    }
    int64_t *type_offsets = ARENA_NEW_ARRAY(arena, int64_t, header->type_count);
    ZoneBytes records = {.rest = type_records};
    for (size_t i = 0; i < header->type_count; i++) {
        type_offsets[i] = take_number(&records, 4);
        take_bytes(&records, 2);
        if (type_offsets[i] < -OFFSET_MAX || type_offsets[i] > OFFSET_MAX) {
            return false;
        }
    }
    int64_t *changes = ARENA_NEW_ARRAY(arena, int64_t, header->change_count);
    int64_t *offsets = ARENA_NEW_ARRAY(arena, int64_t, header->change_count);
    ZoneBytes numbers = {.rest = instants};
    for (size_t i = 0; i < header->change_count; i++) {
        uint8_t type = (uint8_t)types.ptr[i];
        changes[i] = take_number(&numbers, 8);
        if (type >= header->type_count || (i > 0 && changes[i] <= changes[i - 1])) {
            return false;
        }
        offsets[i] = type_offsets[type];
    }
    zone->first_offset = type_offsets[0];
    zone->change_count = header->change_count;
    zone->changes = changes;
    zone->offsets = offsets;
    return true;
}

static bool take_rule(ZoneBytes *bytes, Zone *zone) {
    size_t end = bytes->rest.size > 0 && bytes->rest.ptr[0] == '\n' ? str_find_char(str_skip(bytes->rest, 1), '\n')
                                                                    : STR_NOT_FOUND;
    if (end == STR_NOT_FOUND) {
        return false;
    }
    Str text = str_slice(bytes->rest, 1, 1 + end);
    zone->has_rule = text.size > 0;
    return text.size == 0 || zone_rule_parse(text, &zone->rule);
}

/* NULL when the content is sound, else what is wrong with it. */
static const char *read_zone(Str content, Arena *arena, Zone *zone) {
    ZoneBytes bytes = {.rest = content};
    ZoneHeader header;
    if (!take_header(&bytes, &header)) {
        return "is no file of a time zone";
    }
    if (header.version < '2') {
        return "is of an old form, without times after 2038";
    }
    skip_old_table(&bytes, &header);
    if (!take_header(&bytes, &header) || !take_changes(&bytes, &header, arena, zone)) {
        return "is damaged";
    }
    if (header.leap_count > 0) {
        return "counts leap seconds, which the engines do not";
    }
    take_bytes(&bytes, header.name_size + header.standard_count + header.utc_count);
    return take_rule(&bytes, zone) ? NULL : "is damaged";
}

static Status unknown_zone(Str name, Error *err) {
    error_set(err, ERROR_CONFIGURATION, "there is no time zone '" STR_FMT "'", STR_ARG(name));
    error_code(err, STR("timezone.unknown"));
    Str directory = time_zone_directory();
    if (file_is_directory(directory)) {
        error_hint(err, "write an IANA name, such as Europe/Berlin or UTC");
    } else {
        error_hint(err, "there is no folder " STR_FMT ": install the package tzdata, or let TZDIR name the folder",
                   STR_ARG(directory));
    }
    return FAILED;
}

Status zone_load(Str name, Arena *arena, const Zone **zone_out, Error *err) {
    Zone *zone = ARENA_NEW(arena, Zone);
    if (str_equal(name, STR("UTC"))) {
        *zone_out = zone;
        return OK;
    }
    Str path = path_join(arena, time_zone_directory(), name);
    if (!time_zone_has_shape(name) || !file_exists(path) || file_is_directory(path)) {
        return unknown_zone(name, err);
    }
    AUTO(arena) Arena *scratch = arena_create();
    Str content;
    if (failed(file_read(path, ZONE_FILE_SIZE_MAX, scratch, &content, err))) {
        return error_wrap(err, "reading time zone '" STR_FMT "'", STR_ARG(name));
    }
    const char *problem = read_zone(content, arena, zone);
    if (problem != NULL) {
        error_set(err, ERROR_CONFIGURATION, "time zone '" STR_FMT "': '" STR_FMT "' %s", STR_ARG(name), STR_ARG(path),
                  problem);
        error_code(err, STR("timezone.unknown"));
        error_hint(err, "write an IANA name, such as Europe/Berlin or UTC");
        return FAILED;
    }
    *zone_out = zone;
    return OK;
}

/* ---- Conversion. */

/* Changes at or before the instant. */
static size_t count_changes(const Zone *zone, int64_t instant) {
    size_t low = 0;
    size_t high = zone->change_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (zone->changes[middle] <= instant) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static ZoneSegment segment_at(const Zone *zone, int64_t instant) {
    size_t passed = count_changes(zone, instant);
    int64_t start = passed == 0 ? ZONE_NO_START : zone->changes[passed - 1];
    if (passed == zone->change_count && zone->has_rule) {
        ZoneSegment segment = zone_rule_segment(&zone->rule, instant);
        segment.start = segment.start < start ? start : segment.start;
        return segment;
    }
    return (ZoneSegment){
        .start = start,
        .end = passed == zone->change_count ? ZONE_NO_END : zone->changes[passed],
        .offset = passed == 0 ? zone->first_offset : zone->offsets[passed - 1],
    };
}

static int64_t floor_seconds(int64_t time_us) {
    return time_us / US_PER_SECOND - (time_us % US_PER_SECOND < 0);
}

/* Files mark the beginning of time by instants that microseconds cannot hold. */
static TimeUs instant_us(int64_t seconds) {
    TimeUs time_us;
    if (__builtin_mul_overflow(seconds, US_PER_SECOND, &time_us)) {
        return seconds < 0 ? INT64_MIN : INT64_MAX;
    }
    return time_us;
}

int64_t zone_offset(const Zone *zone, TimeUs instant) {
    return segment_at(zone, floor_seconds(instant)).offset;
}

WallUs zone_wall(const Zone *zone, TimeUs instant) {
    return instant + zone_offset(zone, instant) * US_PER_SECOND;
}

/* The first instant at which the clock on the wall shows `wall` or more. That is the first of two occurrences, and the
 * end of a gap for what the gap skips. */
TimeUs zone_instant(const Zone *zone, WallUs wall) {
    TimeUs from = wall - 2 * US_PER_DAY; /* no offset reaches so far */
    for (;;) {
        ZoneSegment segment = segment_at(zone, floor_seconds(from));
        TimeUs start = instant_us(segment.start);
        TimeUs instant = wall - segment.offset * US_PER_SECOND;
        instant = instant < start ? start : instant;
        if (segment.end == ZONE_NO_END || instant < instant_us(segment.end)) {
            return instant;
        }
        from = instant_us(segment.end);
    }
}

WallUs zone_wall_reached(const Zone *zone, TimeUs instant) {
    WallUs wall = zone_wall(zone, instant);
    if (zone_instant(zone, wall) == instant) {
        return wall;
    }
    TimeUs change = instant_us(segment_at(zone, floor_seconds(instant)).start); /* that set the clock back */
    return zone_wall(zone, change - 1);
}

/* ---- The zone of this process. */

static Str local_link(Arena *arena) {
    char target[512];
    ssize_t size = readlink("/etc/localtime", target, sizeof target);
    Str path = {.ptr = target, .size = size < 0 ? 0 : (size_t)size};
    size_t at = str_find(path, STR("zoneinfo/"));
    return at == STR_NOT_FOUND ? STR_EMPTY : str_copy(arena, str_skip(path, at + STR("zoneinfo/").size));
}

static Str local_file(Arena *arena) {
    AUTO(error) Error ignored; /* then nothing is told there */
    error_init(&ignored);
    Str content;
    Str path = STR("/etc/timezone");
    bool is_read = file_exists(path) && !failed(file_read(path, 4096, arena, &content, &ignored));
    return is_read ? str_trim(content) : STR_EMPTY;
}

/* As libc reads it: a name, one behind a colon, or the path of a zone file. */
static Str local_variable(Arena *arena, const char *variable) {
    Str name = str_copy(arena, str_from(variable));
    if (str_starts_with(name, STR(":"))) {
        name = str_skip(name, 1);
    }
    Str prefix = str_format(arena, STR_FMT "/", STR_ARG(time_zone_directory()));
    return str_starts_with(name, prefix) ? str_skip(name, prefix.size) : name;
}

static bool can_be_loaded(Str name) {
    AUTO(arena) Arena *scratch = arena_create();
    AUTO(error) Error ignored; /* the question is only whether there is one */
    error_init(&ignored);
    const Zone *zone;
    return !failed(zone_load(name, scratch, &zone, &ignored));
}

Str zone_local_name(Arena *arena) {
    const char *variable = getenv("TZ");
    if (variable != NULL) {
        Str name = local_variable(arena, variable);
        return can_be_loaded(name) ? name : STR("UTC");
    }
    Str name = local_link(arena);
    if (!can_be_loaded(name)) {
        name = local_file(arena);
    }
    return can_be_loaded(name) ? name : STR("UTC");
}
