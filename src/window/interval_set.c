#include "window/interval_set.h"

static bool is_empty(Window window) {
    return window.start >= window.end;
}

/* Index of the first item that ends at or behind `t`. Ends ascend as starts do. */
static size_t first_ending_from(const IntervalSet *set, WallUs t) {
    size_t low = 0;
    size_t high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->items[middle].end < t) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Puts `count` (0 to 2) items in the place of [from, to). */
static void replace_items(Arena *arena, IntervalSet *set, size_t from, size_t to, const Window *items, size_t count) {
    size_t behind = set->count - to;
    while (from + count + behind > set->capacity) {
        interval_vec_push(arena, set, (Window){0});
    }
    if (behind > 0) {
        assert(set->items != NULL);
        memmove(set->items + from + count, set->items + to, behind * sizeof *set->items);
    }
    for (size_t i = 0; i < count; i++) {
        set->items[from + i] = items[i];
    }
    set->count = from + count + behind;
}

void interval_set_add(Arena *arena, IntervalSet *set, Window window) {
    if (is_empty(window)) {
        return;
    }
    size_t from = first_ending_from(set, window.start);
    size_t to = from;
    while (to < set->count && set->items[to].start <= window.end) {
        Window touched = set->items[to++];
        window.start = touched.start < window.start ? touched.start : window.start;
        window.end = touched.end > window.end ? touched.end : window.end;
    }
    replace_items(arena, set, from, to, &window, 1);
}

void interval_set_remove(Arena *arena, IntervalSet *set, Window window) {
    if (is_empty(window)) {
        return;
    }
    size_t from = first_ending_from(set, window.start + 1);
    size_t to = from;
    Window rest[2];
    size_t rest_count = 0;
    for (; to < set->count && set->items[to].start < window.end; to++) {
        Window cut = set->items[to];
        if (cut.start < window.start) {
            rest[rest_count++] = (Window){cut.start, window.start};
        }
        if (cut.end > window.end) {
            rest[rest_count++] = (Window){window.end, cut.end};
        }
    }
    replace_items(arena, set, from, to, rest, rest_count);
}

void interval_set_add_all(Arena *arena, IntervalSet *set, const IntervalSet *other) {
    for (size_t i = 0; i < other->count; i++) {
        interval_set_add(arena, set, other->items[i]);
    }
}

bool interval_set_covers(const IntervalSet *set, Window window) {
    if (is_empty(window)) {
        return true;
    }
    size_t at = first_ending_from(set, window.end);
    return at < set->count && set->items[at].start <= window.start;
}

IntervalSet interval_set_missing(Arena *arena, const IntervalSet *set, Window range) {
    IntervalSet missing = {0};
    WallUs from = range.start;
    for (size_t i = first_ending_from(set, range.start); i < set->count && set->items[i].start < range.end; i++) {
        interval_set_add(arena, &missing, (Window){from, set->items[i].start});
        from = set->items[i].end > from ? set->items[i].end : from;
    }
    interval_set_add(arena, &missing, (Window){from, range.end});
    return missing;
}

IntervalSet interval_set_copy(Arena *arena, const IntervalSet *set) {
    IntervalSet copy = {
        .items = ARENA_NEW_ARRAY(arena, Window, set->count), .count = set->count, .capacity = set->count};
    if (set->count > 0) {
        memcpy(copy.items, set->items, set->count * sizeof *set->items);
    }
    return copy;
}

bool interval_set_equal(const IntervalSet *a, const IntervalSet *b) {
    if (a->count != b->count) {
        return false;
    }
    for (size_t i = 0; i < a->count; i++) {
        if (a->items[i].start != b->items[i].start || a->items[i].end != b->items[i].end) {
            return false;
        }
    }
    return true;
}

Window interval_set_hull(const IntervalSet *set) {
    return set->count == 0 ? (Window){0} : (Window){set->items[0].start, set->items[set->count - 1].end};
}

IntervalSet interval_set_gaps(Arena *arena, const IntervalSet *set) {
    return interval_set_missing(arena, set, interval_set_hull(set));
}

/* ---- Work in whole grains. */

IntervalSet interval_set_due(Arena *arena, const IntervalSet *filled, Grain grain, Window range) {
    IntervalSet nothing = {0};
    IntervalSet missing = interval_set_missing(arena, filled == NULL ? &nothing : filled, range);
    IntervalSet due = {0};
    for (size_t i = 0; i < missing.count; i++) {
        Window whole = {grain_floor(grain, missing.items[i].start), grain_ceil(grain, missing.items[i].end)};
        interval_set_add(arena, &due, whole);
    }
    return due;
}

int64_t interval_set_grains(const IntervalSet *set, Grain grain) {
    int64_t count = 0;
    for (size_t i = 0; i < set->count; i++) {
        count += grain_count(grain, set->items[i].start, set->items[i].end);
    }
    return count;
}

bool interval_set_next_batch(const IntervalSet *set, Grain grain, int64_t grains, BatchCursor *cursor,
                             Window *batch_out) {
    assert(grains >= 1);
    if (cursor->item == set->count) {
        return false;
    }
    Window item = set->items[cursor->item];
    WallUs start = cursor->is_inside ? cursor->at : item.start;
    WallUs end = grain_step(grain, start, grains);
    end = end < item.end ? end : item.end;
    cursor->is_inside = end < item.end;
    cursor->at = end;
    cursor->item += cursor->is_inside ? 0 : 1;
    *batch_out = (Window){start, end};
    return true;
}

void interval_set_batches(Arena *arena, const IntervalSet *set, Grain grain, int64_t grains, WindowVec *batches_out) {
    *batches_out = (WindowVec){0};
    BatchCursor cursor = {0};
    Window batch;
    while (interval_set_next_batch(set, grain, grains, &cursor, &batch)) {
        window_vec_push(arena, batches_out, batch);
    }
}
