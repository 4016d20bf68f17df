/* Delivery: what a change of a delivered table or file (`materialise: table`, `file`) means. There is no old version to
 * serve meanwhile and no atomic switch, so it is judged by the columns that were delivered last (spec 03 §6). Pure. */
#ifndef INTERLACE_PLAN_DELIVERY_H
#define INTERLACE_PLAN_DELIVERY_H

#include "duck/duck_connection.h"
#include "engine/engine.h"
#include "plan/plan.h"

/* Where a terminal model delivers: its external table ("alias.table" lies in the schema main), or a name that is the
 * path of its file as it is written. */
SqlRelation delivery_place(const Model *model);

bool delivery_is_shared(const Model *a, const Model *b); /* they deliver to one place */

/* What is recorded of a delivery: JSON list of {name, type}, bookkeeping columns included, key columns with `key`. */
Str delivery_columns_json(const Model *model, const DuckColumnVec *columns, Arena *arena);

/* The newest delivery to the model's present place; NULL: the first one is still to come. */
const Snapshot *delivery_find_last(const SnapshotVec *snapshots, const Model *model);

/* `columns` are the query's; an empty type: not known yet. BREAKING sets `reason_out` ("column 'v' is gone"), others an
 * empty text. */
MUST_CHECK Status delivery_classify(const Model *model, const DuckColumnVec *columns, const Snapshot *last,
                                    Arena *arena, ChangeCategory *category_out, Str *reason_out, Error *err);

/* PlanError (code plan.delivery) about a BREAKING change. */
MUST_CHECK Status delivery_refuse(const Model *model, Str reason, Error *err);

#endif
