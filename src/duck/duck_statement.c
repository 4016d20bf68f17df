/* The steps of one statement: split, bind, run. */
#include "duck/duck_internal.h"

Status duck_sql_to_c(Arena *arena, Str sql, const char **text_out, Error *err) {
    size_t nul = str_find_char(sql, '\0');
    if (nul != STR_NOT_FOUND) {
        return error_set(err, ERROR_EXECUTION, "the SQL text has a NUL byte at offset %zu", nul);
    }
    *text_out = str_to_c(arena, sql);
    return OK;
}

Status duck_statement_extract(DuckConnection *connection, Str sql, duckdb_extracted_statements *statements_out,
                              size_t *count_out, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    AUTO(duck_extracted) duckdb_extracted_statements statements = NULL;
    const char *text = NULL;

    TRY(duck_sql_to_c(arena, sql, &text, err));
    size_t count = duckdb_extract_statements(connection->handle, text, &statements);
    const char *reason = count == 0 ? duckdb_extract_statements_error(statements) : NULL;
    if (reason != NULL) {
        return duck_error_set(err, sql, DUCKDB_ERROR_PARSER, reason);
    }

    *statements_out = TAKE(statements);
    *count_out = count;
    return OK;
}

Status duck_statement_prepare(DuckConnection *connection, duckdb_extracted_statements statements, size_t index, Str sql,
                              duckdb_prepared_statement *prepared_out, Error *err) {
    AUTO(duck_prepared) duckdb_prepared_statement prepared = NULL;
    if (duckdb_prepare_extracted_statement(connection->handle, statements, index, &prepared) != DuckDBSuccess) {
        return duck_error_set(err, sql, DUCK_ERROR_TYPE_IN_TEXT, duckdb_prepare_error(prepared));
    }
    /* Only of a sound statement: asked of a failed one, the engine ends the process. */
    if (duckdb_prepared_statement_type(prepared) == DUCKDB_STATEMENT_TYPE_TRANSACTION) {
        (void)error_set(err, ERROR_EXECUTION, "transactions are not begun or ended by SQL text");
        err->sql = str_copy(err->arena, sql);
        return FAILED;
    }
    *prepared_out = TAKE(prepared);
    return OK;
}

Status duck_statement_prepare_single(DuckConnection *connection, Str sql, duckdb_prepared_statement *prepared_out,
                                     Error *err) {
    AUTO(duck_extracted) duckdb_extracted_statements statements = NULL;
    size_t count = 0;

    TRY(duck_statement_extract(connection, sql, &statements, &count, err));
    if (count != 1) {
        (void)error_set(err, ERROR_EXECUTION, "one statement is expected here, the text holds %zu", count);
        err->sql = str_copy(err->arena, sql);
        if (count > 1) {
            error_hint(
                err, "a PIVOT without an IN list counts as several: write the values, PIVOT … ON column IN ('a', 'b')");
        }
        return FAILED;
    }
    return duck_statement_prepare(connection, statements, 0, sql, prepared_out, err);
}

Status duck_statement_check_interrupt(DuckConnection *connection, Str sql, Error *err) {
    if (!atomic_load(&connection->interrupted)) {
        return OK;
    }
    return duck_error_set(err, sql, DUCKDB_ERROR_INTERRUPT, "Interrupted!");
}

Status duck_statement_run(DuckConnection *connection, duckdb_prepared_statement prepared, Str sql,
                          duckdb_result *result_out, Error *err) {
    AUTO(duck_result) duckdb_result result = {0};

    TRY(duck_statement_check_interrupt(connection, sql, err));
    if (duckdb_execute_prepared(prepared, &result) != DuckDBSuccess) {
        return duck_error_set(err, sql, (int)duckdb_result_error_type(&result), duckdb_result_error(&result));
    }
    *result_out = result;
    result = (duckdb_result){0};
    return OK;
}

void duck_append_quoted(StrBuf *sql, Str text, char quote) {
    strbuf_char(sql, quote);
    for (size_t i = 0; i < text.size; i++) {
        if (text.ptr[i] == quote) {
            strbuf_char(sql, quote);
        }
        strbuf_char(sql, text.ptr[i]);
    }
    strbuf_char(sql, quote);
}

static void append_wrapped_column(StrBuf *sql, const DuckWrapColumn *column, size_t number) {
    strbuf_text(sql, number == 1 ? "SELECT " : ", ");
    if (column->cast_type.size == 0) {
        strbuf_format(sql, "#%zu AS ", number);
    } else {
        strbuf_format(sql, "CAST(#%zu AS " STR_FMT ") AS ", number, STR_ARG(column->cast_type));
    }
    duck_append_quoted(sql, column->name, '"');
}

Str duck_wrap_query(Arena *arena, Str sql, const DuckWrapColumnVec *columns) {
    AUTO(strbuf) StrBuf wrapped = {0};
    for (size_t i = 0; i < columns->count; i++) {
        append_wrapped_column(&wrapped, &columns->items[i], i + 1);
    }
    strbuf_text(&wrapped, " FROM query(");
    duck_append_quoted(&wrapped, sql, '\'');
    strbuf_char(&wrapped, ')');
    return strbuf_copy(&wrapped, arena);
}
