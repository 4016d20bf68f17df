/* From the source to {rows}: one reading of it, checked for values that do not convert. */
#include "strategy/writer.h"

static bool may_not_cast(const Writer *writer) {
    for (size_t i = 0; i < writer->columns.count; i++) {
        if (writer->columns.items[i].may_not_cast) {
            return true;
        }
    }
    return false;
}

static void refuse_cast(Writer *writer, const BoundColumn *column) {
    AUTO(strbuf) StrBuf sql = {0};
    AUTO(strbuf) StrBuf name = {0};
    sql_identifier(&name, column->source_name);
    Str quoted = strbuf_str(&name);
    strbuf_text(&sql, "SELECT ");
    sql_literal(&sql, column->name);
    strbuf_format(&sql, ", CAST(" STR_FMT " AS VARCHAR), ", STR_ARG(quoted));
    sql_literal(&sql, column->type);
    strbuf_text(&sql, " FROM ");
    sql_relation(&sql, writer_work(writer, STR("arrived")));
    strbuf_format(&sql, " WHERE TRY_CAST(" STR_FMT " AS " STR_FMT ") IS NULL AND " STR_FMT " IS NOT NULL LIMIT 1",
                  STR_ARG(quoted), STR_ARG(column->type), STR_ARG(quoted));
    StrategyStatement statement = {
        .role = STATEMENT_REFUSE,
        .refusal = REFUSAL_CAST,
        .sql = sql_text_own(writer->arena, strbuf_copy(&sql, writer->arena)),
    };
    strategy_statement_vec_push(writer->arena, writer->statements, statement);
}

void stage_check_casts(Writer *writer) {
    if (!may_not_cast(writer)) {
        return;
    }
    writer_make_work(writer, "arrived", "SELECT * FROM {input}{within}");
    for (size_t i = 0; i < writer->columns.count; i++) {
        if (writer->columns.items[i].may_not_cast) {
            refuse_cast(writer, &writer->columns.items[i]);
        }
    }
    writer->source = template_fill(writer, STR("{work arrived}"));
    writer->is_windowed = false;
}

/* A value that is not the column as it came has been cast or computed. */
static bool input_is_as_stored(const Writer *writer) {
    for (size_t i = 0; i < writer->columns.count; i++) {
        AUTO(strbuf) StrBuf quoted = {0};
        sql_identifier(&quoted, writer->columns.items[i].source_name);
        if (!str_equal(writer->columns.items[i].value, strbuf_str(&quoted))) {
            return false;
        }
    }
    return true;
}

void stage_source(Writer *writer, bool is_changed) {
    stage_check_casts(writer);
    if (writer->input->staged != NULL && !is_changed && !writer->is_windowed && input_is_as_stored(writer)) {
        writer->rows = writer->source.text;
        return;
    }
    writer_make_work(writer, "source", "SELECT {produced} FROM {input}{within}");
    writer->rows = template_fill(writer, STR("{work source}")).text;
}

static void create_owned(Writer *writer, const char *select) {
    bool may_replace = writer->input->capabilities->create_or_replace;
    if (!may_replace) {
        writer_step(writer, STATEMENT_RUN, "DROP TABLE IF EXISTS {target}");
    }
    Str create = str_format(writer->arena, "CREATE %sTABLE {target} AS %s", may_replace ? "OR REPLACE " : "", select);
    writer_step(writer, STATEMENT_CREATE, str_to_c(writer->arena, create));
}

/* In two statements: through an attachment, CREATE TABLE … AS of a name that was rolled back before gives an empty
 * table and no error (facts/duckdb.md §9). */
static void create_external(Writer *writer, const char *select) {
    const ExtraColumns *extra = &writer->extra;
    Str create = str_format(writer->arena, "CREATE TABLE {target} ({definitions}%s)", extra->definitions);
    writer_step(writer, STATEMENT_CREATE, str_to_c(writer->arena, create));
    Str insert = str_format(writer->arena, "INSERT INTO {target} ({all @}%s) %s", extra->names, select);
    writer_step(writer, STATEMENT_INSERT, str_to_c(writer->arena, insert));
}

void stage_create_target(Writer *writer, const char *select) {
    if (writer->is_owned) {
        create_owned(writer, select);
    } else {
        create_external(writer, select);
    }
    writer->rows = template_fill(writer, STR("{target}")).text;
}

void stage_first_build(Writer *writer) {
    Str select = str_format(writer->arena, "SELECT {produced}%s FROM {input}{within}", writer->extra.values);
    stage_create_target(writer, str_to_c(writer->arena, select));
}

void stage_keyed(Writer *writer) {
    if (writer->is_first) {
        stage_first_build(writer);
    } else {
        stage_source(writer, false);
    }
    keys_refuse_null(writer);
    keys_refuse_repeated(writer);
}

void stage_set(Writer *writer) {
    if (writer->is_first) {
        stage_first_build(writer);
    } else {
        stage_source(writer, true);
    }
    keys_refuse_null(writer);
    keys_collapse(writer, false);
}
