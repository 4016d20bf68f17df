/* The query of a model as it would be sent to the engine: on stdout alone, so that it can be piped on. */
#include "cli/cli.h"
#include "cli/commands.h"

#include "run/apply.h"
#include "run/model_render.h"
#include "run/window_json.h"

static void print_json(Cli *cli, const RenderedModel *rendered) {
    JsonWriter *writer = cli_json_begin(cli);
    json_begin_object(writer);
    json_text_field(writer, STR("model"), rendered->model->name);
    json_text_field(writer, STR("environment"), invocation_text(cli->invocation, OPTION_ENV));
    json_text_field(writer, STR("sql"), rendered->sql);
    json_key(writer, STR("window"));
    if (rendered->has_window) {
        window_write_json(rendered->window, writer);
    } else {
        json_null(writer);
    }
    json_text_list_field(writer, STR("cuts"), rendered->cuts.items, rendered->cuts.count);
    json_text_list_field(writer, STR("notes"), rendered->notes.items, rendered->notes.count);
    json_end_object(writer);
    cli_json_end(cli);
}

static void print_text(Cli *cli, const RenderedModel *rendered) {
    if (rendered->has_window) {
        Str start = wall_format(cli->arena, rendered->window.start, false);
        Str end = wall_format(cli->arena, rendered->window.end, false);
        cli_line(cli, "-- window " STR_FMT " … " STR_FMT, STR_ARG(start), STR_ARG(end));
    }
    for (size_t i = 0; i < rendered->cuts.count; i++) {
        cli_line(cli, "-- cuts " STR_FMT, STR_ARG(rendered->cuts.items[i]));
    }
    for (size_t i = 0; i < rendered->notes.count; i++) {
        cli_line(cli, "-- note: " STR_FMT, STR_ARG(rendered->notes.items[i]));
    }
    cli_line(cli, STR_FMT, STR_ARG(rendered->sql));
}

Status command_render(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    RenderedModel rendered;
    const StrVec *window = invocation_list(cli->invocation, OPTION_WINDOW);
    RenderRequest request = {
        .environment = invocation_text(cli->invocation, OPTION_ENV),
        .model = invocation_argument(cli->invocation, 0),
        .start = window->count == 2 ? window->items[0] : STR_EMPTY,
        .end = window->count == 2 ? window->items[1] : STR_EMPTY,
    };
    for (size_t i = 0; i < window->count; i++) {
        CLI_TRY(window_bound_check("--window", window->items[i], &err));
    }
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
    TRY(model_render(session, &request, cli->arena, &rendered, faults));
    if (cli_wants_json(cli)) {
        print_json(cli, &rendered);
    } else {
        print_text(cli, &rendered);
    }
    return OK;
}
