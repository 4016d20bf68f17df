/* The canonical form: what fingerprints hash. Tokens joined by one space, without comments; unquoted words, numbers and
 * parameters in lower case; string constants, dollar strings and quoted names as they are, but for the white space
 * inside a constant that goes on in the next line, and the case of its prefix (E'…' is e'…'). Semicolons at either end
 * are dropped.
 *
 * One comment counts: the engine gives `->` another precedence when a comment follows it without a blank, so that
 * `a -> b = c` is another query with a comment glued to its arrow. The form keeps the difference by an empty comment.
 */
#include "sql/sql_lexer.h"

static void append_lower(StrBuf *form, Str text) {
    if (text.size == 0) {
        return;
    }
    strbuf_append(form, text);
    for (char *c = form->data + form->size - text.size; c < form->data + form->size; c++) {
        *c = (char)(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
    }
}

/* One part of a constant, without its quotes: returns the offset behind the closing one. */
static size_t append_part(StrBuf *form, Str constant, size_t open, bool has_escapes) {
    size_t i = open + 1;
    while (i < constant.size) {
        bool is_pair = i + 1 < constant.size && ((has_escapes && constant.ptr[i] == '\\') ||
                                                 (constant.ptr[i] == '\'' && constant.ptr[i + 1] == '\''));
        if (!is_pair && constant.ptr[i] == '\'') {
            break;
        }
        strbuf_append(form, str_slice(constant, i, i + 1 + is_pair));
        i += 1 + (size_t)is_pair;
    }
    return i + 1;
}

/* The opening quote of a constant's next part; the gap may hold line comments, which may hold quotes. */
static size_t next_part(Str constant, size_t offset) {
    SqlLexer lexer = {.text = constant, .offset = offset};
    return sql_lexer_next_code(&lexer).start;
}

static void append_string(StrBuf *form, Str token) {
    if (token.ptr[0] == '$') {
        strbuf_append(form, token);
        return;
    }
    size_t quote = str_find_char(token, '\'');
    bool has_escapes = quote == 1 && (token.ptr[0] == 'e' || token.ptr[0] == 'E');
    append_lower(form, str_slice(token, 0, quote));
    strbuf_char(form, '\'');
    while (quote < token.size) {
        quote = next_part(token, append_part(form, token, quote, has_escapes));
    }
    strbuf_char(form, '\'');
}

static void append_token(StrBuf *form, SqlTokenKind kind, Str token) {
    switch (kind) {
    case SQL_TOKEN_WORD:
    case SQL_TOKEN_NUMBER:
    case SQL_TOKEN_PARAMETER:
        append_lower(form, token);
        return;
    case SQL_TOKEN_STRING:
        append_string(form, token);
        return;
    case SQL_TOKEN_QUOTED:
    case SQL_TOKEN_OPERATOR:
    case SQL_TOKEN_PUNCTUATION:
        strbuf_append(form, token);
        return;
    case SQL_TOKEN_END:
    case SQL_TOKEN_COMMENT:
    case SQL_TOKEN_INVALID:
        return;
    }
}

static bool is_glued_arrow(Str sql, SqlToken token) {
    Str behind = str_skip(sql, token.end);
    return sql_token_is(sql, token, "->") && (str_starts_with(behind, STR("/*")) || str_starts_with(behind, STR("--")));
}

static Status unterminated(Str sql, SqlToken token, Error *err) {
    char first = sql.ptr[token.start];
    const char *what = first == '/' ? "comment" : first == '"' ? "quoted name" : "string";
    Status status = error_set(err, ERROR_COMPILATION, "this %s does not end", what);
    err->sql_offset = token.start;
    return status;
}

Status sql_canonical_form(Str sql, StrBuf *form_out, Error *err) {
    SqlLexer lexer = sql_lexer(sql);
    size_t semicolons = 0; /* seen since the last token, so that those at the end are dropped */
    bool is_first = true;
    for (;;) {
        SqlToken token = sql_lexer_next_code(&lexer);
        if (token.kind == SQL_TOKEN_END) {
            return OK;
        }
        if (token.kind == SQL_TOKEN_INVALID) {
            return unterminated(sql, token, err);
        }
        if (sql_token_is(sql, token, ";")) {
            semicolons += !is_first;
            continue;
        }
        for (; semicolons > 0; semicolons--) {
            strbuf_text(form_out, " ;");
        }
        if (!is_first) {
            strbuf_char(form_out, ' ');
        }
        append_token(form_out, token.kind, sql_token_text(sql, token));
        if (is_glued_arrow(sql, token)) {
            strbuf_text(form_out, "/**/");
        }
        is_first = false;
    }
}
