/* SqlBinder: the columns that a query gives, before anything of what it reads has rows. A private in-memory engine
 * prepares the query over empty tables; its optimizer is off, which halves the cost (facts/spikes.md §3). Nothing is
 * fetched from elsewhere, and no extension is loaded. One thread at a time. */
#ifndef INTERLACE_SQL_SQL_BINDER_H
#define INTERLACE_SQL_SQL_BINDER_H

#include "duck/duck_parser.h"
#include "sql/sql_facts.h"
#include "sql/sql_text.h"

typedef struct SqlBinder SqlBinder;

/* For queries that read tables alone, on the parser's engine, whose start costs more than everything else here: it may
 * read no file. Closed before the parser. */
MUST_CHECK Status sql_binder_open_beside(DuckParser *parser, SqlBinder **binder_out, Error *err);
/* For queries that read files of this machine too, which are looked at as far as their columns go. `root`: where
 * relative names of files begin. */
MUST_CHECK Status sql_binder_open(Str root, SqlBinder **binder_out, Error *err);
void sql_binder_close(SqlBinder *binder); /* NULL is fine */
DEFINE_AUTO(SqlBinder, sql_binder, sql_binder_close)

/* A setting of the engine that will run the query, which may change what it accepts. One that is not known here (an
 * extension's) is left out. */
void sql_binder_set(SqlBinder *binder, Str name, Str value);

/* What a table of a query is. */
typedef struct SqlBoundTable {
    const DuckColumnVec *columns; /* an empty table of these stands for it */
    Str query;                    /* else, when not empty: a query in parentheses does */
} SqlBoundTable;                  /* neither: it stays as it is written */

/* The query as it is prepared: `tables` (one for each of facts->tables) in place of its names. ExecutionError: a type
 * that this engine does not know. */
MUST_CHECK Status sql_binder_splice(SqlBinder *binder, const SqlText *text, const SqlFacts *facts,
                                    const SqlBoundTable *tables, Arena *arena, SqlText *spliced_out, Error *err);

/* Columns of such a query. Fails with the engine's error, at its place in the user's file where that is known; also
 * where a text is compared for equality with a number, a truth value, a day or a time, which the engine lets pass: then
 * with its words about the stricter `<` (sql_comparison.h). */
MUST_CHECK Status sql_binder_describe(SqlBinder *binder, const SqlText *spliced, Arena *arena,
                                      DuckColumnVec *columns_out, Error *err);

/* What a failure says of the text. */
typedef enum SqlBindVerdict {
    SQL_BIND_WRONG,            /* a column that is not there, an ambiguous one, types that do not go together */
    SQL_BIND_UNKNOWN_FUNCTION, /* wrong, unless the warehouse has that function or macro */
    SQL_BIND_UNDECIDED         /* only the warehouse can tell: a table, a type, a file, an extension */
} SqlBindVerdict;
SqlBindVerdict sql_bind_verdict(const Error *err);

/* The name that the failure is about, as far as its message tells; else empty. */
Str sql_bind_subject(const Error *err);
/* The name that the engine's advice has first: `Candidate bindings: "amount", …`; else empty. */
Str sql_bind_candidate(Str advice);

#endif
