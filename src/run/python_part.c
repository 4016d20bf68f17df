#include "run/python_part.h"

#include "sql/sql_lexer.h"
#include "sql/sql_splice.h"

static Status check_columns(Str name, const PythonPart *part, const DuckColumnVec *columns, Arena *arena, Error *err) {
    StrVec names = {0};
    for (size_t i = 0; i < columns->count; i++) {
        str_vec_push(arena, &names, columns->items[i].name);
    }
    for (size_t i = 0; i < part->columns.count; i++) {
        if (!str_vec_contains(&names, part->columns.items[i])) {
            error_set(err, ERROR_DEFINITION, "upstream '" STR_FMT "' has no column '" STR_FMT "'; it has " STR_FMT,
                      STR_ARG(name), STR_ARG(part->columns.items[i]),
                      STR_ARG(str_join(arena, names.items, names.count, STR(", "))));
            error_code(err, STR("handle.column"));
            return FAILED;
        }
    }
    return OK;
}

static Status refuse_filter(Str name, Str filter, Str why, Error *err) {
    error_set(err, ERROR_DEFINITION, "upstream '" STR_FMT "': where(\"" STR_FMT "\"): " STR_FMT, STR_ARG(name),
              STR_ARG(filter), STR_ARG(why));
    error_hint(err, "write one condition of DuckDB's SQL over its columns, as behind WHERE");
    error_code(err, STR("handle.filter"));
    return FAILED;
}

/* Inside of parentheses it stays there. */
static bool is_one_expression(Str filter) {
    SqlLexer lexer = sql_lexer(filter);
    int64_t depth = 0;
    for (;;) {
        SqlToken token = sql_lexer_next_code(&lexer);
        if (token.kind == SQL_TOKEN_END) {
            return depth == 0;
        }
        depth += sql_token_is(filter, token, "(") - sql_token_is(filter, token, ")");
        if (depth < 0 || token.kind == SQL_TOKEN_INVALID || sql_token_is(filter, token, ";")) {
            return false;
        }
    }
}

static SqlText part_query(const PythonPart *part, const SqlText *rows, Arena *arena) {
    AUTO(strbuf) StrBuf head = {0};
    AUTO(strbuf) StrBuf tail = {0};
    strbuf_text(&head, "SELECT ");
    for (size_t i = 0; i < part->columns.count; i++) {
        strbuf_text(&head, i > 0 ? ", " : "");
        sql_identifier(&head, part->columns.items[i]);
    }
    strbuf_text(&head, part->columns.count > 0 ? " FROM (" : "* FROM (");
    strbuf_text(&tail, "\n) AS this");
    if (part->filter.size > 0) {
        strbuf_format(&tail, " WHERE (" STR_FMT "\n)", STR_ARG(part->filter));
    }
    SqlText parts[] = {sql_text_own(arena, strbuf_copy(&head, arena)), sql_text_as_body(rows, arena),
                       sql_text_own(arena, strbuf_copy(&tail, arena))};
    return sql_text_concat(arena, parts, COUNT_OF(parts));
}

Status python_part_query(EngineConnection *connection, Str name, const PythonPart *part, Arena *arena, SqlText *query,
                         Error *err) {
    if (part->columns.count == 0 && part->filter.size == 0) {
        return OK;
    }
    DuckColumnVec columns = {0};
    TRY(engine_describe(connection, query, arena, &columns, err));
    TRY(check_columns(name, part, &columns, arena, err));
    if (!is_one_expression(part->filter)) {
        return refuse_filter(name, part->filter, STR("it is not one expression"), err);
    }
    SqlText whole = part_query(part, query, arena);
    if (failed(engine_describe(connection, &whole, arena, &columns, err))) {
        return err->kind == ERROR_INTERRUPTED ? FAILED
                                              : refuse_filter(name, part->filter, str_copy(arena, err->message), err);
    }
    *query = whole;
    return OK;
}
