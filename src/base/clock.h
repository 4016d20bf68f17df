/* Time. Instants are TimeUs: microseconds since 1970 UTC. Wall clock for records, monotonic clock for durations.
 * INTERLACE_NOW=<ISO timestamp> fixes the wall clock (tests, replays); it is read once. */
#ifndef INTERLACE_BASE_CLOCK_H
#define INTERLACE_BASE_CLOCK_H

#include "base/error.h"

typedef int64_t TimeUs;

TimeUs clock_now_us(void);
int64_t clock_monotonic_us(void);

/* "2026-07-01T08:30:00Z", with ".123456" when there is a fraction. */
Str time_format_iso(Arena *arena, TimeUs time_us);
/* ISO 8601 date or timestamp; a time without offset is UTC. */
MUST_CHECK Status time_parse_iso(Str text, TimeUs *time_out, Error *err);
/* "30m", "24h", "7d", "2w", "90s": a whole number, which may be 0, and one unit of s m h d w. */
MUST_CHECK Status duration_parse(Str text, int64_t *duration_us_out, Error *err);

#endif
