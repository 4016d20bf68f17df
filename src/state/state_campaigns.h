/* Campaigns: backfills as durable objects (spec 04 §5). A campaign, the models that take part, and the batches of each;
 * what they mean and which moves are allowed is known to backfill/.
 *
 * Only the process that holds the campaign's lock (LockOptions.name) works on its batches; its writes are fenced by it.
 * `state_campaign_move` is for everybody: so another process pauses a campaign. */
#ifndef INTERLACE_STATE_STATE_CAMPAIGNS_H
#define INTERLACE_STATE_STATE_CAMPAIGNS_H

#include "state/state_store.h"

typedef struct CampaignRecord {
    int64_t id; /* from 1; never used again */
    Str environment;
    Str state;        /* backfill/campaign.h */
    Str options_json; /* what was asked for (backfill/campaign.h) */
    WallUs start, end;
    Str note, who; /* note: may be empty */
    TimeUs created_at;
    TimeUs published_at; /* 0: not yet */
    Str error;           /* why it failed; empty: it did not */
    Str report_json;     /* of the audit; empty: none was made */
} CampaignRecord;
DEFINE_VEC(CampaignRecordVec, campaign_record_vec, CampaignRecord)

/* Of a campaign, in dependency order. */
typedef struct CampaignModelRecord {
    Str model, fingerprint, part;
    Str shown_fingerprint; /* that the environment showed when the campaign began; another one: publication moves it */
    int64_t revision;      /* … and its revision */
    Str engine;
    Str schema, name;         /* the relation that the environment showed; empty: none of its own */
    Str audited;              /* content of the audit relation when it was sealed; empty: not yet */
    Str put_schema, put_name; /* where a publication put the rows, if not in place; else empty */
    int64_t put_revision;
} CampaignModelRecord;
DEFINE_VEC(CampaignModelRecordVec, campaign_model_record_vec, CampaignModelRecord)

typedef struct CampaignBatchRecord {
    Str model;
    int64_t position; /* of the model's batches, oldest first */
    Window window;    /* empty: the whole model */
    Str state;        /* pending, running, done, failed, skipped */
    int64_t attempts, rows;
    double seconds;
    Str error;
    Str published; /* content of what readers see in this window, when the campaign was sealed; empty: not yet */
} CampaignBatchRecord;
DEFINE_VEC(CampaignBatchRecordVec, campaign_batch_record_vec, CampaignBatchRecord)

/* Sets record->id. One transaction. PlanError (code campaign.overlap) naming the other one: it is under way over the
 * same windows of a model in its environment. */
MUST_CHECK Status state_campaign_create(StateStore *store, CampaignRecord *record, const CampaignModelRecordVec *models,
                                        const CampaignBatchRecordVec *batches, Error *err);
/* It may still be published, so that no other one begins over its windows. */
MUST_CHECK Status state_campaign_is_under_way(StateStore *store, int64_t id, bool *is_out, Error *err);
/* Newest first. */
MUST_CHECK Status state_load_campaigns(StateStore *store, Arena *arena, CampaignRecordVec *campaigns_out, Error *err);
/* SelectionError: there is none with this number. */
MUST_CHECK Status state_load_campaign(StateStore *store, int64_t id, Arena *arena, CampaignRecord *campaign_out,
                                      Error *err);
MUST_CHECK Status state_load_campaign_models(StateStore *store, int64_t id, Arena *arena,
                                             CampaignModelRecordVec *models_out, Error *err);
MUST_CHECK Status state_load_campaign_batches(StateStore *store, int64_t id, Arena *arena,
                                              CampaignBatchRecordVec *batches_out, Error *err);

/* Done batches of this version of a model, in whatever campaign. */
MUST_CHECK Status state_load_batch_history(StateStore *store, Str model, Str fingerprint, Arena *arena,
                                           CampaignBatchRecordVec *batches_out, Error *err);

/* What was asked for in a plan that was shown, by its id (backfill/campaign.h); the newest hundred are kept. */
MUST_CHECK Status state_plan_put(StateStore *store, Str id, Str options_json, Error *err);
/* SelectionError: it is not known. */
MUST_CHECK Status state_plan_find(StateStore *store, Str id, Arena *arena, Str *options_json_out, Error *err);

/* Where a publication that is about to begin puts rows that it does not put in place: put_schema, put_name and
 * put_revision. Fenced by the lock `apply`. */
MUST_CHECK Status state_campaign_put_places(StateStore *store, StateLock *lock, int64_t id,
                                            const CampaignModelRecordVec *models, Error *err);

/* From exactly `from`; `is_moved_out` false: it was in another state. */
MUST_CHECK Status state_campaign_move(StateStore *store, int64_t id, Str from, Str to, bool *is_moved_out, Error *err);
MUST_CHECK Status state_campaign_state(StateStore *store, int64_t id, Arena *arena, Str *state_out, Error *err);
MUST_CHECK Status state_campaign_note(StateStore *store, int64_t id, Str note, Error *err);

/* Fenced by the campaign's lock. */
MUST_CHECK Status state_campaign_put_batch(StateStore *store, StateLock *lock, int64_t id,
                                           const CampaignBatchRecord *batch, Error *err);
/* running → failed. */
MUST_CHECK Status state_campaign_fail(StateStore *store, StateLock *lock, int64_t id, Str error, Error *err);
/* From `from` to audited, with what was found: contents of models and batches, and the report. One transaction. */
MUST_CHECK Status state_campaign_seal(StateStore *store, StateLock *lock, int64_t id, Str from,
                                      const CampaignModelRecordVec *models, const CampaignBatchRecordVec *batches,
                                      Str report_json, Error *err);

/* What a publication or a revert makes true besides: one transaction with the move. */
typedef struct CampaignLedgerChange {
    LedgerKey key;
    IntervalSet removed, added; /* in this order */
} CampaignLedgerChange;
DEFINE_VEC(CampaignLedgerChangeVec, campaign_ledger_change_vec, CampaignLedgerChange)

typedef struct CampaignFinish {
    CampaignLedgerChangeVec ledger;
    ChangeRecordVec records;
    Intent intent;    /* pointers that move; its views have moved already */
    PointerVec taken; /* versions that are taken back: unless another environment shows them, nobody is to reuse them */
} CampaignFinish;

/* Fenced by the lock `apply`. Sets the ids of the records. */
MUST_CHECK Status state_campaign_finish(StateStore *store, StateLock *lock, int64_t id, Str from, Str to,
                                        CampaignFinish *finish, Error *err);

/* Campaigns whose relations are still of use, so that gc leaves them: those that are under way, and those that were
 * published at `before` or later. */
MUST_CHECK Status state_campaigns_kept(StateStore *store, TimeUs before, Arena *arena, CampaignRecordVec *campaigns_out,
                                       Error *err);

/* Those that a process left while it published or reverted. */
MUST_CHECK Status state_campaigns_interrupted(StateStore *store, Arena *arena, CampaignRecordVec *campaigns_out,
                                              Error *err);

/* The name of a campaign's relation beside the one that the environment shows. */
#define CAMPAIGN_AUDIT "audit"
#define CAMPAIGN_OVERLAY "overlay"
#define CAMPAIGN_BEFORE "before"
Str campaign_relation_name(Str shown, const char *what, int64_t id, Arena *arena);

#endif
