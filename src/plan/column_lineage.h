/* Column lineage of a project: which columns of its direct sources each column of each model is made of. Pure: models,
 * their parsed queries, and columns that are known from elsewhere. Lives in an arena; borrows all that it is given. */
#ifndef INTERLACE_PLAN_COLUMN_LINEAGE_H
#define INTERLACE_PLAN_COLUMN_LINEAGE_H

#include "project/project.h"
#include "sql/query_lineage.h"

/* Column names that somebody knows for certain, such as those of a relation that was built. */
typedef struct KnownColumns {
    const StrVec *names; /* NULL: not known */
    bool is_current;     /* of this very version of the model */
} KnownColumns;

typedef struct ColumnLineageInput {
    const Project *project;
    /* The lineage of a SQL model's query over `tables`, one for each of facts->tables: by column_lineage_trace, or as
     * it was found before. Lives in `arena`. */
    Status (*trace)(void *context, const Model *model, const LineageTable *tables, Arena *arena,
                    QueryLineage *lineage_out, Error *err);
    KnownColumns (*known)(void *context, const Model *model);
    const StrVec *(*external)(void *context,
                              SqlRelation table); /* of a table outside of the project; NULL: not known */
    void *context;
} ColumnLineageInput;

/* Sources are columns of models, under their names, or of external tables as they are written. */
typedef struct ModelLineage {
    LineageOutputVec outputs;
    LineageSourceVec rows; /* what decides which rows there are */
    bool is_opaque;        /* some of it is a guess: the model may use every column of what it reads */
    bool is_complete;      /* there are no other columns than `outputs` */
    QueryLineage query;    /* of SQL: what columns beside `outputs` may be made of */
} ModelLineage;

typedef struct ColumnLineage {
    const Project *project;
    ModelLineage *models; /* as in Project.models */
} ColumnLineage;

MUST_CHECK Status column_lineage_build(const ColumnLineageInput *input, Arena *arena, ColumnLineage *lineage_out,
                                       Error *err);

/* `query` is the model's; the result borrows from it. */
void column_lineage_trace(const Query *query, const Model *model, const LineageTable *tables, Arena *arena,
                          QueryLineage *lineage_out);

/* A column that is made of the one that was asked about, and the step that led to it. */
typedef struct ImpactColumn {
    const Model *model;
    Str column;
    LineageSource via;
} ImpactColumn;
DEFINE_VEC(ImpactColumnVec, impact_column_vec, ImpactColumn)

typedef struct ImpactCheck {
    const Model *model;
    const Check *check;
} ImpactCheck;
DEFINE_VEC(ImpactCheckVec, impact_check_vec, ImpactCheck)

/* All in dependency order. */
typedef struct Impact {
    const Model *model;
    Str column;
    ImpactColumnVec impacted;
    ModelVec opaque_consumers; /* read it, or something made of it, and may use every column of it */
    ModelVec row_influence;    /* it, or something made of it, decides their rows */
    ModelVec terminals;        /* touched in one of these ways */
    ImpactCheckVec checks;     /* of touched columns, and of all models that are touched as a whole */
} Impact;

/* `text` is MODEL.COLUMN, split at the last dot that leaves a model's name. SelectionError: there is no such model, or
 * it has no such column. */
MUST_CHECK Status impact_of(const ColumnLineage *lineage, Str text, Arena *arena, Impact *impact_out, Error *err);

#endif
