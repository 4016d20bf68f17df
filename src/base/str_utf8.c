/* Where text is more than bytes: soundness, and the line and column that an editor shows. */
#include "base/str.h"

#include <string.h>

/* Size of the sound sequence at `at`, 0 when there is none. Follows Unicode's table 3-7: the second byte's range
 * excludes overlong forms, surrogates and what is above U+10FFFF. */
static size_t utf8_sequence_size(Str text, size_t at) {
    static const struct {
        unsigned char first_min, first_max, second_min, second_max;
        size_t size;
    } forms[] = {
        {0x00, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
        {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
        {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
    };
    const unsigned char *bytes = (const unsigned char *)text.ptr + at;
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        if (bytes[0] < forms[i].first_min || bytes[0] > forms[i].first_max) {
            continue;
        }
        if (text.size - at < forms[i].size) {
            return 0;
        }
        if (forms[i].size > 1 && (bytes[1] < forms[i].second_min || bytes[1] > forms[i].second_max)) {
            return 0;
        }
        for (size_t k = 2; k < forms[i].size; k++) {
            if ((bytes[k] & 0xC0) != 0x80) {
                return 0;
            }
        }
        return forms[i].size;
    }
    return 0;
}

/* Most text is ASCII: eight bytes at a time. */
static size_t skip_ascii(Str s, size_t at) {
    uint64_t bytes;
    for (; s.size - at >= sizeof bytes; at += sizeof bytes) {
        memcpy(&bytes, s.ptr + at, sizeof bytes);
        if ((bytes & UINT64_C(0x8080808080808080)) != 0) {
            break;
        }
    }
    while (at < s.size && (unsigned char)s.ptr[at] < 0x80) {
        at++;
    }
    return at;
}

size_t str_find_invalid_utf8(Str s) {
    for (size_t at = skip_ascii(s, 0); at < s.size; at = skip_ascii(s, at)) {
        size_t size = utf8_sequence_size(s, at);
        if (size == 0) {
            return at;
        }
        at += size;
    }
    return STR_NOT_FOUND;
}

TextPosition str_position(Str text, size_t offset) {
    size_t end = offset < text.size ? offset : text.size;
    TextPosition position = {.line = 1, .column = 1};
    /* Editors do not show a byte order mark, so it takes no column. */
    size_t at = str_starts_with(text, STR("\xEF\xBB\xBF")) ? 3 : 0;
    for (; at < end; at++) {
        if (text.ptr[at] == '\n') {
            position.line++;
            position.column = 1;
        } else if (((unsigned char)text.ptr[at] & 0xC0) != 0x80) {
            position.column++;
        }
    }
    return position;
}
