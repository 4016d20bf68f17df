#include "sql/engine_json.h"

#include <string.h>

typedef struct JsonCursor {
    Str json;
    size_t offset;
    Arena *arena;
    EngineJsonDocument document;
    EngineJson **parents; /* open arrays and objects */
    EngineJson **tails;   /* the last item of each, NULL before the first */
    size_t depth, depth_max;
    Str key; /* of the next value */
    bool has_key;
    Error *err;
} JsonCursor;

static Status malformed(JsonCursor *cursor) {
    return error_set(cursor->err, ERROR_INTERNAL, "the engine's parser gave no sound JSON at byte %zu", cursor->offset);
}

static char peek(const JsonCursor *cursor) {
    return cursor->offset < cursor->json.size ? cursor->json.ptr[cursor->offset] : '\0';
}

static void skip_blanks(JsonCursor *cursor) {
    while (peek(cursor) == ' ' || peek(cursor) == '\n' || peek(cursor) == '\t' || peek(cursor) == '\r') {
        cursor->offset++;
    }
}

/* --- Strings ------------------------------------------------------------------------------------------------------ */

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* The four digits behind \u; -1 when they are none. */
static int32_t unicode_unit(Str text, size_t offset) {
    int32_t unit = 0;
    for (size_t i = 0; i < 4; i++) {
        int digit = offset + i < text.size ? hex_digit(text.ptr[offset + i]) : -1;
        if (digit < 0) {
            return -1;
        }
        unit = unit * 16 + digit;
    }
    return unit;
}

static size_t put_utf8(char *target, uint32_t code) {
    if (code < 0x80) {
        target[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        target[0] = (char)(0xC0 | (code >> 6));
        target[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        target[0] = (char)(0xE0 | (code >> 12));
        target[1] = (char)(0x80 | ((code >> 6) & 0x3F));
        target[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    target[0] = (char)(0xF0 | (code >> 18));
    target[1] = (char)(0x80 | ((code >> 12) & 0x3F));
    target[2] = (char)(0x80 | ((code >> 6) & 0x3F));
    target[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

/* \uXXXX or a pair of surrogates at `offset` (behind the u): writes it, gives the bytes read, 0 for none. */
static size_t unescape_unicode(Str raw, size_t offset, char *target, size_t *size) {
    int32_t unit = unicode_unit(raw, offset);
    if (unit < 0) {
        return 0;
    }
    bool is_high = unit >= 0xD800 && unit < 0xDC00;
    if (!is_high) {
        *size += put_utf8(target + *size, (uint32_t)unit);
        return 4;
    }
    int32_t low = offset + 6 <= raw.size && raw.ptr[offset + 4] == '\\' && raw.ptr[offset + 5] == 'u'
                      ? unicode_unit(raw, offset + 6)
                      : -1;
    if (low < 0xDC00 || low > 0xDFFF) {
        return 0;
    }
    *size += put_utf8(target + *size, 0x10000U + (((uint32_t)unit - 0xD800U) << 10) + ((uint32_t)low - 0xDC00U));
    return 10;
}

/* Never longer than the raw text: an escape of six bytes gives at most three. */
static bool unescape(Str raw, Arena *arena, Str *text_out) {
    static const char letters[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    char *text = (char *)arena_alloc(arena, raw.size);
    size_t size = 0;
    for (size_t i = 0; i < raw.size; i++) {
        if (raw.ptr[i] != '\\') {
            text[size++] = raw.ptr[i];
            continue;
        }
        i++;
        const char *letter = i < raw.size && raw.ptr[i] != '\0' ? strchr(letters, raw.ptr[i]) : NULL;
        if (letter != NULL) {
            text[size++] = values[letter - letters];
            continue;
        }
        size_t read = i < raw.size && raw.ptr[i] == 'u' ? unescape_unicode(raw, i + 1, text, &size) : 0;
        if (read == 0) {
            return false;
        }
        i += read;
    }
    *text_out = (Str){.ptr = text, .size = size};
    return true;
}

/* The closing quote of the string whose text starts at `start`; the end of the JSON when there is none. */
static size_t find_string_end(Str json, size_t start, bool *has_escapes_out) {
    const char *from = json.ptr + start, *end = json.ptr + json.size;
    const char *quote = memchr(from, '"', (size_t)(end - from));
    *has_escapes_out = memchr(from, '\\', (size_t)((quote == NULL ? end : quote) - from)) != NULL;
    if (quote != NULL && !*has_escapes_out) {
        return (size_t)(quote - json.ptr);
    }
    size_t offset = start;
    while (offset < json.size && json.ptr[offset] != '"') {
        offset += json.ptr[offset] == '\\' ? 2 : 1;
    }
    return offset < json.size ? offset : json.size;
}

static Status read_string(JsonCursor *cursor, Str *text_out) {
    size_t start = cursor->offset + 1;
    bool has_escapes = false;
    size_t end = find_string_end(cursor->json, start, &has_escapes);
    if (end == cursor->json.size) {
        return malformed(cursor);
    }
    Str raw = str_slice(cursor->json, start, end);
    if (!has_escapes) {
        *text_out = raw;
    } else if (!unescape(raw, cursor->arena, text_out)) {
        return malformed(cursor);
    }
    cursor->offset = end + 1;
    return OK;
}

/* --- Values ------------------------------------------------------------------------------------------------------- */

static EngineJson *add_node(JsonCursor *cursor, EngineJsonKind kind, Str text) {
    EngineJson *node = &cursor->document.nodes[cursor->document.count++];
    *node = (EngineJson){.kind = kind, .key = cursor->has_key ? cursor->key : STR_EMPTY, .text = text};
    cursor->has_key = false;
    if (cursor->depth > 0) {
        EngineJson **tail = &cursor->tails[cursor->depth - 1];
        if (*tail == NULL) {
            cursor->parents[cursor->depth - 1]->first = node;
        } else {
            (*tail)->next = node;
        }
        *tail = node;
    }
    return node;
}

static Status open_container(JsonCursor *cursor, EngineJsonKind kind) {
    if (cursor->depth == cursor->depth_max) {
        return error_set(cursor->err, ERROR_COMPILATION, "the query is nested too deeply to be read");
    }
    cursor->offset++;
    EngineJson *node = add_node(cursor, kind, STR_EMPTY);
    cursor->parents[cursor->depth] = node;
    cursor->tails[cursor->depth] = NULL;
    cursor->depth++;
    return OK;
}

static Status read_number(JsonCursor *cursor) {
    size_t start = cursor->offset;
    while (peek(cursor) != '\0' && strchr("+-.0123456789eE", peek(cursor)) != NULL) {
        cursor->offset++;
    }
    if (cursor->offset == start) {
        return malformed(cursor);
    }
    add_node(cursor, ENGINE_JSON_NUMBER, str_slice(cursor->json, start, cursor->offset));
    return OK;
}

static Status read_literal(JsonCursor *cursor) {
    static const struct {
        const char *word;
        EngineJsonKind kind;
    } literals[] = {{"null", ENGINE_JSON_NULL}, {"false", ENGINE_JSON_FALSE}, {"true", ENGINE_JSON_TRUE}};
    for (size_t i = 0; i < COUNT_OF(literals); i++) {
        Str word = str_from(literals[i].word);
        if (str_starts_with(str_skip(cursor->json, cursor->offset), word)) {
            cursor->offset += word.size;
            add_node(cursor, literals[i].kind, STR_EMPTY);
            return OK;
        }
    }
    return read_number(cursor);
}

static Status read_value(JsonCursor *cursor) {
    Str text = STR_EMPTY;
    switch (peek(cursor)) {
    case '{':
        return open_container(cursor, ENGINE_JSON_OBJECT);
    case '[':
        return open_container(cursor, ENGINE_JSON_ARRAY);
    case '"':
        TRY(read_string(cursor, &text));
        add_node(cursor, ENGINE_JSON_STRING, text);
        return OK;
    default:
        return read_literal(cursor);
    }
}

static Status read_key(JsonCursor *cursor) {
    if (peek(cursor) != '"') {
        return malformed(cursor);
    }
    TRY(read_string(cursor, &cursor->key));
    skip_blanks(cursor);
    if (peek(cursor) != ':') {
        return malformed(cursor);
    }
    cursor->offset++;
    cursor->has_key = true;
    skip_blanks(cursor);
    return OK;
}

/* One step inside an open container: its end, or the next item with the comma before it. */
static Status read_item(JsonCursor *cursor) {
    const EngineJson *parent = cursor->parents[cursor->depth - 1];
    bool is_object = parent->kind == ENGINE_JSON_OBJECT;
    if (peek(cursor) == (is_object ? '}' : ']')) {
        cursor->offset++;
        cursor->depth--;
        return OK;
    }
    bool is_first = parent->first == NULL;
    if (!is_first && peek(cursor) != ',') {
        return malformed(cursor);
    }
    cursor->offset += !is_first;
    skip_blanks(cursor);
    if (is_object) {
        TRY(read_key(cursor));
    }
    return read_value(cursor);
}

/* Takes memory for all nodes and open containers. An item has a comma or an opening bracket before it; only the root
 * has neither. */
static void reserve(JsonCursor *cursor) {
    size_t commas = 0, brackets = 0;
    for (size_t i = 0; i < cursor->json.size; i++) {
        char c = cursor->json.ptr[i];
        commas += c == ',';
        brackets += c == '[' || c == '{';
    }
    cursor->document.nodes = ARENA_NEW_ARRAY(cursor->arena, EngineJson, commas + brackets + 1);
    cursor->depth_max = brackets < ENGINE_JSON_DEPTH_MAX ? brackets : ENGINE_JSON_DEPTH_MAX;
    cursor->parents = ARENA_NEW_ARRAY(cursor->arena, EngineJson *, cursor->depth_max);
    cursor->tails = ARENA_NEW_ARRAY(cursor->arena, EngineJson *, cursor->depth_max);
}

Status engine_json_parse(Str json, Arena *arena, EngineJsonDocument *document_out, Error *err) {
    if (json.size > ENGINE_JSON_SIZE_MAX) {
        return error_set(err, ERROR_COMPILATION, "the query is too large to be read");
    }
    JsonCursor cursor = {.json = json, .arena = arena, .err = err};
    reserve(&cursor);
    skip_blanks(&cursor);
    TRY(read_value(&cursor));
    while (cursor.depth > 0) {
        skip_blanks(&cursor);
        TRY(read_item(&cursor));
    }
    skip_blanks(&cursor);
    if (cursor.offset != json.size) {
        return malformed(&cursor);
    }
    *document_out = cursor.document;
    return OK;
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

const EngineJson *engine_json_find(const EngineJson *object, Str key) {
    const EngineJson *member = object != NULL && object->kind == ENGINE_JSON_OBJECT ? object->first : NULL;
    while (member != NULL && !str_equal(member->key, key)) {
        member = member->next;
    }
    return member;
}

Str engine_json_text(const EngineJson *object, Str key) {
    const EngineJson *member = engine_json_find(object, key);
    return member != NULL && member->kind == ENGINE_JSON_STRING ? member->text : STR_EMPTY;
}

size_t engine_json_size(const EngineJson *object, Str key, size_t absent) {
    const EngineJson *member = engine_json_find(object, key);
    int64_t number = 0;
    bool is_size =
        member != NULL && member->kind == ENGINE_JSON_NUMBER && str_to_int64(member->text, &number) && number >= 0;
    return is_size ? (size_t)number : absent;
}

bool engine_json_true(const EngineJson *object, Str key) {
    const EngineJson *member = engine_json_find(object, key);
    return member != NULL && member->kind == ENGINE_JSON_TRUE;
}
