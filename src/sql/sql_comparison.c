#include "sql/sql_comparison.h"

#include "sql/sql_tokens.h"

/* --- Where -------------------------------------------------------------------------------------------------------- */

static bool is_literal(const SqlTokens *tokens, size_t index) {
    static const char *const words[] = {"true", "false", "null"};
    SqlTokenKind kind = sql_tokens_at(tokens, index).kind;
    return kind == SQL_TOKEN_NUMBER || kind == SQL_TOKEN_STRING || kind == SQL_TOKEN_PARAMETER ||
           sql_tokens_is_any(tokens, index, words, COUNT_OF(words));
}

static bool is_beside_literal(const SqlTokens *tokens, size_t index) {
    bool is_signed = sql_tokens_is(tokens, index + 1, "-") || sql_tokens_is(tokens, index + 1, "+");
    return is_literal(tokens, index - 1) || is_literal(tokens, index + 1 + is_signed);
}

static bool is_in_query(const SqlTokens *tokens, size_t index) {
    static const char *const beginnings[] = {"select", "with", "from"};
    return sql_tokens_is_word(tokens, index, "in") && sql_tokens_is(tokens, index + 1, "(") &&
           sql_tokens_is_any(tokens, index + 2, beginnings, COUNT_OF(beginnings));
}

static bool is_equality_sign(const SqlTokens *tokens, size_t index) {
    static const char *const signs[] = {"=", "==", "<>", "!="};
    for (size_t i = 0; i < COUNT_OF(signs); i++) {
        if (sql_tokens_is(tokens, index, signs[i])) {
            return !is_beside_literal(tokens, index);
        }
    }
    return false;
}

static bool chooses_columns(const SqlTokens *tokens) {
    for (size_t i = 0; i < tokens->list.count; i++) {
        if (sql_tokens_is_word(tokens, i, "columns") && sql_tokens_is(tokens, i + 1, "(")) {
            return true;
        }
    }
    return false;
}

SqlEqualityVec sql_equalities(Str sql, Arena *arena) {
    SqlEqualityVec equalities = {0};
    SqlTokens tokens = sql_tokens(sql, arena);
    size_t count = chooses_columns(&tokens) ? 0 : tokens.list.count;
    for (size_t i = 0; i < count; i++) {
        SqlEquality equality = {.start = tokens.list.items[i].start, .end = tokens.list.items[i].end};
        if (is_equality_sign(&tokens, i)) {
            equality.strict = STR("<");
        } else if (is_in_query(&tokens, i)) {
            equality.strict = STR("< ANY");
            equality.start =
                sql_tokens_is_word(&tokens, i - 1, "not") ? tokens.list.items[i - 1].start : equality.start;
        } else {
            continue;
        }
        sql_equality_vec_push(arena, &equalities, equality);
    }
    return equalities;
}

static void edit_equalities(const SqlEqualityVec *equalities, Arena *arena, SqlEditVec *edits) {
    for (size_t i = 0; i < equalities->count; i++) {
        const SqlEquality *equality = &equalities->items[i];
        if (!equality->is_kept) {
            SqlEdit edit = {equality->start, equality->end, sql_text_own(arena, equality->strict)};
            sql_edit_vec_push(arena, edits, edit);
        }
    }
}

Status sql_equalities_strict(const SqlText *text, const SqlEqualityVec *equalities, Arena *arena, SqlText *strict_out,
                             Error *err) {
    SqlEditVec edits = {0};
    edit_equalities(equalities, arena, &edits);
    return sql_text_edit(text, &edits, arena, strict_out, err);
}

SqlEquality *sql_equality_at(const SqlEqualityVec *equalities, size_t strict_offset) {
    size_t grown = 0, shrunk = 0; /* by the edits so far */
    for (size_t i = 0; i < equalities->count; i++) {
        SqlEquality *equality = &equalities->items[i];
        if (!equality->is_kept) {
            if (equality->start + grown - shrunk == strict_offset) {
                return equality;
            }
            grown += equality->strict.size;
            shrunk += equality->end - equality->start;
        }
    }
    return NULL;
}

/* --- USING -------------------------------------------------------------------------------------------------------- */

/* The JOIN that the USING at `index` belongs to; STR_NOT_FOUND: none. */
static size_t find_join_word(const SqlTokens *tokens, size_t index) {
    size_t depth = 0;
    while (index-- > 0) {
        depth += sql_tokens_is(tokens, index, ")");
        if (sql_tokens_is(tokens, index, "(") && depth-- == 0) {
            return STR_NOT_FOUND;
        }
        if (depth == 0 && sql_tokens_is_word(tokens, index, "join")) {
            return index;
        }
    }
    return STR_NOT_FOUND;
}

/* The first word of that join; STR_NOT_FOUND: none, or a join that is no plain one. */
static size_t find_join(const SqlTokens *tokens, size_t index) {
    static const char *const words[] = {"inner", "left", "right", "full", "outer", "semi", "anti"};
    size_t join = find_join_word(tokens, index);
    while (join != STR_NOT_FOUND && sql_tokens_is_any(tokens, join - 1, words, COUNT_OF(words))) {
        join--;
    }
    return join == STR_NOT_FOUND || sql_tokens_is_word(tokens, join - 1, "asof") ? STR_NOT_FOUND : join;
}

static void push_using(Arena *arena, const SqlTokens *tokens, size_t join, size_t open, size_t close,
                       SqlUsingVec *usings) {
    for (size_t column = open + 1; column < close; column += 2) {
        AUTO(strbuf) StrBuf names = {0};
        for (size_t other = open + 1; other < close; other += 2) {
            if (other != column) {
                strbuf_format(&names, STR_FMT ", ", STR_ARG(sql_tokens_text(tokens, other)));
            }
        }
        strbuf_append(&names, sql_tokens_text(tokens, column));
        SqlUsing using = {
            .join = tokens->list.items[join].start,
            .start = tokens->list.items[open].end,
            .end = tokens->list.items[close].start,
            .place = tokens->list.items[column].start,
            .names = strbuf_copy(&names, arena),
            .is_last = column + 1 == close,
        };
        sql_using_vec_push(arena, usings, using);
    }
}

SqlUsingVec sql_usings(Str sql, Arena *arena) {
    SqlUsingVec usings = {0};
    SqlTokens tokens = sql_tokens(sql, arena);
    for (size_t i = 0; i + 1 < tokens.list.count; i++) {
        bool is_list = sql_tokens_is_word(&tokens, i, "using") && sql_tokens_is(&tokens, i + 1, "(");
        size_t join = is_list ? find_join(&tokens, i) : STR_NOT_FOUND;
        size_t close = is_list ? sql_tokens_close(&tokens, i + 1) : STR_NOT_FOUND;
        if (join != STR_NOT_FOUND && close != STR_NOT_FOUND) {
            push_using(arena, &tokens, join, i + 1, close, &usings);
        }
    }
    return usings;
}

static void edit_join(const SqlUsing *column, Arena *arena, SqlEditVec *edits) {
    sql_edit_vec_push(arena, edits, (SqlEdit){column->join, column->join, sql_text_own(arena, STR("ASOF "))});
}

Status sql_using_strict(const SqlText *text, const SqlUsing *column, Arena *arena, SqlText *strict_out, Error *err) {
    SqlEditVec edits = {0};
    edit_join(column, arena, &edits);
    sql_edit_vec_push(arena, &edits, (SqlEdit){column->start, column->end, sql_text_own(arena, column->names)});
    return sql_text_edit(text, &edits, arena, strict_out, err);
}

Status sql_all_strict(const SqlText *text, const SqlEqualityVec *equalities, const SqlUsingVec *usings, Arena *arena,
                      SqlText *strict_out, Error *err) {
    SqlEditVec edits = {0};
    edit_equalities(equalities, arena, &edits);
    for (size_t i = 0; i < usings->count; i++) {
        if (usings->items[i].is_last) {
            edit_join(&usings->items[i], arena, &edits);
        }
    }
    return sql_text_edit(text, &edits, arena, strict_out, err);
}

/* --- What the engine says ----------------------------------------------------------------------------------------- */

static bool is_checked_type(Str type) {
    static const Str types[] = {STR_INIT("BOOLEAN"),      STR_INIT("TINYINT"),
                                STR_INIT("SMALLINT"),     STR_INIT("INTEGER"),
                                STR_INIT("BIGINT"),       STR_INIT("HUGEINT"),
                                STR_INIT("UTINYINT"),     STR_INIT("USMALLINT"),
                                STR_INIT("UBIGINT"),      STR_INIT("UHUGEINT"),
                                STR_INIT("UINTEGER"),     STR_INIT("FLOAT"),
                                STR_INIT("DOUBLE"),       STR_INIT("DATE"),
                                STR_INIT("TIME"),         STR_INIT("TIME WITH TIME ZONE"),
                                STR_INIT("TIME_NS"),      STR_INIT("TIMESTAMP"),
                                STR_INIT("TIMESTAMP_S"),  STR_INIT("TIMESTAMP WITH TIME ZONE"),
                                STR_INIT("TIMESTAMP_MS"), STR_INIT("TIMESTAMP_NS")};
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        if (str_equal(type, types[i])) {
            return true;
        }
    }
    return str_starts_with(type, STR("DECIMAL("));
}

/* The text up to the first of these words, which `rest` begins behind. */
static Str cut_before(Str *rest, Str words) {
    size_t at = str_find(*rest, words);
    Str part = at == STR_NOT_FOUND ? STR_EMPTY : str_slice(*rest, 0, at);
    *rest = at == STR_NOT_FOUND ? STR_EMPTY : str_skip(*rest, at + words.size);
    return part;
}

/* `Cannot compare values of type VARCHAR and type INTEGER - an explicit cast …`, `… of type VARCHAR and INTEGER in
 * IN/ANY/ALL clause - …` */
bool sql_comparison_is_unlike(Str message) {
    Str rest = message;
    (void)cut_before(&rest, STR("Cannot compare values of type "));
    Str left = cut_before(&rest, STR(" and "));
    if (str_starts_with(rest, STR("type "))) {
        rest = str_skip(rest, STR("type ").size);
    }
    size_t in = str_find(rest, STR(" in IN/ANY/ALL"));
    Str right = in == STR_NOT_FOUND ? cut_before(&rest, STR(" - ")) : str_slice(rest, 0, in);
    return (str_equal(left, STR("VARCHAR")) && is_checked_type(right)) ||
           (str_equal(right, STR("VARCHAR")) && is_checked_type(left));
}
