#include "duck/statement_kinds.h"

#include "base/macros.h"

/* --- Tokens, as far as they are needed: words, quoted texts and comments whole, and single characters
 * ------------------ */

static size_t quoted_size(Str text, char quote) {
    size_t at = 1;
    while (at < text.size) {
        bool is_quote = text.ptr[at] == quote;
        bool is_doubled = is_quote && at + 1 < text.size && text.ptr[at + 1] == quote;
        if (is_quote && !is_doubled) {
            return at + 1;
        }
        at += is_doubled ? 2 : 1;
    }
    return text.size;
}

/* E'it\'s' */
static size_t escaped_size(Str text) {
    size_t at = 2;
    while (at < text.size && text.ptr[at] != '\'') {
        at += text.ptr[at] == '\\' ? 2 : 1;
    }
    return at < text.size ? at + 1 : text.size;
}

/* Through `end`, looked for behind the first `from` bytes. */
static size_t size_through(Str text, size_t from, Str end) {
    size_t at = str_find(str_skip(text, from), end);
    return at == STR_NOT_FOUND ? text.size : from + at + end.size;
}

static size_t block_comment_size(Str text) {
    size_t depth = 1, at = 2;
    while (at < text.size && depth > 0) {
        Str rest = str_skip(text, at);
        bool opens = str_starts_with(rest, STR("/*"));
        bool closes = str_starts_with(rest, STR("*/"));
        depth = depth + opens - closes;
        at += opens || closes ? 2 : 1;
    }
    return at;
}

static bool is_word_byte(char c, bool first) {
    bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || ((unsigned char)c & 0x80) != 0;
    return is_letter || (!first && ((c >= '0' && c <= '9') || c == '$'));
}

static size_t word_size(Str text) {
    size_t size = 0;
    while (size < text.size && is_word_byte(text.ptr[size], size == 0)) {
        size++;
    }
    return size;
}

/* $tag$ … $tag$, and a lone `$` otherwise. */
static size_t dollar_size(Str text) {
    size_t tag_end = str_find_char(str_skip(text, 1), '$');
    if (tag_end == STR_NOT_FOUND) {
        return 1;
    }
    Str tag = str_slice(text, 1, 1 + tag_end);
    bool opens = tag.size == 0 || str_is_identifier(tag);
    return opens ? size_through(text, tag.size + 2, str_slice(text, 0, tag.size + 2)) : 1;
}

static size_t token_size(Str text) {
    if (str_starts_with(text, STR("--"))) {
        return size_through(text, 0, STR("\n"));
    }
    if (str_starts_with(text, STR("/*"))) {
        return block_comment_size(text);
    }
    if (str_starts_with_fold(text, STR("e'"))) {
        return escaped_size(text);
    }
    char first = text.ptr[0];
    if (first == '\'' || first == '"') {
        return quoted_size(text, first);
    }
    if (first == '$') {
        return dollar_size(text);
    }
    size_t size = word_size(text);
    return size == 0 ? 1 : size;
}

/* --- Statements --------------------------------------------------------------------------------------------------- */

/* One statement while its tokens pass by. */
typedef struct Statement {
    Str kind;        /* empty until a word tells */
    bool after_with; /* names and bodies of CTEs pass by */
    size_t depth;    /* of parentheses behind WITH; those before the first word do not count: ((SELECT 1)) */
} Statement;

static bool is_any_of(Str word, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (str_equal_fold(word, str_from(names[i]))) {
            return true;
        }
    }
    return false;
}

static Str upper_case(Str word, Arena *arena) {
    char *upper = arena_alloc(arena, word.size);
    for (size_t i = 0; i < word.size; i++) {
        bool is_lower = word.ptr[i] >= 'a' && word.ptr[i] <= 'z';
        upper[i] = (char)(is_lower ? word.ptr[i] - 'a' + 'A' : word.ptr[i]);
    }
    return (Str){.ptr = upper, .size = word.size};
}

static void see_word(Statement *statement, Str word, Arena *arena) {
    static const char *const queries[] = {"SELECT",  "FROM",         "VALUES",   "TABLE", "PIVOT", "PIVOT_WIDER",
                                          "UNPIVOT", "PIVOT_LONGER", "DESCRIBE", "DESC",  "SHOW",  "SUMMARIZE"};
    static const char *const verbs[] = {"INSERT", "UPDATE", "DELETE", "MERGE"};

    if (statement->kind.size > 0 || statement->depth > 0) {
        return;
    }
    if (str_equal_fold(word, STR("WITH"))) {
        statement->after_with = true;
    } else if (is_any_of(word, queries, COUNT_OF(queries))) {
        statement->kind = STR("SELECT");
    } else if (!statement->after_with || is_any_of(word, verbs, COUNT_OF(verbs))) {
        statement->kind = upper_case(word, arena);
    }
}

static void see_token(Statement *statement, Str token, Arena *arena) {
    if (word_size(token) == token.size) {
        see_word(statement, token, arena);
    } else if (statement->after_with && str_equal(token, STR("("))) {
        statement->depth++;
    } else if (statement->depth > 0 && str_equal(token, STR(")"))) {
        statement->depth--;
    }
}

StrVec statement_kinds(Str sql, Arena *arena) {
    StrVec kinds = {0};
    Statement statement = {.kind = STR_EMPTY};
    while (sql.size > 0) {
        Str token = str_slice(sql, 0, token_size(sql));
        sql = str_skip(sql, token.size);
        bool ends = str_equal(token, STR(";"));
        if (!ends) {
            see_token(&statement, token, arena);
        }
        if ((ends || sql.size == 0) && statement.kind.size > 0) {
            str_vec_push(arena, &kinds, statement.kind);
        }
        if (ends) {
            statement = (Statement){.kind = STR_EMPTY};
        }
    }
    return kinds;
}
