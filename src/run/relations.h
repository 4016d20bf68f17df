/* RelationMap: which relation stands for each model, and which scan for each input, during one command. Readers of this
 * command (queries, checks, Python handles) resolve through it, never by recomputing a name: a reused model lives at
 * its recorded relation. Filled before builders start, then const. */
#ifndef INTERLACE_RUN_RELATIONS_H
#define INTERLACE_RUN_RELATIONS_H

#include "plan/plan.h"

typedef struct RelationMap {
    const Project *project;
    SqlRelation *items; /* a model each; an empty name: it has no relation here */
    const Str *inputs;  /* an input of the configuration each: project/input_scan.h; paths are of this command */
} RelationMap;

/* Models without relations. */
RelationMap relation_map_create(const Project *project, Arena *arena);

RelationMap relation_map_copy(const RelationMap *map, Arena *arena);

/* From a plan: a task's relation is the one it builds or reuses, another model's is the promoted one. */
RelationMap relation_map_from_plan(const Plan *plan, Arena *arena);

SqlRelation relation_of_snapshot(const Snapshot *snapshot);

/* Does the text of a view read the relation of a snapshot? Its name has a fingerprint in it: where it stands in the
 * text, the relation is meant. */
bool view_text_reads(Str text, Str relation_name);

/* A condition on the scan of one table in the query of a model, or in that of an ephemeral one inlined into it. */
typedef struct ScanFilter {
    const Model *owner; /* whose query it is */
    size_t table;       /* index in owner->facts->tables */
    Str condition;
} ScanFilter;
DEFINE_VEC(ScanFilterVec, scan_filter_vec, ScanFilter)

/* What a window puts into a query. */
typedef struct WindowBinding {
    const Str *clock; /* SQL_CLOCK_KIND_COUNT expressions in place of reads of the clock; NULL: they stay */
    ScanFilterVec filters;
} WindowBinding;

/* The model's query with physical names, ephemeral upstreams inlined as CTEs: what the engine gets.
 * ExecutionError when an upstream has no relation (nothing built there). */
MUST_CHECK Status render_model_query(const RelationMap *relations, const Model *model, Arena *arena, SqlText *query_out,
                                     Error *err);

/* The same for one window; `binding` NULL: as above. */
MUST_CHECK Status render_window_query(const RelationMap *relations, const Model *model, const WindowBinding *binding,
                                      Arena *arena, SqlText *query_out, Error *err);

/* `SELECT * FROM relation`, or the rendered query of an ephemeral model. */
MUST_CHECK Status render_model_rows(const RelationMap *relations, const Model *model, Arena *arena, SqlText *query_out,
                                    Error *err);

#endif
