/* The rows that a check found wrong. They are read while the check runs, whatever becomes of its transaction, and kept
 * with its outcome: so they are what it saw, also when the build was rolled back. The warehouse is not opened. */
#ifndef INTERLACE_RUN_CHECK_ROWS_H
#define INTERLACE_RUN_CHECK_ROWS_H

#include "run/session.h"

typedef struct CheckRowsOptions {
    Str environment, model, check;
    int64_t limit; /* more than the 100 that are kept is as many */
} CheckRowsOptions;

typedef struct CheckRows {
    CheckResult result;        /* the last outcome in the environment */
    const ConfigValue *sample; /* a map with `columns` and `rows`; NULL: it has passed */
    size_t count;              /* of its rows, those within the limit */
} CheckRows;

/* DefinitionError: no such check; CheckError: it never ran there, judges the table as a whole, or has no rows to show
 * because it could not run. */
MUST_CHECK Status check_rows_load(Session *session, const CheckRowsOptions *options, Arena *arena, CheckRows *rows_out,
                                  Error *err);

#endif
