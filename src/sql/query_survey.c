#include "sql/query_survey.h"

static void survey_query(QuerySurvey *survey, const Query *query, const QueryCteScope *scope);

static bool is_hidden_column(Str name) {
    static const Str names[] = {STR_INIT("rowid"),           STR_INIT("ctid"),
                                STR_INIT("snapshot_id"),     STR_INIT("filename"),
                                STR_INIT("file_row_number"), STR_INIT("file_index")};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (str_equal_fold(name, names[i])) {
            return true;
        }
    }
    return false;
}

static void survey_exprs(QuerySurvey *survey, const QueryExprVec *exprs, const QueryCteScope *scope) {
    for (size_t i = 0; i < exprs->count; i++) {
        const QueryExpr *expr = exprs->items[i];
        for (size_t part = 0; part < expr->parts.count; part++) {
            survey->has_row_id = survey->has_row_id || is_hidden_column(expr->parts.items[part]);
        }
        survey_exprs(survey, &expr->operands, scope);
        if (expr->subquery != NULL) {
            survey_query(survey, expr->subquery, scope);
        }
    }
}

const QueryCteScope *query_find_cte(const QueryCteScope *scope, const QuerySource *source) {
    bool may_be = source->catalog.size == 0 && source->schema.size == 0;
    for (; may_be && scope != NULL; scope = scope->outer) {
        if (str_equal_fold(scope->cte->name, source->name)) {
            return scope;
        }
    }
    return NULL;
}

static size_t *count_of(QuerySurvey *survey, const QueryCte *cte) {
    for (size_t i = 0; i < survey->uses.count; i++) {
        if (survey->uses.items[i].cte == cte) {
            return &survey->uses.items[i].count;
        }
    }
    cte_use_vec_push(survey->arena, &survey->uses, (CteUse){.cte = cte});
    return &survey->uses.items[survey->uses.count - 1].count;
}

static bool is_opaque(const QuerySource *source) {
    static const Str known[] = {STR_INIT("unnest"), STR_INIT("range"), STR_INIT("generate_series")};
    const QueryExpr *call = source->exprs.count == 1 ? source->exprs.items[0] : NULL;
    for (size_t i = 0; call != NULL && i < COUNT_OF(known); i++) {
        if (str_equal_fold(call->name, known[i])) {
            return false;
        }
    }
    return true;
}

static void survey_source(QuerySurvey *survey, const QuerySource *source, const QueryCteScope *scope) {
    const QueryCteScope *cte = source->kind == QUERY_TABLE ? query_find_cte(scope, source) : NULL;
    if (cte != NULL) {
        ++*count_of(survey, cte->cte);
    }
    survey->has_opaque_source =
        survey->has_opaque_source || (source->kind == QUERY_TABLE_FUNCTION && is_opaque(source));
    survey_exprs(survey, &source->exprs, scope);
    if (source->left != NULL) {
        survey_source(survey, source->left, scope);
    }
    if (source->right != NULL) {
        survey_source(survey, source->right, scope);
    }
    if (source->query != NULL) {
        survey_query(survey, source->query, scope);
    }
}

static const QueryCteScope *with_cte(Arena *arena, const QueryCteScope *outer, const QueryCte *cte) {
    QueryCteScope *scope = ARENA_NEW(arena, QueryCteScope);
    *scope = (QueryCteScope){.outer = outer, .cte = cte};
    return scope;
}

static void survey_query(QuerySurvey *survey, const Query *query, const QueryCteScope *scope) {
    for (size_t i = 0; i < query->ctes.count; i++) {
        survey_query(survey, query->ctes.items[i].query, scope);
        scope = with_cte(survey->arena, scope, &query->ctes.items[i]);
    }
    if (query->source != NULL) {
        survey_source(survey, query->source, scope);
    }
    survey_exprs(survey, &query->projections, scope);
    survey_exprs(survey, &query->filters, scope);
    survey_exprs(survey, &query->modifiers, scope);
    for (size_t i = 0; i < query->branches.count; i++) {
        survey_query(survey, query->branches.items[i], scope);
    }
}

void query_survey(QuerySurvey *survey, const Query *query) {
    survey_query(survey, query, NULL);
}

size_t query_cte_uses(const QuerySurvey *survey, const QueryCte *cte) {
    for (size_t i = 0; i < survey->uses.count; i++) {
        if (survey->uses.items[i].cte == cte) {
            return survey->uses.items[i].count;
        }
    }
    return 0;
}

const QueryCteScope *query_with_ctes(Arena *arena, const QueryCteScope *scope, const Query *query) {
    for (size_t i = 0; i < query->ctes.count; i++) {
        scope = with_cte(arena, scope, &query->ctes.items[i]);
    }
    return scope;
}
