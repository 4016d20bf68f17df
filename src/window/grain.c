#include "window/grain.h"

#define MONTHS_PER_YEAR 12
#define CALENDAR_US (WALL_MAX - WALL_MIN)
#define CALENDAR_MONTHS (9999 * MONTHS_PER_YEAR)

typedef struct GrainUnit {
    Str name;
    int64_t size_us; /* 0: months */
} GrainUnit;

/* clang-format off */
static const GrainUnit grain_units[] = {
    {STR_INIT("s"),  US_PER_SECOND},
    {STR_INIT("m"),  US_PER_SECOND * 60},
    {STR_INIT("h"),  US_PER_SECOND * 3600},
    {STR_INIT("d"),  US_PER_DAY},
    {STR_INIT("w"),  US_PER_DAY * 7},
    {STR_INIT("mo"), 0},
};
/* clang-format on */

static const GrainUnit *find_unit(Str name) {
    for (size_t i = 0; i < COUNT_OF(grain_units); i++) {
        if (str_equal(grain_units[i].name, name)) {
            return &grain_units[i];
        }
    }
    return NULL;
}

static Status refuse(Str text, const char *problem, Error *err) {
    error_set(err, ERROR_DEFINITION, "interval '" STR_FMT "' %s", STR_ARG(text), problem);
    error_code(err, STR("grain.syntax"));
    error_hint(err, "write a whole number and one of s, m, h, d, w, mo, as in `6h`");
    return FAILED;
}

static Status months_grain(Str text, int64_t count, Grain *grain_out, Error *err) {
    if (MONTHS_PER_YEAR % count != 0 && count % MONTHS_PER_YEAR != 0) {
        return refuse(text, "does not fit into years: months must divide 12 or be a multiple of it", err);
    }
    if (count > CALENDAR_MONTHS) {
        return refuse(text, "is longer than the calendar, which ends with the year 9999", err);
    }
    *grain_out = (Grain){.months = count};
    return OK;
}

static Status fixed_grain(Str text, int64_t count, int64_t unit_us, Grain *grain_out, Error *err) {
    int64_t size_us;
    if (__builtin_mul_overflow(count, unit_us, &size_us) || size_us > CALENDAR_US) {
        return refuse(text, "is longer than the calendar, which ends with the year 9999", err);
    }
    *grain_out = (Grain){.size_us = size_us};
    return OK;
}

Status grain_parse(Str text, Grain *grain_out, Error *err) {
    Str rest = str_trim(text);
    size_t digits = 0;
    while (digits < rest.size && rest.ptr[digits] >= '0' && rest.ptr[digits] <= '9') {
        digits++;
    }
    const GrainUnit *unit = find_unit(str_trim(str_skip(rest, digits)));
    int64_t count;
    if (!str_to_int64(str_slice(rest, 0, digits), &count) || count < 1 || unit == NULL) {
        return refuse(text, "is no grain", err);
    }
    return unit->size_us == 0 ? months_grain(text, count, grain_out, err)
                              : fixed_grain(text, count, unit->size_us, grain_out, err);
}

bool grain_is_whole_days(Grain grain) {
    return grain.months > 0 || grain.size_us % US_PER_DAY == 0;
}

/* ---- The lattice. Its boundaries are numbered from 0, which is WALL_MIN. */

static int64_t months_from_start(WallUs t) {
    CivilDate date = civil_from_days((t - WALL_MIN) / US_PER_DAY + WALL_MIN / US_PER_DAY);
    return (date.year - 1) * MONTHS_PER_YEAR + date.month - 1;
}

static WallUs month_start(int64_t months) {
    CivilDate date = {.year = months / MONTHS_PER_YEAR + 1, .month = (int)(months % MONTHS_PER_YEAR) + 1, .day = 1};
    return civil_to_days(date) * US_PER_DAY;
}

static WallUs boundary(Grain grain, int64_t number) {
    int64_t from_start;
    if (number <= 0) {
        return WALL_MIN;
    }
    if (grain.months > 0) {
        bool is_outside = __builtin_mul_overflow(number, grain.months, &from_start) || from_start >= CALENDAR_MONTHS;
        return is_outside ? WALL_MAX : month_start(from_start);
    }
    bool is_outside = __builtin_mul_overflow(number, grain.size_us, &from_start) || from_start >= CALENDAR_US;
    return is_outside ? WALL_MAX : WALL_MIN + from_start;
}

static WallUs clamp(WallUs t) {
    return t < WALL_MIN ? WALL_MIN : t > WALL_MAX ? WALL_MAX : t;
}

/* Number of the greatest boundary <= t. */
static int64_t floor_number(Grain grain, WallUs t) {
    assert(grain.months > 0 || grain.size_us > 0);
    WallUs inside = clamp(t);
    return grain.months > 0 ? months_from_start(inside) / grain.months : (inside - WALL_MIN) / grain.size_us;
}

/* Number of the least boundary >= t; for a WALL_MAX that is none, the number of the one that was clamped to it. */
static int64_t ceil_number(Grain grain, WallUs t) {
    int64_t number = floor_number(grain, t);
    return boundary(grain, number) < clamp(t) ? number + 1 : number;
}

WallUs grain_floor(Grain grain, WallUs t) {
    return boundary(grain, floor_number(grain, t));
}

WallUs grain_ceil(Grain grain, WallUs t) {
    return boundary(grain, ceil_number(grain, t));
}

WallUs grain_step(Grain grain, WallUs t, int64_t count) {
    int64_t number;
    if (__builtin_add_overflow(ceil_number(grain, t), count, &number)) {
        return WALL_MAX; /* numbers are not negative: only a sum can be too large */
    }
    return boundary(grain, number);
}

int64_t grain_count(Grain grain, WallUs start, WallUs end) {
    assert(start <= end);
    return ceil_number(grain, end) - floor_number(grain, start);
}
