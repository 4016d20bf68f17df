/* Which attachments of the engine a command needs, and which of them it writes to. */
#ifndef INTERLACE_RUN_ATTACHMENTS_H
#define INTERLACE_RUN_ATTACHMENTS_H

#include "plan/plan.h"

/* Aliases that tasks of the plan deliver to; the other attachments are opened for reading only. */
StrVec attachments_written(const Plan *plan, Arena *arena);

/* Aliases that only deliveries use of which none is made by this plan: they are not even opened, so that an environment
 * without deliveries needs no destination (spec 01 §12.5). */
StrVec attachments_unused(const Plan *plan, Arena *arena);

#endif
