/* Campaigns as the command line shows them. */
#ifndef INTERLACE_CLI_BACKFILL_TEXT_H
#define INTERLACE_CLI_BACKFILL_TEXT_H

#include "backfill/campaign.h"
#include "cli/cli.h"

MUST_CHECK Status backfill_read_id(const Cli *cli, int64_t *id_out, Error *err);
/* How far the campaign is, as text or JSON. */
MUST_CHECK Status backfill_print_status(Cli *cli, Session *session, int64_t id, Error *err);
/* The same as the last line of --json=lines, with what went wrong. `id` 0: there is no campaign. */
MUST_CHECK Status backfill_print_summary_line(Cli *cli, Session *session, int64_t id, const ErrorList *faults,
                                              Error *err);
/* `run --audit` and `restate --audit`: the same windows as a campaign, which waits for its publication. */
MUST_CHECK Status backfill_instead(Cli *cli, WindowVerb verb, ErrorList *faults);
/* What it would do. `id`: campaign_plan_id. */
void backfill_print_plan(Cli *cli, const Campaign *campaign, Str id);

#endif
