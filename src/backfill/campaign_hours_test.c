/* When a campaign may begin a batch (spec 04 §5). */
#include "backfill/campaign_hours.h"

#include "base/testing.h"

#define HOUR_US ((int64_t)3600 * 1000000)

static void hours_may_go_over_midnight(void **state) {
    (void)state;
    const struct {
        const char *hours;
        int64_t half_hours; /* since 1970-01-01, or before it */
        bool holds;
    } cases[] = {
        {"22:00-06:00", 44, true},  {"22:00-06:00", 43, false},    {"22:00-06:00", 0, true},
        {"22:00-06:00", 11, true},  {"22:00-06:00", 12, false},    {"09:30-17:00", 19, true},
        {"09:30-17:00", 18, false}, {"09:30-17:00", 34, false},    {"00:00-23:59:59", 47, true},
        {"22:00-06:00", -4, true},  {"22:00-06:00", -5, false},    {"22:00-06:00", 48 * 20000 + 44, true},
        {"00:00-12:00", 24, false}, {"23:59:59-00:00", 47, false}, {"12:00-00:00", 47, true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AUTO(error) Error err = {0};
        CampaignHours hours;
        assert_done(campaign_hours_parse(str_from(cases[i].hours), &hours, &err), &err);
        if (campaign_hours_hold(&hours, cases[i].half_hours * HOUR_US / 2) != cases[i].holds) {
            fail_msg("case %zu", i);
        }
    }
}

static void what_is_no_pair_of_times_is_refused(void **state) {
    (void)state;
    const char *const texts[] = {"",
                                 "22:00",
                                 "22:00-",
                                 "-06:00",
                                 "22-06",
                                 "24:00-06:00",
                                 "22:60-06:00",
                                 "22:00-06:00:60",
                                 "9:00-17:00",
                                 "22:00-06:00 ",
                                 "22:00-22:00",
                                 "+2:00-06:00",
                                 "22:00:-06:00",
                                 "-1:00-06:00",
                                 "22:00-06:00-07:00"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        AUTO(error) Error err = {0};
        CampaignHours hours;
        if (!failed(campaign_hours_parse(str_from(texts[i]), &hours, &err))) {
            fail_msg("'%s' was taken", texts[i]);
        }
        assert_int_equal(err.kind, ERROR_USAGE);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hours_may_go_over_midnight),
        cmocka_unit_test(what_is_no_pair_of_times_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
