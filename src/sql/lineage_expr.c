/* Names as the engine binds them, and the columns inside of expressions. */
#include "sql/lineage_scope.h"

/* --- Names -------------------------------------------------------------------------------------------------------- */

void lineage_add_column(Lineage *lineage, const Relation *relation, Str name, ColumnSet *set) {
    bool is_certain = relation_add_column(&lineage->columns, relation, name, set);
    lineage->is_opaque = lineage->is_opaque || !is_certain;
}

static void add_leaves(Lineage *lineage, const Scope *scope, ColumnSet *set) {
    for (size_t i = 0; i < scope->leaves.count; i++) {
        relation_add_all(&lineage->columns, scope->leaves.items[i], set);
    }
}

static bool is_parameter(const Scope *scope, Str name) {
    for (const LambdaParameters *parameters = scope->parameters; parameters != NULL; parameters = parameters->outer) {
        if (str_vec_contains_fold(&parameters->names, name)) {
            return true;
        }
    }
    return false;
}

/* How many leading parts of a column reference name the relation: table.x, schema.table.x, catalog.schema.table.x. */
static size_t qualifier_size(const Relation *leaf, const StrVec *parts) {
    for (size_t count = 1; count <= 3 && count < parts->count; count++) {
        bool is_name = leaf->name.size > 0 && str_equal_fold(parts->items[count - 1], leaf->name);
        bool is_schema = count == 1 || str_equal_fold(parts->items[count - 2], leaf->schema);
        if (is_name && is_schema && relation_match(leaf, parts->items[count]) != RELATION_HAS_NOT) {
            return count;
        }
    }
    return 0;
}

static bool find_qualified(Lineage *lineage, const Scope *scope, const StrVec *parts, ColumnSet *set) {
    bool is_found = false;
    for (size_t i = 0; i < scope->leaves.count; i++) {
        const Relation *leaf = scope->leaves.items[i];
        size_t count = qualifier_size(leaf, parts);
        if (count > 0) {
            lineage_add_column(lineage, leaf, parts->items[count], set);
            is_found = true;
        }
    }
    return is_found;
}

bool lineage_find_merged(Lineage *lineage, const Scope *scope, Str name, ColumnSet *set) {
    bool is_found = false;
    for (size_t i = 0; i < scope->merged.count; i++) {
        if (str_equal_fold(scope->merged.items[i].name, name)) {
            lineage_add_set(lineage, set, &scope->merged.items[i].sources);
            is_found = true;
        }
    }
    return is_found;
}

static bool find_in_leaves(Lineage *lineage, const Scope *scope, Str name, RelationMatch match, ColumnSet *set) {
    size_t found = 0;
    for (size_t i = 0; i < scope->leaves.count; i++) {
        if (relation_match(scope->leaves.items[i], name) == match) {
            lineage_add_column(lineage, scope->leaves.items[i], name, set);
            found++;
        }
    }
    lineage->is_opaque = lineage->is_opaque || (match == RELATION_MAY_HAVE && found > 1);
    return found > 0;
}

static bool find_item(Lineage *lineage, const Scope *scope, Str name, ColumnSet *set) {
    const RelationColumn *item = relation_find(&scope->items, name);
    if (item != NULL) {
        lineage_add_set(lineage, set, &item->sources);
    }
    return item != NULL;
}

/* The name of a source stands for its whole row. */
static bool find_row(Lineage *lineage, const Scope *scope, Str name, ColumnSet *set) {
    for (size_t i = 0; i < scope->leaves.count; i++) {
        if (scope->leaves.items[i]->name.size > 0 && str_equal_fold(scope->leaves.items[i]->name, name)) {
            relation_add_all(&lineage->columns, scope->leaves.items[i], set);
            return true;
        }
    }
    return false;
}

/* Whether a source of this scope or of one further out has such a column, or may have it. */
static RelationMatch match_in(const Scope *scope, Str name) {
    RelationMatch best = RELATION_HAS_NOT;
    for (; scope != NULL; scope = scope->outer) {
        for (size_t i = 0; i < scope->leaves.count; i++) {
            RelationMatch match = relation_match(scope->leaves.items[i], name);
            best = match > best ? match : best;
        }
    }
    return best;
}

/* `c.x` where a source further out is called c is taken for that source's, not for a field of a column c that an open
 * source here might have. */
static bool is_qualified_outside(const Scope *scope, const StrVec *parts) {
    for (; scope != NULL; scope = scope->outer) {
        for (size_t i = 0; i < scope->leaves.count; i++) {
            if (qualifier_size(scope->leaves.items[i], parts) > 0) {
                return true;
            }
        }
    }
    return false;
}

/* False: the name is none of this scope. An open source may have it; so may what is further out, which then counts too.
 */
static bool find_in_scope(Lineage *lineage, const Scope *scope, const StrVec *parts, ColumnSet *set) {
    Str name = parts->items[0];
    bool is_single = parts->count == 1;
    if (scope->prefers_items && is_single && find_item(lineage, scope, name, set)) {
        return true;
    }
    if (find_qualified(lineage, scope, parts, set) || lineage_find_merged(lineage, scope, name, set) ||
        find_in_leaves(lineage, scope, name, RELATION_HAS, set)) {
        return true;
    }
    if (is_single && find_row(lineage, scope, name, set)) {
        return true;
    }
    bool is_item = find_item(lineage, scope, name, set);
    bool may_be_here =
        !is_qualified_outside(scope->outer, parts) && find_in_leaves(lineage, scope, name, RELATION_MAY_HAVE, set);
    bool may_be_outside = match_in(scope->outer, name) != RELATION_HAS_NOT;
    lineage->is_opaque = lineage->is_opaque || (may_be_here && may_be_outside);
    return is_item || (may_be_here && !may_be_outside);
}

/* Words that are reads of the clock or of the session when no column has their name. */
static bool is_bare_word(const Scope *scope, const QueryExpr *column) {
    static const Str words[] = {STR_INIT("current_date"),
                                STR_INIT("current_time"),
                                STR_INIT("current_timestamp"),
                                STR_INIT("localtime"),
                                STR_INIT("localtimestamp"),
                                STR_INIT("current_catalog"),
                                STR_INIT("current_schema"),
                                STR_INIT("current_user"),
                                STR_INIT("session_user"),
                                STR_INIT("current_role"),
                                STR_INIT("user")};
    bool is_one_word = column->parts.count == 1 && !column->is_quoted;
    for (size_t i = 0; is_one_word && i < COUNT_OF(words); i++) {
        if (str_equal_fold(column->parts.items[0], words[i])) {
            return match_in(scope, column->parts.items[0]) != RELATION_HAS;
        }
    }
    return false;
}

void lineage_add_reference(Lineage *lineage, const Scope *scope, const StrVec *parts, ColumnSet *set) {
    if (parts->count == 0 || is_parameter(scope, parts->items[0])) {
        return;
    }
    for (const Scope *at = scope; at != NULL; at = at->outer) {
        if (find_in_scope(lineage, at, parts, set)) {
            return;
        }
    }
    lineage->is_opaque = true;
    for (const Scope *at = scope; at != NULL; at = at->outer) {
        add_leaves(lineage, at, set);
    }
}

/* --- Expressions -------------------------------------------------------------------------------------------------- */

void lineage_add_exprs(Lineage *lineage, Scope *scope, const QueryExprVec *exprs, ColumnSet *set) {
    for (size_t i = 0; i < exprs->count; i++) {
        lineage_add_expr(lineage, scope, exprs->items[i], set);
    }
}

/* `x -> …` is a lambda as a later argument of these, and an operator of JSON elsewhere. */
static bool takes_lambda(const QueryExpr *expr) {
    static const Str names[] = {STR_INIT("list_transform"), STR_INIT("array_transform"), STR_INIT("list_apply"),
                                STR_INIT("array_apply"),    STR_INIT("apply"),           STR_INIT("list_filter"),
                                STR_INIT("array_filter"),   STR_INIT("filter"),          STR_INIT("list_reduce"),
                                STR_INIT("array_reduce"),   STR_INIT("reduce")};
    for (size_t i = 0; expr->kind == QUERY_FUNCTION && i < COUNT_OF(names); i++) {
        if (str_equal_fold(expr->name, names[i])) {
            return true;
        }
    }
    return expr->kind == QUERY_STAR;
}

static void add_parameter_names(Arena *arena, const QueryExpr *expr, StrVec *names) {
    if (expr->kind == QUERY_COLUMN && expr->parts.count == 1) {
        str_vec_push(arena, names, expr->parts.items[0]);
    }
    for (size_t i = 0; i < expr->operands.count; i++) { /* (x, i) is a row */
        add_parameter_names(arena, expr->operands.items[i], names);
    }
}

static void add_lambda(Lineage *lineage, Scope *scope, const QueryExpr *lambda, ColumnSet *set) {
    LambdaParameters parameters = {.outer = scope->parameters};
    size_t last = lambda->operands.count - 1;
    for (size_t i = 0; i < last; i++) {
        add_parameter_names(lineage->arena, lambda->operands.items[i], &parameters.names);
    }
    scope->parameters = &parameters;
    lineage_add_expr(lineage, scope, lambda->operands.items[last], set);
    scope->parameters = parameters.outer;
}

static void add_operands(Lineage *lineage, Scope *scope, const QueryExpr *expr, ColumnSet *set) {
    bool may_be_lambda = takes_lambda(expr);
    for (size_t i = 0; i < expr->operands.count; i++) {
        const QueryExpr *operand = expr->operands.items[i];
        bool is_lambda = may_be_lambda && (i > 0 || expr->kind == QUERY_STAR) && operand->kind == QUERY_LAMBDA &&
                         operand->operands.count > 0;
        if (is_lambda) {
            add_lambda(lineage, scope, operand, set);
        } else {
            lineage_add_expr(lineage, scope, operand, set);
        }
    }
}

/* amount.round(): the column comes as the function's schema. */
static void add_method_column(Lineage *lineage, const Scope *scope, const QueryExpr *call, ColumnSet *set) {
    bool is_catalog = call->schema.size == 0 || str_equal_fold(call->schema, STR("main")) ||
                      str_equal_fold(call->schema, STR("pg_catalog"));
    StrVec parts = {0};
    str_vec_push(lineage->arena, &parts, call->schema);
    for (const Scope *at = scope; !is_catalog && !is_parameter(scope, call->schema) && at != NULL; at = at->outer) {
        if (find_in_scope(lineage, at, &parts, set)) {
            return;
        }
    }
}

static void add_subquery(Lineage *lineage, Scope *scope, const QueryExpr *expr, ColumnSet *set) {
    Result result = {0};
    lineage_follow_query(lineage, expr->subquery, scope, scope->ctes, &result);
    relation_add_all(&lineage->columns, &result.relation, set);
    lineage_add_set(lineage, set, &result.rows);
}

/* All columns of a star: rules only take some away. */
static void add_star(Lineage *lineage, Scope *scope, const QueryExpr *star, ColumnSet *set) {
    StrVec parts = {0};
    if (star->name.size == 0) {
        add_leaves(lineage, scope, set);
        return;
    }
    str_vec_push(lineage->arena, &parts, star->name);
    if (!find_row(lineage, scope, star->name, set)) {
        lineage_add_reference(lineage, scope, &parts, set);
    }
}

void lineage_add_expr(Lineage *lineage, Scope *scope, const QueryExpr *expr, ColumnSet *set) {
    switch (expr->kind) {
    case QUERY_CONSTANT:
        return;
    case QUERY_COLUMN:
        if (!is_bare_word(scope, expr)) {
            lineage_add_reference(lineage, scope, &expr->parts, set);
        }
        return;
    case QUERY_POSITION:
        add_leaves(lineage, scope, set);
        return;
    case QUERY_STAR:
        add_star(lineage, scope, expr, set);
        add_operands(lineage, scope, expr, set);
        return;
    case QUERY_SUBQUERY:
        add_subquery(lineage, scope, expr, set);
        add_operands(lineage, scope, expr, set);
        return;
    case QUERY_FUNCTION:
    case QUERY_WINDOW:
        add_method_column(lineage, scope, expr, set);
        add_operands(lineage, scope, expr, set);
        return;
    case QUERY_LAMBDA:
    case QUERY_OPERATION:
        add_operands(lineage, scope, expr, set);
        return;
    }
}
