/* Walks a Query with its CTE scopes. A name in FROM is a table unless a CTE in scope has it: only unqualified names can
 * mean a CTE (and recurring.name, the working table of WITH RECURSIVE … USING KEY). A CTE is visible to those behind
 * it, to the query it stands before and to all inside that. To itself it is visible in the recursive term only: in the
 * first term of `WITH RECURSIVE t AS (SELECT … FROM t UNION ALL …)` t is a table, or whatever else has that name
 * outside. */
#include "sql/query_facts.h"

#include "sql/query_clock.h"
#include "sql/sql_lexer.h"

#include <stdlib.h>

DEFINE_VEC(SourceVec, source_vec, const QuerySource *)

typedef struct CteScope {
    const struct CteScope *outer;
    Str name;
    const QueryCte *cte; /* NULL: the recursive term's own */
} CteScope;

/* The base tables of one FROM clause that can be named by their full name; subqueries see those around them. */
typedef struct Frame {
    const struct Frame *outer;
    const QuerySource *source; /* all of the clause, with its scope */
    const CteScope *ctes;
    SourceVec tables;
} Frame;

typedef struct Surroundings {
    const CteScope *ctes;
    Frame *frame;
    bool is_table_statement; /* directly in TABLE t */
} Surroundings;

typedef struct Collector {
    Str sql;
    Arena *arena;
    SqlFacts *facts;
    const Query *root; /* a SELECT; NULL: the columns of the query come from several */
    Str output;        /* the root's column whose expression is being walked; empty: elsewhere */
    Error *err;
} Collector;

static Status walk_query(Collector *collector, const Query *query, Surroundings around);
static Status walk_exprs(Collector *collector, const QueryExprVec *exprs, Surroundings around);

/* --- Names in the text -------------------------------------------------------------------------------------------- */

/* A cursor over `name . name . name`. */
typedef struct NameChain {
    SqlLexer lexer;
    SqlToken name; /* the last one read */
    bool is_name;
} NameChain;

static NameChain name_chain(Str sql, size_t offset) {
    NameChain chain = {.lexer = {.text = sql, .offset = offset}};
    chain.name = sql_lexer_next_code(&chain.lexer);
    chain.is_name = chain.name.kind == SQL_TOKEN_WORD || chain.name.kind == SQL_TOKEN_QUOTED;
    return chain;
}

/* False, and unchanged, when no further name follows. */
static bool name_chain_next(NameChain *chain) {
    SqlLexer ahead = chain->lexer;
    bool has_dot = sql_token_is(chain->lexer.text, sql_lexer_next_code(&ahead), ".");
    SqlToken name = sql_lexer_next_code(&ahead);
    if (!has_dot || (name.kind != SQL_TOKEN_WORD && name.kind != SQL_TOKEN_QUOTED)) {
        return false;
    }
    chain->lexer = ahead;
    chain->name = name;
    return true;
}

static Str chain_text(const NameChain *chain, Arena *arena) {
    return sql_identifier_name(arena, sql_token_text(chain->lexer.text, chain->name));
}

/* --- Tables ------------------------------------------------------------------------------------------------------- */

static const CteScope *find_cte(const CteScope *scope, const QuerySource *source) {
    bool may_be =
        source->catalog.size == 0 && (source->schema.size == 0 || str_equal_fold(source->schema, STR("recurring")));
    for (; may_be && scope != NULL; scope = scope->outer) {
        if (str_equal_fold(scope->name, source->name)) {
            return scope;
        }
    }
    return NULL;
}

static Status misplaced(Collector *collector, Str name) {
    return error_set(collector->err, ERROR_COMPILATION,
                     "the engine's parser gave a wrong place for the name '" STR_FMT "', so it cannot be replaced",
                     STR_ARG(name));
}

/* FROM 'x.csv', also e'…' and $$…$$. */
static bool set_file(Collector *collector, SqlTableRef *table) {
    SqlLexer lexer = {.text = collector->sql, .offset = table->start};
    SqlToken token = sql_lexer_next_code(&lexer);
    table->is_file = token.kind == SQL_TOKEN_STRING && token.start == table->start;
    table->end = token.end;
    return table->is_file;
}

/* Reads the name that should stand at table->start, part by part, and sets its end. */
static Status set_name(Collector *collector, SqlTableRef *table) {
    const Str parts[] = {table->catalog, table->schema, table->name};
    NameChain chain = name_chain(collector->sql, table->start);
    bool is_sound = chain.is_name && chain.name.start == table->start;
    bool is_first = true;
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        if (parts[i].size == 0) {
            continue;
        }
        is_sound = is_sound && (is_first || name_chain_next(&chain)) &&
                   str_equal(chain_text(&chain, collector->arena), parts[i]);
        table->schema_quoted = i == 1 ? chain.name.kind == SQL_TOKEN_QUOTED : table->schema_quoted;
        is_first = false;
    }
    table->name_quoted = chain.name.kind == SQL_TOKEN_QUOTED;
    table->end = chain.name.end;
    return is_sound ? OK : misplaced(collector, table->name);
}

static Status add_table(Collector *collector, const QuerySource *source, bool takes_alias) {
    SqlTableRef table = {
        .catalog = source->catalog,
        .schema = source->schema,
        .name = source->name,
        .start = source->offset,
        .has_alias = source->alias.size > 0,
        .takes_alias = takes_alias,
    };
    if (source->offset >= collector->sql.size) {
        return misplaced(collector, table.name);
    }
    if (!set_file(collector, &table)) {
        TRY(set_name(collector, &table));
    }
    sql_table_ref_vec_push(collector->arena, &collector->facts->tables, table);
    return OK;
}

/* --- Columns and functions ---------------------------------------------------------------------------------------- */

static void add_once(Arena *arena, StrVec *names, Str name) {
    if (!str_vec_contains(names, name)) {
        str_vec_push(arena, names, name);
    }
}

static bool is_in(Str name, const char *const *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (str_equal_fold(name, str_from(list[i]))) {
            return true;
        }
    }
    return false;
}

/* How many parts before the column's table name are to be cut when `table` is aliased by its own name; 0: it is not
 * meant. */
static size_t prefix_parts(const QuerySource *table, const StrVec *parts) {
    Str schema = table->schema.size == 0 ? STR("main") : table->schema;
    for (size_t i = 1; i <= 2 && i + 1 < parts->count; i++) {
        bool has_catalog = i == 2 && table->catalog.size > 0;
        if (str_equal_fold(parts->items[i], table->name) && str_equal_fold(parts->items[i - 1], schema) &&
            (!has_catalog || str_equal_fold(parts->items[0], table->catalog))) {
            return i;
        }
    }
    return 0;
}

static void add_prefix(Collector *collector, const QueryExpr *column, const QuerySource *table, size_t cut_parts) {
    NameChain chain = name_chain(collector->sql, column->offset);
    for (size_t i = 0; i < cut_parts; i++) {
        if (!name_chain_next(&chain)) {
            return;
        }
    }
    SqlColumnPrefix prefix = {
        .schema = table->schema, .table = table->name, .start = column->offset, .end = chain.name.start};
    sql_column_prefix_vec_push(collector->arena, &collector->facts->prefixes, prefix);
}

/* schema.table.column, where the table stands in a FROM around it without an alias. */
static void find_prefix(Collector *collector, const QueryExpr *column, const Frame *frame) {
    for (; frame != NULL; frame = frame->outer) {
        for (size_t i = 0; i < frame->tables.count; i++) {
            const QuerySource *table = frame->tables.items[i];
            size_t cut_parts = table->alias.size > 0 ? 0 : prefix_parts(table, &column->parts);
            if (cut_parts > 0) {
                add_prefix(collector, column, table, cut_parts);
                return;
            }
        }
    }
}

static void walk_column(Collector *collector, const QueryExpr *column, Surroundings around) {
    bool has_place = column->offset < collector->sql.size;
    if (column->parts.count >= 3 && has_place) {
        find_prefix(collector, column, around.frame);
    }
}

/* The function's name as written; empty when the call is the parser's own wording of a bracket, sign or keyword. */
static Str written_name(Collector *collector, const QueryExpr *function) {
    if (function->offset >= collector->sql.size) {
        return function->name;
    }
    NameChain chain = name_chain(collector->sql, function->offset);
    while (name_chain_next(&chain)) {
    }
    SqlLexer behind = chain.lexer;
    bool is_call = chain.is_name && sql_token_is(collector->sql, sql_lexer_next_code(&behind), "(");
    return is_call ? chain_text(&chain, collector->arena) : STR_EMPTY;
}

static void walk_function(Collector *collector, const QueryExpr *function, bool in_from) {
    Str name = function->is_sign ? STR_EMPTY : written_name(collector, function);
    if (name.size > 0) {
        SqlFunctionRef ref = {.name = name, .start = function->offset, .in_from = in_from};
        sql_function_ref_vec_push(collector->arena, &collector->facts->functions, ref);
    }
}

static bool query_gives(const Query *query, Str name) {
    while (query->branches.count > 0) {
        query = query->branches.items[0];
    }
    for (size_t i = 0; i < query->projections.count; i++) {
        if (str_equal_fold(query_item_name(query->projections.items[i]), name)) {
            return true;
        }
    }
    return false;
}

/* As far as the text of the query names it; the columns of tables are not known. */
static bool source_gives(const QuerySource *source, const CteScope *ctes, Str name) {
    if (source->kind == QUERY_JOIN) {
        return source_gives(source->left, ctes, name) || source_gives(source->right, ctes, name);
    }
    const CteScope *scope = source->kind == QUERY_TABLE ? find_cte(ctes, source) : NULL;
    const QueryCte *cte = scope == NULL ? NULL : scope->cte;
    bool is_given_below =
        (source->kind == QUERY_SUBSELECT && query_gives(source->query, name)) ||
        (cte != NULL && (str_vec_contains_fold(&cte->column_aliases, name) || query_gives(cte->query, name)));
    return is_given_below || str_vec_contains_fold(&source->column_aliases, name);
}

/* The engine takes current_date for a column where there is one of that name. */
static bool is_given_column(const QueryExpr *expr, const Frame *frame) {
    bool may_be = expr->kind == QUERY_COLUMN && expr->parts.count == 1;
    for (; may_be && frame != NULL; frame = frame->outer) {
        if (frame->source != NULL && source_gives(frame->source, frame->ctes, expr->parts.items[0])) {
            return true;
        }
    }
    return false;
}

static Status walk_expr(Collector *collector, const QueryExpr *expr, Surroundings around) {
    if (query_clock_is_read(expr) && !is_given_column(expr, around.frame)) {
        query_clock_add(expr, collector->sql, collector->output, collector->arena, &collector->facts->clock_reads);
    }
    if (expr->kind == QUERY_COLUMN) {
        walk_column(collector, expr, around);
    }
    if (expr->kind == QUERY_FUNCTION || expr->kind == QUERY_WINDOW) {
        walk_function(collector, expr, false);
    }
    TRY(walk_exprs(collector, &expr->operands, around));
    return expr->subquery == NULL ? OK : walk_query(collector, expr->subquery, around);
}

static Status walk_exprs(Collector *collector, const QueryExprVec *exprs, Surroundings around) {
    for (size_t i = 0; i < exprs->count; i++) {
        TRY(walk_expr(collector, exprs->items[i], around));
    }
    return OK;
}

/* --- Sources ------------------------------------------------------------------------------------------------------ */

static bool reads_files(Str name) {
    static const char *const names[] = {"read_csv",
                                        "read_csv_auto",
                                        "sniff_csv",
                                        "read_parquet",
                                        "parquet_scan",
                                        "parquet_metadata",
                                        "parquet_schema",
                                        "parquet_file_metadata",
                                        "parquet_kv_metadata",
                                        "parquet_bloom_probe",
                                        "parquet_full_metadata",
                                        "read_json",
                                        "read_json_auto",
                                        "read_json_objects",
                                        "read_json_objects_auto",
                                        "read_ndjson",
                                        "read_ndjson_auto",
                                        "read_ndjson_objects",
                                        "read_text",
                                        "read_blob",
                                        "read_duckdb",
                                        "glob",
                                        "read_xlsx",
                                        "st_read",
                                        "st_read_meta",
                                        "read_avro",
                                        "iceberg_scan",
                                        "delta_scan"};
    return is_in(name, names, COUNT_OF(names));
}

static Status walk_table_function(Collector *collector, const QuerySource *source, Surroundings around) {
    for (size_t i = 0; i < source->exprs.count; i++) {
        const QueryExpr *call = source->exprs.items[i];
        walk_function(collector, call, true);
        query_clock_add(call, collector->sql, STR_EMPTY, collector->arena, &collector->facts->clock_reads);
        if (reads_files(call->name)) {
            add_once(collector->arena, &collector->facts->file_readers, str_lower(collector->arena, call->name));
        }
        TRY(walk_exprs(collector, &call->operands, around));
    }
    return OK;
}

static Status walk_source(Collector *collector, const QuerySource *source, Surroundings around) {
    if (source->kind == QUERY_TABLE_FUNCTION) {
        return walk_table_function(collector, source, around);
    }
    if (source->kind == QUERY_TABLE && find_cte(around.ctes, source) == NULL) {
        TRY(add_table(collector, source, !source->is_described && !around.is_table_statement));
        source_vec_push(collector->arena, &around.frame->tables, source);
    }
    if (source->left != NULL) {
        TRY(walk_source(collector, source->left, around));
    }
    if (source->right != NULL) {
        TRY(walk_source(collector, source->right, around));
    }
    if (source->query != NULL) {
        TRY(walk_query(collector, source->query, around));
    }
    return walk_exprs(collector, &source->exprs, around);
}

/* --- Queries ------------------------------------------------------------------------------------------------------ */

static const CteScope *with_cte(Collector *collector, const CteScope *outer, Str name, const QueryCte *cte) {
    CteScope *scope = ARENA_NEW(collector->arena, CteScope);
    *scope = (CteScope){.outer = outer, .name = name, .cte = cte};
    return scope;
}

static Status walk_ctes(Collector *collector, const Query *query, Surroundings *around) {
    for (size_t i = 0; i < query->ctes.count; i++) {
        const QueryCte *cte = &query->ctes.items[i];
        TRY(walk_query(collector, cte->query, *around));
        add_once(collector->arena, &collector->facts->cte_names, cte->name);
        around->ctes = with_cte(collector, around->ctes, cte->name, cte);
    }
    return OK;
}

static SqlToken token_before(Str sql, size_t offset) {
    SqlLexer lexer = sql_lexer(sql);
    SqlToken before = {.kind = SQL_TOKEN_END}, token = sql_lexer_next_code(&lexer);
    while (token.start < offset && token.kind != SQL_TOKEN_END) {
        before = token;
        token = sql_lexer_next_code(&lexer);
    }
    return before;
}

/* TABLE t: the tree has SELECT * FROM t, but no alias may stand there. The star of such a query is at 0, as in FROM t.
 */
static bool is_table_statement(const Collector *collector, const Query *query) {
    const QueryExpr *star = query->projections.count == 1 ? query->projections.items[0] : NULL;
    bool may_be = star != NULL && star->kind == QUERY_STAR && star->offset == 0 && query->source->kind == QUERY_TABLE;
    return may_be && sql_token_is_word(collector->sql, token_before(collector->sql, query->source->offset), "TABLE");
}

static Status walk_branches(Collector *collector, const Query *query, Surroundings around) {
    for (size_t i = 0; i < query->branches.count; i++) {
        if (i == 1 && query->kind == QUERY_RECURSIVE) {
            around.ctes = with_cte(collector, around.ctes, query->recursive_name, NULL);
        }
        TRY(walk_query(collector, query->branches.items[i], around));
    }
    return OK;
}

static Status walk_projections(Collector *collector, const Query *query, Surroundings around) {
    for (size_t i = 0; i < query->projections.count; i++) {
        const QueryExpr *expr = query->projections.items[i];
        if (query == collector->root) {
            collector->output = query_item_name(expr);
        }
        TRY(walk_expr(collector, expr, around));
        if (query == collector->root) {
            collector->output = STR_EMPTY;
        }
    }
    return OK;
}

static Status walk_query(Collector *collector, const Query *query, Surroundings around) {
    TRY(walk_ctes(collector, query, &around));
    Frame frame = {.outer = around.frame, .source = query->source, .ctes = around.ctes};
    around.frame = &frame;
    if (query->source != NULL) {
        Surroundings inside = around;
        inside.is_table_statement = is_table_statement(collector, query);
        TRY(walk_source(collector, query->source, inside));
    }
    TRY(walk_projections(collector, query, around));
    TRY(walk_exprs(collector, &query->filters, around));
    TRY(walk_exprs(collector, &query->modifiers, around));
    return walk_branches(collector, query, around);
}

/* --- Order, each place once --------------------------------------------------------------------------------------- */

static int compare_sizes(size_t a, size_t b) {
    return (a > b) - (a < b);
}

static int compare_tables(const void *a, const void *b) {
    return compare_sizes(((const SqlTableRef *)a)->start, ((const SqlTableRef *)b)->start);
}

static int compare_prefixes(const void *a, const void *b) {
    return compare_sizes(((const SqlColumnPrefix *)a)->start, ((const SqlColumnPrefix *)b)->start);
}

static int compare_functions(const void *left, const void *right) {
    const SqlFunctionRef *a = left, *b = right;
    int order = compare_sizes(a->start, b->start);
    return order != 0 ? order : str_compare(a->name, b->name);
}

/* Sorts items and drops those equal to the one before; gives the new count. */
static size_t sort_once(void *items, size_t count, size_t item_size, int (*compare)(const void *, const void *)) {
    char *bytes = items;
    size_t kept = 0;
    if (count > 1) {
        qsort(items, count, item_size, compare);
    }
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && compare(bytes + (kept - 1) * item_size, bytes + i * item_size) == 0) {
            continue;
        }
        if (kept != i) {
            memcpy(bytes + kept * item_size, bytes + i * item_size, item_size);
        }
        kept++;
    }
    return kept;
}

static void sort_facts(SqlFacts *facts) {
    facts->tables.count = sort_once(facts->tables.items, facts->tables.count, sizeof(SqlTableRef), compare_tables);
    facts->prefixes.count =
        sort_once(facts->prefixes.items, facts->prefixes.count, sizeof(SqlColumnPrefix), compare_prefixes);
    query_clock_sort(&facts->clock_reads);
    facts->functions.count =
        sort_once(facts->functions.items, facts->functions.count, sizeof(SqlFunctionRef), compare_functions);
}

/* --- The query as a whole ----------------------------------------------------------------------------------------- */

/* A query in parentheses that has CTEs of its own takes no WITH in front, so its own is looked for behind them. */
static void set_with(Collector *collector, const Query *query) {
    SqlLexer lexer = sql_lexer(collector->sql);
    SqlToken token = sql_lexer_next_code(&lexer);
    while (sql_token_is(collector->sql, token, ";") ||
           (query->ctes.count > 0 && sql_token_is(collector->sql, token, "("))) {
        token = sql_lexer_next_code(&lexer);
    }
    SqlFacts *facts = collector->facts;
    facts->has_with = sql_token_is_word(collector->sql, token, "WITH");
    facts->with_offset = facts->has_with ? token.end : token.start;
    SqlToken next = sql_lexer_next_code(&lexer);
    if (facts->has_with && sql_token_is_word(collector->sql, next, "RECURSIVE")) {
        facts->with_offset = next.end;
    }
}

/* Gives columns that are not known from the text: *, COLUMNS(…) anywhere in it, unnest of a struct. */
static bool gives_unknown_columns(const QueryExpr *expr) {
    bool is_unnest = expr->kind == QUERY_FUNCTION && str_equal_fold(expr->name, STR("unnest"));
    if (expr->kind == QUERY_STAR || (is_unnest && expr->alias.size == 0)) {
        return true;
    }
    for (size_t i = 0; i < expr->operands.count; i++) {
        if (gives_unknown_columns(expr->operands.items[i])) {
            return true;
        }
    }
    return false;
}

static void set_output_names(Collector *collector, const Query *query) {
    while (query->branches.count > 0) {
        if (query->is_by_name) {
            return;
        }
        query = query->branches.items[0];
    }
    for (size_t i = 0; i < query->projections.count; i++) {
        if (gives_unknown_columns(query->projections.items[i])) {
            return;
        }
    }
    for (size_t i = 0; i < query->projections.count; i++) {
        str_vec_push(collector->arena, &collector->facts->output_names, query_item_name(query->projections.items[i]));
    }
}

Status query_facts(const Query *query, Str sql, Arena *arena, SqlFacts *facts_out, Error *err) {
    SqlFacts facts = {0};
    Collector collector = {.sql = sql, .arena = arena, .facts = &facts, .err = err};
    collector.root = query->kind == QUERY_SELECT && query->source != NULL ? query : NULL;
    TRY(walk_query(&collector, query, (Surroundings){.ctes = NULL}));
    sort_facts(&facts);
    set_with(&collector, query);
    set_output_names(&collector, query);
    facts.has_top_order_by = query->has_order_by;
    *facts_out = facts;
    return OK;
}
