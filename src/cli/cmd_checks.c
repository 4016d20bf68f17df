#include "cli/check_text.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/model_text.h"
#include "cli/table.h"

#include "base/files.h"
#include "cli/text_width.h"
#include "run/apply.h"
#include "run/check_rows.h"

/* --- checks list -----------------------------------------------------------------------------------------------------
 */

/* History is only in the state store: the models need not even load. */
static Status open_state(Cli *cli, StateStore **store_out, ErrorList *faults) {
    AUTO(error) Error err = {0};
    ProjectConfig *config = NULL;
    TRY(cli_load_config(cli, &config, faults));
    CLI_TRY(state_store_open_existing(config->state_path, store_out, &err));
    return OK;
}

static Status load_results(Cli *cli, StateStore *store, CheckResultVec *results_out, Error *err) {
    const Invocation *invocation = cli->invocation;
    CheckResultFilter filter = {
        .model = invocation_text(invocation, OPTION_MODEL),
        .environment = invocation_text(invocation, OPTION_ENV_FILTER),
        .status = invocation_text(invocation, OPTION_STATUS),
        .since = invocation_number(invocation, OPTION_SINCE),
        .limit = invocation_number(invocation, OPTION_CHECKS_LIMIT),
    };
    return state_load_checks(store, &filter, cli->arena, results_out, err);
}

/* A misspelt model would otherwise look like one whose checks never ran. */
static Status check_model_has_history(Cli *cli, StateStore *store, Error *err) {
    Str model = invocation_text(cli->invocation, OPTION_MODEL);
    if (model.size == 0) {
        return OK;
    }
    CheckResultVec results = {0};
    CheckResultFilter filter = {.model = model, .limit = 1};
    TRY(state_load_checks(store, &filter, cli->arena, &results, err));
    if (results.count == 0) {
        return error_set(err, ERROR_SELECTION, "no check of a model '" STR_FMT "' has run", STR_ARG(model));
    }
    return OK;
}

static void print_records_as_json(Cli *cli, const CheckResultVec *results) {
    JsonWriter *writer = cli_json_begin(cli);
    json_begin_array(writer);
    for (size_t i = 0; i < results->count; i++) {
        check_write_record(&results->items[i], cli->arena, writer);
    }
    json_end_array(writer);
    cli_json_end(cli);
}

static void print_records(Cli *cli, const CheckResultVec *results) {
    static const TableColumn columns[] = {
        {.title = "Env", .is_name = true},
        {.title = "Model", .is_name = true},
        {.title = "Check", .is_name = true},
        {.title = "Severity", .is_dim = true},
        {.title = "Status"},
        {.title = "Failures", .is_number = true},
        {.title = "At", .is_dim = true},
    };
    if (results->count == 0) {
        cli_line(cli, "No check has run.");
        return;
    }
    Table *table = table_create(cli->arena, STR("Checks"), columns, COUNT_OF(columns));
    for (size_t i = 0; i < results->count; i++) {
        const CheckResult *result = &results->items[i];
        TableCell cells[] = {
            CELL(result->environment),
            CELL(result->model),
            CELL(result->check_name),
            CELL(result->severity),
            CELL_STYLED(result->status, check_style(result)),
            CELL(result->failures == 0 ? STR_EMPTY : number_text(cli->arena, result->failures)),
            CELL(str_slice(time_format_iso(cli->arena, result->executed_at), 0, 19)),
        };
        table_add(table, cells);
    }
    table_write(table, &cli->out, &cli->text);
}

/* A promotion that a dead command left needs the project and its engine to be finished: only then are they loaded. */
static Status finish_promotions(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
    CLI_TRY(recovery_finish_if_needed(session, &err));
    return OK;
}

static Status has_unfinished_promotions(Cli *cli, bool *has_out, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(state_store) StateStore *store = NULL;
    IntentVec intents = {0};
    TRY(open_state(cli, &store, faults));
    CLI_TRY(state_load_intents(store, cli->arena, &intents, &err));
    *has_out = intents.count > 0;
    return OK;
}

Status command_checks_list(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(state_store) StateStore *store = NULL;
    CheckResultVec results = {0};
    bool is_unfinished;
    TRY(has_unfinished_promotions(cli, &is_unfinished, faults));
    if (is_unfinished) {
        TRY(finish_promotions(cli, faults));
    }
    TRY(open_state(cli, &store, faults));
    CLI_TRY(check_model_has_history(cli, store, &err));
    CLI_TRY(load_results(cli, store, &results, &err));
    if (cli_wants_json(cli)) {
        print_records_as_json(cli, &results);
    } else {
        print_records(cli, &results);
    }
    return OK;
}

/* --- checks run ------------------------------------------------------------------------------------------------------
 */

static void write_outcomes(const ChecksRunResult *result, JsonWriter *writer) {
    json_begin_array(writer);
    for (size_t i = 0; i < result->results.count; i++) {
        check_write_outcome(&result->results.items[i], writer);
    }
    json_end_array(writer);
}

static void print_outcomes_as_json(Cli *cli, const ChecksRunResult *result) {
    JsonWriter *writer = cli_json_begin(cli);
    if (str_equal(invocation_text(cli->invocation, OPTION_JSON_OR_FULL), STR("full"))) {
        json_begin_object(writer);
        json_text_field(writer, STR("environment"), invocation_text(cli->invocation, OPTION_ENV));
        json_key(writer, STR("outcomes"));
        write_outcomes(result, writer);
        json_text_list_field(writer, STR("skipped"), result->skipped_models.items, result->skipped_models.count);
        json_int_field(writer, STR("passed"), (int64_t)result->passed);
        json_int_field(writer, STR("total"), (int64_t)result->results.count);
        json_bool_field(writer, STR("blocked"), result->is_blocked);
        json_end_object(writer);
    } else {
        write_outcomes(result, writer);
    }
    cli_json_end(cli);
}

static void print_outcome(Cli *cli, const CheckResult *result) {
    style_append(&cli->text, &cli->out, check_style(result),
                 str_format(cli->arena, "%-6s", str_to_c(cli->arena, result->status)));
    strbuf_format(&cli->text, " " STR_FMT "." STR_FMT, STR_ARG(result->model), STR_ARG(result->check_name));
    if (str_equal(result->status, STR("failed"))) {
        strbuf_format(&cli->text, " (" STR_FMT " failing)", STR_ARG(number_text(cli->arena, result->failures)));
    } else if (result->message.size > 0) {
        strbuf_text(&cli->text, ": ");
        text_append_visible(&cli->text, result->message);
    }
    strbuf_char(&cli->text, '\n');
}

static void print_outcomes(Cli *cli, const ChecksRunResult *result) {
    if (!cli_is_quiet(cli)) {
        for (size_t i = 0; i < result->results.count; i++) {
            print_outcome(cli, &result->results.items[i]);
        }
        for (size_t i = 0; i < result->skipped.count; i++) {
            cli_line(cli, "skip   " STR_FMT, STR_ARG(result->skipped.items[i]));
        }
    }
    cli_line(cli, "Checks: %zu/%zu passed against '" STR_FMT "'.", result->passed, result->results.count,
             STR_ARG(invocation_text(cli->invocation, OPTION_ENV)));
}

static Status run_checks(Cli *cli, Session *session, Error *err) {
    const Invocation *invocation = cli->invocation;
    ChecksRunOptions options = {
        .environment = invocation_text(invocation, OPTION_ENV),
        .check = invocation_text(invocation, OPTION_CHECK),
        .select = invocation_list(invocation, OPTION_SELECT),
        .exclude = invocation_list(invocation, OPTION_EXCLUDE),
        .strict = invocation_flag(invocation, OPTION_STRICT),
        .fail_fast = invocation_flag(invocation, OPTION_FAIL_FAST),
        .parallelism = (size_t)invocation_number(invocation, OPTION_PARALLELISM),
    };
    AUTO(checks_run_result) ChecksRunResult *result = NULL;
    TRY(checks_run(session, &options, &result, err));
    if (cli_wants_json(cli)) {
        print_outcomes_as_json(cli, result);
    } else {
        print_outcomes(cli, result);
    }
    cli->exit_code = result->is_blocked ? 1 : 0;
    return OK;
}

Status command_checks_run(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
    CLI_TRY(run_checks(cli, session, &err));
    return OK;
}

/* --- checks rows -----------------------------------------------------------------------------------------------------
 */

static void print_rows(Cli *cli, const CheckRows *rows) {
    const ConfigValue *columns = config_find(rows->sample, STR("columns")),
                      *lines = config_find(rows->sample, STR("rows"));
    TableColumn *titles = ARENA_NEW_ARRAY(cli->arena, TableColumn, columns->count);
    TableCell *cells = ARENA_NEW_ARRAY(cli->arena, TableCell, columns->count);
    for (size_t i = 0; i < columns->count; i++) {
        titles[i] = (TableColumn){.title = str_to_c(cli->arena, columns->items[i]->text)};
    }
    Table *table = table_create(cli->arena, STR_EMPTY, titles, columns->count);
    for (size_t row = 0; row < rows->count; row++) {
        const ConfigValue *line = lines->items[row];
        for (size_t i = 0; i < columns->count; i++) {
            bool is_null = line->items[i]->kind == CONFIG_NULL;
            cells[i] = is_null ? CELL_STYLED(STR("NULL"), STYLE_DIM) : CELL(line->items[i]->text);
        }
        table_add(table, cells);
    }
    table_write(table, &cli->out, &cli->text);
}

static void print_rows_as_json(Cli *cli, const CheckRows *rows) {
    JsonWriter *writer = cli_json_begin(cli);
    json_begin_object(writer);
    json_text_field(writer, STR("model"), rows->result.model);
    json_text_field(writer, STR("check"), rows->result.check_name);
    json_text_field(writer, STR("status"), rows->result.status);
    json_int_field(writer, STR("failures"), rows->result.failures);
    json_text_field(writer, STR("executed_at"), time_format_iso(cli->arena, rows->result.executed_at));
    json_key(writer, STR("columns"));
    if (rows->sample == NULL) {
        json_begin_array(writer);
        json_end_array(writer);
    } else {
        json_config(writer, config_find(rows->sample, STR("columns")));
    }
    json_key(writer, STR("rows"));
    json_begin_array(writer);
    for (size_t i = 0; i < rows->count; i++) {
        json_config(writer, config_find(rows->sample, STR("rows"))->items[i]);
    }
    json_end_array(writer);
    json_end_object(writer);
    cli_json_end(cli);
}

static Status show_rows(Cli *cli, Session *session, Error *err) {
    CheckRowsOptions options = {
        .environment = invocation_text(cli->invocation, OPTION_ENV),
        .model = invocation_argument(cli->invocation, 0),
        .check = invocation_argument(cli->invocation, 1),
        .limit = invocation_number(cli->invocation, OPTION_ROWS_LIMIT),
    };
    CheckRows rows = {0};
    TRY(check_rows_load(session, &options, cli->arena, &rows, err));
    if (cli_wants_json(cli)) {
        print_rows_as_json(cli, &rows);
        return OK;
    }
    if (rows.count > 0) {
        print_rows(cli, &rows);
    }
    cli_line(cli, "%zu of " STR_FMT " failure(s) of " STR_FMT "." STR_FMT " in '" STR_FMT "'", rows.count,
             STR_ARG(number_text(cli->arena, rows.result.failures)), STR_ARG(rows.result.model),
             STR_ARG(rows.result.check_name), STR_ARG(options.environment));
    return OK;
}

Status command_checks_rows(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
    CLI_TRY(show_rows(cli, session, &err));
    return OK;
}
