/* The hours of a day in which a campaign begins batches (spec 04 §5), in the project's zone. */
#ifndef INTERLACE_BACKFILL_CAMPAIGN_HOURS_H
#define INTERLACE_BACKFILL_CAMPAIGN_HOURS_H

#include "window/grain.h"

/* [start, end) in microseconds since midnight; over midnight when the end is the smaller one. Equal: all day. */
typedef struct CampaignHours {
    int64_t start_us, end_us;
} CampaignHours;

/* "22:00-06:00", with seconds where somebody wants them. UsageError: no two times of a day, or the same one twice. */
MUST_CHECK Status campaign_hours_parse(Str text, CampaignHours *hours_out, Error *err);
bool campaign_hours_hold(const CampaignHours *hours, WallUs now);

#endif
