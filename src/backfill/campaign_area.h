/* The relations of a campaign beside what readers see (README.md). */
#ifndef INTERLACE_BACKFILL_CAMPAIGN_AREA_H
#define INTERLACE_BACKFILL_CAMPAIGN_AREA_H

#include "backfill/campaign.h"

/* Makes what is missing of them: audit relations, empty, and overlays. */
MUST_CHECK Status campaign_area_make(const Campaign *campaign, Error *err);
/* Drops all of them, also those of `before`. */
MUST_CHECK Status campaign_area_drop(Session *session, int64_t id, Error *err);

/* The content of rows, so that it can be seen that they are the same: their number and a hash of all, whatever their
 * order. Of the columns of `like` but those of the wall clock. */
MUST_CHECK Status campaign_content(EngineConnection *connection, const Model *model, SqlRelation relation,
                                   SqlRelation like, Str condition, Arena *arena, Str *content_out, Error *err);
/* The condition on rows of the shown table, by its alias `shown`, that publication replaces. */
Str campaign_replaced_condition(const Campaign *campaign, const CampaignModel *model, Arena *arena);

#endif
