/* What a command that builds prints for programs: the document of spec 07 §5 (ApplyResponse), and one line an event. */
#ifndef INTERLACE_CLI_APPLY_JSON_H
#define INTERLACE_CLI_APPLY_JSON_H

#include "cli/cli.h"
#include "run/apply.h"

/* The fields of the document, into the object that is open. `checks`: all outcomes, in dependency order. */
void apply_write_response(const ApplyResult *result, const CheckResultVec *checks, JsonWriter *writer);

/* What such a command does with each event: on the console and, where lines are asked for, as one of them: {"ts",
 * "event", …}; not so EVENT_SUMMARY, whose line is made from the whole result. */
void apply_tell_event(Cli *cli, const Event *event);
/* The last line of any such command up to its fields, into which the caller writes; and its end. */
void event_summary_line_begin(JsonWriter *writer, StrBuf *out);
void event_summary_line_end(JsonWriter *writer, StrBuf *out);
/* The last line: the document's fields, and `error` or `errors` when it failed. `result` may be NULL. */
void apply_append_summary_line(const ApplyResult *result, const CheckResultVec *checks, const ErrorList *faults,
                               StrBuf *out);

#endif
