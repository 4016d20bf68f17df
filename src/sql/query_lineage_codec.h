/* The lineage of a query as bytes, for the cache. */
#ifndef INTERLACE_SQL_QUERY_LINEAGE_CODEC_H
#define INTERLACE_SQL_QUERY_LINEAGE_CODEC_H

#include "sql/query_lineage.h"

void query_lineage_encode(const QueryLineage *lineage, StrBuf *bytes); /* appends */

/* False, and nothing else, for bytes that are no such lineage. It borrows from `bytes`. */
bool query_lineage_decode(Str bytes, Arena *arena, QueryLineage *lineage_out);

#endif
