/* The column lineage of a session's project, for the commands that show it. */
#ifndef INTERLACE_CLI_COLUMNS_OF_MODELS_H
#define INTERLACE_CLI_COLUMNS_OF_MODELS_H

#include "cli/cli.h"
#include "plan/column_lineage.h"

/* Reads the queries anew, and the columns of what the environment of --env shows from the state, where there is one.
 * Those of tables outside of the project are remembered, or the warehouse's, which is opened for reading; one that
 * cannot be opened leaves them unknown. Lives in the arena of `cli`. */
MUST_CHECK Status columns_of_models(Cli *cli, Session *session, ColumnLineage *lineage_out, Error *err);

#endif
