/* Terminal models of a campaign: delivered outside of the warehouse once the others are published, and again once they
 * are put back (spec 04 §7). */
#ifndef INTERLACE_BACKFILL_CAMPAIGN_DELIVER_H
#define INTERLACE_BACKFILL_CAMPAIGN_DELIVER_H

#include "backfill/campaign.h"

/* Whether anything is still to be delivered; `anew`: or once more. */
MUST_CHECK Status campaign_owes_delivery(const Campaign *campaign, bool anew, bool *owes_out, Error *err);

/* Each that is not delivered yet (`anew`: each), over the campaign's range, as `restate` does it: from what the
 * environment shows. One that fails does not stop the others. The campaign is published or reverted, its lock held, its
 * warehouse closed. */
MUST_CHECK Status campaign_deliver(const Campaign *campaign, StateLock *lock, bool anew, int64_t lock_timeout_us,
                                   ErrorList *faults);

#endif
