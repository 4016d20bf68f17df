/* Reads of the clock in a query: which calls and words they are, and where they stand. */
#ifndef INTERLACE_SQL_QUERY_CLOCK_H
#define INTERLACE_SQL_QUERY_CLOCK_H

#include "sql/query.h"
#include "sql/sql_facts.h"

/* `expr` itself, not its operands, is a read; a bare word may still be a column of that name. */
bool query_clock_is_read(const QueryExpr *expr);

/* Adds the read that `expr` itself is, not its operands, if it is one. `output` as in SqlClockRead. */
void query_clock_add(const QueryExpr *expr, Str sql, Str output, Arena *arena, SqlClockReadVec *reads);

/* By offset, each place once: the parser copies some nodes. */
void query_clock_sort(SqlClockReadVec *reads);

#endif
