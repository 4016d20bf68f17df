/* The code tokens of a text as a list, for what has to look ahead and back. */
#ifndef INTERLACE_SQL_SQL_TOKENS_H
#define INTERLACE_SQL_SQL_TOKENS_H

#include "base/vec.h"
#include "sql/sql_lexer.h"

DEFINE_VEC(SqlTokenVec, sql_token_vec, SqlToken)

typedef struct SqlTokens {
    Str text;
    SqlTokenVec list; /* without comments and the end; the last one may be invalid */
} SqlTokens;

SqlTokens sql_tokens(Str text, Arena *arena);

/* All take any index, also one below 0 (as SIZE_MAX) or behind the end: nothing is there, and it is no word or sign. */
SqlToken sql_tokens_at(const SqlTokens *tokens, size_t index);
bool sql_tokens_is(const SqlTokens *tokens, size_t index, const char *sign);
bool sql_tokens_is_word(const SqlTokens *tokens, size_t index, const char *word);
bool sql_tokens_is_any(const SqlTokens *tokens, size_t index, const char *const *words, size_t count);
bool sql_tokens_is_name(const SqlTokens *tokens, size_t index); /* unquoted word or quoted name */
Str sql_tokens_text(const SqlTokens *tokens, size_t index);
Str sql_tokens_name(const SqlTokens *tokens, size_t index, Arena *arena);

/* The bracket that closes the one at `open`; STR_NOT_FOUND when none does, or another kind. */
size_t sql_tokens_close(const SqlTokens *tokens, size_t open);

/* Nesting of brackets that macros and calls may have. */
#define SQL_TOKENS_DEPTH_MAX 500

#endif
