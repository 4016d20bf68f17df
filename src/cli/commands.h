/* The functions of the command table: one file a command (cmd_*.c). Each prints its result and gives OK, or adds what
 * went wrong to `faults`; it sets cli->exit_code when a result that was printed is not a success. */
#ifndef INTERLACE_CLI_COMMANDS_H
#define INTERLACE_CLI_COMMANDS_H

#include "base/error.h"

struct Cli;

Status command_init(struct Cli *cli, ErrorList *faults);
Status command_plan(struct Cli *cli, ErrorList *faults);
Status command_apply(struct Cli *cli, ErrorList *faults);
Status command_run(struct Cli *cli, ErrorList *faults);
Status command_restate(struct Cli *cli, ErrorList *faults);
Status command_changes(struct Cli *cli, ErrorList *faults);
Status command_intervals(struct Cli *cli, ErrorList *faults);
Status command_models(struct Cli *cli, ErrorList *faults);
Status command_lineage(struct Cli *cli, ErrorList *faults);
Status command_env_show(struct Cli *cli, ErrorList *faults);
Status command_env_diff(struct Cli *cli, ErrorList *faults);
Status command_env_promote(struct Cli *cli, ErrorList *faults);
Status command_env_rollback(struct Cli *cli, ErrorList *faults);
Status command_env_drop(struct Cli *cli, ErrorList *faults);
Status command_reset(struct Cli *cli, ErrorList *faults);
Status command_engines(struct Cli *cli, ErrorList *faults);
Status command_connections(struct Cli *cli, ErrorList *faults);
Status command_gc(struct Cli *cli, ErrorList *faults);
Status command_impact(struct Cli *cli, ErrorList *faults);
Status command_complete(struct Cli *cli, ErrorList *faults);
Status command_completion(struct Cli *cli, ErrorList *faults);
Status command_diff(struct Cli *cli, ErrorList *faults);
Status command_query(struct Cli *cli, ErrorList *faults);
Status command_render(struct Cli *cli, ErrorList *faults);
Status command_env_list(struct Cli *cli, ErrorList *faults);
Status command_backfill_plan(struct Cli *cli, ErrorList *faults);
Status command_backfill_start(struct Cli *cli, ErrorList *faults);
Status command_backfill_list(struct Cli *cli, ErrorList *faults);
Status command_backfill_status(struct Cli *cli, ErrorList *faults);
Status command_backfill_pause(struct Cli *cli, ErrorList *faults);
Status command_backfill_resume(struct Cli *cli, ErrorList *faults);
Status command_backfill_cancel(struct Cli *cli, ErrorList *faults);
Status command_backfill_audit(struct Cli *cli, ErrorList *faults);
Status command_backfill_publish(struct Cli *cli, ErrorList *faults);
Status command_backfill_revert(struct Cli *cli, ErrorList *faults);
Status command_backfill_discard(struct Cli *cli, ErrorList *faults);
Status command_checks_list(struct Cli *cli, ErrorList *faults);
Status command_checks_run(struct Cli *cli, ErrorList *faults);
Status command_checks_rows(struct Cli *cli, ErrorList *faults);
Status command_test(struct Cli *cli, ErrorList *faults);
Status command_show(struct Cli *cli, ErrorList *faults);
Status command_doctor(struct Cli *cli, ErrorList *faults);
Status command_unlock(struct Cli *cli, ErrorList *faults);
Status command_docs(struct Cli *cli, ErrorList *faults);
Status command_mcp(struct Cli *cli, ErrorList *faults);
Status command_version(struct Cli *cli, ErrorList *faults);
Status command_docs_reference(struct Cli *cli, ErrorList *faults);

#endif
