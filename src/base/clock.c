#include "base/clock.h"

#include "base/civil.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static pthread_once_t fixed_now_once = PTHREAD_ONCE_INIT;
static bool fixed_now_set;  /* written once by read_fixed_now */
static TimeUs fixed_now_us; /* likewise */

/* A wrong INTERLACE_NOW ends the process: a replay that silently ran at the real time would be worse. */
static void read_fixed_now(void) {
    const char *text = getenv("INTERLACE_NOW");
    if (text == NULL || *text == '\0') {
        return;
    }
    AUTO(error) Error err;
    error_init(&err);
    if (failed(time_parse_iso(str_from(text), &fixed_now_us, &err))) {
        fprintf(stderr, "error: INTERLACE_NOW: " STR_FMT "\n", STR_ARG(err.message));
        exit(error_exit_code(ERROR_USAGE));
    }
    fixed_now_set = true;
}

static int64_t clock_read_us(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * US_PER_SECOND + now.tv_nsec / 1000;
}

TimeUs clock_now_us(void) {
    pthread_once(&fixed_now_once, read_fixed_now);
    return fixed_now_set ? fixed_now_us : clock_read_us(CLOCK_REALTIME);
}

int64_t clock_monotonic_us(void) {
    return clock_read_us(CLOCK_MONOTONIC);
}

Str time_format_iso(Arena *arena, TimeUs time_us) {
    int64_t days = time_us / US_PER_DAY - (time_us % US_PER_DAY < 0);
    int64_t time_of_day_us = time_us - days * US_PER_DAY;
    int64_t seconds = time_of_day_us / US_PER_SECOND;
    CivilDate date = civil_from_days(days);

    AUTO(strbuf) StrBuf buf = {0};
    strbuf_format(&buf, "%04lld-%02d-%02dT%02d:%02d:%02d", (long long)date.year, date.month, date.day,
                  (int)(seconds / 3600), (int)(seconds / 60 % 60), (int)(seconds % 60));
    if (time_of_day_us % US_PER_SECOND != 0) {
        strbuf_format(&buf, ".%06d", (int)(time_of_day_us % US_PER_SECOND));
    }
    strbuf_char(&buf, 'Z');
    return strbuf_copy(&buf, arena);
}

Status time_parse_iso(Str text, TimeUs *time_out, Error *err) {
    CivilTime time;
    TRY(civil_time_parse(text, &time, err));
    *time_out = civil_to_days(time.date) * US_PER_DAY + time.time_of_day_us - time.offset_seconds * US_PER_SECOND;
    return OK;
}

static int64_t unit_seconds(char unit) {
    static const struct {
        char unit;
        int64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 7 * 86400}};
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (units[i].unit == unit) {
            return units[i].seconds;
        }
    }
    return 0;
}

Status duration_parse(Str text, int64_t *duration_us_out, Error *err) {
    int64_t seconds = text.size < 2 ? 0 : unit_seconds(text.ptr[text.size - 1]);
    int64_t count;
    if (seconds == 0 || !str_to_int64(str_slice(text, 0, text.size - 1), &count) || count < 0) {
        return error_set(err, ERROR_USAGE,
                         "'" STR_FMT "' is not a duration: a whole number and one of s, m, h, d, w (30m, 24h, 7d)",
                         STR_ARG(text));
    }
    int64_t duration_us;
    if (__builtin_mul_overflow(count, seconds * US_PER_SECOND, &duration_us)) {
        return error_set(err, ERROR_USAGE, "duration '" STR_FMT "' is too long", STR_ARG(text));
    }
    *duration_us_out = duration_us;
    return OK;
}
