/* Reads types as the engine spells them: DECIMAL(18,2), STRUCT(a INTEGER, "b c" ENUM('x'))[], MAP(VARCHAR, INTEGER[3]).
 */
#include "engine/lake_columns.h"

typedef struct TypeReader {
    Str text;
    size_t at;
    Str refused; /* the first part that cannot be stored; empty: none */
    Str cast;    /* what to cast it to */
} TypeReader;

static char peek(const TypeReader *reader) {
    return reader->at < reader->text.size ? reader->text.ptr[reader->at] : '\0';
}

static void refuse(TypeReader *reader, size_t start, Str cast) {
    if (reader->refused.size == 0) {
        reader->refused = str_slice(reader->text, start, reader->at);
        reader->cast = cast;
    }
}

/* Past a quoted part; a doubled quote is read as two parts. */
static void skip_quoted(TypeReader *reader) {
    char quote = peek(reader);
    reader->at++;
    while (reader->at < reader->text.size && peek(reader) != quote) {
        reader->at++;
    }
    reader->at++;
}

/* Past the parenthesis that belongs to the one here. */
static void skip_group(TypeReader *reader) {
    size_t depth = 0;
    while (reader->at < reader->text.size) {
        char c = peek(reader);
        if (c == '\'' || c == '"') {
            skip_quoted(reader);
            continue;
        }
        depth += c == '(';
        depth -= c == ')';
        reader->at++;
        if (depth == 0) {
            return;
        }
    }
}

static void skip_blanks(TypeReader *reader) {
    while (peek(reader) == ' ') {
        reader->at++;
    }
}

static void skip_field_name(TypeReader *reader) {
    while (peek(reader) == '"') {
        skip_quoted(reader);
    }
    while (reader->at < reader->text.size && peek(reader) != ' ') {
        reader->at++;
    }
    skip_blanks(reader);
}

static void read_type(TypeReader *reader);

static void read_members(TypeReader *reader, bool named) {
    reader->at++; /* ( */
    while (reader->at < reader->text.size && peek(reader) != ')') {
        size_t start = reader->at;
        skip_blanks(reader);
        if (named) {
            skip_field_name(reader);
        }
        read_type(reader);
        reader->at += peek(reader) == ',';
        reader->at += reader->at == start; /* whatever it is, it ends */
    }
    reader->at++;
}

/* TIMESTAMP WITH TIME ZONE is one name. */
static Str read_name(TypeReader *reader) {
    size_t start = reader->at;
    while (reader->at < reader->text.size && str_find_char(STR("([,)"), peek(reader)) == STR_NOT_FOUND) {
        reader->at++;
    }
    return str_trim(str_slice(reader->text, start, reader->at));
}

static void read_base(TypeReader *reader) {
    size_t start = reader->at;
    Str name = read_name(reader);
    if (str_equal(name, STR("STRUCT"))) {
        read_members(reader, true);
    } else if (str_equal(name, STR("MAP"))) {
        read_members(reader, false);
    } else if (peek(reader) == '(') {
        skip_group(reader);
    }
    if (str_equal(name, STR("ENUM")) || str_equal(name, STR("UNION")) || str_equal(name, STR("BIT"))) {
        refuse(reader, start, STR("VARCHAR"));
    } else if (str_equal(name, STR("BIGNUM"))) {
        refuse(reader, start, STR("DECIMAL(38,0)"));
    }
}

static void read_type(TypeReader *reader) {
    size_t start = reader->at;
    read_base(reader);
    while (peek(reader) == '[') {
        Str element = str_slice(reader->text, start, reader->at);
        reader->at++;
        bool has_size = peek(reader) != ']';
        while (reader->at < reader->text.size && peek(reader) != ']') {
            reader->at++;
        }
        reader->at++;
        if (has_size) {
            refuse(reader, start, element); /* to a list of it */
        }
    }
}

static Status refuse_column(const DuckColumn *column, const TypeReader *reader, Error *err) {
    bool is_whole = reader->refused.size == reader->text.size;
    bool is_array = str_ends_with(reader->refused, STR("]"));
    (void)error_set(err, ERROR_COMPILATION,
                    "column '" STR_FMT "' is of type " STR_FMT ": a DuckLake cannot store " STR_FMT,
                    STR_ARG(column->name), STR_ARG(column->type), STR_ARG(is_whole ? STR("it") : reader->refused));
    error_code(err, STR("column.type"));
    error_detail(err, STR("column"), column->name);
    error_detail(err, STR("type"), column->type);
    error_hint(err, "cast %s: CAST(… AS " STR_FMT "%s)", is_whole ? "it in the query" : "that part of it in the query",
               STR_ARG(reader->cast), is_array ? "[]" : "");
    return FAILED;
}

Status lake_columns_check(const DuckColumnVec *columns, Error *err) {
    for (size_t i = 0; i < columns->count; i++) {
        TypeReader reader = {.text = columns->items[i].type};
        read_type(&reader);
        if (reader.refused.size > 0) {
            return refuse_column(&columns->items[i], &reader, err);
        }
    }
    return OK;
}
