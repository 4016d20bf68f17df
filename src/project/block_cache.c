/* Bytes of a value: its kind and flags, line and column, then its text, or its count and its items or entries. Numbers
 * are 32 bits in the machine's byte order (the cache is of one machine). */
#include "project/block_cache.h"

#include "base/files.h"

#include <string.h>

#define BLOCK_DEPTH_MAX 66 /* deeper than the reader goes */

enum { FLAG_QUOTED = 4, FLAG_NUMBER = 8, FLAG_BOOLEAN = 16, KIND_MASK = 3 };

SqlCache *block_cache_open(Str cache_directory) {
    AUTO(arena) Arena *scratch = arena_create();
    Str path = cache_directory.size == 0 ? STR_EMPTY : path_join(scratch, cache_directory, STR("blocks.bin"));
    return sql_cache_open(path, STR(BLOCK_CACHE_VERSION));
}

/* ---- Writing */

static void put_number(StrBuf *bytes, size_t number) {
    uint32_t value = (uint32_t)number; /* a file is far below 4 GiB */
    strbuf_append(bytes, (Str){.ptr = (const char *)&value, .size = sizeof value});
}

static void put_text(StrBuf *bytes, Str text) {
    put_number(bytes, text.size);
    strbuf_append(bytes, text);
}

static void put_place(StrBuf *bytes, SourceSpan place, size_t first_line) {
    put_number(bytes, place.line - first_line);
    put_number(bytes, place.column);
}

static size_t flags_of(const ConfigValue *value) {
    size_t flags = value->quoted ? FLAG_QUOTED : 0;
    flags |= value->is_number ? FLAG_NUMBER : 0;
    return flags | (value->is_boolean ? FLAG_BOOLEAN : 0);
}

/* Nesting is limited by the reader. */
static void put_value(StrBuf *bytes, const ConfigValue *value, size_t first_line) {
    put_number(bytes, value->kind | flags_of(value));
    put_place(bytes, value->place, first_line);
    put_text(bytes, value->text);
    put_number(bytes, value->count);
    for (size_t i = 0; i < value->count; i++) {
        if (value->kind == CONFIG_LIST) {
            put_value(bytes, value->items[i], first_line);
            continue;
        }
        put_text(bytes, value->entries[i].key);
        put_place(bytes, value->entries[i].place, first_line);
        put_value(bytes, value->entries[i].value, first_line);
    }
}

/* ---- Reading */

typedef struct BlockReader {
    Str bytes; /* in the arena: texts point into it */
    size_t offset, first_line;
    Str file;
    Arena *arena;
    bool is_sound; /* false for good after the first read that does not fit */
} BlockReader;

static size_t get_number(BlockReader *reader) {
    uint32_t value = 0;
    reader->is_sound = reader->is_sound && reader->bytes.size - reader->offset >= sizeof value;
    if (!reader->is_sound) {
        return 0;
    }
    memcpy(&value, reader->bytes.ptr + reader->offset, sizeof value);
    reader->offset += sizeof value;
    return value;
}

static Str get_text(BlockReader *reader) {
    size_t size = get_number(reader);
    reader->is_sound = reader->is_sound && size <= reader->bytes.size - reader->offset;
    if (!reader->is_sound) {
        return STR_EMPTY;
    }
    Str text = str_slice(reader->bytes, reader->offset, reader->offset + size);
    reader->offset += size;
    return text;
}

static SourceSpan get_place(BlockReader *reader) {
    size_t line = get_number(reader) + reader->first_line;
    return (SourceSpan){.file = reader->file, .line = line, .column = get_number(reader)};
}

/* Each item takes more bytes than one, so a count above the rest of the bytes is none. */
static size_t get_count(BlockReader *reader) {
    size_t count = get_number(reader);
    reader->is_sound = reader->is_sound && count <= reader->bytes.size - reader->offset;
    return reader->is_sound ? count : 0;
}

static ConfigValue *get_value(BlockReader *reader, size_t depth);

static void get_items(BlockReader *reader, ConfigValue *value, size_t depth) {
    if (value->kind == CONFIG_LIST) {
        value->items = ARENA_NEW_ARRAY(reader->arena, ConfigValue *, value->count);
    } else {
        value->entries = ARENA_NEW_ARRAY(reader->arena, ConfigEntry, value->count);
    }
    for (size_t i = 0; i < value->count && reader->is_sound; i++) {
        if (value->kind == CONFIG_LIST) {
            value->items[i] = get_value(reader, depth + 1);
            continue;
        }
        value->entries[i].key = get_text(reader);
        value->entries[i].place = get_place(reader);
        value->entries[i].value = get_value(reader, depth + 1);
    }
}

static ConfigValue *get_value(BlockReader *reader, size_t depth) {
    ConfigValue *value = ARENA_NEW(reader->arena, ConfigValue);
    size_t flags = get_number(reader);
    value->kind = (ConfigKind)(flags & KIND_MASK);
    value->quoted = (flags & FLAG_QUOTED) != 0;
    value->is_number = (flags & FLAG_NUMBER) != 0;
    value->is_boolean = (flags & FLAG_BOOLEAN) != 0;
    value->place = get_place(reader);
    value->text = get_text(reader);
    value->count = get_count(reader);
    bool may_have_items = value->kind == CONFIG_LIST || value->kind == CONFIG_MAP;
    reader->is_sound = reader->is_sound && depth < BLOCK_DEPTH_MAX && (may_have_items || value->count == 0);
    if (reader->is_sound && value->count > 0) {
        get_items(reader, value, depth);
    }
    return value;
}

static ConfigValue *find_value(SqlCache *cache, ContentHash key, Str file, size_t first_line, Arena *arena) {
    Str bytes = sql_cache_find(cache, key);
    if (bytes.size == 0) {
        return NULL;
    }
    BlockReader reader = {
        .bytes = str_copy(arena, bytes), .first_line = first_line, .file = file, .arena = arena, .is_sound = true};
    ConfigValue *value = get_value(&reader, 0);
    return reader.is_sound && reader.offset == reader.bytes.size ? value : NULL;
}

Status block_cache_read(SqlCache *cache, Str text, Str file, size_t first_line, Arena *arena, ConfigValue **value_out,
                        Error *err) {
    if (cache == NULL) {
        return yaml_read(text, file, first_line, arena, value_out, err);
    }
    ContentHash key = content_hash(text);
    *value_out = find_value(cache, key, file, first_line, arena);
    if (*value_out != NULL) {
        return OK;
    }
    TRY(yaml_read(text, file, first_line, arena, value_out, err));
    AUTO(strbuf) StrBuf bytes = {0};
    put_value(&bytes, *value_out, first_line);
    sql_cache_put(cache, key, strbuf_str(&bytes));
    return OK;
}
