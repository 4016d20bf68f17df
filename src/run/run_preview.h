/* What `run` and `restate` would do, without doing it: no lock, nothing is written, the warehouse stays closed. */
#ifndef INTERLACE_RUN_RUN_PREVIEW_H
#define INTERLACE_RUN_RUN_PREVIEW_H

#include "run/apply.h"

/* The session must outlive it. */
typedef struct RunPreview {
    Arena *arena;
    Plan *plan;
    BuildTarget *targets; /* a task each */
} RunPreview;
void run_preview_destroy(RunPreview *preview); /* NULL is fine */
DEFINE_AUTO(RunPreview, run_preview, run_preview_destroy)

MUST_CHECK Status run_preview(Session *session, const ApplyOptions *options, RunPreview **preview_out,
                              ErrorList *faults);

/* What the command leaves stale, in dependency order: models behind the tasks of the plan that are not among them, when
 * they hold rows of their own, or are views over relations that readers no longer see. */
void run_stale_models(const Plan *plan, const BuildTarget *targets, Arena *arena, StrVec *names_out);

#endif
