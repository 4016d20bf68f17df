/* QueryConsumption: which columns of one table a query uses, and what it does with columns that the table gets
 * (spec 03 §3.2). Simple on purpose, and where it is in doubt it answers with more: full lineage is another matter.
 * Every reader uses the rows themselves; columns are what is left to tell apart. Pure. */
#ifndef INTERLACE_SQL_QUERY_CONSUMED_H
#define INTERLACE_SQL_QUERY_CONSUMED_H

#include "sql/query.h"

typedef struct QueryConsumption {
    Str all_reason;  /* empty: only `columns`. Else any column may be used; "it has a *" */
    StrVec columns;  /* each once, as written */
    Str open_reason; /* empty: a new column is not seen, unless its name is one of `loose`. Else why it is */
    bool
        passes_on; /* open, but only by a plain star: a new column comes out beside the old ones, which stay as they are
                    */
    StrVec loose;  /* names that a new column could take over */
} QueryConsumption;

/* `offsets`: the places of the table in the query's text (SqlTableRef.start). */
void query_consumed(const Query *query, const size_t *offsets, size_t count, Arena *arena,
                    QueryConsumption *consumption_out);

#endif
