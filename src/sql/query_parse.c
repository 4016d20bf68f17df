/* From a text to its Query, or to the reason why it is none. */
#include "sql/query_engine.h"

#include "sql/sql_analyzer.h"
#include "sql/sql_lexer.h"

static Status refuse(Error *err, size_t offset, Str message) {
    Status status = error_set(err, ERROR_COMPILATION, STR_FMT, STR_ARG(message));
    err->sql_offset = offset;
    return status;
}

/* --- Before the parser -------------------------------------------------------------------------------------------- */

static Status check_bytes(Str sql, Error *err) {
    if (sql.size > SQL_TEXT_MAX) {
        return error_set(err, ERROR_COMPILATION, "the query has %zu bytes; the limit is %zu", sql.size, SQL_TEXT_MAX);
    }
    size_t offset = str_find_invalid_utf8(sql);
    if (offset != STR_NOT_FOUND) {
        return refuse(err, offset, STR("the query is not valid UTF-8"));
    }
    offset = str_find_char(sql, '\0');
    return offset == STR_NOT_FOUND ? OK : refuse(err, offset, STR("the query holds a NUL byte"));
}

/* --- Why it is no query ------------------------------------------------------------------------------------------- */

/* First bytes of the first and the second statement, split at semicolons outside of all quotes. */
typedef struct StatementStarts {
    size_t first, second; /* STR_NOT_FOUND when there is none */
} StatementStarts;

static StatementStarts find_statements(Str sql) {
    StatementStarts starts = {.first = STR_NOT_FOUND, .second = STR_NOT_FOUND};
    SqlLexer lexer = sql_lexer(sql);
    bool is_closed = false; /* a semicolon was seen behind the first */
    for (;;) {
        SqlToken token = sql_lexer_next_code(&lexer);
        if (token.kind == SQL_TOKEN_END || token.kind == SQL_TOKEN_INVALID) {
            return starts;
        }
        if (sql_token_is(sql, token, ";")) {
            is_closed = starts.first != STR_NOT_FOUND;
        } else if (starts.first == STR_NOT_FOUND) {
            starts.first = token.start;
        } else if (is_closed) {
            starts.second = token.start;
            return starts;
        }
    }
}

static size_t find_word(Str sql, const char *word) {
    SqlLexer lexer = sql_lexer(sql);
    for (;;) {
        SqlToken token = sql_lexer_next_code(&lexer);
        if (token.kind == SQL_TOKEN_END || token.kind == SQL_TOKEN_INVALID) {
            return STR_NOT_FOUND;
        }
        if (sql_token_is_word(sql, token, word)) {
            return token.start;
        }
    }
}

static size_t find_pivot(Str sql) {
    size_t offset = find_word(sql, "PIVOT");
    return offset == STR_NOT_FOUND ? find_word(sql, "PIVOT_WIDER") : offset;
}

static Status refuse_count(Str sql, size_t count, Error *err) {
    StatementStarts starts = find_statements(sql);
    if (count == 0 || starts.first == STR_NOT_FOUND) {
        return refuse(err, STR_NOT_FOUND, STR("there is no query: the text is empty or holds only comments"));
    }
    Status status =
        error_set(err, ERROR_COMPILATION, "exactly one query is expected, but there are %zu statements", count);
    err->sql_offset = starts.second;
    return status;
}

/* A PIVOT whose columns come from the data is several statements to the engine, which is why it is no query to it. */
static Status refuse_pivot(size_t offset, Error *err) {
    Status status =
        refuse(err, offset, STR("PIVOT without a list of values: its columns are not known before the data are read"));
    error_hint(err, "write the values: PIVOT … ON column IN ('a', 'b')");
    return status;
}

static Status refuse_kind(DuckParser *parser, Str sql, Arena *arena, Str refusal, Error *err) {
    StrVec kinds = {0};
    TRY(duck_parser_statements(parser, sql, arena, &kinds, err));
    StatementStarts starts = find_statements(sql);
    if (starts.first == STR_NOT_FOUND || (starts.second != STR_NOT_FOUND && kinds.count > 1)) {
        return refuse_count(sql, kinds.count, err);
    }
    size_t pivot = find_pivot(sql);
    bool is_select =
        kinds.count != 1 || str_equal(kinds.items[0], STR("SELECT")) || str_equal(kinds.items[0], STR("PIVOT"));
    if (is_select && pivot != STR_NOT_FOUND) {
        return refuse_pivot(pivot, err);
    }
    if (is_select) {
        return refuse(err, STR_NOT_FOUND, refusal);
    }
    Status status = error_set(err, ERROR_COMPILATION, "a query is expected, but this is a statement of kind " STR_FMT,
                              STR_ARG(kinds.items[0]));
    err->sql_offset = starts.first;
    return status;
}

Status query_parse(DuckParser *parser, Str sql, Arena *arena, Query **query_out, Error *err) {
    TRY(check_bytes(sql, err));
    Str json = STR_EMPTY, sent = sql_blank_unicode_spaces(arena, sql);
    TRY(duck_parser_json(parser, sent, arena, &json, err));

    EngineReply reply = {0};
    TRY(query_read_reply(sent, json, arena, &reply, err));
    if (reply.is_refused && reply.is_syntax) {
        return refuse(err, reply.offset, reply.refusal);
    }
    if (reply.is_refused) {
        return refuse_kind(parser, sql, arena, reply.refusal, err);
    }
    if (reply.statement_count != 1) {
        return refuse_count(sql, reply.statement_count, err);
    }
    *query_out = reply.query;
    return OK;
}
