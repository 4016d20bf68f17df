/* One model's build on its builder thread, and its parts: rows, statements, records, windows. Private to run/build*.c.
 */
#ifndef INTERLACE_RUN_BUILD_STEP_H
#define INTERLACE_RUN_BUILD_STEP_H

#include "run/build.h"
#include "run/physical.h"
#include "run/window_scan.h"
#include "strategy/strategy.h"

typedef struct Build {
    BuildContext *context;
    const PlanTask *task;
    BuildTarget target; /* a copy: `is_there` and `seed` change as the build goes on */
    Arena *arena;
    EngineConnection *connection; /* the transactions' */
    ModelResult *result;

    SqlText query;          /* SQL models: as it is sent, in the transaction at hand */
    SqlText prepared_query; /* without what a window puts into it */
    WindowScanVec scans;    /* incremental SQL models: what each window cuts */
    DuckColumnVec columns;
    Str columns_json;
    bool is_recorded; /* the snapshot, verified */
    bool checks_one_by_one;
    StrVec passed;         /* checks that the rows of the last commit passed, all of them */
    PhysicalWork physical; /* indexes and constraints of the target */

    /* Of the transaction at hand. */
    const Window *window; /* NULL: the whole model, or a first build */
    const SqlRelation
        *staged;         /* rows of the window that were read ahead; without a name: it has none. NULL: to be read */
    Window first_range;  /* of a first build, once it is known; empty: the source has no row with a time */
    bool is_first_build; /* of an incremental model: all its rows, or those since `backfill` */
    TimeUs now;
    RowCounts rows;
    Window filled; /* what the ledger gets; empty: nothing */
} Build;

/* `connection` NULL: nothing is written. */
Build build_begin(BuildContext *context, const PlanTask *task, const BuildTarget *target, EngineConnection *connection,
                  Arena *arena, ModelResult *result);

/* ---- build_rows.c */

/* What can be refused before a row is written: for SQL, the query binds and its columns keep the contract. */
MUST_CHECK Status build_prepare(Build *build, Error *err);
/* Writes the rows of the transaction at hand; may be called again after a rollback. Sets rows and columns. */
MUST_CHECK Status build_write_rows(Build *build, Error *err);
/* In a transaction of its own: the rows of the window at hand go into a TEMP table of the connection; without a name
 * when a Python model gave none. */
MUST_CHECK Status build_stage_rows(Build *build, SqlRelation *stage_out, Error *err);

/* ---- build_render.c */

/* Of an incremental SQL model, once its columns are known: what windows will put into its query. Notes a read of the
 * clock of which the model does not say what it shall get. */
MUST_CHECK Status build_prepare_render(Build *build, Error *err);
/* Sets `query` for the window at hand. */
MUST_CHECK Status build_render(Build *build, Error *err);

/* ---- build_strategy.c */

/* Runs the strategy's statements over the model's query or, with `staged`, over a table that holds its rows. */
MUST_CHECK Status build_run_strategy(Build *build, const SqlRelation *staged, Error *err);
/* The condition that a row of the query lies in the window at hand. */
MUST_CHECK Status build_window_condition(const Build *build, Str *condition_out, Error *err);
/* Puts the rows of `target.seed` into the relation. */
MUST_CHECK Status build_copy_seed(Build *build, Error *err);
/* An empty target with the given columns, for an appender (strategy replace). */
MUST_CHECK Status build_create_for_appender(Build *build, Error *err);

/* ---- build_physical.c */

/* What the target should have and has on record. */
void build_read_physical(Build *build);
/* Before the first transaction: a table that is gone on with is brought up to date by itself. */
MUST_CHECK Status build_reconcile_physical(Build *build, Error *err);
/* Inside the transaction that made the table: what is missing. */
MUST_CHECK Status build_create_physical(Build *build, Error *err);

/* ---- build_file.c */

/* Writes the model's file from its query or, with `staged`, from a table that holds its rows. */
MUST_CHECK Status build_deliver_file(Build *build, const SqlRelation *staged, Error *err);

/* ---- build_record.c */

MUST_CHECK Status build_store_snapshot(BuildContext *context, const Snapshot *snapshot, Error *err);
MUST_CHECK Status build_record_snapshot(Build *build, bool is_verified, Error *err);
/* After the rows of a reused relation were checked: its objects are brought up to date, and the version is recorded
 * when it is a new one. */
MUST_CHECK Status build_record_reused(Build *build, Error *err);
MUST_CHECK Status build_record_checks(Build *build, Error *err);
/* After the commit: seed's ledger copied, a leftover's cleared, `filled` added. */
MUST_CHECK Status build_record_ledger(Build *build, Error *err);
/* A restate begins: its range leaves the ledger, so that an interrupted one shows what is to be done. */
MUST_CHECK Status build_take_out(Build *build, Error *err);

/* ---- build_ahead.c */

typedef struct BuildAhead {
    Arena *arena;
    EngineConnection *connection; /* has the table; NULL: none yet */
    SqlRelation rows;             /* as Build.staged */
} BuildAhead;

/* Any thread: reads the rows of a window. `start`: the build as it was before its first window; only read. To be closed
 * in any case. False: it could not; the window is read in its turn, and what is wrong is told there. */
bool build_read_ahead(const Build *start, Window window, BuildAhead *ahead);
void build_ahead_close(BuildAhead *ahead);

/* ---- build_batches.c */

/* The due windows in batches, in the order in which they are done. */
MUST_CHECK Status build_batches(Build *build, WindowVec *batches_out, Error *err);

/* ---- build_windows.c */

/* All windows of an incremental model, each batch a transaction by `build_one`. */
MUST_CHECK Status build_windows(Build *build, Status (*build_one)(Build *build, Error *err), Error *err);
/* Of the time column, as far as it is one: the strategy refuses others. */
TimeColumnKind build_time_kind(const Build *build);
/* Of the rows of the source without a time, when there are any. */
void build_note_untimed(const Build *build, const DuckCell *count);
/* Only a first build of a table of our own with a pinned start, `backfill: 2026-01-01`, takes everything from there on.
 */
MUST_CHECK Status build_first_start(const Build *build, bool *has_start_out, WallUs *start_out, Error *err);
/* Inside the transaction of a first build: the range that its rows cover becomes `first_range`, and what of it is over
 * `filled`. Of an external table before the rows are written (`staged`: where they are; NULL: the query), else after.
 */
MUST_CHECK Status build_find_first_range(Build *build, const SqlRelation *staged, Error *err);

#endif
