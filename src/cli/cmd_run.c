/* run and restate: their options, and what they would do. The work is apply's (cmd_apply.c). */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/run_json.h"
#include "cli/run_options.h"

/* ---- Options. What is no time at all is refused before anything is opened. */

static Status check_time(const Cli *cli, OptionId option, const char *name, Error *err) {
    Str text = invocation_text(cli->invocation, option);
    return cli->invocation->options[option].is_given ? window_bound_check(name, text, err) : OK;
}

Status run_batch_read(const Cli *cli, int64_t *batch_out, Error *err) {
    Str text = invocation_text(cli->invocation, OPTION_BATCH);
    *batch_out = 0;
    if (text.size == 0 || str_equal(text, STR("auto"))) {
        return OK;
    }
    if (!str_to_int64(text, batch_out) || *batch_out < 1) {
        return error_set(err, ERROR_USAGE, "--batch must be a whole number from 1, or auto; got '" STR_FMT "'",
                         STR_ARG(text));
    }
    return OK;
}

Status run_options_read(const Cli *cli, WindowVerb verb, ApplyOptions *options, Error *err) {
    const Invocation *invocation = cli->invocation;
    options->verb = verb;
    if (verb == WINDOW_APPLY) {
        return OK;
    }
    TRY(check_time(cli, OPTION_START, "--start", err));
    TRY(check_time(cli, OPTION_END, "--end", err));
    options->start = invocation_text(invocation, OPTION_START);
    options->end = invocation_text(invocation, OPTION_END);
    options->catch_up = invocation_flag(invocation, OPTION_CATCH_UP);
    options->concurrency = invocation_number(invocation, OPTION_CONCURRENCY);
    options->newest_first = str_equal(invocation_text(invocation, OPTION_ORDER), STR("newest"));
    if (options->catch_up && (options->start.size > 0 || options->end.size > 0)) {
        return error_set(err, ERROR_USAGE, "--catch-up takes no --start and no --end: it goes from the ledger to now");
    }
    return run_batch_read(cli, &options->batch, err);
}

/* ---- --dry-run. */

#define WINDOWS_SHOWN 12

static void append_windows(Cli *cli, const BuildTarget *target) {
    for (size_t i = 0; i < target->work.due.count && i < WINDOWS_SHOWN; i++) {
        Str text = window_format(cli->arena, target->grain, target->work.due.items[i]);
        cli_line(cli, "  " STR_FMT, STR_ARG(text));
    }
    if (target->work.due.count > WINDOWS_SHOWN) {
        cli_line(cli, "  and %zu more ranges", target->work.due.count - WINDOWS_SHOWN);
    }
}

static void append_lines(Cli *cli, const char *label, const StrVec *lines) {
    for (size_t i = 0; i < lines->count; i++) {
        cli_line(cli, "  %s: " STR_FMT, label, STR_ARG(lines->items[i]));
    }
}

static void append_task(Cli *cli, const PlanTask *task, const BuildTarget *target) {
    const Model *model = task->model;
    if (target->is_skipped) {
        cli_line(cli, STR_FMT ": nothing due, every window of the range is filled", STR_ARG(model->name));
    } else if (target->is_windowed && target->work.first_build) {
        cli_line(cli, STR_FMT ": first build", STR_ARG(model->name));
    } else if (target->is_windowed) {
        int64_t grains = interval_set_grains(&target->work.due, target->grain);
        cli_line(cli, STR_FMT ": %lld window(s) of " STR_FMT, STR_ARG(model->name), (long long)grains,
                 STR_ARG(model->interval));
        append_windows(cli, target);
    } else {
        cli_line(cli, STR_FMT ": whole, by %s", STR_ARG(model->name),
                 model->materialise == MATERIALISE_VIEW ? "its view" : strategy_name(model->strategy));
    }
    append_lines(cli, "note", &target->work.notes);
    append_lines(cli, "warning", &target->work.warnings);
}

static void append_preview(Cli *cli, const RunPreview *preview) {
    StrVec stale = {0};
    if (preview->plan->tasks.count == 0) {
        cli_line(cli, "nothing selected");
    }
    for (size_t i = 0; i < preview->plan->tasks.count; i++) {
        append_task(cli, &preview->plan->tasks.items[i], &preview->targets[i]);
    }
    run_stale_models(preview->plan, preview->targets, cli->arena, &stale);
    if (stale.count > 0) {
        Str names = str_join(cli->arena, stale.items, stale.count, STR(", "));
        cli_line(cli, "left stale: " STR_FMT " (a + behind a selected name takes them along)", STR_ARG(names));
    }
}

Status run_dry(Cli *cli, const ApplyOptions *options, ErrorList *faults) {
    AUTO(session) Session *session = NULL;
    AUTO(run_preview) RunPreview *preview = NULL;
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
    TRY(run_preview(session, options, &preview, faults));
    if (cli_wants_json(cli) || cli_wants_json_lines(cli)) {
        JsonWriter *writer = cli_json_begin(cli);
        run_json_write_tasks(preview->plan, preview->targets, options->verb, NULL, writer);
        cli_json_end(cli);
    } else {
        append_preview(cli, preview);
    }
    return OK;
}
