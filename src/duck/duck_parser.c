#include "duck/duck_parser.h"

#include "duck/duck_internal.h"
#include "duck/statement_kinds.h"

struct DuckParser {
    DuckDatabase *database;
    DuckConnection *connection;
    duckdb_prepared_statement to_json;
};

static const char to_json_sql[] = "SELECT json_serialize_sql($1::VARCHAR)";

Status duck_parser_open(DuckParser **parser_out, Error *err) {
    AUTO(duck_parser) DuckParser *parser = heap_alloc_zeroed(1, sizeof *parser);
    const DuckSetting settings[] = {
        {STR("threads"), STR("1")},
        {STR("enable_external_access"), STR("false")},
    };
    DuckOpenOptions options = {
        .path = STR(":memory:"),
        .settings = settings,
        .setting_count = COUNT_OF(settings),
    };

    TRY(duck_database_open(&options, &parser->database, err));
    TRY(duck_connection_open(parser->database, &parser->connection, err));
    TRY(duck_statement_prepare_single(parser->connection, str_from(to_json_sql), &parser->to_json, err));

    *parser_out = TAKE(parser);
    return OK;
}

void duck_parser_close(DuckParser *parser) {
    if (parser == NULL) {
        return;
    }
    duckdb_destroy_prepare(&parser->to_json);
    duck_connection_close(parser->connection);
    duck_database_close(parser->database);
    free(parser);
}

DuckConnection *duck_parser_connection(DuckParser *parser) {
    return parser->connection;
}

DuckDatabase *duck_parser_database(DuckParser *parser) {
    return parser->database;
}

static Status run_to_json(DuckParser *parser, Str sql, Arena *arena, Str *json_out, Error *err) {
    AUTO(duck_result) duckdb_result result = {0};
    AUTO(duck_chunk) duckdb_data_chunk chunk = NULL;

    if (duckdb_bind_varchar_length(parser->to_json, 1, sql.ptr, sql.size) != DuckDBSuccess) {
        return duck_error_set(err, sql, DUCK_ERROR_TYPE_IN_TEXT, duckdb_prepare_error(parser->to_json));
    }
    TRY(duck_statement_run(parser->connection, parser->to_json, sql, &result, err));
    chunk = duckdb_fetch_chunk(result);
    assert(chunk != NULL);
    duckdb_string_t *text = duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, 0));
    *json_out = str_copy(arena, (Str){.ptr = duckdb_string_t_data(text), .size = duckdb_string_t_length(*text)});
    return OK;
}

Status duck_parser_json(DuckParser *parser, Str sql, Arena *arena, Str *json_out, Error *err) {
    AUTO(arena) Arena *scratch = arena_create();
    const char *ignored = NULL;
    TRY(duck_sql_to_c(scratch, sql, &ignored, err)); /* a NUL byte is refused here too */
    size_t invalid = str_find_invalid_utf8(sql);
    if (invalid != STR_NOT_FOUND) {
        (void)error_set(err, ERROR_COMPILATION, "the SQL text is not UTF-8");
        err->sql = str_copy(err->arena, sql);
        err->sql_offset = invalid;
        return FAILED;
    }
    TRY(duck_statement_check(parser->connection, err));
    return duck_statement_done(parser->connection, run_to_json(parser, sql, arena, json_out, err));
}

Status duck_parser_statements(DuckParser *parser, Str sql, Arena *arena, StrVec *kinds_out, Error *err) {
    AUTO(duck_extracted) duckdb_extracted_statements statements = NULL;
    size_t count = 0;

    TRY(duck_statement_check(parser->connection, err));
    if (failed(duck_statement_extract(parser->connection, sql, &statements, &count, err))) {
        err->kind = ERROR_COMPILATION;
        return FAILED;
    }
    *kinds_out = statement_kinds(sql, arena);
    return OK;
}
