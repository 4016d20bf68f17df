#include "cli/check_text.h"

bool check_has_passed(const CheckResult *result) {
    return str_equal(result->status, STR("passed"));
}

Style check_style(const CheckResult *result) {
    if (check_has_passed(result)) {
        return STYLE_GOOD;
    }
    return str_equal(result->severity, STR("error")) ? STYLE_BAD : STYLE_CHANGED;
}

void check_write_outcome(const CheckResult *result, JsonWriter *writer) {
    json_begin_object(writer);
    json_text_field(writer, STR("model"), result->model);
    json_text_field(writer, STR("name"), result->check_name);
    json_text_field(writer, STR("type"), result->check_type);
    json_text_field(writer, STR("check_type"), result->check_type);
    json_text_field(writer, STR("severity"), result->severity);
    json_text_field(writer, STR("status"), result->status);
    json_int_field(writer, STR("failures"), result->failures);
    json_optional_text_field(writer, STR("message"), result->message);
    json_end_object(writer);
}

void check_write_record(const CheckResult *result, Arena *arena, JsonWriter *writer) {
    json_begin_object(writer);
    json_int_field(writer, STR("id"), result->id);
    json_text_field(writer, STR("environment"), result->environment);
    json_text_field(writer, STR("model"), result->model);
    json_text_field(writer, STR("fingerprint"), result->fingerprint);
    json_text_field(writer, STR("check_name"), result->check_name);
    json_text_field(writer, STR("check_type"), result->check_type);
    json_text_field(writer, STR("severity"), result->severity);
    json_text_field(writer, STR("status"), result->status);
    json_int_field(writer, STR("failures"), result->failures);
    json_optional_text_field(writer, STR("message"), result->message);
    json_text_field(writer, STR("executed_at"), time_format_iso(arena, result->executed_at));
    json_key(writer, STR("seconds"));
    json_double(writer, result->seconds);
    json_text_field(writer, STR("trigger"), result->trigger);
    json_optional_text_field(writer, STR("run_id"), result->run_id);
    json_end_object(writer);
}
