/* Outcomes of checks as text and JSON; used by apply and by the commands of checks. */
#ifndef INTERLACE_CLI_CHECK_TEXT_H
#define INTERLACE_CLI_CHECK_TEXT_H

#include "cli/terminal.h"
#include "state/state_store.h"

#include "config/json_writer.h"

/* `Outcome` of spec 07 §5, with `type` beside `check_type`. */
void check_write_outcome(const CheckResult *result, JsonWriter *writer);
/* The record of `checks list`. */
void check_write_record(const CheckResult *result, Arena *arena, JsonWriter *writer);

bool check_has_passed(const CheckResult *result);
/* green passed, red failed with severity error, else yellow */
Style check_style(const CheckResult *result);

#endif
