/* A change record as JSON: the ChangeRecord of spec 07 §5, the same in `interlace changes --json` and in what webhooks
 * are sent. */
#ifndef INTERLACE_RUN_CHANGE_JSON_H
#define INTERLACE_RUN_CHANGE_JSON_H

#include "config/json_writer.h"
#include "state/state_store.h"

/* Percent of change from `before`; false: there is none, as from zero. */
bool change_percent(double before, double after, double *percent_out);

/* `scratch`: of texts on the way. */
void change_write_json(const ChangeRecord *change, Arena *scratch, JsonWriter *writer);

#endif
