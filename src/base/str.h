/* Str: a borrowed slice of bytes (UTF-8 by convention), not NUL-terminated. StrBuf: text that grows, owned by its
 * holder. A Str is valid as long as the memory it points into; functions that keep one copy it into an arena. */
#ifndef INTERLACE_BASE_STR_H
#define INTERLACE_BASE_STR_H

#include "base/arena.h"
#include "base/macros.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Str {
    const char *ptr; /* may be NULL only when size is 0 */
    size_t size;     /* bytes */
} Str;

#define STR(literal) ((Str){.ptr = "" literal, .size = sizeof(literal) - 1})
#define STR_INIT(literal)                                                                                              \
    { .ptr = "" literal, .size = sizeof(literal) - 1 } /* in the initialiser of a static table */
#define STR_EMPTY ((Str){.ptr = "", .size = 0})
/* For printf-like functions: str_format(arena, "model '" STR_FMT "'", STR_ARG(name)). */
#define STR_FMT "%.*s"
#define STR_ARG(s) (int)(s).size, (s).ptr

Str str_from(const char *text); /* NULL gives an empty Str */
bool str_equal(Str a, Str b);
bool str_equal_fold(Str a, Str b); /* ASCII letters without case */
int str_compare(Str a, Str b);     /* byte order; <0, 0, >0 */
bool str_starts_with(Str s, Str prefix);
bool str_starts_with_fold(Str s, Str prefix);
bool str_ends_with(Str s, Str suffix);
bool str_is_identifier(Str s);                  /* [A-Za-z_][A-Za-z0-9_]* */
Str str_slice(Str s, size_t start, size_t end); /* [start, end), clamped to the text */
Str str_skip(Str s, size_t count);              /* without the first `count` bytes */
Str str_trim(Str s);                            /* without ASCII white space at both ends */
#define STR_NOT_FOUND SIZE_MAX
size_t str_find_char(Str s, char c);
size_t str_find_last_char(Str s, char c);
size_t str_find(Str s, Str needle);

Str str_copy(Arena *arena, Str s);         /* also NUL-terminated, for C libraries */
const char *str_to_c(Arena *arena, Str s); /* NUL-terminated copy */
Str str_format(Arena *arena, const char *format, ...) PRINTF_LIKE(2, 3);
Str str_format_v(Arena *arena, const char *format, va_list arguments);
Str str_lower(Arena *arena, Str s); /* ASCII letters only */
Str str_join(Arena *arena, const Str *items, size_t count, Str separator);
Str str_replace_char(Arena *arena, Str s, char from, char to);

/* Whole text as a decimal number, without blanks or plus sign; false when it is none or too large. */
bool str_to_int64(Str s, int64_t *value_out);
bool str_to_double(Str s, double *value_out);

/* Offset of the first byte that is not valid UTF-8, STR_NOT_FOUND when the text is sound. */
size_t str_find_invalid_utf8(Str s);

/* 1-based line and column (columns count code points) of a byte offset. */
typedef struct TextPosition {
    size_t line, column;
} TextPosition;
TextPosition str_position(Str text, size_t offset);

/* The candidate nearest to `word` (Damerau-Levenshtein without case, at most a third of its letters wrong, at least
 * one); NULL when none is near. */
const Str *str_nearest(Str word, const Str *candidates, size_t count);

typedef struct StrBuf {
    char *data; /* NULL until the first append */
    size_t size, capacity;
} StrBuf;

void strbuf_init(StrBuf *buf); /* a zeroed StrBuf is initialised as well */
void strbuf_deinit(StrBuf *buf);
DEFINE_AUTO_VALUE(StrBuf, strbuf, strbuf_deinit)
void strbuf_clear(StrBuf *buf); /* keeps the memory */
void strbuf_reserve(StrBuf *buf, size_t more);
void strbuf_append(StrBuf *buf, Str s);
void strbuf_text(StrBuf *buf, const char *text);
void strbuf_char(StrBuf *buf, char c);
void strbuf_format(StrBuf *buf, const char *format, ...) PRINTF_LIKE(2, 3);
void strbuf_format_v(StrBuf *buf, const char *format, va_list arguments);
Str strbuf_str(const StrBuf *buf); /* borrowed: valid until the next change */
const char *strbuf_c(StrBuf *buf); /* the same, NUL-terminated */
Str strbuf_copy(const StrBuf *buf, Arena *arena);

#endif
