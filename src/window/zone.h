/* Zone: the project's time zone (IANA name), read from the system's zone files ($TZDIR, /usr/share/zoneinfo). Converts
 * wall time to instants and back (spec 02 §9.3): a wall time that occurs twice is its first occurrence, one that is
 * skipped is the instant after the gap. Const after loading; any thread. */
#ifndef INTERLACE_WINDOW_ZONE_H
#define INTERLACE_WINDOW_ZONE_H

#include "base/clock.h"
#include "window/interval_set.h"

typedef struct Zone Zone;

/* Lives in the arena. "UTC" needs no file. ConfigurationError (code timezone.unknown): no such name, or its file cannot
 * be used. */
MUST_CHECK Status zone_load(Str name, Arena *arena, const Zone **zone_out, Error *err);
/* The name of the process's local zone (TZ, else where /etc/localtime leads, else /etc/timezone); "UTC" when it cannot
 * be told. Names a zone that can be loaded. */
Str zone_local_name(Arena *arena);

/* Seconds east of UTC. */
int64_t zone_offset(const Zone *zone, TimeUs instant);
TimeUs zone_instant(const Zone *zone, WallUs wall);
WallUs zone_wall(const Zone *zone, TimeUs instant);
/* The latest wall time that the clock has shown by then: zone_wall, but in the second pass through a repeated hour the
 * end of the first one. The window that holds it is the window whose edges, as instants, hold `instant`. */
WallUs zone_wall_reached(const Zone *zone, TimeUs instant);

/* An ISO date (midnight) or timestamp; one with an offset or Z is converted to the zone first. UsageError: no such
 * text, no such day, outside of the years 1 to 9999. */
MUST_CHECK Status wall_parse(Str text, const Zone *zone, WallUs *wall_out, Error *err);
/* "2026-07-01" at midnight (unless `always_time`), else "2026-07-01T08:30:00[.123456]". */
Str wall_format(Arena *arena, WallUs wall, bool always_time);
/* "2026-07-01" for one grain, "2026-07-01 … 2026-07-04" for several. */
Str window_format(Arena *arena, Grain grain, Window window);

/* How a time column's values compare with wall times (spec 02 §9.4). */
typedef enum TimeColumnKind { TIME_COLUMN_DATE, TIME_COLUMN_NAIVE, TIME_COLUMN_ZONED } TimeColumnKind;
/* From the engine's type name: DATE, TIMESTAMP, TIMESTAMP_S/_MS/_NS, TIMESTAMP WITH TIME ZONE. False for others. */
bool time_column_kind(Str type, TimeColumnKind *kind_out);
/* The edge, a midnight for DATE, as a typed SQL literal that compares with such a column: DATE '2026-07-01',
 * TIMESTAMP '2026-07-01 08:30:00', TIMESTAMPTZ '2026-07-01 06:30:00+00'. */
void wall_literal(StrBuf *sql, WallUs wall, TimeColumnKind kind, const Zone *zone);
/* The start of the `step` grains that a value of such a column lies in, counted from `origin`, a boundary: as SQL. */
void wall_bucket(StrBuf *sql, Str column, Grain grain, int64_t step, WallUs origin, const Zone *zone);
/* What rows are grouped by on the way to their buckets: their day where a grain has whole ones, which is a fifth of the
 * work, else the start of their grain. wall_bucket of the few values that come out gives the buckets. */
void wall_group(StrBuf *sql, Str column, Grain grain, WallUs origin, const Zone *zone);
/* Wall time of a value that min() or max() of such a column gave as VARCHAR, in whatever zone the session is; of a
 * zoned one as zone_wall_reached says, so that the window of that time holds the row. ExecutionError (code time.value):
 * infinite, outside of the years 1 to 9999, no time at all. */
MUST_CHECK Status wall_from_sql(Str text, TimeColumnKind kind, const Zone *zone, WallUs *wall_out, Error *err);

#endif
