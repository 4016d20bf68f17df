#include "window/zone_rule.h"

#define SECONDS_PER_DAY INT64_C(86400)

/* ---- Text. */

typedef struct RuleText {
    Str rest;
} RuleText;

static bool take_char(RuleText *text, char c) {
    if (text->rest.size == 0 || text->rest.ptr[0] != c) {
        return false;
    }
    text->rest = str_skip(text->rest, 1);
    return true;
}

static bool take_number(RuleText *text, int minimum, int maximum, int *number_out) {
    size_t digits = 0;
    while (digits < text->rest.size && digits < 4 && text->rest.ptr[digits] >= '0' && text->rest.ptr[digits] <= '9') {
        digits++;
    }
    int64_t number;
    if (!str_to_int64(str_slice(text->rest, 0, digits), &number) || number < minimum || number > maximum) {
        return false;
    }
    text->rest = str_skip(text->rest, digits);
    *number_out = (int)number;
    return true;
}

/* The abbreviation: letters, or anything between < and >. */
static bool take_name(RuleText *text) {
    size_t size = 0;
    if (take_char(text, '<')) {
        size = str_find_char(text->rest, '>');
        text->rest = str_skip(text->rest, size == STR_NOT_FOUND ? text->rest.size : size + 1);
        return size != STR_NOT_FOUND && size > 0;
    }
    while (size < text->rest.size && ((text->rest.ptr[size] | 0x20) >= 'a' && (text->rest.ptr[size] | 0x20) <= 'z')) {
        size++;
    }
    text->rest = str_skip(text->rest, size);
    return size > 0;
}

/* [+-]hours[:minutes[:seconds]] */
static bool take_time(RuleText *text, int hours_max, int64_t *seconds_out) {
    bool is_negative = take_char(text, '-');
    if (!is_negative) {
        (void)take_char(text, '+');
    }
    int hours, minutes = 0, seconds = 0;
    if (!take_number(text, 0, hours_max, &hours)) {
        return false;
    }
    if (take_char(text, ':')) {
        if (!take_number(text, 0, 59, &minutes) || (take_char(text, ':') && !take_number(text, 0, 59, &seconds))) {
            return false;
        }
    }
    int64_t total = hours * INT64_C(3600) + minutes * INT64_C(60) + seconds;
    *seconds_out = is_negative ? -total : total;
    return true;
}

static bool take_weekday(RuleText *text, RuleChange *change) {
    change->kind = RULE_WEEKDAY;
    return take_number(text, 1, 12, &change->month) && take_char(text, '.') && take_number(text, 1, 5, &change->week) &&
           take_char(text, '.') && take_number(text, 0, 6, &change->weekday);
}

static bool take_day(RuleText *text, RuleChange *change) {
    if (take_char(text, 'M')) {
        return take_weekday(text, change);
    }
    change->kind = take_char(text, 'J') ? RULE_DAY_NO_LEAP : RULE_DAY;
    return take_number(text, change->kind == RULE_DAY_NO_LEAP ? 1 : 0, 365, &change->day);
}

static bool take_change(RuleText *text, RuleChange *change) {
    change->time_of_day = INT64_C(2) * 3600;
    return take_char(text, ',') && take_day(text, change) &&
           (!take_char(text, '/') || take_time(text, 167, &change->time_of_day));
}

/* POSIX counts offsets westwards. */
static bool take_offset(RuleText *text, int64_t *offset_out) {
    int64_t west;
    if (!take_time(text, 24, &west)) {
        return false;
    }
    *offset_out = -west;
    return true;
}

bool zone_rule_parse(Str text, ZoneRule *rule_out) {
    RuleText rest = {.rest = text};
    ZoneRule rule = {0};
    if (!take_name(&rest) || !take_offset(&rest, &rule.standard_offset)) {
        return false;
    }
    rule.summer_offset = rule.standard_offset + 3600;
    rule.has_summer = rest.rest.size > 0;
    if (rule.has_summer) {
        bool has_offset = take_name(&rest) && rest.rest.size > 0 && rest.rest.ptr[0] != ',';
        if ((has_offset && !take_offset(&rest, &rule.summer_offset)) || !take_change(&rest, &rule.to_summer) ||
            !take_change(&rest, &rule.to_standard)) {
            return false;
        }
    }
    *rule_out = rule;
    return rest.rest.size == 0;
}

/* ---- Time. */

static int64_t weekday_in_month(int64_t year, const RuleChange *change) {
    int64_t first = civil_to_days((CivilDate){.year = year, .month = change->month, .day = 1});
    int64_t weekday_of_first = ((first + 4) % 7 + 7) % 7; /* 1970-01-01 was a Thursday */
    int64_t day = (change->weekday - weekday_of_first + 7) % 7 + (change->week - 1) * 7;
    if (day >= civil_month_days(year, change->month)) {
        day -= 7; /* week 5 is the last one */
    }
    return first + day;
}

static int64_t day_of_change(int64_t year, const RuleChange *change) {
    int64_t first = civil_to_days((CivilDate){.year = year, .month = 1, .day = 1});
    bool is_leap = civil_month_days(year, 2) == 29;
    switch (change->kind) {
    case RULE_WEEKDAY:
        return weekday_in_month(year, change);
    case RULE_DAY_NO_LEAP:
        return first + change->day - 1 + (is_leap && change->day >= 60);
    case RULE_DAY:
        return first + change->day;
    }
    return first;
}

static int64_t instant_of_change(int64_t year, const RuleChange *change, int64_t offset_before) {
    return day_of_change(year, change) * SECONDS_PER_DAY + change->time_of_day - offset_before;
}

/* Moves the segment's edges to a change that is nearer to `instant`. Of two changes at once the later call counts. */
static void narrow(ZoneSegment *segment, int64_t instant, int64_t change, int64_t offset_behind) {
    if (change <= instant && change >= segment->start) {
        segment->start = change;
        segment->offset = offset_behind;
    }
    if (change > instant && change < segment->end) {
        segment->end = change;
    }
}

ZoneSegment zone_rule_segment(const ZoneRule *rule, int64_t instant) {
    ZoneSegment segment = {ZONE_NO_START, ZONE_NO_END, rule->standard_offset};
    if (!rule->has_summer) {
        return segment;
    }
    int64_t days = instant / SECONDS_PER_DAY - (instant % SECONDS_PER_DAY < 0);
    int64_t year = civil_from_days(days).year;
    for (int64_t y = year - 1; y <= year + 1; y++) {
        int64_t to_standard = instant_of_change(y, &rule->to_standard, rule->summer_offset);
        int64_t to_summer = instant_of_change(y, &rule->to_summer, rule->standard_offset);
        narrow(&segment, instant, to_standard, rule->standard_offset);
        narrow(&segment, instant, to_summer, rule->summer_offset);
    }
    return segment;
}
