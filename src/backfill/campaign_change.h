/* Changed models: the environment serves another version of them than the project has now. The campaign computes with
 * the new one; publication makes it live, as a forward-only promotion does (spec 02 §13), with the windows replaced. */
#ifndef INTERLACE_BACKFILL_CAMPAIGN_CHANGE_H
#define INTERLACE_BACKFILL_CAMPAIGN_CHANGE_H

#include "backfill/campaign.h"

/* Before targets are decided: tasks whose new version goes on from a copy of what the environment shows say so. */
void campaign_read_histories(Campaign *campaign);

/* The target of a model as it was decided, in its two parts: what is shown, and where publication puts the rows. That
 * is another relation, too, where the shown one belongs to another environment (copy-on-write, spec 04 §2), and of
 * views over such. */
void campaign_take_target(Campaign *campaign, CampaignModel *model, const BuildTarget *decided);

/* Of a changed one that cannot take part; else it is noted that it has changed. Upstreams come first. */
bool campaign_refuse_change(const Campaign *campaign, CampaignModel *model);

/* Its new query is described, over relations that stand in for those of changed upstreams; refused, when its columns
 * do not fit the rows that are kept. Then a relation stands in for it, too: temporary, of campaign->connection. */
MUST_CHECK Status campaign_stand_in(Campaign *campaign, CampaignModel *model, Error *err);

#endif
