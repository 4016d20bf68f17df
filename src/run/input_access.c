#include "run/input_access.h"

#include "project/input_scan.h"

/* ---- Which inputs */

bool *input_flags(const ProjectConfig *config, Arena *arena) {
    return ARENA_NEW_ARRAY(arena, bool, config->inputs.count);
}

void input_flags_add_model(const ProjectConfig *config, const Model *model, bool *is_read) {
    for (size_t i = 0; i < config->inputs.count; i++) {
        is_read[i] = is_read[i] || model_reads_input(model, i);
    }
}

static void add_check_sql(const CheckSql *sql, bool *is_read) {
    for (size_t i = 0; sql != NULL && i < sql->facts->tables.count; i++) {
        if (sql->references[i].input != INPUT_NONE) {
            is_read[sql->references[i].input] = true;
        }
    }
}

void input_flags_add_checks(const Model *model, bool *is_read) {
    for (size_t i = 0; i < model->checks.count; i++) {
        add_check_sql(model->checks.items[i]->query_sql, is_read);
        add_check_sql(model->checks.items[i]->expression_sql, is_read);
        add_check_sql(model->checks.items[i]->where_sql, is_read);
    }
}

void input_flags_add_views(const Project *project, bool *is_read) {
    for (size_t i = 0; i < project->model_count; i++) {
        const Model *model = project->models[i];
        if (model->materialise == MATERIALISE_VIEW || model->materialise == MATERIALISE_EPHEMERAL) {
            input_flags_add_model(project->config, model, is_read);
        }
    }
}

void input_flags_add_plan(const Plan *plan, bool *is_read) {
    const ProjectConfig *config = plan->project->config;
    for (size_t i = 0; config->inputs.count > 0 && i < plan->tasks.count; i++) {
        input_flags_add_model(config, plan->tasks.items[i].model, is_read);
        input_flags_add_checks(plan->tasks.items[i].model, is_read);
    }
    input_flags_add_views(plan->project, is_read);
}

/* ---- Getting ready */

static Status load_extension(EngineConnection *connection, const InputConfig *input, Str extension, Error *err) {
    AUTO(error) Error reason;
    error_init(&reason);
    if (!failed(engine_load_extension(connection, extension, &reason))) {
        return OK;
    }
    error_set_at(err, ERROR_CONFIGURATION, input->place,
                 "input '" STR_FMT "' needs DuckDB's extension '" STR_FMT "': " STR_FMT, STR_ARG(input->name),
                 STR_ARG(extension), STR_ARG(reason.message));
    error_hint(err, STR_FMT, STR_ARG(reason.hint));
    error_code(err, STR("extension.missing"));
    error_detail(err, STR("input"), input->name);
    error_detail(err, STR("extension"), extension);
    return FAILED;
}

static void append_headers(const ConfigValue *headers, StrBuf *sql) {
    strbuf_text(sql, "MAP {");
    for (size_t i = 0; i < headers->count; i++) {
        strbuf_text(sql, i > 0 ? ", " : "");
        sql_literal(sql, headers->entries[i].key);
        strbuf_text(sql, ": ");
        sql_literal(sql, headers->entries[i].value->text);
    }
    strbuf_char(sql, '}');
}

/* The headers go to what the input reads and nowhere else. */
static SqlText secret_statement(const ProjectConfig *config, const InputConfig *input, const ConfigValue *headers,
                                Arena *arena) {
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "CREATE OR REPLACE TEMPORARY SECRET ");
    sql_identifier(&sql, str_format(arena, "interlace__input__" STR_FMT, STR_ARG(input->name)));
    strbuf_text(&sql, " (TYPE http, EXTRA_HTTP_HEADERS ");
    append_headers(headers, &sql);
    strbuf_text(&sql, ", SCOPE ");
    sql_literal(&sql, input_path_prefix(input_path(config, input, clock_now_us(), arena)));
    strbuf_char(&sql, ')');
    return sql_text_own(arena, strbuf_copy(&sql, arena));
}

/* What the engine says of the statement is not told: it may hold a header. */
static Status send_headers(EngineConnection *connection, const ProjectConfig *config, const InputConfig *input,
                           Error *err) {
    const ConfigValue *http = config_find(config->connections, input->connection);
    const ConfigValue *headers = config_find(http, STR("headers"));
    if (headers == NULL || headers->kind != CONFIG_MAP || headers->count == 0) {
        return OK;
    }
    AUTO(arena) Arena *scratch = arena_create();
    AUTO(error) Error reason;
    error_init(&reason);
    SqlText sql = secret_statement(config, input, headers, scratch);
    if (!failed(engine_execute(connection, &sql, NULL, &reason))) {
        return OK;
    }
    return error_set_at(err, ERROR_CONFIGURATION, input->place,
                        "input '" STR_FMT "': the engine does not take the headers of connection '" STR_FMT "'",
                        STR_ARG(input->name), STR_ARG(input->connection));
}

static Status prepare(EngineConnection *connection, const ProjectConfig *config, const InputConfig *input, Error *err) {
    AUTO(arena) Arena *scratch = arena_create();
    StrVec extensions = {0};
    input_extensions(input, scratch, &extensions);
    for (size_t i = 0; i < extensions.count; i++) {
        TRY(load_extension(connection, input, extensions.items[i], err));
    }
    return input->connection.size > 0 ? send_headers(connection, config, input, err) : OK;
}

Status input_access_prepare(EngineConnection *connection, const ProjectConfig *config, const bool *is_read,
                            Error *err) {
    for (size_t i = 0; i < config->inputs.count; i++) {
        if (is_read[i]) {
            TRY(prepare(connection, config, &config->inputs.items[i], err));
        }
    }
    return OK;
}
