/* The interval ledger of one model in one environment, for people. */
#ifndef INTERLACE_RUN_INTERVALS_H
#define INTERLACE_RUN_INTERVALS_H

#include "run/session.h"

typedef struct ModelIntervals {
    const Model *model;
    Grain grain;
    bool is_promoted; /* false: not in the environment; the sets are those of the newest version that was built */
    IntervalSet filled, gaps;
} ModelIntervals;

/* DependencyError: no such model, with the nearest name; PlanError: it is not incremental. */
MUST_CHECK Status intervals_read(Session *session, Str environment, Str model, Arena *arena,
                                 ModelIntervals *intervals_out, Error *err);

#endif
