/* Grain: the length of a model's smallest window, and the lattice of wall-clock times that its windows lie on
 * (spec 02 §9). Pure; any thread.
 *
 * The lattice is counted from 0001-01-01 00:00, a Monday: days begin at midnight, weeks on Mondays, months on their
 * first day. All days have 24 hours here. */
#ifndef INTERLACE_WINDOW_GRAIN_H
#define INTERLACE_WINDOW_GRAIN_H

#include "base/civil.h"

/* Naive wall-clock time of the project's zone: microseconds since 1970-01-01 00:00 as the clock on the wall shows it.
 * Never an instant: zone.h converts. Years 1 to 9999. */
typedef int64_t WallUs;
#define WALL_MIN INT64_C(-62135596800000000) /* 0001-01-01 00:00 */
#define WALL_MAX INT64_C(253402300800000000) /* 10000-01-01 00:00 */

typedef struct Grain {
    int64_t size_us; /* 0 for months */
    int64_t months;  /* 0 for fixed sizes */
} Grain;

/* `6h`, ` 15 m `, `2w`, `3mo`. DefinitionError (code grain.syntax) with the accepted form otherwise; also for a size
 * whose multiples do not fit, and months that neither divide a year nor are years. */
MUST_CHECK Status grain_parse(Str text, Grain *grain_out, Error *err);
/* Whole days, weeks or months: what a DATE column can be cut by. */
bool grain_is_whole_days(Grain grain);

/* Greatest boundary <= t, least boundary >= t; clamped to [WALL_MIN, WALL_MAX]. */
WallUs grain_floor(Grain grain, WallUs t);
WallUs grain_ceil(Grain grain, WallUs t);
/* The boundary `count` grains after the boundary `t` (before it when negative); clamped like floor and ceil. */
WallUs grain_step(Grain grain, WallUs t, int64_t count);
/* Grains between two boundaries, start <= end. */
int64_t grain_count(Grain grain, WallUs start, WallUs end);

#endif
