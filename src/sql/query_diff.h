/* QueryDiff: what an edit of a query can change in its result, proven from the two trees alone: columns came; columns
 * changed and the rows stayed the same ones; or anything may have changed. Where a rule does not hold for certain, the
 * answer is "anything" (spec 03 §3.1). Pure.
 *
 * Says nothing of what a query gives when it runs again: query_determined.h. */
#ifndef INTERLACE_SQL_QUERY_DIFF_H
#define INTERLACE_SQL_QUERY_DIFF_H

#include "sql/query.h"

typedef enum QueryDiffKind {
    QUERY_DIFF_NONE,    /* the same query, written otherwise */
    QUERY_DIFF_ADDED,   /* only new columns; the old ones keep their rows and values */
    QUERY_DIFF_TOUCHED, /* `touched` changed or went; `added` came; the others keep their rows and values */
    QUERY_DIFF_ALL
} QueryDiffKind;

typedef struct QueryDiff {
    QueryDiffKind kind;
    StrVec added, touched; /* names of output columns as they are written */
    Str reason;            /* what decides, as the end of a sentence: "its WHERE changed", "column 'y' changed" */
    size_t offset;         /* where it is in the new text; STR_NOT_FOUND: nowhere in particular */
} QueryDiff;

typedef struct QueryVersion {
    Str text;
    const Query *query; /* read from it */
} QueryVersion;

/* Both were read by the same parser. The result lives in `arena`; its names borrow from the two trees. */
void query_diff(const QueryVersion *before, const QueryVersion *after, Arena *arena, QueryDiff *diff_out);

#endif
