/* Change records: what a command changed of what an environment shows, in which periods, why, by whom (spec 04 §8).
 *
 * A record is written in the state transaction that makes it true, never before and never after: a process that dies
 * can neither lose nor double one. What becomes true later is a draft until then:
 *
 *     state_changes_begin        drafts: what this command is about to change
 *     state_ledger_add, …        in the transaction of each committed window: it is in its draft
 *     state_intent_commit        drafts of the environment become records, with the pointers
 *     state_changes_settle       after a failure, or of a dead process: what readers see already is recorded, the rest
 *                                is forgotten
 *
 * A promotion that builds nothing gives its drafts to the intent (Intent.changes). A transaction of this folder that
 * makes something true at once writes records by state_write_changes (state_sql.h). */
#ifndef INTERLACE_STATE_CHANGE_RECORD_H
#define INTERLACE_STATE_CHANGE_RECORD_H

#include "base/clock.h"
#include "window/interval_set.h"

typedef enum ChangeKind {
    CHANGED_BY_PUBLICATION, /* of a campaign */
    CHANGED_BY_RESTATE,
    CHANGED_BY_FORWARD_ONLY,
    CHANGED_BY_ROLLBACK,
    CHANGED_BY_REVERT,    /* of a publication */
    CHANGED_BY_PROMOTION, /* other rows than before went live: a breaking change, another environment's version */
    CHANGED_BY_RUN,       /* told only because the command had a note */
    CHANGE_KIND_COUNT
} ChangeKind;

#define CHANGE_ROWS_UNKNOWN (-1)

typedef struct ChangeRecord {
    int64_t id; /* rises; set when it is written */
    ChangeKind kind;
    Str environment, model;
    IntervalSet windows;             /* wall time of the project's zone; empty: the whole table */
    int64_t rows_before, rows_after; /* of these windows, or CHANGE_ROWS_UNKNOWN */
    Str measure;                     /* the sum that moved most; empty: none was compared */
    double measure_before, measure_after;
    Str note; /* empty: none */
    Str who;
    TimeUs at;        /* when it became true */
    int64_t campaign; /* 0: none */
    StrVec hooks;     /* webhooks of `notify:` that are told; not loaded again */

    bool is_in_place; /* draft: readers see each window as soon as it is committed, whatever becomes of the promotion */
    bool is_begun;    /* draft: there is something to record already */
} ChangeRecord;
DEFINE_VEC(ChangeRecordVec, change_record_vec, ChangeRecord)

/* What one more transaction of the warehouse did for a draft. */
typedef struct ChangeProgress {
    int64_t draft;                   /* 0: of none */
    Window window;                   /* empty: the whole table */
    int64_t rows_before, rows_after; /* CHANGE_ROWS_UNKNOWN makes the draft's sum unknown */
} ChangeProgress;

const char *change_kind_name(ChangeKind kind); /* "forward_only" */

#endif
