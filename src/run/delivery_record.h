/* The record of appends beside their target, in its schema: a repeated run of the same id finds itself there and writes
 * nothing (spec 02 §4.2), and so does an apply after one that died. It is written in the delivery's own transaction, so
 * the two agree whatever dies. */
#ifndef INTERLACE_RUN_DELIVERY_RECORD_H
#define INTERLACE_RUN_DELIVERY_RECORD_H

#include "run/build_step.h"

/* Before builders start, whose transactions would conflict: the schema of a delivered table, and for an append the
 * table of records. */
MUST_CHECK Status delivery_prepare(EngineConnection *connection, const Model *model, Error *err);

/* Inside the delivery's transaction; only for strategy append. */
MUST_CHECK Status delivery_was_made(Build *build, bool *was_made_out, Error *err);
MUST_CHECK Status delivery_record(Build *build, Error *err);

#endif
