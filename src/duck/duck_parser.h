/* DuckParser: the engine's own SQL parser on a private in-memory instance without access to files.
 * The JSON it gives is the engine's private matter: only sql/query_duckdb_1_5.c reads it. One thread at a time. */
#ifndef INTERLACE_DUCK_DUCK_PARSER_H
#define INTERLACE_DUCK_DUCK_PARSER_H

#include "duck/duck_connection.h"

typedef struct DuckParser DuckParser;

MUST_CHECK Status duck_parser_open(DuckParser **parser_out, Error *err);
void duck_parser_close(DuckParser *parser); /* NULL is fine */
DEFINE_AUTO(DuckParser, duck_parser, duck_parser_close)

/* json_serialize_sql of `sql` (which may hold a refusal of the parser: `{"error":true,…}`). */
MUST_CHECK Status duck_parser_json(DuckParser *parser, Str sql, Arena *arena, Str *json_out, Error *err);

/* How many statements `sql` holds and what each is ("SELECT", "INSERT", "CREATE", …): for the message that a model must
 * be one query. A syntax error fails with ERROR_COMPILATION and err->sql_offset in bytes. */
MUST_CHECK Status duck_parser_statements(DuckParser *parser, Str sql, Arena *arena, StrVec *kinds_out, Error *err);

/* The connection itself, for small statements beside the parsing, and the instance, for connections that end before the
 * parser does. */
DuckConnection *duck_parser_connection(DuckParser *parser);
DuckDatabase *duck_parser_database(DuckParser *parser);

#endif
