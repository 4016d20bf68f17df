/* The lexer follows the engine's scanner, which is PostgreSQL's with additions: strings that go on after a line break,
 * nested comments, the cut of operator runs, and the Unicode blanks that the engine takes for spaces. */
#include "sql/sql_lexer.h"

#include <string.h>

/* --- Classes of bytes --------------------------------------------------------------------------------------------- */

/* clang-format off */
static bool is_operator(char c) {
    switch (c) {
    case '~': case '!': case '@': case '#': case '^': case '&': case '|': case '`': case '?': case '%':
    case '+': case '-': case '*': case '/': case '<': case '>': case '=':
        return true;
    default:
        return false;
    }
}

static bool is_punctuation(char c) {
    switch (c) {
    case '(': case ')': case '[': case ']': case '{': case '}': case ',': case ';': case '.': case ':':
        return true;
    default:
        return false;
    }
}
/* clang-format on */

static bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_one_of(char c, const char *set) {
    return c != '\0' && strchr(set, c) != NULL;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_word_start(char c) {
    return is_letter(c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_word_part(char c) {
    return is_word_start(c) || is_digit(c) || c == '$';
}

static bool is_hex_digit(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* The byte at `offset`, NUL behind the end. */
static char at(Str text, size_t offset) {
    return offset < text.size ? text.ptr[offset] : '\0';
}

static bool starts_at(Str text, size_t offset, const char *wanted) {
    size_t size = strlen(wanted);
    return offset <= text.size && text.size - offset >= size && memcmp(text.ptr + offset, wanted, size) == 0;
}

/* --- White space -------------------------------------------------------------------------------------------------- */

/* The blanks outside ASCII that the engine replaces by a space before it parses: U+00A0, U+2000-U+200B, U+202F, U+205F,
 * U+2060, U+3000, U+FEFF. Bytes of the one at `offset`, 0 for none. */
static size_t unicode_blank_size(Str text, size_t offset) {
    if ((unsigned char)at(text, offset) < 0xC2) {
        return 0;
    }
    static const char *const blanks[] = {"\xC2\xA0",     "\xE2\x80\xAF", "\xE2\x81\x9F",
                                         "\xE2\x81\xA0", "\xE3\x80\x80", "\xEF\xBB\xBF"};
    for (size_t i = 0; i < COUNT_OF(blanks); i++) {
        if (starts_at(text, offset, blanks[i])) {
            return strlen(blanks[i]);
        }
    }
    unsigned char last = (unsigned char)at(text, offset + 2);
    return starts_at(text, offset, "\xE2\x80") && last >= 0x80 && last <= 0x8B ? 3 : 0;
}

static size_t blank_size(Str text, size_t offset) {
    return is_blank(at(text, offset)) ? 1 : unicode_blank_size(text, offset);
}

static size_t skip_blanks(Str text, size_t offset) {
    for (;;) {
        size_t size = blank_size(text, offset);
        if (size == 0) {
            return offset;
        }
        offset += size;
    }
}

static bool continues_word(Str text, size_t offset) {
    return is_word_part(at(text, offset)) && unicode_blank_size(text, offset) == 0;
}

/* --- Comments ----------------------------------------------------------------------------------------------------- */

static size_t line_comment_end(Str text, size_t offset) {
    while (offset < text.size && text.ptr[offset] != '\n' && text.ptr[offset] != '\r') {
        offset++;
    }
    return offset;
}

/* Of a comment that may hold others; STR_NOT_FOUND when it does not end. */
static size_t block_comment_end(Str text, size_t offset) {
    size_t depth = 0;
    while (offset < text.size) {
        if (starts_at(text, offset, "/*")) {
            depth++;
            offset += 2;
        } else if (starts_at(text, offset, "*/")) {
            depth--;
            offset += 2;
            if (depth == 0) {
                return offset;
            }
        } else {
            offset++;
        }
    }
    return STR_NOT_FOUND;
}

/* --- Strings ------------------------------------------------------------------------------------------------------ */

/* Behind the closing quote of what opens at `offset`; a doubled quote stands for itself. */
static size_t quoted_end(Str text, size_t offset, char quote, bool has_escapes) {
    for (size_t i = offset + 1; i < text.size; i++) {
        if (has_escapes && text.ptr[i] == '\\') {
            i++;
        } else if (text.ptr[i] == quote) {
            if (at(text, i + 1) != quote) {
                return i + 1;
            }
            i++;
        }
    }
    return STR_NOT_FOUND;
}

/* Where a string constant that closed before `offset` goes on: 'a' <line break> 'b' is one constant. Only blanks and
 * line comments may stand between. */
static size_t continuation_start(Str text, size_t offset) {
    bool has_line_break = false;
    for (;;) {
        size_t next = skip_blanks(text, offset);
        for (size_t i = offset; i < next; i++) {
            has_line_break = has_line_break || text.ptr[i] == '\n' || text.ptr[i] == '\r';
        }
        if (!starts_at(text, next, "--")) {
            return has_line_break && at(text, next) == '\'' ? next : STR_NOT_FOUND;
        }
        offset = line_comment_end(text, next);
    }
}

/* Of a constant whose first quote is at `offset`, with all its continuations. */
static size_t string_end(Str text, size_t offset, bool has_escapes) {
    size_t end = quoted_end(text, offset, '\'', has_escapes);
    while (end != STR_NOT_FOUND) {
        size_t next = continuation_start(text, end);
        if (next == STR_NOT_FOUND) {
            return end;
        }
        end = quoted_end(text, next, '\'', has_escapes);
    }
    return STR_NOT_FOUND;
}

/* Size of the `$tag$` that opens at `offset`; 0 when it is none. */
static size_t dollar_tag_size(Str text, size_t offset) {
    size_t i = offset + 1;
    while (continues_word(text, i) && at(text, i) != '$' && !(i == offset + 1 && is_digit(at(text, i)))) {
        i++;
    }
    return at(text, i) == '$' ? i + 1 - offset : 0;
}

static size_t dollar_string_end(Str text, size_t offset, size_t tag_size) {
    Str tag = str_slice(text, offset, offset + tag_size);
    size_t body = offset + tag_size;
    size_t found = str_find(str_skip(text, body), tag);
    return found == STR_NOT_FOUND ? STR_NOT_FOUND : body + found + tag_size;
}

/* --- Tokens ------------------------------------------------------------------------------------------------------- */

/* A token that ends; one that does not (STR_NOT_FOUND) is invalid up to the end of the text. */
static SqlToken token_to(Str text, SqlTokenKind kind, size_t start, size_t end) {
    bool ends = end != STR_NOT_FOUND;
    return (SqlToken){.kind = ends ? kind : SQL_TOKEN_INVALID, .start = start, .end = ends ? end : text.size};
}

static size_t digits_end(Str text, size_t offset, bool (*is_digit_of_base)(char)) {
    while (is_digit_of_base(at(text, offset)) || (at(text, offset) == '_' && is_digit_of_base(at(text, offset + 1)))) {
        offset++;
    }
    return offset;
}

static size_t exponent_end(Str text, size_t offset) {
    if (at(text, offset) != 'e' && at(text, offset) != 'E') {
        return offset;
    }
    size_t digits = offset + 1;
    if (at(text, digits) == '+' || at(text, digits) == '-') {
        digits++;
    }
    return is_digit(at(text, digits)) ? digits_end(text, digits, is_digit) : offset;
}

static size_t number_end(Str text, size_t offset) {
    char base = at(text, offset + 1);
    if (at(text, offset) == '0' && (base == 'x' || base == 'X') && is_hex_digit(at(text, offset + 2))) {
        return digits_end(text, offset + 2, is_hex_digit);
    }
    size_t end = digits_end(text, offset, is_digit);
    if (at(text, end) == '.' && at(text, end + 1) != '.') {
        end = digits_end(text, end + 1, is_digit);
    }
    return exponent_end(text, end);
}

/* The longest run of operator bytes, cut before a comment. A run of several does not end in + or - unless it holds a
 * byte that no arithmetic sign has: `a=-1` is `=` and `-`, but `@-` is one operator. */
static size_t operator_end(Str text, size_t start) {
    size_t end = start;
    bool is_special = false;
    while (is_operator(at(text, end)) && !starts_at(text, end, "--") && !starts_at(text, end, "/*")) {
        is_special = is_special || is_one_of(at(text, end), "~!@#^&|`?%");
        end++;
    }
    while (!is_special && end - start > 1 && is_one_of(at(text, end - 1), "+-")) {
        end--;
    }
    return end;
}

static SqlToken dollar_token(Str text, size_t start) {
    size_t tag_size = dollar_tag_size(text, start);
    if (tag_size > 0) {
        return token_to(text, SQL_TOKEN_STRING, start, dollar_string_end(text, start, tag_size));
    }
    size_t end = start + 1;
    while (continues_word(text, end) && at(text, end) != '$') {
        end++;
    }
    return token_to(text, SQL_TOKEN_PARAMETER, start, end);
}

static SqlToken word_token(Str text, size_t start) {
    if (is_one_of(at(text, start), "eExXbBnN") && at(text, start + 1) == '\'') {
        bool has_escapes = is_one_of(at(text, start), "eE");
        return token_to(text, SQL_TOKEN_STRING, start, string_end(text, start + 1, has_escapes));
    }
    size_t end = start;
    while (continues_word(text, end)) {
        end++;
    }
    return token_to(text, SQL_TOKEN_WORD, start, end);
}

static SqlToken operator_token(Str text, size_t start) {
    size_t end = operator_end(text, start);
    bool is_parameter = end == start + 1 && at(text, start) == '?';
    return token_to(text, is_parameter ? SQL_TOKEN_PARAMETER : SQL_TOKEN_OPERATOR, start, end);
}

static SqlToken punctuation_token(Str text, size_t start) {
    if (starts_at(text, start, "::") || starts_at(text, start, ":=")) {
        return token_to(text, SQL_TOKEN_OPERATOR, start, start + 2);
    }
    return token_to(text, SQL_TOKEN_PUNCTUATION, start, start + 1);
}

static SqlToken scan(Str text, size_t start) {
    char c = at(text, start);
    if (start >= text.size) {
        return (SqlToken){.kind = SQL_TOKEN_END, .start = text.size, .end = text.size};
    }
    if (is_word_start(c)) {
        return word_token(text, start);
    }
    if (is_digit(c) || (c == '.' && is_digit(at(text, start + 1)))) {
        return token_to(text, SQL_TOKEN_NUMBER, start, number_end(text, start));
    }
    if (starts_at(text, start, "--")) {
        return token_to(text, SQL_TOKEN_COMMENT, start, line_comment_end(text, start));
    }
    if (starts_at(text, start, "/*")) {
        return token_to(text, SQL_TOKEN_COMMENT, start, block_comment_end(text, start));
    }
    if (is_punctuation(c)) {
        return punctuation_token(text, start);
    }
    if (is_operator(c)) {
        return operator_token(text, start);
    }
    switch (c) {
    case '\'':
        return token_to(text, SQL_TOKEN_STRING, start, string_end(text, start, false));
    case '"':
        return token_to(text, SQL_TOKEN_QUOTED, start, quoted_end(text, start, '"', false));
    case '$':
        return dollar_token(text, start);
    default: /* no byte of SQL: left to the parser to refuse */
        return token_to(text, SQL_TOKEN_OPERATOR, start, start + 1);
    }
}

SqlLexer sql_lexer(Str text) {
    return (SqlLexer){.text = text, .offset = 0};
}

SqlToken sql_lexer_next(SqlLexer *lexer) {
    SqlToken token = scan(lexer->text, skip_blanks(lexer->text, lexer->offset));
    lexer->offset = token.end;
    return token;
}

SqlToken sql_lexer_next_code(SqlLexer *lexer) {
    for (;;) {
        SqlToken token = sql_lexer_next(lexer);
        if (token.kind != SQL_TOKEN_COMMENT) {
            return token;
        }
    }
}

bool sql_token_is_word(Str text, SqlToken token, const char *word) {
    return token.kind == SQL_TOKEN_WORD && str_equal_fold(sql_token_text(text, token), str_from(word));
}

bool sql_token_is(Str text, SqlToken token, const char *sign) {
    return (token.kind == SQL_TOKEN_PUNCTUATION || token.kind == SQL_TOKEN_OPERATOR) &&
           str_equal(sql_token_text(text, token), str_from(sign));
}

Str sql_identifier_name(Arena *arena, Str token_text) {
    if (at(token_text, 0) != '"') {
        return str_copy(arena, token_text);
    }
    char *name = (char *)arena_alloc(arena, token_text.size);
    size_t size = 0;
    for (size_t i = 1; i + 1 < token_text.size; i++) {
        name[size++] = token_text.ptr[i];
        i += token_text.ptr[i] == '"'; /* the second of a doubled quote */
    }
    return (Str){.ptr = name, .size = size};
}

/* Makes the bytes of a gap between tokens that are outside ASCII spaces, in a copy made on first need. */
static void blank_gap(Arena *arena, Str sql, size_t start, size_t end, char **copy) {
    for (size_t i = start; i < end; i++) {
        if ((unsigned char)sql.ptr[i] < 0x80) {
            continue;
        }
        if (*copy == NULL) {
            *copy = (char *)arena_alloc(arena, sql.size);
            memcpy(*copy, sql.ptr, sql.size);
        }
        (*copy)[i] = ' ';
    }
}

Str sql_blank_unicode_spaces(Arena *arena, Str sql) {
    char *copy = NULL;
    SqlLexer lexer = sql_lexer(sql);
    size_t gap = 0;
    for (;;) {
        SqlToken token = sql_lexer_next(&lexer);
        blank_gap(arena, sql, gap, token.start, &copy);
        gap = token.end;
        if (token.kind == SQL_TOKEN_END || token.kind == SQL_TOKEN_INVALID) {
            return copy == NULL ? sql : (Str){.ptr = copy, .size = sql.size};
        }
    }
}
