/* Batches by rows (spec 04 §3). A grain is one day; days are small numbers here. */
#include "window/row_batches.h"
#include "window/wall_fixture.h"

#define DAY_US (INT64_C(86400) * 1000000)

static const Grain one_day = {.size_us = DAY_US};

static void add_numbers(const char *text, int64_t *numbers, size_t *count_out) {
    Str rest = str_from(text);
    *count_out = 0;
    while (rest.size > 0) {
        size_t end = 0;
        while (end < rest.size && rest.ptr[end] >= '0' && rest.ptr[end] <= '9') {
            end++;
        }
        assert_true(str_to_int64(str_slice(rest, 0, end), &numbers[(*count_out)++]));
        rest = str_skip(rest, end < rest.size ? end + 1 : end);
    }
}

/* "1-4 5-7": days */
static IntervalSet set_of_days(const char *text) {
    int64_t numbers[32];
    size_t count;
    IntervalSet set = {0};
    add_numbers(text, numbers, &count);
    for (size_t i = 0; i + 1 < count; i += 2) {
        interval_set_add(arena, &set, (Window){numbers[i] * DAY_US, numbers[i + 1] * DAY_US});
    }
    return set;
}

/* "1-2:50 3-5:7": rows of days */
static GrainRowsVec rows_of_days(const char *text) {
    int64_t numbers[96];
    size_t count;
    GrainRowsVec rows = {0};
    add_numbers(text, numbers, &count);
    for (size_t i = 0; i + 2 < count; i += 3) {
        Window window = {numbers[i] * DAY_US, numbers[i + 1] * DAY_US};
        grain_rows_vec_push(arena, &rows, (GrainRows){window, numbers[i + 2]});
    }
    return rows;
}

static Str text_of_batches(const WindowVec *batches) {
    AUTO(strbuf) StrBuf text = {0};
    for (size_t i = 0; i < batches->count; i++) {
        strbuf_format(&text, "%s%d-%d", i == 0 ? "" : " ", (int)(batches->items[i].start / DAY_US),
                      (int)(batches->items[i].end / DAY_US));
    }
    return strbuf_copy(&text, arena);
}

static void test_04_3_as_many_grains_as_stay_below_the_limit(void **state) {
    (void)state;
    static const struct {
        const char *set, *rows;
        int64_t most;
        const char *batches;
    } cases[] = {
        {"1-5", "1-2:10 2-3:10 3-4:10 4-5:10", 20, "1-3 3-5"},
        {"1-5", "1-2:10 2-3:10 3-4:10 4-5:10", 19, "1-2 2-3 3-4 4-5"},
        {"1-5", "1-2:10 2-3:10 3-4:10 4-5:10", 40, "1-5"},
        {"1-5", "1-2:10 2-3:90 3-4:10 4-5:10", 20, "1-2 2-3 3-5"}, /* one grain holds more */
        {"1-5", "", 1, "1-5"},                                     /* no rows anywhere */
        {"1-9", "3-4:10 6-7:10", 10, "1-6 6-9"},                   /* none but in these */
        {"1-3 4-6", "1-2:1 2-3:1 4-5:1 5-6:1", 100, "1-3 4-6"},    /* never across a hole */
        {"2-4", "1-2:50 2-3:5 3-4:5 4-5:50", 10, "2-4"},           /* rows beside the set do not count */
        {"1-11", "1-11:100", 30, "1-4 4-7 7-10 10-11"},            /* spread evenly */
        {"1-11", "1-11:5", 1, "1-3 3-5 5-7 7-9 9-11"},             /* less than a row a grain */
        {"1-3 5-11", "1-11:100", 40, "1-3 5-9 9-11"},              /* a count that reaches over the hole */
        {"1-4", "1-4:1000", 1, "1-2 2-3 3-4"},
        {"", "1-4:10", 5, ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        IntervalSet set = set_of_days(cases[i].set);
        GrainRowsVec rows = rows_of_days(cases[i].rows);
        WindowVec batches;
        row_batches(arena, &set, one_day, &rows, cases[i].most, &batches);
        assert_str(text_of_batches(&batches), cases[i].batches, cases[i].set);
    }
}

static int64_t rows_in(const int64_t *rows, Window window) {
    int64_t sum = 0;
    for (int64_t day = window.start / DAY_US; day < window.end / DAY_US; day++) {
        sum += rows[day];
    }
    return sum;
}

/* Random days: the batches are the set, none holds too much unless it is one grain, and none could take the next. */
static void test_04_3_batches_are_full_and_lose_nothing(void **state) {
    (void)state;
    for (int round = 0; round < 2000; round++) {
        int64_t rows[40];
        int64_t most = 1 + random_below(60);
        IntervalSet set = {0};
        GrainRowsVec counts = {0};
        for (int64_t day = 0; day < 40; day++) {
            Window window = {day * DAY_US, (day + 1) * DAY_US};
            rows[day] = random_below(3) == 0 ? 0 : random_below(30);
            if (random_below(4) > 0) {
                interval_set_add(arena, &set, window);
            }
            if (rows[day] > 0) {
                grain_rows_vec_push(arena, &counts, (GrainRows){window, rows[day]});
            }
        }
        WindowVec batches;
        IntervalSet joined = {0};
        row_batches(arena, &set, one_day, &counts, most, &batches);
        for (size_t i = 0; i < batches.count; i++) {
            Window batch = batches.items[i];
            assert_true(rows_in(rows, batch) <= most || grain_count(one_day, batch.start, batch.end) == 1);
            bool touches = i > 0 && batches.items[i - 1].end == batch.start;
            Window first = {batch.start, batch.start + DAY_US};
            assert_true(!touches || rows_in(rows, batches.items[i - 1]) + rows_in(rows, first) > most);
            interval_set_add(arena, &joined, batch);
        }
        assert_true(interval_set_equal(&joined, &set));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_04_3_as_many_grains_as_stay_below_the_limit),
        TEST(test_04_3_batches_are_full_and_lose_nothing),
    };
    return cmocka_run_group_tests_name("row_batches", tests, wall_setup, wall_teardown);
}
