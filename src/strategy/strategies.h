/* The writers that strategy.c dispatches to, a file each. Private to strategy/. */
#ifndef INTERLACE_STRATEGY_STRATEGIES_H
#define INTERLACE_STRATEGY_STRATEGIES_H

#include "strategy/writer.h"

Status replace_write(Writer *writer, Error *err);
Status append_write(Writer *writer, Error *err);
Status merge_write(Writer *writer, Error *err);
Status full_merge_write(Writer *writer, Error *err);
Status hash_merge_write(Writer *writer, Error *err);
Status scd_write(Writer *writer, Error *err);
Status incremental_write(Writer *writer, Error *err);

/* scd.c hands a model with a time column over: scd_event.c. The columns are bound. */
Status scd_event_write(Writer *writer, Error *err);
/* Makes the working table `fresh` of what differs from the open versions: under short names, with `vanished` true for
 * keys that the source no longer gives. `more` is a template of further columns, each with a leading comma. */
void scd_make_fresh(Writer *writer, const char *more);
#define SCD_VANISHED "SELECT DISTINCT {keys #} FROM {work fresh} WHERE vanished"

#endif
