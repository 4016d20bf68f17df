/* Calendar arithmetic without a time zone (proleptic Gregorian), and ISO 8601 text as its parts. Pure; any thread. */
#ifndef INTERLACE_BASE_CIVIL_H
#define INTERLACE_BASE_CIVIL_H

#include "base/error.h"

typedef struct CivilDate {
    int64_t year;
    int month, day; /* from 1 */
} CivilDate;

#define US_PER_SECOND INT64_C(1000000)
#define US_PER_DAY (INT64_C(86400) * US_PER_SECOND)

CivilDate civil_from_days(int64_t days); /* days since 1970-01-01 */
int64_t civil_to_days(CivilDate date);
int civil_month_days(int64_t year, int month);

/* A date or timestamp as it was written. Without a time, `time_of_day_us` is 0; without an offset it is wall time of a
 * zone that the caller knows. */
typedef struct CivilTime {
    CivilDate date;
    int64_t time_of_day_us; /* [0, US_PER_DAY) */
    bool has_time, has_offset;
    int offset_seconds; /* east of UTC; 0 without an offset */
} CivilTime;

/* `YYYY-MM-DD`, or that with `T` or a blank and `HH:MM[:SS[.digits]]` and perhaps `Z`, `±HH`, `±HH:MM` or `±HHMM`.
 * Digits beyond microseconds are cut. Dates and times that do not exist (2026-02-30, 24:00) are a UsageError. */
MUST_CHECK Status civil_time_parse(Str text, CivilTime *time_out, Error *err);

#endif
