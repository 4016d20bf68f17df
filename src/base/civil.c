#include "base/civil.h"

/* Years are counted from March, so that the leap day is the last of its year; an era is 400 such years. */
#define DAYS_PER_ERA INT64_C(146097)
#define DAYS_TO_1970 INT64_C(719468) /* from 0000-03-01 */

static int64_t floor_div(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

CivilDate civil_from_days(int64_t days) {
    int64_t shifted = days + DAYS_TO_1970;
    int64_t era = floor_div(shifted, DAYS_PER_ERA);
    int64_t day_of_era = shifted - era * DAYS_PER_ERA;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month_from_march = (5 * day_of_year + 2) / 153;
    int month = (int)(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
    return (CivilDate){
        .year = year_of_era + era * 400 + (month <= 2),
        .month = month,
        .day = (int)(day_of_year - (153 * month_from_march + 2) / 5 + 1),
    };
}

int64_t civil_to_days(CivilDate date) {
    int64_t year = date.year - (date.month <= 2);
    int64_t era = floor_div(year, 400);
    int64_t year_of_era = year - era * 400;
    int64_t month_from_march = date.month > 2 ? date.month - 3 : date.month + 9;
    int64_t day_of_year = (153 * month_from_march + 2) / 5 + date.day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * DAYS_PER_ERA + day_of_era - DAYS_TO_1970;
}

int civil_month_days(int64_t year, int month) {
    static const int month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    assert(month >= 1);
    assert(month <= 12);
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month_days[month - 1] + (month == 2 && leap);
}

/* Reads the text from its start; each step gives false when the text is not of its shape. */
typedef struct Cursor {
    Str rest;
} Cursor;

static bool take_char(Cursor *cursor, char c) {
    if (cursor->rest.size == 0 || cursor->rest.ptr[0] != c) {
        return false;
    }
    cursor->rest = str_skip(cursor->rest, 1);
    return true;
}

static bool take_digits(Cursor *cursor, size_t count, int *number_out) {
    if (cursor->rest.size < count) {
        return false;
    }
    int number = 0;
    for (size_t i = 0; i < count; i++) {
        char c = cursor->rest.ptr[i];
        if (c < '0' || c > '9') {
            return false;
        }
        number = number * 10 + (c - '0');
    }
    cursor->rest = str_skip(cursor->rest, count);
    *number_out = number;
    return true;
}

static bool take_date(Cursor *cursor, CivilDate *date_out) {
    int year;
    if (!take_digits(cursor, 4, &year) || !take_char(cursor, '-') || !take_digits(cursor, 2, &date_out->month) ||
        !take_char(cursor, '-') || !take_digits(cursor, 2, &date_out->day)) {
        return false;
    }
    date_out->year = year;
    return true;
}

static bool take_fraction_us(Cursor *cursor, int64_t *fraction_us_out) {
    int digit;
    int64_t unit_us = US_PER_SECOND / 10;
    int64_t fraction_us = 0;
    size_t digit_count = 0;
    while (take_digits(cursor, 1, &digit)) {
        fraction_us += digit * unit_us;
        unit_us /= 10;
        digit_count++;
    }
    *fraction_us_out = fraction_us;
    return digit_count > 0;
}

/* Hours, minutes and seconds are left to check_time_of_day, which can say what is wrong with them. */
typedef struct ClockTime {
    int hour, minute, second;
    int64_t fraction_us;
} ClockTime;

static bool take_time_of_day(Cursor *cursor, ClockTime *time) {
    if (!take_digits(cursor, 2, &time->hour) || !take_char(cursor, ':') || !take_digits(cursor, 2, &time->minute)) {
        return false;
    }
    if (!take_char(cursor, ':')) {
        return true;
    }
    if (!take_digits(cursor, 2, &time->second)) {
        return false;
    }
    return !take_char(cursor, '.') || take_fraction_us(cursor, &time->fraction_us);
}

static bool take_offset(Cursor *cursor, CivilTime *time) {
    if (take_char(cursor, 'Z') || take_char(cursor, 'z')) {
        time->has_offset = true;
        return true;
    }
    bool west = cursor->rest.size > 0 && cursor->rest.ptr[0] == '-';
    if (!take_char(cursor, '+') && !take_char(cursor, '-')) {
        return true;
    }
    int hours, minutes = 0;
    if (!take_digits(cursor, 2, &hours)) {
        return false;
    }
    bool colon = take_char(cursor, ':');
    if (!take_digits(cursor, 2, &minutes) && colon) {
        return false;
    }
    time->has_offset = true;
    time->offset_seconds = (west ? -1 : 1) * (hours * 3600 + minutes * 60);
    return hours < 24 && minutes < 60;
}

static bool take_all(Str text, CivilTime *time, ClockTime *clock_time) {
    Cursor cursor = {.rest = text};
    if (!take_date(&cursor, &time->date)) {
        return false;
    }
    time->has_time = take_char(&cursor, 'T') || take_char(&cursor, 't') || take_char(&cursor, ' ');
    if (time->has_time && (!take_time_of_day(&cursor, clock_time) || !take_offset(&cursor, time))) {
        return false;
    }
    return cursor.rest.size == 0;
}

static Status check_date(Str text, CivilDate date, Error *err) {
    if (date.month < 1 || date.month > 12) {
        return error_set(err, ERROR_USAGE, "'" STR_FMT "' is not a date: there is no month %d", STR_ARG(text),
                         date.month);
    }
    int day_count = civil_month_days(date.year, date.month);
    if (date.day < 1 || date.day > day_count) {
        return error_set(err, ERROR_USAGE, "'" STR_FMT "' is not a date: that month has %d days", STR_ARG(text),
                         day_count);
    }
    return OK;
}

static Status check_time_of_day(Str text, ClockTime time, Error *err) {
    if (time.hour > 23 || time.minute > 59 || time.second > 59) {
        return error_set(err, ERROR_USAGE, "'" STR_FMT "' is not a timestamp: a day goes from 00:00:00 to 23:59:59",
                         STR_ARG(text));
    }
    return OK;
}

Status civil_time_parse(Str text, CivilTime *time_out, Error *err) {
    CivilTime time = {0};
    ClockTime clock_time = {0};
    if (!take_all(text, &time, &clock_time)) {
        return error_set(err, ERROR_USAGE,
                         "'" STR_FMT "' is not an ISO 8601 date or timestamp (2026-07-01, 2026-07-01T08:30:00Z)",
                         STR_ARG(text));
    }
    TRY(check_date(text, time.date, err));
    TRY(check_time_of_day(text, clock_time, err));
    int64_t seconds = clock_time.hour * INT64_C(3600) + clock_time.minute * INT64_C(60) + clock_time.second;
    time.time_of_day_us = seconds * US_PER_SECOND + clock_time.fraction_us;
    *time_out = time;
    return OK;
}
