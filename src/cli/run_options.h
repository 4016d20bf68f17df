/* What `run` and `restate` have besides apply. */
#ifndef INTERLACE_CLI_RUN_OPTIONS_H
#define INTERLACE_CLI_RUN_OPTIONS_H

#include "cli/cli.h"
#include "run/apply.h"

/* Sets verb, bounds, batch, concurrency and order. UsageError for what cannot be meant; nothing is opened. */
MUST_CHECK Status run_options_read(const Cli *cli, WindowVerb verb, ApplyOptions *options, Error *err);

/* --batch: 0 for auto. */
MUST_CHECK Status run_batch_read(const Cli *cli, int64_t *batch_out, Error *err);

/* --dry-run: prints what would be done. */
MUST_CHECK Status run_dry(Cli *cli, const ApplyOptions *options, ErrorList *faults);

#endif
