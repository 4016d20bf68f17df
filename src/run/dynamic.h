/* Models that Python models register while they run (spec 01 §9, 03 §13). After the builds of a plan succeeded, the
 * project is loaded anew with what was registered; the plan of that project follows within the same command, and its
 * files are written once it is built. run/README.md has the order and what a failure leaves. */
#ifndef INTERLACE_RUN_DYNAMIC_H
#define INTERLACE_RUN_DYNAMIC_H

#include "run/apply_steps.h"

#define DYNAMIC_DEPTH_MAX 8 /* plans that follow one command's own */

/* After the builds, before the promotion: sets apply->registered and apply->next_project when a plan is to follow.
 * DefinitionError: a name of a source file, or of two models; PlanError: too deep; and what loading finds. */
MUST_CHECK Status dynamic_prepare(Apply *apply, ErrorList *faults, Error *err);

/* Tells that apply->registered is lost, and how it comes back. */
void dynamic_note_lost(const Apply *apply);

/* Writes and removes the files of apply->planned; one whose text stands there already is not touched. */
MUST_CHECK Status dynamic_save(const Apply *apply, Error *err);

/* Options of the plan that follows; texts in `arena`. */
ApplyOptions dynamic_options(const Apply *apply, Arena *arena);

#endif
