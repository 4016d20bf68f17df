/* Texts that are compared with numbers, dates and the like. For `a < b` over a VARCHAR and an INTEGER the engine
 * demands a cast; for `a = b` it casts the text of each row by itself, and fails at the first that is no number. So its
 * own opinion of the stricter sign is asked for: the query with `<` in place of `=`. */
#ifndef INTERLACE_SQL_SQL_COMPARISON_H
#define INTERLACE_SQL_SQL_COMPARISON_H

#include "sql/sql_text.h"

/* A place where two values are compared for equality: =, ==, <>, !=, IN (SELECT …), NOT IN (SELECT …). */
typedef struct SqlEquality {
    size_t start, end; /* in the text */
    Str strict;        /* what stands in its place */
    bool is_kept;      /* it stays as it is */
} SqlEquality;
DEFINE_VEC(SqlEqualityVec, sql_equality_vec, SqlEquality)

/* Those of a query, but for comparisons with a literal; none of one with COLUMNS (…), where they may choose columns. */
SqlEqualityVec sql_equalities(Str sql, Arena *arena);

MUST_CHECK Status sql_equalities_strict(const SqlText *text, const SqlEqualityVec *equalities, Arena *arena,
                                        SqlText *strict_out, Error *err);

/* The equality whose strict sign stands at that byte of the strict text; NULL: none. */
SqlEquality *sql_equality_at(const SqlEqualityVec *equalities, size_t strict_offset);

/* A column that a join names in USING. The engine is as strict about the last one of an ASOF JOIN as about `<`. */
typedef struct SqlUsing {
    size_t join;       /* where the words of the join begin */
    size_t start, end; /* the list, without its brackets */
    size_t place;      /* of the column's name */
    Str names;         /* the list with the column at its end */
    bool is_last;      /* it stands there */
} SqlUsing;
DEFINE_VEC(SqlUsingVec, sql_using_vec, SqlUsing)

SqlUsingVec sql_usings(Str sql, Arena *arena);
MUST_CHECK Status sql_using_strict(const SqlText *text, const SqlUsing *column, Arena *arena, SqlText *strict_out,
                                   Error *err);

/* All of them at once. Its columns are those of the query itself, but for names of items that have none: those hold a
 * `<`. */
MUST_CHECK Status sql_all_strict(const SqlText *text, const SqlEqualityVec *equalities, const SqlUsingVec *usings,
                                 Arena *arena, SqlText *strict_out, Error *err);

/* The engine's message about a strict sign is of a text and a number, truth value, day or time: what has another type,
 * such as UUID, is commonly compared with texts. */
bool sql_comparison_is_unlike(Str message);

#endif
