/* Which rows of its upstreams a batch of a campaign reads: what has to be done before it. */
#ifndef INTERLACE_BACKFILL_CAMPAIGN_READS_H
#define INTERLACE_BACKFILL_CAMPAIGN_READS_H

#include "backfill/campaign.h"

/* Sets the flags of the campaign's models, a flag each, whose rows `model` reads: by way of views and of inlined
 * queries too, which get their flags as well. */
void campaign_upstreams(const Campaign *campaign, const Model *model, bool *is_read);

/* What a window of the model cuts of the upstream's rows, by the column that cuts the upstream's own windows, when that
 * is all that it reads of them. NULL: it may read any. */
const WindowScan *campaign_cut(const Campaign *campaign, const CampaignModel *model, const CampaignModel *upstream);
/* A batch over `window` reads rows of the upstream's batch over `other`. */
bool campaign_cut_reads(const WindowScan *cut, Window window, Window other);

#endif
