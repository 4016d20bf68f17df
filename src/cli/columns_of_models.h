/* The column lineage of a session's project, for the commands that show it. */
#ifndef INTERLACE_CLI_COLUMNS_OF_MODELS_H
#define INTERLACE_CLI_COLUMNS_OF_MODELS_H

#include "cli/cli.h"
#include "plan/column_lineage.h"

/* What the environment of --env shows tells its columns from the state, where there is one. Lineage of queries is
 * remembered in the cache folder, as are the columns of tables outside of the project; for those that are not, the
 * warehouse is opened for reading, and one that cannot be opened leaves them unknown. Lives in the arena of `cli`. */
MUST_CHECK Status columns_of_models(Cli *cli, Session *session, ColumnLineage *lineage_out, Error *err);

#endif
