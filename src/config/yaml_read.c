/* libyaml gives events; the composer here builds ConfigValues from them, because libyaml's own forgets duplicate keys
 * and expands aliases (a short text can then grow without bound). What we do not support is refused by name, never
 * ignored. */
#include "config/config_value.h"
#include "config/scalar.h"

#include "base/str_map.h"

#include <yaml.h>

#define YAML_DEPTH_MAX 64

DEFINE_VEC(ConfigItemVec, config_item_vec, ConfigValue *)
DEFINE_VEC(ConfigEntryVec, config_entry_vec, ConfigEntry)

typedef struct YamlReader {
    yaml_parser_t parser;
    Str text, file;
    size_t first_line;
    Arena *arena;
    Error *err;
} YamlReader;

static inline void yaml_event_auto(yaml_event_t *event) {
    yaml_event_delete(event);
}

static inline void yaml_reader_auto(YamlReader *reader) {
    yaml_parser_delete(&reader->parser);
}

/* libyaml counts from 0, columns in code points. */
static SourceSpan place_at(const YamlReader *reader, yaml_mark_t mark) {
    return (SourceSpan){.file = reader->file, .line = mark.line + reader->first_line, .column = mark.column + 1};
}

static SourceSpan place_of_offset(const YamlReader *reader, size_t offset) {
    TextPosition position = str_position(reader->text, offset);
    return (SourceSpan){
        .file = reader->file, .line = position.line - 1 + reader->first_line, .column = position.column};
}

static Str line_of(Str text, size_t line_index) {
    for (; line_index > 0; line_index--) {
        size_t end = str_find_char(text, '\n');
        text = end == STR_NOT_FOUND ? STR_EMPTY : str_skip(text, end + 1);
    }
    return str_slice(text, 0, str_find_char(text, '\n'));
}

/* Column index of a tab before the line's first other character. */
static size_t find_indenting_tab(Str line) {
    size_t at = 0;
    while (at < line.size && line.ptr[at] == ' ') {
        at++;
    }
    return at < line.size && line.ptr[at] == '\t' ? at : STR_NOT_FOUND;
}

static Status tab_error(const YamlReader *reader, yaml_mark_t mark, size_t column_index) {
    SourceSpan place = place_at(reader, (yaml_mark_t){.line = mark.line, .column = column_index});
    error_set_at(reader->err, ERROR_CONFIGURATION, place,
                 "invalid YAML: the line begins with a tab, and YAML does not allow tabs for indentation");
    error_hint(reader->err, "indent with spaces");
    error_code(reader->err, STR("yaml.tab"));
    return FAILED;
}

static bool is_at_end(const YamlReader *reader, yaml_mark_t mark) {
    size_t written = 0;
    for (size_t i = 0; i < reader->text.size; i++) {
        written += ((unsigned char)reader->text.ptr[i] & 0xC0) != 0x80;
    }
    return mark.index >= written;
}

/* Of a text that ends too early the end tells nothing: what was opened and not closed does. */
static yaml_mark_t mark_of_fault(const YamlReader *reader) {
    const yaml_parser_t *parser = &reader->parser;
    bool has_context = parser->context != NULL && parser->error != YAML_READER_ERROR;
    return has_context && is_at_end(reader, parser->problem_mark) ? parser->context_mark : parser->problem_mark;
}

static Status syntax_error(const YamlReader *reader) {
    const yaml_parser_t *parser = &reader->parser;
    Str line = line_of(reader->text, parser->problem_mark.line);
    bool has_mark = parser->error != YAML_READER_ERROR;
    size_t tab = has_mark ? find_indenting_tab(line) : STR_NOT_FOUND;
    if (tab != STR_NOT_FOUND) {
        return tab_error(reader, parser->problem_mark, tab);
    }
    SourceSpan place =
        has_mark ? place_at(reader, mark_of_fault(reader)) : place_of_offset(reader, parser->problem_offset);
    error_set_at(reader->err, ERROR_CONFIGURATION, place, "invalid YAML: %s%s%s",
                 parser->problem == NULL ? "cannot be read" : parser->problem, parser->context == NULL ? "" : " ",
                 parser->context == NULL ? "" : parser->context);
    error_code(reader->err, STR("yaml.syntax"));
    if (has_mark && str_find(line, STR("${")) != STR_NOT_FOUND) {
        error_hint(reader->err, "inside {…} and […] write \"${NAME}\" in quotes");
    }
    return FAILED;
}

static Status refuse(const YamlReader *reader, yaml_mark_t mark, const char *what) {
    error_set_at(reader->err, ERROR_CONFIGURATION, place_at(reader, mark), "%s", what);
    error_code(reader->err, STR("yaml.unsupported"));
    return FAILED;
}

static Status next_event(YamlReader *reader, yaml_event_t *event) {
    return yaml_parser_parse(&reader->parser, event) ? OK : syntax_error(reader);
}

static Status refuse_anchor_and_tag(const YamlReader *reader, const yaml_event_t *event, const yaml_char_t *anchor,
                                    const yaml_char_t *tag) {
    if (anchor != NULL) {
        return refuse(reader, event->start_mark, "YAML anchors (&name) are not supported: write the value out");
    }
    if (tag != NULL) {
        return refuse(reader, event->start_mark, "YAML tags (!name) are not supported: write a plain or quoted value");
    }
    return OK;
}

static ConfigValue *new_value(const YamlReader *reader, ConfigKind kind, const yaml_event_t *event) {
    ConfigValue *value = ARENA_NEW(reader->arena, ConfigValue);
    value->kind = kind;
    value->place = place_at(reader, event->start_mark);
    value->text = STR_EMPTY;
    return value;
}

static Str scalar_text(const YamlReader *reader, const yaml_event_t *event) {
    Str text = {.ptr = (const char *)event->data.scalar.value, .size = event->data.scalar.length};
    return str_copy(reader->arena, text);
}

static Status compose_scalar(YamlReader *reader, const yaml_event_t *event, ConfigValue **value_out) {
    TRY(refuse_anchor_and_tag(reader, event, event->data.scalar.anchor, event->data.scalar.tag));
    ConfigValue *value = new_value(reader, CONFIG_SCALAR, event);
    value->text = scalar_text(reader, event);
    value->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    config_resolve_scalar(value);
    *value_out = value;
    return OK;
}

static Status compose_value(YamlReader *reader, const yaml_event_t *event, size_t depth, ConfigValue **value_out);

static Status compose_list(YamlReader *reader, const yaml_event_t *event, size_t depth, ConfigValue **value_out) {
    TRY(refuse_anchor_and_tag(reader, event, event->data.sequence_start.anchor, event->data.sequence_start.tag));
    ConfigValue *list = new_value(reader, CONFIG_LIST, event);
    ConfigItemVec items = {0};
    for (;;) {
        AUTO(yaml_event) yaml_event_t item_event = {0};
        TRY(next_event(reader, &item_event));
        if (item_event.type == YAML_SEQUENCE_END_EVENT) {
            break;
        }
        ConfigValue *item;
        TRY(compose_value(reader, &item_event, depth + 1, &item));
        config_item_vec_push(reader->arena, &items, item);
    }
    list->items = items.items;
    list->count = items.count;
    *value_out = list;
    return OK;
}

static Status compose_key(YamlReader *reader, const yaml_event_t *event, ConfigEntry *entry) {
    if (event->type != YAML_SCALAR_EVENT) {
        return refuse(reader, event->start_mark, "a key must be a single word or text");
    }
    TRY(refuse_anchor_and_tag(reader, event, event->data.scalar.anchor, event->data.scalar.tag));
    entry->key = scalar_text(reader, event);
    entry->place = place_at(reader, event->start_mark);
    bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (plain && str_equal(entry->key, STR("<<"))) {
        return refuse(reader, event->start_mark, "YAML merge keys (<<) are not supported: write the keys out");
    }
    if (entry->key.size == 0) {
        return refuse(reader, event->start_mark, "a key is empty");
    }
    return OK;
}

static Status check_new_key(const YamlReader *reader, StrMap *lines, const ConfigEntry *entry) {
    if (str_map_contains(lines, entry->key)) {
        error_set_at(reader->err, ERROR_CONFIGURATION, entry->place,
                     "key '" STR_FMT "' is written twice, on line %zu and on line %zu", STR_ARG(entry->key),
                     (size_t)(uintptr_t)str_map_find(lines, entry->key), entry->place.line);
        error_code(reader->err, STR("key.duplicate"));
        return FAILED;
    }
    str_map_put(lines, entry->key, (void *)(uintptr_t)entry->place.line);
    return OK;
}

static Status compose_entry_value(YamlReader *reader, size_t depth, ConfigEntry *entry) {
    AUTO(yaml_event) yaml_event_t event = {0};
    TRY(next_event(reader, &event));
    return compose_value(reader, &event, depth + 1, &entry->value);
}

static Status compose_map(YamlReader *reader, const yaml_event_t *event, size_t depth, ConfigValue **value_out) {
    TRY(refuse_anchor_and_tag(reader, event, event->data.mapping_start.anchor, event->data.mapping_start.tag));
    AUTO(arena) Arena *scratch = arena_create();
    StrMap *lines = str_map_create(scratch, STR_MAP_EXACT);
    ConfigValue *map = new_value(reader, CONFIG_MAP, event);
    ConfigEntryVec entries = {0};
    for (;;) {
        AUTO(yaml_event) yaml_event_t key_event = {0};
        TRY(next_event(reader, &key_event));
        if (key_event.type == YAML_MAPPING_END_EVENT) {
            break;
        }
        ConfigEntry entry = {0};
        TRY(compose_key(reader, &key_event, &entry));
        TRY(check_new_key(reader, lines, &entry));
        TRY(compose_entry_value(reader, depth, &entry));
        config_entry_vec_push(reader->arena, &entries, entry);
    }
    map->entries = entries.items;
    map->count = entries.count;
    *value_out = map;
    return OK;
}

static Status compose_value(YamlReader *reader, const yaml_event_t *event, size_t depth, ConfigValue **value_out) {
    bool is_collection = event->type == YAML_SEQUENCE_START_EVENT || event->type == YAML_MAPPING_START_EVENT;
    if (is_collection && depth >= YAML_DEPTH_MAX) {
        error_set_at(reader->err, ERROR_CONFIGURATION, place_at(reader, event->start_mark),
                     "YAML is nested more than %d levels deep", YAML_DEPTH_MAX);
        error_code(reader->err, STR("yaml.depth"));
        return FAILED;
    }
    if (event->type == YAML_SEQUENCE_START_EVENT) {
        return compose_list(reader, event, depth, value_out);
    }
    if (event->type == YAML_MAPPING_START_EVENT) {
        return compose_map(reader, event, depth, value_out);
    }
    if (event->type == YAML_ALIAS_EVENT) {
        return refuse(reader, event->start_mark, "YAML aliases (*name) are not supported: write the value out");
    }
    assert(event->type == YAML_SCALAR_EVENT);
    return compose_scalar(reader, event, value_out);
}

static Status compose_document(YamlReader *reader, ConfigValue **value_out) {
    AUTO(yaml_event) yaml_event_t event = {0};
    TRY(next_event(reader, &event));
    TRY(compose_value(reader, &event, 0, value_out));
    AUTO(yaml_event) yaml_event_t end = {0};
    return next_event(reader, &end);
}

static Status read_stream(YamlReader *reader, ConfigValue **value_out) {
    AUTO(yaml_event) yaml_event_t start = {0};
    TRY(next_event(reader, &start)); /* the stream's start */

    AUTO(yaml_event) yaml_event_t first = {0};
    TRY(next_event(reader, &first));
    if (first.type == YAML_STREAM_END_EVENT) {
        *value_out = new_value(reader, CONFIG_NULL, &first);
        return OK;
    }
    ConfigValue *value;
    TRY(compose_document(reader, &value));

    AUTO(yaml_event) yaml_event_t second = {0};
    TRY(next_event(reader, &second));
    if (second.type != YAML_STREAM_END_EVENT) {
        return refuse(reader, second.start_mark, "a second YAML document (---) begins here: only one is read");
    }
    *value_out = value;
    return OK;
}

static Status check_utf8(const YamlReader *reader) {
    size_t offset = str_find_invalid_utf8(reader->text);
    if (offset == STR_NOT_FOUND) {
        return OK;
    }
    error_set_at(reader->err, ERROR_CONFIGURATION, place_of_offset(reader, offset),
                 "'" STR_FMT "' is not UTF-8 text (byte %zu)", STR_ARG(reader->file), offset);
    error_code(reader->err, STR("file.encoding"));
    return FAILED;
}

Status yaml_read(Str text, Str file, size_t first_line, Arena *arena, ConfigValue **value_out, Error *err) {
    AUTO(yaml_reader)
    YamlReader reader = {
        .text = text, .file = str_copy(arena, file), .first_line = first_line, .arena = arena, .err = err};
    TRY(check_utf8(&reader));
    if (!yaml_parser_initialize(&reader.parser)) {
        return error_set(err, ERROR_INTERNAL, "the YAML parser cannot be started");
    }
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)(text.size == 0 ? "" : text.ptr), text.size);
    return read_stream(&reader, value_out);
}
