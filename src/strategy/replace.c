/* replace: the relation is exactly what the query gives now. Owned: one statement makes it anew, so a reader in another
 * transaction sees the old rows or the new ones, and a failure leaves the old. External: the table itself stays, with
 * all that hangs on it; its rows are taken out and put in. */
#include "strategy/strategies.h"

/* --- Owned -------------------------------------------------------------------------------------------------------- */

/* "CREATE OR REPLACE <what> <target>", or a DROP before a plain CREATE. */
static void create_head(Writer *writer, const char *what, StrBuf *sql) {
    bool may_replace = writer->input->capabilities->create_or_replace;
    if (!may_replace) {
        Str drop = str_format(writer->arena, "DROP %s IF EXISTS {target}", what);
        writer_step(writer, STATEMENT_RUN, str_to_c(writer->arena, drop));
    }
    strbuf_format(sql, "CREATE %s%s ", may_replace ? "OR REPLACE " : "", what);
    sql_relation(sql, writer->input->target);
}

static void push_create(Writer *writer, SqlText sql) {
    StrategyStatement statement = {.role = STATEMENT_CREATE, .sql = sql};
    strategy_statement_vec_push(writer->arena, writer->statements, statement);
}

static void create_from_query(Writer *writer, const char *what) {
    AUTO(strbuf) StrBuf head = {0};
    create_head(writer, what, &head);
    strbuf_text(&head, " AS ");
    SqlText parts[] = {
        sql_text_own(writer->arena, strbuf_copy(&head, writer->arena)),
        writer->input->staged != NULL ? sql_text_all_rows(writer->arena, *writer->input->staged)
                                      : writer->input->source,
    };
    push_create(writer, sql_text_concat(writer->arena, parts, COUNT_OF(parts)));
}

/* Rows that an appender brings need the table first; it is filled before the transaction commits. */
static void create_for_appender(Writer *writer) {
    AUTO(strbuf) StrBuf sql = {0};
    create_head(writer, "TABLE", &sql);
    strbuf_text(&sql, " (");
    for (size_t i = 0; i < writer->input->columns->count; i++) {
        const DuckColumn *column = &writer->input->columns->items[i];
        strbuf_text(&sql, i > 0 ? ", " : "");
        sql_identifier(&sql, column->name);
        strbuf_char(&sql, ' ');
        strbuf_append(&sql, column->type);
    }
    strbuf_char(&sql, ')');
    push_create(writer, sql_text_own(writer->arena, strbuf_copy(&sql, writer->arena)));
}

/* --- External ----------------------------------------------------------------------------------------------------- */

static void note_columns_reset(Writer *writer) {
    const DuckColumnVec *columns = writer->input->target_columns;
    for (size_t i = 0; i < columns->count; i++) {
        Str name = columns->items[i].name;
        if (columns_find(writer, name) == NULL) {
            writer_note(writer, "column '" STR_FMT "' of the target is not in the query: what it holds is reset",
                        STR_ARG(name));
        }
    }
}

static Status refill(Writer *writer, Error *err) {
    TRY(writer_begin(writer, err));
    if (writer->is_first) {
        stage_first_build(writer);
    } else {
        note_columns_reset(writer);
        stage_check_casts(writer);
        writer_evolve(writer);
        writer_step(writer, STATEMENT_DELETE, "DELETE FROM {target}");
        writer_step(writer, STATEMENT_INSERT, "INSERT INTO {target} ({all @}) SELECT {produced} FROM {input}");
    }
    writer_end(writer);
    return OK;
}

Status replace_write(Writer *writer, Error *err) {
    const StrategyInput *input = writer->input;
    if (input->materialise == MATERIALISE_TABLE) {
        return refill(writer, err);
    }
    if (input->materialise == MATERIALISE_VIEW) {
        create_from_query(writer, "VIEW");
    } else if (input->staged == NULL && input->source.text.size == 0) {
        create_for_appender(writer);
    } else {
        create_from_query(writer, "TABLE");
    }
    return OK;
}
