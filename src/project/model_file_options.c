#include "project/model_file_options.h"

#include "config/scalar.h"
#include "project/model_refusal.h"

/* Each says what is wrong with a value; NULL: nothing. */
typedef const char *(*OptionCheck)(const ConfigValue *value);

static const char *check_delimiter(const ConfigValue *value) {
    bool is_one = value->kind == CONFIG_SCALAR && value->text.size == 1;
    char c = is_one ? value->text.ptr[0] : '"';
    return c == '"' || c == '\n' || c == '\r' || (unsigned char)c >= 0x80
               ? "must be one ASCII character, no quote and no line end (a tab is \"\\t\" in double quotes)"
               : NULL;
}

static const char *check_header(const ConfigValue *value) {
    bool flag;
    bool is_flag = value->kind == CONFIG_SCALAR && !value->quoted && scalar_to_bool(value->text, &flag);
    return is_flag ? NULL : "must be true or false";
}

static const char *check_null(const ConfigValue *value) {
    return value->kind == CONFIG_SCALAR ? NULL : "must be a text";
}

static const char *check_compression(const ConfigValue *value) {
    static const Str known[] = {STR_INIT("snappy"), STR_INIT("zstd"), STR_INIT("gzip"), STR_INIT("none")};
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        if (value->kind == CONFIG_SCALAR && str_equal(value->text, known[i])) {
            return NULL;
        }
    }
    return "must be snappy, zstd, gzip or none";
}

static const char *check_row_group_size(const ConfigValue *value) {
    int64_t rows;
    bool is_count = value->kind == CONFIG_SCALAR && !value->quoted && scalar_to_int(value->text, &rows) && rows >= 1;
    return is_count ? NULL : "must be a number of rows, at least 1";
}

static const char *check_partition_by(const ConfigValue *value) {
    const char *fault = "must be a column, or a list of columns";
    if (value->kind == CONFIG_SCALAR) {
        return str_is_identifier(value->text) ? NULL : fault;
    }
    for (size_t i = 0; value->kind == CONFIG_LIST && i < value->count; i++) {
        if (value->items[i]->kind != CONFIG_SCALAR || !str_is_identifier(value->items[i]->text)) {
            return fault;
        }
    }
    return value->kind == CONFIG_LIST && value->count > 0 ? NULL : fault;
}

/* clang-format off */
static const struct FormatOption {
    Str format, name;
    OptionCheck check;
} format_options[] = {
    {STR_INIT("csv"),     STR_INIT("delimiter"),      check_delimiter},
    {STR_INIT("csv"),     STR_INIT("header"),         check_header},
    {STR_INIT("csv"),     STR_INIT("null"),           check_null},
    {STR_INIT("parquet"), STR_INIT("compression"),    check_compression},
    {STR_INIT("parquet"), STR_INIT("row_group_size"), check_row_group_size},
    {STR_INIT("parquet"), STR_INIT("partition_by"),   check_partition_by},
};
/* clang-format on */

static const struct FormatOption *find_option(Str format, Str name) {
    for (size_t i = 0; i < COUNT_OF(format_options); i++) {
        if (str_equal(format_options[i].format, format) && str_equal(format_options[i].name, name)) {
            return &format_options[i];
        }
    }
    return NULL;
}

static Status check_option(const Model *model, const ConfigEntry *entry, Error *err) {
    const struct FormatOption *option = find_option(model->format, entry->key);
    if (option == NULL) {
        return model_refuse(model, model_place_of(model, entry->place), "key.unknown", err,
                            "unknown option '" STR_FMT "' for format " STR_FMT, STR_ARG(entry->key),
                            STR_ARG(model->format));
    }
    const char *fault = entry->value->kind == CONFIG_NULL ? NULL : option->check(entry->value);
    return fault == NULL ? OK
                         : model_refuse(model, model_place_of(model, entry->place), "key.value", err,
                                        "option '" STR_FMT "' %s", STR_ARG(entry->key), fault);
}

Status model_check_file_options(const ModelReader *reader, Error *err) {
    const Model *model = reader->model;
    for (size_t i = 0; model->options != NULL && i < model->options->count; i++) {
        TRY(check_option(model, &model->options->entries[i], err));
    }
    return OK;
}
