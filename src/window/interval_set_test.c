/* Sets of intervals (spec 02 §11). Times are small numbers here: the sets know no calendar but by a grain. */
#include "window/wall_fixture.h"

/* "1-3 5-7" */
static Str text_of(const IntervalSet *set) {
    AUTO(strbuf) StrBuf text = {0};
    for (size_t i = 0; i < set->count; i++) {
        strbuf_format(&text, "%s%lld-%lld", i == 0 ? "" : " ", (long long)set->items[i].start,
                      (long long)set->items[i].end);
    }
    return strbuf_copy(&text, arena);
}

static IntervalSet set_of(const char *text) {
    IntervalSet set = {0};
    Str rest = str_from(text);
    while (rest.size > 0) {
        size_t end = str_find_char(rest, ' ');
        Str item = str_slice(rest, 0, end);
        size_t dash = str_find_char(item, '-');
        Window window;
        assert_true(str_to_int64(str_slice(item, 0, dash), &window.start));
        assert_true(str_to_int64(str_skip(item, dash + 1), &window.end));
        interval_set_add(arena, &set, window);
        rest = end == STR_NOT_FOUND ? STR_EMPTY : str_skip(rest, end + 1);
    }
    return set;
}

static void test_02_11_1_add_merges_what_overlaps_and_what_touches(void **state) {
    (void)state;
    static const struct {
        const char *set, *expected;
        Window added;
    } cases[] = {
        {"", "1-3", {1, 3}},
        {"1-3", "1-5", {3, 5}},
        {"3-5", "1-5", {1, 3}},
        {"1-3", "1-3 4-5", {4, 5}},
        {"4-5", "1-3 4-5", {1, 3}},
        {"1-9", "1-9", {3, 5}},
        {"3-5", "1-9", {1, 9}},
        {"1-3 5-7", "1-7", {3, 5}},
        {"1-3 5-7", "1-7", {2, 6}},
        {"1-3 5-7 9-11", "1-3 5-11", {6, 9}},
        {"1-3 5-7 9-11 13-15", "0-16", {0, 16}},
        {"1-3 9-11", "1-3 5-7 9-11", {5, 7}},
        {"1-3", "1-3", {1, 3}},
        {"1-3", "1-3", {2, 2}},
        {"1-3", "1-3", {7, 5}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        IntervalSet set = set_of(cases[i].set);
        interval_set_add(arena, &set, cases[i].added);
        assert_str(text_of(&set), cases[i].expected, cases[i].set);
    }
}

static void test_02_11_1_remove_splits(void **state) {
    (void)state;
    static const struct {
        const char *set, *expected;
        Window removed;
    } cases[] = {
        {"1-9", "1-3 5-9", {3, 5}},     {"1-9", "5-9", {1, 5}},
        {"1-9", "1-5", {5, 9}},         {"1-9", "", {1, 9}},
        {"1-9", "", {0, 10}},           {"1-3 5-7 9-11", "1-2 10-11", {2, 10}},
        {"1-3 5-7", "1-3 5-7", {3, 5}}, {"1-3 5-7", "1-3 5-7", {7, 9}},
        {"1-3 5-7", "1-3 5-7", {0, 1}}, {"1-3 5-7 9-11", "1-3 9-11", {4, 8}},
        {"1-9", "1-9", {5, 5}},         {"", "", {1, 5}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        IntervalSet set = set_of(cases[i].set);
        interval_set_remove(arena, &set, cases[i].removed);
        assert_str(text_of(&set), cases[i].expected, cases[i].set);
    }
}

static void test_02_11_1_missing_and_covers(void **state) {
    (void)state;
    static const struct {
        const char *set;
        Window range;
        const char *missing;
    } cases[] = {
        {"", {1, 5}, "1-5"},        {"1-5", {1, 5}, ""},        {"1-5", {2, 3}, ""},
        {"2-3", {1, 5}, "1-2 3-5"}, {"1-3 5-7", {2, 6}, "3-5"}, {"1-3 5-7", {0, 9}, "0-1 3-5 7-9"},
        {"1-3 5-7", {3, 5}, "3-5"}, {"1-3 5-7", {7, 9}, "7-9"}, {"1-3 5-7", {0, 1}, "0-1"},
        {"1-3", {2, 4}, "3-4"},     {"1-3 5-7", {4, 4}, ""},    {"1-3", {9, 2}, ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        IntervalSet set = set_of(cases[i].set);
        IntervalSet missing = interval_set_missing(arena, &set, cases[i].range);
        assert_str(text_of(&missing), cases[i].missing, cases[i].set);
        assert_int_equal(interval_set_covers(&set, cases[i].range), missing.count == 0);
    }
}

static void gaps_lie_inside_the_hull(void **state) {
    (void)state;
    IntervalSet set = set_of("1-3 5-7 20-21");
    IntervalSet gaps = interval_set_gaps(arena, &set);
    assert_str(text_of(&gaps), "3-5 7-20", "gaps");
    assert_int_equal(interval_set_hull(&set).start, 1);
    assert_int_equal(interval_set_hull(&set).end, 21);
    IntervalSet none = {0};
    gaps = interval_set_gaps(arena, &none);
    assert_int_equal(gaps.count, 0);
}

static void a_copy_is_apart(void **state) {
    (void)state;
    IntervalSet set = set_of("1-3 5-7");
    IntervalSet copy = interval_set_copy(arena, &set);
    assert_true(interval_set_equal(&set, &copy));
    interval_set_add(arena, &copy, (Window){3, 5});
    assert_false(interval_set_equal(&set, &copy));
    assert_str(text_of(&set), "1-3 5-7", "the source");
    interval_set_add_all(arena, &set, &copy);
    assert_true(interval_set_equal(&set, &copy));
    IntervalSet other = set_of("1-8");
    assert_false(interval_set_equal(&set, &other));
    IntervalSet none = {0};
    copy = interval_set_copy(arena, &none);
    assert_true(interval_set_equal(&none, &copy));
}

/* ---- Whole grains. */

#define DAY(n) ((n)*US_PER_DAY)
static const Grain one_day = {.size_us = US_PER_DAY};

static IntervalSet days(const char *text) {
    IntervalSet set = set_of(text);
    for (size_t i = 0; i < set.count; i++) {
        set.items[i] = (Window){DAY(set.items[i].start), DAY(set.items[i].end)};
    }
    return set;
}

static Str text_of_days(const IntervalSet *set) {
    IntervalSet scaled = interval_set_copy(arena, set);
    for (size_t i = 0; i < scaled.count; i++) {
        assert_int_equal(scaled.items[i].start % US_PER_DAY, 0);
        scaled.items[i] = (Window){scaled.items[i].start / US_PER_DAY, scaled.items[i].end / US_PER_DAY};
    }
    return text_of(&scaled);
}

static void test_02_11_2_due_is_what_is_not_filled(void **state) {
    (void)state;
    IntervalSet filled = days("1-3 5-7");
    IntervalSet due = interval_set_due(arena, &filled, one_day, (Window){DAY(1), DAY(9)});
    assert_str(text_of_days(&due), "3-5 7-9", "3, 4 and what is behind 6");
    due = interval_set_due(arena, &filled, one_day, (Window){DAY(1), DAY(8)});
    assert_int_equal(interval_set_grains(&due, one_day), 3);
    due = interval_set_due(arena, NULL, one_day, (Window){DAY(1), DAY(9)});
    assert_str(text_of_days(&due), "1-9", "all");
}

static void a_partly_filled_grain_is_due_whole(void **state) {
    (void)state;
    IntervalSet filled = {0};
    interval_set_add(arena, &filled, (Window){DAY(1), DAY(3) + 5});
    interval_set_add(arena, &filled, (Window){DAY(3) + 9, DAY(4) + 1});
    IntervalSet due = interval_set_due(arena, &filled, one_day, (Window){DAY(1), DAY(6)});
    assert_str(text_of_days(&due), "3-6", "3 has a hole, 4 is hardly begun");
    due = interval_set_due(arena, &filled, one_day, (Window){DAY(1), DAY(3)});
    assert_int_equal(due.count, 0);
}

static void test_02_12_batches_never_join_across_a_hole(void **state) {
    (void)state;
    static const struct {
        const char *set;
        int64_t grains;
        const char *batches;
    } cases[] = {
        {"1-31", 7, "1-8 8-15 15-22 22-29 29-31"},
        {"1-4", 1, "1-2 2-3 3-4"},
        {"1-4 5-7", 2, "1-3 3-4 5-7"},
        {"1-4 5-7", 100, "1-4 5-7"},
        {"1-3", INT64_MAX, "1-3"},
        {"", 1, ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        IntervalSet set = days(cases[i].set);
        WindowVec batches;
        interval_set_batches(arena, &set, one_day, cases[i].grains, &batches);
        IntervalSet as_items = {.items = batches.items, .count = batches.count};
        assert_str(text_of_days(&as_items), cases[i].batches, cases[i].set);
    }
}

/* ---- Against a model: one flag a moment. */

#define MOMENTS 48

static Window random_window(void) {
    int64_t start = random_below(MOMENTS);
    return (Window){start, start + random_below(MOMENTS - start + 1)};
}

static void mark(bool *model, Window window, bool value) {
    for (int64_t t = window.start; t < window.end; t++) {
        model[t] = value;
    }
}

/* The moments of `model` within the range that hold `value`, as the one normalised set there is. */
static IntervalSet set_of_model(const bool *model, Window range, bool value) {
    IntervalSet set = {0};
    for (int64_t t = range.start; t < range.end; t++) {
        bool joins = set.count > 0 && set.items[set.count - 1].end == t;
        if (model[t] == value && joins) {
            set.items[set.count - 1].end++;
        } else if (model[t] == value) {
            interval_vec_push(arena, &set, (Window){t, t + 1});
        }
    }
    return set;
}

/* Whole grains of `size` moments that lie in the range and are not wholly filled. */
static IntervalSet due_of_model(const bool *model, Window range, int64_t size) {
    bool due[MOMENTS] = {false};
    for (int64_t grain = range.start; grain < range.end; grain += size) {
        bool is_filled = true;
        for (int64_t t = grain; t < grain + size; t++) {
            is_filled = is_filled && model[t];
        }
        mark(due, (Window){grain, grain + size}, !is_filled);
    }
    return set_of_model(due, range, true);
}

static void assert_same(const IntervalSet *actual, const IntervalSet *expected, const char *what, int step) {
    if (!interval_set_equal(actual, expected)) {
        fail_msg("step %d, %s: '%s' is not '%s'", step, what, text_of(actual).ptr, text_of(expected).ptr);
    }
}

static void test_02_11_1_sets_behave_as_bitmaps(void **state) {
    (void)state;
    const Window all = {0, MOMENTS};
    const int64_t size = 6; /* WALL_MIN is a multiple of it: the grains of the set lie as those of the model */
    IntervalSet set = {0};
    bool model[MOMENTS] = {false};
    for (int step = 0; step < 20000; step++) {
        Window window = random_window();
        bool adds = random_below(2) == 0;
        if (adds) {
            interval_set_add(arena, &set, window);
        } else {
            interval_set_remove(arena, &set, window);
        }
        mark(model, window, adds);
        IntervalSet expected = set_of_model(model, all, true);
        assert_same(&set, &expected, "content", step);

        Window range = random_window();
        IntervalSet missing = interval_set_missing(arena, &set, range);
        expected = set_of_model(model, range, false);
        assert_same(&missing, &expected, "missing", step);
        assert_int_equal(interval_set_covers(&set, range), expected.count == 0);

        IntervalSet gaps = interval_set_gaps(arena, &set);
        expected = set_of_model(model, interval_set_hull(&set), false);
        assert_same(&gaps, &expected, "gaps", step);

        Window aligned = {range.start / size * size, range.end / size * size};
        IntervalSet due = interval_set_due(arena, &set, (Grain){.size_us = size}, aligned);
        expected = due_of_model(model, aligned, size);
        assert_same(&due, &expected, "due", step);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_02_11_1_add_merges_what_overlaps_and_what_touches),
        TEST(test_02_11_1_remove_splits),
        TEST(test_02_11_1_missing_and_covers),
        TEST(gaps_lie_inside_the_hull),
        TEST(a_copy_is_apart),
        TEST(test_02_11_2_due_is_what_is_not_filled),
        TEST(a_partly_filled_grain_is_due_whole),
        TEST(test_02_12_batches_never_join_across_a_hole),
        TEST(test_02_11_1_sets_behave_as_bitmaps),
    };
    return cmocka_run_group_tests_name("interval_set", tests, wall_setup, wall_teardown);
}
