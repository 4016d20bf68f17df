/* The two written forms of a plan (spec 03 §5). */
#include "plan/plan_fixture.h"

static void assert_written(const StrBuf *text, const char *expected) {
    if (!str_equal(strbuf_str(text), str_from(expected))) {
        fail_msg("%.*s\nis not\n%s", STR_ARG(strbuf_str(text)), expected);
    }
}

static void assert_json(const Plan *plan, const char *expected) {
    AUTO(strbuf) StrBuf text = {0};
    JsonWriter writer;
    json_writer_init(&writer, &text, JSON_COMPACT);
    plan_write_json(plan, &writer);
    assert_written(&text, expected);
}

static void assert_markdown(const Plan *plan, const char *expected) {
    AUTO(strbuf) StrBuf text = {0};
    plan_write_markdown(plan, &text);
    assert_written(&text, expected);
}

#define REST_OF_JSON "\"transfers\":[],\"physical\":[],\"drift\":[],"

static void test_03_5_1_json_of_an_empty_plan_has_all_keys_and_empty_lists(void **state) {
    Fixture *f = *state;
    Project *project = PROJECT(f, {"a", "SELECT 1", ""});
    fixture_apply(f, project);
    AUTO(plan) Plan *plan = fixture_plan(f, project, NULL);
    assert_json(plan, "{\"environment\":\"prod\",\"changes\":[]," REST_OF_JSON
                      "\"metadata\":[],\"warnings\":[],\"blocking\":[],\"breaking\":false,\"empty\":true}");
}

/* Fingerprints are replaced by what they are: the shape is what counts here. */
static void test_03_5_1_json_of_changes_has_exactly_the_keys(void **state) {
    Fixture *f = *state;
    fixture_apply(f, PROJECT(f, {"a", "SELECT 1", ""}, {"gone", "SELECT 2", ""}, {"m", "SELECT 3", ""}));
    Project *project = PROJECT(f, {"a", "SELECT \"x\"", ""}, {"b", "\n \r\n  SELECT 4\n", ""},
                               {"m", "SELECT 3", "", .metadata = "{1}"});
    str_vec_push(f->arena, &project->notes, STR("a note"));
    AUTO(plan) Plan *plan = fixture_plan(f, project, NULL);
    for (size_t i = 0; i < plan->changes.count; i++) {
        PlanChange *change = &plan->changes.items[i];
        change->previous_fingerprint = change->previous_fingerprint.size == 0 ? STR_EMPTY : STR("old");
        change->new_fingerprint = change->new_fingerprint.size == 0 ? STR_EMPTY : STR("new");
    }
    assert_json(plan,
                "{\"environment\":\"prod\",\"changes\":["
                "{\"name\":\"a\",\"change_type\":\"modified\",\"category\":\"breaking\","
                "\"previous_fingerprint\":\"old\",\"new_fingerprint\":\"new\",\"impacted_columns\":[],"
                "\"new_sql\":\"SELECT \\\"x\\\"\",\"previous_sql\":\"SELECT 1\",\"reused\":false},"
                "{\"name\":\"b\",\"change_type\":\"added\",\"category\":null,"
                "\"previous_fingerprint\":null,\"new_fingerprint\":\"new\",\"impacted_columns\":[],"
                "\"new_sql\":\"  SELECT 4\\n\",\"previous_sql\":null,\"reused\":false},"
                "{\"name\":\"gone\",\"change_type\":\"removed\",\"category\":null,"
                "\"previous_fingerprint\":\"old\",\"new_fingerprint\":null,\"impacted_columns\":[],"
                "\"new_sql\":null,\"previous_sql\":\"SELECT 2\",\"reused\":false}]," REST_OF_JSON
                "\"metadata\":[\"m\"],\"warnings\":[\"a note\"],\"blocking\":[],\"breaking\":true,\"empty\":false}");
}

static void test_03_5_5_markdown_of_an_empty_plan(void **state) {
    Fixture *f = *state;
    AUTO(plan) Plan *plan = fixture_plan(f, PROJECT(f, {"a", "SELECT 1", ""}), "state:modified");
    plan->changes.count = 0;
    plan->is_empty = true;
    assert_markdown(plan, "<!-- interlace-plan -->\n## Plan for `prod`\n\nNo changes.\n");
}

static void test_03_5_5_markdown_has_marker_summary_table_and_gate(void **state) {
    Fixture *f = *state;
    Project *old = PROJECT(f, {"a", "SELECT 1", ""}, {"gone", "SELECT 2", ""}, {"m", "SELECT 3", ""});
    fixture_apply(f, PROJECT(f, {"r", "SELECT 7", ""}));
    fixture_apply(f, old);
    Project *project = PROJECT(f, {"a", "SELECT 5", ""}, {"e", "SELECT 4", "", MATERIALISE_EPHEMERAL},
                               {"r", "SELECT 7", ""}, {"m", "SELECT 3", "", .metadata = "{1}"});
    str_vec_push(f->arena, &project->notes, STR("two | lines\nof a note"));
    AUTO(plan) Plan *plan = fixture_plan(f, project, NULL);
    const char *expected = "<!-- interlace-plan -->\n"
                           "## Plan for `prod`\n"
                           "\n"
                           "- Breaking: `a`\n"
                           "- Reuse: `r`\n"
                           "- Metadata only: `m`\n"
                           "- Note: two \\| lines of a note\n"
                           "\n"
                           "| Model | Change | Category | Build |\n"
                           "|---|---|---|---|\n"
                           "| `a` | modified | breaking | rebuild |\n"
                           "| `e` | added | — | — |\n"
                           "| `r` | added | — | reuse |\n"
                           "| `gone` | removed | — | — |\n"
                           "\n"
                           "Breaking changes are applied only with `--force`.\n";
    assert_markdown(plan, expected);
    assert_markdown(plan, expected); /* the same twice */
}

static size_t count_rows(Str text) {
    size_t count = 0;
    for (size_t at; (at = str_find(text, STR("\n| `"))) != STR_NOT_FOUND; text = str_skip(text, at + 1)) {
        count++;
    }
    return count;
}

static void a_long_markdown_is_cut_and_tells_how_many_rows_are_missing(void **state) {
    Fixture *f = *state;
    enum { COUNT = 3000 };
    ModelSpec *old = ARENA_NEW_ARRAY(f->arena, ModelSpec, COUNT);
    ModelSpec *new = ARENA_NEW_ARRAY(f->arena, ModelSpec, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        const char *name = str_format(f->arena, "a_schema.a_model_with_a_long_name_%zu", i).ptr;
        old[i] = (ModelSpec){name, "SELECT 1", ""};
        new[i] = (ModelSpec){name, "SELECT 2", ""};
    }
    fixture_apply(f, fixture_project(f, old, COUNT));
    AUTO(plan) Plan *plan = fixture_plan(f, fixture_project(f, new, COUNT), NULL);
    AUTO(strbuf) StrBuf text = {0};
    plan_write_markdown(plan, &text);
    assert_true(text.size <= 60000);
    assert_true(text.size > 59000);
    size_t shown = count_rows(strbuf_str(&text));
    Str omitted = str_format(f->arena, "\n%zu more rows are not shown", COUNT - shown);
    assert_true(str_find(strbuf_str(&text), omitted) != STR_NOT_FOUND);
    assert_true(str_find(strbuf_str(&text), STR(" and 2980 more\n")) != STR_NOT_FOUND);
    assert_true(str_ends_with(strbuf_str(&text), STR("only with `--force`.\n")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PLAN_TEST(test_03_5_1_json_of_an_empty_plan_has_all_keys_and_empty_lists),
        PLAN_TEST(test_03_5_1_json_of_changes_has_exactly_the_keys),
        PLAN_TEST(test_03_5_5_markdown_of_an_empty_plan),
        PLAN_TEST(test_03_5_5_markdown_has_marker_summary_table_and_gate),
        PLAN_TEST(a_long_markdown_is_cut_and_tells_how_many_rows_are_missing),
    };
    return cmocka_run_group_tests_name("plan_render", tests, NULL, NULL);
}
