/* The report of a campaign's audit: as text, JSON, Markdown and a page. */
#include "backfill/backfill.h"
#include "base/files.h"
#include "cli/audit_text.h"
#include "cli/backfill_text.h"
#include "cli/commands.h"

static Status check_forms(const Cli *cli, Error *err) {
    if (cli_wants_json(cli) && invocation_flag(cli->invocation, OPTION_MARKDOWN)) {
        return error_set(err, ERROR_USAGE, "--json and --markdown exclude each other");
    }
    return OK;
}

static Status load_report(Session *session, int64_t id, Arena *arena, Str *report_out, Error *err) {
    StateStore *state = NULL;
    CampaignRecord campaign;
    TRY(session_state_for_reading(session, &state, err));
    TRY(state_load_campaign(state, id, arena, &campaign, err));
    *report_out = campaign.report_json;
    if (campaign.report_json.size > 0) {
        return OK;
    }
    bool is_audited = campaign_state_is(campaign.state, CAMPAIGN_AUDITED);
    (void)error_set(err, ERROR_PLAN, "campaign %lld has no audit: it is " STR_FMT, (long long)id,
                    STR_ARG(campaign.state));
    error_code(err, STR("audit.none"));
    if (is_audited) {
        error_hint(err, "`interlace backfill audit %lld --again` makes one", (long long)id);
    } else {
        error_hint(err, "the report is made when the last batch is done");
    }
    return FAILED;
}

static void print_table(Cli *cli, const AuditTable *text) {
    Table *table = table_create(cli->arena, text->title, text->columns, text->column_count);
    for (size_t row = 0; row < text->row_count; row++) {
        TableCell *cells = ARENA_NEW_ARRAY(cli->arena, TableCell, text->column_count);
        for (size_t i = 0; i < text->column_count; i++) {
            cells[i] = CELL(text->cells.items[row * text->column_count + i]);
        }
        table_add(table, cells);
    }
    table_write(table, &cli->out, &cli->text);
    strbuf_char(&cli->text, '\n');
}

static void print_text(Cli *cli, const AuditText *text) {
    cli_line(cli, STR_FMT, STR_ARG(text->heading));
    cli_line(cli, STR_FMT "\n", STR_ARG(text->verdict));
    for (size_t i = 0; i < text->models.count; i++) {
        const AuditSection *model = &text->models.items[i];
        style_append(&cli->text, &cli->out, STYLE_TITLE, model->heading);
        strbuf_text(&cli->text, "\n\n");
        for (size_t t = 0; t < model->tables.count; t++) {
            print_table(cli, &model->tables.items[t]);
        }
    }
}

static Status write_page(const AuditText *text, Str path, Error *err) {
    AUTO(strbuf) StrBuf page = {0};
    audit_append_html(text, &page);
    return file_write_atomic(path, strbuf_str(&page), false, err);
}

static void print_report(Cli *cli, Str report_json, const AuditText *text) {
    if (cli_wants_json(cli)) {
        JsonWriter *json = cli_json_begin(cli);
        json_raw(json, report_json);
        cli_json_end(cli);
    } else if (invocation_flag(cli->invocation, OPTION_MARKDOWN)) {
        audit_append_markdown(text, &cli->text);
    } else {
        print_text(cli, text);
    }
}

Status command_backfill_audit(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    ConfigValue *report = NULL;
    Str report_json = STR_EMPTY, page = invocation_text(cli->invocation, OPTION_HTML);
    int64_t id;
    CLI_TRY(check_forms(cli, &err));
    CLI_TRY(backfill_read_id(cli, &id, &err));
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
    TRY(invocation_flag(cli->invocation, OPTION_AGAIN) ? backfill_audit_again(session, id, faults) : OK);
    CLI_TRY(load_report(session, id, cli->arena, &report_json, &err));
    CLI_TRY(json_read(report_json, STR("audit"), cli->arena, &report, &err));
    AuditText text = audit_text(report, cli->arena);
    CLI_TRY(page.size > 0 ? write_page(&text, page, &err) : OK);
    print_report(cli, report_json, &text);
    return OK;
}
