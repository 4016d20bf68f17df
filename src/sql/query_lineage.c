/* Follows every column of a query to the tables. Each query gives a Relation, whose columns have the sources of the
 * columns below them, and the set of columns that decide its rows.
 *
 * Names are looked up as the engine binds them; where its rule needs what is not known here (does that table have such
 * a column?) all candidates count. Columns inside a subquery of an expression are all sources of that expression, those
 * of its WHERE too: they decide its value. */
#include "sql/query_lineage.h"

#include "sql/lineage_scope.h"

#include <regex.h>

/* --- Sources ------------------------------------------------------------------------------------------------------ */

static Relation *copy_relation(Lineage *lineage, const Relation *relation) {
    Relation *copy = ARENA_NEW(lineage->arena, Relation);
    *copy = *relation;
    copy->columns = (RelationColumnVec){0};
    for (size_t i = 0; i < relation->columns.count; i++) { /* a rename must not reach the original */
        relation_column_vec_push(lineage->arena, &copy->columns, relation->columns.items[i]);
    }
    return copy;
}

static const CteLineage *find_cte(const CteLineage *ctes, const QuerySource *source) {
    bool is_recurring = str_equal_fold(source->schema, STR("recurring"));
    for (; source->catalog.size == 0 && (source->schema.size == 0 || is_recurring) && ctes != NULL;
         ctes = ctes->outer) {
        if (str_equal_fold(ctes->name, source->name)) {
            return ctes;
        }
    }
    return NULL;
}

static Relation *follow_table(Lineage *lineage, const QuerySource *source, const Scope *scope, ColumnSet *rows) {
    const CteLineage *cte = find_cte(scope->ctes, source);
    if (cte != NULL) {
        lineage_add_set(lineage, rows, cte->rows);
        return copy_relation(lineage, cte->relation);
    }
    LineageTable table = lineage->tables->get(lineage->tables->context, source);
    Relation *relation = ARENA_NEW(lineage->arena, Relation);
    if (table.columns == NULL) {
        relation->is_open = true;
        str_vec_push(lineage->arena, &relation->open_tables, table.name);
        return relation;
    }
    for (size_t i = 0; i < table.columns->count; i++) {
        RelationColumn column = {.name = table.columns->items[i]};
        column_set_add(&lineage->columns, &column.sources, table.name, column.name);
        relation_column_vec_push(lineage->arena, &relation->columns, column);
    }
    return relation;
}

/* A table function may give any number of rows with any columns, all of them made of its arguments. */
static Relation *follow_call(Lineage *lineage, const QuerySource *source, Scope *scope, ColumnSet *rows) {
    Relation *relation = ARENA_NEW(lineage->arena, Relation);
    relation->is_open = true;
    lineage_add_exprs(lineage, scope, &source->exprs, &relation->rest);
    lineage_add_set(lineage, rows, &relation->rest);
    return relation;
}

static Relation *follow_subselect(Lineage *lineage, const QuerySource *source, Scope *scope, ColumnSet *rows) {
    Result result = {0};
    lineage_follow_query(lineage, source->query, scope, scope->ctes, &result);
    lineage_add_set(lineage, rows, &result.rows);
    return copy_relation(lineage, &result.relation);
}

static void follow_source(Lineage *lineage, const QuerySource *source, Scope *scope, ColumnSet *rows, Relation *star);

/* A PIVOT's columns are its groups, and others that are made of its aggregates and the columns that it turns. */
static void add_pivot_groups(Lineage *lineage, const QuerySource *pivot, Scope *inner, const Relation *left,
                             Relation *relation) {
    LineageColumns *columns = &lineage->columns;
    for (size_t i = 0; i < pivot->groups.count; i++) {
        ColumnSet sources = {0};
        StrVec parts = {0};
        str_vec_push(lineage->arena, &parts, pivot->groups.items[i]);
        lineage_add_reference(lineage, inner, &parts, &sources);
        relation_push(columns, relation, pivot->groups.items[i], &sources);
    }
    if (pivot->groups.count > 0) {
        return;
    }
    ColumnSet turned = {0};
    lineage_add_set(lineage, &turned, &relation->rest);
    for (size_t i = 0; i < left->columns.count; i++) {
        const RelationColumn *column = &left->columns.items[i];
        ColumnSet both = {0};
        lineage_add_set(lineage, &both, &turned);
        lineage_add_set(lineage, &both, &column->sources);
        if (column->sources.count > 0 && both.count > turned.count) {
            relation_push(columns, relation, column->name, &column->sources);
        }
    }
    relation_open(columns, relation, left);
}

static Relation *follow_pivot(Lineage *lineage, const QuerySource *source, Scope *scope, ColumnSet *rows) {
    Scope inner = {.outer = scope, .ctes = scope->ctes};
    Relation left = {0};
    Relation *relation = ARENA_NEW(lineage->arena, Relation);
    follow_source(lineage, source->left, &inner, rows, &left);
    relation->is_open = true;
    if (source->has_aggregates) {
        lineage_add_exprs(lineage, &inner, &source->exprs, &relation->rest);
        add_pivot_groups(lineage, source, &inner, &left, relation);
    } else { /* the names of the columns that UNPIVOT turns are constants to the parser */
        relation_add_all(&lineage->columns, &left, &relation->rest);
    }
    relation_add_all(&lineage->columns, source->has_aggregates ? relation : &left, rows);
    return relation;
}

/* DESCRIBE gives names and types, SUMMARIZE figures of all columns. */
static Relation *follow_show(Lineage *lineage, const QuerySource *source, Scope *scope, ColumnSet *rows) {
    Relation *relation = ARENA_NEW(lineage->arena, Relation);
    relation->is_open = true;
    if (source->query != NULL) {
        Result result = {0};
        lineage_follow_query(lineage, source->query, scope, scope->ctes, &result);
        relation_add_all(&lineage->columns, &result.relation, &relation->rest);
        lineage_add_set(lineage, rows, &result.rows);
    }
    return relation;
}

/* --- Joins -------------------------------------------------------------------------------------------------------- */

static void merge_column(Lineage *lineage, Scope *scope, Str name, const Relation *left, const Relation *right,
                         ColumnSet *rows) {
    RelationColumn merged = {.name = name};
    lineage_add_column(lineage, left, name, &merged.sources);
    lineage_add_column(lineage, right, name, &merged.sources);
    lineage_add_set(lineage, rows, &merged.sources);
    relation_column_vec_push(lineage->arena, &scope->merged, merged);
}

/* The columns that USING names, or that NATURAL finds on both sides as far as they are known. */
static StrVec merged_names(Lineage *lineage, const QuerySource *join, const Relation *left, const Relation *right) {
    StrVec names = join->using_columns;
    for (size_t i = 0; join->is_natural && i < left->columns.count; i++) {
        if (relation_match(right, left->columns.items[i].name) != RELATION_HAS_NOT) {
            str_vec_push(lineage->arena, &names, left->columns.items[i].name);
        }
    }
    for (size_t i = 0; join->is_natural && left->is_open && i < right->columns.count; i++) {
        if (relation_match(left, right->columns.items[i].name) == RELATION_MAY_HAVE) {
            str_vec_push(lineage->arena, &names, right->columns.items[i].name);
        }
    }
    return names;
}

static void push_star_column(Lineage *lineage, const Scope *scope, const RelationColumn *column, Relation *star) {
    RelationColumn item = {.name = column->name};
    lineage_add_set(lineage, &item.sources, &column->sources);
    lineage_find_merged(lineage, scope, column->name, &item.sources);
    relation_column_vec_push(lineage->arena, &star->columns, item);
}

/* What `*` means behind the join, in its order: a merged column once. */
static void join_stars(Lineage *lineage, const Scope *scope, const QuerySource *join, const StrVec *merged,
                       const Relation *left, const Relation *right, Relation *star) {
    for (size_t i = 0; i < left->columns.count; i++) {
        push_star_column(lineage, scope, &left->columns.items[i], star);
    }
    relation_open(&lineage->columns, star, left);
    star->absent = left->absent;
    if (join->gives_left_only) {
        return;
    }
    for (size_t i = 0; i < right->columns.count; i++) {
        if (!str_vec_contains_fold(merged, right->columns.items[i].name)) {
            push_star_column(lineage, scope, &right->columns.items[i], star);
        }
    }
    relation_open(&lineage->columns, star, right);
    if (right->is_open) { /* what one side leaves out the other may give */
        star->absent = left->is_open ? (StrVec){0} : right->absent;
    }
}

/* Columns of NATURAL that may be there on both sides without that anybody knows their names. */
static void add_natural_rows(Lineage *lineage, const QuerySource *join, const Relation *left, const Relation *right,
                             ColumnSet *rows) {
    if (join->is_natural && (left->is_open || right->is_open)) {
        lineage->is_opaque = true;
        relation_add_all(&lineage->columns, left, rows);
        relation_add_all(&lineage->columns, right, rows);
    }
}

static void follow_join(Lineage *lineage, const QuerySource *join, Scope *scope, ColumnSet *rows, Relation *star) {
    Relation left = {0}, right = {0};
    follow_source(lineage, join->left, scope, rows, &left);
    size_t leaf_count = scope->leaves.count;
    follow_source(lineage, join->right, scope, rows, &right);
    StrVec merged = merged_names(lineage, join, &left, &right);
    for (size_t i = 0; i < merged.count; i++) {
        merge_column(lineage, scope, merged.items[i], &left, &right, rows);
    }
    add_natural_rows(lineage, join, &left, &right, rows);
    lineage_add_exprs(lineage, scope, &join->exprs, rows);
    if (join->gives_left_only) {
        scope->leaves.count = leaf_count;
    }
    join_stars(lineage, scope, join, &merged, &left, &right, star);
}

static Str schema_of(const QuerySource *source) {
    return source->alias.size == 0 ? source->schema : STR_EMPTY;
}

static Str name_of(const QuerySource *source) {
    if (source->alias.size > 0 || source->kind == QUERY_TABLE) {
        return source->alias.size > 0 ? source->alias : source->name;
    }
    bool is_call = source->kind == QUERY_TABLE_FUNCTION && source->exprs.count == 1;
    return is_call ? source->exprs.items[0]->name : STR_EMPTY;
}

static Relation *follow_leaf(Lineage *lineage, const QuerySource *source, Scope *scope, ColumnSet *rows) {
    switch (source->kind) {
    case QUERY_TABLE:
        return follow_table(lineage, source, scope, rows);
    case QUERY_SUBSELECT:
        return follow_subselect(lineage, source, scope, rows);
    case QUERY_TABLE_FUNCTION:
    case QUERY_VALUES:
        return follow_call(lineage, source, scope, rows);
    case QUERY_PIVOT:
        return follow_pivot(lineage, source, scope, rows);
    case QUERY_SHOW:
        return follow_show(lineage, source, scope, rows);
    case QUERY_NOTHING:
    case QUERY_JOIN:
        break;
    }
    return ARENA_NEW(lineage->arena, Relation);
}

/* (a JOIN b) AS c: one source. */
static Relation *follow_named_join(Lineage *lineage, const QuerySource *join, Scope *scope, ColumnSet *rows) {
    Scope inner = {.outer = scope, .ctes = scope->ctes};
    Relation *relation = ARENA_NEW(lineage->arena, Relation);
    follow_join(lineage, join, &inner, rows, relation);
    return relation;
}

/* Adds the leaves below `source` to the scope and gives what `*` means there. */
static void follow_source(Lineage *lineage, const QuerySource *source, Scope *scope, ColumnSet *rows, Relation *star) {
    bool is_join = source->kind == QUERY_JOIN;
    if (is_join && source->alias.size == 0) {
        follow_join(lineage, source, scope, rows, star);
        return;
    }
    Relation *leaf =
        is_join ? follow_named_join(lineage, source, scope, rows) : follow_leaf(lineage, source, scope, rows);
    relation_rename(&lineage->columns, leaf, &source->column_aliases);
    leaf->name = name_of(source);
    leaf->schema = schema_of(source);
    relation_vec_push(lineage->arena, &scope->leaves, leaf);
    *star = *copy_relation(lineage, leaf);
}

/* --- Select lists ------------------------------------------------------------------------------------------------- */

/* The relation that a star of the select list stands for; NULL: it is a struct or not known. */
static const Relation *find_starred(const Scope *scope, const QueryExpr *item, const Relation *star) {
    if (item->name.size == 0) {
        return star;
    }
    for (size_t i = 0; i < scope->leaves.count; i++) {
        if (str_equal_fold(scope->leaves.items[i]->name, item->name)) {
            return scope->leaves.items[i];
        }
    }
    return NULL;
}

static const QueryStarRule *find_rule(const QueryExpr *star, Str name) {
    for (size_t i = 0; i < star->rules.count; i++) {
        if (str_equal_fold(star->rules.items[i].column, name)) {
            return &star->rules.items[i];
        }
    }
    return NULL;
}

static const QueryExpr *find_replacement(const QueryExpr *star, Str name) {
    for (size_t i = 0; i < star->operands.count; i++) {
        if (str_equal_fold(star->operands.items[i]->alias, name)) {
            return star->operands.items[i];
        }
    }
    return NULL;
}

static void push_starred(Lineage *lineage, Scope *scope, const QueryExpr *star, const RelationColumn *column,
                         Relation *out) {
    const QueryStarRule *rule = find_rule(star, column->name);
    const QueryExpr *replacement = star->is_columns ? NULL : find_replacement(star, column->name);
    ColumnSet sources = {0};
    bool is_excluded = rule != NULL && rule->new_name.size == 0;
    if (is_excluded && rule->relation.size == 0) {
        return;
    }
    if (replacement != NULL) {
        lineage_add_expr(lineage, scope, replacement, &sources);
    } else {
        lineage_add_set(lineage, &sources, &column->sources);
    }
    relation_push(&lineage->columns, out, rule != NULL && !is_excluded ? rule->new_name : column->name, &sources);
}

/* Rules and replacements may be about columns of an open source, which are not listed. */
static void open_star(Lineage *lineage, Scope *scope, const QueryExpr *star, const Relation *relation, Relation *out) {
    if (!relation->is_open) {
        return;
    }
    bool is_first = !out->is_open;
    StrVec absent = {0};
    for (size_t i = 0; i < relation->absent.count; i++) {
        str_vec_push(lineage->arena, &absent, relation->absent.items[i]);
    }
    for (size_t i = 0; i < star->rules.count; i++) {
        const QueryStarRule *rule = &star->rules.items[i];
        str_vec_push(lineage->arena, &absent, rule->column);
        if (rule->new_name.size > 0 && relation_find(relation, rule->column) == NULL) {
            ColumnSet sources = {0};
            lineage_add_column(lineage, relation, rule->column, &sources);
            relation_push(&lineage->columns, out, rule->new_name, &sources);
        }
    }
    for (size_t i = 0; !star->is_columns && i < star->operands.count; i++) {
        const QueryExpr *replacement = star->operands.items[i];
        if (relation_find(relation, replacement->alias) == NULL) {
            ColumnSet sources = {0};
            lineage_add_expr(lineage, scope, replacement, &sources);
            relation_push(&lineage->columns, out, replacement->alias, &sources);
        }
    }
    relation_open(&lineage->columns, out, relation);
    out->absent = is_first ? absent : (StrVec){0};
}

/* An item that gives several columns of names that are not known, each made of what the item is made of. */
static void open_item(Lineage *lineage, Scope *scope, const QueryExpr *item, Relation *out) {
    ColumnSet sources = {0};
    lineage_add_expr(lineage, scope, item, &sources);
    if (item->alias.size > 0) {
        relation_push(&lineage->columns, out, item->alias, &sources);
    }
    out->is_open = true;
    lineage_add_set(lineage, &out->rest, &sources);
}

/* Letters, dots, brackets and the like mean the same to both engines of regular expressions. */
static bool is_simple_pattern(Str pattern) {
    for (size_t i = 0; i < pattern.size; i++) {
        unsigned char c = (unsigned char)pattern.ptr[i];
        bool is_word = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
        bool is_plain = is_word || (c >= '0' && c <= '9') || (c != '\0' && strchr("_.*+|()^$ ", c) != NULL);
        if (!is_plain) {
            return false;
        }
    }
    return pattern.size > 0;
}

/* COLUMNS('pattern'): false when which columns match cannot be told. */
static bool push_matches(Lineage *lineage, Str pattern, const Relation *starred, Relation *out) {
    regex_t regex;
    if (starred->is_open || !is_simple_pattern(pattern) ||
        regcomp(&regex, str_to_c(lineage->arena, pattern), REG_EXTENDED | REG_NOSUB) != 0) {
        return false;
    }
    for (size_t i = 0; i < starred->columns.count; i++) {
        const RelationColumn *column = &starred->columns.items[i];
        if (regexec(&regex, str_to_c(lineage->arena, column->name), 0, NULL, 0) == 0) {
            relation_push(&lineage->columns, out, column->name, &column->sources);
        }
    }
    regfree(&regex);
    return true;
}

/* COLUMNS(['a', 'b']): false when it is no list of constants. */
static bool push_listed(Lineage *lineage, const QueryExpr *list, const Relation *starred, Relation *out) {
    bool is_list = list->kind == QUERY_FUNCTION && str_equal_fold(list->name, STR("list_value"));
    for (size_t i = 0; i < list->operands.count; i++) {
        is_list = is_list && list->operands.items[i]->kind == QUERY_CONSTANT;
    }
    for (size_t i = 0; is_list && i < list->operands.count; i++) {
        ColumnSet sources = {0};
        lineage_add_column(lineage, starred, list->operands.items[i]->text, &sources);
        relation_push(&lineage->columns, out, list->operands.items[i]->text, &sources);
    }
    return is_list;
}

static void push_star(Lineage *lineage, Scope *scope, const QueryExpr *star, const Relation *all, Relation *out) {
    const Relation *starred = find_starred(scope, star, all);
    const QueryExpr *choice = star->is_columns && star->operands.count == 1 ? star->operands.items[0] : NULL;
    bool is_plain = starred != NULL && star->alias.size == 0;
    if (is_plain && choice != NULL) {
        bool is_chosen = choice->kind == QUERY_CONSTANT ? push_matches(lineage, choice->text, starred, out)
                                                        : push_listed(lineage, choice, starred, out);
        if (is_chosen) {
            return;
        }
    }
    bool is_known = is_plain && choice == NULL && !(star->is_columns && star->operands.count > 0);
    if (!is_known) {
        open_item(lineage, scope, star, out);
        return;
    }
    for (size_t i = 0; i < starred->columns.count; i++) {
        push_starred(lineage, scope, star, &starred->columns.items[i], out);
    }
    open_star(lineage, scope, star, starred, out);
}

static bool holds(const QueryExpr *expr, bool (*is_it)(const QueryExpr *expr)) {
    if (is_it(expr)) {
        return true;
    }
    for (size_t i = 0; i < expr->operands.count; i++) {
        if (holds(expr->operands.items[i], is_it)) {
            return true;
        }
    }
    return false;
}

static bool is_star(const QueryExpr *expr) {
    return expr->kind == QUERY_STAR;
}

static bool is_unnest(const QueryExpr *expr) {
    return expr->kind == QUERY_FUNCTION &&
           (str_equal_fold(expr->name, STR("unnest")) || str_equal_fold(expr->name, STR("unlist")));
}

static void push_item(Lineage *lineage, Scope *scope, const QueryExpr *item, const Relation *star, ColumnSet *rows,
                      Relation *out) {
    ColumnSet sources = {0};
    bool is_many = holds(item, is_star) || (is_unnest(item) && item->alias.size == 0);
    if (item->kind == QUERY_STAR) {
        push_star(lineage, scope, item, star, out);
        return;
    }
    if (is_many) {
        open_item(lineage, scope, item, out);
        lineage_add_expr(lineage, scope, item, &sources);
    } else {
        lineage_add_expr(lineage, scope, item, &sources);
        relation_push(&lineage->columns, out, query_item_name(item), &sources);
    }
    if (holds(item, is_unnest)) { /* as many rows as there are elements */
        lineage_add_set(lineage, rows, &sources);
    }
    if (item->alias.size > 0) {
        relation_push(&lineage->columns, &scope->items, item->alias, &sources);
    }
}

/* --- Rows --------------------------------------------------------------------------------------------------------- */

/* GROUP BY 1 and ORDER BY 1 are the first output. */
static void add_key(Lineage *lineage, Scope *scope, const QueryExpr *key, const Relation *out, ColumnSet *rows) {
    int64_t position = 0;
    bool is_position = key->kind == QUERY_CONSTANT && str_to_int64(key->text, &position) && position > 0;
    if (!is_position) {
        lineage_add_expr(lineage, scope, key, rows);
    } else if (!out->is_open && (size_t)position <= out->columns.count) {
        lineage_add_set(lineage, rows, &out->columns.items[position - 1].sources);
    } else {
        relation_add_all(&lineage->columns, out, rows);
    }
}

static bool contains_expr(const QueryExprVec *exprs, const QueryExpr *expr) {
    for (size_t i = 0; i < exprs->count; i++) {
        if (exprs->items[i] == expr) {
            return true;
        }
    }
    return false;
}

static bool is_aggregate(const QueryExpr *expr) {
    static const Str names[] = {STR_INIT("sum"),           STR_INIT("count"),        STR_INIT("count_star"),
                                STR_INIT("min"),           STR_INIT("max"),          STR_INIT("avg"),
                                STR_INIT("mean"),          STR_INIT("any_value"),    STR_INIT("first"),
                                STR_INIT("last"),          STR_INIT("arg_max"),      STR_INIT("arg_min"),
                                STR_INIT("max_by"),        STR_INIT("min_by"),       STR_INIT("list"),
                                STR_INIT("array_agg"),     STR_INIT("string_agg"),   STR_INIT("median"),
                                STR_INIT("mode"),          STR_INIT("stddev"),       STR_INIT("bool_and"),
                                STR_INIT("bool_or"),       STR_INIT("variance"),     STR_INIT("fsum"),
                                STR_INIT("count_if"),      STR_INIT("quantile"),     STR_INIT("approx_count_distinct"),
                                STR_INIT("quantile_cont"), STR_INIT("quantile_disc")};
    for (size_t i = 0; expr->kind == QUERY_FUNCTION && i < COUNT_OF(names); i++) {
        if (str_equal_fold(expr->name, names[i])) {
            return true;
        }
    }
    return false;
}

/* GROUP BY ALL: every item without an aggregate. */
static void add_implied_keys(Lineage *lineage, Scope *scope, const Query *query, ColumnSet *rows) {
    for (size_t i = 0; i < query->projections.count; i++) {
        if (!holds(query->projections.items[i], is_aggregate)) {
            lineage_add_expr(lineage, scope, query->projections.items[i], rows);
        }
    }
}

static void add_filters(Lineage *lineage, Scope *scope, const Query *query, const Relation *out, ColumnSet *rows) {
    for (size_t i = 0; i < query->filters.count; i++) {
        const QueryExpr *filter = query->filters.items[i];
        if (contains_expr(&query->groups, filter)) {
            add_key(lineage, scope, filter, out, rows);
        } else {
            lineage_add_expr(lineage, scope, filter, rows);
        }
    }
    if (query->groups_all) {
        add_implied_keys(lineage, scope, query, rows);
    }
}

/* The order decides rows under a LIMIT or DISTINCT ON; inside of another query it may decide what list() or
 * row_number() make of it. */
static void add_modifiers(Lineage *lineage, Scope *scope, const Query *query, const Relation *out, ColumnSet *rows) {
    bool order_counts = query->has_limit || query->has_distinct_on || query != lineage->top;
    scope->prefers_items = true;
    for (size_t i = 0; i < query->modifiers.count; i++) {
        const QueryExpr *modifier = query->modifiers.items[i];
        if (contains_expr(&query->limits, modifier)) {
            lineage_add_expr(lineage, scope, modifier, rows);
        } else if (order_counts) {
            add_key(lineage, scope, modifier, out, rows);
        }
    }
    if (query->has_distinct && !query->has_distinct_on) {
        relation_add_all(&lineage->columns, out, rows);
    }
}

/* --- Queries ------------------------------------------------------------------------------------------------------ */

static void follow_select(Lineage *lineage, const Query *query, Scope *scope, Result *result) {
    Relation star = {0};
    if (query->source != NULL) {
        follow_source(lineage, query->source, scope, &result->rows, &star);
    }
    for (size_t i = 0; i < query->projections.count; i++) {
        push_item(lineage, scope, query->projections.items[i], &star, &result->rows, &result->relation);
    }
    add_filters(lineage, scope, query, &result->relation, &result->rows);
    add_modifiers(lineage, scope, query, &result->relation, &result->rows);
}

static void add_by_name(Lineage *lineage, Relation *relation, const Relation *branch) {
    for (size_t i = 0; i < branch->columns.count; i++) {
        const RelationColumn *column = &branch->columns.items[i];
        const RelationColumn *known = relation_find(relation, column->name);
        if (known != NULL) {
            size_t place = (size_t)(known - relation->columns.items);
            lineage_add_set(lineage, &relation->columns.items[place].sources, &column->sources);
        } else {
            relation_push(&lineage->columns, relation, column->name, &column->sources);
        }
    }
    relation_open(&lineage->columns, relation, branch);
}

/* Where columns of one branch are not known, any column may stand at any place. */
static void add_by_position(Lineage *lineage, Relation *relation, const Relation *branch) {
    bool is_known = !relation->is_open && !branch->is_open;
    ColumnSet all = {0};
    if (!is_known) {
        lineage->is_opaque = true;
        relation_add_all(&lineage->columns, branch, &all);
    }
    for (size_t i = 0; i < relation->columns.count; i++) {
        bool has_partner = is_known && i < branch->columns.count;
        lineage_add_set(lineage, &relation->columns.items[i].sources,
                        has_partner ? &branch->columns.items[i].sources : &all);
    }
    if (relation->is_open) {
        lineage_add_set(lineage, &relation->rest, &all);
    }
}

static void add_branch(Lineage *lineage, const Query *query, const Result *branch, Result *result) {
    lineage_add_set(lineage, &result->rows, &branch->rows);
    if (query->is_by_name) {
        add_by_name(lineage, &result->relation, &branch->relation);
    } else {
        add_by_position(lineage, &result->relation, &branch->relation);
    }
}

/* ORDER BY and LIMIT behind set operations see their output. */
static void add_output_modifiers(Lineage *lineage, const Query *query, Scope *scope, Result *result) {
    relation_vec_push(lineage->arena, &scope->leaves, copy_relation(lineage, &result->relation));
    add_filters(lineage, scope, query, &result->relation, &result->rows); /* of USING KEY */
    add_modifiers(lineage, scope, query, &result->relation, &result->rows);
}

static void follow_set_operation(Lineage *lineage, const Query *query, Scope *scope, Result *result) {
    for (size_t i = 0; i < query->branches.count; i++) {
        Result branch = {0};
        lineage_follow_query(lineage, query->branches.items[i], scope->outer, scope->ctes, &branch);
        if (i == 0) {
            result->relation = *copy_relation(lineage, &branch.relation);
            lineage_add_set(lineage, &result->rows, &branch.rows);
        } else {
            add_branch(lineage, query, &branch, result);
        }
    }
    if (!(query->is_union && query->keeps_all)) {
        relation_add_all(&lineage->columns, &result->relation, &result->rows);
    }
    add_output_modifiers(lineage, query, scope, result);
}

static size_t relation_weight(const Result *result) {
    size_t weight = result->rows.count + result->relation.rest.count;
    for (size_t i = 0; i < result->relation.columns.count; i++) {
        weight += result->relation.columns.items[i].sources.count;
    }
    return weight;
}

/* Goes round until nothing new comes in: sets only grow, and there are only so many columns. */
static void follow_recursive(Lineage *lineage, const Query *query, Scope *scope, const StrVec *aliases,
                             Result *result) {
    if (query->branches.count != 2) {
        lineage->is_opaque = true;
        return;
    }
    lineage_follow_query(lineage, query->branches.items[0], scope->outer, scope->ctes, result);
    result->relation = *copy_relation(lineage, &result->relation);
    relation_rename(&lineage->columns, &result->relation, aliases);
    for (size_t before = SIZE_MAX; before != relation_weight(result);) {
        before = relation_weight(result);
        const CteLineage itself = {
            .outer = scope->ctes, .name = query->recursive_name, .relation = &result->relation, .rows = &result->rows};
        Result step = {0};
        lineage_follow_query(lineage, query->branches.items[1], scope->outer, &itself, &step);
        add_branch(lineage, query, &step, result);
    }
    if (!query->keeps_all) {
        relation_add_all(&lineage->columns, &result->relation, &result->rows);
    }
    add_output_modifiers(lineage, query, scope, result);
}

static const CteLineage *follow_cte(Lineage *lineage, const QueryCte *cte, const Scope *outer, const CteLineage *ctes) {
    Result *result = ARENA_NEW(lineage->arena, Result);
    if (cte->query->kind == QUERY_RECURSIVE && cte->query->ctes.count == 0) {
        Scope scope = {.outer = outer, .ctes = ctes};
        follow_recursive(lineage, cte->query, &scope, &cte->column_aliases, result);
    } else {
        lineage_follow_query(lineage, cte->query, outer, ctes, result);
        relation_rename(&lineage->columns, &result->relation, &cte->column_aliases);
    }
    CteLineage *followed = ARENA_NEW(lineage->arena, CteLineage);
    *followed = (CteLineage){.outer = ctes, .name = cte->name, .relation = &result->relation, .rows = &result->rows};
    return followed;
}

void lineage_follow_query(Lineage *lineage, const Query *query, const Scope *outer, const CteLineage *ctes,
                          Result *result) {
    for (size_t i = 0; i < query->ctes.count; i++) {
        ctes = follow_cte(lineage, &query->ctes.items[i], outer, ctes);
    }
    Scope scope = {.outer = outer, .ctes = ctes};
    switch (query->kind) {
    case QUERY_SELECT:
        follow_select(lineage, query, &scope, result);
        return;
    case QUERY_SET_OPERATION:
        follow_set_operation(lineage, query, &scope, result);
        return;
    case QUERY_RECURSIVE:
        follow_recursive(lineage, query, &scope, &(StrVec){0}, result);
        return;
    }
}

/* --- The whole ---------------------------------------------------------------------------------------------------- */

void query_lineage(const Query *query, const LineageTables *tables, Arena *arena, QueryLineage *lineage_out) {
    Lineage lineage = {.arena = arena, .tables = tables, .top = query};
    Result result = {0};
    lineage_columns_init(&lineage.columns, arena);
    lineage_follow_query(&lineage, query, NULL, NULL, &result);
    *lineage_out = (QueryLineage){
        .is_opaque = lineage.is_opaque,
        .rows = column_set_sources(&lineage.columns, &result.rows),
        .is_open = result.relation.is_open,
        .open_tables = result.relation.open_tables,
        .rest = column_set_sources(&lineage.columns, &result.relation.rest),
        .absent = result.relation.absent,
    };
    for (size_t i = 0; i < result.relation.columns.count; i++) {
        const RelationColumn *column = &result.relation.columns.items[i];
        LineageOutput output = {.name = column->name,
                                .sources = column_set_sources(&lineage.columns, &column->sources)};
        lineage_output_vec_push(arena, &lineage_out->outputs, output);
    }
}

bool query_lineage_find(const QueryLineage *lineage, Str name, Arena *arena, LineageSourceVec *sources_out) {
    for (size_t i = 0; i < lineage->outputs.count; i++) {
        if (str_equal_fold(lineage->outputs.items[i].name, name)) {
            *sources_out = lineage->outputs.items[i].sources;
            return true;
        }
    }
    if (!lineage->is_open) {
        return false;
    }
    LineageSourceVec sources = {0};
    bool is_absent = str_vec_contains_fold(&lineage->absent, name);
    for (size_t i = 0; !is_absent && i < lineage->open_tables.count; i++) {
        lineage_source_vec_push(arena, &sources,
                                (LineageSource){.table = lineage->open_tables.items[i], .column = name});
    }
    for (size_t i = 0; i < lineage->rest.count; i++) {
        lineage_source_vec_push(arena, &sources, lineage->rest.items[i]);
    }
    *sources_out = sources;
    return !is_absent || lineage->rest.count > 0;
}
