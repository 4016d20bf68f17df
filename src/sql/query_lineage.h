/* Lineage of one query: which columns of its tables each output column is made of, and which decide its rows.
 *
 * Pure: a Query and the columns of the tables it reads, as far as they are known. Never too little: what cannot be
 * traced counts as made of every column that it could be made of, and makes the lineage opaque. Each CTE is followed
 * once, so the cost grows with the text and not with the paths through it. */
#ifndef INTERLACE_SQL_QUERY_LINEAGE_H
#define INTERLACE_SQL_QUERY_LINEAGE_H

#include "sql/query.h"

/* Raised when lineage of the same text over the same columns comes out otherwise: old caches are empty then. */
#define QUERY_LINEAGE_VERSION "lineage 1"

/* One column of a table. */
typedef struct LineageSource {
    Str table, column; /* column LINEAGE_ANY: whichever columns the table has, which are not known */
} LineageSource;
DEFINE_VEC(LineageSourceVec, lineage_source_vec, LineageSource)

#define LINEAGE_ANY STR("*")

typedef struct LineageTable {
    Str name;              /* how sources call it */
    const StrVec *columns; /* NULL: not known */
} LineageTable;

/* Tells what a table of the query is; `source->offset` is where its name stands in the text. */
typedef struct LineageTables {
    LineageTable (*get)(void *context, const QuerySource *source);
    void *context;
} LineageTables;

typedef struct LineageOutput {
    Str name;
    LineageSourceVec sources; /* in the order they were met, each once */
} LineageOutput;
DEFINE_VEC(LineageOutputVec, lineage_output_vec, LineageOutput)

typedef struct QueryLineage {
    LineageOutputVec outputs;
    LineageSourceVec rows; /* of WHERE, ON, GROUP BY, HAVING, QUALIFY, DISTINCT, ORDER BY with LIMIT, … */
    bool is_opaque;        /* some sources are guessed: more than there are */
    /* The query has more outputs than `outputs`, of unknown names: a star of a table whose columns are not known, a
     * PIVOT, COLUMNS with a pattern. */
    bool is_open;
    StrVec open_tables;    /* an output of an unknown name may be the column of that name of one of these … */
    LineageSourceVec rest; /* … and may be made of all of these */
    StrVec absent;         /* names that open tables do not give: EXCLUDE, RENAME */
} QueryLineage;

/* All of it lives in `arena` and borrows from the query. */
void query_lineage(const Query *query, const LineageTables *tables, Arena *arena, QueryLineage *lineage_out);

/* The sources of an output by its name, in any letter case, also of one that `outputs` does not list. False: the query
 * has no such output. */
bool query_lineage_find(const QueryLineage *lineage, Str name, Arena *arena, LineageSourceVec *sources_out);

#endif
