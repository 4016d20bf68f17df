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

void interval_set_add(Arena *arena, IntervalSet *set, Window window);
void interval_set_remove(Arena *arena, IntervalSet *set, Window window);
void interval_set_add_all(Arena *arena, IntervalSet *set, const IntervalSet *other);
bool interval_set_covers(const IntervalSet *set, Window window); /* wholly filled */
IntervalSet interval_set_missing(Arena *arena, const IntervalSet *set, Window range); /* range − set */
IntervalSet interval_set_copy(Arena *arena, const IntervalSet *set);
bool interval_set_equal(const IntervalSet *a, const IntervalSet *b);
/* Holes inside the hull. */
IntervalSet interval_set_gaps(Arena *arena, const IntervalSet *set);

/* Whole grains of an aligned range that `filled` does not wholly cover (a partly filled grain is processed whole),
 * adjacent ones joined. `filled` NULL: all. */
IntervalSet interval_set_due(Arena *arena, const IntervalSet *filled, Grain grain, Window range);
/* Grains in an aligned set. */
int64_t interval_set_grains(const IntervalSet *set, Grain grain);
/* Cuts an aligned set into windows of at most `grains` grains each, oldest first; never joins across a hole. */
void interval_set_batches(Arena *arena, const IntervalSet *set, Grain grain, int64_t grains, WindowVec *batches_out);

#endif
