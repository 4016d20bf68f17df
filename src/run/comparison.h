/* Comparison: which columns two relations share, and the SQL that compares their rows by them (spec 03 §12). Pure.
 *
 * Rows are compared key by key, as multisets. Of a key with the rows L on the left and R on the right, M in both:
 *     matched = |M|    changed = min(|L|, |R|) - |M|    left only, right only = what is then left of L and of R
 * So a key that stands once on each side is matched or changed; where all columns are the key nothing is changed.
 *
 * Values are equal as IS NOT DISTINCT FROM says: NULL equals NULL, NaN equals NaN, 0.0 equals -0.0; nested values by
 * their parts. Unlike types: numbers are compared as numbers, dates and times as such, everything else as text.
 *
 * The order of the statements: comparison_count, comparison_pair; when the keys turn out to repeat,
 * comparison_pair_repeated in its place; then comparison_result and samples, which read what it has left. */
#ifndef INTERLACE_RUN_COMPARISON_H
#define INTERLACE_RUN_COMPARISON_H

#include "duck/duck_connection.h"
#include "sql/sql_buf.h"

typedef struct ComparedSide {
    SqlRelation relation;
    DuckColumnVec columns; /* all that it has */
    Str where;             /* a condition on its rows, over its own columns; empty: all rows */
} ComparedSide;

typedef struct ComparedColumn {
    Str name; /* as the left side writes it */
    Str left_type, right_type;
} ComparedColumn;
DEFINE_VEC(ComparedColumnVec, compared_column_vec, ComparedColumn)

typedef struct ComparisonOptions {
    const StrVec *on;  /* the key, asked for; NULL or empty: not asked for */
    const StrVec *key; /* else the key, when both sides have its columns; else all common columns are it. May be NULL */
    double tolerance;  /* floats that differ by at most this are equal, unless they are asked for as a key */
    int64_t sample_limit;  /* rows of each kind to be shown */
    const StrVec *without; /* columns that are left out on both sides. May be NULL */
} ComparisonOptions;

typedef struct Comparison {
    ComparedSide left, right;
    DuckColumnVec added, removed; /* only on the right, only on the left */
    ComparedColumnVec retyped;
    ComparedColumnVec columns; /* common ones, the key first; none: rows cannot be compared */
    size_t key_count;          /* 0: a tolerance, and all common columns are floats */
    StrVec missing_keys;       /* of `key`, which was therefore not used */
    double tolerance;
    int64_t sample_limit;
} Comparison;

/* SelectionError: a name of `on` that is no common column; says which side lacks it, or the nearest name. */
MUST_CHECK Status comparison_make(const ComparedSide *left, const ComparedSide *right, const ComparisonOptions *options,
                                  Arena *arena, Comparison *comparison_out, Error *err);

/* One row: rows on the left, rows on the right. */
Str comparison_count(const Comparison *comparison, Arena *arena);

/* Makes a TEMP table of one row, by one join. It takes the keys to be unique, and gives up after as many pairs as there
 * can be then: comparison_is_unique tells from the result whether they are. Not for key_count 0. */
Str comparison_pair(const Comparison *comparison, int64_t left_count, int64_t right_count, Arena *arena);
/* The same for keys that repeat: rows that both sides have are set off against each other, the rest of a key is paired
 * in the order of its values. */
Str comparison_pair_repeated(const Comparison *comparison, Arena *arena);

/* Parts for statements of one's own over such pairs. " FROM … AS l FULL JOIN … AS r ON …", with whichever join: l.here
 * and r.here say that the side has a row, l.c3 and r.c3 are its fourth column of `columns`. */
void comparison_append_pairs(StrBuf *sql, const Comparison *comparison, const char *join);
/* Whether the two sides of a column differ. */
void comparison_append_differs(StrBuf *sql, const Comparison *comparison, size_t column);
/* BIGINT, DOUBLE, DECIMAL(18,2) … */
bool comparison_is_number(Str type);

typedef struct ComparisonResult {
    int64_t pairs, left_only, right_only, changed; /* pairs: of all kinds */
    int64_t left_keys, right_keys;                 /* comparison_pair: distinct ones among left only, right only */
    int64_t matched, repeated_keys; /* comparison_pair_repeated: set off before; keys with several rows */
} ComparisonResult;
/* One row, its columns in the order of ComparisonResult. */
extern const Str comparison_result;
bool comparison_is_unique(const ComparisonResult *result, int64_t left_count, int64_t right_count);

typedef enum ComparisonKind { ROWS_LEFT_ONLY, ROWS_RIGHT_ONLY, ROWS_CHANGED, ROWS_KIND_COUNT } ComparisonKind;
/* The first rows by key. Their columns have no names of their own: comparison_sample_names gives them. */
Str comparison_sample(ComparisonKind kind, Arena *arena);
/* The common columns; of ROWS_CHANGED the key, then left_c and right_c of each other column c. */
StrVec comparison_sample_names(const Comparison *comparison, ComparisonKind kind, Arena *arena);

#endif
