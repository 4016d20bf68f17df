#include "duck/duck_type.h"

/* Ids that the pinned header does not name yet (it is older than the library). */
#define TYPE_VARIANT ((duckdb_type)41)

static const struct {
    duckdb_type id;
    const char *name;
} plain_types[] = {
    {DUCKDB_TYPE_BOOLEAN, "BOOLEAN"},
    {DUCKDB_TYPE_TINYINT, "TINYINT"},
    {DUCKDB_TYPE_SMALLINT, "SMALLINT"},
    {DUCKDB_TYPE_INTEGER, "INTEGER"},
    {DUCKDB_TYPE_BIGINT, "BIGINT"},
    {DUCKDB_TYPE_UTINYINT, "UTINYINT"},
    {DUCKDB_TYPE_USMALLINT, "USMALLINT"},
    {DUCKDB_TYPE_UINTEGER, "UINTEGER"},
    {DUCKDB_TYPE_UBIGINT, "UBIGINT"},
    {DUCKDB_TYPE_HUGEINT, "HUGEINT"},
    {DUCKDB_TYPE_UHUGEINT, "UHUGEINT"},
    {DUCKDB_TYPE_FLOAT, "FLOAT"},
    {DUCKDB_TYPE_DOUBLE, "DOUBLE"},
    {DUCKDB_TYPE_VARCHAR, "VARCHAR"},
    {DUCKDB_TYPE_BLOB, "BLOB"},
    {DUCKDB_TYPE_DATE, "DATE"},
    {DUCKDB_TYPE_TIME, "TIME"},
    {DUCKDB_TYPE_TIMESTAMP, "TIMESTAMP"},
    {DUCKDB_TYPE_TIMESTAMP_S, "TIMESTAMP_S"},
    {DUCKDB_TYPE_TIMESTAMP_MS, "TIMESTAMP_MS"},
    {DUCKDB_TYPE_TIMESTAMP_NS, "TIMESTAMP_NS"},
    {DUCKDB_TYPE_TIMESTAMP_TZ, "TIMESTAMP WITH TIME ZONE"},
    {DUCKDB_TYPE_INTERVAL, "INTERVAL"},
    {DUCKDB_TYPE_UUID, "UUID"},
    /* A column that is nothing but NULL: stored and compared as text. */
    {DUCKDB_TYPE_SQLNULL, "VARCHAR"},
};

static const char *plain_type_name(duckdb_type id) {
    for (size_t i = 0; i < COUNT_OF(plain_types); i++) {
        if (plain_types[i].id == id) {
            return plain_types[i].name;
        }
    }
    return NULL;
}

/* The type behind a prepared `$1`: an empty list of it says "BIGINT[]", whatever the type. */
static Status ask_engine(DuckConnection *connection, duckdb_logical_type type, Arena *arena, Str *name_out,
                         Error *err) {
    const Str question = STR("SELECT typeof($1)");
    AUTO(duck_result) duckdb_result result = {0};
    AUTO(duck_chunk) duckdb_data_chunk chunk = NULL;
    AUTO(duck_value) duckdb_value no_item = duckdb_create_null_value();
    AUTO(duck_value) duckdb_value list = duckdb_create_list_value(type, &no_item, 0);

    if (connection->type_name == NULL) {
        TRY(duck_statement_prepare_single(connection, question, &connection->type_name, err));
    }
    if (list == NULL || duckdb_bind_value(connection->type_name, 1, list) != DuckDBSuccess) {
        return error_set(err, ERROR_EXECUTION, "a column has a type that no value can be made of");
    }
    TRY(duck_statement_run(connection, connection->type_name, question, &result, err));
    chunk = duckdb_fetch_chunk(result);
    assert(chunk != NULL);

    duckdb_string_t *text = duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, 0));
    Str name = {.ptr = duckdb_string_t_data(text), .size = duckdb_string_t_length(*text)};
    assert(str_ends_with(name, STR("[]")));
    *name_out = str_copy(arena, str_slice(name, 0, name.size - 2));
    return OK;
}

Status duck_type_name(DuckConnection *connection, duckdb_logical_type type, Arena *arena, Str *name_out, Error *err) {
    char *alias = duckdb_logical_type_get_alias(type);
    bool is_alias = alias != NULL; /* JSON is a VARCHAR of another name */
    duckdb_free(alias);

    const char *name = is_alias ? NULL : plain_type_name(duckdb_get_type_id(type));
    if (name == NULL) {
        return ask_engine(connection, type, arena, name_out, err);
    }
    *name_out = str_from(name);
    return OK;
}

/* --- Types for a stream ------------------------------------------------------------------------------------------- */

/* Each appends the type's text and tells whether something in it was replaced. */
static bool append_streamable(StrBuf *text, duckdb_logical_type type);

static bool append_array(StrBuf *text, duckdb_logical_type type) {
    AUTO(duck_logical_type) duckdb_logical_type item = duckdb_array_type_child_type(type);
    bool replaced = append_streamable(text, item);
    strbuf_format(text, "[%llu]", (unsigned long long)duckdb_array_type_array_size(type));
    return replaced;
}

static bool append_list(StrBuf *text, duckdb_logical_type type) {
    AUTO(duck_logical_type) duckdb_logical_type item = duckdb_list_type_child_type(type);
    bool replaced = append_streamable(text, item);
    strbuf_text(text, "[]");
    return replaced;
}

static bool append_map(StrBuf *text, duckdb_logical_type type) {
    AUTO(duck_logical_type) duckdb_logical_type key = duckdb_map_type_key_type(type);
    AUTO(duck_logical_type) duckdb_logical_type value = duckdb_map_type_value_type(type);

    strbuf_text(text, "MAP(");
    bool replaced = append_streamable(text, key);
    strbuf_text(text, ", ");
    replaced |= append_streamable(text, value);
    strbuf_char(text, ')');
    return replaced;
}

static bool append_field(StrBuf *text, char *name, duckdb_logical_type type, bool first) {
    strbuf_text(text, first ? "(" : ", ");
    duck_append_quoted(text, str_from(name), '"');
    strbuf_char(text, ' ');
    duckdb_free(name);
    return append_streamable(text, type);
}

static bool append_struct(StrBuf *text, duckdb_logical_type type) {
    bool replaced = false;
    strbuf_text(text, "STRUCT");
    for (idx_t i = 0; i < duckdb_struct_type_child_count(type); i++) {
        AUTO(duck_logical_type) duckdb_logical_type child = duckdb_struct_type_child_type(type, i);
        replaced |= append_field(text, duckdb_struct_type_child_name(type, i), child, i == 0);
    }
    strbuf_char(text, ')');
    return replaced;
}

static bool append_union(StrBuf *text, duckdb_logical_type type) {
    bool replaced = false;
    strbuf_text(text, "UNION");
    for (idx_t i = 0; i < duckdb_union_type_member_count(type); i++) {
        AUTO(duck_logical_type) duckdb_logical_type child = duckdb_union_type_member_type(type, i);
        replaced |= append_field(text, duckdb_union_type_member_name(type, i), child, i == 0);
    }
    strbuf_char(text, ')');
    return replaced;
}

static bool append_decimal(StrBuf *text, duckdb_logical_type type) {
    strbuf_format(text, "DECIMAL(%d,%d)", duckdb_decimal_width(type), duckdb_decimal_scale(type));
    return false;
}

static bool append_text_instead(StrBuf *text, duckdb_logical_type type) {
    (void)type;
    strbuf_text(text, "VARCHAR");
    return true;
}

/* clang-format off */
static const struct {
    duckdb_type id;
    bool (*append)(StrBuf *text, duckdb_logical_type type);
} stream_types[] = {
    {DUCKDB_TYPE_LIST,    append_list},
    {DUCKDB_TYPE_ARRAY,   append_array},
    {DUCKDB_TYPE_MAP,     append_map},
    {DUCKDB_TYPE_STRUCT,  append_struct},
    {DUCKDB_TYPE_UNION,   append_union},
    {DUCKDB_TYPE_DECIMAL, append_decimal},
    {DUCKDB_TYPE_ENUM,    append_text_instead},
    {DUCKDB_TYPE_BIT,     append_text_instead},
    {DUCKDB_TYPE_TIME_TZ, append_text_instead},
    {TYPE_VARIANT,        append_text_instead},
};
/* clang-format on */

static bool append_streamable(StrBuf *text, duckdb_logical_type type) {
    duckdb_type id = duckdb_get_type_id(type);
    for (size_t i = 0; i < COUNT_OF(stream_types); i++) {
        if (stream_types[i].id == id) {
            return stream_types[i].append(text, type);
        }
    }
    /* Anything else beside a replaced part is carried as text too: its spelling is not known here. */
    const char *name = plain_type_name(id);
    strbuf_text(text, name == NULL ? "VARCHAR" : name);
    return false;
}

Str duck_type_streamable(duckdb_logical_type type, Arena *arena) {
    AUTO(strbuf) StrBuf text = {0};
    return append_streamable(&text, type) ? strbuf_copy(&text, arena) : STR_EMPTY;
}
