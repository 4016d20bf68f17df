/* Batches by rows: which windows `batch: auto` makes of a set, from how many rows its source holds where. Pure. */
#ifndef INTERLACE_WINDOW_ROW_BATCHES_H
#define INTERLACE_WINDOW_ROW_BATCHES_H

#include "window/interval_set.h"

/* Rows of whole grains, taken to be spread evenly over them. */
typedef struct GrainRows {
    Window window;
    int64_t rows;
} GrainRows;
DEFINE_VEC(GrainRowsVec, grain_rows_vec, GrainRows)

/* Cuts an aligned set as interval_set_batches does, but into batches of as many grains as hold at most `most_rows` (at
 * least 1) rows; a grain that holds more is one by itself. `counts` ascend and do not overlap; where there are none,
 * there are no rows. */
void row_batches(Arena *arena, const IntervalSet *set, Grain grain, const GrainRowsVec *counts, int64_t most_rows,
                 WindowVec *batches_out);

#endif
