/* For the tests of windows: times, sets and models written as texts. */
#ifndef INTERLACE_PLAN_WINDOW_FIXTURE_H
#define INTERLACE_PLAN_WINDOW_FIXTURE_H

#include "base/testing.h"
#include "plan/window_plan.h"

extern Arena *arena; /* of the test program */
extern const Zone *utc;

int window_setup(void **state);
int window_teardown(void **state);

WallUs at(const char *text); /* an ISO date or timestamp in UTC */
/* "2026-06-01/2026-07-01 2026-07-04/2026-07-05", and back */
IntervalSet windows_of(const char *text);
Str windows_text(const IntervalSet *set);
/* `sales`, incremental by `day`; NULL: the default */
Model incremental_model(const char *interval, const char *backfill, int64_t lookback);

#endif
