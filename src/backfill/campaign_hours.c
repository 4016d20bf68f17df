#include "backfill/campaign_hours.h"

#include "base/civil.h"

/* 22:00 or 22:00:30. */
static bool read_time(Str text, int64_t *us_out) {
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error ignored = {0}; /* the caller says what is expected */
    CivilTime time;
    Str on_a_day = str_format(arena, "1970-01-01T" STR_FMT, STR_ARG(text));
    if (text.size > strlen("22:00:30") || failed(civil_time_parse(on_a_day, &time, &ignored)) || time.has_offset) {
        return false;
    }
    *us_out = time.time_of_day_us;
    return true;
}

Status campaign_hours_parse(Str text, CampaignHours *hours_out, Error *err) {
    size_t dash = str_find_char(text, '-');
    if (dash == STR_NOT_FOUND || !read_time(str_slice(text, 0, dash), &hours_out->start_us) ||
        !read_time(str_skip(text, dash + 1), &hours_out->end_us) || hours_out->start_us == hours_out->end_us) {
        return error_set(err, ERROR_USAGE, "--hours: expected two times of a day, as in 22:00-06:00; got '" STR_FMT "'",
                         STR_ARG(text));
    }
    return OK;
}

bool campaign_hours_hold(const CampaignHours *hours, WallUs now) {
    int64_t time = ((now % US_PER_DAY) + US_PER_DAY) % US_PER_DAY;
    if (hours->start_us <= hours->end_us) {
        return hours->start_us == hours->end_us || (time >= hours->start_us && time < hours->end_us);
    }
    return time >= hours->start_us || time < hours->end_us;
}
