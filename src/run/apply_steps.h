/* One apply on its way through its steps. Private to run/apply*.c. */
#ifndef INTERLACE_RUN_APPLY_STEPS_H
#define INTERLACE_RUN_APPLY_STEPS_H

#include "run/apply.h"
#include "run/build.h"

#include <stdatomic.h>

typedef struct Apply {
    Session *session;
    const ApplyOptions *options;
    ApplyResult *result;
    StateStore *state;
    StateLock *lock;
    ModelResult *models; /* a task each */
    size_t model_count;
    RelationMap relations;
    const Zone *zone;
    WindowRequest windows;
    BuildContext build;
    atomic_bool is_stopping; /* any thread: builders are to end */
    int64_t started_us;
    size_t depth;               /* 0: the command's own plan; n: the n-th that follows it */
    DynamicModelVec planned;    /* registered models that this plan brings; saved when they are built */
    DynamicModelVec registered; /* what the builds of this plan change in them, for the next plan */
    Project *next_project;      /* with `registered`; NULL: no plan follows */
} Apply;

ApplyResult *apply_result_create(Str environment); /* keeps `environment` */
/* `result` takes `next` and counts it in: one summary of all plans, with the generation of the last promotion. */
void apply_result_add(ApplyResult *result, ApplyResult *next);

/* Step 6: builds and checks all tasks; the outcomes are in apply->models. Fails only when nothing could be started. */
MUST_CHECK Status apply_build_models(Apply *apply, Error *err);

#endif
