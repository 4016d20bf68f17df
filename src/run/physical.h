/* Indexes and constraints in the warehouse (spec 01 §12.4). What stands on a table is asked of its catalog, so that a
 * process that died between a commit and its record leaves nothing that is made twice.
 *
 * DuckDB alters no column of a table that has an index, and makes no index on a table that the open transaction has
 * updated. So a table that is new gets its objects in the transaction that makes it, NOT NULL first; one that is gone
 * on with is brought up to date before, in transactions of its own. */
#ifndef INTERLACE_RUN_PHYSICAL_H
#define INTERLACE_RUN_PHYSICAL_H

#include "engine/engine.h"
#include "project/physical_objects.h"

typedef struct PhysicalWork {
    PhysicalPlace place;
    SqlRelation relation; /* an empty name: there is nothing to do */
    bool is_owned;
    PhysicalObjectVec wanted;
    PhysicalObjectVec recorded; /* on this relation, before */
} PhysicalWork;

/* `record`: of `relation`; empty: none. */
PhysicalWork physical_work(const Project *project, const Model *model, SqlRelation relation, Str record, Arena *arena);

/* Creates what is wanted and not there; in the open transaction, if there is one. */
MUST_CHECK Status physical_create(PhysicalWork *work, EngineConnection *connection, Arena *arena, Error *err);
/* Drops what is recorded and not wanted, then creates what is missing. Outside of a transaction; the table is there. */
MUST_CHECK Status physical_reconcile(PhysicalWork *work, EngineConnection *connection, Arena *arena, Error *err);

/* What the snapshot's row says afterwards; empty: nothing was ever there, the row stays as it is. */
Str physical_record(const PhysicalWork *work, Arena *arena);

#endif
