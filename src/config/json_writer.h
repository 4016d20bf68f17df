/* Writes one JSON document into a StrBuf: UTF-8, invalid bytes as U+FFFD, NaN and infinities as strings.
 * COMPACT has no white space; PRETTY indents by two spaces. Commas and nesting are kept by the writer. */
#ifndef INTERLACE_CONFIG_JSON_WRITER_H
#define INTERLACE_CONFIG_JSON_WRITER_H

#include "base/clock.h"
#include "base/str.h"

struct ConfigValue; /* config/config_value.h */

typedef enum JsonStyle { JSON_COMPACT, JSON_PRETTY } JsonStyle;

#define JSON_DEPTH_MAX 256 /* more than json_read lets through */
typedef struct JsonWriter {
    StrBuf *out; /* borrowed */
    JsonStyle style;
    size_t depth;
    bool has_items[JSON_DEPTH_MAX];
    bool after_key;
} JsonWriter;

void json_writer_init(JsonWriter *writer, StrBuf *out, JsonStyle style);
void json_begin_object(JsonWriter *writer);
void json_end_object(JsonWriter *writer);
void json_begin_array(JsonWriter *writer);
void json_end_array(JsonWriter *writer);
void json_key(JsonWriter *writer, Str key);
void json_text(JsonWriter *writer, Str text);
void json_int(JsonWriter *writer, int64_t number);
void json_double(JsonWriter *writer, double number);
void json_bool(JsonWriter *writer, bool flag);
void json_null(JsonWriter *writer);
void json_raw(JsonWriter *writer, Str json);                           /* a value that is JSON already */
void json_config(JsonWriter *writer, const struct ConfigValue *value); /* keys sorted; scalars typed as YAML 1.2 core */

/* key and value in one call */
void json_text_field(JsonWriter *writer, Str key, Str text);
void json_optional_text_field(JsonWriter *writer, Str key, Str text); /* empty text gives null */
void json_int_field(JsonWriter *writer, Str key, int64_t number);
void json_bool_field(JsonWriter *writer, Str key, bool flag);
void json_null_field(JsonWriter *writer, Str key);
void json_text_list_field(JsonWriter *writer, Str key, const Str *items, size_t count);

#endif
