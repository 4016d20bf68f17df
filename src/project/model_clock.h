/* Reads of the clock in the query of a model, as it runs: its own and those of the ephemeral models inlined into it
 * (spec 04 §3). */
#ifndef INTERLACE_PROJECT_MODEL_CLOCK_H
#define INTERLACE_PROJECT_MODEL_CLOCK_H

#include "project/project.h"

typedef enum ClockPolicy {
    CLOCK_UNSET,
    CLOCK_WINDOW, /* reads are bound to the end of the window */
    CLOCK_WALL,
    CLOCK_FORBID
} ClockPolicy;
ClockPolicy model_clock_policy(const Model *model);

/* The first read, the model's own before those of what it inlines; NULL when there is none. `owner_out` is the model
 * whose text holds it. Reads that only make `clock_columns` do not count, when `spares_columns`. */
const SqlClockRead *model_clock_read(const Project *project, const Model *model, bool spares_columns, Arena *arena,
                                     const Model **owner_out);

/* The model runs with `clock: window`, and there is something to bind: its windows are built one by one. Reads that
 * only make `clock_columns` are left to the clock. */
bool model_binds_clock(const Project *project, const Model *model, Arena *arena);

/* Where the read stands in the file of its owner. */
SourceSpan model_clock_place(const Model *owner, const SqlClockRead *read, Arena *arena);

#endif
