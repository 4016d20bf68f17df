/* Two walks over the same tree. The facts say which names are tables, by the engine's own scope rules; each must be
 * owned. The walk here looks at everything else: calls, table functions, SHOW. What the tree may hold at all is settled
 * before, by the reader, which refuses any node and member that it does not know. */
#include "sql/sql_fence.h"

#include "sql/query_facts.h"
#include "sql/sql_fence_functions.h"

typedef struct Fence {
    Arena *arena;
    Error *err;
} Fence;

static Status check_query(Fence *fence, const Query *query);

static Status refuse(Fence *fence, size_t offset, const char *what, Str name) {
    Status status =
        error_set(fence->err, ERROR_QUERY, "%s '" STR_FMT "' is not allowed in a read-only query", what, STR_ARG(name));
    fence->err->sql_offset = offset;
    return status;
}

/* --- Expressions -------------------------------------------------------------------------------------------------- */

static Status check_expr(Fence *fence, const QueryExpr *expr);

static Status check_exprs(Fence *fence, const QueryExprVec *exprs) {
    for (size_t i = 0; i < exprs->count; i++) {
        TRY(check_expr(fence, exprs->items[i]));
    }
    return OK;
}

/* amount.round() has its column where a schema would stand, so a schema says nothing; no function but those of the list
 * has one of their names, unless the project's owner made it. */
static Status check_call(Fence *fence, const QueryExpr *expr) {
    bool is_allowed =
        (expr->is_sign && sql_fence_allows_sign(expr->name)) || sql_fence_allows_function(expr->name, fence->arena);
    return is_allowed ? OK : refuse(fence, expr->offset, "function", expr->name);
}

static Status check_expr(Fence *fence, const QueryExpr *expr) {
    switch (expr->kind) {
    case QUERY_FUNCTION:
    case QUERY_WINDOW:
        TRY(check_call(fence, expr));
        break;
    case QUERY_CONSTANT:
    case QUERY_COLUMN:
    case QUERY_POSITION:
    case QUERY_STAR:
    case QUERY_LAMBDA:
    case QUERY_SUBQUERY:
    case QUERY_OPERATION:
        break;
    }
    TRY(check_exprs(fence, &expr->operands));
    return expr->subquery == NULL ? OK : check_query(fence, expr->subquery);
}

/* --- Sources ------------------------------------------------------------------------------------------------------ */

static bool is_builtin_schema(Str schema) {
    return schema.size == 0 || str_equal_fold(schema, STR("main"));
}

static Status check_table_function(Fence *fence, const QuerySource *source) {
    static const char *const allowed[] = {"range", "generate_series", "unnest"};
    for (size_t i = 0; i < source->exprs.count; i++) {
        const QueryExpr *call = source->exprs.items[i];
        bool is_allowed = false;
        for (size_t k = 0; k < COUNT_OF(allowed); k++) {
            is_allowed = is_allowed || str_equal_fold(call->name, str_from(allowed[k]));
        }
        if (!is_allowed || call->kind != QUERY_FUNCTION || !is_builtin_schema(call->schema)) {
            return refuse(fence, call->offset, "table function", call->name);
        }
        TRY(check_exprs(fence, &call->operands));
    }
    return OK;
}

static Status check_source(Fence *fence, const QuerySource *source) {
    if (source->kind == QUERY_TABLE_FUNCTION) {
        return check_table_function(fence, source);
    }
    if (source->kind == QUERY_SHOW && source->query == NULL) {
        return refuse(fence, STR_NOT_FOUND, "SHOW", source->name);
    }
    if (source->left != NULL) {
        TRY(check_source(fence, source->left));
    }
    if (source->right != NULL) {
        TRY(check_source(fence, source->right));
    }
    if (source->query != NULL) {
        TRY(check_query(fence, source->query));
    }
    return check_exprs(fence, &source->exprs);
}

static Status check_query(Fence *fence, const Query *query) {
    for (size_t i = 0; i < query->ctes.count; i++) {
        TRY(check_query(fence, query->ctes.items[i].query));
    }
    for (size_t i = 0; i < query->branches.count; i++) {
        TRY(check_query(fence, query->branches.items[i]));
    }
    if (query->source != NULL) {
        TRY(check_source(fence, query->source));
    }
    TRY(check_exprs(fence, &query->projections));
    TRY(check_exprs(fence, &query->filters));
    return check_exprs(fence, &query->modifiers);
}

/* --- Tables ------------------------------------------------------------------------------------------------------- */

static Status check_tables(Fence *fence, const SqlFacts *facts, const SqlFencePolicy *policy) {
    for (size_t i = 0; i < facts->tables.count; i++) {
        const SqlTableRef *table = &facts->tables.items[i];
        Str name = sql_dotted_name(sql_table_relation(table), fence->arena);
        if (table->is_file) {
            return refuse(fence, table->start, "reading the file", name);
        }
        if (!policy->owns_relation(policy->context, table)) {
            Status status =
                error_set(fence->err, ERROR_QUERY, "'" STR_FMT "' is no relation of this project", STR_ARG(name));
            fence->err->sql_offset = table->start;
            return status;
        }
    }
    return OK;
}

/* --- All of it ---------------------------------------------------------------------------------------------------- */

static Status check_text(DuckParser *parser, Str sql, const SqlFencePolicy *policy, Arena *arena, SqlFacts *facts_out,
                         Error *err) {
    Fence fence = {.arena = arena, .err = err};
    Query *query = NULL;
    SqlFacts facts = {0};
    TRY(query_parse(parser, sql, arena, &query, err));
    TRY(check_query(&fence, query));
    TRY(query_facts(query, sql, arena, &facts, err));
    TRY(check_tables(&fence, &facts, policy));
    *facts_out = facts;
    return OK;
}

Status sql_fence_check(DuckParser *parser, Str sql, const SqlFencePolicy *policy, Arena *arena, SqlFacts *facts_out,
                       Error *err) {
    Status status = check_text(parser, sql, policy, arena, facts_out, err);
    if (failed(status) && err->kind == ERROR_COMPILATION) {
        err->kind = ERROR_QUERY;
    }
    return status;
}
