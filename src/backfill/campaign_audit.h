/* The audit of a campaign: what readers see against what it made, and what they would see (spec 04 §6). */
#ifndef INTERLACE_BACKFILL_CAMPAIGN_AUDIT_H
#define INTERLACE_BACKFILL_CAMPAIGN_AUDIT_H

#include "backfill/audit_sql.h"
#include "backfill/audit_verdict.h"
#include "backfill/campaign.h"

typedef struct AuditedThreshold {
    AuditThreshold threshold;
    AuditFigure figure;
    bool holds;
} AuditedThreshold;
DEFINE_VEC(AuditedThresholdVec, audited_threshold_vec, AuditedThreshold)

typedef struct ModelAudit {
    const CampaignModel *model;
    int64_t rows_old, rows_new;
    StrVec key;                      /* that rows were paired by; empty: rows are compared whole, as a multiset */
    bool keys_repeat;                /* of `key`: which values changed cannot be told, nor which keys moved most */
    int64_t added, removed, changed; /* keys; without one, rows */
    AuditColumnVec columns;
    DuckRows windows, moved_windows; /* audit_sql_windows */
    DuckRows moved_keys;             /* audit_sql_moved_keys; no columns: not known */
    AuditedThresholdVec thresholds;
    CheckResultVec checks; /* on what readers would see */
    AuditVerdict verdict;
} ModelAudit;

/* The report as it is stored with the campaign and printed by --json. */
MUST_CHECK Status campaign_audit(const Campaign *campaign, Arena *arena, Str *report_json_out, Error *err);

/* Not known of a column that has no sums. */
AuditFigure audit_sums(const AuditColumn *column);

/* The report of one model, as the value that the writer waits for. */
void audit_write_model(const ModelAudit *audit, JsonWriter *json, Arena *arena);

#endif
