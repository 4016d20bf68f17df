/* The batches of a campaign, carried out (spec 04 §5). */
#ifndef INTERLACE_BACKFILL_CAMPAIGN_WORK_H
#define INTERLACE_BACKFILL_CAMPAIGN_WORK_H

#include "backfill/campaign.h"

/* Does what is not done yet, and seals: running → audited. When it fails the campaign has failed or is paused, and
 * `faults` says why; PlanError (code campaign.paused, campaign.cancelled): another command has stopped it. Needs a
 * campaign that was opened for writing, is running, and whose lock is held. Emits EVENT_MODEL_WINDOW.
 *
 * `goes_on_out`: its hours were over before all was done, and have begun again. The warehouse was closed meanwhile, so
 * the campaign is of no further use: who opens it anew goes on. */
MUST_CHECK Status campaign_work(Campaign *campaign, StateLock *lock, bool *goes_on_out, ErrorList *faults);

/* Of one that is sealed: batches whose published windows have moved since, and those that read them, are to be done
 * again. `count_out`: how many. The lock is the campaign's. */
MUST_CHECK Status campaign_take_back_moved(Campaign *campaign, StateLock *lock, size_t *count_out, Error *err);

#endif
