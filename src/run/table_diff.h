/* Two relations of one engine (or of what is attached to it) compared: columns, then rows (run/comparison.h). */
#ifndef INTERLACE_RUN_TABLE_DIFF_H
#define INTERLACE_RUN_TABLE_DIFF_H

#include "engine/engine.h"
#include "run/comparison.h"

typedef struct TableDiffRequest {
    SqlRelation left, right;
    Str left_where, right_where; /* ComparedSide.where */
    ComparisonOptions options;
    bool schema_only;
} TableDiffRequest;

typedef struct TableDiff {
    Comparison comparison;                /* columns and key */
    bool left_is_absent, right_is_absent; /* no such relation; nothing else is known then */
    bool has_rows; /* the counts below are known: not with schema_only, nor without a common column */
    int64_t left_count, right_count, left_only, right_only, changed, matched;
    int64_t repeated_keys; /* keys with several rows on a side */
    bool is_same_relation; /* both sides are one: it was only counted, and repeated_keys is not known */
    DuckRows samples[ROWS_KIND_COUNT];
} TableDiff;

/* Columns or rows differ, or one side is absent. */
bool table_diff_differs(const TableDiff *diff);

/* In one read-only transaction, which must not be open yet. SelectionError: see comparison_make. */
MUST_CHECK Status table_diff_run(EngineConnection *connection, const TableDiffRequest *request, Arena *arena,
                                 TableDiff *diff_out, Error *err);

#endif
