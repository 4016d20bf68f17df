#include "cli/cli.h"
#include "cli/commands.h"
#include "run/intervals.h"
#include "run/window_json.h"

static void print_json(Cli *cli, const ModelIntervals *intervals) {
    JsonWriter *writer = cli_json_begin(cli);
    json_begin_object(writer);
    json_text_field(writer, STR("model"), intervals->model->name);
    json_text_field(writer, STR("environment"), invocation_text(cli->invocation, OPTION_ENV));
    json_text_field(writer, STR("interval"), intervals->model->interval);
    windows_write_json(STR("intervals"), &intervals->filled, writer);
    windows_write_json(STR("gaps"), &intervals->gaps, writer);
    json_end_object(writer);
    cli_json_end(cli);
}

static void print_set(Cli *cli, const char *what, const ModelIntervals *intervals, const IntervalSet *set) {
    for (size_t i = 0; i < set->count; i++) {
        Window window = set->items[i];
        Str start = wall_format(cli->arena, window.start, false);
        Str end = wall_format(cli->arena, window.end, false);
        cli_line(cli, "%s " STR_FMT " … " STR_FMT " (%lld of " STR_FMT ")", what, STR_ARG(start), STR_ARG(end),
                 (long long)grain_count(intervals->grain, grain_floor(intervals->grain, window.start),
                                        grain_ceil(intervals->grain, window.end)),
                 STR_ARG(intervals->model->interval));
    }
}

static void print_text(Cli *cli, const ModelIntervals *intervals) {
    Str environment = invocation_text(cli->invocation, OPTION_ENV);
    Str name = intervals->model->name;
    if (!intervals->is_promoted) {
        cli_line(cli, STR_FMT " is not in '" STR_FMT "' yet: interlace apply -s " STR_FMT, STR_ARG(name),
                 STR_ARG(environment), STR_ARG(name));
    } else if (intervals->filled.count == 0) {
        cli_line(cli, STR_FMT ": no window is filled in '" STR_FMT "'", STR_ARG(name), STR_ARG(environment));
    }
    print_set(cli, "filled", intervals, &intervals->filled);
    print_set(cli, "gap   ", intervals, &intervals->gaps);
}

Status command_intervals(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    ModelIntervals intervals;
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
    CLI_TRY(intervals_read(session, invocation_text(cli->invocation, OPTION_ENV),
                           invocation_argument(cli->invocation, 0), cli->arena, &intervals, &err));
    if (cli_wants_json(cli)) {
        print_json(cli, &intervals);
    } else {
        print_text(cli, &intervals);
    }
    return OK;
}
