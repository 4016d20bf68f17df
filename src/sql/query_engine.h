/* What the reader of one engine generation's parser gives. One file per generation implements it. */
#ifndef INTERLACE_SQL_QUERY_ENGINE_H
#define INTERLACE_SQL_QUERY_ENGINE_H

#include "sql/query.h"

/* Names the reader and the form of what it reads: part of the cache's header. Raised when facts from it change. */
#define QUERY_READER_VERSION "duckdb 1.5, reader 3"

typedef struct EngineReply {
    bool is_refused; /* by the parser: refusal and offset are set, else the others */
    bool is_syntax;  /* the refusal is of the text itself, not of the kind of statement */
    Str refusal;
    size_t offset; /* byte of the text; STR_NOT_FOUND: unknown */
    size_t statement_count;
    Query *query; /* the first statement's; NULL when there is none */
} EngineReply;

/* `sql` is the text that was sent: its characters are what the place of a refusal counts. */
MUST_CHECK Status query_read_reply(Str sql, Str json, Arena *arena, EngineReply *reply_out, Error *err);

#endif
