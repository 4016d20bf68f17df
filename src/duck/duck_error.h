/* What the engine says when a statement fails, as an Error, and the questions that decide about a retry. */
#ifndef INTERLACE_DUCK_DUCK_ERROR_H
#define INTERLACE_DUCK_DUCK_ERROR_H

#include "base/error.h"

/* The shared memory limit was reached: once more, alone, after a rollback. */
bool duck_error_is_out_of_memory(const Error *err);
/* Another transaction was quicker: the whole transaction may be done again. */
bool duck_error_is_conflict(const Error *err);
bool duck_error_is_interrupt(const Error *err);
/* The text was understood and makes no sense: an unknown column, types that do not go together. */
bool duck_error_is_binder(const Error *err);
/* A table, function, type … of that name is not known. */
bool duck_error_is_catalog(const Error *err);

/* Some calls give a text without the engine's number for its class; the class is then read from the text. */
#define DUCK_ERROR_TYPE_IN_TEXT 0

/* Fills `err` from the engine's text for a failed `sql` (empty: no statement of ours). Message: the text's first line
 * without the name of the error's class. Hint: its advice ("Did you mean …"). Detail `engine_text`: all of it, when it
 * has more lines. The byte position comes with connections that have `errors_as_json` on (duck_connection.c). */
Status duck_error_set(Error *err, Str sql, int engine_type, const char *text);

#endif
