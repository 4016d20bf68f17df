/* QueryReader: texts of queries in, Query trees out. Owns a parser from its first text on, so that who reads none loads
 * no engine. One thread at a time. */
#ifndef INTERLACE_SQL_QUERY_READER_H
#define INTERLACE_SQL_QUERY_READER_H

#include "sql/query.h"

typedef struct QueryReader QueryReader;

QueryReader *query_reader_create(DuckParser *parser); /* takes `parser`; NULL: it opens one on first need */
void query_reader_destroy(QueryReader *reader);       /* NULL is fine */

/* The parser itself; it lives as long as the reader. */
MUST_CHECK Status query_reader_parser(QueryReader *reader, DuckParser **parser_out, Error *err);

/* As query_parse. The tree may borrow from `text`. */
MUST_CHECK Status query_reader_read(QueryReader *reader, Str text, Arena *arena, Query **query_out, Error *err);

#endif
