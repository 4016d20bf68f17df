/* Any bytes as SQL: tokens follow each other without overlap and cover all but blanks; the canonical form is its own
 * canonical form; blanked Unicode spaces change no token. */
#include "sql/sql_lexer.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
    if (!holds) {
        abort();
    }
}

static void check_tokens(Str sql, Str blanked) {
    SqlLexer lexer = sql_lexer(sql), other = sql_lexer(blanked);
    size_t end = 0;
    for (;;) {
        SqlToken token = sql_lexer_next(&lexer), same = sql_lexer_next(&other);
        check(token.kind == same.kind && token.start == same.start && token.end == same.end);
        check(token.start >= end && token.end >= token.start && token.end <= sql.size);
        if (token.kind == SQL_TOKEN_END) {
            return;
        }
        check(token.end > token.start);
        end = token.end;
    }
}

static void check_canonical_form(Str sql) {
    AUTO(error) Error err;
    AUTO(strbuf) StrBuf form = {0};
    AUTO(strbuf) StrBuf again = {0};
    error_init(&err);
    if (failed(sql_canonical_form(sql, &form, &err))) {
        check(err.sql_offset < sql.size);
        return;
    }
    check(!failed(sql_canonical_form(strbuf_str(&form), &again, &err)));
    check(str_equal(strbuf_str(&form), strbuf_str(&again)));
}

static void check_names(Str sql, Arena *arena) {
    SqlLexer lexer = sql_lexer(sql);
    for (SqlToken token = sql_lexer_next(&lexer); token.kind != SQL_TOKEN_END; token = sql_lexer_next(&lexer)) {
        if (token.kind == SQL_TOKEN_WORD || token.kind == SQL_TOKEN_QUOTED) {
            check(sql_identifier_name(arena, sql_token_text(sql, token)).size <= token.end - token.start);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    AUTO(arena) Arena *arena = arena_create();
    Str sql = {.ptr = (const char *)data, .size = size};
    Str blanked = sql_blank_unicode_spaces(arena, sql);
    check(blanked.size == sql.size);
    check_tokens(sql, blanked);
    check_canonical_form(sql);
    check_names(sql, arena);
    return 0;
}
