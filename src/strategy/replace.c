/* replace: the relation is exactly what the query gives now. One statement makes it anew, so a reader in another
 * transaction sees the old rows or the new ones, and a failure leaves the old. */
#include "strategy/strategies.h"

/* `CREATE OR REPLACE <what> "schema"."name"` */
static void create_head(const StrategyInput *input, const char *what, StrBuf *sql) {
    strbuf_format(sql, "CREATE OR REPLACE %s ", what);
    sql_relation(sql, input->target);
}

static void push_create(Arena *arena, SqlText sql, StrategyStatementVec *statements_out) {
    strategy_statement_vec_push(arena, statements_out, (StrategyStatement){.role = STATEMENT_CREATE, .sql = sql});
}

static void create_from_query(const StrategyInput *input, Arena *arena, StrategyStatementVec *statements_out) {
    AUTO(strbuf) StrBuf head = {0};
    create_head(input, input->materialise == MATERIALISE_VIEW ? "VIEW" : "TABLE", &head);
    strbuf_text(&head, " AS ");
    SqlText parts[] = {sql_text_own(arena, strbuf_copy(&head, arena)), input->source};
    push_create(arena, sql_text_concat(arena, parts, COUNT_OF(parts)), statements_out);
}

/* Rows that an appender brings need the table first; it is filled before the transaction commits. */
static void create_for_appender(const StrategyInput *input, Arena *arena, StrategyStatementVec *statements_out) {
    AUTO(strbuf) StrBuf sql = {0};
    create_head(input, "TABLE", &sql);
    strbuf_text(&sql, " (");
    for (size_t i = 0; i < input->columns->count; i++) {
        const DuckColumn *column = &input->columns->items[i];
        strbuf_text(&sql, i > 0 ? ", " : "");
        sql_identifier(&sql, column->name);
        strbuf_char(&sql, ' ');
        strbuf_append(&sql, column->type);
    }
    strbuf_char(&sql, ')');
    push_create(arena, sql_text_own(arena, strbuf_copy(&sql, arena)), statements_out);
}

Status replace_write(const StrategyInput *input, Arena *arena, StrategyStatementVec *statements_out,
                     StrVec *notes_out, Error *err) {
    (void)notes_out;
    if (!input->capabilities->create_or_replace) {
        return error_set(err, ERROR_PLAN, "strategy replace needs an engine with CREATE OR REPLACE");
    }
    if (input->columns != NULL) {
        create_for_appender(input, arena, statements_out);
    } else {
        create_from_query(input, arena, statements_out);
    }
    return OK;
}
