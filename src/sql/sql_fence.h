/* The read-only fence of `interlace query`: an allow-list walked on the engine's own parse tree. Each layer must hold
 * by itself; the other one is a read-only transaction with external access shut (cli/cmd_query.c). */
#ifndef INTERLACE_SQL_SQL_FENCE_H
#define INTERLACE_SQL_SQL_FENCE_H

#include "duck/duck_parser.h"
#include "sql/sql_facts.h"

/* Does the project own this relation? `schema` is empty when not written; names fold case unless quoted. */
typedef struct SqlFencePolicy {
    bool (*owns_relation)(void *context, const SqlTableRef *table);
    void *context;
} SqlFencePolicy;

/* QueryError, one line why: no or several statements, no query, a table function other than range, generate_series and
 * unnest, a file path or relation the project does not own, a function that is not on the list, an unknown node. */
MUST_CHECK Status sql_fence_check(DuckParser *parser, Str sql, const SqlFencePolicy *policy, Arena *arena,
                                  SqlFacts *facts_out, Error *err);

#endif
