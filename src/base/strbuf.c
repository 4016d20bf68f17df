/* Growing text. Invariant: `size < capacity` whenever there is memory, so that a NUL fits behind the text. */
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRBUF_CAPACITY_MIN ((size_t)64)

void strbuf_init(StrBuf *buf) {
    *buf = (StrBuf){0};
}

void strbuf_deinit(StrBuf *buf) {
    free(buf->data);
    *buf = (StrBuf){0};
}

void strbuf_clear(StrBuf *buf) {
    buf->size = 0;
}

void strbuf_reserve(StrBuf *buf, size_t more) {
    size_t needed;
    if (__builtin_add_overflow(buf->size, more, &needed) || __builtin_add_overflow(needed, 1, &needed)) {
        needed = SIZE_MAX; /* heap_realloc ends the process */
    }
    if (needed <= buf->capacity) {
        return;
    }
    size_t capacity = buf->capacity > SIZE_MAX / 2 ? SIZE_MAX : buf->capacity * 2;
    capacity = capacity < STRBUF_CAPACITY_MIN ? STRBUF_CAPACITY_MIN : capacity;
    capacity = capacity < needed ? needed : capacity;
    buf->data = heap_realloc(buf->data, capacity);
    buf->capacity = capacity;
}

void strbuf_append(StrBuf *buf, Str s) {
    if (s.size == 0) {
        return;
    }
    strbuf_reserve(buf, s.size);
    memcpy(buf->data + buf->size, s.ptr, s.size);
    buf->size += s.size;
}

void strbuf_text(StrBuf *buf, const char *text) {
    strbuf_append(buf, str_from(text));
}

void strbuf_char(StrBuf *buf, char c) {
    strbuf_reserve(buf, 1);
    buf->data[buf->size++] = c;
}

void strbuf_format(StrBuf *buf, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    strbuf_format_v(buf, format, arguments);
    va_end(arguments);
}

void strbuf_format_v(StrBuf *buf, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    strbuf_reserve(buf, 1);
    size_t room = buf->capacity - buf->size;
    int size = vsnprintf(buf->data + buf->size, room, format, arguments);
    assert(size >= 0); /* only a broken format or a text over 2 GiB fails */
    if (size > 0 && (size_t)size >= room) {
        strbuf_reserve(buf, (size_t)size);
        vsnprintf(buf->data + buf->size, (size_t)size + 1, format, again);
    }
    va_end(again);
    buf->size += size > 0 ? (size_t)size : 0;
}

Str strbuf_str(const StrBuf *buf) {
    return buf->size == 0 ? STR_EMPTY : (Str){.ptr = buf->data, .size = buf->size};
}

const char *strbuf_c(StrBuf *buf) {
    strbuf_reserve(buf, 0);
    buf->data[buf->size] = '\0';
    return buf->data;
}

Str strbuf_copy(const StrBuf *buf, Arena *arena) {
    return str_copy(arena, strbuf_str(buf));
}
