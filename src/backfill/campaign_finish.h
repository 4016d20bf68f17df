/* The record of a publication, or of a revert, that the warehouse has committed: ledgers, pointers, change records and
 * the campaign's state, in one transaction. It stands on records alone, so that whoever finds it half done can finish
 * it. */
#ifndef INTERLACE_BACKFILL_CAMPAIGN_FINISH_H
#define INTERLACE_BACKFILL_CAMPAIGN_FINISH_H

#include "backfill/campaign.h"

/* Its publication made the environment show another version or revision. */
bool campaign_record_moves(const CampaignModelRecord *model);

/* Under the lock `apply`. */
MUST_CHECK Status campaign_finish(Session *session, int64_t id, StateLock *lock, bool is_revert, Error *err);

#endif
