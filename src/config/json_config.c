/* A ConfigValue as JSON in one form only: keys sorted, numbers in one spelling. Scalars are typed by the core schema of
 * YAML 1.2, so `yes` is text here while `true` is a boolean. */
#include "config/config_value.h"
#include "config/json_writer.h"
#include "config/scalar.h"

#include <stdlib.h>

static int compare_entries(const void *a, const void *b) {
    return str_compare((*(const ConfigEntry *const *)a)->key, (*(const ConfigEntry *const *)b)->key);
}

static void write_map(JsonWriter *writer, const ConfigValue *map) {
    AUTO(arena) Arena *scratch = arena_create();
    const ConfigEntry **sorted = ARENA_NEW_ARRAY(scratch, const ConfigEntry *, map->count);
    for (size_t i = 0; i < map->count; i++) {
        sorted[i] = &map->entries[i];
    }
    if (map->count > 1) {
        qsort(sorted, map->count, sizeof *sorted, compare_entries);
    }
    json_begin_object(writer);
    for (size_t i = 0; i < map->count; i++) {
        json_key(writer, sorted[i]->key);
        json_config(writer, sorted[i]->value);
    }
    json_end_object(writer);
}

static void write_list(JsonWriter *writer, const ConfigValue *list) {
    json_begin_array(writer);
    for (size_t i = 0; i < list->count; i++) {
        json_config(writer, list->items[i]);
    }
    json_end_array(writer);
}

/* The core schema knows no underscores, no 0b, and decimal numbers may begin with 0. */
static bool is_core_number(Str text) {
    bool decimal = !str_starts_with_fold(text, STR("0x")) && !str_starts_with(text, STR("0o"));
    return str_find_char(text, '_') == STR_NOT_FOUND && (!decimal || str_find_char(text, 'b') == STR_NOT_FOUND);
}

static bool core_to_int(Str text, int64_t *number_out) {
    Str digits = str_starts_with(text, STR("+")) ? str_skip(text, 1) : text;
    return str_to_int64(digits, number_out) || (is_core_number(text) && scalar_to_int(text, number_out));
}

/* A whole number too large for int64_t is written digit by digit rather than rounded. */
static bool is_long_integer(Str text, Str *digits_out) {
    Str digits = str_starts_with(text, STR("+")) ? str_skip(text, 1) : text;
    for (size_t i = str_starts_with(digits, STR("-")) ? 1 : 0; i < digits.size; i++) {
        if (digits.ptr[i] < '0' || digits.ptr[i] > '9') {
            return false;
        }
    }
    *digits_out = digits;
    return true;
}

static bool is_core_boolean(const ConfigValue *scalar) {
    return scalar->is_boolean &&
           (str_equal_fold(scalar->text, STR("true")) || str_equal_fold(scalar->text, STR("false")));
}

static void write_scalar(JsonWriter *writer, const ConfigValue *scalar) {
    int64_t whole;
    double number;
    Str digits;
    if (is_core_boolean(scalar)) {
        json_bool(writer, str_equal_fold(scalar->text, STR("true")));
    } else if (scalar->is_number && core_to_int(scalar->text, &whole)) {
        json_int(writer, whole);
    } else if (scalar->is_number && is_long_integer(scalar->text, &digits)) {
        json_raw(writer, digits);
    } else if (scalar->is_number && is_core_number(scalar->text) && scalar_to_double(scalar->text, &number)) {
        json_double(writer, number);
    } else {
        json_text(writer, scalar->text);
    }
}

void json_config(JsonWriter *writer, const ConfigValue *value) {
    switch (value->kind) {
    case CONFIG_NULL:
        json_null(writer);
        break;
    case CONFIG_SCALAR:
        write_scalar(writer, value);
        break;
    case CONFIG_LIST:
        write_list(writer, value);
        break;
    case CONFIG_MAP:
        write_map(writer, value);
        break;
    }
}
