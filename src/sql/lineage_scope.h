/* What the files of query_lineage share: the walk of one query, its scopes, and what one file gives to the other. */
#ifndef INTERLACE_SQL_LINEAGE_SCOPE_H
#define INTERLACE_SQL_LINEAGE_SCOPE_H

#include "sql/lineage_relation.h"

typedef struct CteLineage {
    const struct CteLineage *outer;
    Str name;
    const Relation *relation;
    const ColumnSet *rows;
} CteLineage;

/* What the expressions of one query see. */
typedef struct Scope {
    const struct Scope *outer; /* of the query around it: correlated columns */
    const CteLineage *ctes;
    RelationVec leaves;       /* the sources of its FROM, so far */
    RelationColumnVec merged; /* columns of USING and NATURAL, of both sides */
    Relation items;           /* of its select list, so far */
    bool prefers_items;       /* ORDER BY and DISTINCT ON: an item's name before a column's */
    const struct LambdaParameters *parameters;
} Scope;

typedef struct LambdaParameters {
    const struct LambdaParameters *outer;
    StrVec names;
} LambdaParameters;

typedef struct Lineage {
    Arena *arena;
    const LineageTables *tables;
    const Query *top;
    LineageColumns columns;
    bool is_opaque;
} Lineage;

typedef struct Result {
    Relation relation;
    ColumnSet rows;
} Result;

static inline void lineage_add_set(Lineage *lineage, ColumnSet *set, const ColumnSet *more) {
    column_set_union(&lineage->columns, set, more);
}

/* ---- lineage_expr.c: names and expressions. All add to `set`. */

void lineage_add_column(Lineage *lineage, const Relation *relation, Str name, ColumnSet *set);
/* The column of USING or NATURAL of that name; false: there is none. */
bool lineage_find_merged(Lineage *lineage, const Scope *scope, Str name, ColumnSet *set);
void lineage_add_reference(Lineage *lineage, const Scope *scope, const StrVec *parts, ColumnSet *set);
void lineage_add_expr(Lineage *lineage, Scope *scope, const QueryExpr *expr, ColumnSet *set);
void lineage_add_exprs(Lineage *lineage, Scope *scope, const QueryExprVec *exprs, ColumnSet *set);

/* ---- query_lineage.c */

void lineage_follow_query(Lineage *lineage, const Query *query, const Scope *outer, const CteLineage *ctes,
                          Result *result);

#endif
