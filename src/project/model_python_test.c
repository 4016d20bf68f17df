#include "project/project_fixture.h"

#define PARAM(name) "{\"name\": \"" name "\", \"has_default\": false, \"kind\": \"positional\"}"
#define PARAM_DEFAULT(name) "{\"name\": \"" name "\", \"has_default\": true, \"kind\": \"positional\"}"
#define PARAM_KEYWORD(name) "{\"name\": \"" name "\", \"has_default\": false, \"kind\": \"keyword_only\"}"
#define MODEL(name, params, keys)                                                                                      \
    "{\"name\": \"" name "\", \"file\": \"models/p.py\", \"line\": 7, \"module\": \"p\", \"function\": \"f\", "        \
    "\"params\": [" params "], \"is_async\": false, \"is_generator\": true, \"source\": \"def f(): …\", "            \
    "\"canonical\": \"tree\", \"captured\": {\"b\": 1, \"a\": [true, null]}, \"helpers\": []" keys "}"
#define MANIFEST(models, checks) "{\"files\": [], \"models\": [" models "], \"checks\": [" checks "], \"streams\": []}"

static int open_python(void **state) {
    (void)fixture_open(state);
    Fixture *f = *state;
    fixture_write(f, "models/p.py", "…");
    fixture_write(f, "models/raw/orders.sql", "SELECT 1 AS id");
    fixture_write(f, "models/customers.sql", "SELECT 1 AS id");
    return 0;
}
#define PYTHON_TEST(name) cmocka_unit_test_setup_teardown(name, open_python, fixture_close)

/* "customers=customers raw_orders=raw.orders cursor=<cursor>" */
static Str parameters(const Fixture *f, const char *name) {
    static const char *const kinds[] = {[PARAMETER_THIS] = "<this>",
                                        [PARAMETER_CURSOR] = "<cursor>",
                                        [PARAMETER_WINDOW] = "<window>",
                                        [PARAMETER_CTX] = "<ctx>"};
    AUTO(strbuf) StrBuf text = {0};
    const PythonDefinition *python = fixture_model(f, name)->python;
    for (size_t i = 0; i < python->parameters.count; i++) {
        const PythonParameter *parameter = &python->parameters.items[i];
        Str meaning = parameter->kind == PARAMETER_UPSTREAM ? f->project->models[parameter->model]->name
                                                            : str_from(kinds[parameter->kind]);
        strbuf_format(&text, "%s" STR_FMT "=" STR_FMT, i == 0 ? "" : " ", STR_ARG(parameter->name), STR_ARG(meaning));
    }
    return strbuf_copy(&text, f->arena);
}

static void a_manifest_entry_is_a_model(void **state) {
    Fixture *f = *state;
    f->manifest =
        MANIFEST(MODEL("silver.enriched", PARAM("customers"),
                       ", \"owner\": \"me\", \"key\": [\"id\"], \"columns\": {\"id\": \"BIGINT\", \"x\": null}, "
                       "\"tags\": null, \"depends_on\": []"),
                 "");
    assert_loads(f);
    const Model *model = fixture_model(f, "silver.enriched");
    assert_int_equal(model->kind, MODEL_PYTHON);
    assert_str(model->place.file, "models/p.py", "file");
    assert_int_equal(model->place.line, 7);
    assert_str(model->owner, "me", "owner");
    assert_str(model->python->module_path, "models/p.py", "module");
    assert_str(model->python->function, "f", "function");
    assert_str(model->python->canonical, "tree", "canonical");
    assert_str(model->python->captured, "{\"a\":[true,null],\"b\":1}", "captured, keys sorted");
    assert_upstreams(f, "silver.enriched", "customers");
    assert_int_equal(f->discoveries, 1);
}

static void test_01_8_2_parameters_name_what_they_receive(void **state) {
    Fixture *f = *state;
    f->manifest =
        MANIFEST(MODEL("a", PARAM("customers") "," PARAM("raw_orders"), "") "," /* inferred: one model is spelled so */
                 MODEL("b", PARAM("cursor") "," PARAM("this"), ", \"cursor\": \"ts\"") "," MODEL(
                     "c", PARAM_KEYWORD("window") "," PARAM_KEYWORD("ctx") "," PARAM_KEYWORD("customers"),
                     "") "," MODEL("d", PARAM_DEFAULT("tenant") "," PARAM_DEFAULT("customers"),
                                   "") "," MODEL("e", "", ", \"depends_on\": \"raw.orders\""),
                 "");
    assert_loads(f);
    assert_str(parameters(f, "a"), "customers=customers raw_orders=raw.orders", "a");
    assert_str(parameters(f, "b"), "cursor=<cursor> this=<this>", "b");
    assert_str(parameters(f, "c"), "window=<window> ctx=<ctx> customers=customers", "c");
    assert_str(parameters(f, "d"), "customers=customers", "d");
    assert_str(parameters(f, "e"), "", "e");
    assert_upstreams(f, "a", "customers, raw.orders");
    assert_upstreams(f, "e", "raw.orders");
    assert_int_equal(f->project->notes.count, 0);
}

static void an_exact_name_wins_and_depends_on_decides_between_spellings(void **state) {
    Fixture *f = *state;
    fixture_write(f, "models/raw_orders.sql", "SELECT 1 AS id");
    fixture_write(f, "models/a/b/c.sql", "SELECT 1 AS id");
    fixture_write(f, "models/a/b_c.sql", "SELECT 1 AS id");
    f->manifest = MANIFEST(
        MODEL("x", PARAM("raw_orders"), "") "," MODEL("y", PARAM("a_b_c"), ", \"depends_on\": [\"a.b_c\"]"), "");
    assert_loads(f);
    assert_str(parameters(f, "x"), "raw_orders=raw_orders", "exact");
    assert_str(parameters(f, "y"), "a_b_c=a.b_c", "declared");
    f->manifest = MANIFEST(MODEL("z", PARAM("a_b_c"), ""), "");
    assert_fault_count(f, 1);
    assert_fault(f, "parameter.ambiguous", "'a.b.c', 'a.b_c'");
}

static void test_01_8_7_an_unknown_parameter_lists_the_spellings(void **state) {
    Fixture *f = *state;
    f->manifest = MANIFEST(MODEL("a", PARAM("customrs"), "") "," MODEL("b", PARAM("window") "," PARAM("ctx"), ""), "");
    assert_fault_count(f, 3);
    assert_fault(f, "parameter.unknown", "parameter 'customrs' is no model; accepted are ");
    assert_fault(f, "parameter.unknown", "raw_orders (raw.orders), ");
    assert_fault(f, "parameter.unknown", "cursor, this, and keyword-only window and ctx (models/p.py:7)");
    assert_fault(f, "parameter.unknown", "did you mean 'customers'?");
    assert_fault(f, "parameter.unknown", "parameter 'window'");
}

static void cursor_needs_its_column_and_a_column_its_parameter(void **state) {
    Fixture *f = *state;
    f->manifest = MANIFEST(MODEL("a", PARAM("cursor"), ""), "");
    assert_fault_count(f, 1);
    assert_fault(f, "parameter.cursor", "model 'a'");
    f->manifest = MANIFEST(MODEL("a", "", ", \"cursor\": \"ts\""), "");
    assert_loads(f);
    assert_int_equal(f->project->notes.count, 1);
    assert_contains(f->project->notes.items[0], "model 'a' declares cursor:");
}

static void test_01_8_2_reserved_names_are_taken_wherever_they_stand(void **state) {
    Fixture *f = *state;
    fixture_write(f, "models/ctx.sql", "SELECT 1 AS id");
    f->manifest = MANIFEST(
        MODEL("a", PARAM_KEYWORD("cursor") "," PARAM_KEYWORD("this"), ", \"cursor\": \"ts\"") "," /* behind a star */
        MODEL("b", PARAM_DEFAULT("cursor") "," PARAM_DEFAULT("this"), ", \"cursor\": \"ts\"") "," /* with defaults */
        MODEL("c", PARAM("ctx") "," PARAM_DEFAULT("window"), ""),                                 /* not keyword-only */
        "");
    assert_loads(f);
    assert_str(parameters(f, "a"), "cursor=<cursor> this=<this>", "a");
    assert_str(parameters(f, "b"), "cursor=<cursor> this=<this>", "b");
    assert_str(parameters(f, "c"), "ctx=ctx", "c");
    f->manifest = MANIFEST(MODEL("a", PARAM_DEFAULT("cursor"), ""), "");
    assert_fault_count(f, 1);
    assert_fault(f, "parameter.cursor", "needs the key cursor:");
}

static void python_and_sql_are_one_graph(void **state) {
    Fixture *f = *state;
    fixture_write(f, "models/report.sql", "SELECT * FROM enriched");
    f->manifest = MANIFEST(
        MODEL("enriched", PARAM("customers"),
              "") ","
                  "{\"name\": \"made\", \"file\": \"models/p.py\", \"line\": 9, \"sql\": \"SELECT * FROM report\", "
                  "\"materialise\": \"view\"}",
        "");
    assert_loads(f);
    assert_upstreams(f, "report", "enriched");
    assert_upstreams(f, "made", "report");
    assert_int_equal(fixture_model(f, "made")->kind, MODEL_SQL);

    f->manifest = MANIFEST(MODEL("enriched", PARAM("report"), ""), "");
    assert_fault_count(f, 1);
    assert_fault(f, "graph.cycle", "enriched (models/p.py) → report (models/report.sql) → enriched");
    f->manifest = MANIFEST(MODEL("me", PARAM("me"), ""), "");
    assert_fault_count(f, 1);
    assert_fault(f, "reference.self", "take the parameter `this`");
    f->manifest = MANIFEST(MODEL("customers", "", ""), "");
    assert_fault_count(f, 1);
    assert_fault(f, "name.duplicate", "(models/customers.sql) and 'customers' (models/p.py)");
}

static void keys_are_judged_as_those_of_sql_files(void **state) {
    Fixture *f = *state;
    f->manifest = MANIFEST(
        MODEL("a", "", ", \"strategy\": \"incremental\", \"materialise\": \"virtual\"") "," MODEL(
            "b", "", ", \"materialise\": \"view\"") "," MODEL("c", "",
                                                              ", \"ownr\": \"me\"") "," MODEL("d", "",
                                                                                              ", \"clock\": \"wall\""),
        "");
    assert_fault_count(f, 5);
    assert_fault(f, "combo.time_column", "model 'a'");
    assert_fault(f, "combo.py_incremental", "model 'a'");
    assert_fault(f, "combo.py_view", "model 'b'");
    assert_fault(f, "key.unknown", "did you mean 'owner'? (models/p.py:7)");
    assert_fault(f, "key.misplaced", "model 'd'");
}

static void declared_lineage_names_columns_of_upstreams(void **state) {
    Fixture *f = *state;
    f->manifest =
        MANIFEST(MODEL("a", PARAM("raw_orders"), ", \"lineage\": {\"x\": [\"raw.orders.id\"], \"n\": []}"), "");
    assert_loads(f);
    const Model *model = fixture_model(f, "a");
    assert_int_equal(model->declared_outputs.count, 2);
    assert_int_equal(model->declared_sources.count, 1);
    assert_str(model->declared_sources.items[0].column, "id", "column");
    assert_int_equal(model->declared_sources.items[0].model, fixture_model(f, "raw.orders")->index);
}

static void declared_lineage_of_what_is_not_read_is_refused(void **state) {
    Fixture *f = *state;
    f->manifest = MANIFEST(MODEL("a", PARAM("customers"), ", \"lineage\": {\"x\": [\"customer.id\"]}"), "");
    assert_fault_count(f, 1);
    assert_fault(f, "reference.unknown",
                 "lineage of 'x' names 'customer.id', which is no <model>.<column>; did you mean 'customers'?");
    f->manifest = MANIFEST(MODEL("a", PARAM("customers"), ", \"lineage\": {\"x\": [\"raw.orders.id\"]}"), "");
    assert_fault_count(f, 1);
    assert_fault(f, "reference.unread", "but the model does not read 'raw.orders'");
}

static void later_features_of_python_are_refused(void **state) {
    static const char *const cases[][2] = {
        {MODEL("a", "", ", \"timeout\": 30"), "a timeout"},
        {MODEL("a", "", ", \"retries\": 3"), "retries"},
        {MODEL("a", "", ", \"enabled\": false"), "enabled"},
    };
    Fixture *f = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        f->manifest = str_format(f->arena, MANIFEST("%s", ""), cases[i][0]).ptr;
        assert_loads(f);
        assert_true(failed(project_check_supported(f->project, &f->faults)));
        assert_fault(f, "feature.later", cases[i][1]);
    }
    f->manifest = "{\"models\": [], \"streams\": [{\"name\": \"clicks\", \"file\": \"models/p.py\", \"line\": 3}]}";
    assert_loads(f);
    assert_true(failed(project_check_supported(f->project, &f->faults)));
    assert_fault(f, "feature.later", "stream 'clicks'");
}

#define CHECK(name, model, keys)                                                                                       \
    "{\"name\": \"" name "\", \"model\": \"" model "\", \"file\": \"models/p.py\", \"line\": 20, "                     \
    "\"module\": \"p\", \"function\": \"g\", \"params\": [" PARAM("table") "]" keys "}"

static void python_checks_follow_the_declared_ones(void **state) {
    Fixture *f = *state;
    fixture_write(f, "models/customers.sql", "/* interlace: {checks: [{not_null: id}]} */ SELECT 1 AS id");
    f->manifest = MANIFEST("", CHECK("sane", "Customers", ", \"severity\": \"warn\", \"description\": \"why\""));
    assert_loads(f);
    const CheckVec *checks = &fixture_model(f, "customers")->checks;
    assert_int_equal(checks->count, 2);
    assert_str(checks->items[1]->name, "sane", "name");
    assert_int_equal(checks->items[1]->type, CHECK_PYTHON);
    assert_int_equal(checks->items[1]->severity, SEVERITY_WARN);
    assert_str(checks->items[1]->function, "g", "function");
    assert_str(checks->items[1]->module_path, "models/p.py", "module");
}

static void python_checks_are_validated(void **state) {
    Fixture *f = *state;
    fixture_write(f, "models/eph.sql", "/* interlace: {materialise: ephemeral} */ SELECT 1 AS id");
    f->manifest = MANIFEST(
        "", CHECK("a", "customrs", "") "," CHECK("b", "customers", "") "," CHECK("b", "customers", "") "," CHECK(
                "c", "customers", ", \"severity\": \"fatal\"") "," CHECK("d", "eph", ""));
    assert_fault_count(f, 4);
    assert_fault(f, "check.model", "'customrs', which does not exist; did you mean 'customers'? (models/p.py:20)");
    assert_fault(f, "check.value", "check 'b' of model 'customers' has the name of another check");
    assert_fault(f, "check.severity", "severity 'fatal' is not one of error, warn, info");
    assert_fault(f, "check.value", "check 'd' of model 'eph' has no table");
}

static void python_is_asked_only_when_there_is_something_to_ask(void **state) {
    Fixture *f = *state;
    f->manifest = MANIFEST("", "");
    fixture_remove(f, "models/p.py");
    fixture_write(f, "models/_helper.py", "raise SystemExit");
    assert_loads(f);
    assert_int_equal(f->discoveries, 0);
    fixture_write(f, "models/p.py", "…");
    f->manifest = NULL;
    assert_fault_count(f, 1);
    assert_fault(f, "DefinitionError", "cannot load");
}

static void a_broken_file_hides_models_and_makes_no_further_faults(void **state) {
    Fixture *f = *state;
    f->has_broken_file = true;
    fixture_write(f, "models/report.sql",
                  "/* interlace:\n  depends_on: hidden\n  checks: [{relationships: {column: id, "
                  "to: hidden, field: id}}]\n*/ SELECT * FROM hidden");
    f->manifest = MANIFEST(MODEL("a", PARAM("hidden") "," PARAM("customers"), ""), CHECK("c", "hidden", ""));
    assert_fault_count(f, 1);
    assert_fault(f, "DefinitionError", "could not load models/bad.py");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PYTHON_TEST(a_manifest_entry_is_a_model),
        PYTHON_TEST(test_01_8_2_parameters_name_what_they_receive),
        PYTHON_TEST(an_exact_name_wins_and_depends_on_decides_between_spellings),
        PYTHON_TEST(test_01_8_7_an_unknown_parameter_lists_the_spellings),
        PYTHON_TEST(cursor_needs_its_column_and_a_column_its_parameter),
        PYTHON_TEST(test_01_8_2_reserved_names_are_taken_wherever_they_stand),
        PYTHON_TEST(python_and_sql_are_one_graph),
        PYTHON_TEST(keys_are_judged_as_those_of_sql_files),
        PYTHON_TEST(declared_lineage_names_columns_of_upstreams),
        PYTHON_TEST(declared_lineage_of_what_is_not_read_is_refused),
        PYTHON_TEST(later_features_of_python_are_refused),
        PYTHON_TEST(python_checks_follow_the_declared_ones),
        PYTHON_TEST(python_checks_are_validated),
        PYTHON_TEST(a_broken_file_hides_models_and_makes_no_further_faults),
        PYTHON_TEST(python_is_asked_only_when_there_is_something_to_ask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
