/* Tools about one model that no command has. */
#include "cli/mcp_tools.h"
#include "cli/model_text.h"
#include "cli/rows_text.h"

#include "engine/rows_json.h"
#include "run/apply.h"
#include "run/check_rows.h"
#include "run/model_preview.h"

#define ROWS_DEFAULT 25

static Status open_model(McpCall *call, const char *argument, Session **session_out, const Model **model_out,
                         ErrorList *faults) {
    AUTO(error) Error err = {0};
    TRY(cli_open_session(call->cli, cli_console_events(call->cli), session_out, faults));
    CLI_TRY(project_get((*session_out)->project, config_text(call->arguments, str_from(argument)), model_out, &err));
    return OK;
}

static int64_t wanted_rows(const McpCall *call) {
    int64_t limit;
    if (!str_to_int64(config_text(call->arguments, STR("limit")), &limit)) {
        return ROWS_DEFAULT;
    }
    return limit < PREVIEW_ROWS_MAX ? limit : PREVIEW_ROWS_MAX;
}

/* --- list_models, get_model ------------------------------------------------------------------------------------------
 */

static void write_summary(const Project *project, const Model *model, Arena *arena, JsonWriter *writer) {
    StrVec upstreams = model_upstream_names(project, model, arena);
    json_text_field(writer, STR("name"), model->name);
    json_text_field(writer, STR("materialise"), str_from(materialise_name(model->materialise)));
    json_text_field(writer, STR("strategy"), str_from(strategy_name(model->strategy)));
    json_text_field(writer, STR("engine"), model->engine);
    json_text_list_field(writer, STR("depends_on"), upstreams.items, upstreams.count);
}

Status mcp_list_models(McpCall *call, ErrorList *faults) {
    AUTO(session) Session *session = NULL;
    TRY(cli_open_session(call->cli, cli_console_events(call->cli), &session, faults));
    JsonWriter *writer = cli_json_begin(call->cli);
    json_begin_array(writer);
    for (size_t i = 0; i < session->project->model_count; i++) {
        json_begin_object(writer);
        write_summary(session->project, session->project->models[i], call->cli->arena, writer);
        json_end_object(writer);
    }
    json_end_array(writer);
    return OK;
}

Status mcp_get_model(McpCall *call, ErrorList *faults) {
    AUTO(session) Session *session = NULL;
    const Model *model;
    TRY(open_model(call, "name", &session, &model, faults));
    JsonWriter *writer = cli_json_begin(call->cli);
    json_begin_object(writer);
    write_summary(session->project, model, call->cli->arena, writer);
    json_text_field(writer, STR("fingerprint"), model->fingerprint);
    json_text_field(writer, STR("file"), model->place.file);
    json_key(writer, STR("checks"));
    json_begin_array(writer);
    for (size_t i = 0; i < model->checks.count; i++) {
        json_text(writer, model->checks.items[i]->name);
    }
    json_end_array(writer);
    json_optional_text_field(writer, STR("sql"), model->kind == MODEL_SQL ? str_trim(model->query.text) : STR_EMPTY);
    json_end_object(writer);
    return OK;
}

/* --- preview_model ---------------------------------------------------------------------------------------------------
 */

static void write_rows(const DuckRows *rows, JsonWriter *writer, Arena *arena) {
    Str json = rows_to_json(rows, arena); /* {"columns": […], "rows": […]}: its fields stand in the open object */
    size_t comma = writer->has_items[writer->depth - 1];
    strbuf_text(writer->out, comma ? "," : "");
    strbuf_append(writer->out, str_slice(json, 1, json.size - 1));
}

static void write_preview(McpCall *call, const ModelPreview *preview) {
    JsonWriter *writer = cli_json_begin(call->cli);
    json_begin_object(writer);
    json_bool_field(writer, STR("available"), true);
    json_null_field(writer, STR("message"));
    json_text_field(writer, STR("relation"), preview->relation);
    write_rows(&preview->rows, writer, call->cli->arena);
    json_bool_field(writer, STR("truncated"), preview->is_truncated);
    json_key(writer, STR("profile"));
    json_begin_array(writer);
    for (size_t i = 0; i < preview->rows.columns.count; i++) {
        json_begin_object(writer);
        json_text_field(writer, STR("column"), preview->rows.columns.items[i].name);
        rows_write_measures(preview, i, writer);
        json_end_object(writer);
    }
    json_end_array(writer);
    json_end_object(writer);
}

static void write_unavailable(McpCall *call, Str message) {
    JsonWriter *writer = cli_json_begin(call->cli);
    json_begin_object(writer);
    json_bool_field(writer, STR("available"), false);
    json_text_field(writer, STR("message"), message);
    json_end_object(writer);
}

/* What keeps a model from being read (it is not built there, or has no relation) is an answer, not a failure. */
Status mcp_preview_model(McpCall *call, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    const Model *model;
    ModelPreview preview;
    Str environment = invocation_text(call->cli->invocation, OPTION_ENV);
    TRY(open_model(call, "name", &session, &model, faults));
    CLI_TRY(model_preview(session, model, environment, wanted_rows(call), call->cli->arena, &preview, &err));
    if (preview.unavailable.size > 0) {
        write_unavailable(call, preview.unavailable);
    } else {
        write_preview(call, &preview);
    }
    return OK;
}

/* --- failing_rows ----------------------------------------------------------------------------------------------------
 */

static void write_sample(McpCall *call, const CheckRows *found) {
    const ConfigValue *rows = config_find(found->sample, STR("rows"));
    JsonWriter *writer = cli_json_begin(call->cli);
    json_begin_object(writer);
    json_bool_field(writer, STR("available"), true);
    json_optional_text_field(writer, STR("message"), found->result.message);
    json_key(writer, STR("columns"));
    json_config(writer, config_find(found->sample, STR("columns")));
    json_key(writer, STR("rows"));
    json_begin_array(writer);
    for (size_t i = 0; i < found->count; i++) {
        json_config(writer, rows->items[i]);
    }
    json_end_array(writer);
    json_bool_field(writer, STR("truncated"), (int64_t)found->count < found->result.failures);
    json_end_object(writer);
}

/* A check that never ran there or keeps no rows is an answer too. */
Status mcp_failing_rows(McpCall *call, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    CheckRows found = {0};
    CheckRowsOptions options = {
        .environment = invocation_text(call->cli->invocation, OPTION_ENV),
        .model = config_text(call->arguments, STR("model")),
        .check = config_text(call->arguments, STR("check")),
        .limit = wanted_rows(call),
    };
    TRY(cli_open_session(call->cli, cli_console_events(call->cli), &session, faults));
    Status status = check_rows_load(session, &options, call->cli->arena, &found, &err);
    if (failed(status) && err.kind != ERROR_CHECK) {
        return cli_failed(faults, &err);
    }
    if (failed(status)) {
        write_unavailable(call, error_line(&err, call->cli->arena));
    } else if (found.sample == NULL) {
        write_unavailable(call, STR("no rows failed when it last ran"));
    } else {
        write_sample(call, &found);
    }
    return OK;
}
