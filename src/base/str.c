/* Slices of text: comparing, cutting, copying, numbers. Unicode matters only where it says so (str_utf8.c). */
#include "base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

Str str_from(const char *text) {
    return text == NULL ? STR_EMPTY : (Str){.ptr = text, .size = strlen(text)};
}

static unsigned char fold(char c) {
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool bytes_equal(const char *a, const char *b, size_t size) {
    return size == 0 || memcmp(a, b, size) == 0;
}

static bool bytes_equal_fold(const char *a, const char *b, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (fold(a[i]) != fold(b[i])) {
            return false;
        }
    }
    return true;
}

bool str_equal(Str a, Str b) {
    return a.size == b.size && bytes_equal(a.ptr, b.ptr, a.size);
}

/* Most names are written in one way, so they are compared as they are first. */
bool str_equal_fold(Str a, Str b) {
    return str_equal(a, b) || (a.size == b.size && bytes_equal_fold(a.ptr, b.ptr, a.size));
}

int str_compare(Str a, Str b) {
    size_t common = a.size < b.size ? a.size : b.size;
    int order = common == 0 ? 0 : memcmp(a.ptr, b.ptr, common);
    if (order != 0) {
        return order;
    }
    return (a.size > b.size) - (a.size < b.size);
}

bool str_starts_with(Str s, Str prefix) {
    return s.size >= prefix.size && bytes_equal(s.ptr, prefix.ptr, prefix.size);
}

bool str_starts_with_fold(Str s, Str prefix) {
    return s.size >= prefix.size && bytes_equal_fold(s.ptr, prefix.ptr, prefix.size);
}

bool str_ends_with(Str s, Str suffix) {
    return s.size >= suffix.size && str_equal(str_skip(s, s.size - suffix.size), suffix);
}

static bool is_letter_or_underscore(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool str_is_identifier(Str s) {
    if (s.size == 0 || !is_letter_or_underscore(s.ptr[0])) {
        return false;
    }
    for (size_t i = 1; i < s.size; i++) {
        if (!is_letter_or_underscore(s.ptr[i]) && !is_digit(s.ptr[i])) {
            return false;
        }
    }
    return true;
}

Str str_slice(Str s, size_t start, size_t end) {
    size_t last = end < s.size ? end : s.size;
    size_t first = start < last ? start : last;
    return first == 0 ? (Str){.ptr = s.ptr, .size = last} : (Str){.ptr = s.ptr + first, .size = last - first};
}

Str str_skip(Str s, size_t count) {
    return str_slice(s, count, s.size);
}

static bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

Str str_trim(Str s) {
    size_t start = 0;
    size_t end = s.size;
    while (start < end && is_space(s.ptr[start])) {
        start++;
    }
    while (end > start && is_space(s.ptr[end - 1])) {
        end--;
    }
    return str_slice(s, start, end);
}

size_t str_find_char(Str s, char c) {
    const char *found = s.size == 0 ? NULL : memchr(s.ptr, c, s.size);
    return found == NULL ? STR_NOT_FOUND : (size_t)(found - s.ptr);
}

size_t str_find_last_char(Str s, char c) {
    for (size_t i = s.size; i > 0; i--) {
        if (s.ptr[i - 1] == c) {
            return i - 1;
        }
    }
    return STR_NOT_FOUND;
}

size_t str_find(Str s, Str needle) {
    if (needle.size == 0) {
        return 0;
    }
    for (size_t at = 0; at + needle.size <= s.size; at++) {
        size_t step = str_find_char(str_slice(s, at, s.size - needle.size + 1), needle.ptr[0]);
        if (step == STR_NOT_FOUND) {
            return STR_NOT_FOUND;
        }
        at += step;
        if (memcmp(s.ptr + at, needle.ptr, needle.size) == 0) {
            return at;
        }
    }
    return STR_NOT_FOUND;
}

/* `size` bytes and a NUL; the arena zeroes its memory. */
static char *alloc_text(Arena *arena, size_t size) {
    return arena_alloc(arena, size + 1);
}

Str str_copy(Arena *arena, Str s) {
    char *text = alloc_text(arena, s.size);
    if (s.size > 0) {
        memcpy(text, s.ptr, s.size);
    }
    return (Str){.ptr = text, .size = s.size};
}

const char *str_to_c(Arena *arena, Str s) {
    return str_copy(arena, s).ptr;
}

Str str_format(Arena *arena, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    Str text = str_format_v(arena, format, arguments);
    va_end(arguments);
    return text;
}

Str str_format_v(Arena *arena, const char *format, va_list arguments) {
    AUTO(strbuf) StrBuf buf = {0};
    strbuf_format_v(&buf, format, arguments);
    return strbuf_copy(&buf, arena);
}

Str str_lower(Arena *arena, Str s) {
    char *text = alloc_text(arena, s.size);
    for (size_t i = 0; i < s.size; i++) {
        text[i] = (char)fold(s.ptr[i]);
    }
    return (Str){.ptr = text, .size = s.size};
}

Str str_join(Arena *arena, const Str *items, size_t count, Str separator) {
    AUTO(strbuf) StrBuf buf = {0};
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            strbuf_append(&buf, separator);
        }
        strbuf_append(&buf, items[i]);
    }
    return strbuf_copy(&buf, arena);
}

Str str_replace_char(Arena *arena, Str s, char from, char to) {
    char *text = alloc_text(arena, s.size);
    for (size_t i = 0; i < s.size; i++) {
        text[i] = s.ptr[i] == from ? to : s.ptr[i];
    }
    return (Str){.ptr = text, .size = s.size};
}

bool str_to_int64(Str s, int64_t *value_out) {
    bool negative = s.size > 0 && s.ptr[0] == '-';
    Str digits = str_skip(s, negative ? 1 : 0);
    if (digits.size == 0) {
        return false;
    }
    int64_t value = 0;
    for (size_t i = 0; i < digits.size; i++) {
        if (!is_digit(digits.ptr[i])) {
            return false;
        }
        int digit = digits.ptr[i] - '0';
        /* Built below zero for negative numbers: the smallest int64_t has no positive counterpart. */
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, negative ? -digit : digit, &value)) {
            return false;
        }
    }
    *value_out = value;
    return true;
}

static size_t count_digits(Str s, size_t start) {
    size_t end = start;
    while (end < s.size && is_digit(s.ptr[end])) {
        end++;
    }
    return end - start;
}

/* -?digits[.digits][(e|E)[+-]digits] with a digit before or behind the point: strtod alone takes hex, inf and nan too.
 */
static bool is_decimal_number(Str s) {
    size_t at = s.size > 0 && s.ptr[0] == '-' ? 1 : 0;
    size_t whole = count_digits(s, at);
    at += whole;
    size_t fraction = 0;
    if (at < s.size && s.ptr[at] == '.') {
        fraction = count_digits(s, at + 1);
        at += 1 + fraction;
    }
    if (whole + fraction == 0) {
        return false;
    }
    if (at < s.size && fold(s.ptr[at]) == 'e') {
        at++;
        at += at < s.size && (s.ptr[at] == '+' || s.ptr[at] == '-') ? 1 : 0;
        size_t exponent = count_digits(s, at);
        at += exponent;
        return exponent > 0 && at == s.size;
    }
    return at == s.size;
}

bool str_to_double(Str s, double *value_out) {
    if (!is_decimal_number(s)) {
        return false;
    }
    AUTO(strbuf) StrBuf buf = {0};
    strbuf_append(&buf, s);
    double value = strtod(strbuf_c(&buf), NULL);
    if (!isfinite(value)) {
        return false;
    }
    *value_out = value;
    return true;
}
