/* What an audit's figures decide (spec 04 §6). Pure; any thread. */
#ifndef INTERLACE_BACKFILL_AUDIT_VERDICT_H
#define INTERLACE_BACKFILL_AUDIT_VERDICT_H

#include "config/config_value.h"

/* One entry of a model's `audit:` key. */
typedef struct AuditThreshold {
    Str measure; /* rows, keys_added, keys_removed, keys_changed, or a column's sum */
    Str limit;   /* as it was written */
    double amount;
    bool is_percent; /* of what was there before; else a difference in the figure itself */
} AuditThreshold;
DEFINE_VEC(AuditThresholdVec, audit_threshold_vec, AuditThreshold)

/* Of `model->audit`, which was checked when it was read; NULL gives none. */
AuditThresholdVec audit_thresholds(const ConfigValue *audit, Arena *arena);

/* `before` and `after` as far as they are known: not for a column that has no sum. */
typedef struct AuditFigure {
    bool is_known;
    double before, after;
} AuditFigure;

/* Sums of floats depend on the order of their rows: differences of so small a part are none. */
#define AUDIT_NOISE 1e-12
/* In percent of `before`; false: it is not to be told, since there was nothing before or a figure is no number. */
bool audit_change_percent(AuditFigure figure, double *percent_out);
/* An unknown figure holds no threshold. */
bool audit_threshold_holds(const AuditThreshold *threshold, AuditFigure figure);

typedef enum AuditVerdict { AUDIT_ACCEPT, AUDIT_NEEDS_ACCEPTANCE, AUDIT_BLOCKED } AuditVerdict;
Str audit_verdict_name(AuditVerdict verdict);

/* Whether a campaign with this report (NULL: none was made) may be published, when `accepted` names the thresholds that
 * need not hold, as `model.measure`. PlanError: audit.blocked names the checks that fail, audit.acceptance the
 * thresholds that are still to be accepted. SelectionError: a name of `accepted` is no threshold. */
MUST_CHECK Status audit_gate(const ConfigValue *report, int64_t campaign, const StrVec *accepted, Error *err);

#endif
