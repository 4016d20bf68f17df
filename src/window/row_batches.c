#include "window/row_batches.h"

typedef struct Cutter {
    Arena *arena;
    Grain grain;
    int64_t most_rows;
    WindowVec *batches;
    Window open; /* the batch that still grows */
    int64_t rows;
} Cutter;

/* Near enough: batches are of about so many rows. */
static int64_t share(int64_t rows, int64_t part, int64_t whole) {
    return (int64_t)((double)rows * (double)part / (double)whole);
}

static void close_batch(Cutter *cutter) {
    if (cutter->open.start < cutter->open.end) {
        window_vec_push(cutter->arena, cutter->batches, cutter->open);
    }
    cutter->open.start = cutter->open.end;
    cutter->rows = 0;
}

static void add(Cutter *cutter, WallUs end, int64_t rows) {
    if (rows > cutter->most_rows - cutter->rows) {
        close_batch(cutter);
    }
    cutter->open.end = end;
    cutter->rows += rows;
}

/* Adds [open.end, end), in parts when it holds more than one batch may. */
static void add_grains(Cutter *cutter, WallUs end, int64_t rows) {
    int64_t left = grain_count(cutter->grain, cutter->open.end, end);
    int64_t step = rows <= cutter->most_rows ? left : share(cutter->most_rows, left, rows);
    step = step < 1 ? 1 : step;
    while (left > 0) {
        int64_t grains = step < left ? step : left;
        int64_t part = share(rows, grains, left);
        add(cutter, grain_step(cutter->grain, cutter->open.end, grains), part);
        left -= grains;
        rows -= part;
    }
}

static void cut_item(Cutter *cutter, Window item, const GrainRowsVec *counts, size_t *next) {
    cutter->open = (Window){item.start, item.start};
    while (*next < counts->count && counts->items[*next].window.start < item.end) {
        const GrainRows *count = &counts->items[*next];
        if (count->window.end > cutter->open.end) {
            WallUs start = count->window.start > cutter->open.end ? count->window.start : cutter->open.end;
            WallUs end = count->window.end < item.end ? count->window.end : item.end;
            int64_t grains = grain_count(cutter->grain, start, end);
            int64_t whole = grain_count(cutter->grain, count->window.start, count->window.end);
            add_grains(cutter, start, 0);
            add_grains(cutter, end, share(count->rows, grains, whole));
        }
        if (count->window.end > item.end) {
            break; /* the rest of it may lie in the next item */
        }
        *next += 1;
    }
    add_grains(cutter, item.end, 0);
    close_batch(cutter);
}

void row_batches(Arena *arena, const IntervalSet *set, Grain grain, const GrainRowsVec *counts, int64_t most_rows,
                 WindowVec *batches_out) {
    assert(most_rows >= 1);
    *batches_out = (WindowVec){0};
    Cutter cutter = {.arena = arena, .grain = grain, .most_rows = most_rows, .batches = batches_out};
    size_t next = 0;
    for (size_t i = 0; i < set->count; i++) {
        cut_item(&cutter, set->items[i], counts, &next);
    }
}
