/* Campaigns: what is asked for, and which of backfill/'s commands does it. */
#include "backfill/backfill.h"
#include "backfill/campaign_hours.h"
#include "cli/apply_json.h"
#include "cli/backfill_text.h"
#include "cli/commands.h"
#include "cli/run_options.h"

Status backfill_read_id(const Cli *cli, int64_t *id_out, Error *err) {
    Str text = invocation_argument(cli->invocation, 0);
    if (!str_to_int64(text, id_out) || *id_out < 1) {
        return error_set(err, ERROR_USAGE, "ID must be the number of a campaign; got '" STR_FMT "'", STR_ARG(text));
    }
    return OK;
}

/* ---- Options. */

static bool are_both(const Cli *cli, OptionId a, OptionId b) {
    return invocation_flag(cli->invocation, a) && invocation_flag(cli->invocation, b);
}

static Status read_options(const Cli *cli, CampaignOptions *options_out, Error *err) {
    const Invocation *invocation = cli->invocation;
    *options_out = (CampaignOptions){
        .environment = invocation_text(invocation, OPTION_ENV),
        .select = *invocation_list(invocation, OPTION_SELECT),
        .exclude = *invocation_list(invocation, OPTION_EXCLUDE),
        .start = invocation_text(invocation, OPTION_CAMPAIGN_START),
        .end = invocation_text(invocation, OPTION_END),
        .concurrency = invocation_number(invocation, OPTION_CONCURRENCY),
        .gaps = invocation_flag(invocation, OPTION_GAPS),
        .allow_refused = invocation_flag(invocation, OPTION_ALLOW_REFUSED),
        .no_stale = invocation_flag(invocation, OPTION_NO_STALE),
        .delivers = invocation_flag(invocation, OPTION_DELIVER),
        .max_us = invocation_number(invocation, OPTION_MAX_TIME),
        .max_rows = invocation_number(invocation, OPTION_MAX_ROWS),
        .max_windows = invocation_number(invocation, OPTION_MAX_WINDOWS),
    };
    if (options_out->start.size == 0) {
        return error_set(err, ERROR_USAGE, "--start is missing: from when on is the past to be computed anew?");
    }
    if (are_both(cli, OPTION_GAPS, OPTION_RESTATE) || are_both(cli, OPTION_AUDIT, OPTION_NO_AUDIT)) {
        return error_set(err, ERROR_USAGE, "--gaps and --restate, --audit and --no-audit exclude each other");
    }
    TRY(window_bound_check("--start", options_out->start, err));
    TRY(options_out->end.size > 0 ? window_bound_check("--end", options_out->end, err) : OK);
    return run_batch_read(cli, &options_out->batch, err);
}

/* ---- Commands that need the project. */

/* So that `start --plan` finds what it was asked for. */
static Status keep_plan(Cli *cli, Session *session, const Campaign *campaign, Str id, Error *err) {
    StateStore *state = NULL;
    TRY(session_state_for_writing(session, &state, err));
    return state_plan_put(state, id, campaign_options_json(&campaign->options, cli->arena), err);
}

static Status show_plan(Cli *cli, const CampaignOptions *options, bool probes, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    AUTO(campaign) Campaign *campaign = NULL;
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
    TRY(campaign_open(session, options, probes, &campaign, faults));
    Str id = campaign_plan_id(campaign, cli->arena);
    CLI_TRY(keep_plan(cli, session, campaign, id, &err));
    CLI_TRY(probes ? campaign_probe(campaign, &err) : OK);
    backfill_print_plan(cli, campaign, id);
    return campaign_check(campaign, faults);
}

Status command_backfill_plan(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    CampaignOptions options;
    CLI_TRY(read_options(cli, &options, &err));
    return show_plan(cli, &options, invocation_flag(cli->invocation, OPTION_PROBE), faults);
}

static void take_event(void *context, const Event *event) {
    apply_tell_event(context, event);
}

/* How far it came is told in any case. */
static Status end_of_work(Cli *cli, Session *session, const Campaign *campaign, Status status, ErrorList *faults) {
    AUTO(error) Error err = {0};
    console_end_live(cli->console);
    if (cli_wants_json_lines(cli)) {
        CLI_TRY(backfill_print_summary_line(cli, session, campaign == NULL ? 0 : campaign->id, faults, &err));
    } else if (campaign != NULL && !(failed(status) && cli_wants_json(cli))) {
        CLI_TRY(backfill_print_status(cli, session, campaign->id, &err));
    }
    return status;
}

static Status open_for_work(Cli *cli, Session **session_out, ErrorList *faults) {
    EventSink events = {.emit = take_event, .context = cli};
    Status status = cli_open_session(cli, events, session_out, faults);
    return failed(status) ? end_of_work(cli, NULL, NULL, status, faults) : OK;
}

static Status refuse_beside(const Cli *cli, const char *what, const OptionId *others, size_t count, Error *err) {
    for (size_t i = 0; i < count; i++) {
        if (cli->invocation->options[others[i]].is_given) {
            return error_set(err, ERROR_USAGE, "%s: --%s cannot stand beside it", what, option_table[others[i]].name);
        }
    }
    return OK;
}

static Status check_plan_alone(const Cli *cli, Error *err) {
    static const OptionId others[] = {OPTION_SELECT,        OPTION_EXCLUDE,  OPTION_CAMPAIGN_START, OPTION_END,
                                      OPTION_BATCH,         OPTION_GAPS,     OPTION_RESTATE,        OPTION_CONCURRENCY,
                                      OPTION_ALLOW_REFUSED, OPTION_NO_STALE, OPTION_MAX_TIME,       OPTION_MAX_ROWS,
                                      OPTION_MAX_WINDOWS,   OPTION_DELIVER};
    return refuse_beside(cli, "--plan says all of it", others, COUNT_OF(others), err);
}

static Status check_hours(const Cli *cli, Error *err) {
    CampaignHours hours;
    Str text = invocation_text(cli->invocation, OPTION_HOURS);
    return text.size > 0 ? campaign_hours_parse(text, &hours, err) : OK;
}

/* What was asked for then, with what was no matter of the plan as it is asked for now. */
static Status find_plan(Cli *cli, Session *session, Str plan, CampaignOptions *options_out, Error *err) {
    StateStore *state = NULL;
    Str json = STR_EMPTY;
    TRY(session_state_for_reading(session, &state, err));
    TRY(state_plan_find(state, plan, cli->arena, &json, err));
    return campaign_options_read(json, cli->arena, options_out, err);
}

static void take_late_options(const Cli *cli, CampaignOptions *options) {
    const Invocation *invocation = cli->invocation;
    options->newest_first = str_equal(invocation_text(invocation, OPTION_ORDER), STR("newest"));
    options->skips_audit = invocation_flag(invocation, OPTION_NO_AUDIT);
    options->publishes = str_equal(invocation_text(invocation, OPTION_PUBLISH), STR("auto"));
    options->note = invocation_text(invocation, OPTION_NOTE);
    options->hours = invocation_text(invocation, OPTION_HOURS);
}

static Status read_options_of_run(const Cli *cli, WindowVerb verb, CampaignOptions *options_out, Error *err) {
    static const OptionId others[] = {OPTION_CATCH_UP, OPTION_PARALLELISM, OPTION_KEEP_GOING, OPTION_STRICT};
    const Invocation *invocation = cli->invocation;
    ApplyOptions asked = {0};
    TRY(run_options_read(cli, verb, &asked, err));
    TRY(refuse_beside(cli, "--audit makes a campaign of it", others, COUNT_OF(others), err));
    if (asked.start.size == 0) {
        return error_set(err, ERROR_USAGE, "--audit needs --start: from when on?");
    }
    *options_out = (CampaignOptions){
        .environment = invocation_text(invocation, OPTION_ENV),
        .select = *invocation_list(invocation, OPTION_SELECT),
        .exclude = *invocation_list(invocation, OPTION_EXCLUDE),
        .start = asked.start,
        .end = asked.end,
        .batch = asked.batch,
        .concurrency = asked.concurrency,
        .newest_first = asked.newest_first,
        .gaps = verb == WINDOW_RUN,
        .note = invocation_text(invocation, OPTION_NOTE),
    };
    return OK;
}

static Status start(Cli *cli, const CampaignOptions *options, Str plan, Session *session, ErrorList *faults) {
    AUTO(campaign) Campaign *campaign = NULL;
    StartOptions how = {
        .plan = plan,
        .waits = invocation_flag(cli->invocation, OPTION_WAIT),
        .lock_timeout_us = invocation_number(cli->invocation, OPTION_LOCK_TIMEOUT),
    };
    Status status = backfill_start(session, options, &how, &campaign, faults);
    return end_of_work(cli, session, campaign, status, faults);
}

Status backfill_instead(Cli *cli, WindowVerb verb, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    CampaignOptions options;
    CLI_TRY(read_options_of_run(cli, verb, &options, &err));
    if (invocation_flag(cli->invocation, OPTION_DRY_RUN)) {
        return show_plan(cli, &options, false, faults);
    }
    TRY(open_for_work(cli, &session, faults));
    return start(cli, &options, STR_EMPTY, session, faults);
}

Status command_backfill_start(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    CampaignOptions options;
    Str plan = invocation_text(cli->invocation, OPTION_PLAN);
    CLI_TRY(plan.size > 0 ? check_plan_alone(cli, &err) : read_options(cli, &options, &err));
    CLI_TRY(check_hours(cli, &err));
    TRY(open_for_work(cli, &session, faults));
    if (plan.size > 0 && failed(find_plan(cli, session, plan, &options, &err))) {
        error_list_take(faults, &err);
        return end_of_work(cli, session, NULL, FAILED, faults);
    }
    take_late_options(cli, &options);
    return start(cli, &options, plan, session, faults);
}

Status command_backfill_resume(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    AUTO(campaign) Campaign *campaign = NULL;
    int64_t id;
    CLI_TRY(backfill_read_id(cli, &id, &err));
    TRY(open_for_work(cli, &session, faults));
    Status status =
        backfill_resume(session, id, invocation_number(cli->invocation, OPTION_LOCK_TIMEOUT), &campaign, faults);
    return end_of_work(cli, session, campaign, status, faults);
}

static Status publish_or_revert(Cli *cli, Status (*command)(Session *, int64_t, const PublishOptions *, ErrorList *),
                                ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    int64_t id;
    PublishOptions options = {
        .note = invocation_text(cli->invocation, OPTION_NOTE),
        .rebases = invocation_flag(cli->invocation, OPTION_REBASE),
        .accepted = *invocation_list(cli->invocation, OPTION_ACCEPT),
        .lock_timeout_us = invocation_number(cli->invocation, OPTION_LOCK_TIMEOUT),
    };
    CLI_TRY(backfill_read_id(cli, &id, &err));
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
    TRY(command(session, id, &options, faults));
    CLI_TRY(backfill_print_status(cli, session, id, &err));
    return OK;
}

Status command_backfill_publish(Cli *cli, ErrorList *faults) {
    return publish_or_revert(cli, backfill_publish, faults);
}

Status command_backfill_revert(Cli *cli, ErrorList *faults) {
    return publish_or_revert(cli, backfill_revert, faults);
}

static Status move(Cli *cli, CampaignState to, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    int64_t id;
    CLI_TRY(backfill_read_id(cli, &id, &err));
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
    CLI_TRY(backfill_move(session, id, to, &err));
    CLI_TRY(backfill_print_status(cli, session, id, &err));
    return OK;
}

Status command_backfill_pause(Cli *cli, ErrorList *faults) {
    return move(cli, CAMPAIGN_PAUSED, faults);
}

Status command_backfill_cancel(Cli *cli, ErrorList *faults) {
    return move(cli, CAMPAIGN_CANCELLED, faults);
}

Status command_backfill_discard(Cli *cli, ErrorList *faults) {
    return move(cli, CAMPAIGN_DISCARDED, faults);
}
