/* For tests of wall time: an arena, zones, times written as texts, and chance that is the same in every run. */
#ifndef INTERLACE_WINDOW_WALL_FIXTURE_H
#define INTERLACE_WINDOW_WALL_FIXTURE_H

#include "base/testing.h"
#include "window/zone.h"

extern Arena *arena; /* of the test program */
extern const Zone *utc;

int wall_setup(void **state); /* of the group; the system's zone files, whatever TZDIR says */
int wall_teardown(void **state);

const Zone *zone_of(const char *name);
WallUs at(const char *text); /* an ISO date or timestamp in UTC */
WallUs at_in(const Zone *zone, const char *text);

int64_t random_below(int64_t limit); /* at least 0 */

#endif
