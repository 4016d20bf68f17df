/* `diff`: the tables of models in two environments, or two tables by their names, compared (spec 03 §12). Reads only,
 * takes no lock. What an environment shows of a model is what its pointer names. */
#ifndef INTERLACE_RUN_DIFF_H
#define INTERLACE_RUN_DIFF_H

#include "run/session.h"
#include "run/table_diff.h"

typedef struct DiffSide {
    Str label;    /* the environment, or "source" and "target" */
    Str relation; /* with dots; empty: not built there */
} DiffSide;

typedef struct DiffItem {
    const Model *model; /* NULL: two tables */
    DiffSide left, right;
    bool is_compared; /* `diff` is known */
    TableDiff diff;
    Str message; /* what else there is to say; empty: nothing */
    bool differs;
} DiffItem;
DEFINE_VEC(DiffItemVec, diff_item_vec, DiffItem)

typedef struct DiffRequest {
    Str environment;    /* the left side; where names of models are looked up */
    Str against;        /* the right side; empty: `source` and `target` */
    Str source, target; /* a model's name, or a table as SQL writes it: name, schema.name, alias.schema.name */
    const StrVec *select, *exclude; /* with `against` */
    ComparisonOptions options;      /* `key` is set from each model */
    bool schema_only;
} DiffRequest;

/* One item a selected model that has a table, in dependency order; or the one of two tables. PlanError: no such
 * environment. SelectionError: no such model, table or column; two tables without a common column. */
MUST_CHECK Status diff_run(Session *session, const DiffRequest *request, Arena *arena, DiffItemVec *items_out,
                           Error *err);

#endif
