/* The commands on campaigns: which lock each takes, and what it does in which order. */
#ifndef INTERLACE_BACKFILL_BACKFILL_H
#define INTERLACE_BACKFILL_BACKFILL_H

#include "backfill/campaign.h"

typedef struct StartOptions {
    Str plan;   /* the id of the plan that it must still be (PlanError, code campaign.moved); empty: as it is now */
    bool waits; /* for the end of a campaign over the same windows; else it is refused (PlanError, campaign.overlap) */
    int64_t lock_timeout_us;
} StartOptions;
/* Creates the campaign and works on it; publishes it where it was asked for. `campaign_out` is set as soon as there is
 * one, also when it fails; the caller closes it. */
MUST_CHECK Status backfill_start(Session *session, const CampaignOptions *options, const StartOptions *how,
                                 Campaign **campaign_out, ErrorList *faults);
/* Does what is not done of one that is paused, failed, or whose process died. LockError: its process lives. */
MUST_CHECK Status backfill_resume(Session *session, int64_t id, int64_t lock_timeout_us, Campaign **campaign_out,
                                  ErrorList *faults);

/* PAUSED, CANCELLED or DISCARDED; the last two drop what the campaign made, when no process works on it (else that one
 * does). PlanError (campaign.state): not from the state in which it is. */
MUST_CHECK Status backfill_move(Session *session, int64_t id, CampaignState to, Error *err);

/* Compares anew what is audited, with the published rows as they are now. PlanError (campaign.state): it is not
 * audited; LockError: another command works on it. */
MUST_CHECK Status backfill_audit_again(Session *session, int64_t id, ErrorList *faults);

typedef struct PublishOptions {
    Str note;        /* empty: the one that the campaign has */
    bool rebases;    /* windows that have moved since the audit are computed anew first */
    StrVec accepted; /* thresholds that need not hold: `model.measure` */
    int64_t lock_timeout_us;
} PublishOptions;
/* PlanError, SelectionError: see audit_gate. */
MUST_CHECK Status backfill_publish(Session *session, int64_t id, const PublishOptions *options, ErrorList *faults);
MUST_CHECK Status backfill_revert(Session *session, int64_t id, const PublishOptions *options, ErrorList *faults);

/* Publications and reverts that dead processes left; under the lock `apply`. */
MUST_CHECK Status backfill_recover(Session *session, StateLock *lock, Error *err);

#endif
