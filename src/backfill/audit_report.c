#include "backfill/campaign_audit.h"
#include "engine/rows_json.h"

#include <math.h>

/* ---- Numbers. */

/* A number of JSON as the engine writes it; one that readers of JSON refuse (more than 64 bits, NaN, infinite) is a
 * text. */
static void write_number(Str number, JsonWriter *json) {
    double value;
    int64_t whole;
    bool is_finite = str_to_double(number, &value) && isfinite(value);
    bool has_fraction = str_find_char(number, '.') != STR_NOT_FOUND || str_find_char(number, 'e') != STR_NOT_FOUND;
    if (number.size == 0) {
        json_null(json);
    } else if (is_finite && (has_fraction || str_to_int64(number, &whole))) {
        json_raw(json, number);
    } else {
        json_text(json, number);
    }
}

static void write_change(const char *name, AuditFigure figure, JsonWriter *json) {
    double percent;
    json_key(json, str_from(name));
    if (audit_change_percent(figure, &percent)) {
        json_double(json, percent);
    } else {
        json_null(json);
    }
}

static void write_optional_count(const char *name, int64_t count, JsonWriter *json) {
    if (count < 0) {
        json_null_field(json, str_from(name));
    } else {
        json_int_field(json, str_from(name), count);
    }
}

/* ---- Parts of a model. */

static void write_rows(const ModelAudit *audit, JsonWriter *json) {
    json_key(json, STR("rows"));
    json_begin_object(json);
    json_int_field(json, STR("old"), audit->rows_old);
    json_int_field(json, STR("new"), audit->rows_new);
    write_change("change", (AuditFigure){true, (double)audit->rows_old, (double)audit->rows_new}, json);
    json_end_object(json);
}

static void write_keys(const ModelAudit *audit, JsonWriter *json) {
    json_key(json, STR("keys"));
    json_begin_object(json);
    json_text_list_field(json, STR("by"), audit->key.items, audit->key.count);
    json_int_field(json, STR("added"), audit->added);
    json_int_field(json, STR("removed"), audit->removed);
    json_int_field(json, STR("changed"), audit->changed);
    json_bool_field(json, STR("repeat"), audit->keys_repeat);
    json_end_object(json);
}

static void write_column(const AuditColumn *column, JsonWriter *json) {
    json_key(json, column->name);
    json_begin_object(json);
    json_text_field(json, STR("type"), column->type);
    write_optional_count("changed", column->is_key ? -1 : column->changed, json);
    json_key(json, STR("sum_old"));
    write_number(column->sum_old, json);
    json_key(json, STR("sum_new"));
    write_number(column->sum_new, json);
    write_change("sum_change", audit_sums(column), json);
    json_int_field(json, STR("nulls_old"), column->nulls_old);
    json_int_field(json, STR("nulls_new"), column->nulls_new);
    json_end_object(json);
}

static void write_sums(const ModelAudit *audit, const DuckRows *rows, size_t row, JsonWriter *json) {
    size_t cell = 3;
    json_key(json, STR("sums"));
    json_begin_object(json);
    for (size_t i = 0; i < audit->columns.count; i++) {
        if (audit->columns.items[i].is_measure) {
            json_key(json, audit->columns.items[i].name);
            json_begin_object(json);
            json_key(json, STR("old"));
            write_number(duck_cell(rows, row, cell++)->text, json);
            json_key(json, STR("new"));
            write_number(duck_cell(rows, row, cell++)->text, json);
            json_end_object(json);
        }
    }
    json_end_object(json);
}

static void write_windows(const ModelAudit *audit, const char *name, const DuckRows *rows, JsonWriter *json,
                          Arena *arena) {
    Grain grain = audit->model->target.grain;
    json_key(json, str_from(name));
    json_begin_array(json);
    for (size_t row = 0; row < rows->row_count; row++) {
        WallUs start;
        json_begin_object(json);
        json_key(json, STR("window"));
        if (str_to_int64(duck_cell(rows, row, 0)->text, &start)) {
            json_text(json, window_format(arena, grain, (Window){start, grain_step(grain, start, 1)}));
        } else {
            json_null(json);
        }
        json_key(json, STR("rows_old"));
        rows_write_cell(duck_cell(rows, row, 1), json);
        json_key(json, STR("rows_new"));
        rows_write_cell(duck_cell(rows, row, 2), json);
        write_sums(audit, rows, row, json);
        json_end_object(json);
    }
    json_end_array(json);
}

static void write_moved_key(const ModelAudit *audit, size_t row, JsonWriter *json) {
    const DuckRows *rows = &audit->moved_keys;
    size_t cell = 1, i = 0;
    json_begin_object(json);
    json_text_field(json, STR("kind"), duck_cell(rows, row, 0)->text);
    json_key(json, STR("key"));
    json_begin_object(json);
    for (; i < audit->columns.count && audit->columns.items[i].is_key; i++) {
        json_key(json, audit->columns.items[i].name);
        rows_write_cell(duck_cell(rows, row, cell++), json);
    }
    json_end_object(json);
    json_key(json, STR("values"));
    json_begin_object(json);
    for (; i < audit->columns.count; i++) {
        json_key(json, audit->columns.items[i].name);
        json_begin_object(json);
        json_key(json, STR("old"));
        rows_write_cell(duck_cell(rows, row, cell++), json);
        json_key(json, STR("new"));
        rows_write_cell(duck_cell(rows, row, cell++), json);
        json_end_object(json);
    }
    json_end_object(json);
    json_end_object(json);
}

static void write_thresholds(const ModelAudit *audit, JsonWriter *json) {
    json_key(json, STR("thresholds"));
    json_begin_array(json);
    for (size_t i = 0; i < audit->thresholds.count; i++) {
        const AuditedThreshold *judged = &audit->thresholds.items[i];
        json_begin_object(json);
        json_text_field(json, STR("measure"), judged->threshold.measure);
        json_text_field(json, STR("limit"), judged->threshold.limit);
        json_bool_field(json, STR("is_known"), judged->figure.is_known);
        json_key(json, STR("difference"));
        if (judged->figure.is_known) {
            json_double(json, judged->figure.after - judged->figure.before);
        } else {
            json_null(json);
        }
        write_change("change", judged->figure, json);
        json_bool_field(json, STR("holds"), judged->holds);
        json_end_object(json);
    }
    json_end_array(json);
}

static void write_checks(const ModelAudit *audit, JsonWriter *json) {
    json_key(json, STR("checks"));
    json_begin_array(json);
    for (size_t i = 0; i < audit->checks.count; i++) {
        const CheckResult *check = &audit->checks.items[i];
        json_begin_object(json);
        json_text_field(json, STR("name"), check->check_name);
        json_text_field(json, STR("type"), check->check_type);
        json_text_field(json, STR("severity"), check->severity);
        json_text_field(json, STR("status"), check->status);
        json_int_field(json, STR("failures"), check->failures);
        json_optional_text_field(json, STR("message"), check->message);
        json_end_object(json);
    }
    json_end_array(json);
}

void audit_write_model(const ModelAudit *audit, JsonWriter *json, Arena *arena) {
    json_begin_object(json);
    json_text_field(json, STR("name"), audit->model->model->name);
    json_text_field(json, STR("takes_part"), campaign_part_name(audit->model->part));
    write_rows(audit, json);
    write_keys(audit, json);
    json_key(json, STR("columns"));
    json_begin_object(json);
    for (size_t i = 0; i < audit->columns.count; i++) {
        write_column(&audit->columns.items[i], json);
    }
    json_end_object(json);
    write_windows(audit, "windows", &audit->windows, json, arena);
    write_windows(audit, "moved_windows", &audit->moved_windows, json, arena);
    json_key(json, STR("moved_keys"));
    json_begin_array(json);
    for (size_t row = 0; row < audit->moved_keys.row_count; row++) {
        write_moved_key(audit, row, json);
    }
    json_end_array(json);
    write_thresholds(audit, json);
    write_checks(audit, json);
    json_text_field(json, STR("verdict"), audit_verdict_name(audit->verdict));
    json_end_object(json);
}
