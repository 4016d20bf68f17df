#include "sql/query_consumed.h"

#include "sql/query_survey.h"
#include "sql/query_walk.h"
#include "sql/sql_function_class.h"

typedef struct Reading {
    const size_t *offsets;
    size_t offset_count;
    Arena *arena;
    QueryConsumption *out;

    /* Of all sources of the query, at any depth. */
    size_t source_count;
    StrVec aliases;     /* the names by which columns are qualified */
    StrVec own_aliases; /* … those that are the table's */
    bool has_column_aliases;
    size_t star_count, plain_star_count;
    bool has_nesting_other_than_select;
    bool is_open_otherwise; /* than by stars */
} Reading;

static const char star_reason[] = "it has a *";

static void add_name(Arena *arena, StrVec *names, Str name) {
    if (name.size > 0 && !str_vec_contains_fold(names, name)) {
        str_vec_push(arena, names, name);
    }
}

static void use_all(Reading *reading, const char *reason) {
    if (reading->out->all_reason.size == 0) {
        reading->out->all_reason = str_from(reason);
    }
}

static void be_open(Reading *reading, const char *reason) {
    use_all(reading, reason);
    reading->is_open_otherwise = true;
    if (reading->out->open_reason.size == 0) {
        reading->out->open_reason = str_from(reason);
    }
}

/* ---- Sources. */

static bool is_the_table(const Reading *reading, const QuerySource *source) {
    for (size_t i = 0; source->kind == QUERY_TABLE && i < reading->offset_count; i++) {
        if (source->offset == reading->offsets[i]) {
            return true;
        }
    }
    return false;
}

static void read_source(void *context, const QuerySource *source) {
    Reading *reading = context;
    bool is_own = is_the_table(reading, source);
    if (source->kind == QUERY_JOIN) {
        if (source->is_natural) {
            be_open(reading, "it has a NATURAL JOIN");
        }
        for (size_t i = 0; i < source->using_columns.count; i++) {
            add_name(reading->arena, &reading->out->columns, source->using_columns.items[i]);
            add_name(reading->arena, &reading->out->loose, source->using_columns.items[i]);
        }
        return;
    }
    if (source->kind == QUERY_PIVOT || source->kind == QUERY_SHOW) {
        be_open(reading, source->kind == QUERY_PIVOT ? "it has a PIVOT or UNPIVOT" : "it has a DESCRIBE or SUMMARIZE");
    }
    reading->source_count += source->kind != QUERY_NOTHING;
    reading->has_column_aliases = reading->has_column_aliases || source->column_aliases.count > 0;
    if (is_own && source->column_aliases.count > 0) {
        be_open(reading, "it names the columns by their places");
    }
    Str alias = source->alias.size > 0 ? source->alias : source->name;
    add_name(reading->arena, &reading->aliases, alias);
    if (is_own) {
        add_name(reading->arena, &reading->own_aliases, alias);
        add_name(reading->arena, &reading->own_aliases, source->name);
    }
}

/* ---- Queries. */

static bool has_join(const Query *query) {
    return query->source != NULL && query->source->kind == QUERY_JOIN;
}

static bool folds_rows(const Query *query, Arena *arena) {
    for (size_t i = 0; i < query->projections.count; i++) {
        const QueryExpr *item = query->projections.items[i];
        SqlFunctionClass class =
            item->kind == QUERY_FUNCTION ? sql_function_class(item->name, arena) : SQL_FUNCTION_SCALAR;
        if (class != SQL_FUNCTION_SCALAR) {
            return true;
        }
    }
    return query->has_distinct || query->has_limit || query->is_grouped || query->groups_all;
}

/* A star gives its columns once more and nothing else: it stands alone in its list or says of which table it is, and
 * the query neither folds rows nor takes its columns by their places. */
static bool is_plain_star(const Query *query, const QueryExpr *star, size_t stars, Arena *arena) {
    bool is_alone = stars == 1 && (star->name.size > 0 || !has_join(query));
    return is_alone && !star->is_columns && !folds_rows(query, arena);
}

static void read_query(void *context, const Query *query) {
    Reading *reading = context;
    size_t stars = 0;
    if (query->is_by_name) {
        be_open(reading, "it has a UNION BY NAME");
    }
    reading->has_nesting_other_than_select = reading->has_nesting_other_than_select || query->kind != QUERY_SELECT;
    for (size_t i = 0; i < query->ctes.count; i++) {
        reading->has_column_aliases = reading->has_column_aliases || query->ctes.items[i].column_aliases.count > 0;
    }
    for (size_t i = 0; i < query->projections.count; i++) {
        stars += query->projections.items[i]->kind == QUERY_STAR;
    }
    for (size_t i = 0; i < query->projections.count; i++) {
        const QueryExpr *item = query->projections.items[i];
        if (item->kind == QUERY_STAR) {
            reading->plain_star_count += is_plain_star(query, item, stars, reading->arena);
        } else if (stars > 0) {
            add_name(reading->arena, &reading->out->loose, query_item_name(item));
        }
    }
}

/* ---- Expressions. */

/* `t.c`, `t.record.field`, `schema.t.c`: whichever part may be the table's name, the next one may be its column. */
static bool read_qualified(Reading *reading, const QueryExpr *column) {
    bool is_qualified = false;
    for (size_t i = 0; i + 1 < column->parts.count && i < 3; i++) {
        bool is_alias = str_vec_contains_fold(&reading->aliases, column->parts.items[i]);
        if (str_vec_contains_fold(&reading->own_aliases, column->parts.items[i])) {
            add_name(reading->arena, &reading->out->columns, column->parts.items[i + 1]);
        }
        is_qualified = is_qualified || is_alias;
    }
    return is_qualified;
}

static void read_column(Reading *reading, const QueryExpr *column) {
    Str first = column->parts.items[0];
    add_name(reading->arena, &reading->out->loose, first);
    if (column->parts.count == 1 && str_vec_contains_fold(&reading->aliases, first)) {
        be_open(reading, "it uses whole rows as values");
        return;
    }
    if (read_qualified(reading, column)) {
        return;
    }
    if (reading->source_count > 1) {
        use_all(reading, "a column does not say of which table it is");
    }
    add_name(reading->arena, &reading->out->columns, first);
}

static void read_expr(void *context, const QueryExpr *expr) {
    Reading *reading = context;
    if (expr->kind == QUERY_STAR) {
        reading->star_count++;
        use_all(reading, star_reason);
        for (size_t i = 0; i < expr->rules.count; i++) {
            add_name(reading->arena, &reading->out->loose, expr->rules.items[i].new_name);
        }
    } else if (expr->kind == QUERY_COLUMN && expr->parts.count > 0) {
        read_column(reading, expr);
    } else if (expr->kind == QUERY_POSITION) {
        use_all(reading, "it refers to columns by number");
    }
}

void query_consumed(const Query *query, const size_t *offsets, size_t count, Arena *arena,
                    QueryConsumption *consumption_out) {
    *consumption_out = (QueryConsumption){.all_reason = STR_EMPTY, .open_reason = STR_EMPTY};
    Reading reading = {.offsets = offsets, .offset_count = count, .arena = arena, .out = consumption_out};
    query_walk(query, &(QueryVisitor){.source = read_source, .query = read_query, .context = &reading});
    query_walk(query, &(QueryVisitor){.expr = read_expr, .context = &reading});
    QuerySurvey survey = {.arena = arena};
    query_survey(&survey, query);
    if (survey.has_row_id) {
        be_open(&reading, "it reads rowid or another column that only the table itself has");
    }
    if (reading.star_count > 0 && !reading.is_open_otherwise) {
        consumption_out->open_reason = str_from(star_reason);
        consumption_out->passes_on = reading.plain_star_count == reading.star_count &&
                                     !reading.has_nesting_other_than_select && !reading.has_column_aliases;
    }
}
