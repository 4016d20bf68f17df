/* Step 8 of spec 03 §6: indexes and constraints of models that are not built. */
#ifndef INTERLACE_RUN_PHYSICAL_CHANGES_H
#define INTERLACE_RUN_PHYSICAL_CHANGES_H

#include "run/apply_steps.h"

/* The plan's physical_models, each in transactions of its own, recorded when it is done. */
MUST_CHECK Status physical_changes_run(Apply *apply, Error *err);

#endif
