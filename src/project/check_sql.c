/* SQL inside checks is read when the project loads, as a model's query is: a mistake in it is found before anything is
 * built, and its tables resolve to models. */
#include "project/check_read.h"

#include "project/input_scan.h"
#include "project/model_refusal.h"
#include "sql/sql_lexer.h"

#define CHECKED_TABLE STR("interlace__checked") /* what {table} is called while the query is read */

/* ---- Where a text of the declaration stands in its file, so that mistakes show there. */

/* Byte of (line, column); columns count code points. STR_NOT_FOUND when the text has no such place. */
static size_t offset_of(Str text, size_t line, size_t column) {
    size_t offset = 0;
    for (size_t at_line = 1; at_line < line; at_line++) {
        size_t end = str_find_char(str_skip(text, offset), '\n');
        if (end == STR_NOT_FOUND) {
            return STR_NOT_FOUND;
        }
        offset += end + 1;
    }
    for (size_t at_column = 1; at_column < column && offset < text.size; at_column++) {
        offset++;
        while (offset < text.size && ((unsigned char)text.ptr[offset] & 0xC0) == 0x80) {
            offset++;
        }
    }
    return offset;
}

/* A plain or quoted scalar on one line stands in the file as it is; of any other only the beginning is known. */
static SqlText text_in_file(const SourceFile *file, const ConfigValue *value, Arena *arena) {
    size_t offset = offset_of(file->content, value->place.line, value->place.column);
    if (offset == STR_NOT_FOUND) {
        return sql_text_own(arena, value->text);
    }
    for (size_t quote = 0; quote <= 1; quote++) {
        if (str_starts_with(str_skip(file->content, offset + quote), value->text)) {
            return sql_text_from_file(arena, file, offset + quote, offset + quote + value->text.size);
        }
    }
    SqlSegment *segment = ARENA_NEW(arena, SqlSegment);
    *segment = (SqlSegment){.file = file, .file_offset = offset};
    return (SqlText){.text = value->text, .segments = segment, .segment_count = 1};
}

static SqlText text_of(const CheckReader *reader, const ConfigValue *value) {
    Arena *arena = reader->load->arena;
    const SqlText *source = &reader->draft->source;
    const SourceFile *file = source->segment_count == 0 ? NULL : source->segments[0].file;
    bool is_here = file != NULL && str_equal(file->path, value->place.file);
    return is_here ? text_in_file(file, value, arena) : sql_text_own(arena, value->text);
}

/* ---- Reading */

Status check_add_read(CheckReader *reader, const Model *upstream, Error *err) {
    if (upstream == reader->model) {
        return OK;
    }
    if (!model_has_relation(upstream) && upstream->materialise != MATERIALISE_TABLE) {
        return check_refuse(reader, NULL, err, "reads '" STR_FMT "', which is materialised as %s and has no table",
                            STR_ARG(upstream->name), materialise_name(upstream->materialise));
    }
    if (!index_vec_contains(&reader->check->reads, upstream->index)) {
        index_vec_push(reader->load->arena, &reader->check->reads, upstream->index);
    }
    return OK;
}

static bool is_checked_table(const SqlTableRef *table) {
    return table->schema.size == 0 && str_equal(table->name, CHECKED_TABLE);
}

static Status resolve(CheckReader *reader, CheckSql *sql, Error *err) {
    Arena *arena = reader->load->arena;
    size_t count = sql->facts->tables.count;
    Model **tables = resolve_tables(reader->load, reader->model, sql->facts, arena);
    ModelReference *references = ARENA_NEW_ARRAY(arena, ModelReference, count);
    for (size_t i = 0; i < count; i++) {
        references[i] = (ModelReference){.model = MODEL_NONE, .input = INPUT_NONE};
        if (is_checked_table(&sql->facts->tables.items[i])) {
            references[i].model = reader->model->index;
        } else if (tables[i] != NULL) {
            TRY(check_add_read(reader, tables[i], err));
            references[i].model = tables[i]->index;
        } else {
            references[i].input = input_find(reader->load->config, &sql->facts->tables.items[i]);
        }
    }
    sql->references = references;
    return OK;
}

/* `value`: the declaration that the text is of. */
static Status analyze(CheckReader *reader, SqlText text, const ConfigValue *value, const CheckSql **sql_out,
                      Error *err) {
    CheckSql *sql = ARENA_NEW(reader->load->arena, CheckSql);
    sql->text = text;
    SqlAnalysis analysis;
    if (failed(sql_analyze(reader->load->analyzer, text.text, reader->load->arena, &analysis, err))) {
        sql_text_locate_error(&text, err);
        error_place(err, value->place);
        error_detail(err, STR("model"), reader->model->name);
        return error_wrap(err, "reading check '%s' of model '" STR_FMT "'", check_type_name(reader->check->type),
                          STR_ARG(reader->model->name));
    }
    sql->facts = analysis.facts;
    TRY(resolve(reader, sql, err));
    *sql_out = sql;
    return OK;
}

/* Macros and vars work in checks as in models. */
static Status expand(const CheckReader *reader, SqlText text, SqlText *expanded_out, Error *err) {
    const ProjectLoad *load = reader->load;
    if (failed(sql_expand(&text, load->macros, load->vars, load->var_count, load->arena, expanded_out, err))) {
        error_place(err, reader->check->place);
        return error_wrap(err, "reading check '%s' of model '" STR_FMT "'", check_type_name(reader->check->type),
                          STR_ARG(reader->model->name));
    }
    return OK;
}

/* A bracket that closes what the text did not open would end those around it. */
static bool has_even_brackets(Str text) {
    SqlLexer lexer = sql_lexer(text);
    size_t open = 0;
    for (;;) {
        SqlToken token = sql_lexer_next_code(&lexer);
        if (token.kind == SQL_TOKEN_END || token.kind == SQL_TOKEN_INVALID) {
            return open == 0;
        }
        if (sql_token_is(text, token, "(")) {
            open++;
        } else if (sql_token_is(text, token, ")") && open-- == 0) {
            return false;
        }
    }
}

Status check_read_predicate(CheckReader *reader, const ConfigValue *value, const CheckSql **sql_out, Error *err) {
    Arena *arena = reader->load->arena;
    SqlText predicate;
    TRY(expand(reader, text_of(reader, value), &predicate, err));
    if (!has_even_brackets(predicate.text)) {
        return check_refuse(reader, value, err, "has a condition with a bracket too many or too few: " STR_FMT,
                            STR_ARG(value->text));
    }
    /* The line break ends a `--` comment in the predicate. */
    SqlText parts[] = {sql_text_own(arena, STR(CHECK_PREDICATE_HEAD "(")), predicate, sql_text_own(arena, STR("\n)"))};
    if (failed(analyze(reader, sql_text_concat(arena, parts, COUNT_OF(parts)), value, sql_out, err))) {
        error_hint(err, "it is read in brackets: (" STR_FMT ")", STR_ARG(value->text));
        return FAILED;
    }
    return OK;
}

/* {table} outside of strings and comments. */
static SqlEditVec find_placeholders(const CheckReader *reader, Str text) {
    SqlEditVec edits = {0};
    SqlLexer lexer = sql_lexer(text);
    SqlToken before[2] = {{.kind = SQL_TOKEN_END}, {.kind = SQL_TOKEN_END}};
    for (;;) {
        SqlToken token = sql_lexer_next_code(&lexer);
        if (token.kind == SQL_TOKEN_END || token.kind == SQL_TOKEN_INVALID) {
            return edits;
        }
        if (sql_token_is(text, before[0], "{") && sql_token_is_word(text, before[1], "table") &&
            sql_token_is(text, token, "}")) {
            SqlEdit edit = {before[0].start, token.end, sql_text_own(reader->load->arena, CHECKED_TABLE)};
            sql_edit_vec_push(reader->load->arena, &edits, edit);
        }
        before[0] = before[1];
        before[1] = token;
    }
}

Status check_read_query(CheckReader *reader, const ConfigValue *value, Error *err) {
    SqlText text = text_of(reader, value);
    SqlEditVec edits = find_placeholders(reader, text.text);
    SqlText query;
    TRY(sql_text_edit(&text, &edits, reader->load->arena, &query, err));
    TRY(expand(reader, query, &query, err));
    return analyze(reader, query, value, &reader->check->query_sql, err);
}
