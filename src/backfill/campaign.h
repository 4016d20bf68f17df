/* Campaign: a backfill as it is worked with: what was asked for, and what project, state and warehouse make of it
 * (spec 04 §4). Everything is decided in campaign_open; the rest of the folder carries it out.
 *
 *     campaign_open → look at models, refusals, stale → campaign_create → campaign_work
 *     campaign_open_created → campaign_work, campaign_publish, campaign_revert
 */
#ifndef INTERLACE_BACKFILL_CAMPAIGN_H
#define INTERLACE_BACKFILL_CAMPAIGN_H

#include "backfill/campaign_state.h"
#include "run/build.h"
#include "state/state_campaigns.h"

typedef struct CampaignOptions {
    Str environment;
    StrVec select, exclude;
    Str start, end;      /* ISO texts; an empty end: now */
    int64_t batch;       /* most grains of a statement; 0: the model's own */
    int64_t concurrency; /* most batches at once: in all, and of models without a number of their own; 0: one each */
    bool newest_first;
    bool gaps;                             /* only windows that are not filled; else all of the range */
    bool skips_audit;                      /* no report */
    bool publishes;                        /* at once, when nothing speaks against it */
    bool allow_refused;                    /* without the refused models */
    bool no_stale;                         /* models left stale are an error */
    bool delivers;                         /* terminal models, too */
    int64_t max_us, max_rows, max_windows; /* refused when more is expected, paused when it takes more; 0: none */
    Str hours; /* in which batches are begun, as campaign_hours_parse takes them; empty: at any */
    Str note;
} CampaignOptions;

typedef enum CampaignPart {
    PART_WINDOWED, /* incremental: window by window */
    PART_WHOLE,    /* rebuilt by its own strategy */
    PART_HISTORY,  /* scd by event time: replayed from the first event */
    PART_CURSOR,   /* Python: called with None */
    PART_VIEW,     /* has no rows of its own; inlined ones as well */
    PART_TERMINAL, /* delivered outside of the warehouse, when the others are published */
    PART_REFUSED,
    PART_COUNT
} CampaignPart;
Str campaign_part_name(CampaignPart part);
bool campaign_part_find(Str name, CampaignPart *part_out);

/* What a windowed model reads of an upstream. */
typedef struct CampaignRead {
    Str upstream;
    Str time_column;    /* empty: no window cuts it */
    Str min, max;       /* of that column, as the engine writes them; empty: no rows, or not asked */
    Str missing_before; /* wall time; the range begins before the oldest row. Empty: it does not */
} CampaignRead;
DEFINE_VEC(CampaignReadVec, campaign_read_vec, CampaignRead)

/* What it will take, from what it took before. */
typedef struct CampaignEstimate {
    bool is_known;
    int64_t rows;
    double seconds;
    double least, most; /* seconds, as the quickest and the slowest of the measured batches had it */
    int64_t bytes;      /* read from files, -1: not known */
    int64_t peak;       /* bytes of memory that the process had at most, -1: not known */
    Str source;         /* "history (41 windows)", "probe (7 windows, 2026-08-01)" */
} CampaignEstimate;

/* One of the selection, at the index of its task. */
typedef struct CampaignModel {
    const Model *model;
    const PlanTask *task;
    BuildTarget target; /* what the environment shows */
    bool is_changed;    /* the environment shows another version; publication makes this one live (campaign_change.h) */
    bool moves;         /* publication shows another relation: changed, or what is shown is another environment's */
    BuildTarget put;    /* where publication puts the rows: `target` or, of one that moves, a relation of its own */
    SqlRelation shown;  /* that of `target` when the campaign began */
    CampaignPart part;
    Str reason, hint; /* REFUSED */
    SourceSpan place; /* REFUSED: where; the model's own otherwise */

    IntervalSet windows; /* WINDOWED: to be done */
    WindowVec batches;   /* WINDOWED: oldest first */
    int64_t filled;      /* grains of `windows` that the ledger has */
    WindowScanVec scans;
    TimeColumnKind time_kind; /* WINDOWED: of the table that is there */
    CampaignReadVec reads;
    StrVec notes;
    CampaignEstimate estimate;

    SqlRelation audit, overlay, before; /* once it is created */
} CampaignModel;

typedef struct Campaign {
    Arena *arena;
    Session *session;
    CampaignOptions options;
    int64_t id; /* 0: not created */
    CampaignRecord record;
    StateStore *state;
    Plan *plan;
    PointerVec pointers; /* of the environment */
    const Zone *zone;
    Window range;
    CampaignModel *models;
    size_t model_count;
    CampaignModel **by_model;  /* a model of the project each; NULL: it is not selected */
    CampaignEstimate estimate; /* of all models; not known when that of one is not */
    StrVec stale;              /* models behind the selection that will not fit it */

    ApplyOptions apply; /* what its builds are told */
    EngineConnection *connection;
    BuildTarget *targets;
    RelationMap shown;  /* what the environment shows; of changed models as their new queries would have it */
    RelationMap inside; /* what the campaign's models read of each other, once it is created */
    BuildContext build;
} Campaign;

/* What was asked for, as the state keeps it. */
Str campaign_options_json(const CampaignOptions *options, Arena *arena);
MUST_CHECK Status campaign_options_read(Str json, Arena *arena, CampaignOptions *options_out, Error *err);

/* `writes`: the warehouse is opened for writing. Nothing is written. The session must outlive it. Looks at what the
 * windows read, and estimates what they take. */
MUST_CHECK Status campaign_open(Session *session, const CampaignOptions *options, bool writes, Campaign **campaign_out,
                                ErrorList *faults);
/* One that is recorded: of its models, with the windows and batches that it began with. PlanError (campaign.changed): a
 * model was edited since or is gone, or the environment shows another version of it. */
MUST_CHECK Status campaign_open_created(Session *session, int64_t id, bool writes, Campaign **campaign_out,
                                        ErrorList *faults);
/* Private to this folder: either of them; `id` 0: it is not recorded. */
MUST_CHECK Status campaign_open_as(Session *session, const CampaignOptions *options, int64_t id, bool writes,
                                   Campaign **campaign_out, ErrorList *faults);
/* What is left of its use is its state. */
void campaign_close_warehouse(Campaign *campaign);
void campaign_close(Campaign *campaign); /* NULL is fine */
DEFINE_AUTO(Campaign, campaign, campaign_close)

/* Each refusal that stands in the way, and with `no_stale` what would be left stale, is an error. */
MUST_CHECK Status campaign_check(const Campaign *campaign, ErrorList *faults);

/* Where the campaign's rows of the model go, as a build takes it; without windows that are due. */
void campaign_aside_target(const CampaignModel *model, BuildTarget *target_out);
/* Names of what it makes, once it has an id, and what its models read of each other. */
void campaign_name_relations(Campaign *campaign);

/* Sets the estimates that earlier campaigns allow. */
MUST_CHECK Status campaign_estimate(Campaign *campaign, Error *err);
/* Runs one batch of each model beside what readers see, two where there are more of that size, and drops them again:
 * for estimates. */
MUST_CHECK Status campaign_probe(Campaign *campaign, Error *err);

/* Stands for all that the plan was made from: what was asked for, versions, windows, ledgers, what sources hold. Equal
 * ids mean equal plans. */
Str campaign_plan_id(const Campaign *campaign, Arena *arena);

/* Records it as running. Errors as state_campaign_create; PlanError: there is nothing to do. */
MUST_CHECK Status campaign_create(Campaign *campaign, Error *err);

/* By the index in the project (MODEL_NONE is fine), or by name. NULL: it is not selected. */
CampaignModel *campaign_model_at(const Campaign *campaign, size_t model);
CampaignModel *campaign_find_model(const Campaign *campaign, Str name);

/* The relation of a campaign beside one that the environment shows. */
SqlRelation campaign_relation(SqlRelation shown, const char *what, int64_t id, Arena *arena);

/* It cannot take part. */
void campaign_refuse(CampaignModel *model, SourceSpan place, Str reason, Str hint);

/* What the environment has of a model; NULL: nothing. */
const Pointer *campaign_pointer(const Campaign *campaign, Str model);

/* Of its grain in the window; 1 of a model that has no windows. */
int64_t campaign_grains(const CampaignModel *model, Window window);

/* Its rows lie in relations of its own: neither a view, nor delivered elsewhere, nor refused. */
bool campaign_model_has_rows(const CampaignModel *model);

#endif
