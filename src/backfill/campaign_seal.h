/* The end of a campaign's work: what was made, and what readers see meanwhile, is put on record. */
#ifndef INTERLACE_BACKFILL_CAMPAIGN_SEAL_H
#define INTERLACE_BACKFILL_CAMPAIGN_SEAL_H

#include "backfill/campaign.h"

/* From RUNNING, or from AUDITED once more, to AUDITED: with the report, unless it is not wanted. */
MUST_CHECK Status campaign_seal(Campaign *campaign, StateLock *lock, CampaignState from, bool with_report, Error *err);

/* Batches whose published rows are not what they were when the campaign was sealed; on its connection, in a transaction
 * that may be open there. */
MUST_CHECK Status campaign_find_moved(const Campaign *campaign, const CampaignBatchRecordVec *batches, Arena *arena,
                                      IndexVec *moved_out, Error *err);
/* Of the audit relation; likewise. */
MUST_CHECK Status campaign_audited_content(const Campaign *campaign, const CampaignModel *model, Arena *arena,
                                           Str *content_out, Error *err);
Str campaign_batch_text(const Campaign *campaign, const CampaignBatchRecord *batch, Arena *arena); /* "m 2026-08-03" */

#endif
