#include "cli/cli.h"
#include "cli/commands.h"

#include "run/reset.h"

static void print_json(Cli *cli, const ResetRequest *request, const ResetResult *result) {
    JsonWriter *writer = cli_json_begin(cli);
    json_begin_object(writer);
    json_text_list_field(writer, STR("dropped_views"), result->dropped_views.items, result->dropped_views.count);
    json_text_list_field(writer, STR("dropped_schemas"), result->dropped_schemas.items, result->dropped_schemas.count);
    json_int_field(writer, STR("cleared_snapshots"), result->cleared_snapshots);
    json_text_list_field(writer, STR("kept_terminals"), result->kept_terminals.items, result->kept_terminals.count);
    json_text_list_field(writer, STR("environments"), result->environments.items, result->environments.count);
    json_bool_field(writer, STR("dry_run"), request->dry_run);
    json_end_object(writer);
    cli_json_end(cli);
}

static void print_names(Cli *cli, const char *before, const StrVec *names) {
    if (names->count > 0) {
        Str list = str_join(cli->arena, names->items, names->count, STR(", "));
        cli_line(cli, "  %s: " STR_FMT, before, STR_ARG(list));
    }
}

static void print_text(Cli *cli, const ResetRequest *request, const ResetResult *result) {
    cli_line(cli, "%s %zu view(s), %zu schema(s), %lld snapshot(s).", request->dry_run ? "Would drop" : "Dropped",
             result->dropped_views.count, result->dropped_schemas.count, (long long)result->cleared_snapshots);
    print_names(cli, "environments", &result->environments);
    print_names(cli, "schemas", &result->dropped_schemas);
    print_names(cli, "not delivered again", &result->kept_terminals);
}

Status command_reset(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    ResetResult result = {0};
    ResetRequest request = {
        .dry_run = invocation_flag(cli->invocation, OPTION_DRY_RUN),
        .lock_timeout_us = invocation_number(cli->invocation, OPTION_LOCK_TIMEOUT),
    };
    if (!request.dry_run && !invocation_flag(cli->invocation, OPTION_YES)) {
        (void)error_set(&err, ERROR_PLAN,
                        "reset drops all views and tables that interlace made, in all environments, and their history");
        error_hint(&err, "--yes does it; --dry-run shows what would go");
        return cli_failed(faults, &err);
    }
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
    CLI_TRY(reset_run(session, &request, cli->arena, &result, &err));
    if (cli_wants_json(cli)) {
        print_json(cli, &request, &result);
    } else {
        print_text(cli, &request, &result);
    }
    return OK;
}
