/* Campaigns: what is asked for, and which of backfill/'s commands does it. */
#include "backfill/backfill.h"
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
        .newest_first = str_equal(invocation_text(invocation, OPTION_ORDER), STR("newest")),
        .gaps = invocation_flag(invocation, OPTION_GAPS),
        .skips_audit = invocation_flag(invocation, OPTION_NO_AUDIT),
        .publishes = str_equal(invocation_text(invocation, OPTION_PUBLISH), STR("auto")),
        .allow_refused = invocation_flag(invocation, OPTION_ALLOW_REFUSED),
        .no_stale = invocation_flag(invocation, OPTION_NO_STALE),
        .note = invocation_text(invocation, OPTION_NOTE),
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

Status command_backfill_plan(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    AUTO(campaign) Campaign *campaign = NULL;
    CampaignOptions options;
    CLI_TRY(read_options(cli, &options, &err));
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
    TRY(campaign_open(session, &options, false, &campaign, faults));
    backfill_print_plan(cli, campaign);
    return campaign_check(campaign, faults);
}

static Status print_state(Cli *cli, Session *session, int64_t id, Error *err) {
    StateStore *state = NULL;
    TRY(session_state_for_reading(session, &state, err));
    return backfill_print_status(cli, state, id, err);
}

/* How far it came is told in any case. */
static Status end_of_work(Cli *cli, Session *session, const Campaign *campaign, Status status, ErrorList *faults) {
    AUTO(error) Error err = {0};
    if (campaign != NULL && !(failed(status) && cli_wants_json(cli))) {
        CLI_TRY(print_state(cli, session, campaign->id, &err));
    }
    return status;
}

Status command_backfill_start(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    AUTO(campaign) Campaign *campaign = NULL;
    CampaignOptions options;
    CLI_TRY(read_options(cli, &options, &err));
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
    Status status =
        backfill_start(session, &options, invocation_number(cli->invocation, OPTION_LOCK_TIMEOUT), &campaign, faults);
    return end_of_work(cli, session, campaign, status, faults);
}

Status command_backfill_resume(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    AUTO(campaign) Campaign *campaign = NULL;
    int64_t id;
    CLI_TRY(backfill_read_id(cli, &id, &err));
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
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
        .accepted = *invocation_list(cli->invocation, OPTION_ACCEPT),
        .lock_timeout_us = invocation_number(cli->invocation, OPTION_LOCK_TIMEOUT),
    };
    CLI_TRY(backfill_read_id(cli, &id, &err));
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
    TRY(command(session, id, &options, faults));
    CLI_TRY(print_state(cli, session, id, &err));
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
    CLI_TRY(print_state(cli, session, id, &err));
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
