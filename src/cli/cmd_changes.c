#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/model_text.h"
#include "cli/table.h"

#include "run/apply.h"
#include "run/change_json.h"
#include "window/zone.h"

/* --- The records -----------------------------------------------------------------------------------------------------
 */

static Status load_changes(Cli *cli, Session *session, ChangeRecordVec *changes_out, Error *err) {
    const Invocation *invocation = cli->invocation;
    ChangeFilter filter = {
        .model = invocation_text(invocation, OPTION_CHANGES_MODEL),
        .environment = invocation_text(invocation, OPTION_CHANGES_ENV),
        .since = invocation_number(invocation, OPTION_CHANGES_SINCE),
        .limit = invocation_number(invocation, OPTION_CHANGES_LIMIT),
    };
    StateStore *store = NULL;
    TRY(recovery_finish_if_needed(session, err));
    TRY(session_state_for_reading(session, &store, err));
    TRY(state_load_changes(store, &filter, cli->arena, changes_out, err));
    if (changes_out->count > 0 || filter.model.size == 0) {
        return OK;
    }
    /* A misspelt model would look like one that never changed; one that is gone may have a history. */
    ChangeFilter any = {.model = filter.model, .limit = 1};
    ChangeRecordVec all = {0};
    const Model *model = NULL;
    TRY(state_load_changes(store, &any, cli->arena, &all, err));
    return all.count > 0 ? OK : project_get(session->project, filter.model, &model, err);
}

static void print_json(Cli *cli, const ChangeRecordVec *changes) {
    JsonWriter *writer = cli_json_begin(cli);
    json_begin_array(writer);
    for (size_t i = 0; i < changes->count; i++) {
        change_write_json(&changes->items[i], cli->arena, writer);
    }
    json_end_array(writer);
    cli_json_end(cli);
}

static Str windows_text(Cli *cli, const IntervalSet *windows) {
    if (windows->count == 0) {
        return STR("all");
    }
    Window hull = interval_set_hull(windows);
    Str start = wall_format(cli->arena, hull.start, false);
    Str end = wall_format(cli->arena, hull.end, false);
    Str text = str_format(cli->arena, STR_FMT " … " STR_FMT, STR_ARG(start), STR_ARG(end));
    return windows->count == 1 ? text : str_format(cli->arena, STR_FMT " (%zu ranges)", STR_ARG(text), windows->count);
}

static Str rows_text(Cli *cli, int64_t rows) {
    return rows == CHANGE_ROWS_UNKNOWN ? cli_glyph(cli, GLYPH_DASH) : number_text(cli->arena, rows);
}

static Str before_and_after(Cli *cli, const ChangeRecord *change) {
    if (change->rows_before == CHANGE_ROWS_UNKNOWN && change->rows_after == CHANGE_ROWS_UNKNOWN) {
        return STR_EMPTY;
    }
    Str before = rows_text(cli, change->rows_before);
    Str after = rows_text(cli, change->rows_after);
    Str arrow = cli_glyph(cli, GLYPH_ARROW);
    return str_format(cli->arena, STR_FMT " " STR_FMT " " STR_FMT, STR_ARG(before), STR_ARG(arrow), STR_ARG(after));
}

static Str biggest_text(Cli *cli, const ChangeRecord *change) {
    double percent;
    if (change->measure.size == 0) {
        return STR_EMPTY;
    }
    if (!change_percent(change->measure_before, change->measure_after, &percent)) {
        return str_format(cli->arena, STR_FMT " 0 to %g", STR_ARG(change->measure), change->measure_after);
    }
    return str_format(cli->arena, STR_FMT " %+.1f %%", STR_ARG(change->measure), percent);
}

static void print_table(Cli *cli, const ChangeRecordVec *changes) {
    static const TableColumn columns[] = {
        {.title = "Id", .is_number = true},
        {.title = "At", .is_dim = true},
        {.title = "Kind"},
        {.title = "Env", .is_name = true},
        {.title = "Model", .is_name = true},
        {.title = "Periods"},
        {.title = "Rows", .is_number = true},
        {.title = "Biggest change"},
        {.title = "Who", .is_dim = true},
        {.title = "Note"},
    };
    Table *table = table_create(cli->arena, STR("Changes"), columns, COUNT_OF(columns));
    for (size_t i = 0; i < changes->count; i++) {
        const ChangeRecord *change = &changes->items[i];
        TableCell cells[] = {
            CELL(str_format(cli->arena, "%lld", (long long)change->id)),
            CELL(str_slice(time_format_iso(cli->arena, change->at), 0, 19)),
            CELL(str_from(change_kind_name(change->kind))),
            CELL(change->environment),
            CELL(change->model),
            CELL(windows_text(cli, &change->windows)),
            CELL(before_and_after(cli, change)),
            CELL(biggest_text(cli, change)),
            CELL(change->who),
            CELL(change->note),
        };
        table_add(table, cells);
    }
    table_write(table, &cli->out, &cli->text);
}

/* --- Messages to webhooks --------------------------------------------------------------------------------------------
 */

static void print_notices_as_json(Cli *cli, const NoticeVec *notices) {
    JsonWriter *writer = cli_json_begin(cli);
    json_begin_array(writer);
    for (size_t i = 0; i < notices->count; i++) {
        const Notice *notice = &notices->items[i];
        json_begin_object(writer);
        json_text_field(writer, STR("id"), notice->id);
        json_text_field(writer, STR("webhook"), notice->hook);
        json_text_field(writer, STR("state"), notice->is_dead ? STR("dead") : STR("pending"));
        json_int_field(writer, STR("changes"), notice->change_count);
        json_int_field(writer, STR("attempts"), notice->attempts);
        json_optional_text_field(writer, STR("last_error"), notice->last_error);
        json_text_field(writer, STR("created_at"), time_format_iso(cli->arena, notice->created_at));
        json_optional_text_field(writer, STR("next_try_at"),
                                 notice->is_dead ? STR_EMPTY : time_format_iso(cli->arena, notice->next_try_at));
        json_end_object(writer);
    }
    json_end_array(writer);
    cli_json_end(cli);
}

static void print_notices(Cli *cli, const NoticeVec *notices) {
    static const TableColumn columns[] = {
        {.title = "Id", .is_name = true},
        {.title = "Webhook", .is_name = true},
        {.title = "State"},
        {.title = "Changes", .is_number = true},
        {.title = "Attempts", .is_number = true},
        {.title = "Created", .is_dim = true},
        {.title = "Last error"},
    };
    Table *table = table_create(cli->arena, STR("Undelivered"), columns, COUNT_OF(columns));
    for (size_t i = 0; i < notices->count; i++) {
        const Notice *notice = &notices->items[i];
        TableCell cells[] = {
            CELL(notice->id),
            CELL(notice->hook),
            CELL_STYLED(notice->is_dead ? STR("dead") : STR("pending"), notice->is_dead ? STYLE_BAD : STYLE_CHANGED),
            CELL(number_text(cli->arena, notice->change_count)),
            CELL(number_text(cli->arena, notice->attempts)),
            CELL(str_slice(time_format_iso(cli->arena, notice->created_at), 0, 19)),
            CELL(notice->last_error),
        };
        table_add(table, cells);
    }
    table_write(table, &cli->out, &cli->text);
}

static Status list_undelivered(Cli *cli, StateStore *state, Error *err) {
    NoticeVec notices = {0};
    TRY(state_load_notices(state, 0, cli->arena, &notices, err));
    if (cli_wants_json(cli)) {
        print_notices_as_json(cli, &notices);
    } else if (notices.count == 0) {
        cli_line(cli, "Every message was delivered.");
    } else {
        print_notices(cli, &notices);
    }
    return OK;
}

/* What does not arrive is told, and listed afterwards. */
static Status redeliver(Cli *cli, Session *session, Str id, Error *err) {
    StateStore *state = NULL;
    int64_t count;
    bool is_all = str_equal(id, STR("all"));
    TRY(session_state_for_writing(session, &state, err));
    TRY(state_notices_revive(state, is_all ? STR_EMPTY : id, clock_now_us(), &count, err));
    if (count == 0 && !is_all) {
        error_set(err, ERROR_SELECTION, "no undelivered message has the id '" STR_FMT "'", STR_ARG(id));
        error_hint(err, "interlace changes --undelivered lists them");
        return FAILED;
    }
    cli->has_notices = count > 0;
    cli_send_notices(cli);
    TRY(list_undelivered(cli, state, err));
    return OK;
}

Status command_changes(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    ChangeRecordVec changes = {0};
    Str message = invocation_text(cli->invocation, OPTION_REDELIVER);
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
    if (message.size > 0) {
        CLI_TRY(redeliver(cli, session, message, &err));
        return OK;
    }
    if (invocation_flag(cli->invocation, OPTION_UNDELIVERED)) {
        StateStore *state = NULL;
        CLI_TRY(session_state_for_reading(session, &state, &err));
        CLI_TRY(list_undelivered(cli, state, &err));
        return OK;
    }
    CLI_TRY(load_changes(cli, session, &changes, &err));
    if (cli_wants_json(cli)) {
        print_json(cli, &changes);
    } else if (changes.count == 0) {
        cli_line(cli, "Nothing is recorded as changed.");
    } else {
        print_table(cli, &changes);
    }
    return OK;
}
