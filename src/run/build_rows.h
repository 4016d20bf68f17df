/* The rows of one build: how a SQL or a Python model gets them into its relation, inside the transaction that build.c
 * holds. Private to run/build.c. */
#ifndef INTERLACE_RUN_BUILD_ROWS_H
#define INTERLACE_RUN_BUILD_ROWS_H

#include "run/build.h"

/* One model's build, on its builder thread. */
typedef struct Build {
    BuildContext *context;
    const PlanTask *task;
    Arena *arena;
    EngineConnection *connection; /* the transaction's */
    SqlRelation relation;         /* where the rows go */
    ModelResult *result;
    SqlText query; /* SQL models: as it is sent */
    int64_t rows;
    Str columns_json;
} Build;

/* What can be refused before a row is written: for SQL, the query binds and its columns keep the contract. */
MUST_CHECK Status build_prepare(Build *build, Error *err);

/* Writes the rows; may be called again after a rollback. Sets rows and columns_json. */
MUST_CHECK Status build_write_rows(Build *build, Error *err);

#endif
