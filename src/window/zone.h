/* Zone: the project's time zone (IANA name), read from the system's zone files. Converts wall time to instants and
 * back (spec 02 §9.3): a wall time that occurs twice is its first occurrence, one that is skipped is the instant after
 * the gap. Const after loading; any thread. */
#ifndef INTERLACE_WINDOW_ZONE_H
#define INTERLACE_WINDOW_ZONE_H

#include "base/clock.h"
#include "window/interval_set.h"

typedef struct Zone Zone;

/* Lives in the arena. "UTC" needs no file. ConfigurationError: unknown name. */
MUST_CHECK Status zone_load(Str name, Arena *arena, const Zone **zone_out, Error *err);
Str zone_name(const Zone *zone);
/* The name of the process's local zone (TZ, /etc/timezone, /etc/localtime); "UTC" when it cannot be told. */
Str zone_local_name(Arena *arena);

TimeUs zone_instant(const Zone *zone, WallUs wall);
WallUs zone_wall(const Zone *zone, TimeUs instant);

/* An ISO date (midnight) or timestamp; one with an offset or Z is converted to the zone first. UsageError. */
MUST_CHECK Status wall_parse(Str text, const Zone *zone, WallUs *wall_out, Error *err);
/* "2026-07-01" at midnight (unless `always_time`), else "2026-07-01T08:30:00[.123456]". */
Str wall_format(Arena *arena, WallUs wall, bool always_time);

/* How a time column's values compare with wall times (spec 02 §9.4). */
typedef enum TimeColumnKind { TIME_COLUMN_DATE, TIME_COLUMN_NAIVE, TIME_COLUMN_ZONED } TimeColumnKind;
/* From the engine's type name: DATE, TIMESTAMP, TIMESTAMP_S/_MS/_NS, TIMESTAMP WITH TIME ZONE. False for others. */
bool time_column_kind(Str type, TimeColumnKind *kind_out);
/* The edge as a typed SQL literal that compares with such a column: DATE '2026-07-01',
 * TIMESTAMP '2026-07-01 08:30:00', TIMESTAMPTZ '2026-07-01 06:30:00+00'. */
void wall_literal(StrBuf *sql, WallUs wall, TimeColumnKind kind, const Zone *zone);
/* Naive wall time of a value that min() or max() gave as text; the inverse of wall_literal's text. */
MUST_CHECK Status wall_from_sql(Str text, TimeColumnKind kind, const Zone *zone, WallUs *wall_out, Error *err);

#endif
