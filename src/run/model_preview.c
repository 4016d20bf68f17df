#include "run/model_preview.h"

#include "sql/sql_buf.h"

typedef struct Preview {
    Session *session;
    const Model *model;
    Str environment;
    Arena *arena;
} Preview;

static void append_view(StrBuf *sql, const Model *model) {
    if (!str_equal(model->schema, STR("main"))) {
        sql_identifier(sql, model->schema);
        strbuf_char(sql, '.');
    }
    sql_identifier(sql, model->base);
}

static Status ask(const Preview *preview, Str sql, int64_t limit, ReadQueryResult *result_out, Error *err) {
    ReadQueryOptions options = {.sql = sql, .environment = preview->environment, .limit = limit};
    return read_query(preview->session, &options, preview->arena, result_out, err);
}

static Status ask_profile(const Preview *preview, ModelPreview *found, Error *err) {
    static const char *const parts[] = {
        [PROFILE_NULLS] = "count(*) - count(",
        [PROFILE_DISTINCT] = "count(DISTINCT ",
        [PROFILE_MIN] = "min(",
        [PROFILE_MAX] = "max(",
    };
    AUTO(strbuf) StrBuf sql = {0};
    ReadQueryResult result = {0};
    strbuf_text(&sql, "SELECT ");
    for (size_t i = 0; i < found->rows.columns.count; i++) {
        for (size_t p = 0; p < PROFILE_TOTAL; p++) {
            strbuf_text(&sql, i + p == 0 ? "" : ", ");
            strbuf_text(&sql, parts[p]);
            sql_identifier(&sql, found->rows.columns.items[i].name);
            strbuf_format(&sql, ") AS p%zu_%zu", i, p);
        }
    }
    strbuf_text(&sql, " FROM ");
    append_view(&sql, preview->model);
    TRY(ask(preview, strbuf_str(&sql), 1, &result, err));
    found->profile = result.rows;
    return OK;
}

static Status look(const Preview *preview, int64_t limit, ModelPreview *found, Error *err) {
    ReadQueryResult result = {0};
    Str sql = str_format(preview->arena, "SELECT * FROM " STR_FMT, STR_ARG(found->relation));
    TRY(ask(preview, sql, limit < PREVIEW_ROWS_MAX ? limit : PREVIEW_ROWS_MAX, &result, err));
    found->rows = result.rows;
    found->is_truncated = result.is_truncated;
    return ask_profile(preview, found, err);
}

Status model_preview(Session *session, const Model *model, Str environment, int64_t limit, Arena *arena,
                     ModelPreview *preview_out, Error *err) {
    Preview preview = {.session = session, .model = model, .environment = environment, .arena = arena};
    AUTO(strbuf) StrBuf relation = {0};
    if (!model_has_relation(model)) {
        Str message =
            str_format(arena, "a model of output %s has no table to read", materialise_name(model->materialise));
        *preview_out = (ModelPreview){.unavailable = message};
        return OK;
    }
    append_view(&relation, model);
    *preview_out = (ModelPreview){.relation = strbuf_copy(&relation, arena)};
    Status status = look(&preview, limit, preview_out, err);
    if (failed(status) && err->kind == ERROR_QUERY) {
        *preview_out = (ModelPreview){.unavailable = error_line(err, arena)};
        error_clear(err);
        return OK;
    }
    return status;
}

const DuckCell *model_preview_measure(const ModelPreview *preview, size_t column, ProfileMeasure measure) {
    return duck_cell(&preview->profile, 0, column * PROFILE_TOTAL + measure);
}
