#include "cli/apply_json.h"

#include "cli/check_text.h"
#include "cli/report.h"

#include <math.h>

/* --- The document ----------------------------------------------------------------------------------------------------
 */

static void write_names(const RunSummary *summary, Str key, ModelOutcome outcome, JsonWriter *writer) {
    json_key(writer, key);
    json_begin_array(writer);
    for (size_t i = 0; i < summary->model_count; i++) {
        if (summary->models[i].outcome == outcome) {
            json_text(writer, summary->models[i].model->name);
        }
    }
    json_end_array(writer);
}

static void write_rows(const RowCounts *rows, JsonWriter *writer) {
    if (!rows->is_known) {
        json_null(writer);
        return;
    }
    json_begin_object(writer);
    json_int_field(writer, STR("inserted"), rows->inserted);
    json_int_field(writer, STR("updated"), rows->updated);
    json_int_field(writer, STR("deleted"), rows->deleted);
    json_end_object(writer);
}

static void write_rows_of_models(const RunSummary *summary, JsonWriter *writer) {
    json_key(writer, STR("rows"));
    json_begin_object(writer);
    for (size_t i = 0; i < summary->model_count; i++) {
        const ModelResult *model = &summary->models[i];
        if (model->outcome == OUTCOME_BUILT && model->model->materialise != MATERIALISE_VIEW) {
            json_key(writer, model->model->name);
            write_rows(&model->rows, writer);
        }
    }
    json_end_object(writer);
}

static double in_milliseconds(double seconds) {
    return round(seconds * 1000) / 1000;
}

static void write_timings(const RunSummary *summary, JsonWriter *writer) {
    json_key(writer, STR("timings"));
    json_begin_object(writer);
    for (size_t i = 0; i < summary->model_count; i++) {
        const ModelResult *model = &summary->models[i];
        if (model->outcome == OUTCOME_BUILT) {
            json_key(writer, model->model->name);
            json_double(writer, in_milliseconds(model->seconds));
        }
    }
    json_end_object(writer);
}

static void write_checks(const CheckResultVec *checks, JsonWriter *writer) {
    json_key(writer, STR("checks"));
    json_begin_array(writer);
    for (size_t i = 0; i < checks->count; i++) {
        check_write_outcome(&checks->items[i], writer);
    }
    json_end_array(writer);
}

static void write_no_names(Str key, JsonWriter *writer) {
    json_text_list_field(writer, key, NULL, 0);
}

void apply_write_response(const ApplyResult *result, const CheckResultVec *checks, JsonWriter *writer) {
    const RunSummary *summary = &result->summary;
    json_text_field(writer, STR("environment"), summary->environment);
    write_names(summary, STR("built"), OUTCOME_BUILT, writer);
    json_int_field(writer, STR("promoted"), (int64_t)summary->promoted);
    json_bool_field(writer, STR("breaking"), result->plan->is_breaking);
    write_names(summary, STR("reused"), OUTCOME_REUSED, writer);
    write_names(summary, STR("cancelled"), OUTCOME_CANCELLED, writer);
    write_no_names(STR("transfers"), writer);
    write_rows_of_models(summary, writer);
    write_timings(summary, writer);
    write_names(summary, STR("gated"), OUTCOME_GATED, writer);
    write_checks(checks, writer);
    json_key(writer, STR("plan"));
    plan_write_json(result->plan, writer);
    json_int_field(writer, STR("generation"), summary->generation);
    json_text_list_field(writer, STR("registered"), result->registered.items, result->registered.count);
    json_key(writer, STR("seconds"));
    json_double(writer, in_milliseconds(summary->seconds));
}

/* --- Lines -----------------------------------------------------------------------------------------------------------
 */

static void write_model(const Event *event, JsonWriter *writer) {
    json_optional_text_field(writer, STR("model"), event->model == NULL ? STR_EMPTY : event->model->name);
}

static void write_seconds(const Event *event, JsonWriter *writer) {
    json_key(writer, STR("seconds"));
    json_double(writer, in_milliseconds(event->seconds));
}

static void write_plan_event(const Event *event, JsonWriter *writer, Arena *arena) {
    (void)arena;
    json_text_field(writer, STR("environment"), event->plan->environment);
    json_key(writer, STR("plan"));
    plan_write_json(event->plan, writer);
}

static void write_start_event(const Event *event, JsonWriter *writer, Arena *arena) {
    (void)arena;
    write_model(event, writer);
}

static void write_done_event(const Event *event, JsonWriter *writer, Arena *arena) {
    (void)arena;
    write_model(event, writer);
    write_seconds(event, writer);
    json_key(writer, STR("rows"));
    write_rows(&event->rows, writer);
}

static void write_window_event(const Event *event, JsonWriter *writer, Arena *arena) {
    (void)arena;
    write_model(event, writer);
    json_int_field(writer, STR("done"), event->done);
    json_int_field(writer, STR("total"), event->total);
}

static void write_failed_event(const Event *event, JsonWriter *writer, Arena *arena) {
    write_model(event, writer);
    write_seconds(event, writer);
    json_key(writer, STR("error"));
    report_write_error_object(event->error, writer, arena);
}

static void write_cancelled_event(const Event *event, JsonWriter *writer, Arena *arena) {
    (void)arena;
    write_model(event, writer);
    write_seconds(event, writer);
}

static void write_check_event(const Event *event, JsonWriter *writer, Arena *arena) {
    (void)arena;
    json_key(writer, STR("check"));
    check_write_outcome(event->check, writer);
}

static void write_log_event(const Event *event, JsonWriter *writer, Arena *arena) {
    (void)arena;
    write_model(event, writer);
    json_text_field(writer, STR("level"), event->level);
    json_text_field(writer, STR("text"), event->text);
}

static void write_note_event(const Event *event, JsonWriter *writer, Arena *arena) {
    (void)arena;
    json_text_field(writer, STR("text"), event->text);
}

static void write_promoted_event(const Event *event, JsonWriter *writer, Arena *arena) {
    (void)arena;
    json_int_field(writer, STR("promoted"), (int64_t)event->promoted);
    json_int_field(writer, STR("generation"), event->generation);
}

typedef void (*EventWriter)(const Event *event, JsonWriter *writer, Arena *arena);
static const EventWriter event_writers[] = {
    [EVENT_PLAN] = write_plan_event,           [EVENT_MODEL_START] = write_start_event,
    [EVENT_MODEL_WINDOW] = write_window_event, [EVENT_MODEL_DONE] = write_done_event,
    [EVENT_MODEL_FAILED] = write_failed_event, [EVENT_MODEL_CANCELLED] = write_cancelled_event,
    [EVENT_CHECK] = write_check_event,         [EVENT_LOG] = write_log_event,
    [EVENT_NOTE] = write_note_event,           [EVENT_PROMOTED] = write_promoted_event,
};
static_assert(COUNT_OF(event_writers) == EVENT_SUMMARY, "one row per EventType but the last");

static void begin_line(JsonWriter *writer, StrBuf *out, TimeUs at, EventType type, Arena *arena) {
    json_writer_init(writer, out, JSON_COMPACT);
    json_begin_object(writer);
    json_text_field(writer, STR("ts"), time_format_iso(arena, at));
    json_text_field(writer, STR("event"), str_from(event_type_name(type)));
}

static void end_line(JsonWriter *writer, StrBuf *out) {
    json_end_object(writer);
    strbuf_char(out, '\n');
}

static void append_event_line(const Event *event, StrBuf *out) {
    AUTO(arena) Arena *arena = arena_create();
    JsonWriter writer;
    begin_line(&writer, out, event->at, event->type, arena);
    event_writers[event->type](event, &writer, arena);
    end_line(&writer, out);
}

void apply_tell_event(Cli *cli, const Event *event) {
    if (cli_wants_json_lines(cli) && event->type != EVENT_SUMMARY) {
        append_event_line(event, &cli->text);
        cli_flush(cli);
    }
    console_take_event(cli->console, event);
}

void event_summary_line_begin(JsonWriter *writer, StrBuf *out) {
    AUTO(arena) Arena *arena = arena_create();
    begin_line(writer, out, clock_now_us(), EVENT_SUMMARY, arena);
}

void event_summary_line_end(JsonWriter *writer, StrBuf *out) {
    end_line(writer, out);
}

void apply_append_summary_line(const ApplyResult *result, const CheckResultVec *checks, const ErrorList *faults,
                               StrBuf *out) {
    AUTO(arena) Arena *arena = arena_create();
    JsonWriter writer;
    event_summary_line_begin(&writer, out);
    if (faults->count > 0) {
        report_write_json(faults, &writer, arena);
    }
    if (result != NULL) {
        apply_write_response(result, checks, &writer);
    }
    event_summary_line_end(&writer, out);
}
