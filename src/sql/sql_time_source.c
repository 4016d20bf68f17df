/* Follows one output name down to a table. At each query on the way, the item of that name is what the next step
 * follows, and everything beside it must let a filter on that item pass.
 *
 * Grouping needs no look of its own: an item without an aggregate is a function of the group's keys, else the engine
 * refuses the query, so that all rows of a group have the same time. A CTE that is read twice is an obstacle, since the
 * other reader needs all of its rows. */
#include "sql/sql_time_source.h"

#include "sql/query_survey.h"

#include <inttypes.h>

/* --- One name, one query ------------------------------------------------------------------------------------------ */

typedef struct Trace {
    QuerySurvey *survey;
    const SqlFacts *facts;
    SqlTimeSource found;
} Trace;

static bool trace_query(Trace *trace, const Query *query, const QueryCteScope *scope, Str name);

/* Stands for every name that no item on the way gives. */
static const Str any_name = STR_INIT("\x01");

static bool is_any_name(Str name) {
    return name.ptr == any_name.ptr;
}

static bool fail(Trace *trace, SqlTimeObstacle obstacle) {
    trace->found.obstacle = obstacle;
    return false;
}

/* Of clauses that need to see all rows. */
static SqlTimeObstacle obstacle_of(const Query *query) {
    if (query->kind != QUERY_SELECT) {
        return query->kind == QUERY_RECURSIVE ? SQL_TIME_RECURSIVE : SQL_TIME_SET_OPERATION;
    }
    return query->has_limit           ? SQL_TIME_LIMIT
           : query->is_sampled        ? SQL_TIME_SAMPLE
           : query->has_distinct_on   ? SQL_TIME_DISTINCT_ON
           : query->has_grouping_sets ? SQL_TIME_GROUPING_SETS
           : query->source == NULL    ? SQL_TIME_NO_TABLE
                                      : SQL_TIME_PROVEN;
}

/* One source of a FROM clause, behind its joins. */
typedef struct Leaf {
    const QuerySource *source;
    bool is_passed; /* a filter may go through all joins above it */
} Leaf;
DEFINE_VEC(LeafVec, leaf_vec, Leaf)

static void collect_leaves(const QuerySource *source, bool is_passed, Arena *arena, LeafVec *leaves) {
    if (source->kind != QUERY_JOIN) {
        leaf_vec_push(arena, leaves, (Leaf){.source = source, .is_passed = is_passed});
        return;
    }
    bool may_pass = is_passed && !source->pairs_otherwise && !source->is_sampled && source->alias.size == 0;
    collect_leaves(source->left, may_pass && source->passes_left, arena, leaves);
    collect_leaves(source->right, may_pass && source->passes_right, arena, leaves);
}

static Str visible_name(const QuerySource *source) {
    if (source->alias.size > 0 || source->kind == QUERY_TABLE) {
        return source->alias.size > 0 ? source->alias : source->name;
    }
    bool is_call = source->kind == QUERY_TABLE_FUNCTION && source->exprs.count == 1;
    return is_call ? source->exprs.items[0]->name : STR_EMPTY;
}

/* The one source that a column belongs to; NULL when it is not certain. Without a qualifier that needs a single source:
 * which of several has the column is known to the engine only. */
static const Leaf *find_leaf(const LeafVec *leaves, Str qualifier) {
    if (qualifier.size == 0) {
        return leaves->count == 1 ? &leaves->items[0] : NULL;
    }
    const Leaf *found = NULL;
    for (size_t i = 0; i < leaves->count; i++) {
        if (str_equal_fold(visible_name(leaves->items[i].source), qualifier)) {
            if (found != NULL) {
                return NULL;
            }
            found = &leaves->items[i];
        }
    }
    return found;
}

/* --- Items of select lists ---------------------------------------------------------------------------------------- */

static bool is_plain_star(const QueryExpr *item) {
    return item->kind == QUERY_STAR && !item->is_columns && item->rules.count == 0 && item->operands.count == 0;
}

/* Columns whose names are not known: COLUMNS(…), EXCLUDE and RENAME, unnest of a struct. */
static bool gives_unknown_names(const QueryExpr *expr) {
    bool is_unnest = expr->kind == QUERY_FUNCTION && str_equal_fold(expr->name, STR("unnest"));
    if (is_unnest || (expr->kind == QUERY_STAR && !is_plain_star(expr))) {
        return true;
    }
    for (size_t i = 0; i < expr->operands.count; i++) {
        const QueryExpr *operand = expr->operands.items[i];
        if (operand->kind == QUERY_STAR ? !is_plain_star(operand) : gives_unknown_names(operand)) {
            return true;
        }
    }
    return false;
}

/* What a name means in a select list: the first item of that name, as in the engine, or a star. */
typedef struct Item {
    const QueryExpr *expr;
    const QueryExpr *star_before; /* that may have a column of that name, too; NULL: none */
} Item;

/* False when it cannot be told. */
static bool find_item(const Query *query, Str name, Item *item_out) {
    Item item = {0};
    for (size_t i = 0; i < query->projections.count; i++) {
        const QueryExpr *candidate = query->projections.items[i];
        if (is_plain_star(candidate)) {
            if (item.star_before != NULL) {
                return false;
            }
            item.star_before = candidate;
        } else if (gives_unknown_names(candidate)) {
            return false;
        } else if (!is_any_name(name) && str_equal_fold(query_item_name(candidate), name)) {
            item.expr = candidate;
            *item_out = item;
            return true;
        }
    }
    item.expr = item.star_before;
    item.star_before = NULL;
    *item_out = item;
    return item.expr != NULL;
}

static const struct TimeUnit {
    Str name;
    const char *grain; /* as window/grain.h writes it */
    int64_t factor;
} time_units[] = {
    {STR_INIT("second"), "s", 1},   {STR_INIT("minute"), "m", 1}, {STR_INIT("hour"), "h", 1},
    {STR_INIT("day"), "d", 1},      {STR_INIT("week"), "w", 1},   {STR_INIT("month"), "mo", 1},
    {STR_INIT("quarter"), "mo", 3}, {STR_INIT("year"), "mo", 12},
};

static const struct TimeUnit *find_unit(Str name) {
    for (size_t i = 0; i < COUNT_OF(time_units); i++) {
        if (str_equal_fold(time_units[i].name, name)) {
            return &time_units[i];
        }
    }
    return NULL;
}

static bool is_call(const QueryExpr *expr, Str name) {
    return expr->kind == QUERY_FUNCTION && expr->schema.size == 0 && str_equal_fold(expr->name, name);
}

/* "minutes" and "minute"; empty when the number is none or the unit is not known. */
static Str width_of(Str number, Str unit, Arena *arena) {
    int64_t count = 0;
    bool is_plural = unit.size > 0 && (unit.ptr[unit.size - 1] | 0x20) == 's';
    const struct TimeUnit *found = find_unit(str_slice(unit, 0, unit.size - is_plural));
    bool is_width = found != NULL && str_to_int64(number, &count) && count > 0 && count < INT32_MAX;
    return is_width ? str_format(arena, "%" PRId64 "%s", count * found->factor, found->grain) : STR_EMPTY;
}

/* INTERVAL '5 minutes', or INTERVAL 5 MINUTE, which the parser makes to_minutes(CAST(trunc(CAST(5 AS DOUBLE)) AS
 * BIGINT)). */
static Str interval_width(const QueryExpr *interval, Arena *arena) {
    bool is_cast = interval->kind == QUERY_OPERATION && str_equal(interval->cast_type, STR("INTERVAL"));
    bool is_unit = interval->kind == QUERY_FUNCTION && interval->schema.size == 0 &&
                   str_starts_with_fold(interval->name, STR("to_"));
    const QueryExpr *number = interval;
    while ((is_cast || is_unit) && number->operands.count == 1) {
        number = number->operands.items[0];
        bool is_wrapped = number->cast_type.size > 0 || is_call(number, STR("trunc"));
        if (is_cast || !is_wrapped) {
            break;
        }
    }
    if (number->kind != QUERY_CONSTANT) {
        return STR_EMPTY;
    }
    size_t blank = str_find_char(number->text, ' ');
    if (is_unit) {
        return width_of(number->text, str_skip(interval->name, 3), arena);
    }
    return blank == STR_NOT_FOUND
               ? STR_EMPTY
               : width_of(str_slice(number->text, 0, blank), str_trim(str_skip(number->text, blank)), arena);
}

/* Takes off one cast to DATE, date_trunc or time_bucket, and gives its unit; empty: it is something else. */
static Str take_truncation(const QueryExpr **expr, Arena *arena) {
    const QueryExprVec *operands = &(*expr)->operands;
    if ((*expr)->kind == QUERY_OPERATION && str_equal((*expr)->cast_type, STR("DATE")) && operands->count == 1) {
        *expr = operands->items[0];
        return STR("day");
    }
    if (operands->count != 2) {
        return STR_EMPTY;
    }
    const QueryExpr *unit = operands->items[0];
    bool is_bucket = is_call(*expr, STR("time_bucket"));
    bool is_trunc = is_call(*expr, STR("date_trunc")) || is_call(*expr, STR("datetrunc"));
    *expr = operands->items[1];
    if (is_bucket) {
        return interval_width(unit, arena);
    }
    bool is_known = is_trunc && unit->kind == QUERY_CONSTANT && find_unit(unit->text) != NULL;
    return is_known ? str_lower(arena, unit->text) : STR_EMPTY;
}

/* The column below truncations, whose units are noted; NULL for everything else. */
static const QueryExpr *column_below(const QueryExpr *expr, Arena *arena, StrVec *units) {
    while (expr->kind != QUERY_COLUMN) {
        Str unit = take_truncation(&expr, arena);
        if (unit.size == 0 || units->count == SQL_TIME_UNITS_MAX) {
            return NULL;
        }
        str_vec_push(arena, units, unit);
    }
    return expr;
}

/* --- Window functions --------------------------------------------------------------------------------------------- */

/* What a PARTITION BY must contain for the function to see all rows of one time together. */
typedef struct TimeExpression {
    const QueryExpr *item, *column; /* NULL behind a star */
    Str name;                       /* of the column that comes through a star */
} TimeExpression;

static bool is_partitioned(const QueryExpr *window, const TimeExpression *time) {
    for (size_t i = 0; i < window->partitions.count; i++) {
        const QueryExpr *key = window->partitions.items[i];
        bool is_name = time->item == NULL && key->kind == QUERY_COLUMN && key->parts.count == 1 &&
                       str_equal_fold(key->parts.items[0], time->name);
        bool is_same = time->item != NULL && (key->hash == time->item->hash || key->hash == time->column->hash);
        if (is_name || is_same) {
            return true;
        }
    }
    return false;
}

/* Windows of subqueries look at the rows of those. */
static bool has_other_window(const QueryExprVec *exprs, const TimeExpression *time) {
    for (size_t i = 0; i < exprs->count; i++) {
        const QueryExpr *expr = exprs->items[i];
        bool is_other = expr->kind == QUERY_WINDOW && !is_partitioned(expr, time);
        if (is_other || has_other_window(&expr->operands, time)) {
            return true;
        }
    }
    return false;
}

static bool passes_windows(const Query *query, const TimeExpression *time) {
    return !has_other_window(&query->projections, time) && !has_other_window(&query->filters, time);
}

/* --- Down --------------------------------------------------------------------------------------------------------- */

static bool trace_table(Trace *trace, const QuerySource *source, Str column) {
    for (size_t i = 0; i < trace->facts->tables.count; i++) {
        const SqlTableRef *table = &trace->facts->tables.items[i];
        if (table->start == source->offset) {
            trace->found.table = i;
            trace->found.column = is_any_name(column) ? STR_EMPTY : column;
            return table->takes_alias && !table->is_file ? true : fail(trace, SQL_TIME_NO_TABLE);
        }
    }
    return fail(trace, SQL_TIME_NO_TABLE);
}

static bool trace_cte(Trace *trace, const QueryCteScope *cte, Str column) {
    if (cte->cte->column_aliases.count > 0) {
        return fail(trace, SQL_TIME_RENAMED);
    }
    bool is_shared = query_cte_uses(trace->survey, cte->cte) != 1 || trace->survey->has_opaque_source;
    return is_shared ? fail(trace, SQL_TIME_SHARED) : trace_query(trace, cte->cte->query, cte->outer, column);
}

static bool trace_leaf(Trace *trace, const Leaf *leaf, const QueryCteScope *scope, Str column) {
    const QuerySource *source = leaf->source;
    if (!leaf->is_passed) {
        return fail(trace, SQL_TIME_JOIN);
    }
    if (source->is_sampled) {
        return fail(trace, SQL_TIME_SAMPLE);
    }
    if (source->column_aliases.count > 0) {
        return fail(trace, SQL_TIME_RENAMED);
    }
    if (source->kind == QUERY_SUBSELECT) {
        return trace_query(trace, source->query, scope, column);
    }
    if (source->kind != QUERY_TABLE || source->exprs.count > 0) {
        return fail(trace, SQL_TIME_NO_TABLE);
    }
    const QueryCteScope *cte = query_find_cte(scope, source);
    return cte != NULL ? trace_cte(trace, cte, column) : trace_table(trace, source, column);
}

/* A star before the item wins where its source has a column of that name: which can only be looked up when that source
 * is the very table that is found. */
static bool exclude_star(Trace *trace, const LeafVec *leaves, const Leaf *leaf, const Item *item,
                         const QueryCteScope *scope, Str name) {
    if (item->star_before == NULL) {
        return true;
    }
    const Leaf *starred = find_leaf(leaves, item->star_before->name);
    bool is_table = leaf->source->kind == QUERY_TABLE && query_find_cte(scope, leaf->source) == NULL;
    if (starred != leaf || !is_table) {
        return fail(trace, SQL_TIME_UNQUALIFIED);
    }
    str_vec_push(trace->survey->arena, &trace->found.absent, name);
    return true;
}

static bool trace_star(Trace *trace, const Query *query, const QueryCteScope *scope, const Item *item, Str name) {
    LeafVec leaves = {0};
    collect_leaves(query->source, true, trace->survey->arena, &leaves);
    const Leaf *leaf = find_leaf(&leaves, item->expr->name);
    TimeExpression time = {.name = name};
    if (leaf == NULL) {
        return fail(trace, SQL_TIME_UNQUALIFIED);
    }
    return passes_windows(query, &time) ? trace_leaf(trace, leaf, scope, name) : fail(trace, SQL_TIME_WINDOW);
}

static bool trace_column(Trace *trace, const Query *query, const QueryCteScope *scope, const Item *item, Str name) {
    const QueryExpr *column = column_below(item->expr, trace->survey->arena, &trace->found.units);
    if (column == NULL || column->parts.count > 2) {
        return fail(trace, SQL_TIME_COMPUTED);
    }
    TimeExpression time = {.item = item->expr, .column = column};
    if (!passes_windows(query, &time)) {
        return fail(trace, SQL_TIME_WINDOW);
    }
    LeafVec leaves = {0};
    collect_leaves(query->source, true, trace->survey->arena, &leaves);
    const Leaf *leaf = find_leaf(&leaves, column->parts.count == 2 ? column->parts.items[0] : STR_EMPTY);
    if (leaf == NULL) {
        return fail(trace, SQL_TIME_UNQUALIFIED);
    }
    return exclude_star(trace, &leaves, leaf, item, scope, name) &&
           trace_leaf(trace, leaf, scope, column->parts.items[column->parts.count - 1]);
}

static bool trace_query(Trace *trace, const Query *query, const QueryCteScope *scope, Str name) {
    SqlTimeObstacle obstacle = obstacle_of(query);
    if (obstacle != SQL_TIME_PROVEN) {
        return fail(trace, obstacle);
    }
    Item item;
    if (!find_item(query, name, &item)) {
        return fail(trace, SQL_TIME_COMPUTED);
    }
    scope = query_with_ctes(trace->survey->arena, scope, query);
    return item.expr->kind == QUERY_STAR ? trace_star(trace, query, scope, &item, name)
                                         : trace_column(trace, query, scope, &item, name);
}

/* --- All names ---------------------------------------------------------------------------------------------------- */

/* Names that items give, here and below stars. A star gives others, too. */
static void collect_names(QuerySurvey *survey, const Query *query, const QueryCteScope *scope, StrVec *names,
                          bool *has_star) {
    if (query->kind != QUERY_SELECT || query->source == NULL) {
        return;
    }
    Arena *arena = survey->arena;
    scope = query_with_ctes(arena, scope, query);
    LeafVec leaves = {0};
    collect_leaves(query->source, true, arena, &leaves);
    bool here = false;
    for (size_t i = 0; i < query->projections.count; i++) {
        const QueryExpr *item = query->projections.items[i];
        Str name = query_item_name(item);
        here = here || item->kind == QUERY_STAR;
        if (item->kind != QUERY_STAR && name.size > 0 && !str_vec_contains_fold(names, name)) {
            str_vec_push(arena, names, name);
        }
    }
    *has_star = *has_star || here;
    for (size_t i = 0; here && i < leaves.count; i++) {
        const QuerySource *source = leaves.items[i].source;
        const QueryCteScope *cte = source->kind == QUERY_TABLE ? query_find_cte(scope, source) : NULL;
        if (source->kind == QUERY_SUBSELECT) {
            collect_names(survey, source->query, scope, names, has_star);
        } else if (cte != NULL && query_cte_uses(survey, cte->cte) == 1) { /* another is an obstacle of itself */
            collect_names(survey, cte->cte->query, cte->outer, names, has_star);
        }
    }
}

static void add_source(QuerySurvey *survey, const Query *query, const SqlFacts *facts, Str name, bool has_star,
                       SqlTimeSourceVec *sources) {
    Trace trace = {.survey = survey, .facts = facts};
    if (survey->has_row_id) {
        trace.found.obstacle = SQL_TIME_ROW_ID;
    } else if (!trace_query(&trace, query, NULL, name)) {
        trace.found = (SqlTimeSource){.obstacle = trace.found.obstacle};
    }
    if (trace.found.obstacle != SQL_TIME_COMPUTED || has_star) { /* else the star's entry would answer to the name */
        trace.found.output = is_any_name(name) ? STR_EMPTY : name;
        sql_time_source_vec_push(survey->arena, sources, trace.found);
    }
}

void sql_time_sources(const Query *query, const SqlFacts *facts, Arena *arena, SqlTimeSourceVec *sources_out) {
    QuerySurvey survey = {.arena = arena};
    StrVec names = {0};
    bool has_star = false;
    query_survey(&survey, query);
    SqlTimeObstacle obstacle = survey.has_row_id ? SQL_TIME_ROW_ID : obstacle_of(query);
    if (obstacle != SQL_TIME_PROVEN) { /* one entry for all names */
        sql_time_source_vec_push(arena, sources_out, (SqlTimeSource){.obstacle = obstacle});
        return;
    }
    collect_names(&survey, query, NULL, &names, &has_star);
    for (size_t i = 0; i < names.count; i++) {
        add_source(&survey, query, facts, names.items[i], has_star, sources_out);
    }
    if (has_star) {
        add_source(&survey, query, facts, any_name, has_star, sources_out);
    }
}

const SqlTimeSource *sql_time_source_find(const SqlFacts *facts, Str output) {
    static const SqlTimeSource computed = {.obstacle = SQL_TIME_COMPUTED};
    const SqlTimeSource *others = &computed;
    for (size_t i = 0; i < facts->time_sources.count; i++) {
        const SqlTimeSource *source = &facts->time_sources.items[i];
        if (source->output.size == 0) {
            others = source;
        } else if (str_equal_fold(source->output, output)) {
            return source;
        }
    }
    return others;
}

const char *sql_time_obstacle_text(SqlTimeObstacle obstacle) {
    static const char *const texts[] = {
        [SQL_TIME_PROVEN] = "",
        [SQL_TIME_COMPUTED] = "its time column is more than a column, a cast to DATE, date_trunc or time_bucket of one",
        [SQL_TIME_LIMIT] = "its query has a LIMIT or OFFSET",
        [SQL_TIME_SET_OPERATION] = "its time column comes out of a UNION, EXCEPT or INTERSECT",
        [SQL_TIME_RECURSIVE] = "its time column comes out of a recursive CTE",
        [SQL_TIME_DISTINCT_ON] = "its query has DISTINCT ON",
        [SQL_TIME_GROUPING_SETS] = "its query has grouping sets",
        [SQL_TIME_WINDOW] = "a window function in its query is not partitioned by the time column",
        [SQL_TIME_SAMPLE] = "its query takes a sample",
        [SQL_TIME_JOIN] = "the table is joined on a side that is not preserved",
        [SQL_TIME_UNQUALIFIED] = "its time column does not say which table of the join it is of",
        [SQL_TIME_SHARED] = "its source is a CTE that is read more than once",
        [SQL_TIME_RENAMED] = "its source has a list of column aliases",
        [SQL_TIME_ROW_ID] = "its query reads rowid or filename, which only the table itself has",
        [SQL_TIME_NO_TABLE] = "its time column is of no table",
    };
    static_assert(COUNT_OF(texts) == SQL_TIME_OBSTACLE_COUNT, "one text per obstacle");
    return texts[obstacle];
}
