/* How failures are told: one `error: ` line each on stderr, hints and the failing SQL behind it, and with --json the
 * document on stdout. */
#ifndef INTERLACE_CLI_REPORT_H
#define INTERLACE_CLI_REPORT_H

#include "cli/cli.h"

/* Lines for people. */
void report_faults(Cli *cli, const ErrorList *faults);
/* {"error": {…}} or {"errors": […]}, as fields of the object that is open. */
void report_write_json(const ErrorList *faults, JsonWriter *writer, Arena *arena);
void report_write_error_object(const Error *err, JsonWriter *writer, Arena *arena);
/* Exit code of a command that failed with these. */
int report_exit_code(const ErrorList *faults);

/* `Usage: …`, `Try '… --help' for help.`, then the message. */
void report_usage_error(Cli *cli, const Error *err);

#endif
