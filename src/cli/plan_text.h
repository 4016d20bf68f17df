/* A plan as text: what `plan` shows and `apply` shows before it begins (spec 03 §5). */
#ifndef INTERLACE_CLI_PLAN_TEXT_H
#define INTERLACE_CLI_PLAN_TEXT_H

#include "cli/cli.h"

typedef struct PlanTextOptions {
    bool explain; /* why each model is in it */
    bool diff;    /* the difference of the models' texts */
} PlanTextOptions;

void plan_text_append(Cli *cli, const Plan *plan, PlanTextOptions options);

#endif
