/* An input of the configuration as a query: what stands for its name in the SQL of a model. */
#ifndef INTERLACE_PROJECT_INPUT_SCAN_H
#define INTERLACE_PROJECT_INPUT_SCAN_H

#include "base/clock.h"
#include "config/project_config.h"
#include "project/model.h"

/* The input that a table of a SQL text stands for when it is no model; INPUT_NONE: it is none either. */
size_t input_find(const ProjectConfig *config, const SqlTableRef *table);
bool input_exists(const ProjectConfig *config, Str name); /* in any letter case */

/* The path with its tokens filled in; absolute, unless it is remote. */
Str input_path(const ProjectConfig *config, const InputConfig *input, TimeUs now, Arena *arena);

/* What comes before the first sign of a pattern. */
Str input_path_prefix(Str path);

/* `(SELECT * FROM read_csv('/…/orders.csv', header = true))` for each input, in their order. */
Str *input_scans(const ProjectConfig *config, TimeUs now, Arena *arena);

/* The extensions of the engine that reading it needs; none for files of this machine in its own formats. */
void input_extensions(const InputConfig *input, Arena *arena, StrVec *names_out);

#endif
