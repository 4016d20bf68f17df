#include "project/input_scan.h"

#include "base/files.h"
#include "config/path_tokens.h"
#include "config/scalar.h"
#include "sql/sql_buf.h"

typedef struct InputFormat {
    Str name;
    const char *function;
    Str extension; /* empty: the engine has it in itself */
} InputFormat;

/* clang-format off */
static const InputFormat formats[] = {
    {STR_INIT("parquet"), "read_parquet", STR_INIT("")},
    {STR_INIT("csv"),     "read_csv",     STR_INIT("")},
    {STR_INIT("json"),    "read_json",    STR_INIT("")},
    {STR_INIT("delta"),   "delta_scan",   STR_INIT("delta")},
    {STR_INIT("iceberg"), "iceberg_scan", STR_INIT("iceberg")},
};
/* clang-format on */

static const InputFormat *format_of(const InputConfig *input) {
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        if (str_equal(formats[i].name, input->format)) {
            return &formats[i];
        }
    }
    assert(false); /* a format that the check of keys does not know */
    return NULL;
}

/* Unquoted names match in any letter case, quoted ones exactly. */
size_t input_find(const ProjectConfig *config, const SqlTableRef *table) {
    bool is_plain = !table->is_file && table->catalog.size == 0 && table->schema.size == 0;
    for (size_t i = 0; is_plain && i < config->inputs.count; i++) {
        Str name = config->inputs.items[i].name;
        if (table->name_quoted ? str_equal(table->name, name) : str_equal_fold(table->name, name)) {
            return i;
        }
    }
    return INPUT_NONE;
}

bool input_exists(const ProjectConfig *config, Str name) {
    SqlTableRef table = {.name = name};
    return input_find(config, &table) != INPUT_NONE;
}

Str input_path(const ProjectConfig *config, const InputConfig *input, TimeUs now, Arena *arena) {
    Str path = path_tokens_expand(input->path, config->root, now, arena);
    return input->is_remote ? path : path_join(arena, config->root, path);
}

Str input_path_prefix(Str path) {
    size_t end = 0;
    while (end < path.size && path.ptr[end] != '*' && path.ptr[end] != '?' && path.ptr[end] != '[') {
        end++;
    }
    return str_slice(path, 0, end);
}

/* ---- Options of CSV. Their shapes were checked with the configuration. */

static void append_text_option(const InputConfig *input, const char *key, const char *option, StrBuf *sql) {
    const ConfigValue *value = config_find(input->options, str_from(key));
    if (value != NULL && value->kind == CONFIG_SCALAR && value->text.size > 0) {
        strbuf_format(sql, ", %s = ", option);
        sql_literal(sql, value->text);
    }
}

static bool has_header(const InputConfig *input) {
    const ConfigValue *value = config_find(input->options, STR("header"));
    bool header = true;
    if (value != NULL && value->kind == CONFIG_SCALAR) {
        (void)scalar_to_bool(value->text, &header); /* an empty text is as good as not set */
    }
    return header;
}

static void append_null_texts(const InputConfig *input, StrBuf *sql) {
    const ConfigValue *value = config_find(input->options, STR("nullstr"));
    bool is_set = value != NULL && ((value->kind == CONFIG_SCALAR && value->text.size > 0) ||
                                    (value->kind == CONFIG_LIST && value->count > 0));
    if (!is_set) {
        return;
    }
    size_t count = value->kind == CONFIG_LIST ? value->count : 1;
    strbuf_text(sql, ", nullstr = [");
    for (size_t i = 0; i < count; i++) {
        strbuf_text(sql, i > 0 ? ", " : "");
        sql_literal(sql, value->kind == CONFIG_LIST ? value->items[i]->text : value->text);
    }
    strbuf_char(sql, ']');
}

/* With a header, `types` gives some columns a type; without one, `columns` names and types all of them. */
static void append_columns(const InputConfig *input, StrBuf *sql) {
    const ConfigValue *columns = config_find(input->options, STR("columns"));
    size_t written = 0;
    for (size_t i = 0; columns != NULL && columns->kind == CONFIG_MAP && i < columns->count; i++) {
        const ConfigEntry *column = &columns->entries[i];
        if (column->value->kind != CONFIG_SCALAR) {
            continue;
        }
        strbuf_text(sql, written > 0 ? ", " : has_header(input) ? ", types = {" : ", columns = {");
        sql_literal(sql, column->key);
        strbuf_text(sql, ": ");
        sql_literal(sql, column->value->text);
        written++;
    }
    strbuf_text(sql, written > 0 ? "}" : "");
}

static void append_csv_options(const InputConfig *input, StrBuf *sql) {
    strbuf_text(sql, has_header(input) ? ", header = true" : ", header = false");
    append_text_option(input, "delimiter", "delim", sql);
    append_text_option(input, "quote", "quote", sql);
    append_null_texts(input, sql);
    append_columns(input, sql);
}

/* ---- All */

static Str scan_of(const ProjectConfig *config, const InputConfig *input, TimeUs now, Arena *arena) {
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_format(&sql, "(SELECT * FROM %s(", format_of(input)->function);
    sql_literal(&sql, input_path(config, input, now, arena));
    if (str_equal(input->format, STR("csv"))) {
        append_csv_options(input, &sql);
    }
    strbuf_text(&sql, "))");
    return strbuf_copy(&sql, arena);
}

Str *input_scans(const ProjectConfig *config, TimeUs now, Arena *arena) {
    Str *scans = ARENA_NEW_ARRAY(arena, Str, config->inputs.count);
    for (size_t i = 0; i < config->inputs.count; i++) {
        scans[i] = scan_of(config, &config->inputs.items[i], now, arena);
    }
    return scans;
}

void input_extensions(const InputConfig *input, Arena *arena, StrVec *names_out) {
    Str of_format = format_of(input)->extension;
    if (of_format.size > 0) {
        str_vec_push(arena, names_out, of_format);
    }
    if (input->is_remote) {
        str_vec_push(arena, names_out, STR("httpfs"));
    }
}
