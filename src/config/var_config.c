#include "config/var_config.h"

#include "base/civil.h"
#include "config/scalar.h"

/* Each gives the canonical text of a value of its type; false when the value is of another. */
typedef bool VarReader(const ConfigValue *value, Arena *arena, Str *text_out);

static bool read_string(const ConfigValue *value, Arena *arena, Str *text_out) {
    (void)arena;
    *text_out = value->text;
    return value->quoted || (!value->is_number && !value->is_boolean);
}

static bool read_int(const ConfigValue *value, Arena *arena, Str *text_out) {
    int64_t number;
    if (value->quoted || !scalar_to_int(value->text, &number)) {
        return false;
    }
    *text_out = str_format(arena, "%lld", (long long)number);
    return true;
}

static bool read_float(const ConfigValue *value, Arena *arena, Str *text_out) {
    double number;
    if (value->quoted || !value->is_number || !scalar_to_double(value->text, &number)) {
        return false;
    }
    AUTO(strbuf) StrBuf buf = {0};
    scalar_append_double(&buf, number);
    *text_out = strbuf_copy(&buf, arena);
    return true;
}

static bool read_bool(const ConfigValue *value, Arena *arena, Str *text_out) {
    (void)arena;
    bool flag;
    if (value->quoted || !scalar_to_bool(value->text, &flag)) {
        return false;
    }
    *text_out = flag ? STR("true") : STR("false");
    return true;
}

static bool parse_time(const ConfigValue *value, CivilTime *time_out) {
    AUTO(error) Error ignored; /* the caller's message tells more: the var's name and type */
    error_init(&ignored);
    return !failed(civil_time_parse(value->text, time_out, &ignored));
}

static bool read_date(const ConfigValue *value, Arena *arena, Str *text_out) {
    CivilTime time;
    if (!parse_time(value, &time) || time.has_time) {
        return false;
    }
    *text_out = str_format(arena, "%04lld-%02d-%02d", (long long)time.date.year, time.date.month, time.date.day);
    return true;
}

static void append_offset(StrBuf *buf, int offset_seconds) {
    int minutes = (offset_seconds < 0 ? -offset_seconds : offset_seconds) / 60;
    strbuf_format(buf, "%c%02d:%02d", offset_seconds < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

/* An offset is kept: which instant a naive time means is for the project's zone to say. */
static bool read_timestamp(const ConfigValue *value, Arena *arena, Str *text_out) {
    CivilTime time;
    if (!parse_time(value, &time)) {
        return false;
    }
    int64_t seconds = time.time_of_day_us / US_PER_SECOND;
    int64_t fraction_us = time.time_of_day_us % US_PER_SECOND;
    AUTO(strbuf) StrBuf buf = {0};
    strbuf_format(&buf, "%04lld-%02d-%02dT%02d:%02d:%02d", (long long)time.date.year, time.date.month, time.date.day,
                  (int)(seconds / 3600), (int)(seconds / 60 % 60), (int)(seconds % 60));
    if (fraction_us != 0) {
        strbuf_format(&buf, ".%06d", (int)fraction_us);
    }
    if (time.has_offset) {
        append_offset(&buf, time.offset_seconds);
    }
    *text_out = strbuf_copy(&buf, arena);
    return true;
}

typedef struct VarTypeRow {
    Str name;
    VarReader *read;
    const char *expected;
} VarTypeRow;

/* clang-format off */
static const VarTypeRow var_types[] = {
    [VAR_STRING]    = {STR_INIT("string"),    read_string,    "text: put a number, true or false in quotes"},
    [VAR_INT]       = {STR_INIT("int"),       read_int,       "a whole number, without quotes"},
    [VAR_FLOAT]     = {STR_INIT("float"),     read_float,     "a number, without quotes"},
    [VAR_BOOL]      = {STR_INIT("bool"),      read_bool,      "true or false, without quotes"},
    [VAR_DATE]      = {STR_INIT("date"),      read_date,      "a date that exists, as YYYY-MM-DD"},
    [VAR_TIMESTAMP] = {STR_INIT("timestamp"), read_timestamp, "an ISO 8601 timestamp that exists"},
};
/* clang-format on */

static bool find_type(Str name, VarType *type_out) {
    for (size_t i = 0; i < COUNT_OF(var_types); i++) {
        if (str_equal(var_types[i].name, name)) {
            *type_out = (VarType)i;
            return true;
        }
    }
    return false;
}

bool var_config_is_complete(const ConfigValue *keys) {
    VarType type;
    const ConfigValue *type_value = config_find(keys, STR("type"));
    const ConfigValue *value = config_find(keys, STR("value"));
    return type_value != NULL && find_type(type_value->text, &type) && value != NULL && value->kind != CONFIG_NULL;
}

static Status type_error(const ConfigEntry *entry, const ConfigValue *value, VarType type, Error *err) {
    if (value->kind == CONFIG_SCALAR) {
        error_set_at(err, ERROR_CONFIGURATION, value->place,
                     "vars." STR_FMT ": '" STR_FMT "' is not of type " STR_FMT ", which takes %s", STR_ARG(entry->key),
                     STR_ARG(value->text), STR_ARG(var_types[type].name), var_types[type].expected);
    } else {
        error_set_at(err, ERROR_CONFIGURATION, value->place,
                     "vars." STR_FMT ": the value is %s, and type " STR_FMT " takes %s", STR_ARG(entry->key),
                     config_kind_name(value->kind), STR_ARG(var_types[type].name), var_types[type].expected);
    }
    error_code(err, STR("var.type"));
    return FAILED;
}

Status var_config_read(const ConfigEntry *entry, Arena *arena, VarConfig *var_out, Error *err) {
    assert(var_config_is_complete(entry->value));
    if (!str_is_identifier(entry->key)) {
        error_set_at(err, ERROR_CONFIGURATION, entry->place,
                     "vars: '" STR_FMT "' is no name of a var (letters, digits and _, not beginning with a digit)",
                     STR_ARG(entry->key));
        error_code(err, STR("var.name"));
        return FAILED;
    }
    const ConfigValue *value = config_find(entry->value, STR("value"));
    VarType type = VAR_STRING;
    (void)find_type(config_find(entry->value, STR("type"))->text, &type);
    Str text;
    if (value->kind != CONFIG_SCALAR || !var_types[type].read(value, arena, &text)) {
        return type_error(entry, value, type, err);
    }
    *var_out = (VarConfig){.name = entry->key, .type = type, .value = text, .place = entry->place};
    return OK;
}
