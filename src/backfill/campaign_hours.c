#include "backfill/campaign_hours.h"

#define SECOND_US ((int64_t)1000000)
#define DAY_US (86400 * SECOND_US)

/* A number of two digits below `limit`, taken off the front. */
static bool take_number(Str *rest, int64_t limit, int64_t *number_out) {
    bool is_taken = rest->size >= 2 && str_to_int64(str_slice(*rest, 0, 2), number_out) && *number_out >= 0 &&
                    *number_out < limit && rest->ptr[0] != '+';
    *rest = is_taken ? str_skip(*rest, 2) : *rest;
    return is_taken;
}

static bool take_colon(Str *rest) {
    bool is_there = str_starts_with(*rest, STR(":"));
    *rest = is_there ? str_skip(*rest, 1) : *rest;
    return is_there;
}

/* 22:00 or 22:00:30. */
static bool read_time(Str text, int64_t *us_out) {
    int64_t hour = 0;
    int64_t minute = 0;
    int64_t second = 0;
    Str rest = text;
    bool is_time = take_number(&rest, 24, &hour) && take_colon(&rest) && take_number(&rest, 60, &minute) &&
                   (!take_colon(&rest) || take_number(&rest, 60, &second)) && rest.size == 0;
    *us_out = (hour * 3600 + minute * 60 + second) * SECOND_US;
    return is_time;
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
    int64_t time = ((now % DAY_US) + DAY_US) % DAY_US;
    if (hours->start_us <= hours->end_us) {
        return hours->start_us == hours->end_us || (time >= hours->start_us && time < hours->end_us);
    }
    return time >= hours->start_us || time < hours->end_us;
}
