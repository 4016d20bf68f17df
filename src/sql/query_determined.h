/* Whether a query gives the same rows each time it runs over the same sources. A proof that old columns keep their
 * values needs it of a query that will run again. */
#ifndef INTERLACE_SQL_QUERY_DETERMINED_H
#define INTERLACE_SQL_QUERY_DETERMINED_H

#include "sql/query.h"

/* Empty: it does. Else what may come out otherwise, as the end of a sentence: "it calls random()". What is not known to
 * be harmless counts: a function that is not built in, a choice among rows that no order decides. */
Str query_undetermined(const Query *query, Arena *arena);

#endif
