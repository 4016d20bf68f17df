#include "backfill/campaign_state.h"

static const Str names[CAMPAIGN_STATE_COUNT] = {
    [CAMPAIGN_RUNNING] = STR_INIT("running"),       [CAMPAIGN_PAUSED] = STR_INIT("paused"),
    [CAMPAIGN_FAILED] = STR_INIT("failed"),         [CAMPAIGN_AUDITED] = STR_INIT("audited"),
    [CAMPAIGN_PUBLISHING] = STR_INIT("publishing"), [CAMPAIGN_PUBLISHED] = STR_INIT("published"),
    [CAMPAIGN_REVERTING] = STR_INIT("reverting"),   [CAMPAIGN_REVERTED] = STR_INIT("reverted"),
    [CAMPAIGN_CANCELLED] = STR_INIT("cancelled"),   [CAMPAIGN_DISCARDED] = STR_INIT("discarded"),
};

#define TO(state) (1U << CAMPAIGN_##state)
static const unsigned moves[CAMPAIGN_STATE_COUNT] = {
    [CAMPAIGN_RUNNING] = TO(PAUSED) | TO(FAILED) | TO(AUDITED) | TO(CANCELLED),
    [CAMPAIGN_PAUSED] = TO(RUNNING) | TO(CANCELLED) | TO(DISCARDED),
    [CAMPAIGN_FAILED] = TO(RUNNING) | TO(CANCELLED) | TO(DISCARDED),
    [CAMPAIGN_AUDITED] = TO(RUNNING) | TO(PUBLISHING) | TO(CANCELLED) | TO(DISCARDED),
    [CAMPAIGN_PUBLISHING] = TO(AUDITED) | TO(PUBLISHED),
    [CAMPAIGN_PUBLISHED] = TO(REVERTING),
    [CAMPAIGN_REVERTING] = TO(PUBLISHED) | TO(REVERTED),
};

Str campaign_state_name(CampaignState state) {
    return names[state];
}

bool campaign_state_find(Str name, CampaignState *state_out) {
    for (size_t i = 0; i < CAMPAIGN_STATE_COUNT; i++) {
        if (str_equal(name, names[i])) {
            *state_out = (CampaignState)i;
            return true;
        }
    }
    return false;
}

bool campaign_state_is(Str name, CampaignState state) {
    return str_equal(name, names[state]);
}

bool campaign_may_move(CampaignState from, CampaignState to) {
    return (moves[from] & 1U << to) != 0;
}
