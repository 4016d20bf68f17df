/* Walks of the model graph. Depth never uses the C stack: a chain of thousands of models is fine. */
#ifndef INTERLACE_PROJECT_GRAPH_H
#define INTERLACE_PROJECT_GRAPH_H

#include "project/project.h"

typedef enum GraphDirection { GRAPH_UPSTREAM, GRAPH_DOWNSTREAM } GraphDirection;

/* Marks everything reachable from `start` (not itself) in `reached` (model_count flags, not cleared first). */
void graph_reach(const Project *project, size_t start, GraphDirection direction, bool *reached);

/* Transitive names, sorted. */
void graph_names(const Project *project, size_t start, GraphDirection direction, Arena *arena, StrVec *names_out);

/* The ephemeral models that become part of a SQL model's query: those it reaches through ephemeral ones only, in
 * dependency order. */
IndexVec graph_inlined(const Project *project, const Model *model, Arena *arena);

/* Physical names (spec 03 §2): snapshot schema and table, and the view of an environment. */
Str physical_schema(Arena *arena, const Model *model);                  /* interlace__<schema> */
Str physical_name(Arena *arena, const Model *model, Str fingerprint);   /* <base>__<fp> */
Str environment_view_schema(Arena *arena, Str environment, Str schema); /* <schema> or <env>__<schema> */
/* [A-Za-z][A-Za-z0-9_]*, at most 32, no `__`, not interlace/streams/main: else ERROR_USAGE naming the rule. */
MUST_CHECK Status environment_check_name(Str environment, Error *err);

#endif
