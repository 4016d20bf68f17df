/* What reads of the clock become in a windowed run with `clock: window` (spec 04 §3): the instant one microsecond
 * before the window's end in the project's zone, in the type of each read. Pure. */
#ifndef INTERLACE_RUN_WINDOW_CLOCK_H
#define INTERLACE_RUN_WINDOW_CLOCK_H

#include "sql/sql_facts.h"
#include "window/zone.h"

/* SQL_CLOCK_KIND_COUNT literals in the arena. */
const Str *window_clock_literals(WallUs end, const Zone *zone, Arena *arena);

#endif
