#include "sql/query_determined.h"

#include "sql/query_walk.h"
#include "sql/sql_function_class.h"

typedef struct Finding {
    Arena *arena;
    Str reason;
} Finding;

static void find(Finding *finding, const char *format, Str name) {
    if (finding->reason.size == 0) {
        finding->reason = str_format(finding->arena, format, STR_ARG(name));
    }
}

/* ---- LIMIT and DISTINCT ON: rows that are equal in the order must be equal in all. */

static bool is_ordered_by(const Query *query, const QueryExpr *item) {
    Str name = query_item_name(item);
    for (size_t i = 0; i < query->orders.count; i++) {
        const QueryExpr *order = query->orders.items[i];
        bool is_name = order->kind == QUERY_COLUMN && order->parts.count == 1 && name.size > 0 &&
                       str_equal_fold(order->parts.items[0], name);
        if (is_name || order->hash == item->hash) {
            return true;
        }
    }
    return false;
}

static bool has_total_order(const Query *query) {
    for (size_t i = 0; i < query->projections.count; i++) {
        const QueryExpr *item = query->projections.items[i];
        if (item->kind == QUERY_STAR || !is_ordered_by(query, item)) {
            return false;
        }
    }
    return query->kind == QUERY_SELECT && query->projections.count > 0;
}

static void look_at_query(void *context, const Query *query) {
    Finding *finding = context;
    if (query->is_sampled) {
        find(finding, "it takes a sample%.*s", STR_EMPTY);
    }
    if ((query->has_limit || query->has_distinct_on) && !has_total_order(query)) {
        find(finding, "its " STR_FMT " picks rows that no ORDER BY over all its columns decides",
             query->has_limit ? STR("LIMIT") : STR("DISTINCT ON"));
    }
}

/* ---- Sources. */

static void look_at_source(void *context, const QuerySource *source) {
    Finding *finding = context;
    if (source->is_sampled) {
        find(finding, "it takes a sample%.*s", STR_EMPTY);
    }
    if (source->pairs_otherwise) {
        find(finding, "it joins by position or by the nearest row%.*s", STR_EMPTY);
    }
}

/* ---- Expressions. */

static bool reads_only_its_arguments(Str name) {
    static const char *const table_functions[] = {"range",        "generate_series", "unnest",       "read_csv",
                                                  "read_parquet", "read_json",       "read_csv_auto"};
    for (size_t i = 0; i < COUNT_OF(table_functions); i++) {
        if (str_equal_fold(name, str_from(table_functions[i]))) {
            return true;
        }
    }
    return false;
}

static void look_at_call(Finding *finding, const QueryExpr *call) {
    switch (sql_function_class(call->name, finding->arena)) {
    case SQL_FUNCTION_UNKNOWN:
        if (!reads_only_its_arguments(call->name)) {
            find(finding, "it calls " STR_FMT "(), of which nothing is known", call->name);
        }
        return;
    case SQL_FUNCTION_CHOICE:
        find(finding, "the result of " STR_FMT "() depends on the order of rows", call->name);
        return;
    case SQL_FUNCTION_VOLATILE:
        find(finding, "it calls " STR_FMT "()", call->name);
        return;
    case SQL_FUNCTION_SCALAR:
    case SQL_FUNCTION_AGGREGATE:
    case SQL_FUNCTION_ROWS:
        break;
    }
    if (call->is_by_rows) {
        find(finding, "the frame of " STR_FMT "() counts rows", call->name);
    }
}

static void look_at_expr(void *context, const QueryExpr *expr) {
    Finding *finding = context;
    if (expr->kind == QUERY_FUNCTION || expr->kind == QUERY_WINDOW) {
        look_at_call(finding, expr);
    }
    if (expr->kind == QUERY_COLUMN && expr->parts.count == 1 && sql_function_is_bare(expr->parts.items[0])) {
        find(finding, "it reads " STR_FMT, expr->parts.items[0]);
    }
}

Str query_undetermined(const Query *query, Arena *arena) {
    Finding finding = {.arena = arena, .reason = STR_EMPTY};
    QueryVisitor visitor = {
        .query = look_at_query, .source = look_at_source, .expr = look_at_expr, .context = &finding};
    query_walk(query, &visitor);
    return finding.reason;
}
