/* States of a campaign, and the moves between them. */
#ifndef INTERLACE_BACKFILL_CAMPAIGN_STATE_H
#define INTERLACE_BACKFILL_CAMPAIGN_STATE_H

#include "base/str.h"

typedef enum CampaignState {
    CAMPAIGN_RUNNING,
    CAMPAIGN_PAUSED,
    CAMPAIGN_FAILED,
    CAMPAIGN_AUDITED,
    CAMPAIGN_PUBLISHING, /* between the intent and the record: see README.md */
    CAMPAIGN_PUBLISHED,
    CAMPAIGN_REVERTING,
    CAMPAIGN_REVERTED,
    CAMPAIGN_CANCELLED,
    CAMPAIGN_DISCARDED,
    CAMPAIGN_STATE_COUNT
} CampaignState;

Str campaign_state_name(CampaignState state); /* as it is stored */
bool campaign_state_is(Str name, CampaignState state);
bool campaign_state_find(Str name, CampaignState *state_out);
bool campaign_may_move(CampaignState from, CampaignState to);

#endif
