#include "cli/run_json.h"

#include "run/window_json.h"

static Str iso(Arena *arena, WallUs wall) {
    return wall_format(arena, wall, true);
}

void run_json_write_batch(Window batch, Grain grain, JsonWriter *writer) {
    AUTO(arena) Arena *arena = arena_create();
    json_begin_array(writer);
    json_text(writer, iso(arena, batch.start));
    json_text(writer, iso(arena, batch.end));
    json_int(writer, grain_count(grain, batch.start, batch.end));
    json_end_array(writer);
}

static const char *kind_of(const Model *model) {
    if (model->materialise == MATERIALISE_VIEW) {
        return "view";
    }
    return model->strategy == STRATEGY_INCREMENTAL ? "incremental" : "whole";
}

static Str reason_of(const BuildTarget *target) {
    if (target->is_skipped) {
        return STR("every window of the range is filled");
    }
    if (target->is_windowed && target->work.first_build) {
        return STR("first build");
    }
    return STR_EMPTY;
}

static void write_windows(const BuildTarget *target, JsonWriter *writer, Arena *arena) {
    WindowVec windows = {0};
    json_key(writer, STR("windows"));
    json_begin_array(writer);
    if (target->is_windowed) {
        interval_set_batches(arena, &target->work.due, target->grain, 1, &windows);
    }
    for (size_t i = 0; i < windows.count; i++) {
        window_write_json(windows.items[i], writer);
    }
    json_end_array(writer);
}

/* Those that were made; before that (`result` NULL), those of a fixed size, and of `auto` one a range. */
static void write_batches(const BuildTarget *target, const ModelResult *result, JsonWriter *writer, Arena *arena) {
    WindowVec batches = result == NULL ? (WindowVec){0} : result->batches;
    json_key(writer, STR("batches"));
    json_begin_array(writer);
    if (target->is_windowed && batches.count == 0) {
        interval_set_batches(arena, &target->work.due, target->grain, target->batch, &batches);
    }
    for (size_t i = 0; i < batches.count; i++) {
        run_json_write_batch(batches.items[i], target->grain, writer);
    }
    json_end_array(writer);
}

static void write_task(const PlanTask *task, const BuildTarget *target, const ModelResult *result, JsonWriter *writer,
                       Arena *arena) {
    json_begin_object(writer);
    json_text_field(writer, STR("name"), task->model->name);
    json_text_field(writer, STR("kind"), str_from(kind_of(task->model)));
    json_text_field(writer, STR("action"), target->is_skipped ? STR("skip") : STR("build"));
    write_windows(target, writer, arena);
    write_batches(target, result, writer, arena);
    json_int_field(writer, STR("filled"),
                   target->is_windowed ? interval_set_grains(&target->filled, target->grain) : 0);
    json_optional_text_field(writer, STR("reason"), reason_of(target));
    json_end_object(writer);
}

void run_json_write_tasks(const Plan *plan, const BuildTarget *targets, WindowVerb verb, const ModelResult *results,
                          JsonWriter *writer) {
    AUTO(arena) Arena *arena = arena_create();
    StrVec stale = {0};
    json_begin_object(writer);
    json_text_field(writer, STR("environment"), plan->environment);
    json_text_field(writer, STR("command"), str_from(window_verb_name(verb)));
    json_key(writer, STR("models"));
    json_begin_array(writer);
    for (size_t i = 0; i < plan->tasks.count; i++) {
        write_task(&plan->tasks.items[i], &targets[i], results == NULL ? NULL : &results[i], writer, arena);
    }
    json_end_array(writer);
    run_stale_models(plan, targets, arena, &stale);
    json_text_list_field(writer, STR("stale"), stale.items, stale.count);
    json_end_object(writer);
}
