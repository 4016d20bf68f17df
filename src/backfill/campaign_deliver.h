/* Terminal models of a campaign: delivered outside of the warehouse once the others are published, and again once they
 * are put back (spec 04 §7). */
#ifndef INTERLACE_BACKFILL_CAMPAIGN_DELIVER_H
#define INTERLACE_BACKFILL_CAMPAIGN_DELIVER_H

#include "backfill/campaign.h"

/* Whether anything is still to be delivered. */
MUST_CHECK Status campaign_owes_delivery(const Campaign *campaign, bool *owes_out, Error *err);

/* Each that is not delivered yet, over the campaign's range, as `restate` does it: from what the environment shows. One
 * that fails does not stop the others. The campaign is published or reverted, its lock held, its connection and the
 * warehouse closed. */
MUST_CHECK Status campaign_deliver(const Campaign *campaign, StateLock *lock, int64_t lock_timeout_us,
                                   ErrorList *faults);

/* All of them are to be delivered again. */
MUST_CHECK Status campaign_deliver_anew(const Campaign *campaign, StateLock *lock, Error *err);

#endif
