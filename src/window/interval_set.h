/* IntervalSet: a set of half-open intervals of wall time, always normalised: sorted, disjoint, touching ones merged
 * (spec 02 §11). The ledger of a relation is one; so is the work of a command. Items live in the arena that is passed
 * to the functions that change the set. Pure. */
#ifndef INTERLACE_WINDOW_INTERVAL_SET_H
#define INTERLACE_WINDOW_INTERVAL_SET_H

#include "base/vec.h"
#include "window/grain.h"

typedef struct Window {
    WallUs start, end; /* [start, end), start < end */
} Window;
DEFINE_VEC(IntervalSet, interval_vec, Window) /* read items freely; change only by the functions below */
DEFINE_VEC(WindowVec, window_vec, Window)     /* any windows in any order */

/* An empty window (start >= end) adds and removes nothing, is covered by every set, and misses nothing. */
void interval_set_add(Arena *arena, IntervalSet *set, Window window);
void interval_set_remove(Arena *arena, IntervalSet *set, Window window);
void interval_set_add_all(Arena *arena, IntervalSet *set, const IntervalSet *other);
bool interval_set_covers(const IntervalSet *set, Window window);                      /* wholly filled */
IntervalSet interval_set_missing(Arena *arena, const IntervalSet *set, Window range); /* range − set */
IntervalSet interval_set_copy(Arena *arena, const IntervalSet *set);
bool interval_set_equal(const IntervalSet *a, const IntervalSet *b);
/* From the first start to the last end; empty for an empty set. */
Window interval_set_hull(const IntervalSet *set);
/* Holes inside the hull. */
IntervalSet interval_set_gaps(Arena *arena, const IntervalSet *set);

/* Whole grains of an aligned range that `filled` does not wholly cover (a partly filled grain is processed whole),
 * adjacent ones joined. `filled` NULL: all. */
IntervalSet interval_set_due(Arena *arena, const IntervalSet *filled, Grain grain, Window range);
/* Grains in an aligned set. */
int64_t interval_set_grains(const IntervalSet *set, Grain grain);
/* Cuts an aligned set into windows of at most `grains` (at least 1) grains each, oldest first; never joins across a
 * hole. One after the other from a zeroed cursor (memory stays flat, whatever their number), or all at once. */
typedef struct BatchCursor {
    size_t item;
    bool is_inside;
    WallUs at; /* where the next batch begins when it is inside the item */
} BatchCursor;
bool interval_set_next_batch(const IntervalSet *set, Grain grain, int64_t grains, BatchCursor *cursor,
                             Window *batch_out); /* false: no more */
void interval_set_batches(Arena *arena, const IntervalSet *set, Grain grain, int64_t grains, WindowVec *batches_out);

#endif
