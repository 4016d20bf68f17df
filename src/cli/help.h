/* Texts made from the command table: help, usage lines, docs/reference/cli.md. */
#ifndef INTERLACE_CLI_HELP_H
#define INTERLACE_CLI_HELP_H

#include "cli/invocation.h"

/* Help of the command, the group or the whole program. */
void help_write(const Invocation *invocation, StrBuf *out);
/* "interlace query SQL [OPTIONS]" */
void help_write_usage(const Invocation *invocation, StrBuf *out);
/* "interlace query": what stands in `Try '… --help'`. */
void help_write_name(const Invocation *invocation, StrBuf *out);
/* The reference page of the command line; the same as a page for man. */
void help_write_reference(StrBuf *out);
void help_write_man(StrBuf *out);

/* "-e, --env NAME" */
void help_write_option_names(const Option *option, StrBuf *out);
/* What a reader has to know beside the summary: default, choices, that it may be repeated. */
void help_write_option_notes(const Option *option, StrBuf *out);

#endif
