#include "cli/progress.h"

#include "base/testing.h"

#define SECOND INT64_C(1000000)

static const Terminal plain = {.descriptor = -1, .is_unicode = true};
static const Terminal ascii = {.descriptor = -1};

/* Five models to build. */
typedef struct Scene {
    Model models[5];
    PlanTask tasks[5];
    Plan plan;
    Progress progress;
    StrBuf stays;
} Scene;

static void scene_init(Scene *scene, Arena *arena) {
    static const char *const names[] = {"raw", "orders", "silver.customers", "d", "e"};
    *scene = (Scene){.progress = {.arena = arena}};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        scene->models[i].name = str_from(names[i]);
        scene->tasks[i] = (PlanTask){.model = &scene->models[i], .action = TASK_BUILD};
    }
    scene->plan.tasks = (PlanTaskVec){.items = scene->tasks, .count = COUNT_OF(names)};
}

static void happen(Scene *scene, EventType type, size_t model, int64_t now_us) {
    Event event = {.type = type, .plan = &scene->plan, .model = &scene->models[model], .seconds = 1.5};
    progress_take(&scene->progress, &event, now_us, &plain, &scene->stays);
}

static void assert_drawn(const Scene *scene, int64_t now_us, const Terminal *terminal, TerminalSize size,
                         const char *expected) {
    AUTO(strbuf) StrBuf out = {0};
    size_t lines = progress_draw(&scene->progress, now_us, 0, terminal, size, &out);
    assert_str(strbuf_str(&out), expected, "rows");
    size_t breaks = 0;
    for (size_t i = 0; i < out.size; i++) {
        breaks += out.data[i] == '\n';
    }
    assert_int_equal(lines, breaks);
}

static void running_models_have_rows_and_a_bottom_line(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    Scene scene;
    scene_init(&scene, arena);
    TerminalSize size = {80, 24};
    happen(&scene, EVENT_PLAN, 0, 0);
    assert_drawn(&scene, SECOND, &plain, size, "");
    happen(&scene, EVENT_MODEL_START, 0, 1 * SECOND);
    happen(&scene, EVENT_MODEL_START, 1, 2 * SECOND);
    assert_drawn(&scene, 42 * SECOND, &plain, size,
                 "⠋ raw               building   00:41\n"
                 "⠋ orders            building   00:40\n"
                 "0/5 built · 2 running · 00:41\n");
    happen(&scene, EVENT_MODEL_DONE, 0, 43 * SECOND);
    assert_drawn(&scene, 43 * SECOND, &ascii, size,
                 "| orders            building   00:41\n"
                 "1/5 built - 1 running - 00:42\n");
    assert_str(strbuf_str(&scene.stays), "✓ raw               done       1.50s\n", "the row that stays");
    strbuf_deinit(&scene.stays);
}

static void windows_tell_speed_and_time_left(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    Scene scene;
    scene_init(&scene, arena);
    Event start = {.type = EVENT_MODEL_START, .model = &scene.models[1], .total = 2};
    Event window = {.type = EVENT_MODEL_WINDOW,
                    .model = &scene.models[1],
                    .done = 10,
                    .total = 40,
                    .rows = {.is_known = true, .inserted = 5000}};
    progress_take(&scene.progress, &start, SECOND, &plain, &scene.stays);
    progress_take(&scene.progress, &window, 21 * SECOND, &plain, &scene.stays);
    assert_drawn(&scene, 31 * SECOND, &plain, (TerminalSize){80, 24},
                 "⠋ orders  building   00:30  window 10/40  250 rows/s  00:50 left\n"
                 "0/2 built · 1 running · 00:30\n");
    window.done = 40;
    progress_take(&scene.progress, &window, 91 * SECOND, &plain, &scene.stays);
    assert_drawn(&scene, 91 * SECOND, &plain, (TerminalSize){80, 24},
                 "⠋ orders  building   01:30  window 40/40  56 rows/s\n"
                 "0/2 built · 1 running · 01:30\n");
    strbuf_deinit(&scene.stays);
}

static void failed_and_cancelled_rows_stay_too(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    Scene scene;
    scene_init(&scene, arena);
    happen(&scene, EVENT_PLAN, 0, 0);
    happen(&scene, EVENT_MODEL_START, 3, 0);
    happen(&scene, EVENT_MODEL_START, 4, 0);
    happen(&scene, EVENT_MODEL_FAILED, 3, SECOND);
    happen(&scene, EVENT_MODEL_CANCELLED, 4, SECOND);
    assert_str(strbuf_str(&scene.stays),
               "✗ d                 failed     1.50s\n"
               "⊘ e                 cancelled  1.50s\n",
               "rows that stay");
    assert_drawn(&scene, SECOND, &plain, (TerminalSize){80, 24}, "");
    strbuf_deinit(&scene.stays);
}

static void rows_beyond_the_screen_are_counted(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    Scene scene;
    scene_init(&scene, arena);
    happen(&scene, EVENT_PLAN, 0, 0);
    for (size_t i = 0; i < 5; i++) {
        happen(&scene, EVENT_MODEL_START, i, 0);
    }
    assert_drawn(&scene, 0, &plain, (TerminalSize){80, 6},
                 "⠋ raw               building   00:00\n"
                 "⠋ orders            building   00:00\n"
                 "… and 3 more running\n"
                 "0/5 built · 5 running · 00:00\n");
}

static void rows_are_cut_to_the_width(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    Scene scene;
    scene_init(&scene, arena);
    happen(&scene, EVENT_PLAN, 0, 0);
    happen(&scene, EVENT_MODEL_START, 0, 0);
    assert_drawn(&scene, 3661 * SECOND, &plain, (TerminalSize){21, 24},
                 "⠋ raw              …\n"
                 "0/5 built · 1 runni…\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(running_models_have_rows_and_a_bottom_line),
                                       TEST(windows_tell_speed_and_time_left), TEST(failed_and_cancelled_rows_stay_too),
                                       TEST(rows_beyond_the_screen_are_counted), TEST(rows_are_cut_to_the_width)};
    return cmocka_run_group_tests_name("progress", tests, NULL, NULL);
}
