/* Puts physical names and inlined models into a user's query without touching another byte of it. */
#ifndef INTERLACE_SQL_SQL_SPLICE_H
#define INTERLACE_SQL_SQL_SPLICE_H

#include "sql/sql_buf.h"
#include "sql/sql_facts.h"
#include "sql/sql_text.h"

/* What stands in place of facts->tables[i]: a relation, or a query in parentheses when `source` is not empty; with
 * neither, and no filter, it is left as it is. The original last part becomes the alias where the query gave none: in
 * lower case when it was written without quotes, so that PostgreSQL finds it, too. */
typedef struct SqlReplacement {
    SqlRelation relation;
    Str source;
    Str filter; /* not empty: a condition on the table's columns; (SELECT * FROM … WHERE filter) stands there. Only for
                   a table that takes an alias and is no file */
} SqlReplacement;

/* An ephemeral model that becomes a CTE in front of the query's own. */
typedef struct SqlInlined {
    Str cte_name; /* from sql_unused_cte_name */
    SqlText body; /* its own spliced query, without trailing `;` or open `--` comment (done here) */
} SqlInlined;

typedef struct SqlSplice {
    const SqlReplacement *replacements; /* as many as facts->tables */
    const SqlInlined *inlined;          /* each reads only those before it */
    size_t inlined_count;
    Str file_root;               /* absolute; not empty: names of files that are relative become absolute, from there */
    const Str *clock;            /* SQL_CLOCK_KIND_COUNT expressions that reads of the clock become; NULL: they stay */
    const StrVec *clock_columns; /* reads that make only these stay; may be NULL */
    bool is_expression;          /* an expression behind a SELECT of ours: it gets no alias */
} SqlSplice;

/* An item of a select list that has no name gets the one that the engine gives it in the user's own text, when
 * something was replaced in it: columns are not called after physical names. CompilationError: a read of the clock is
 * to be replaced whose place is not known. */
MUST_CHECK Status sql_splice(const SqlText *text, const SqlFacts *facts, const SqlSplice *splice, Arena *arena,
                             SqlText *spliced_out, Error *err);

/* The read makes one of `columns` and nothing else: sql_splice leaves it as it is. */
bool sql_clock_read_stays(const SqlClockRead *read, const StrVec *columns);

/* `wanted`, or with _2, _3 … behind it when a CTE of the query has that name. */
Str sql_unused_cte_name(const SqlFacts *facts, Str wanted, Arena *arena);

/* The query without trailing `;`, blanks and comments, so that it can stand in parentheses. */
SqlText sql_text_as_body(const SqlText *text, Arena *arena);

#endif
