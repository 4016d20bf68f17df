#include "sql/query_diff.h"

#include "sql/query_walk.h"
#include "sql/sql_function_class.h"
#include "sql/sql_tokens.h"

typedef struct Comparison {
    const QueryVersion *before, *after;
    Arena *arena;
    QueryDiff *diff;
    const QueryExpr **partners; /* an item of `after` each: the one of that name in `before`; NULL: none */
} Comparison;

/* Ends a sentence about the whole query. */
static void give_up(Comparison *c, Str reason, size_t offset) {
    *c->diff = (QueryDiff){.kind = QUERY_DIFF_ALL, .reason = reason, .offset = offset};
}

#define GIVE_UP(c, offset, ...) give_up((c), str_format((c)->arena, __VA_ARGS__), (offset))

/* ---- What the comparison cannot look into. */

static void note_position(void *context, const QueryExpr *expr) {
    bool *has_position = context;
    *has_position = *has_position || expr->kind == QUERY_POSITION;
}

static bool has_position(const Query *query) {
    bool found = false;
    query_walk(query, &(QueryVisitor){.expr = note_position, .context = &found});
    return found;
}

/* A number that stands for a column; ALL that stands for all of them. */
static bool has_ordinal(const QueryExprVec *exprs) {
    for (size_t i = 0; i < exprs->count; i++) {
        QueryExprKind kind = exprs->items[i]->kind;
        if (kind == QUERY_CONSTANT || kind == QUERY_STAR) {
            return true;
        }
    }
    return false;
}

static bool has_star(const Query *query) {
    for (size_t i = 0; i < query->projections.count; i++) {
        if (query->projections.items[i]->kind == QUERY_STAR) {
            return true;
        }
    }
    return false;
}

/* Empty: each item has a name of its own. */
static Str names_fault(const Query *query, Arena *arena) {
    StrVec names = {0};
    for (size_t i = 0; i < query->projections.count; i++) {
        Str name = query_item_name(query->projections.items[i]);
        if (name.size == 0) {
            return str_format(arena, "column %zu has no name", i + 1);
        }
        if (str_vec_contains_fold(&names, name)) {
            return str_format(arena, "two of its columns are called '" STR_FMT "'", STR_ARG(name));
        }
        str_vec_push(arena, &names, name);
    }
    return STR_EMPTY;
}

static Str query_fault(const Query *query, Arena *arena) {
    if (query->kind != QUERY_SELECT || query->source->kind == QUERY_SHOW) {
        return STR("it is more than one SELECT");
    }
    if (has_star(query)) {
        return STR("its select list has a *");
    }
    if (query->has_distinct) {
        return STR("it has a DISTINCT");
    }
    if (query->groups_all || (query->is_grouped && query->groups.count == 0)) {
        return STR("its GROUP BY names no column");
    }
    if (has_ordinal(&query->groups) || has_ordinal(&query->orders) || has_position(query)) {
        return STR("it refers to columns by number");
    }
    return names_fault(query, arena);
}

/* Hashes fold the case of names, which is right for unquoted ones. */
static bool is_exact(SqlToken token) {
    return token.kind == SQL_TOKEN_QUOTED || token.kind == SQL_TOKEN_STRING;
}

static bool has_respelling(const SqlTokens *a, const SqlTokens *b, Arena *arena) {
    for (size_t i = 0; i < a->list.count; i++) {
        bool is_there = !is_exact(a->list.items[i]), is_folded = false;
        Str name = sql_tokens_name(a, i, arena);
        for (size_t k = 0; k < b->list.count && !is_there; k++) {
            is_there = str_equal(sql_tokens_text(a, i), sql_tokens_text(b, k));
            is_folded = is_folded || str_equal_fold(name, sql_tokens_name(b, k, arena));
        }
        if (!is_there && is_folded) {
            return true;
        }
    }
    return false;
}

static bool is_respelled(const Comparison *c) {
    AUTO(arena) Arena *scratch = arena_create();
    SqlTokens before = sql_tokens(c->before->text, scratch), after = sql_tokens(c->after->text, scratch);
    return has_respelling(&before, &after, scratch) || has_respelling(&after, &before, scratch);
}

static const char *const clause_names[] = {
    [QUERY_CLAUSE_WITH] = "WITH",
    [QUERY_CLAUSE_FROM] = "FROM",
    [QUERY_CLAUSE_WHERE] = "WHERE",
    [QUERY_CLAUSE_GROUP_BY] = "GROUP BY",
    [QUERY_CLAUSE_HAVING] = "HAVING",
    [QUERY_CLAUSE_QUALIFY] = "QUALIFY",
    [QUERY_CLAUSE_ORDER_BY] = "ORDER BY, LIMIT or DISTINCT",
    [QUERY_CLAUSE_SAMPLE] = "sample",
};
static_assert(COUNT_OF(clause_names) == QUERY_CLAUSE_COUNT, "one name per QueryClause");

static const char *changed_clause(const Query *before, const Query *after) {
    size_t clause = 0;
    while (clause < QUERY_CLAUSE_COUNT && before->clause_hashes[clause] == after->clause_hashes[clause]) {
        clause++;
    }
    return clause < QUERY_CLAUSE_COUNT ? clause_names[clause] : "text outside of its select list";
}

static bool is_comparable(Comparison *c) {
    const Query *before = c->before->query, *after = c->after->query;
    bool is_select = before->kind == QUERY_SELECT && after->kind == QUERY_SELECT;
    if (is_select && before->rest_hash != after->rest_hash) {
        GIVE_UP(c, STR_NOT_FOUND, "its %s changed", changed_clause(before, after));
        return false;
    }
    Str fault = query_fault(after, c->arena);
    if (fault.size > 0) {
        GIVE_UP(c, STR_NOT_FOUND, "its text changed, and " STR_FMT, STR_ARG(fault));
        return false;
    }
    fault = query_fault(before, c->arena);
    if (fault.size > 0) {
        GIVE_UP(c, STR_NOT_FOUND, "its text changed, of which can be said that before, " STR_FMT, STR_ARG(fault));
        return false;
    }
    return true;
}

/* ---- Pairs of columns. */

static const QueryExpr *find_item(const Query *query, Str name) {
    for (size_t i = 0; i < query->projections.count; i++) {
        if (str_equal_fold(query_item_name(query->projections.items[i]), name)) {
            return query->projections.items[i];
        }
    }
    return NULL;
}

static void pair_items(Comparison *c) {
    const QueryExprVec *before = &c->before->query->projections, *after = &c->after->query->projections;
    c->partners = ARENA_NEW_ARRAY(c->arena, const QueryExpr *, after->count);
    for (size_t i = 0; i < after->count; i++) {
        Str name = query_item_name(after->items[i]);
        c->partners[i] = find_item(c->before->query, name);
        if (c->partners[i] == NULL) {
            str_vec_push(c->arena, &c->diff->added, name);
        } else if (c->partners[i]->hash != after->items[i]->hash) {
            str_vec_push(c->arena, &c->diff->touched, name);
        }
    }
    for (size_t i = 0; i < before->count; i++) {
        Str name = query_item_name(before->items[i]);
        if (find_item(c->after->query, name) == NULL) {
            str_vec_push(c->arena, &c->diff->touched, name);
        }
    }
}

static bool is_kept(const Comparison *c, size_t item) {
    return c->partners[item] != NULL && c->partners[item]->hash == c->after->query->projections.items[item]->hash;
}

static bool keeps_order(const Comparison *c) {
    const QueryExprVec *before = &c->before->query->projections;
    size_t next = 0;
    for (size_t i = 0; i < c->after->query->projections.count; i++) {
        while (c->partners[i] != NULL && next < before->count && before->items[next] != c->partners[i]) {
            next++;
        }
        if (c->partners[i] != NULL && next++ >= before->count) {
            return false;
        }
    }
    return true;
}

/* ---- Names that an alias may now mean, or no longer. */

typedef struct Capture {
    const StrVec *names;
    const QueryExpr *found; /* a use */
} Capture;

static void look_for_capture(void *context, const QueryExpr *expr) {
    Capture *capture = context;
    bool is_use = expr->kind == QUERY_COLUMN && expr->parts.count > 0 &&
                  str_vec_contains_fold(capture->names, expr->parts.items[0]);
    capture->found = capture->found == NULL && is_use ? expr : capture->found;
}

/* Where a kept column, or anything but the select list, reads one of the names without saying of which table. */
static const QueryExpr *find_capture(const Comparison *c, const StrVec *names) {
    Capture capture = {.names = names};
    QueryVisitor visitor = {.expr = look_for_capture, .context = &capture};
    const Query *query = c->after->query;
    query_walk_exprs(&query->filters, &visitor);
    query_walk_exprs(&query->modifiers, &visitor);
    for (size_t i = 0; i < query->projections.count; i++) {
        if (is_kept(c, i)) {
            query_walk_expr(query->projections.items[i], &visitor);
        }
    }
    return capture.found;
}

static bool is_captured(Comparison *c) {
    const StrVec *lists[] = {&c->diff->touched, &c->diff->added};
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        const QueryExpr *use = find_capture(c, lists[i]);
        if (use != NULL) {
            GIVE_UP(c, use->offset, "the name '" STR_FMT "' of a column that %s is used elsewhere in it",
                    STR_ARG(use->parts.items[0]), i == 0 ? "changed" : "is new");
            return true;
        }
    }
    return false;
}

/* ---- Rows. */

typedef struct RowSearch {
    Arena *arena;
    const QueryExpr *multiplier; /* a call that may give more rows, or fewer */
    bool has_aggregate;
} RowSearch;

static void look_at_rows(void *context, const QueryExpr *expr) {
    RowSearch *search = context;
    if (expr->kind != QUERY_FUNCTION && expr->kind != QUERY_WINDOW) {
        return;
    }
    SqlFunctionClass class = sql_function_class(expr->name, search->arena);
    bool multiplies = class == SQL_FUNCTION_UNKNOWN || class == SQL_FUNCTION_ROWS;
    search->multiplier = search->multiplier == NULL && multiplies ? expr : search->multiplier;
    bool folds = class == SQL_FUNCTION_AGGREGATE || class == SQL_FUNCTION_CHOICE;
    search->has_aggregate = search->has_aggregate || (expr->kind == QUERY_FUNCTION && folds);
}

static RowSearch search_rows(const QueryExpr *expr, Arena *arena) {
    RowSearch search = {.arena = arena};
    query_walk_expr(expr, &(QueryVisitor){.expr = look_at_rows, .context = &search});
    return search;
}

/* An aggregate of the query itself; one of a subquery is not certain to be (`(SELECT sum(t.x))` of FROM t is). */
static bool has_own_aggregate(const QueryExprVec *exprs, Arena *arena) {
    for (size_t i = 0; i < exprs->count; i++) {
        const QueryExpr *expr = exprs->items[i];
        SqlFunctionClass class =
            expr->kind == QUERY_FUNCTION ? sql_function_class(expr->name, arena) : SQL_FUNCTION_SCALAR;
        bool folds = class == SQL_FUNCTION_AGGREGATE || class == SQL_FUNCTION_CHOICE;
        if (folds || has_own_aggregate(&expr->operands, arena)) {
            return true;
        }
    }
    return false;
}

static bool is_folded(const Query *query, Arena *arena) {
    return query->is_grouped || has_own_aggregate(&query->projections, arena) ||
           has_own_aggregate(&query->filters, arena) || has_own_aggregate(&query->modifiers, arena);
}

/* A column that comes, goes or changes decides how many rows there are. */
static bool moves_rows(Comparison *c, const QueryExpr *item, bool is_folded_already) {
    RowSearch search = search_rows(item, c->arena);
    if (search.multiplier != NULL) {
        GIVE_UP(c, item->offset, STR_FMT "() in column '" STR_FMT "' may change how many rows there are",
                STR_ARG(search.multiplier->name), STR_ARG(query_item_name(item)));
        return true;
    }
    if (search.has_aggregate && !is_folded_already) {
        GIVE_UP(c, item->offset, "the aggregate in column '" STR_FMT "' may make one row of all",
                STR_ARG(query_item_name(item)));
        return true;
    }
    return false;
}

static bool keeps_rows(Comparison *c) {
    const QueryExprVec *before = &c->before->query->projections, *after = &c->after->query->projections;
    bool is_folded_now = is_folded(c->after->query, c->arena);
    if (is_folded(c->before->query, c->arena) != is_folded_now) {
        GIVE_UP(c, STR_NOT_FOUND, "an aggregate %s, so it gives another number of rows",
                is_folded_now ? "came into it" : "went from it");
        return false;
    }
    for (size_t i = 0; i < after->count; i++) {
        if (!is_kept(c, i) && (moves_rows(c, after->items[i], is_folded_now) ||
                               (c->partners[i] != NULL && moves_rows(c, c->partners[i], is_folded_now)))) {
            return false;
        }
    }
    for (size_t i = 0; i < before->count; i++) {
        bool is_gone = find_item(c->after->query, query_item_name(before->items[i])) == NULL;
        if (is_gone && moves_rows(c, before->items[i], is_folded_now)) {
            return false;
        }
    }
    return true;
}

/* ---- The verdict. */

static Str list_names(const StrVec *names, Arena *arena) {
    Str list = str_join(arena, names->items, names->count, STR("', '"));
    return str_format(arena, "column%s '" STR_FMT "'", names->count == 1 ? "" : "s", STR_ARG(list));
}

static size_t decisive_offset(const Comparison *c) {
    for (size_t i = 0; i < c->after->query->projections.count; i++) {
        bool decides = c->diff->touched.count > 0 ? c->partners[i] != NULL : true;
        if (!is_kept(c, i) && decides) {
            return c->after->query->projections.items[i]->offset;
        }
    }
    return STR_NOT_FOUND;
}

static const char *what_happened(const Comparison *c) {
    const StrVec *touched = &c->diff->touched;
    size_t gone = 0;
    for (size_t i = 0; i < touched->count; i++) {
        gone += find_item(c->after->query, touched->items[i]) == NULL;
    }
    if (gone == 0) {
        return "changed";
    }
    return gone < touched->count ? "changed or went" : gone == 1 ? "is gone" : "are gone";
}

static void settle(Comparison *c) {
    QueryDiff *diff = c->diff;
    bool is_touched = diff->touched.count > 0;
    diff->kind = is_touched ? QUERY_DIFF_TOUCHED : QUERY_DIFF_ADDED;
    Str names = list_names(is_touched ? &diff->touched : &diff->added, c->arena);
    bool is_one = (is_touched ? diff->touched.count : diff->added.count) == 1;
    diff->reason = is_touched ? str_format(c->arena, STR_FMT " %s", STR_ARG(names), what_happened(c))
                              : str_format(c->arena, STR_FMT " %s new", STR_ARG(names), is_one ? "is" : "are");
    diff->offset = decisive_offset(c);
}

void query_diff(const QueryVersion *before, const QueryVersion *after, Arena *arena, QueryDiff *diff_out) {
    *diff_out = (QueryDiff){.reason = STR_EMPTY, .offset = STR_NOT_FOUND};
    Comparison c = {.before = before, .after = after, .arena = arena, .diff = diff_out};
    if (is_respelled(&c)) {
        GIVE_UP(&c, STR_NOT_FOUND, "a quoted name or text is written in other letters");
        return;
    }
    if (before->query->hash == after->query->hash) {
        diff_out->reason = STR("it is the same query, written otherwise");
        return;
    }
    if (!is_comparable(&c)) {
        return;
    }
    pair_items(&c);
    if (!keeps_order(&c)) {
        GIVE_UP(&c, STR_NOT_FOUND, "the order of its columns changed");
        return;
    }
    if (keeps_rows(&c) && !is_captured(&c)) {
        settle(&c);
    }
}
