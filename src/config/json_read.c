/* jansson reads the text; its tree has no positions, so a value's place is the file alone. */
#include "config/config_value.h"
#include "config/scalar.h"

#include <jansson.h>

#define JSON_READ_DEPTH_MAX 200

static inline void json_tree_auto(json_t **tree) {
    json_decref(*tree);
}

typedef struct JsonReader {
    Str file;
    Arena *arena;
    Error *err;
} JsonReader;

static Status convert(const JsonReader *reader, json_t *json, size_t depth, ConfigValue **value_out);

static Status convert_list(const JsonReader *reader, json_t *json, size_t depth, ConfigValue *list) {
    list->count = json_array_size(json);
    list->items = ARENA_NEW_ARRAY(reader->arena, ConfigValue *, list->count);
    for (size_t i = 0; i < list->count; i++) {
        TRY(convert(reader, json_array_get(json, i), depth + 1, &list->items[i]));
    }
    return OK;
}

static Status convert_map(const JsonReader *reader, json_t *json, size_t depth, ConfigValue *map) {
    map->entries = ARENA_NEW_ARRAY(reader->arena, ConfigEntry, json_object_size(json));
    const char *key;
    json_t *child;
    json_object_foreach(json, key, child) {
        ConfigEntry *entry = &map->entries[map->count++];
        entry->key = str_copy(reader->arena, str_from(key));
        entry->place = map->place;
        TRY(convert(reader, child, depth + 1, &entry->value));
    }
    return OK;
}

static Str real_text(Arena *arena, double number) {
    AUTO(strbuf) StrBuf buf = {0};
    scalar_append_double(&buf, number);
    return strbuf_copy(&buf, arena);
}

static Str scalar_json_text(Arena *arena, const json_t *json) {
    switch (json_typeof(json)) {
    case JSON_STRING:
        return str_copy(arena, (Str){.ptr = json_string_value(json), .size = json_string_length(json)});
    case JSON_INTEGER:
        return str_format(arena, "%lld", (long long)json_integer_value(json));
    case JSON_REAL:
        return real_text(arena, json_real_value(json));
    case JSON_TRUE:
        return STR("true");
    case JSON_FALSE:
        return STR("false");
    case JSON_NULL:
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    }
    return STR_EMPTY;
}

static ConfigKind kind_of(const json_t *json) {
    if (json_is_object(json)) {
        return CONFIG_MAP;
    }
    if (json_is_array(json)) {
        return CONFIG_LIST;
    }
    return json_is_null(json) ? CONFIG_NULL : CONFIG_SCALAR;
}

static Status convert(const JsonReader *reader, json_t *json, size_t depth, ConfigValue **value_out) {
    if (depth >= JSON_READ_DEPTH_MAX && (json_is_object(json) || json_is_array(json))) {
        return error_set_at(reader->err, ERROR_CONFIGURATION, (SourceSpan){.file = reader->file},
                            "JSON is nested more than %d levels deep", JSON_READ_DEPTH_MAX);
    }
    ConfigValue *value = ARENA_NEW(reader->arena, ConfigValue);
    value->kind = kind_of(json);
    value->place.file = reader->file;
    value->text = scalar_json_text(reader->arena, json);
    value->quoted = json_is_string(json);
    value->is_number = json_is_number(json);
    value->is_boolean = json_is_boolean(json);
    *value_out = value;
    if (value->kind == CONFIG_LIST) {
        return convert_list(reader, json, depth, value);
    }
    return value->kind == CONFIG_MAP ? convert_map(reader, json, depth, value) : OK;
}

static SourceSpan place_of_fault(Str file, const json_error_t *fault) {
    SourceSpan place = {.file = file};
    if (fault->line > 0 && fault->column >= 0) {
        place.line = (size_t)fault->line;
        place.column = (size_t)fault->column;
    }
    return place;
}

Status json_read(Str text, Str file, Arena *arena, ConfigValue **value_out, Error *err) {
    json_error_t fault;
    AUTO(json_tree)
    json_t *tree =
        json_loadb(text.size == 0 ? "" : text.ptr, text.size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &fault);
    if (tree == NULL) {
        return error_set_at(err, ERROR_CONFIGURATION, place_of_fault(file, &fault), "invalid JSON: %s", fault.text);
    }
    JsonReader reader = {.file = str_copy(arena, file), .arena = arena, .err = err};
    return convert(&reader, tree, 0, value_out);
}
