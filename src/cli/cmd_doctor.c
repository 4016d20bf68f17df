/* What is wrong with the project or around it, and the lock that a dead process left. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/table.h"

#include "run/command_lock.h"
#include "run/doctor.h"

/* ---- doctor */

static bool has_problem(const FindingVec *findings) {
    for (size_t i = 0; i < findings->count; i++) {
        if (findings->items[i].status == FINDING_PROBLEM) {
            return true;
        }
    }
    return false;
}

static void print_json(Cli *cli, const FindingVec *findings) {
    JsonWriter *writer = cli_json_begin(cli);
    json_begin_object(writer);
    json_bool_field(writer, STR("ok"), !has_problem(findings));
    json_key(writer, STR("findings"));
    json_begin_array(writer);
    for (size_t i = 0; i < findings->count; i++) {
        const Finding *finding = &findings->items[i];
        json_begin_object(writer);
        json_text_field(writer, STR("subject"), finding->subject);
        json_text_field(writer, STR("status"), str_from(finding_status_name(finding->status)));
        json_text_field(writer, STR("message"), finding->message);
        json_optional_text_field(writer, STR("hint"), finding->hint);
        json_end_object(writer);
    }
    json_end_array(writer);
    json_end_object(writer);
    cli_json_end(cli);
}

static void print_text(Cli *cli, const FindingVec *findings) {
    static const Style styles[] = {
        [FINDING_OK] = STYLE_GOOD, [FINDING_WARNING] = STYLE_CHANGED, [FINDING_PROBLEM] = STYLE_BAD};
    static const TableColumn columns[] = {
        {.title = "Subject", .is_name = true}, {.title = "Status"}, {.title = "Found"}};
    Table *table = table_create(cli->arena, STR_EMPTY, columns, COUNT_OF(columns));
    for (size_t i = 0; i < findings->count; i++) {
        const Finding *finding = &findings->items[i];
        Str found = finding->hint.size == 0 ? finding->message
                                            : str_format(cli->arena, STR_FMT " (" STR_FMT ")",
                                                         STR_ARG(finding->message), STR_ARG(finding->hint));
        TableCell cells[] = {
            CELL(finding->subject),
            CELL_STYLED(str_from(finding_status_name(finding->status)), styles[finding->status]),
            CELL(found),
        };
        table_add(table, cells);
    }
    table_write(table, &cli->out, &cli->text);
}

Status command_doctor(Cli *cli, ErrorList *faults) {
    (void)faults;
    FindingVec findings = {0};
    SessionOptions options = cli_session_options(cli, cli_console_events(cli));
    doctor_look(&options, cli->arena, &findings);
    cli->exit_code = has_problem(&findings) ? EXIT_FAILURE : EXIT_SUCCESS;
    if (cli_wants_json(cli)) {
        print_json(cli, &findings);
    } else {
        print_text(cli, &findings);
    }
    return OK;
}

/* ---- unlock */

static void print_unlocked(Cli *cli, const LockState *lock) {
    if (cli_wants_json(cli)) {
        JsonWriter *writer = cli_json_begin(cli);
        json_begin_object(writer);
        json_bool_field(writer, STR("removed"), lock->is_held);
        json_end_object(writer);
        cli_json_end(cli);
    } else if (!lock->is_held) {
        cli_line(cli, "There is no lock.");
    } else {
        cli_line(cli, "Removed the lock of " STR_FMT ", which is not running any more.",
                 STR_ARG(lock_holder_text(&lock->holder, cli->arena)));
    }
}

static Status look_at_lock(Cli *cli, Str path, LockState *lock_out, Error *err) {
    AUTO(state_store) StateStore *state = NULL;
    TRY(state_store_open_existing(path, &state, err));
    return state_lock_look(state, cli->arena, lock_out, err);
}

static Status remove_lock(Str path, Error *err) {
    AUTO(state_store) StateStore *state = NULL;
    TRY(state_store_open(path, &state, err));
    return state_lock_break(state, err);
}

static Status refuse_unlocking(const LockState *lock, Arena *arena, Error *err) {
    (void)error_set(err, ERROR_LOCK, "the lock is %s " STR_FMT, lock->is_dead ? "left behind by" : "held by",
                    STR_ARG(lock_holder_text(&lock->holder, arena)));
    error_hint(err, "--yes removes it, if its process is gone");
    return FAILED;
}

static Status unlock(Cli *cli, Str path, Error *err) {
    LockState lock;
    bool is_wanted = invocation_flag(cli->invocation, OPTION_YES);
    TRY(look_at_lock(cli, path, &lock, err));
    if (lock.is_held) {
        TRY(is_wanted ? remove_lock(path, err) : refuse_unlocking(&lock, cli->arena, err));
    }
    print_unlocked(cli, &lock);
    return OK;
}

Status command_unlock(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    ProjectConfig *config = NULL;
    TRY(cli_load_config(cli, &config, faults));
    CLI_TRY(unlock(cli, config->state_path, &err));
    return OK;
}
