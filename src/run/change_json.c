#include "run/change_json.h"

#include "run/window_json.h"

static void write_rows(JsonWriter *writer, Str key, int64_t rows) {
    if (rows == CHANGE_ROWS_UNKNOWN) {
        json_null_field(writer, key);
    } else {
        json_int_field(writer, key, rows);
    }
}

bool change_percent(double before, double after, double *percent_out) {
    if (before == 0) {
        return false;
    }
    *percent_out = (after - before) / (before < 0 ? -before : before) * 100;
    return true;
}

static void write_biggest(const ChangeRecord *change, JsonWriter *writer) {
    json_key(writer, STR("biggest"));
    if (change->measure.size == 0) {
        json_null(writer);
        return;
    }
    double percent;
    json_begin_object(writer);
    json_text_field(writer, STR("measure"), change->measure);
    json_key(writer, STR("old"));
    json_double(writer, change->measure_before);
    json_key(writer, STR("new"));
    json_double(writer, change->measure_after);
    json_key(writer, STR("percent"));
    if (change_percent(change->measure_before, change->measure_after, &percent)) {
        json_double(writer, percent);
    } else {
        json_null(writer);
    }
    json_end_object(writer);
}

void change_write_json(const ChangeRecord *change, Arena *scratch, JsonWriter *writer) {
    json_begin_object(writer);
    json_int_field(writer, STR("id"), change->id);
    json_text_field(writer, STR("kind"), str_from(change_kind_name(change->kind)));
    json_text_field(writer, STR("environment"), change->environment);
    json_text_field(writer, STR("model"), change->model);
    windows_write_json(STR("windows"), &change->windows, writer);
    write_rows(writer, STR("rows_before"), change->rows_before);
    write_rows(writer, STR("rows_after"), change->rows_after);
    write_biggest(change, writer);
    json_optional_text_field(writer, STR("note"), change->note);
    json_text_field(writer, STR("who"), change->who);
    json_text_field(writer, STR("at"), time_format_iso(scratch, change->at));
    if (change->campaign == 0) {
        json_null_field(writer, STR("campaign"));
    } else {
        json_int_field(writer, STR("campaign"), change->campaign);
    }
    json_end_object(writer);
}
