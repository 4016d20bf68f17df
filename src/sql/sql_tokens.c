#include "sql/sql_tokens.h"

SqlTokens sql_tokens(Str text, Arena *arena) {
    SqlTokens tokens = {.text = text};
    SqlLexer lexer = sql_lexer(text);
    for (;;) {
        SqlToken token = sql_lexer_next_code(&lexer);
        if (token.kind == SQL_TOKEN_END) {
            return tokens;
        }
        sql_token_vec_push(arena, &tokens.list, token);
    }
}

SqlToken sql_tokens_at(const SqlTokens *tokens, size_t index) {
    SqlToken nothing = {.kind = SQL_TOKEN_END, .start = tokens->text.size, .end = tokens->text.size};
    return index < tokens->list.count ? tokens->list.items[index] : nothing;
}

bool sql_tokens_is(const SqlTokens *tokens, size_t index, const char *sign) {
    return sql_token_is(tokens->text, sql_tokens_at(tokens, index), sign);
}

bool sql_tokens_is_word(const SqlTokens *tokens, size_t index, const char *word) {
    return sql_token_is_word(tokens->text, sql_tokens_at(tokens, index), word);
}

bool sql_tokens_is_any(const SqlTokens *tokens, size_t index, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (sql_tokens_is_word(tokens, index, words[i])) {
            return true;
        }
    }
    return false;
}

bool sql_tokens_is_name(const SqlTokens *tokens, size_t index) {
    SqlTokenKind kind = sql_tokens_at(tokens, index).kind;
    return kind == SQL_TOKEN_WORD || kind == SQL_TOKEN_QUOTED;
}

Str sql_tokens_text(const SqlTokens *tokens, size_t index) {
    return sql_token_text(tokens->text, sql_tokens_at(tokens, index));
}

Str sql_tokens_name(const SqlTokens *tokens, size_t index, Arena *arena) {
    return sql_identifier_name(arena, sql_tokens_text(tokens, index));
}

/* The bracket that closes `token`, '\0' when it opens none. */
static char closing_of(Str text, SqlToken token) {
    if (token.kind != SQL_TOKEN_PUNCTUATION) {
        return '\0';
    }
    switch (text.ptr[token.start]) {
    case '(':
        return ')';
    case '[':
        return ']';
    case '{':
        return '}';
    default:
        return '\0';
    }
}

static bool is_closing(Str text, SqlToken token) {
    char c = token.kind == SQL_TOKEN_PUNCTUATION ? text.ptr[token.start] : '\0';
    return c == ')' || c == ']' || c == '}';
}

size_t sql_tokens_close(const SqlTokens *tokens, size_t open) {
    char expected[SQL_TOKENS_DEPTH_MAX];
    size_t depth = 0;
    for (size_t i = open; i < tokens->list.count; i++) {
        SqlToken token = tokens->list.items[i];
        char closing = closing_of(tokens->text, token);
        if (closing != '\0') {
            if (depth == COUNT_OF(expected)) {
                return STR_NOT_FOUND;
            }
            expected[depth++] = closing;
        } else if (is_closing(tokens->text, token)) {
            if (expected[--depth] != tokens->text.ptr[token.start]) {
                return STR_NOT_FOUND;
            }
            if (depth == 0) {
                return i;
            }
        }
    }
    return STR_NOT_FOUND;
}
