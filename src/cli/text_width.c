#include "cli/text_width.h"

#include <utf8proc.h>

/* One code point, or one byte that is none (`code_point` is then negative). */
typedef struct Character {
    utf8proc_int32_t code_point;
    size_t size;
} Character;

static Character character_at(Str text, size_t offset) {
    if ((unsigned char)text.ptr[offset] < 0x80) {
        return (Character){text.ptr[offset], 1};
    }
    utf8proc_int32_t code_point;
    const utf8proc_uint8_t *bytes = (const utf8proc_uint8_t *)text.ptr + offset;
    utf8proc_ssize_t size = utf8proc_iterate(bytes, (utf8proc_ssize_t)(text.size - offset), &code_point);
    return size > 0 ? (Character){code_point, (size_t)size} : (Character){-1, 1};
}

static size_t character_width(Character character) {
    bool is_printable_ascii = character.code_point >= 0x20 && character.code_point < 0x7f;
    if (is_printable_ascii) {
        return 1;
    }
    int width = character.code_point < 0 ? 1 : utf8proc_charwidth(character.code_point);
    return width > 0 ? (size_t)width : 0;
}

size_t text_width(Str text) {
    size_t width = 0;
    for (size_t offset = 0; offset < text.size;) {
        Character character = character_at(text, offset);
        width += character_width(character);
        offset += character.size;
    }
    return width;
}

/* C0 and C1 controls move cursors; direction overrides let a text pass for another one. */
static bool is_control(utf8proc_int32_t c) {
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

static void append_escape(StrBuf *out, Str text, size_t offset, utf8proc_int32_t c) {
    if (c == '\n') {
        strbuf_text(out, "\\n");
    } else if (c == '\t') {
        strbuf_text(out, "\\t");
    } else if (c == '\r') {
        strbuf_text(out, "\\r");
    } else if (c >= 0x80) {
        strbuf_format(out, "\\u%04x", (unsigned)c);
    } else {
        strbuf_format(out, "\\x%02x", (unsigned)(unsigned char)text.ptr[offset]);
    }
}

void text_append_visible(StrBuf *out, Str text) {
    size_t plain_start = 0;
    for (size_t offset = 0; offset < text.size;) {
        Character character = character_at(text, offset);
        if (is_control(character.code_point)) {
            strbuf_append(out, str_slice(text, plain_start, offset));
            append_escape(out, text, offset, character.code_point);
            plain_start = offset + character.size;
        }
        offset += character.size;
    }
    strbuf_append(out, str_skip(text, plain_start));
}

static bool is_visible(Str text) {
    for (size_t offset = 0; offset < text.size;) {
        Character character = character_at(text, offset);
        if (is_control(character.code_point)) {
            return false;
        }
        offset += character.size;
    }
    return true;
}

Str text_visible(Arena *arena, Str text) {
    if (is_visible(text)) {
        return text;
    }
    AUTO(strbuf) StrBuf out = {0};
    text_append_visible(&out, text);
    return strbuf_copy(&out, arena);
}

Str text_cut(Arena *arena, Str text, size_t width, Str ellipsis) {
    if (text_width(text) <= width) {
        return text;
    }
    size_t ellipsis_width = text_width(ellipsis);
    if (width < ellipsis_width) {
        return STR_EMPTY;
    }
    size_t left = width - ellipsis_width;
    size_t end = 0;
    while (end < text.size) {
        Character character = character_at(text, end);
        size_t needed = character_width(character);
        if (needed > left) {
            break;
        }
        left -= needed;
        end += character.size;
    }
    return str_format(arena, STR_FMT STR_FMT, STR_ARG(str_slice(text, 0, end)), STR_ARG(ellipsis));
}
