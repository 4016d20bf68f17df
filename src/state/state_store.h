/* StateStore: the control plane's database (SQLite, WAL, STRICT tables). What was built, what each environment points
 * at, the lock, unfinished promotions, check results, events. Opened by one thread at a time; several processes may
 * share it.
 *
 * state_store_open makes the folder and the file and brings an older format up to date. state_store_open_existing is
 * for commands that only read: it creates and changes nothing, not beside a writer, not after one that was killed, not
 * in a read-only folder; it sees one moment until it is closed; a missing or empty file gives an empty store in memory.
 * Only a file of an older format, or one that needs repair by a writer, is opened as by state_store_open.
 *
 * Errors name the file, and the hint says what to do. ConfigurationError: damaged (code state.corrupt), of a newer
 * format (state.newer), somebody else's database (state.foreign), not to be read (state.unreadable) or written
 * (state.unwritable); ExecutionError: no room (state.full), a failing disk (state.io); LockError: another process keeps
 * it busy for over 10 s (state.busy). What was recorded before is kept in each case. */
#ifndef INTERLACE_STATE_STATE_STORE_H
#define INTERLACE_STATE_STATE_STORE_H

#include "base/clock.h"
#include "base/error.h"
#include "state/change_record.h"
#include "window/interval_set.h"

#define STATE_FORMAT_VERSION 6

typedef struct StateStore StateStore;
typedef struct StateLock StateLock;

MUST_CHECK Status state_store_open(Str path, StateStore **store_out, Error *err); /* created and migrated */
MUST_CHECK Status state_store_open_existing(Str path, StateStore **store_out, Error *err);
void state_store_close(StateStore *store); /* NULL is fine */
DEFINE_AUTO(StateStore, state_store, state_store_close)

/* The project's zone as recorded at creation (empty when not recorded). */
MUST_CHECK Status state_timezone(StateStore *store, Arena *arena, Str *timezone_out, Error *err);
MUST_CHECK Status state_set_timezone(StateStore *store, Str timezone, Error *err);

/* ---- Snapshots: (name, fingerprint, revision) and the relation each points at. */
typedef struct Snapshot {
    Str name, fingerprint;
    int64_t revision;
    Str local_fingerprint, metadata_hash, physical_hash;
    Str definition_sql; /* the model's SQL as in its file; empty for Python (its source is in `definition_source`) */
    Str definition_source;
    Str physical_catalog, physical_schema, physical_name; /* empty: no relation (ephemeral has no row at all) */
    bool is_view;                                         /* the relation is itself a view */
    Str change_category;                                  /* empty: none */
    Str engine;
    TimeUs created_at;
    TimeUs verified_at; /* 0: its checks never passed */
    TimeUs released_at; /* last moment an environment referenced it; 0: never */
    /* Schema of the relation: JSON list of {name, type}. */
    Str columns_json;
    /* Its model's configuration as fingerprints hash it (Model.config_json); empty: recorded before this was kept. */
    Str config_json;
    /* Indexes and constraints that we created there: JSON list (project/physical_objects.h). Recording an empty text
     * keeps what is recorded. */
    Str physical_objects;
} Snapshot;
DEFINE_VEC(SnapshotVec, snapshot_vec, Snapshot)
/* Its relation is interlace's own, so that a view can show it. NULL (ephemeral): no. */
bool snapshot_has_view(const Snapshot *snapshot);

MUST_CHECK Status state_load_snapshots(StateStore *store, Arena *arena, SnapshotVec *snapshots_out, Error *err);

/* Whether a caller needs what defined a version: definition_sql, definition_source, config_json, most of a record. */
typedef bool SnapshotIsRead(const void *context, Str name, Str fingerprint);
/* As state_load_snapshots, but these three are empty where nobody reads them. */
MUST_CHECK Status state_load_snapshots_for(StateStore *store, SnapshotIsRead *is_read, const void *context,
                                           Arena *arena, SnapshotVec *snapshots_out, Error *err);
MUST_CHECK Status state_record_snapshot(StateStore *store, const Snapshot *snapshot,
                                        Error *err); /* insert or replace; empty definitions keep what is recorded */
MUST_CHECK Status state_mark_verified(StateStore *store, Str name, Str fingerprint, int64_t revision, TimeUs at,
                                      Error *err);

/* ---- Ledger: which windows of an incremental model's relation are filled. It belongs to the relation, so snapshots
 * that share a relation share it. Written after the warehouse committed: recorded means committed. */
typedef struct LedgerKey {
    Str engine;
    Str catalog, schema, name; /* of the relation, compared without letter case; catalog empty for owned ones */
} LedgerKey;

/* A relation without a record has an empty ledger. */
MUST_CHECK Status state_ledger_load(StateStore *store, const LedgerKey *key, Arena *arena, IntervalSet *filled_out,
                                    Error *err);
/* One transaction each, fenced by the lock. Windows are not empty (start < end). */
MUST_CHECK Status state_ledger_add(StateStore *store, StateLock *lock, const LedgerKey *key, Window window, Error *err);
/* The same, and the draft of a change record gets the window. */
MUST_CHECK Status state_ledger_add_change(StateStore *store, StateLock *lock, const LedgerKey *key, Window window,
                                          const ChangeProgress *change, Error *err);
MUST_CHECK Status state_ledger_remove(StateStore *store, StateLock *lock, const LedgerKey *key, Window window,
                                      Error *err);
MUST_CHECK Status state_ledger_clear(StateStore *store, StateLock *lock, const LedgerKey *key, Error *err);
MUST_CHECK Status state_ledger_copy(StateStore *store, StateLock *lock, const LedgerKey *from, const LedgerKey *to,
                                    Error *err); /* replaces what `to` had */

/* ---- Environments: model → snapshot. */
typedef struct Pointer {
    Str environment; /* only where pointers of several are loaded */
    Str model, fingerprint;
    int64_t revision;
    TimeUs promoted_at; /* since when; 0 in an intent: the moment of its promotion */
} Pointer;
DEFINE_VEC(PointerVec, pointer_vec, Pointer)

typedef struct EnvironmentSummary {
    Str name;
    size_t pointer_count;
    int64_t generation; /* 0: none */
    TimeUs promoted_at;
} EnvironmentSummary;
DEFINE_VEC(EnvironmentSummaryVec, environment_summary_vec, EnvironmentSummary)

MUST_CHECK Status state_load_pointers(StateStore *store, Str environment, Arena *arena, PointerVec *pointers_out,
                                      Error *err); /* by model name */
/* Of all environments, by model name; of one model prod's first, then in the order in which they were promoted: so the
 * first that shows a relation owns it (spec 04 §2). */
MUST_CHECK Status state_load_all_pointers(StateStore *store, Arena *arena, PointerVec *pointers_out, Error *err);
MUST_CHECK Status state_load_environments(StateStore *store, Arena *arena, EnvironmentSummaryVec *list_out, Error *err);

/* A mapping that an environment had; a new one is made only by a promotion that changes it (spec 03 §7). */
typedef struct Generation {
    int64_t number; /* from 1 */
    TimeUs promoted_at;
    Str command;
    size_t model_count;
} Generation;
DEFINE_VEC(GenerationVec, generation_vec, Generation)

/* Newest first. */
MUST_CHECK Status state_load_generations(StateStore *store, Str environment, Arena *arena,
                                         GenerationVec *generations_out, Error *err);
/* Its mapping, by model name; promoted_at is 0. */
MUST_CHECK Status state_load_generation(StateStore *store, Str environment, int64_t number, Arena *arena,
                                        PointerVec *pointers_out, Error *err);
/* Snapshots that gc took and that were not built again: what a mapping that names one of them cannot show any more. (An
 * ephemeral model has a pointer and never a snapshot.) */
MUST_CHECK Status state_load_reclaimed(StateStore *store, Arena *arena, PointerVec *pointers_out, Error *err);

/* ---- Promotion: (a) intent, (b) views on the engine, (c) commit. Views can be made again at will. */
typedef struct IntentView {
    Str engine;
    Str view_schema, view_name;
    Str relation_schema, relation_name; /* empty name: the view is dropped */
} IntentView;
DEFINE_VEC(IntentViewVec, intent_view_vec, IntentView)

/* An intent of this command leaves the history as it is: no generation for an empty mapping. */
#define COMMAND_ENV_DROP "env drop"

typedef struct Intent {
    int64_t id;
    Str environment;
    PointerVec put; /* pointers to set */
    StrVec removed; /* models whose pointer goes */
    IntentViewVec views;
    Str command; /* "apply", …; COMMAND_ENV_DROP */
    TimeUs created_at;
    ChangeRecordVec changes; /* drafts that its commit makes records; not loaded again */
} Intent;
DEFINE_VEC(IntentVec, intent_vec, Intent)

/* ---- The lock `apply`: lease of 180 s, renewed every 60 s by a thread of the store; fenced by its token. */
typedef struct LockHolder {
    Str command, host;
    int64_t pid;
    TimeUs since;
} LockHolder;

typedef struct LockOptions {
    Str name; /* empty: apply. Another one is held beside it, by whom it concerns: "campaign 3" */
    Str command;
    int64_t timeout_us; /* 0: fail at once; default of the CLI is 60 s */
    int64_t lease_us;   /* 0: 180 s; tests shorten it. Renewed when a third of it is over */
    /* Called once after 2 s of waiting, and never again. */
    void (*on_wait)(void *context, const LockHolder *holder);
    /* True ends the waiting with ERROR_INTERRUPTED. */
    bool (*is_cancelled)(void *context);
    void *context;
} LockOptions;

/* LockError names holder, command, pid, host and since when. A holder on this host whose process is gone (pid and start
 * time) is taken over at once. */
MUST_CHECK Status state_lock_acquire(StateStore *store, const LockOptions *options, StateLock **lock_out, Error *err);
void state_lock_release(StateLock *lock); /* NULL is fine; also ends the renewing thread */
DEFINE_AUTO(StateLock, state_lock, state_lock_release)
/* The lock as it stands, for whoever looks at it. */
typedef struct LockState {
    bool is_held;
    bool is_dead; /* its process is gone, or its lease over: the next command takes it */
    LockHolder holder;
} LockState;
MUST_CHECK Status state_lock_look(StateStore *store, Arena *arena, LockState *lock_out, Error *err);
/* Removes a dead lock; LockError names the holder of one that lives. */
MUST_CHECK Status state_lock_break(StateStore *store, Error *err);
/* LockError when the lease was lost. */
MUST_CHECK Status state_lock_check(StateLock *lock, Error *err);

/* (a): writes the intent; fenced. An unfinished intent of the environment must be finished first (ERROR_INTERNAL). */
MUST_CHECK Status state_intent_begin(StateStore *store, StateLock *lock, Intent *intent, Error *err); /* sets id */
/* (c): pointers, generation (only when the full mapping differs from the latest), released_at, intent deleted; fenced.
 * `generation_out` gets the newest generation. */
MUST_CHECK Status state_intent_commit(StateStore *store, StateLock *lock, const Intent *intent, int64_t *generation_out,
                                      Error *err);
/* Forgets an intent whose views cannot be made; fenced. Only right while none of its views has moved. */
MUST_CHECK Status state_intent_abandon(StateStore *store, StateLock *lock, const Intent *intent, Error *err);
MUST_CHECK Status state_load_intents(StateStore *store, Arena *arena, IntentVec *intents_out, Error *err);

/* ---- Garbage (spec 03 §10). A snapshot that goes leaves a record in its place until its relation is dropped, and for
 * as long as a generation names it; so a drop that fails, or a process that dies, is taken up by the next gc. */
typedef struct ReclaimedSnapshot {
    Str name, fingerprint;
    int64_t revision;
    Str engine, physical_schema, physical_name; /* an empty name: it has no relation of interlace's own */
} ReclaimedSnapshot;
DEFINE_VEC(ReclaimedSnapshotVec, reclaimed_snapshot_vec, ReclaimedSnapshot)

/* What state_gc_take would take: neither an environment nor an intent has it, and it was made and last shown at
 * `before` or earlier. `kept_out`: how many snapshots would be left. */
MUST_CHECK Status state_gc_candidates(StateStore *store, TimeUs before, Arena *arena, ReclaimedSnapshotVec *found_out,
                                      int64_t *kept_out, Error *err);
/* One transaction, fenced: the snapshots go, with the ledgers of relations that no other snapshot has. */
MUST_CHECK Status state_gc_take(StateStore *store, StateLock *lock, TimeUs before, Error *err);
/* Those whose relation is still to be dropped, from this gc and from earlier ones. */
MUST_CHECK Status state_gc_undropped(StateStore *store, Arena *arena, ReclaimedSnapshotVec *found_out, Error *err);
/* A relation by its names. */
typedef struct DroppedRelation {
    Str engine, schema, name;
} DroppedRelation;
DEFINE_VEC(DroppedRelationVec, dropped_relation_vec, DroppedRelation)
/* These relations are gone, or belong to another snapshot now. One transaction, fenced. */
MUST_CHECK Status state_gc_dropped(StateStore *store, StateLock *lock, const DroppedRelationVec *relations, Error *err);
/* Those of `relations` that a snapshot has. */
MUST_CHECK Status state_recorded_relations(StateStore *store, const DroppedRelationVec *relations, Arena *arena,
                                           DroppedRelationVec *recorded_out, Error *err);
/* Since when a relation is known to have no snapshot: `now` when it is seen for the first time. Fenced. */
MUST_CHECK Status state_orphan_note(StateStore *store, StateLock *lock, Str engine, Str schema, Str name, TimeUs now,
                                    TimeUs *seen_at_out, Error *err);
/* Forgets notes older than `before`, and those of relations that a snapshot has. Fenced. */
MUST_CHECK Status state_orphans_forget(StateStore *store, StateLock *lock, TimeUs before, Error *err);

typedef struct GcTrimmed {
    int64_t events, checks, generations;
} GcTrimmed;
/* Events and check results older than `before`, all but the newest 50 generations of each environment. Fenced. */
MUST_CHECK Status state_gc_trim(StateStore *store, StateLock *lock, TimeUs before, GcTrimmed *trimmed_out, Error *err);

/* All that is recorded goes, but for what was delivered outside: its snapshots, and the pointers that name them.
 * Fenced. */
MUST_CHECK Status state_reset(StateStore *store, StateLock *lock, Error *err);

/* ---- Check results (spec 05 §5). */
typedef struct CheckResult {
    int64_t id;
    Str environment, model, fingerprint, check_name, check_type, severity, status; /* status: passed, failed, error */
    int64_t failures;
    Str message; /* empty: none */
    TimeUs executed_at;
    double seconds;
    Str trigger;     /* apply, run, adhoc, backfill */
    Str run_id;      /* of the command; empty: recorded by format 2 */
    Str sample_json; /* up to 100 failing rows {"columns": […], "rows": [[…]]}; empty: none */
} CheckResult;
DEFINE_VEC(CheckResultVec, check_result_vec, CheckResult)

typedef struct CheckResultFilter {
    Str model, environment, status, check; /* empty: any */
    TimeUs since;                          /* 0: any */
    int64_t limit;                         /* 0: none */
} CheckResultFilter;

MUST_CHECK Status state_record_checks(StateStore *store, const CheckResultVec *results,
                                      Error *err); /* one transaction */
MUST_CHECK Status state_load_checks(StateStore *store, const CheckResultFilter *filter, Arena *arena,
                                    CheckResultVec *results_out, Error *err); /* newest first */

/* ---- Change records (state/change_record.h). */

/* Sets the drafts' ids. One transaction, fenced. */
MUST_CHECK Status state_changes_begin(StateStore *store, StateLock *lock, ChangeRecordVec *drafts, Error *err);
MUST_CHECK Status state_has_drafts(StateStore *store, bool *has_out, Error *err);
/* What a committed transaction of the warehouse did, when no ledger entry tells it. Fenced. */
MUST_CHECK Status state_change_add(StateStore *store, StateLock *lock, const ChangeProgress *change, Error *err);
/* Drafts of a command that goes no further, or of a dead one: what readers see is recorded, the rest goes. Fenced. */
MUST_CHECK Status state_changes_settle(StateStore *store, StateLock *lock, Error *err);

typedef struct ChangeFilter {
    Str model, environment; /* empty: any */
    TimeUs since;           /* 0: any */
    int64_t limit;          /* 0: none */
    bool unpublished;       /* only those that are not in the warehouse's table yet */
    Str notice;             /* only what this notice tells; empty: any */
    bool oldest_first;      /* else the newest */
} ChangeFilter;
MUST_CHECK Status state_load_changes(StateStore *store, const ChangeFilter *filter, Arena *arena,
                                     ChangeRecordVec *changes_out, Error *err);
MUST_CHECK Status state_count_changes(StateStore *store, int64_t *count_out, int64_t *unpublished_out, Error *err);
/* All that are recorded are in the warehouse's table now. Fenced. */
MUST_CHECK Status state_changes_published(StateStore *store, StateLock *lock, Error *err);

/* ---- Notices: messages to webhooks about changes, each until it is delivered. */
typedef struct Notice {
    Str id; /* 32 hex digits; receivers know a repetition by it */
    Str hook;
    TimeUs created_at;
    int64_t attempts; /* so far */
    TimeUs next_try_at;
    bool is_dead;   /* given up */
    Str last_error; /* empty: none was sent yet */
    int64_t change_count;
} Notice;
DEFINE_VEC(NoticeVec, notice_vec, Notice)

MUST_CHECK Status state_has_due_notices(StateStore *store, TimeUs now, bool *has_out, Error *err);
/* Those that are not delivered, oldest first; `due_at` not 0: only those that may be sent then. */
MUST_CHECK Status state_load_notices(StateStore *store, TimeUs due_at, Arena *arena, NoticeVec *notices_out,
                                     Error *err);
/* Before one is sent: nobody else sends it before `until`. False: somebody did, or does. */
MUST_CHECK Status state_notice_take(StateStore *store, Str id, TimeUs now, TimeUs until, bool *is_taken_out,
                                    Error *err);
MUST_CHECK Status state_notice_delivered(StateStore *store, Str id, TimeUs now, Error *err);
MUST_CHECK Status state_notice_failed(StateStore *store, Str id, TimeUs next_try_at, bool is_dead, Str reason,
                                      Error *err);
/* To be sent from the beginning: one, or with an empty id all that are not delivered. */
MUST_CHECK Status state_notices_revive(StateStore *store, Str id, TimeUs now, int64_t *count_out, Error *err);

/* ---- Events: what happened, for whoever looks later. */
MUST_CHECK Status state_record_event(StateStore *store, Str type, Str entity, Str payload_json, Error *err);

#endif
