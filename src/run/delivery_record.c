#include "run/delivery_record.h"

#include "plan/delivery.h"

static SqlRelation record_table(const Model *model) {
    SqlRelation table = delivery_place(model);
    table.name = STR("interlace__delivery");
    return table;
}

static Status create_record_table(EngineConnection *connection, const Model *model, Arena *arena, Error *err) {
    SqlRelation table = record_table(model);
    DuckColumnVec columns = {0};
    bool exists = false;
    TRY(engine_relation_columns(connection, table, arena, &exists, &columns, err));
    if (exists) {
        return OK;
    }
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "CREATE TABLE ");
    sql_relation(&sql, table);
    strbuf_text(&sql, " (\"run\" VARCHAR, \"model\" VARCHAR, \"fingerprint\" VARCHAR, \"target\" VARCHAR, "
                      "\"rows\" BIGINT, \"committed_at\" TIMESTAMP)");
    if (failed(engine_execute_own(connection, strbuf_str(&sql), err))) {
        return error_wrap(err, "creating the table of deliveries beside " STR_FMT, STR_ARG(model->target));
    }
    return OK;
}

static Status create_all(EngineConnection *connection, const Model *model, Arena *arena, Error *err) {
    SqlRelation target = delivery_place(model);
    TRY(engine_create_external_schema(connection, target.catalog, target.schema, err));
    return model->strategy == STRATEGY_APPEND ? create_record_table(connection, model, arena, err) : OK;
}

Status delivery_prepare(EngineConnection *connection, const Model *model, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    TRY(engine_begin(connection, err));
    if (failed(create_all(connection, model, arena, err))) {
        engine_rollback(connection);
        error_place(err, model->place);
        return error_wrap(err, "preparing the delivery of model '" STR_FMT "'", STR_ARG(model->name));
    }
    return engine_commit(connection, err);
}

/* The column is a TIMESTAMP in UTC: without the Z. */
static void append_time(StrBuf *sql, Arena *arena, TimeUs time) {
    Str iso = time_format_iso(arena, time);
    strbuf_text(sql, "TIMESTAMP ");
    sql_literal(sql, str_slice(iso, 0, iso.size - 1));
}

/* An apply delivers a change once. When it dies between its commit and its promotion, the next one finds what it
 * delivered of this very version, later than anything that an environment shows. */
static void append_interrupted_apply(StrBuf *sql, const Build *build) {
    strbuf_text(sql, " OR (\"fingerprint\" = ");
    sql_literal(sql, build->task->model->fingerprint);
    strbuf_text(sql, " AND \"committed_at\" > ");
    append_time(sql, build->arena, build->target.last_shown);
    strbuf_char(sql, ')');
}

Status delivery_was_made(Build *build, bool *was_made_out, Error *err) {
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "SELECT count(*) FROM ");
    sql_relation(&sql, record_table(build->task->model));
    strbuf_text(&sql, " WHERE \"model\" = ");
    sql_literal(&sql, build->task->model->name);
    strbuf_text(&sql, " AND (\"run\" = ");
    sql_literal(&sql, build->context->session->run_id);
    if (build->context->options->verb == WINDOW_APPLY && !build->target.is_shown) {
        append_interrupted_apply(&sql, build);
    }
    strbuf_char(&sql, ')');
    SqlText query = sql_text_own(build->arena, strbuf_copy(&sql, build->arena));
    int64_t count = 0;
    TRY(engine_query_int(build->connection, &query, &count, err));
    *was_made_out = count > 0;
    return OK;
}

Status delivery_record(Build *build, Error *err) {
    const Model *model = build->task->model;
    Str texts[] = {build->context->session->run_id, model->name, model->fingerprint, model->target};
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "INSERT INTO ");
    sql_relation(&sql, record_table(model));
    strbuf_text(&sql, " (\"run\", \"model\", \"fingerprint\", \"target\", \"rows\", \"committed_at\") VALUES (");
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        sql_literal(&sql, texts[i]);
        strbuf_text(&sql, ", ");
    }
    strbuf_format(&sql, "%lld, ", (long long)build->rows.inserted);
    append_time(&sql, build->arena, build->now);
    strbuf_char(&sql, ')');
    return engine_execute_own(build->connection, strbuf_str(&sql), err);
}
