/* What the engine needs before a command reads inputs: extensions, and the headers of http connections. */
#ifndef INTERLACE_RUN_INPUT_ACCESS_H
#define INTERLACE_RUN_INPUT_ACCESS_H

#include "engine/engine.h"
#include "plan/plan.h"

/* A flag for each input of the configuration, none set. */
bool *input_flags(const ProjectConfig *config, Arena *arena);
/* Those that the model's own query reads. */
void input_flags_add_model(const ProjectConfig *config, const Model *model, bool *is_read);
/* Those that views and ephemeral models read: anew with each of their readers. */
void input_flags_add_views(const Project *project, bool *is_read);
void input_flags_add_checks(const Model *model, bool *is_read);
/* Those that the tasks of a plan read, also by the way of views, ephemeral models and checks. */
void input_flags_add_plan(const Plan *plan, bool *is_read);

/* Once for each command, before its builders start: two that made secrets would conflict. ConfigurationError naming the
 * input: an extension that is not there. */
MUST_CHECK Status input_access_prepare(EngineConnection *connection, const ProjectConfig *config, const bool *is_read,
                                       Error *err);

#endif
