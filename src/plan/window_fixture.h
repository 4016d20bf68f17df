/* For the tests of windows: sets and models written as texts. */
#ifndef INTERLACE_PLAN_WINDOW_FIXTURE_H
#define INTERLACE_PLAN_WINDOW_FIXTURE_H

#include "plan/window_plan.h"
#include "window/wall_fixture.h"

/* "2026-06-01/2026-07-01 2026-07-04/2026-07-05", and back */
IntervalSet windows_of(const char *text);
Str windows_text(const IntervalSet *set);
/* `sales`, incremental by `day`; NULL: the default */
Model incremental_model(const char *interval, const char *backfill, int64_t lookback);

#endif
