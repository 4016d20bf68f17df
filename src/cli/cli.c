#include "cli/cli.h"

#include "backfill/backfill.h"
#include "base/files.h"
#include "base/log.h"
#include "cli/completion.h"
#include "cli/crash.h"
#include "cli/help.h"
#include "cli/report.h"
#include "run/cancel.h"
#include "run/notify.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define EXIT_SIGPIPE 141

/* --- What commands use -----------------------------------------------------------------------------------------------
 */

void cli_flush(Cli *cli) {
    Str rest = strbuf_str(&cli->text);
    while (rest.size > 0 && cli->out_errno == 0) {
        ssize_t written = write(cli->out.descriptor, rest.ptr, rest.size);
        if (written < 0 && errno != EINTR) {
            cli->out_errno = errno;
        }
        rest = str_skip(rest, written > 0 ? (size_t)written : 0);
    }
    strbuf_clear(&cli->text);
}

/* Which options mean "one JSON document" depends on the command: all that it has are looked at. */
bool cli_wants_json(const Cli *cli) {
    const Invocation *invocation = cli->invocation;
    return invocation_flag(invocation, OPTION_JSON) ||
           str_equal(invocation_text(invocation, OPTION_JSON_OR_LINES), STR("document")) ||
           invocation_text(invocation, OPTION_JSON_OR_FULL).size > 0 ||
           str_equal(invocation_text(invocation, OPTION_LINEAGE_FORMAT), STR("json")) ||
           str_equal(invocation_text(invocation, OPTION_QUERY_FORMAT), STR("json"));
}

bool cli_wants_json_lines(const Cli *cli) {
    return str_equal(invocation_text(cli->invocation, OPTION_JSON_OR_LINES), STR("lines"));
}

bool cli_is_quiet(const Cli *cli) {
    return invocation_flag(cli->invocation, OPTION_QUIET);
}

JsonWriter *cli_json_begin(Cli *cli) {
    json_writer_init(&cli->json, &cli->text, cli->json_style);
    return &cli->json;
}

void cli_json_end(Cli *cli) {
    strbuf_char(&cli->text, '\n');
}

void cli_line(Cli *cli, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    strbuf_format_v(&cli->text, format, arguments);
    va_end(arguments);
    strbuf_char(&cli->text, '\n');
}

Str cli_glyph(const Cli *cli, Glyph name) {
    return glyph(&cli->out, name);
}

static void take_event(void *context, const Event *event) {
    Cli *cli = context;
    console_take_event(cli->console, event);
}

EventSink cli_console_events(Cli *cli) {
    return (EventSink){.emit = take_event, .context = cli};
}

static void say_warnings(Cli *cli, const ProjectConfig *config) {
    for (size_t i = 0; i < config->warnings.count && !cli_is_quiet(cli); i++) {
        console_say(cli->console, MESSAGE_WARNING, config->warnings.items[i]);
    }
}

SessionOptions cli_session_options(const Cli *cli, EventSink events) {
    return (SessionOptions){
        .root = path_absolute(cli->arena, invocation_text(cli->invocation, OPTION_PATH)),
        .overlay = invocation_text(cli->invocation, OPTION_OVERLAY),
        .no_cache = invocation_flag(cli->invocation, OPTION_NO_CACHE),
        .events = events,
        .recover = backfill_recover,
    };
}

Status cli_open_session(Cli *cli, EventSink events, Session **session_out, ErrorList *faults) {
    SessionOptions options = cli_session_options(cli, events);
    options.has_notices = &cli->has_notices;
    TRY(session_open(&options, session_out, faults));
    say_warnings(cli, (*session_out)->project->config);
    if (!options.no_cache) {
        completion_index_save((*session_out)->project);
    }
    return OK;
}

Status cli_load_config(Cli *cli, ProjectConfig **config_out, ErrorList *faults) {
    AUTO(error) Error err = {0};
    ConfigOptions options = {
        .root = path_absolute(cli->arena, invocation_text(cli->invocation, OPTION_PATH)),
        .overlay = invocation_text(cli->invocation, OPTION_OVERLAY),
    };
    CLI_TRY(project_config_check_root(options.root, &err));
    return project_config_load(&options, cli->arena, config_out, faults);
}

static void say_note(void *context, Str text) {
    Cli *cli = context;
    console_say(cli->console, MESSAGE_NOTE, text);
}

void cli_send_notices(Cli *cli) {
    AUTO(error) Error err = {0};
    AUTO(error_list) ErrorList faults = {0};
    error_list_init(&faults);
    ProjectConfig *config = NULL;
    if (!cli->has_notices || failed(cli_load_config(cli, &config, &faults))) {
        return; /* a configuration that was broken meanwhile: the next command tells them */
    }
    cli->has_notices = false;
    if (failed(notify_send(config, (NotifySink){say_note, cli}, &err))) {
        say_note(cli, str_format(cli->arena, "webhooks are told by a later command: " STR_FMT, STR_ARG(err.message)));
    }
}

Status cli_failed(ErrorList *faults, Error *err) {
    error_list_take(faults, err);
    return FAILED;
}

/* --- Running a command -----------------------------------------------------------------------------------------------
 */

static const Str color_modes[] = {
    [COLOR_AUTO] = STR_INIT("auto"), [COLOR_ALWAYS] = STR_INIT("always"), [COLOR_NEVER] = STR_INIT("never")};

static ColorMode color_mode(const Invocation *invocation) {
    Str wanted = invocation_text(invocation, OPTION_COLOR);
    for (size_t i = 0; i < COUNT_OF(color_modes); i++) {
        if (str_equal(wanted, color_modes[i])) {
            return (ColorMode)i;
        }
    }
    return COLOR_AUTO; /* the command line was not understood */
}

/* Debug lines are written by whoever has one, so they and live rows do not go together. */
static ConsoleMode console_mode(const Cli *cli, const Terminal *err_terminal) {
    const Invocation *invocation = cli->invocation;
    if (cli_is_quiet(cli)) {
        return CONSOLE_QUIET;
    }
    if (invocation_flag(invocation, OPTION_VERBOSE)) {
        return CONSOLE_LINES;
    }
    bool is_shared = cli_wants_json_lines(cli) && cli->out.is_terminal; /* lines of JSON would tear the rows */
    bool can_draw = err_terminal->is_terminal && !err_terminal->is_dumb && !is_shared && !log_enabled(LOG_DEBUG);
    return can_draw && !invocation_flag(invocation, OPTION_NO_PROGRESS) ? CONSOLE_LIVE : CONSOLE_QUIET;
}

static void open_streams(Cli *cli) {
    ColorMode mode = color_mode(cli->invocation);
    cli->out = terminal_of(STDOUT_FILENO, mode);
    if (invocation_number(cli->invocation, OPTION_VERBOSE) > 1) {
        log_set_level(LOG_DEBUG);
    }
    ConsoleOptions options = {.terminal = terminal_of(STDERR_FILENO, mode)};
    options.mode = console_mode(cli, &options.terminal);
    options.is_json = str_equal(invocation_text(cli->invocation, OPTION_LOG_FORMAT), STR("json"));
    cli->console = console_create(&options);
}

static void write_failure_document(Cli *cli, const ErrorList *faults) {
    JsonWriter *writer = cli_json_begin(cli);
    json_begin_object(writer);
    report_write_json(faults, writer, cli->arena);
    json_end_object(writer);
    cli_json_end(cli);
}

/* A command that failed without printing its result gets the document of the failure as its result. */
static int report_failure(Cli *cli, const ErrorList *faults) {
    if (faults->items[0].kind == ERROR_USAGE) {
        report_usage_error(cli, &faults->items[0]);
        return error_exit_code(ERROR_USAGE);
    }
    bool has_printed_document = cli->json.out != NULL;
    if (cli_wants_json(cli) && !has_printed_document) {
        write_failure_document(cli, faults);
    }
    cli_flush(cli);
    report_faults(cli, faults);
    return report_exit_code(faults);
}

/* A reader who went away is no failure to tell anyone about; a full disk is. */
static int check_output(Cli *cli, int exit_code) {
    if (cli->out_errno == EPIPE) {
        return EXIT_SIGPIPE;
    }
    if (cli->out_errno != 0) {
        AUTO(error) Error err = {0};
        errno = cli->out_errno;
        Status status = error_set_errno(&err, ERROR_EXECUTION, "cannot write the result to stdout");
        console_say(cli->console, MESSAGE_ERROR, error_line(&err, cli->arena));
        return failed(status) && exit_code == 0 ? 1 : exit_code;
    }
    return exit_code;
}

/* What stands for a command: an option that is answered, or the command itself. */
static Status answer(Cli *cli, ErrorList *faults) {
    const Invocation *invocation = cli->invocation;
    if (invocation->wants_completion || invocation->wants_completion_installed) {
        return cli_show_completion(cli, invocation->wants_completion_installed, faults);
    }
    return invocation->command->run(cli, faults);
}

static int run_command(Cli *cli) {
    crash_install_handlers();
    cancel_install_signal_handlers();
    AUTO(error_list) ErrorList faults = {0};
    error_list_init(&faults);

    Status status = answer(cli, &faults);
    console_end_live(cli->console);
    int exit_code = failed(status) ? report_failure(cli, &faults) : cli->exit_code;
    cli_flush(cli);
    cli_send_notices(cli);
    return check_output(cli, exit_code);
}

static int print_text(Cli *cli, int exit_code) {
    cli_flush(cli);
    return check_output(cli, exit_code);
}

static int dispatch(Cli *cli, Status parsed, const Error *err) {
    const Invocation *invocation = cli->invocation;
    if (failed(parsed)) {
        report_usage_error(cli, err);
        return error_exit_code(err->kind);
    }
    if (invocation->wants_version && !invocation->wants_help) {
        cli_line(cli, "interlace %s", INTERLACE_VERSION);
        return print_text(cli, 0);
    }
    bool is_completion = invocation->wants_completion || invocation->wants_completion_installed;
    if (invocation->wants_help || (invocation->command == NULL && !is_completion)) {
        help_write(invocation, &cli->text);
        return print_text(cli, invocation->wants_help ? 0 : 2);
    }
    return run_command(cli);
}

int cli_main(int argc, char **argv) {
    /* A reader that goes away shows as EPIPE, and workers that die do not take this process with them. */
    signal(SIGPIPE, SIG_IGN);
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err = {0};
    Invocation *invocation = ARENA_NEW(arena, Invocation);
    Status parsed = invocation_parse(argc, argv, arena, invocation, &err);

    Cli cli = {.invocation = invocation, .arena = arena, .json_style = JSON_PRETTY};
    open_streams(&cli);
    int exit_code = dispatch(&cli, parsed, &err);
    strbuf_deinit(&cli.text);
    console_destroy(cli.console);
    return exit_code;
}
