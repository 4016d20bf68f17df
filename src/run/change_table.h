/* The table `interlace.changes` in the default engine's database: the records of the state, for those who read the
 * warehouse only. The state is what counts: the table is written after it, and made good from it. */
#ifndef INTERLACE_RUN_CHANGE_TABLE_H
#define INTERLACE_RUN_CHANGE_TABLE_H

#include "run/session.h"

/* Writes what the table lacks, all of it when it is not there. Opens the warehouse only when something is known to be
 * missing; one that is open already is looked at. Nothing without any record. */
MUST_CHECK Status change_table_update(Session *session, StateStore *state, StateLock *lock, Error *err);

#endif
