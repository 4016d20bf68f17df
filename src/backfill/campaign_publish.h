/* What a campaign made becomes what readers see, all of it in one step; and back (spec 04 §7). README.md says what
 * makes it true when the process dies in between. */
#ifndef INTERLACE_BACKFILL_CAMPAIGN_PUBLISH_H
#define INTERLACE_BACKFILL_CAMPAIGN_PUBLISH_H

#include "backfill/campaign.h"

/* audited → published. The lock is that of `apply`. PlanError, and nothing has changed: campaign.state, it is not
 * audited; campaign.moved names published windows that are not what the campaign was compared with. */
MUST_CHECK Status campaign_publish(Campaign *campaign, StateLock *lock, Error *err);

/* published → reverted: the rows that were replaced are put back. PlanError (campaign.moved): the windows have been
 * written since; (campaign.gone) what was replaced is not kept any more. */
MUST_CHECK Status campaign_revert(Campaign *campaign, StateLock *lock, Error *err);

/* A publication or a revert that a dead process left: finished when its transaction was committed, else forgotten.
 * Under the lock `apply`; notes what it did. */
MUST_CHECK Status campaign_recover(Session *session, int64_t id, StateLock *lock, Error *err);

#endif
