#include "backfill/campaign_audit.h"

#include "backfill/campaign_area.h"
#include "run/check_runner.h"
#include "run/table_diff.h"
#include "run/window_json.h"

typedef struct AuditRun {
    const Campaign *campaign;
    const CampaignModel *model;
    Arena *arena;
    Comparison comparison;
    AuditSql sql;
    ModelAudit *audit;
} AuditRun;

static Status ask(const AuditRun *run, Str text, DuckRows *rows_out, Error *err) {
    SqlText sql = sql_text_own(run->arena, text);
    return engine_query(run->campaign->connection, &sql, run->arena, rows_out, err);
}

static int64_t number_at(const DuckRows *rows, size_t column) {
    int64_t number = 0;
    bool is_number = str_to_int64(duck_cell(rows, 0, column)->text, &number);
    assert(is_number);
    (void)is_number;
    return number;
}

/* ---- What is compared. */

static bool has_key(const AuditRun *run) {
    return run->model->model->key.count > 0 && run->comparison.missing_keys.count == 0;
}

static ComparisonOptions comparison_options(const CampaignModel *model) {
    return (ComparisonOptions){.key = &model->model->key, .without = &model->model->clock_columns};
}

static bool is_key_column(const Comparison *comparison, const Model *model, size_t index) {
    return index < comparison->key_count && str_vec_contains_fold(&model->key, comparison->columns.items[index].name);
}

static void list_columns(AuditRun *run) {
    const Model *model = run->model->model;
    for (size_t i = 0; i < run->comparison.columns.count; i++) {
        const ComparedColumn *column = &run->comparison.columns.items[i];
        AuditColumn found = {.name = column->name, .type = column->right_type, .changed = -1};
        found.is_key = is_key_column(&run->comparison, model, i);
        found.is_number = comparison_is_number(column->left_type) && comparison_is_number(column->right_type);
        found.is_measure = found.is_number && !found.is_key;
        audit_column_vec_push(run->arena, &run->audit->columns, found);
    }
}

static void set_buckets(AuditRun *run) {
    const CampaignModel *model = run->model;
    bool is_found = false;
    if (model->part != PART_WINDOWED) {
        return;
    }
    run->sql.buckets = (AuditBuckets){.time_column = model->model->time_column,
                                      .grain = model->target.grain,
                                      .origin = interval_set_hull(&model->windows).start,
                                      .zone = run->campaign->zone};
    for (size_t i = 0; i < run->comparison.columns.count && !is_found; i++) {
        is_found = str_equal_fold(run->comparison.columns.items[i].name, model->model->time_column);
        run->sql.time_index = i;
    }
    run->sql.is_by_key = is_found && has_key(run); /* keys of the new side are unique: its batches saw to that */
}

static Status prepare(AuditRun *run, Error *err) {
    const CampaignModel *model = run->model;
    ComparedSide left = {.relation = model->target.relation};
    ComparedSide right = {.relation = model->audit};
    ComparisonOptions options = comparison_options(model);
    bool exists = false;
    TRY(engine_relation_columns(run->campaign->connection, left.relation, run->arena, &exists, &left.columns, err));
    TRY(engine_relation_columns(run->campaign->connection, right.relation, run->arena, &exists, &right.columns, err));
    TRY(comparison_make(&left, &right, &options, run->arena, &run->comparison, err));
    list_columns(run);
    run->sql = (AuditSql){.comparison = &run->comparison,
                          .columns = &run->audit->columns,
                          .replaced = campaign_replaced_condition(run->campaign, model, run->arena)};
    set_buckets(run);
    if (!run->sql.is_by_key) {
        run->comparison.left.where = run->sql.replaced;
    }
    return OK;
}

/* ---- Figures. */

/* `side_sql` makes what they are read from. */
static Status read_totals(const AuditRun *run, AuditSide side, Str side_sql, Error *err) {
    DuckRows rows;
    TRY(engine_execute_own(run->campaign->connection, side_sql, err));
    TRY(ask(run, audit_sql_totals(&run->sql, side, run->arena), &rows, err));
    size_t cell = 0;
    *(side == AUDIT_OLD ? &run->audit->rows_old : &run->audit->rows_new) = number_at(&rows, cell++);
    for (size_t i = 0; i < run->audit->columns.count; i++) {
        AuditColumn *column = &run->audit->columns.items[i];
        *(side == AUDIT_OLD ? &column->nulls_old : &column->nulls_new) = number_at(&rows, cell++);
        if (column->is_number) {
            *(side == AUDIT_OLD ? &column->sum_old : &column->sum_new) = duck_cell(&rows, 0, cell++)->text;
        }
    }
    return OK;
}

/* `is_unique_out` false: keys repeat, and nothing was read. */
static Status read_pairs(const AuditRun *run, bool *is_unique_out, Error *err) {
    ModelAudit *audit = run->audit;
    DuckRows rows;
    Str sql = audit_sql_pair(&run->sql, audit->rows_old + audit->rows_new, run->arena);
    TRY(engine_execute_own(run->campaign->connection, sql, err));
    TRY(ask(run, audit_sql_pair_result(&run->sql, run->arena), &rows, err));
    ComparisonResult result = {.pairs = number_at(&rows, 0),
                               .left_only = number_at(&rows, 1),
                               .right_only = number_at(&rows, 2),
                               .changed = number_at(&rows, 3),
                               .left_keys = number_at(&rows, 4),
                               .right_keys = number_at(&rows, 5)};
    int64_t rows_old = run->sql.is_by_key ? result.pairs - result.right_only : audit->rows_old;
    *is_unique_out = comparison_is_unique(&result, rows_old, audit->rows_new);
    if (!*is_unique_out) {
        return OK;
    }
    audit->removed = result.left_only;
    audit->added = result.right_only;
    audit->changed = result.changed;
    for (size_t i = run->comparison.key_count; i < audit->columns.count; i++) {
        audit->columns.items[i].changed = number_at(&rows, 6 + i - run->comparison.key_count);
    }
    return ask(run, audit_sql_moved_keys(&run->sql, run->arena), &audit->moved_keys, err);
}

/* In one transaction, so that the figures are of the same rows. */
static Status read_figures(const AuditRun *run, bool *is_paired_out, Error *err) {
    const AuditSql *sql = &run->sql;
    TRY(read_totals(run, AUDIT_NEW, audit_sql_side(sql, AUDIT_NEW, run->arena), err));
    TRY(sql->is_by_key ? read_pairs(run, is_paired_out, err) : OK);
    Str old = *is_paired_out ? audit_sql_old_of_pairs(sql, run->arena) : audit_sql_side(sql, AUDIT_OLD, run->arena);
    TRY(read_totals(run, AUDIT_OLD, old, err));
    TRY(has_key(run) && !sql->is_by_key ? read_pairs(run, is_paired_out, err) : OK);
    if (run->model->part == PART_WINDOWED) {
        TRY(ask(run, audit_sql_windows(sql, false, run->arena), &run->audit->windows, err));
        TRY(ask(run, audit_sql_windows(sql, true, run->arena), &run->audit->moved_windows, err));
    }
    return OK;
}

/* Rows without a key, or whose key repeats. */
static Status compare_multisets(const AuditRun *run, Error *err) {
    TableDiff diff;
    TableDiffRequest request = {
        .left = run->comparison.left.relation,
        .right = run->comparison.right.relation,
        .left_where = run->sql.replaced,
        .options = comparison_options(run->model),
    };
    TRY(table_diff_run(run->campaign->connection, &request, run->arena, &diff, err));
    run->audit->removed = diff.left_only;
    run->audit->added = diff.right_only;
    run->audit->changed = diff.changed;
    return OK;
}

static Status compare(const AuditRun *run, Error *err) {
    bool is_paired = false;
    TRY(engine_begin_read_only(run->campaign->connection, err));
    Status status = read_figures(run, &is_paired, err);
    engine_rollback(run->campaign->connection); /* nothing is kept, not the temporary tables either */
    TRY(status);
    if (has_key(run)) {
        run->audit->key = run->model->model->key;
        run->audit->keys_repeat = !is_paired;
    }
    return is_paired ? OK : compare_multisets(run, err);
}

/* ---- Judgement. */

static Status run_checks(const AuditRun *run, Error *err) {
    const Campaign *campaign = run->campaign;
    CheckRun checks = {
        .session = campaign->session,
        .connection = campaign->connection,
        .relations = &campaign->inside,
        .model = run->model->model,
        .table = run->model->part == PART_WINDOWED ? run->model->overlay : run->model->audit,
        .environment = campaign->options.environment,
        .fingerprint = run->model->model->fingerprint,
        .trigger = STR("backfill"),
    };
    return check_runner_run(&checks, run->arena, &run->audit->checks, NULL, err);
}

AuditFigure audit_sums(const AuditColumn *column) {
    AuditFigure figure = {0};
    figure.is_known = column->is_number &&
                      (column->sum_old.size == 0 || str_to_double(column->sum_old, &figure.before)) &&
                      (column->sum_new.size == 0 || str_to_double(column->sum_new, &figure.after));
    return figure;
}

static AuditFigure figure_of_count(const ModelAudit *audit, int64_t count) {
    return (AuditFigure){true, (double)audit->rows_old, (double)(audit->rows_old + count)};
}

static AuditFigure find_figure(const ModelAudit *audit, Str measure) {
    const struct {
        Str name;
        AuditFigure figure;
    } counts[] = {
        {STR("rows"), figure_of_count(audit, audit->rows_new - audit->rows_old)},
        {STR("keys_added"), figure_of_count(audit, audit->added)},
        {STR("keys_removed"), figure_of_count(audit, audit->removed)},
        {STR("keys_changed"), figure_of_count(audit, audit->changed)},
    };
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        if (str_equal_fold(counts[i].name, measure)) {
            return counts[i].figure;
        }
    }
    for (size_t i = 0; i < audit->columns.count; i++) {
        if (str_equal_fold(audit->columns.items[i].name, measure)) {
            return audit_sums(&audit->columns.items[i]);
        }
    }
    return (AuditFigure){0};
}

static void judge(const AuditRun *run) {
    ModelAudit *audit = run->audit;
    AuditThresholdVec thresholds = audit_thresholds(run->model->model->audit, run->arena);
    for (size_t i = 0; i < thresholds.count; i++) {
        AuditedThreshold judged = {.threshold = thresholds.items[i],
                                   .figure = find_figure(audit, thresholds.items[i].measure)};
        judged.holds = audit_threshold_holds(&judged.threshold, judged.figure);
        audited_threshold_vec_push(run->arena, &audit->thresholds, judged);
        audit->verdict = judged.holds ? audit->verdict : AUDIT_NEEDS_ACCEPTANCE;
    }
    for (size_t i = 0; i < audit->checks.count; i++) {
        if (check_result_is_blocking(&audit->checks.items[i], false)) {
            audit->verdict = AUDIT_BLOCKED;
        }
    }
}

static Status audit_model(const Campaign *campaign, const CampaignModel *model, Arena *arena, ModelAudit *audit_out,
                          Error *err) {
    *audit_out = (ModelAudit){.model = model};
    AuditRun run = {.campaign = campaign, .model = model, .arena = arena, .audit = audit_out};
    TRY(prepare(&run, err));
    TRY(compare(&run, err));
    TRY(run_checks(&run, err));
    judge(&run);
    return OK;
}

/* ---- The report. */

Status campaign_audit(const Campaign *campaign, Arena *arena, Str *report_json_out, Error *err) {
    AUTO(strbuf) StrBuf text = {0};
    JsonWriter json;
    AuditVerdict verdict = AUDIT_ACCEPT;
    json_writer_init(&json, &text, JSON_COMPACT);
    json_begin_object(&json);
    json_int_field(&json, STR("id"), campaign->id);
    json_text_field(&json, STR("environment"), campaign->options.environment);
    json_key(&json, STR("range"));
    window_write_json(campaign->range, &json);
    json_text_field(&json, STR("audited"), time_format_iso(arena, clock_now_us()));
    json_key(&json, STR("models"));
    json_begin_array(&json);
    for (size_t i = 0; i < campaign->model_count; i++) {
        if (campaign_model_has_rows(&campaign->models[i])) {
            ModelAudit audit;
            if (failed(audit_model(campaign, &campaign->models[i], arena, &audit, err))) {
                return error_wrap(err, "comparing what the campaign made of model '" STR_FMT "'",
                                  STR_ARG(campaign->models[i].model->name));
            }
            audit_write_model(&audit, &json, arena);
            verdict = audit.verdict > verdict ? audit.verdict : verdict;
        }
    }
    json_end_array(&json);
    json_text_field(&json, STR("verdict"), audit_verdict_name(verdict));
    json_end_object(&json);
    *report_json_out = strbuf_copy(&text, arena);
    return OK;
}
