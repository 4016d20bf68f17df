/* A fixture file becomes a table. Types are detected over the whole file, except those of `name:type` headers. */
#include "run/model_test_parts.h"

#include "base/files.h"
#include "run/arrow_type_name.h"
#include "run/golden_csv.h"

#define FIXTURE_SIZE_MAX ((size_t)256 << 20)

typedef struct FixtureColumn {
    Str name, type; /* type empty: detected */
} FixtureColumn;
DEFINE_VEC(FixtureColumnVec, fixture_column_vec, FixtureColumn)

static FixtureColumnVec read_header(const CsvRow *header, Arena *arena) {
    FixtureColumnVec columns = {0};
    for (size_t i = 0; i < header->count; i++) {
        Str text = header->items[i].text;
        size_t colon = str_find_char(text, ':');
        FixtureColumn column = {.name = str_trim(text)};
        if (colon != STR_NOT_FOUND) {
            column.name = str_trim(str_slice(text, 0, colon));
            column.type = arrow_type_parse(str_trim(str_skip(text, colon + 1)), arena);
        }
        fixture_column_vec_push(arena, &columns, column);
    }
    return columns;
}

/* `, names = ['a', 'b']`, of all columns or of those with a type; nothing when there is none. */
static void append_names(StrBuf *sql, const char *parameter, const FixtureColumnVec *columns, bool only_typed,
                         const char *behind) {
    bool is_first = true;
    for (size_t i = 0; i < columns->count; i++) {
        if (only_typed && columns->items[i].type.size == 0) {
            continue;
        }
        if (is_first) {
            strbuf_format(sql, ", %s = %c", parameter, *behind == ':' ? '{' : '[');
        }
        strbuf_text(sql, is_first ? "" : ", ");
        sql_literal(sql, columns->items[i].name);
        strbuf_text(sql, behind);
        is_first = false;
    }
    strbuf_text(sql, is_first ? "" : *behind == ':' ? "}" : "]");
}

static bool is_text(const FixtureColumn *column) {
    return str_equal_fold(column->type, STR("VARCHAR")) || str_equal_fold(column->type, STR("TEXT"));
}

/* A typed column is read as text, so that an empty text and NULL stay two things. */
static void append_column(StrBuf *sql, const FixtureColumn *column) {
    if (column->type.size == 0 || is_text(column)) {
        sql_identifier(sql, column->name);
        return;
    }
    strbuf_text(sql, "CAST(NULLIF(");
    sql_identifier(sql, column->name);
    strbuf_format(sql, ", '') AS " STR_FMT ") AS ", STR_ARG(column->type));
    sql_identifier(sql, column->name);
}

static bool has_text_column(const FixtureColumnVec *columns) {
    for (size_t i = 0; i < columns->count; i++) {
        if (is_text(&columns->items[i])) {
            return true;
        }
    }
    return false;
}

static void append_scan(StrBuf *sql, Str path, const FixtureColumnVec *columns) {
    strbuf_text(sql, " FROM read_csv(");
    sql_literal(sql, path);
    strbuf_text(sql, ", header = true, delim = ',', quote = '\"', escape = '\"', sample_size = -1, null_padding = false"
                     ", allow_quoted_nulls = false, nullstr = ");
    strbuf_text(sql, has_text_column(columns) ? "'\\N'" : "['\\N', '']");
    append_names(sql, "names", columns, false, "");
    append_names(sql, "types", columns, true, ": 'VARCHAR'");
    strbuf_text(sql, ")");
}

static Str fixture_query(Str path, const FixtureColumnVec *columns, SqlRelation table, Arena *arena) {
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "CREATE TABLE ");
    sql_relation(&sql, table);
    strbuf_text(&sql, " AS SELECT ");
    for (size_t i = 0; i < columns->count; i++) {
        strbuf_text(&sql, i > 0 ? ", " : "");
        append_column(&sql, &columns->items[i]);
    }
    append_scan(&sql, path, columns);
    return strbuf_copy(&sql, arena);
}

static Status load(const TestBuild *build, const TestFile *fixture, SqlRelation table, Error *err) {
    Arena *arena = build->arena;
    Str path = path_join(arena, build->project.config->root, fixture->path), content;
    CsvRowVec rows;
    TRY(file_read(path, FIXTURE_SIZE_MAX, arena, &content, err));
    size_t line_end = str_find_char(content, '\n');
    TRY(csv_read(str_slice(content, 0, line_end == STR_NOT_FOUND ? content.size : line_end), arena, &rows, err));
    if (rows.count == 0) {
        return error_set(err, ERROR_PLAN, "it is empty; a header row names its columns");
    }
    FixtureColumnVec columns = read_header(&rows.items[0], arena);
    return engine_execute_own(build->connection, fixture_query(path, &columns, table, arena), err);
}

Status test_load_fixture(const TestBuild *build, const TestFile *fixture, SqlRelation table, Error *err) {
    AUTO(error) Error fault = {0};
    if (failed(load(build, fixture, table, &fault))) {
        error_set(err, ERROR_PLAN, "fixture '" STR_FMT "': " STR_FMT, STR_ARG(fixture->path), STR_ARG(fault.message));
        error_code(err, STR("test.fixture"));
        return FAILED;
    }
    return OK;
}
