/* What a Query reads, as SqlFacts. */
#ifndef INTERLACE_SQL_QUERY_FACTS_H
#define INTERLACE_SQL_QUERY_FACTS_H

#include "sql/query.h"
#include "sql/sql_facts.h"

/* `sql` is the text the query was read from. CompilationError when a place that the parser gave does not hold the name
 * it should: then no name could be spliced safely. Texts of the facts borrow from the query and from `arena`. */
MUST_CHECK Status query_facts(const Query *query, Str sql, Arena *arena, SqlFacts *facts_out, Error *err);

#endif
