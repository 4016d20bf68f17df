#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/plan_text.h"

#include "run/apply.h"
#include "run/bound_schemas.h"

#include <stdlib.h>

#define EXIT_CHANGES 3
#define EXIT_BREAKING 4

static Status check_options(const Cli *cli, Error *err) {
    if (cli_wants_json(cli) && invocation_flag(cli->invocation, OPTION_MARKDOWN)) {
        return error_set(err, ERROR_USAGE, "--json and --markdown exclude each other");
    }
    return OK;
}

static void print_plan(Cli *cli, const Plan *plan) {
    const Invocation *invocation = cli->invocation;
    if (cli_wants_json(cli) || cli_wants_json_lines(cli)) {
        JsonWriter *writer = cli_json_begin(cli);
        plan_write_json(plan, writer);
        cli_json_end(cli);
        return;
    }
    if (invocation_flag(invocation, OPTION_MARKDOWN)) {
        plan_write_markdown(plan, &cli->text);
        return;
    }
    PlanTextOptions options = {
        .explain = invocation_flag(invocation, OPTION_EXPLAIN),
        .diff = invocation_flag(invocation, OPTION_DIFF),
    };
    plan_text_append(cli, plan, options);
}

static int detailed_exit_code(const Plan *plan) {
    return plan->is_empty ? 0 : plan->is_breaking ? EXIT_BREAKING : EXIT_CHANGES;
}

static bool has_blocking(const Plan *plan) {
    for (size_t i = 0; i < plan->changes.count; i++) {
        if (plan->changes.items[i].blocking.size > 0) {
            return true;
        }
    }
    return false;
}

Status command_plan(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    AUTO(plan) Plan *plan = NULL;
    CLI_TRY(check_options(cli, &err));
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
    PlanOptions options = {
        .environment = invocation_text(cli->invocation, OPTION_ENV),
        .select = invocation_list(cli->invocation, OPTION_SELECT),
        .exclude = invocation_list(cli->invocation, OPTION_EXCLUDE),
        .forward_only = invocation_flag(cli->invocation, OPTION_FORWARD_ONLY),
        .from = invocation_text(cli->invocation, OPTION_FROM),
        .against = invocation_text(cli->invocation, OPTION_AGAINST),
    };
    TRY(plan_for_reading(session, &options, &plan, faults));
    TRY(plan_bind(session, plan, true, faults));
    print_plan(cli, plan);
    if (has_blocking(plan)) {
        cli->exit_code = EXIT_FAILURE;
    } else if (invocation_flag(cli->invocation, OPTION_DETAILED_EXIT_CODE)) {
        cli->exit_code = detailed_exit_code(plan);
    }
    return OK;
}
