/* The scans of an incremental model's query that each window cuts: what is proven or declared (project/time_scan.h) and
 * fits the tables as the engine has them. */
#ifndef INTERLACE_RUN_WINDOW_SCAN_H
#define INTERLACE_RUN_WINDOW_SCAN_H

#include "engine/engine.h"
#include "project/time_scan.h"
#include "run/relations.h"
#include "window/zone.h"

typedef struct WindowScan {
    TimeScan scan;
    TimeColumnKind kind; /* of the scan's column */
    bool is_widened;     /* by a day on both sides: where truncation does not follow the lattice to the microsecond */
} WindowScan;
DEFINE_VEC(WindowScanVec, window_scan_vec, WindowScan)

/* Asks the engine for the columns of the tables. A proven scan whose column is absent or of another type is left out;
 * for a declared one that is an ExecutionError (code reads.column). `output` is the kind of the time column. */
MUST_CHECK Status window_scans_find(EngineConnection *connection, const RelationMap *relations, const Model *model,
                                    TimeColumnKind output, Arena *arena, WindowScanVec *scans_out, Error *err);

/* The scan's table as SQL; empty: an input, a file, or a model without a relation here. */
Str window_scan_source(const RelationMap *relations, const WindowScan *scan, Arena *arena);
/* The same where one column of it is counted in next to no time: one of DuckDB or of a lake; not a
 * view or another server's, which may do all of their work for it. Empty: not so. */
MUST_CHECK Status window_scan_countable(EngineConnection *connection, const RelationMap *relations,
                                        const WindowScan *scan, Arena *arena, Str *table_out, Error *err);

/* The range of the scan's column that holds all rows of the window: edges move out to the lattice of the truncations,
 * and by before and after of a declared scan. Exact when they lie on it. */
Window window_scan_range(const WindowScan *scan, Window window);

/* "ts" >= … AND "ts" < … */
Str window_condition(Str column, Window window, TimeColumnKind kind, const Zone *zone, Arena *arena);
/* The same of the scan's column and range. */
Str window_scan_condition(const WindowScan *scan, Window window, const Zone *zone, Arena *arena);

/* The same of everything from `start` on; of the rows without a time. */
Str window_scan_condition_from(const WindowScan *scan, WallUs start, const Zone *zone, Arena *arena);
Str window_scan_condition_untimed(const WindowScan *scan, Arena *arena);

/* What a window of a Python model reads of an upstream: `rows`, the query of it, becomes what `reads:` leaves of it; it
 * stays when nothing is declared. ExecutionError (code reads.column) as above. */
MUST_CHECK Status window_scan_cut_rows(EngineConnection *connection, const Model *model, const Model *upstream,
                                       Window window, const Zone *zone, Arena *arena, SqlText *rows, Error *err);

#endif
