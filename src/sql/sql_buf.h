/* Building SQL: identifiers and literals are always quoted by these functions, never by hand. */
#ifndef INTERLACE_SQL_SQL_BUF_H
#define INTERLACE_SQL_SQL_BUF_H

#include "base/str.h"

typedef struct SqlRelation {
    Str catalog, schema, name; /* empty catalog or schema: left out */
} SqlRelation;

bool sql_relation_equal(SqlRelation a, SqlRelation b); /* but for the case of letters */
void sql_identifier(StrBuf *sql, Str name);            /* "na""me" */
void sql_relation(StrBuf *sql, SqlRelation relation);  /* "schema"."name" */
/* catalog.schema.name without quotes, as people are told it. */
Str sql_dotted_name(SqlRelation relation, Arena *arena);
void sql_literal(StrBuf *sql, Str text); /* 'te''xt' */
/* function('alias', 'statement'): a statement that an attached database carries out itself. */
void sql_remote_call(StrBuf *sql, const char *function, Str alias, Str statement);
void sql_identifier_list(StrBuf *sql, const Str *names, size_t count); /* "a", "b" */

#endif
