#include "backfill/backfill.h"

#include "backfill/audit_verdict.h"
#include "backfill/campaign_area.h"
#include "backfill/campaign_deliver.h"
#include "backfill/campaign_publish.h"
#include "backfill/campaign_seal.h"
#include "backfill/campaign_work.h"
#include "base/log.h"
#include "run/cancel.h"
#include "run/command_lock.h"

#define LOOK_US (200 * 1000) /* between two looks at a campaign that is waited for */

static Status told(Status status, Error *err, ErrorList *faults) {
    if (failed(status)) {
        error_list_take(faults, err);
    }
    return status;
}

static Str lock_name(int64_t id, Arena *arena) {
    return str_format(arena, "campaign %lld", (long long)id);
}

static Status take_lock(StateStore *state, int64_t id, int64_t timeout_us, StateLock **lock_out, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    LockOptions options = {.name = lock_name(id, arena), .command = STR("backfill"), .timeout_us = timeout_us};
    return state_lock_acquire(state, &options, lock_out, err);
}

static Status refuse_state(int64_t id, Str now, const char *what, Error *err) {
    (void)error_set(err, ERROR_PLAN, "campaign %lld is " STR_FMT ": it cannot be %s", (long long)id, STR_ARG(now),
                    what);
    error_code(err, STR("campaign.state"));
    return FAILED;
}

/* From whatever state allows it. */
static Status move_to(StateStore *state, int64_t id, CampaignState to, const char *what, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    CampaignRecord record;
    bool is_moved = false;
    while (!is_moved) {
        CampaignState from;
        TRY(state_load_campaign(state, id, arena, &record, err));
        if (!campaign_state_find(record.state, &from) || !campaign_may_move(from, to)) {
            return refuse_state(id, record.state, what, err);
        }
        TRY(state_campaign_move(state, id, record.state, campaign_state_name(to), &is_moved, err));
    }
    return OK;
}

/* What is not dropped is gc's. */
static void drop_area(Session *session, int64_t id) {
    AUTO(error) Error err = {0};
    if (failed(campaign_area_drop(session, id, &err))) {
        session_note(session, "what campaign %lld made is left to gc: " STR_FMT, (long long)id, STR_ARG(err.message));
    }
}

/* ---- Publication. */

/* The warehouse goes with the lock, so the campaign is worked with no further. */
static void release(Campaign *campaign, StateLock *lock) {
    engine_release(TAKE(campaign->connection));
    command_release(campaign->session, lock);
}

static bool needs_note(const Campaign *campaign) {
    return str_equal(campaign->options.environment, STR("prod")) && campaign->record.note.size == 0 &&
           !campaign->session->project->config->notes_are_optional;
}

static Status refuse_noteless(const Campaign *campaign, Error *err) {
    (void)error_set(err, ERROR_PLAN, "campaign %lld changes what prod shows, and has no note that says why",
                    (long long)campaign->id);
    error_code(err, STR("campaign.note"));
    error_hint(err, "give it one: --note TEXT");
    return FAILED;
}

/* In any other state the publication itself says what is wrong. */
static Status pass_gate(const Campaign *campaign, const StrVec *accepted, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    CampaignRecord record;
    ConfigValue *report = NULL;
    TRY(state_load_campaign(campaign->state, campaign->id, arena, &record, err));
    if (!campaign_state_is(record.state, CAMPAIGN_AUDITED)) {
        return OK;
    }
    if (record.report_json.size > 0) {
        TRY(json_read(record.report_json, STR("audit"), arena, &report, err));
    }
    return audit_gate(report, campaign->id, accepted, err);
}

static Status publish_locked(Campaign *campaign, const PublishOptions *options, Error *err) {
    StateStore *state = NULL;
    StateLock *lock = NULL;
    if (options->note.size > 0) {
        TRY(state_campaign_note(campaign->state, campaign->id, options->note, err));
        campaign->record.note = options->note;
    }
    if (needs_note(campaign)) {
        return refuse_noteless(campaign, err);
    }
    TRY(pass_gate(campaign, &options->accepted, err));
    TRY(command_lock(campaign->session, STR("backfill publish"), options->lock_timeout_us, &state, &lock, err));
    Status status = campaign_publish(campaign, lock, err);
    release(campaign, lock);
    return status;
}

/* ---- Deliveries. */

static Status refuse_undelivered(const Campaign *campaign, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    Str state = STR_EMPTY;
    TRY(state_campaign_state(campaign->state, campaign->id, arena, &state, err));
    (void)error_set(err, ERROR_EXECUTION, "campaign %lld is " STR_FMT ", but not all of it is delivered",
                    (long long)campaign->id, STR_ARG(state));
    error_code(err, STR("campaign.delivery"));
    error_hint(err, "mend the cause, then `interlace backfill publish %lld` delivers what is left",
               (long long)campaign->id);
    return FAILED;
}

/* Of one that is published or reverted, and whose warehouse is closed. `anew`: what was delivered, too. */
static Status deliver(const Campaign *campaign, bool anew, int64_t lock_timeout_us, ErrorList *faults) {
    AUTO(error) Error err = {0};
    StateLock *lock = NULL;
    bool owes = false;
    TRY(told(campaign_owes_delivery(campaign, anew, &owes, &err), &err, faults));
    if (!owes) {
        return OK;
    }
    TRY(told(take_lock(campaign->state, campaign->id, 0, &lock, &err), &err, faults));
    Status status = campaign_deliver(campaign, lock, anew, lock_timeout_us, faults);
    state_lock_release(lock);
    return failed(status) ? told(refuse_undelivered(campaign, &err), &err, faults) : OK;
}

/* ---- Work. */

static Status rebase_locked(Campaign *campaign, StateLock *lock, ErrorList *faults) {
    AUTO(error) Error err = {0};
    size_t count = 0;
    bool goes_on;
    campaign->options.hours = STR_EMPTY; /* somebody waits for it now */
    if (failed(campaign_take_back_moved(campaign, lock, &count, &err)) ||
        (count > 0 && failed(move_to(campaign->state, campaign->id, CAMPAIGN_RUNNING, "rebased", &err)))) {
        error_list_take(faults, &err);
        return FAILED;
    }
    session_note(campaign->session, "%zu batch(es) of campaign %lld are computed anew", count, (long long)campaign->id);
    return count > 0 ? campaign_work(campaign, lock, &goes_on, faults) : OK;
}

/* Only of what waits to be published. */
static Status rebase(Campaign *campaign, ErrorList *faults) {
    AUTO(error) Error err = {0};
    StateLock *lock = NULL;
    if (!campaign_state_is(campaign->record.state, CAMPAIGN_AUDITED)) {
        return OK;
    }
    TRY(told(take_lock(campaign->state, campaign->id, 0, &lock, &err), &err, faults));
    Status status = rebase_locked(campaign, lock, faults);
    state_lock_release(lock);
    return status;
}

/* What another command cancelled or discarded meanwhile. */
static void drop_when_over(const Campaign *campaign) {
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err = {0};
    Str state = STR_EMPTY;
    if (failed(state_campaign_state(campaign->state, campaign->id, arena, &state, &err))) {
        log_debug("ignoring: " STR_FMT, STR_ARG(err.message)); /* gc drops it when it is over */
    } else if (campaign_state_is(state, CAMPAIGN_CANCELLED) || campaign_state_is(state, CAMPAIGN_DISCARDED)) {
        drop_area(campaign->session, campaign->id);
    }
}

/* Opened anew whenever its hours have come back. */
static Status work_through(Campaign **campaign, StateLock *lock, ErrorList *faults) {
    for (;;) {
        bool goes_on = false;
        Campaign *again = NULL;
        TRY(campaign_work(*campaign, lock, &goes_on, faults));
        if (!goes_on) {
            return OK;
        }
        TRY(campaign_open_created((*campaign)->session, (*campaign)->id, true, &again, faults));
        campaign_close(*campaign);
        *campaign = again;
    }
}

static Status work_and_publish(Campaign **campaign, int64_t lock_timeout_us, ErrorList *faults) {
    AUTO(error) Error err = {0};
    StateLock *lock = NULL;
    TRY(told(take_lock((*campaign)->state, (*campaign)->id, 0, &lock, &err), &err, faults));
    Status status = work_through(campaign, lock, faults);
    bool goes_on = !failed(status) && (*campaign)->options.publishes;
    drop_when_over(*campaign);
    if (!goes_on) {
        campaign_close_warehouse(*campaign);
    }
    state_lock_release(lock);
    if (!goes_on) {
        return status;
    }
    PublishOptions options = {.lock_timeout_us = lock_timeout_us};
    TRY(told(publish_locked(*campaign, &options, &err), &err, faults));
    return deliver(*campaign, false, lock_timeout_us, faults);
}

/* The id is that of what was asked for in the plan, where order, hours, audit and note did not matter yet. */
static Status check_plan(Campaign *campaign, Str plan, Error *err) {
    CampaignOptions asked = campaign->options;
    if (plan.size == 0) {
        return OK;
    }
    campaign->options.newest_first = campaign->options.skips_audit = campaign->options.publishes = false;
    campaign->options.hours = STR_EMPTY;
    Str id = campaign_plan_id(campaign, campaign->arena);
    campaign->options = asked;
    if (str_equal(id, plan)) {
        return OK;
    }
    (void)error_set(err, ERROR_PLAN, "plan " STR_FMT " does not hold any more: a model, a ledger or a source has moved",
                    STR_ARG(plan));
    error_code(err, STR("campaign.moved"));
    error_hint(err, "`interlace backfill plan` makes a new one");
    return FAILED;
}

/* ---- What a campaign may have to wait for. */

typedef struct Obstacle {
    int64_t campaign;   /* 0: none */
    bool has_warehouse; /* its process has the warehouse to itself; else it is under way over the same windows */
} Obstacle;

/* The campaign that an error of campaign_create says is in the way; 0: it says something else. */
static int64_t in_the_way(const Error *err) {
    int64_t id = 0;
    bool is_overlap = str_equal(error_detail_find(err, STR("code")), STR("campaign.overlap")) &&
                      str_to_int64(error_detail_find(err, STR("campaign")), &id);
    return is_overlap ? id : 0;
}

/* A process that lives has its lock. */
static bool is_worked_on(StateStore *state, int64_t id) {
    AUTO(error) Error held = {0};
    AUTO(state_lock) StateLock *lock = NULL;
    return failed(take_lock(state, id, 0, &lock, &held)) && held.kind == ERROR_LOCK;
}

/* The campaign on which a process works at this moment; 0: there is none. */
static Status find_worked_on(Session *session, int64_t *id_out, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    StateStore *state = NULL;
    CampaignRecordVec campaigns = {0};
    *id_out = 0;
    TRY(session_state_for_writing(session, &state, err));
    TRY(state_load_campaigns(state, arena, &campaigns, err));
    for (size_t i = 0; i < campaigns.count && *id_out == 0; i++) {
        const CampaignRecord *campaign = &campaigns.items[i];
        bool works = campaign_state_is(campaign->state, CAMPAIGN_RUNNING) && is_worked_on(state, campaign->id);
        *id_out = works ? campaign->id : 0;
    }
    return OK;
}

static bool is_locked_out(const ErrorList *faults) {
    return faults->count == 1 && str_equal(error_detail_find(&faults->items[0], STR("code")), STR("warehouse.locked"));
}

/* `campaign_out` NULL: an obstacle's end is to be waited for. */
static Status open_unless_held(Session *session, const CampaignOptions *options, bool waits, Campaign **campaign_out,
                               Obstacle *obstacle_out, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(error_list) ErrorList found = {0};
    Status status = campaign_open(session, options, true, campaign_out, &found);
    if (failed(status) && waits && is_locked_out(&found)) {
        obstacle_out->has_warehouse = true;
        TRY(told(find_worked_on(session, &obstacle_out->campaign, &err), &err, faults));
    }
    if (!failed(status) || obstacle_out->campaign != 0) {
        return OK;
    }
    for (size_t i = 0; i < found.count; i++) {
        error_list_take(faults, &found.items[i]);
    }
    return FAILED;
}

static Status plan_and_create(Session *session, const CampaignOptions *options, const StartOptions *how,
                              Campaign **campaign_out, Obstacle *obstacle_out, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(campaign) Campaign *campaign = NULL;
    TRY(open_unless_held(session, options, how->waits, &campaign, obstacle_out, faults));
    if (campaign == NULL) {
        return OK;
    }
    TRY(campaign_check(campaign, faults));
    TRY(told(check_plan(campaign, how->plan, &err), &err, faults));
    if (!failed(campaign_create(campaign, &err))) {
        *campaign_out = TAKE(campaign);
        return OK;
    }
    obstacle_out->campaign = how->waits ? in_the_way(&err) : 0;
    campaign_close_warehouse(campaign);
    return obstacle_out->campaign != 0 ? OK : told(FAILED, &err, faults);
}

static Status look_at(StateStore *state, const Obstacle *obstacle, bool *is_there_out, Error *err) {
    if (obstacle->has_warehouse) {
        *is_there_out = is_worked_on(state, obstacle->campaign);
        return OK;
    }
    return state_campaign_is_under_way(state, obstacle->campaign, is_there_out, err);
}

static Status wait_for_end(Session *session, const Obstacle *obstacle, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    StateStore *state = NULL;
    CampaignRecord other;
    TRY(session_state_for_writing(session, &state, err));
    TRY(state_load_campaign(state, obstacle->campaign, arena, &other, err));
    session_note(session, "waiting for campaign %lld (" STR_FMT ", by " STR_FMT ", since " STR_FMT ")%s",
                 (long long)other.id, STR_ARG(other.state), STR_ARG(other.who),
                 STR_ARG(time_format_iso(arena, other.created_at)),
                 obstacle->has_warehouse ? ", which has the warehouse open" : "");
    for (bool is_there = true; is_there;) {
        if (cancel_requested()) {
            return error_set(err, ERROR_INTERRUPTED, "interrupted while waiting for campaign %lld",
                             (long long)other.id);
        }
        nanosleep(&(struct timespec){.tv_nsec = LOOK_US * 1000}, NULL);
        TRY(look_at(state, obstacle, &is_there, err));
    }
    return OK;
}

/* Whoever ended it still has the warehouse for a moment, under one of these locks. */
static Status let_finish(Session *session, int64_t id, int64_t lock_timeout_us, Error *err) {
    StateStore *state = NULL;
    StateLock *lock = NULL;
    TRY(session_state_for_writing(session, &state, err));
    TRY(take_lock(state, id, lock_timeout_us, &lock, err));
    state_lock_release(lock);
    TRY(command_lock(session, STR("backfill start"), lock_timeout_us, &state, &lock, err));
    command_release(session, lock);
    return OK;
}

/* The files may have been edited meanwhile, and what they say now may be live. */
static Status wait_for(Session *session, const Obstacle *obstacle, int64_t lock_timeout_us, ErrorList *faults) {
    AUTO(error) Error err = {0};
    Project *project = NULL;
    TRY(told(wait_for_end(session, obstacle, &err), &err, faults));
    TRY(told(let_finish(session, obstacle->campaign, lock_timeout_us, &err), &err, faults));
    TRY(session_load_again(session, NULL, &project, faults));
    session->project = project;
    return OK;
}

/* ---- From inside. */

Status backfill_start(Session *session, const CampaignOptions *options, const StartOptions *how,
                      Campaign **campaign_out, ErrorList *faults) {
    while (*campaign_out == NULL) {
        Obstacle obstacle = {0};
        TRY(plan_and_create(session, options, how, campaign_out, &obstacle, faults));
        TRY(obstacle.campaign != 0 ? wait_for(session, &obstacle, how->lock_timeout_us, faults) : OK);
    }
    return work_and_publish(campaign_out, how->lock_timeout_us, faults);
}

Status backfill_resume(Session *session, int64_t id, int64_t lock_timeout_us, Campaign **campaign_out,
                       ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(campaign) Campaign *campaign = NULL;
    TRY(campaign_open_created(session, id, true, &campaign, faults));
    bool is_running = campaign_state_is(campaign->record.state, CAMPAIGN_RUNNING);
    TRY(is_running ? OK : told(move_to(campaign->state, id, CAMPAIGN_RUNNING, "resumed", &err), &err, faults));
    *campaign_out = TAKE(campaign);
    return work_and_publish(campaign_out, lock_timeout_us, faults);
}

/* ---- From outside. */

static Status audit_again(Campaign *campaign, Error *err) {
    StateLock *lock = NULL;
    if (!campaign_state_is(campaign->record.state, CAMPAIGN_AUDITED)) {
        return refuse_state(campaign->id, campaign->record.state, "compared anew", err);
    }
    TRY(take_lock(campaign->state, campaign->id, 0, &lock, err));
    Status status = campaign_seal(campaign, lock, CAMPAIGN_AUDITED, true, err);
    state_lock_release(lock);
    return status;
}

Status backfill_audit_again(Session *session, int64_t id, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(campaign) Campaign *campaign = NULL;
    TRY(campaign_open_created(session, id, true, &campaign, faults));
    return told(audit_again(campaign, &err), &err, faults);
}

/* With the lock, what it made is dropped, too; a process that works on it stops, and does so itself. */
static Status end_it(Session *session, StateStore *state, int64_t id, CampaignState to, Error *err) {
    const char *what = to == CAMPAIGN_CANCELLED ? "cancelled" : "discarded";
    StateLock *lock = NULL;
    AUTO(error) Error held = {0};
    if (failed(take_lock(state, id, 0, &lock, &held))) {
        if (held.kind == ERROR_LOCK) {
            return move_to(state, id, to, what, err);
        }
        error_move(err, &held);
        return FAILED;
    }
    Status status = move_to(state, id, to, what, err);
    if (!failed(status)) {
        status = campaign_area_drop(session, id, err);
    }
    session_close_engine(session);
    state_lock_release(lock);
    return status;
}

Status backfill_move(Session *session, int64_t id, CampaignState to, Error *err) {
    StateStore *state = NULL;
    TRY(session_state_for_writing(session, &state, err));
    return to == CAMPAIGN_PAUSED ? move_to(state, id, to, "paused", err) : end_it(session, state, id, to, err);
}

Status backfill_publish(Session *session, int64_t id, const PublishOptions *options, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(campaign) Campaign *campaign = NULL;
    bool owes = false;
    TRY(campaign_open_created(session, id, true, &campaign, faults));
    bool is_over = campaign_state_is(campaign->record.state, CAMPAIGN_PUBLISHED) ||
                   campaign_state_is(campaign->record.state, CAMPAIGN_REVERTED);
    TRY(is_over ? told(campaign_owes_delivery(campaign, false, &owes, &err), &err, faults) : OK);
    if (owes) { /* a try to deliver failed, or was killed */
        campaign_close_warehouse(campaign);
    } else {
        TRY(options->rebases ? rebase(campaign, faults) : OK);
        TRY(told(publish_locked(campaign, options, &err), &err, faults));
    }
    return deliver(campaign, false, options->lock_timeout_us, faults);
}

static Status revert_locked(Campaign *campaign, const PublishOptions *options, Error *err) {
    StateStore *state = NULL;
    StateLock *lock = NULL;
    if (options->note.size > 0) {
        TRY(state_campaign_note(campaign->state, campaign->id, options->note, err));
    }
    TRY(command_lock(campaign->session, STR("backfill revert"), options->lock_timeout_us, &state, &lock, err));
    Status status = campaign_revert(campaign, lock, err);
    if (!failed(status)) {
        drop_area(campaign->session, campaign->id);
    }
    release(campaign, lock);
    return status;
}

/* The project has the new versions of them: whatever is delivered now is made by these. */
static bool has_changed(const Campaign *campaign) {
    bool has_any = false;
    for (size_t i = 0; i < campaign->model_count; i++) {
        has_any = has_any || campaign->models[i].is_changed;
    }
    return has_any;
}

Status backfill_revert(Session *session, int64_t id, const PublishOptions *options, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(campaign) Campaign *campaign = NULL;
    TRY(campaign_open_created(session, id, true, &campaign, faults));
    TRY(told(revert_locked(campaign, options, &err), &err, faults));
    return has_changed(campaign) ? OK : deliver(campaign, true, options->lock_timeout_us, faults);
}

Status backfill_recover(Session *session, StateLock *lock, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    CampaignRecordVec campaigns = {0};
    StateStore *state = NULL;
    TRY(session_state_for_writing(session, &state, err));
    TRY(state_campaigns_interrupted(state, arena, &campaigns, err));
    for (size_t i = 0; i < campaigns.count; i++) {
        TRY(campaign_recover(session, campaigns.items[i].id, lock, err));
    }
    return OK;
}
