/* Visits every part of a query once: the query itself and all below it, subqueries and bodies of CTEs too. */
#ifndef INTERLACE_SQL_QUERY_WALK_H
#define INTERLACE_SQL_QUERY_WALK_H

#include "sql/query.h"

/* A function that is NULL is not called. */
typedef struct QueryVisitor {
    void (*query)(void *context, const Query *query);
    void (*source)(void *context, const QuerySource *source);
    void (*expr)(void *context, const QueryExpr *expr);
    void *context;
} QueryVisitor;

void query_walk(const Query *query, const QueryVisitor *visitor);
void query_walk_exprs(const QueryExprVec *exprs, const QueryVisitor *visitor);
void query_walk_expr(const QueryExpr *expr, const QueryVisitor *visitor);

#endif
