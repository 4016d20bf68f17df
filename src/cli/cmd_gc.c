#include "cli/cli.h"
#include "cli/commands.h"

#include "run/gc.h"

static void print_json(Cli *cli, const GcRequest *request, const GcResult *result) {
    JsonWriter *writer = cli_json_begin(cli);
    json_begin_object(writer);
    json_key(writer, STR("removed"));
    json_begin_array(writer);
    for (size_t i = 0; i < result->removed.count; i++) {
        const ReclaimedSnapshot *snapshot = &result->removed.items[i];
        json_begin_object(writer);
        json_text_field(writer, STR("model"), snapshot->name);
        json_text_field(writer, STR("fingerprint"), snapshot->fingerprint);
        json_int_field(writer, STR("revision"), snapshot->revision);
        json_end_object(writer);
    }
    json_end_array(writer);
    json_int_field(writer, STR("kept"), result->kept);
    json_text_list_field(writer, STR("dropped"), result->dropped.items, result->dropped.count);
    json_text_list_field(writer, STR("failed"), result->failed.items, result->failed.count);
    json_text_list_field(writer, STR("skipped_engines"), result->skipped.items, result->skipped.count);
    json_key(writer, STR("trimmed"));
    json_begin_object(writer);
    json_int_field(writer, STR("events"), result->trimmed.events);
    json_int_field(writer, STR("check_results"), result->trimmed.checks);
    json_int_field(writer, STR("generations"), result->trimmed.generations);
    json_end_object(writer);
    json_bool_field(writer, STR("dry_run"), request->dry_run);
    json_end_object(writer);
    cli_json_end(cli);
}

static void print_text(Cli *cli, const GcRequest *request, const GcResult *result) {
    const GcTrimmed *trimmed = &result->trimmed;
    cli_line(cli, "%s %zu snapshot(s), %s %zu table(s); %lld snapshot(s) kept.",
             request->dry_run ? "Would remove" : "Removed", result->removed.count,
             request->dry_run ? "drop" : "dropped", result->dropped.count, (long long)result->kept);
    if (trimmed->events + trimmed->checks + trimmed->generations > 0) {
        cli_line(cli, "Trimmed %lld event(s), %lld check result(s), %lld generation(s).", (long long)trimmed->events,
                 (long long)trimmed->checks, (long long)trimmed->generations);
    }
    for (size_t i = 0; i < result->dropped.count; i++) {
        cli_line(cli, "  - " STR_FMT, STR_ARG(result->dropped.items[i]));
    }
    for (size_t i = 0; i < result->failed.count; i++) {
        cli_line(cli, "not dropped, the next gc tries again: " STR_FMT, STR_ARG(result->failed.items[i]));
    }
    for (size_t i = 0; i < result->skipped.count; i++) {
        cli_line(cli, "engine '" STR_FMT "' is not configured any more: its tables were left alone",
                 STR_ARG(result->skipped.items[i]));
    }
}

Status command_gc(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    GcResult result = {0};
    GcRequest request = {
        .grace_us = invocation_number(cli->invocation, OPTION_GRACE),
        .dry_run = invocation_flag(cli->invocation, OPTION_DRY_RUN),
        .lock_timeout_us = invocation_number(cli->invocation, OPTION_LOCK_TIMEOUT),
    };
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
    CLI_TRY(gc_run(session, &request, cli->arena, &result, &err));
    if (cli_wants_json(cli)) {
        print_json(cli, &request, &result);
    } else {
        print_text(cli, &request, &result);
    }
    return OK;
}
