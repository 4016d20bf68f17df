/* The statements of an audit (spec 04 §6): one aggregate a side for rows, sums and NULLs of each window, one join of
 * the two for keys and values; everything else reads the small tables that these leave. Pure.
 *
 * The order: audit_sql_side for both sides, audit_sql_totals; with a key audit_sql_pair, audit_sql_pair_result and
 * audit_sql_moved_keys; audit_sql_windows. Where the new rows replace those of their keys, that join finds the old
 * rows, too: then audit_sql_pair comes before audit_sql_old_of_pairs, which stands for audit_sql_side of the old ones.
 */
#ifndef INTERLACE_BACKFILL_AUDIT_SQL_H
#define INTERLACE_BACKFILL_AUDIT_SQL_H

#include "run/comparison.h"
#include "window/grain.h"
#include "window/zone.h"

#define AUDIT_MOVED_MAX 10      /* windows and keys that moved most */
#define AUDIT_WINDOWS_MAX 10000 /* windows of a report, oldest first */

typedef struct AuditColumn {
    Str name, type; /* type: of the new side */
    bool is_key;
    bool is_number;       /* has sums */
    bool is_measure;      /* a number that is no key: what windows and keys are ranked by */
    int64_t changed;      /* of keys that both sides have; -1: not known */
    Str sum_old, sum_new; /* as the engine writes them; empty: no value at all */
    int64_t nulls_old, nulls_new;
} AuditColumn;
DEFINE_VEC(AuditColumnVec, audit_column_vec, AuditColumn)

/* How rows fall into windows. */
typedef struct AuditBuckets {
    Str time_column; /* empty: none, all rows are one */
    Grain grain;
    WallUs origin; /* a boundary */
    const Zone *zone;
} AuditBuckets;

/* `columns` has one for each of `comparison->columns`. */
typedef struct AuditSql {
    const Comparison *comparison;
    const AuditColumnVec *columns;
    AuditBuckets buckets;
    Str replaced;      /* which rows of comparison->left are the old ones: a condition */
    bool is_by_key;    /* those whose key the new side has; comparison->left has no condition then */
    size_t time_index; /* of the time column among the columns, if is_by_key */
} AuditSql;

typedef enum AuditSide { AUDIT_OLD, AUDIT_NEW } AuditSide;

/* Makes a TEMP table of a row for each window. */
Str audit_sql_side(const AuditSql *audit, AuditSide side, Arena *arena);
/* The same of the old side, is_by_key, from what audit_sql_pair made. */
Str audit_sql_old_of_pairs(const AuditSql *audit, Arena *arena);
/* One row: rows, then of each column its NULLs and, of a number, its sum. */
Str audit_sql_totals(const AuditSql *audit, AuditSide side, Arena *arena);
/* start in microseconds of wall time (NULL: no time), rows old, rows new, then of each measure the sum old and new: in
 * the order of time, or those that moved most. */
Str audit_sql_windows(const AuditSql *audit, bool are_moved_most, Arena *arena);

/* Makes a TEMP table of one row or, is_by_key, of one for each window of the old side; gives up, as comparison_pair
 * does, when there are more pairs than `most`, since keys repeat. */
Str audit_sql_pair(const AuditSql *audit, int64_t most, Arena *arena);
/* One row: pairs, old only, new only, changed, distinct keys of old only and of new only, then of each column that is
 * no key its changed values. */
Str audit_sql_pair_result(const AuditSql *audit, Arena *arena);
/* added, removed or changed, then the key, then of each other column its value old and new. */
Str audit_sql_moved_keys(const AuditSql *audit, Arena *arena);

#endif
