/* The parser gives no end of an expression, so items are found by their tokens: from SELECT or a comma to the next
 * comma or clause of the same bracket. What was cut out is then given to the parser by itself, which says whether it is
 * one item without a name, and how the engine would write it. A wrong cut is no item and stays as it is. */
#include "sql/sql_item_names.h"

#include "sql/query.h"
#include "sql/sql_buf.h"
#include "sql/sql_tokens.h"

/* What stands between a bracket and its end, or the whole text. Indexes are of tokens. */
typedef struct Level {
    bool in_list;        /* between SELECT and the next clause */
    size_t item;         /* in a list: the first token of the item */
    bool item_has_table; /* or a read of the clock */
    bool has_table;
} Level;
DEFINE_VEC(LevelVec, level_vec, Level)

/* Tokens [first, end) of a list, with a table or a read of the clock inside. */
typedef struct Candidate {
    size_t first, end;
} Candidate;
DEFINE_VEC(CandidateVec, candidate_vec, Candidate)

typedef struct Scan {
    const SqlTokens *tokens;
    const SqlFacts *facts;
    Arena *arena;
    size_t table, function, clock_read; /* the next ones by offset */
    LevelVec levels;
    CandidateVec candidates;
} Scan;

/* --- Finding items ------------------------------------------------------------------------------------------------ */

/* All lists are sorted, and so are the tokens. */
static bool is_table_place(Scan *scan, size_t offset) {
    const SqlTableRefVec *tables = &scan->facts->tables;
    const SqlFunctionRefVec *functions = &scan->facts->functions;
    while (scan->table < tables->count && tables->items[scan->table].start < offset) {
        scan->table++;
    }
    while (scan->function < functions->count &&
           (functions->items[scan->function].start < offset || !functions->items[scan->function].in_from)) {
        scan->function++;
    }
    return (scan->table < tables->count && tables->items[scan->table].start == offset) ||
           (scan->function < functions->count && functions->items[scan->function].start == offset);
}

static bool is_clock_place(Scan *scan, size_t offset) {
    const SqlClockReadVec *reads = &scan->facts->clock_reads;
    while (scan->clock_read < reads->count && reads->items[scan->clock_read].start < offset) {
        scan->clock_read++;
    }
    return scan->clock_read < reads->count && reads->items[scan->clock_read].start == offset;
}

static Level *top_level(Scan *scan) {
    return &scan->levels.items[scan->levels.count - 1];
}

static void end_item(Scan *scan, size_t end) {
    Level *level = top_level(scan);
    if (level->in_list && level->item_has_table && level->item < end) {
        candidate_vec_push(scan->arena, &scan->candidates, (Candidate){.first = level->item, .end = end});
    }
    level->item = end + 1;
    level->item_has_table = false;
}

/* SELECT [ALL | DISTINCT [ON ( … )]]: the first token behind it. */
static size_t list_start(const SqlTokens *tokens, size_t select) {
    bool has_on = sql_tokens_is_word(tokens, select + 1, "DISTINCT") && sql_tokens_is_word(tokens, select + 2, "ON");
    if (has_on) {
        size_t close = sql_tokens_close(tokens, select + 3);
        return close == STR_NOT_FOUND ? tokens->list.count : close + 1;
    }
    bool has_word = sql_tokens_is_word(tokens, select + 1, "DISTINCT") || sql_tokens_is_word(tokens, select + 1, "ALL");
    return select + (has_word ? 2 : 1);
}

/* A reserved word that is a label here: t.order, x AS from. */
static bool is_label(const SqlTokens *tokens, size_t index) {
    return index > 0 && (sql_tokens_is(tokens, index - 1, ".") || sql_tokens_is_word(tokens, index - 1, "AS"));
}

/* A clause behind the select list, but not IS DISTINCT FROM, WITHIN GROUP and the like. */
static bool ends_list(const SqlTokens *tokens, size_t index) {
    static const char *const words[] = {"FROM",  "WHERE",  "GROUP",     "HAVING", "WINDOW", "QUALIFY", "USING",
                                        "UNION", "EXCEPT", "INTERSECT", "ORDER",  "LIMIT",  "OFFSET",  "FETCH"};
    if (sql_tokens_is(tokens, index, ";")) {
        return true;
    }
    if (!sql_tokens_is_any(tokens, index, words, COUNT_OF(words)) || is_label(tokens, index)) {
        return false;
    }
    bool is_comparison = sql_tokens_is_word(tokens, index, "FROM") && sql_tokens_is_word(tokens, index - 1, "DISTINCT");
    bool is_within = sql_tokens_is_word(tokens, index, "GROUP") && sql_tokens_is_word(tokens, index - 1, "WITHIN");
    return !is_comparison && !is_within;
}

static bool is_any_sign(const SqlTokens *tokens, size_t index, const char *a, const char *b, const char *c) {
    return sql_tokens_is(tokens, index, a) || sql_tokens_is(tokens, index, b) || sql_tokens_is(tokens, index, c);
}

static void close_level(Scan *scan, size_t index) {
    end_item(scan, index);
    bool has_table = top_level(scan)->has_table;
    scan->levels.count--;
    Level *outer = top_level(scan);
    outer->has_table = outer->has_table || has_table;
    outer->item_has_table = outer->item_has_table || has_table;
}

static void take_token(Scan *scan, size_t index) {
    const SqlTokens *tokens = scan->tokens;
    Level *level = top_level(scan);
    if (is_clock_place(scan, sql_tokens_at(tokens, index).start)) {
        level->item_has_table = level->has_table = true;
    }
    if (is_table_place(scan, sql_tokens_at(tokens, index).start)) {
        level->has_table = true;
    } else if (is_any_sign(tokens, index, "(", "[", "{")) {
        level_vec_push(scan->arena, &scan->levels, (Level){0});
    } else if (is_any_sign(tokens, index, ")", "]", "}")) {
        if (scan->levels.count > 1) {
            close_level(scan, index);
        }
    } else if (sql_tokens_is_word(tokens, index, "SELECT") && !is_label(tokens, index)) {
        *level = (Level){.in_list = true, .item = list_start(tokens, index), .has_table = level->has_table};
    } else if (sql_tokens_is(tokens, index, ",")) {
        end_item(scan, index);
    } else if (ends_list(tokens, index)) {
        end_item(scan, index);
        level->in_list = false;
    }
}

/* Inner items come before those around them. */
static CandidateVec find_candidates(const SqlTokens *tokens, const SqlFacts *facts, Arena *arena) {
    Scan scan = {.tokens = tokens, .facts = facts, .arena = arena};
    level_vec_push(arena, &scan.levels, (Level){0});
    for (size_t i = 0; i < tokens->list.count; i++) {
        take_token(&scan, i);
    }
    end_item(&scan, tokens->list.count);
    return scan.candidates;
}

/* --- Their names -------------------------------------------------------------------------------------------------- */

/* The WINDOW clause behind the list that ends at `index`, since an item may use its names; empty when there is none. */
static Str window_clause(const SqlTokens *tokens, size_t index) {
    size_t start = STR_NOT_FOUND;
    for (; index < tokens->list.count; index++) {
        if (is_any_sign(tokens, index, "(", "[", "{")) {
            size_t close = sql_tokens_close(tokens, index);
            index = close == STR_NOT_FOUND ? tokens->list.count : close;
        } else if (start == STR_NOT_FOUND && sql_tokens_is_word(tokens, index, "WINDOW")) {
            start = sql_tokens_at(tokens, index).start;
        } else if (is_any_sign(tokens, index, ")", "]", "}") || (start != STR_NOT_FOUND && ends_list(tokens, index))) {
            break;
        }
    }
    return start == STR_NOT_FOUND ? STR_EMPTY : str_slice(tokens->text, start, sql_tokens_at(tokens, index).start);
}

static bool has_star(const QueryExpr *expr) {
    for (size_t i = 0; i < expr->operands.count; i++) {
        if (has_star(expr->operands.items[i])) {
            return true;
        }
    }
    return expr->kind == QUERY_STAR;
}

static bool is_unnamed_item(DuckParser *parser, Str select, Arena *arena) {
    AUTO(error) Error ignored;
    error_init(&ignored);
    Query *query = NULL;
    if (failed(query_parse(parser, select, arena, &query, &ignored)) || query->projections.count != 1) {
        return false;
    }
    const QueryExpr *item = query->projections.items[0];
    return query->kind == QUERY_SELECT && item->alias.size == 0 && !has_star(item);
}

/* As the engine writes the item, which is how it names it. */
static Status engine_name(DuckParser *parser, Str select, Arena *arena, Str *name_out, Error *err) {
    AUTO(strbuf) StrBuf sql = {0};
    DuckRows rows = {0};
    strbuf_text(&sql, "SELECT json_deserialize_sql(json_serialize_sql(");
    sql_literal(&sql, select);
    strbuf_text(&sql, "::VARCHAR))");
    TRY(duck_query(duck_parser_connection(parser), strbuf_str(&sql), arena, &rows, err));
    Str written = rows.row_count == 1 ? duck_cell(&rows, 0, 0)->text : STR_EMPTY;
    *name_out = str_starts_with(written, STR("SELECT ")) ? str_skip(written, STR("SELECT ").size) : STR_EMPTY;
    return OK;
}

static Status add_item(DuckParser *parser, const SqlTokens *tokens, Candidate candidate, Arena *arena, SqlFacts *facts,
                       Error *err) {
    SqlUnnamedItem item = {.start = sql_tokens_at(tokens, candidate.first).start,
                           .end = sql_tokens_at(tokens, candidate.end - 1).end};
    Str text = str_slice(tokens->text, item.start, item.end), windows = window_clause(tokens, candidate.end);
    Str select = sql_blank_unicode_spaces(
        arena, str_format(arena, "SELECT " STR_FMT "\n" STR_FMT, STR_ARG(text), STR_ARG(windows)));
    if (!is_unnamed_item(parser, select, arena)) {
        return OK;
    }
    TRY(engine_name(parser, select, arena, &item.name, err));
    if (item.name.size > 0) {
        sql_unnamed_item_vec_push(arena, &facts->unnamed_items, item);
    }
    return OK;
}

Status sql_item_names(DuckParser *parser, Str sql, Arena *arena, SqlFacts *facts, Error *err) {
    SqlTokens tokens = sql_tokens(sql, arena);
    CandidateVec candidates = find_candidates(&tokens, facts, arena);
    for (size_t i = 0; i < candidates.count; i++) {
        TRY(add_item(parser, &tokens, candidates.items[i], arena, facts, err));
    }
    return OK;
}
