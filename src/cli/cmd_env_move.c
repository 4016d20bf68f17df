/* Commands that move an environment without building anything: rollback, promote, drop. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/table.h"

#include "project/graph.h"
#include "run/apply.h"
#include "run/environments.h"

static EnvironmentRequest request_of(const Cli *cli, Str environment) {
    return (EnvironmentRequest){
        .environment = environment,
        .lock_timeout_us = invocation_number(cli->invocation, OPTION_LOCK_TIMEOUT),
        .dry_run = invocation_flag(cli->invocation, OPTION_DRY_RUN),
        .note = invocation_text(cli->invocation, OPTION_NOTE),
    };
}

static void write_list(JsonWriter *writer, Str key, const StrVec *names) {
    json_text_list_field(writer, key, names->items, names->count);
}

static void print_names(Cli *cli, const char *before, const StrVec *names) {
    if (names->count > 0) {
        Str list = str_join(cli->arena, names->items, names->count, STR(", "));
        cli_line(cli, "%s: " STR_FMT, before, STR_ARG(list));
    }
}

static void print_moves(Cli *cli, const EnvironmentMove *move) {
    if (move->repointed.count + move->removed_views.count > 0) {
        cli_line(cli, ": %zu view(s) repointed%s.", move->repointed.count,
                 move->removed_views.count == 0
                     ? ""
                     : str_to_c(cli->arena, str_format(cli->arena, ", %zu removed", move->removed_views.count)));
    } else {
        cli_line(cli, ": no view moved.");
    }
}

/* ---- rollback */

static void print_generations_as_json(Cli *cli, const GenerationVec *generations) {
    JsonWriter *writer = cli_json_begin(cli);
    json_begin_array(writer);
    for (size_t i = 0; i < generations->count; i++) {
        const Generation *generation = &generations->items[i];
        json_begin_object(writer);
        json_int_field(writer, STR("generation"), generation->number);
        json_text_field(writer, STR("promoted_at"), time_format_iso(cli->arena, generation->promoted_at));
        json_text_field(writer, STR("command"), generation->command);
        json_int_field(writer, STR("models"), (int64_t)generation->model_count);
        json_end_object(writer);
    }
    json_end_array(writer);
    cli_json_end(cli);
}

static void print_generations(Cli *cli, const GenerationVec *generations) {
    static const TableColumn columns[] = {{.title = "Generation", .is_name = true},
                                          {.title = "Promoted", .is_dim = true},
                                          {.title = "By", .is_dim = true},
                                          {.title = "Models", .is_number = true}};
    Table *table = table_create(cli->arena, STR("Generations"), columns, COUNT_OF(columns));
    for (size_t i = 0; i < generations->count; i++) {
        const Generation *generation = &generations->items[i];
        TableCell cells[] = {
            CELL(str_format(cli->arena, "%lld%s", (long long)generation->number, i == 0 ? " (current)" : "")),
            CELL(str_slice(time_format_iso(cli->arena, generation->promoted_at), 0, 19)),
            CELL(generation->command),
            CELL(str_format(cli->arena, "%zu", generation->model_count)),
        };
        table_add(table, cells);
    }
    table_write(table, &cli->out, &cli->text);
}

static Status list_generations(Cli *cli, Session *session, Str environment, Error *err) {
    StateStore *state = NULL;
    GenerationVec generations = {0};
    TRY(environment_check_name(environment, err));
    TRY(recovery_finish_if_needed(session, err));
    TRY(session_state_for_reading(session, &state, err));
    TRY(state_load_generations(state, environment, cli->arena, &generations, err));
    if (generations.count == 0) {
        return error_set(err, ERROR_PLAN, "environment '" STR_FMT "' has no history", STR_ARG(environment));
    }
    if (cli_wants_json(cli)) {
        print_generations_as_json(cli, &generations);
    } else {
        print_generations(cli, &generations);
    }
    return OK;
}

static void print_rollback(Cli *cli, const EnvironmentRequest *request, const EnvironmentMove *move) {
    if (cli_wants_json(cli)) {
        JsonWriter *writer = cli_json_begin(cli);
        json_begin_object(writer);
        json_text_field(writer, STR("environment"), request->environment);
        json_int_field(writer, STR("generation"), move->target);
        json_int_field(writer, STR("new_generation"), move->generation);
        write_list(writer, STR("repointed"), &move->repointed);
        write_list(writer, STR("removed_views"), &move->removed_views);
        write_list(writer, STR("skipped"), &move->skipped);
        write_list(writer, STR("changed_in_place"), &move->in_place);
        json_bool_field(writer, STR("dry_run"), request->dry_run);
        json_end_object(writer);
        cli_json_end(cli);
        return;
    }
    strbuf_format(&cli->text, "%s " STR_FMT " back to generation %lld", request->dry_run ? "Would roll" : "Rolled",
                  STR_ARG(request->environment), (long long)move->target);
    print_moves(cli, move);
    print_names(cli, "changed in place since, and not undone", &move->in_place);
    print_names(cli, "delivered outside, and not undone", &move->skipped);
}

Status command_env_rollback(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    EnvironmentMove move = {0};
    EnvironmentRequest request = request_of(cli, invocation_argument(cli->invocation, 0));
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
    if (invocation_flag(cli->invocation, OPTION_LIST_GENERATIONS)) {
        CLI_TRY(list_generations(cli, session, request.environment, &err));
        return OK;
    }
    int64_t wanted = invocation_number(cli->invocation, OPTION_TO);
    CLI_TRY(environment_rollback(session, &request, wanted, cli->arena, &move, &err));
    print_rollback(cli, &request, &move);
    return OK;
}

/* ---- promote */

Status command_env_promote(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    EnvironmentMove move = {0};
    Str from = invocation_argument(cli->invocation, 0);
    EnvironmentRequest request = request_of(cli, invocation_argument(cli->invocation, 1));
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
    CLI_TRY(environment_promote(session, &request, from, invocation_list(cli->invocation, OPTION_SELECT), cli->arena,
                                &move, &err));
    if (cli_wants_json(cli)) {
        JsonWriter *writer = cli_json_begin(cli);
        json_begin_object(writer);
        json_text_field(writer, STR("from"), from);
        json_text_field(writer, STR("environment"), request.environment);
        json_int_field(writer, STR("generation"), move.generation);
        write_list(writer, STR("repointed"), &move.repointed);
        write_list(writer, STR("removed_views"), &move.removed_views);
        write_list(writer, STR("skipped"), &move.skipped);
        json_bool_field(writer, STR("dry_run"), request.dry_run);
        json_end_object(writer);
        cli_json_end(cli);
        return OK;
    }
    strbuf_format(&cli->text, "%s '" STR_FMT "' to '" STR_FMT "'", request.dry_run ? "Would promote" : "Promoted",
                  STR_ARG(from), STR_ARG(request.environment));
    print_moves(cli, &move);
    print_names(cli, "delivered outside, so not promoted (apply delivers)", &move.skipped);
    return OK;
}

/* ---- drop */

Status command_env_drop(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    EnvironmentMove move = {0};
    EnvironmentRequest request = request_of(cli, invocation_argument(cli->invocation, 0));
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
    bool force = invocation_flag(cli->invocation, OPTION_FORCE_DROP);
    CLI_TRY(environment_drop(session, &request, force, cli->arena, &move, &err));
    if (cli_wants_json(cli)) {
        JsonWriter *writer = cli_json_begin(cli);
        json_begin_object(writer);
        json_text_field(writer, STR("environment"), request.environment);
        write_list(writer, STR("removed_views"), &move.removed_views);
        write_list(writer, STR("kept_schemas"), &move.kept_schemas);
        json_bool_field(writer, STR("dry_run"), request.dry_run);
        json_end_object(writer);
        cli_json_end(cli);
        return OK;
    }
    cli_line(cli, "%s environment " STR_FMT " (%zu view(s) removed).", request.dry_run ? "Would drop" : "Dropped",
             STR_ARG(request.environment), move.removed_views.count);
    print_names(cli, "kept, because they hold what interlace did not make", &move.kept_schemas);
    cli_line(cli, "Its tables stay until `interlace gc` takes them.");
    return OK;
}
