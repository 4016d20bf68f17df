#include "sql/query_walk.h"

void query_walk_expr(const QueryExpr *expr, const QueryVisitor *visitor) {
    if (visitor->expr != NULL) {
        visitor->expr(visitor->context, expr);
    }
    query_walk_exprs(&expr->operands, visitor);
    if (expr->subquery != NULL) {
        query_walk(expr->subquery, visitor);
    }
}

void query_walk_exprs(const QueryExprVec *exprs, const QueryVisitor *visitor) {
    for (size_t i = 0; i < exprs->count; i++) {
        query_walk_expr(exprs->items[i], visitor);
    }
}

static void walk_source(const QuerySource *source, const QueryVisitor *visitor) {
    if (visitor->source != NULL) {
        visitor->source(visitor->context, source);
    }
    query_walk_exprs(&source->exprs, visitor);
    if (source->left != NULL) {
        walk_source(source->left, visitor);
    }
    if (source->right != NULL) {
        walk_source(source->right, visitor);
    }
    if (source->query != NULL) {
        query_walk(source->query, visitor);
    }
}

void query_walk(const Query *query, const QueryVisitor *visitor) {
    if (visitor->query != NULL) {
        visitor->query(visitor->context, query);
    }
    for (size_t i = 0; i < query->ctes.count; i++) {
        query_walk(query->ctes.items[i].query, visitor);
    }
    if (query->source != NULL) {
        walk_source(query->source, visitor);
    }
    query_walk_exprs(&query->projections, visitor);
    query_walk_exprs(&query->filters, visitor);
    query_walk_exprs(&query->modifiers, visitor);
    for (size_t i = 0; i < query->branches.count; i++) {
        query_walk(query->branches.items[i], visitor);
    }
}
