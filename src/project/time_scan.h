/* Which scans of an incremental model's query may be cut to a window: the one that its time column provably comes from
 * (sql/sql_time_source.h), looked for through ephemeral models, and those that `reads:` declares. Pure: what the engine
 * knows of the tables is for the caller to look up (spec 02 §5, 04 §9). */
#ifndef INTERLACE_PROJECT_TIME_SCAN_H
#define INTERLACE_PROJECT_TIME_SCAN_H

#include "project/project.h"

typedef struct TimeScan {
    const Model *owner;          /* whose query the table stands in: the model, or an ephemeral one inlined into it */
    size_t table;                /* index in owner->facts->tables */
    Str column;                  /* of the table */
    StrVec units;                /* truncations between it and the time column, the last one first (sql/sql_facts.h) */
    StrVec absent;               /* columns that the table must not have: else nothing is proven */
    const ConfigValue *declared; /* the entry of `reads:`; NULL: proven */
} TimeScan;
DEFINE_VEC(TimeScanVec, time_scan_vec, TimeScan)

typedef struct TimeScans {
    TimeScanVec scans;
    SqlTimeObstacle obstacle; /* why no scan is proven; SQL_TIME_PROVEN: one is */
} TimeScans;

/* Of a SQL model with a time column. */
TimeScans time_scans_find(const Project *project, const Model *model, Arena *arena);

/* The entry of the model's `reads:` for an upstream that names a time column; NULL: none. */
const ConfigValue *time_scan_declared(const Model *model, const Model *upstream);

/* What is read of the sources for one window, a line each, for people; nothing for models without windows. */
StrVec time_scans_explain(const Project *project, const Model *model, Arena *arena);

#endif
