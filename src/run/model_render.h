/* The query of a model as a command would send it: physical names, inlined models, and what a window puts into it. No
 * lock, nothing is written. */
#ifndef INTERLACE_RUN_MODEL_RENDER_H
#define INTERLACE_RUN_MODEL_RENDER_H

#include "run/session.h"
#include "run/window_scan.h"

typedef struct RenderRequest {
    Str environment, model;
    Str start, end; /* ISO texts of a window, both or none */
} RenderRequest;

typedef struct RenderedModel {
    const Model *model;
    Str sql;
    bool has_window;
    Window window; /* as it would be filled: out to whole grains */
    StrVec cuts;   /* "orders.ordered_at": the scans that the window cuts, a line each */
    StrVec notes;  /* a line each */
} RenderedModel;

/* Texts live in `arena`. DependencyError: no such model. PlanError: a Python model has no query; a window of a model
 * that is not incremental. UsageError: bounds that are no times, or not in order. Where the tables that it reads cannot
 * be looked at, a window's cuts are not known, and a note says so. */
MUST_CHECK Status model_render(Session *session, const RenderRequest *request, Arena *arena,
                               RenderedModel *rendered_out, ErrorList *faults);

#endif
