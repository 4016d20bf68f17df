/* Which windows of an incremental model a command processes (spec 02 §10). Pure: everything comes from the model, from
 * what its relation's ledger holds, and from the request; the caller carries it out:
 *
 *     window_plan           work.take_out leaves the ledger
 *                           work.first_build: min and max over the source, window_first_range, one window
 *                           else work.due, in batches (interval_set_next_batch)
 *     window_recordable     after each commit: what of the window goes into the ledger
 *
 * All times are wall times of the project's zone. Notes and warnings begin with the model's name, a line each. */
#ifndef INTERLACE_PLAN_WINDOW_PLAN_H
#define INTERLACE_PLAN_WINDOW_PLAN_H

#include "project/model.h"
#include "window/zone.h"

typedef enum WindowVerb { WINDOW_APPLY, WINDOW_RUN, WINDOW_RESTATE } WindowVerb;

typedef struct WindowRequest {
    WindowVerb verb;
    bool has_start, has_end; /* never with APPLY; start < end was checked by the caller where both are given */
    WallUs start, end;
    bool catch_up;        /* RUN without bounds only */
    bool is_forward_only; /* APPLY over a copy of history: never a first build, whatever the ledger says */
    WallUs now;
    Str environment; /* for the commands in notes: empty for the one that they mean without --env */
} WindowRequest;

typedef struct WindowWork {
    bool first_build;       /* the range comes from the source's min and max: window_first_range */
    IntervalSet due;        /* aligned to the grain; empty and no first build: nothing to do */
    IntervalSet take_out;   /* leaves the ledger before the first window: what is restated, and all of it when the
                               relation is missing */
    StrVec notes, warnings; /* one line each */
} WindowWork;

/* `filled`: the ledger of the relation that will be written (after a copy of history, the copied one). `has_relation`:
 * it exists. APPLY is for a model that is built: new, changed, or for another reason; one that is not built gets
 * window_due_note at most. UsageError: only a start is given, and it is not before now. DefinitionError: an interval
 * that is no grain. */
MUST_CHECK Status window_plan(const Model *model, const IntervalSet *filled, bool has_relation,
                              const WindowRequest *request, Arena *arena, WindowWork *work_out, Error *err);

/* The one window of a first build with `backfill` auto or a time, from the min and max of the time column over the
 * source (`has_rows` false: it has no row with a time). Empty: no window, an empty table is to be made, and nothing
 * recorded. */
MUST_CHECK Status window_first_range(const Model *model, bool has_rows, WallUs min, WallUs max, const Zone *zone,
                                     Window *range_out, bool *is_empty_out, Error *err);

/* The part of a window that the ledger may record: cut at floor(now), so that rows of a running grain are loaded but
 * stay due. False: nothing. */
bool window_recordable(Grain grain, Window window, WallUs now, Window *recorded_out);

/* ---- Notes. */

/* `plan` and `apply`, for a model that they leave alone: its latest complete grain is not filled. False: it is. */
MUST_CHECK Status window_due_note(const Model *model, const IntervalSet *filled, WallUs now, Str environment,
                                  Arena *arena, bool *has_note_out, Str *note_out, Error *err);
/* A grain whose windows begin at no obvious time, for a new or changed model. False: they do. */
MUST_CHECK Status window_grain_note(const Model *model, WallUs now, Arena *arena, bool *has_note_out, Str *note_out,
                                    Error *err);
/* A first build whose source has no row with a time. */
Str window_empty_source_note(const Model *model, Arena *arena);
/* A build that wrote nothing into an empty table. */
Str window_nothing_written_note(const Model *model, Str environment, Arena *arena);

#endif
