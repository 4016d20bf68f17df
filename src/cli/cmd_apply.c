#include "cli/apply_json.h"
#include "cli/backfill_text.h"
#include "cli/check_text.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/model_text.h"
#include "cli/plan_text.h"
#include "cli/report.h"
#include "cli/run_json.h"
#include "cli/run_options.h"
#include "cli/table.h"

/* What is gathered while apply works. The emitter calls it from several threads, never two at once, while the main
 * thread waits in apply(): so it may use the Cli. */
typedef struct ApplyWatch {
    Cli *cli;
    const ApplyOptions *options;
    Arena *arena;               /* of the copies below */
    CheckResultVec late_checks; /* of models that are not built: only their checks changed */
} ApplyWatch;

/* --- While it works --------------------------------------------------------------------------------------------------
 */

static bool is_for_people(const Cli *cli) {
    return !cli_wants_json(cli) && !cli_wants_json_lines(cli);
}

static void show_plan(Cli *cli, const Plan *plan) {
    if (is_for_people(cli) && !cli_is_quiet(cli) && !plan->is_empty) {
        plan_text_append(cli, plan, (PlanTextOptions){0});
        cli_flush(cli);
    }
}

static void keep_check(ApplyWatch *watch, const CheckResult *check) {
    CheckResult copy = *check;
    Str *texts[] = {&copy.environment, &copy.model,  &copy.fingerprint, &copy.check_name, &copy.check_type,
                    &copy.severity,    &copy.status, &copy.message,     &copy.trigger,    &copy.sample_json};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        *texts[i] = str_copy(watch->arena, *texts[i]);
    }
    check_result_vec_push(watch->arena, &watch->late_checks, copy);
}

static void watch_event(void *context, const Event *event) {
    ApplyWatch *watch = context;
    Cli *cli = watch->cli;
    if (event->type == EVENT_PLAN) {
        show_plan(cli, event->plan);
    } else if (event->type == EVENT_CHECK) {
        keep_check(watch, event->check);
    }
    apply_tell_event(cli, event);
    if (cli->observer.emit != NULL) {
        cli->observer.emit(cli->observer.context, event);
    }
}

/* --- Outcomes of checks ----------------------------------------------------------------------------------------------
 */

static bool is_of_task(const RunSummary *summary, Str model) {
    for (size_t i = 0; i < summary->model_count; i++) {
        if (str_equal(summary->models[i].model->name, model)) {
            return true;
        }
    }
    return false;
}

/* Those of built and reused models in dependency order, then those of models of which only the checks changed. */
static CheckResultVec all_checks(const ApplyWatch *watch, const ApplyResult *result) {
    CheckResultVec checks = {0};
    for (size_t i = 0; i < result->summary.model_count; i++) {
        const CheckResultVec *own = &result->summary.models[i].checks;
        for (size_t c = 0; c < own->count; c++) {
            check_result_vec_push(watch->arena, &checks, own->items[c]);
        }
    }
    for (size_t i = 0; i < watch->late_checks.count; i++) {
        if (!is_of_task(&result->summary, watch->late_checks.items[i].model)) {
            check_result_vec_push(watch->arena, &checks, watch->late_checks.items[i]);
        }
    }
    return checks;
}

static void print_checks_line(Cli *cli, const CheckResultVec *checks) {
    size_t passed = 0;
    for (size_t i = 0; i < checks->count; i++) {
        passed += check_has_passed(&checks->items[i]);
    }
    strbuf_format(&cli->text, "Checks: %zu/%zu passed", passed, checks->count);
    for (size_t i = 0; i < checks->count; i++) {
        const CheckResult *check = &checks->items[i];
        if (check_has_passed(check)) {
            continue;
        }
        Str text = str_format(cli->arena, STR_FMT "." STR_FMT " " STR_FMT " (" STR_FMT ")", STR_ARG(check->model),
                              STR_ARG(check->check_name), STR_ARG(check->status), STR_ARG(check->severity));
        strbuf_text(&cli->text, "; ");
        style_append(&cli->text, &cli->out, check_style(check), text);
    }
    strbuf_char(&cli->text, '\n');
}

/* --- Result for people -----------------------------------------------------------------------------------------------
 */

static void print_built_models(Cli *cli, const ApplyResult *result) {
    static const TableColumn columns[] = {
        {.title = "Model", .is_name = true},
        {.title = "Output"},
        {.title = "Strategy"},
        {.title = "Engine", .is_dim = true},
        {.title = "Depends on", .is_dim = true},
        {.title = "Rows", .is_number = true},
        {.title = "Time", .is_number = true},
    };
    Table *table = table_create(cli->arena, STR("Build results"), columns, COUNT_OF(columns));
    for (size_t i = 0; i < result->summary.model_count; i++) {
        const ModelResult *built = &result->summary.models[i];
        const Model *model = built->model;
        if (built->outcome != OUTCOME_BUILT) {
            continue;
        }
        Str rows = built->rows.is_known ? row_count_text(cli->arena, &built->rows) : STR_EMPTY;
        TableCell cells[] = {
            CELL(model->name),
            CELL(str_from(materialise_name(model->materialise))),
            CELL(str_from(strategy_name(model->strategy))),
            CELL(model->engine),
            CELL(model_upstream_text(built->project, model, cli->arena)),
            CELL_STYLED(rows, rows.size > 0 ? STYLE_GOOD : STYLE_PLAIN),
            CELL(str_format(cli->arena, "%.2fs", built->seconds)),
        };
        table_add(table, cells);
    }
    strbuf_char(&cli->text, '\n');
    table_write(table, &cli->out, &cli->text);
}

/* What stays inside: "Gated in 'dev': out.crm, out.csv" */
static void print_gated_line(Cli *cli, const RunSummary *summary) {
    StrVec names = {0};
    for (size_t i = 0; i < summary->model_count; i++) {
        if (summary->models[i].outcome == OUTCOME_GATED) {
            str_vec_push(cli->arena, &names, summary->models[i].model->name);
        }
    }
    if (names.count > 0) {
        Str list = str_join(cli->arena, names.items, names.count, STR(", "));
        cli_line(cli, "Gated in '" STR_FMT "', nothing delivered: " STR_FMT, STR_ARG(summary->environment),
                 STR_ARG(list));
    }
}

/* "Built 3 model(s)", "Ran 2 model(s) (31 task(s))". */
static void append_done(Cli *cli, const RunSummary *summary, WindowVerb verb) {
    static const char *const words[] = {
        [WINDOW_APPLY] = "Built",
        [WINDOW_RUN] = "Ran",
        [WINDOW_RESTATE] = "Restated",
    };
    strbuf_format(&cli->text, "%s %zu model(s)", words[verb], summary->built);
    if (verb != WINDOW_APPLY) {
        strbuf_format(&cli->text, " (%lld task(s))", (long long)summary->tasks);
    }
}

static void print_final_line(Cli *cli, const RunSummary *summary, WindowVerb verb, bool is_failure) {
    if (is_failure) {
        append_done(cli, summary, verb);
        if (summary->promoted == 0) {
            cli_line(cli, "; nothing promoted.");
        } else {
            cli_line(cli, "; promoted %zu to '" STR_FMT "', what was registered meanwhile failed.", summary->promoted,
                     STR_ARG(summary->environment));
        }
        return;
    }
    append_done(cli, summary, verb);
    strbuf_format(&cli->text, "; promoted %zu to '" STR_FMT "'.", summary->promoted, STR_ARG(summary->environment));
    if (summary->reused > 0) {
        strbuf_format(&cli->text, " Reused %zu model(s).", summary->reused);
    }
    Str seconds = str_format(cli->arena, " (%.2fs)", summary->seconds);
    style_append(&cli->text, &cli->out, STYLE_DIM, seconds);
    strbuf_char(&cli->text, '\n');
}

static void print_for_people(ApplyWatch *watch, const ApplyResult *result, const CheckResultVec *checks,
                             bool is_failure) {
    Cli *cli = watch->cli;
    const RunSummary *summary = &result->summary;
    if (is_failure && summary->built == 0) {
        return;
    }
    if (summary->is_empty) {
        if (watch->options->verb == WINDOW_APPLY) {
            plan_text_append(cli, result->plan, (PlanTextOptions){0});
        } else {
            cli_line(cli, "nothing selected");
        }
        return;
    }
    if (!cli_is_quiet(cli) && summary->built > 0) {
        print_built_models(cli, result);
    }
    if (!cli_is_quiet(cli) && checks->count > 0) {
        print_checks_line(cli, checks);
    }
    if (!cli_is_quiet(cli)) {
        print_gated_line(cli, summary);
    }
    print_final_line(cli, summary, watch->options->verb, is_failure);
}

/* --- Result for programs ---------------------------------------------------------------------------------------------
 */

static void print_tasks(const ApplyWatch *watch, const ApplyResult *result, JsonWriter *writer) {
    if (watch->options->verb != WINDOW_APPLY && result->targets != NULL) {
        json_key(writer, STR("tasks"));
        run_json_write_tasks(result->plan, result->targets, watch->options->verb, result->models, writer);
    }
}

static void print_document(ApplyWatch *watch, const ApplyResult *result, const CheckResultVec *checks,
                           const ErrorList *faults) {
    Cli *cli = watch->cli;
    JsonWriter *writer = cli_json_begin(cli);
    json_begin_object(writer);
    if (faults->count > 0) {
        report_write_json(faults, writer, cli->arena);
    }
    apply_write_response(result, checks, writer);
    print_tasks(watch, result, writer);
    json_end_object(writer);
    cli_json_end(cli);
}

static void print_result(ApplyWatch *watch, const ApplyResult *result, const ErrorList *faults, bool is_failure) {
    Cli *cli = watch->cli;
    CheckResultVec checks = {0};
    if (result != NULL) {
        checks = all_checks(watch, result);
    }
    if (cli_wants_json_lines(cli)) {
        apply_append_summary_line(result, &checks, faults, &cli->text);
    } else if (result == NULL) {
        return; /* failed before there was a plan: only the errors are told */
    } else if (cli_wants_json(cli)) {
        print_document(watch, result, &checks, faults);
    } else {
        print_for_people(watch, result, &checks, is_failure);
    }
}

/* --- Command ---------------------------------------------------------------------------------------------------------
 */

static void read_options(const Invocation *invocation, ApplyOptions *options) {
    options->environment = invocation_text(invocation, OPTION_ENV);
    options->select = invocation_list(invocation, OPTION_SELECT);
    options->exclude = invocation_list(invocation, OPTION_EXCLUDE);
    options->from = invocation_text(invocation, OPTION_FROM);
    options->forward_only = invocation_flag(invocation, OPTION_FORWARD_ONLY);
    options->force = invocation_flag(invocation, OPTION_FORCE);
    options->keep_going = invocation_flag(invocation, OPTION_KEEP_GOING);
    options->note = invocation_text(invocation, OPTION_NOTE);
    options->strict = invocation_flag(invocation, OPTION_STRICT);
    options->parallelism = (size_t)invocation_number(invocation, OPTION_PARALLELISM);
    options->lock_timeout_us = invocation_number(invocation, OPTION_LOCK_TIMEOUT);
}

static Status carry_out(ApplyWatch *watch, ErrorList *faults) {
    Cli *cli = watch->cli;
    AUTO(session) Session *session = NULL;
    AUTO(apply_result) ApplyResult *result = NULL;
    EventSink events = {.emit = watch_event, .context = watch};
    Status status = cli_open_session(cli, events, &session, faults);
    if (!failed(status)) {
        status = apply(session, watch->options, &result, faults);
    }
    console_end_live(cli->console);
    print_result(watch, result, faults, failed(status));
    return status;
}

static Status command_build(Cli *cli, WindowVerb verb, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(arena) Arena *arena = arena_create();
    ApplyOptions options = {0};
    read_options(cli->invocation, &options);
    CLI_TRY(run_options_read(cli, verb, &options, &err));
    if (invocation_flag(cli->invocation, OPTION_DRY_RUN)) {
        return verb == WINDOW_APPLY ? command_plan(cli, faults) : run_dry(cli, &options, faults);
    }
    ApplyWatch watch = {.cli = cli, .options = &options, .arena = arena};
    return carry_out(&watch, faults);
}

Status command_apply(Cli *cli, ErrorList *faults) {
    return command_build(cli, WINDOW_APPLY, faults);
}

Status command_run(Cli *cli, ErrorList *faults) {
    bool audits = invocation_flag(cli->invocation, OPTION_AUDIT);
    return audits ? backfill_instead(cli, WINDOW_RUN, faults) : command_build(cli, WINDOW_RUN, faults);
}

Status command_restate(Cli *cli, ErrorList *faults) {
    bool audits = invocation_flag(cli->invocation, OPTION_AUDIT);
    return audits ? backfill_instead(cli, WINDOW_RESTATE, faults) : command_build(cli, WINDOW_RESTATE, faults);
}
