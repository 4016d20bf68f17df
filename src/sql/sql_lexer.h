/* Our own lexer of DuckDB SQL. It never fails on valid SQL, needs no engine and no memory; unterminated strings and
 * comments give SQL_TOKEN_INVALID. The canonical form built on it is what fingerprints hash: see
 * facts/sql-frontend.md §3. A change of either raises SQL_CANONICAL_VERSION. */
#ifndef INTERLACE_SQL_SQL_LEXER_H
#define INTERLACE_SQL_SQL_LEXER_H

#include "base/error.h"

#define SQL_CANONICAL_VERSION 1

typedef enum SqlTokenKind {
    SQL_TOKEN_END,
    SQL_TOKEN_WORD,   /* unquoted identifier or keyword */
    SQL_TOKEN_QUOTED, /* "identifier" */
    SQL_TOKEN_STRING, /* '…', e'…', $tag$…$tag$; 'a' <line break> 'b' is one token, as it is one constant */
    SQL_TOKEN_NUMBER,
    SQL_TOKEN_PARAMETER,   /* $name, $1, ? */
    SQL_TOKEN_OPERATOR,    /* one operator, longest run; also :: and := */
    SQL_TOKEN_PUNCTUATION, /* one of ( ) [ ] { } , ; . : */
    SQL_TOKEN_COMMENT,
    SQL_TOKEN_INVALID
} SqlTokenKind;

typedef struct SqlToken {
    SqlTokenKind kind;
    size_t start, end; /* bytes, [start, end) */
} SqlToken;

typedef struct SqlLexer {
    Str text;
    size_t offset;
} SqlLexer;

SqlLexer sql_lexer(Str text);
SqlToken sql_lexer_next(SqlLexer *lexer);      /* with comments */
SqlToken sql_lexer_next_code(SqlLexer *lexer); /* without comments */
static inline Str sql_token_text(Str text, SqlToken token) {
    return str_slice(text, token.start, token.end);
}
bool sql_token_is_word(Str text, SqlToken token, const char *word); /* unquoted, any case */
bool sql_token_is(Str text, SqlToken token, const char *sign);      /* an operator or punctuation */

/* Appends the canonical form. CompilationError (sql_offset set) for a token that does not end. */
MUST_CHECK Status sql_canonical_form(Str sql, StrBuf *form_out, Error *err);

/* The name in a WORD (as written) or QUOTED token (quotes removed, "" folded). */
Str sql_identifier_name(Arena *arena, Str token_text);

/* The text with each byte of a Unicode blank (U+00A0, U+2003, …) between tokens made a space: the engine shortens such
 * blanks before it parses, which would shift its offsets. The text itself when it has none. */
Str sql_blank_unicode_spaces(Arena *arena, Str sql);

#endif
