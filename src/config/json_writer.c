#include "config/json_writer.h"

#include "config/scalar.h"

#include <math.h>
#include <string.h>

void json_writer_init(JsonWriter *writer, StrBuf *out, JsonStyle style) {
    *writer = (JsonWriter){.out = out, .style = style};
}

static void write_line_break(JsonWriter *writer) {
    if (writer->style == JSON_COMPACT) {
        return;
    }
    strbuf_char(writer->out, '\n');
    for (size_t i = 0; i < writer->depth; i++) {
        strbuf_text(writer->out, "  ");
    }
}

/* What stands between the last thing written and the key or value that comes now. */
static void write_separator(JsonWriter *writer) {
    if (writer->after_key) {
        writer->after_key = false;
        return;
    }
    if (writer->depth == 0) {
        return;
    }
    bool *has_items = &writer->has_items[writer->depth - 1];
    if (*has_items) {
        strbuf_char(writer->out, ',');
    }
    *has_items = true;
    write_line_break(writer);
}

static void begin(JsonWriter *writer, char bracket) {
    assert(writer->depth < JSON_DEPTH_MAX);
    write_separator(writer);
    strbuf_char(writer->out, bracket);
    writer->has_items[writer->depth] = false;
    writer->depth++;
}

static void end(JsonWriter *writer, char bracket) {
    assert(writer->depth > 0);
    assert(!writer->after_key);
    writer->depth--;
    if (writer->has_items[writer->depth]) {
        write_line_break(writer);
    }
    strbuf_char(writer->out, bracket);
}

void json_begin_object(JsonWriter *writer) {
    begin(writer, '{');
}

void json_end_object(JsonWriter *writer) {
    end(writer, '}');
}

void json_begin_array(JsonWriter *writer) {
    begin(writer, '[');
}

void json_end_array(JsonWriter *writer) {
    end(writer, ']');
}

static char short_escape(char c) {
    switch (c) {
    case '"':
    case '\\':
        return c;
    case '\b':
        return 'b';
    case '\f':
        return 'f';
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    default:
        return 0;
    }
}

static void write_escaped(StrBuf *out, char c) {
    if (short_escape(c) != 0) {
        strbuf_char(out, '\\');
        strbuf_char(out, short_escape(c));
    } else {
        strbuf_format(out, "\\u%04x", (unsigned)(unsigned char)c);
    }
}

static bool needs_escape(char c) {
    return (unsigned char)c < 0x20 || c == '"' || c == '\\';
}

#define EACH_BYTE(value) (UINT64_C(0x0101010101010101) * (value))

/* Of eight bytes at once: the high bit of a zero byte (and sometimes of one above it) is set. */
static uint64_t zero_bytes(uint64_t bytes) {
    return (bytes - EACH_BYTE(0x01)) & ~bytes & EACH_BYTE(0x80);
}

/* Where the next byte stands that needs an escape, or the end. */
static size_t find_escaped(Str text, size_t at) {
    uint64_t bytes;
    for (; text.size - at >= sizeof bytes; at += sizeof bytes) {
        memcpy(&bytes, text.ptr + at, sizeof bytes);
        uint64_t controls = (bytes - EACH_BYTE(0x20)) & ~bytes & EACH_BYTE(0x80);
        if ((controls | zero_bytes(bytes ^ EACH_BYTE('"')) | zero_bytes(bytes ^ EACH_BYTE('\\'))) != 0) {
            break;
        }
    }
    while (at < text.size && !needs_escape(text.ptr[at])) {
        at++;
    }
    return at;
}

/* Runs of bytes that need no escape are appended whole. */
static void write_sound_text(StrBuf *out, Str text) {
    size_t start = 0;
    for (size_t i = find_escaped(text, 0); i < text.size; i = find_escaped(text, i + 1)) {
        char c = text.ptr[i];
        strbuf_append(out, str_slice(text, start, i));
        write_escaped(out, c);
        start = i + 1;
    }
    strbuf_append(out, str_skip(text, start));
}

static void write_quoted(StrBuf *out, Str text) {
    strbuf_char(out, '"');
    for (Str rest = text; rest.size > 0;) {
        size_t invalid = str_find_invalid_utf8(rest);
        write_sound_text(out, str_slice(rest, 0, invalid));
        if (invalid == STR_NOT_FOUND) {
            break;
        }
        strbuf_text(out, "\xEF\xBF\xBD");
        rest = str_skip(rest, invalid + 1);
    }
    strbuf_char(out, '"');
}

void json_key(JsonWriter *writer, Str key) {
    assert(!writer->after_key);
    write_separator(writer);
    write_quoted(writer->out, key);
    strbuf_text(writer->out, writer->style == JSON_COMPACT ? ":" : ": ");
    writer->after_key = true;
}

void json_text(JsonWriter *writer, Str text) {
    write_separator(writer);
    write_quoted(writer->out, text);
}

void json_int(JsonWriter *writer, int64_t number) {
    write_separator(writer);
    strbuf_format(writer->out, "%lld", (long long)number);
}

void json_double(JsonWriter *writer, double number) {
    if (isnan(number)) {
        json_text(writer, STR("NaN"));
    } else if (isinf(number)) {
        json_text(writer, number > 0 ? STR("Infinity") : STR("-Infinity"));
    } else {
        write_separator(writer);
        scalar_append_double(writer->out, number);
    }
}

void json_raw(JsonWriter *writer, Str json) {
    write_separator(writer);
    strbuf_append(writer->out, json);
}

void json_bool(JsonWriter *writer, bool flag) {
    json_raw(writer, flag ? STR("true") : STR("false"));
}

void json_null(JsonWriter *writer) {
    json_raw(writer, STR("null"));
}

void json_text_field(JsonWriter *writer, Str key, Str text) {
    json_key(writer, key);
    json_text(writer, text);
}

void json_optional_text_field(JsonWriter *writer, Str key, Str text) {
    json_key(writer, key);
    if (text.size == 0) {
        json_null(writer);
    } else {
        json_text(writer, text);
    }
}

void json_int_field(JsonWriter *writer, Str key, int64_t number) {
    json_key(writer, key);
    json_int(writer, number);
}

void json_bool_field(JsonWriter *writer, Str key, bool flag) {
    json_key(writer, key);
    json_bool(writer, flag);
}

void json_null_field(JsonWriter *writer, Str key) {
    json_key(writer, key);
    json_null(writer);
}

void json_text_list_field(JsonWriter *writer, Str key, const Str *items, size_t count) {
    json_key(writer, key);
    json_begin_array(writer);
    for (size_t i = 0; i < count; i++) {
        json_text(writer, items[i]);
    }
    json_end_array(writer);
}
