/* The relations of a campaign beside what readers see (README.md). */
#ifndef INTERLACE_BACKFILL_CAMPAIGN_AREA_H
#define INTERLACE_BACKFILL_CAMPAIGN_AREA_H

#include "backfill/campaign.h"

/* Makes what is missing of them: audit relations, empty, and overlays. */
MUST_CHECK Status campaign_area_make(const Campaign *campaign, Error *err);
/* Or replaces it, on the campaign's connection. */
MUST_CHECK Status campaign_create_view(const Campaign *campaign, SqlRelation view, const SqlText *query, Error *err);
/* Drops all of them, also those of `before`. */
MUST_CHECK Status campaign_area_drop(Session *session, int64_t id, Error *err);

/* Those of them that are there, of all kinds. */
MUST_CHECK Status campaign_area_list(EngineConnection *connection, int64_t id, Arena *arena,
                                     OwnedRelationVec *relations_out, Error *err);

/* A hash of a row by the columns of `relation`, but those of the wall clock: an expression. */
MUST_CHECK Status campaign_row_hash(EngineConnection *connection, const Model *model, SqlRelation relation,
                                    Arena *arena, Str *hash_out, Error *err);
/* The content of rows, so that it can be seen that they are the same: their number and a hash of all, whatever their
 * order. */
MUST_CHECK Status campaign_content(EngineConnection *connection, Str row_hash, SqlRelation relation, Str condition,
                                   Arena *arena, Str *content_out, Error *err);
/* The condition on rows of the shown table that publication replaces: "ts" >= … AND …; of a model that is rebuilt whole
 * "true". */
Str campaign_replaced_condition(const Campaign *campaign, const CampaignModel *model, Arena *arena);

#endif
