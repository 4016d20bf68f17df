#include "backfill/audit_verdict.h"

#include <math.h>

/* ---- Thresholds. */

AuditThresholdVec audit_thresholds(const ConfigValue *audit, Arena *arena) {
    AuditThresholdVec thresholds = {0};
    for (size_t i = 0; audit != NULL && i < audit->count; i++) {
        Str limit = audit->entries[i].value->text;
        AuditThreshold threshold = {
            .measure = audit->entries[i].key, .limit = limit, .is_percent = str_ends_with(limit, STR("%"))};
        Str number = threshold.is_percent ? str_slice(limit, 0, limit.size - 1) : limit;
        if (str_to_double(str_trim(number), &threshold.amount)) {
            audit_threshold_vec_push(arena, &thresholds, threshold);
        }
    }
    return thresholds;
}

static double difference(AuditFigure figure) {
    double change = fabs(figure.after - figure.before);
    return change <= AUDIT_NOISE * fmax(fabs(figure.before), fabs(figure.after)) ? 0 : change;
}

bool audit_change_percent(AuditFigure figure, double *percent_out) {
    if (!figure.is_known || !isfinite(figure.before) || !isfinite(figure.after)) {
        return false;
    }
    double change = difference(figure);
    if (change > 0 && figure.before == 0) {
        return false;
    }
    double percent = change == 0 ? 0 : 100 * change / fabs(figure.before);
    *percent_out = figure.after < figure.before ? -percent : percent;
    return true;
}

bool audit_threshold_holds(const AuditThreshold *threshold, AuditFigure figure) {
    if (!figure.is_known) {
        return false;
    }
    if (!threshold->is_percent) {
        return difference(figure) <= threshold->amount;
    }
    double percent;
    return audit_change_percent(figure, &percent) && fabs(percent) <= threshold->amount;
}

Str audit_verdict_name(AuditVerdict verdict) {
    static const Str names[] = {
        [AUDIT_ACCEPT] = STR_INIT("accept"),
        [AUDIT_NEEDS_ACCEPTANCE] = STR_INIT("needs_acceptance"),
        [AUDIT_BLOCKED] = STR_INIT("blocked"),
    };
    return names[verdict];
}

/* ---- The gate. It reads the report that is stored, so that nothing is judged but what was shown. */

static const ConfigValue *list_of(const ConfigValue *map, const char *key, size_t *count_out) {
    const ConfigValue *list = config_find(map, str_from(key));
    *count_out = list == NULL || list->kind != CONFIG_LIST ? 0 : list->count;
    return list;
}

static void list_blocking(const ConfigValue *model, Arena *arena, StrVec *names) {
    size_t count;
    const ConfigValue *checks = list_of(model, "checks", &count);
    for (size_t i = 0; i < count; i++) {
        const ConfigValue *check = checks->items[i];
        bool is_failing = !str_equal(config_text(check, STR("status")), STR("passed"));
        if (is_failing && str_equal(config_text(check, STR("severity")), STR("error"))) {
            Str model_name = config_text(model, STR("name")), check_name = config_text(check, STR("name"));
            str_vec_push(arena, names,
                         str_format(arena, STR_FMT "." STR_FMT, STR_ARG(model_name), STR_ARG(check_name)));
        }
    }
}

/* `known`: all of them; `pending`: those that do not hold. */
static void list_thresholds(const ConfigValue *model, Arena *arena, StrVec *known, StrVec *pending) {
    size_t count;
    const ConfigValue *thresholds = list_of(model, "thresholds", &count);
    for (size_t i = 0; i < count; i++) {
        const ConfigValue *threshold = thresholds->items[i];
        Str model_name = config_text(model, STR("name")), measure = config_text(threshold, STR("measure"));
        Str name = str_format(arena, STR_FMT "." STR_FMT, STR_ARG(model_name), STR_ARG(measure));
        str_vec_push(arena, known, name);
        if (!str_equal(config_text(threshold, STR("holds")), STR("true"))) {
            str_vec_push(arena, pending, name);
        }
    }
}

static Status check_accepted(const StrVec *accepted, const StrVec *known, Arena *arena, Error *err) {
    for (size_t i = 0; i < accepted->count; i++) {
        if (str_vec_contains_fold(known, accepted->items[i])) {
            continue;
        }
        Str names = str_join(arena, known->items, known->count, STR(", "));
        (void)error_set(err, ERROR_SELECTION, "'" STR_FMT "' is no threshold of this campaign's audit",
                        STR_ARG(accepted->items[i]));
        if (known->count > 0) {
            error_hint(err, "its thresholds are: " STR_FMT, STR_ARG(names));
        } else {
            error_hint(err, "a model's `audit:` key gives thresholds, as {rows: 1%%, revenue: 5%%}");
        }
        return FAILED;
    }
    return OK;
}

static Status refuse_blocked(int64_t campaign, const StrVec *names, Arena *arena, Error *err) {
    Str text = str_join(arena, names->items, names->count, STR(", "));
    (void)error_set(err, ERROR_PLAN, "campaign %lld is not published: these checks fail on what it made: " STR_FMT,
                    (long long)campaign, STR_ARG(text));
    error_code(err, STR("audit.blocked"));
    error_hint(err,
               "they cannot be accepted: mend the cause and start a new campaign; of rows outside of it, "
               "`interlace backfill audit %lld --again` then looks anew",
               (long long)campaign);
    return FAILED;
}

static Status refuse_pending(int64_t campaign, const StrVec *names, Arena *arena, Error *err) {
    Str text = str_join(arena, names->items, names->count, STR(", "));
    Str options = str_join(arena, names->items, names->count, STR(" --accept "));
    (void)error_set(err, ERROR_PLAN,
                    "campaign %lld is not published: these thresholds do not hold and are not accepted: " STR_FMT,
                    (long long)campaign, STR_ARG(text));
    error_code(err, STR("audit.acceptance"));
    error_hint(err,
               "`interlace backfill audit %lld` shows what changed; when it is meant so, `interlace backfill publish "
               "%lld --accept " STR_FMT "`",
               (long long)campaign, (long long)campaign, STR_ARG(options));
    return FAILED;
}

Status audit_gate(const ConfigValue *report, int64_t campaign, const StrVec *accepted, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    StrVec blocking = {0}, known = {0}, pending = {0}, left = {0};
    size_t count;
    const ConfigValue *models = list_of(report, "models", &count);
    for (size_t i = 0; i < count; i++) {
        list_blocking(models->items[i], arena, &blocking);
        list_thresholds(models->items[i], arena, &known, &pending);
    }
    TRY(check_accepted(accepted, &known, arena, err));
    if (blocking.count > 0) {
        return refuse_blocked(campaign, &blocking, arena, err);
    }
    for (size_t i = 0; i < pending.count; i++) {
        if (!str_vec_contains_fold(accepted, pending.items[i])) {
            str_vec_push(arena, &left, pending.items[i]);
        }
    }
    return left.count > 0 ? refuse_pending(campaign, &left, arena, err) : OK;
}
