/* Discovery: what is declared, what is wrong, and when Python is not asked again. */
#include "python/python_fixture.h"

#include "python/frame.h"

/* All .py files below models/, in byte order, as project_load gives them. */
static PythonFileVec read_files(PythonFixture *f) {
    PythonFileVec files = {0};
    FileEntryVec entries = {0};
    assert_done(directory_walk(f->root, STR("models"), f->arena, &entries, &f->err), &f->err);
    for (size_t i = 0; i < entries.count; i++) {
        Str path = entries.items[i].path;
        if (!str_ends_with(path, STR(".py"))) {
            continue;
        }
        PythonFile file = {.path = path, .is_helper = str_starts_with(path_base_name(path), STR("_"))};
        assert_done(file_read(path_join(f->arena, f->root, path), 1 << 20, f->arena, &file.content, &f->err), &f->err);
        python_file_vec_push(f->arena, &files, file);
    }
    return files;
}

/* The manifest; the faults as lines "kind file:line message". */
static const ConfigValue *discover(PythonFixture *f, StrBuf *faults) {
    AUTO(error_list) ErrorList list;
    error_list_init(&list);
    const ConfigValue *manifest = NULL;
    PythonFileVec files = read_files(f);
    PythonDiscovery discovery = python_runtime_discovery(f->runtime);
    (void)failed(discovery.discover(discovery.context, &f->config, &files, f->arena, &manifest, &list));
    for (size_t i = 0; i < list.count; i++) {
        const Error *fault = &list.items[i];
        strbuf_format(faults, "%s " STR_FMT ":%zu " STR_FMT "\n", error_kind_name(fault->kind),
                      STR_ARG(fault->place.file), fault->place.line, STR_ARG(fault->message));
    }
    return manifest;
}

static const ConfigValue *discover_soundly(PythonFixture *f) {
    AUTO(strbuf) StrBuf faults = {0};
    const ConfigValue *manifest = discover(f, &faults);
    assert_str(strbuf_str(&faults), "", "faults");
    assert_non_null(manifest);
    return manifest;
}

static const ConfigValue *entry_of(const ConfigValue *manifest, const char *list, const char *name) {
    const ConfigValue *entries = config_find(manifest, str_from(list));
    for (size_t i = 0; i < entries->count; i++) {
        if (str_equal(config_text(entries->items[i], STR("name")), str_from(name))) {
            return entries->items[i];
        }
    }
    fail_msg("no %s '%s'", list, name);
    return NULL;
}

static Str canonical_of(const ConfigValue *manifest, const char *model) {
    return config_text(entry_of(manifest, "models", model), STR("canonical"));
}

#define MODEL "from interlace import model\n@model()\n"

/* Each import leaves a line here: how often Python was asked. */
#define COUNTED "import os\nos.write(1, b'imported\\n')\n"

static size_t imports(PythonFixture *f) {
    size_t count = 0;
    Str left = strbuf_str(&f->log);
    for (size_t at; (at = str_find(left, STR("imported"))) != STR_NOT_FOUND; count++) {
        left = str_skip(left, at + 8);
    }
    return count;
}

/* ---- Declarations */

static void models_checks_and_streams_are_found(void **state) {
    PythonFixture *f = *state;
    fixture_write(
        f, "models/a.py",
        "from interlace import model, check, stream, CheckSpec\n"
        "@model('silver.orders', strategy='merge', key=['id'], tags={'x'}, checks=[CheckSpec('unique', 'id')])\n"
        "def orders(raw, *, ctx, limit=5): ...\n"
        "@check(model='silver.orders', severity='warn')\n"
        "def sound(table): ...\n"
        "@stream('events')\n"
        "def events(): ...\n");
    const ConfigValue *manifest = discover_soundly(f);
    const ConfigValue *model = entry_of(manifest, "models", "silver.orders");
    assert_str(config_text(model, STR("file")), "models/a.py", "file");
    assert_str(config_text(model, STR("line")), "2", "line");
    assert_str(config_text(model, STR("function")), "orders", "function");
    const ConfigValue *parameters = config_find(model, STR("params"));
    assert_int_equal(parameters->count, 3);
    assert_str(config_text(parameters->items[1], STR("kind")), "keyword_only", "ctx");
    assert_true(frame_flag(parameters->items[2], STR("has_default")));
    assert_str(config_text(config_find(model, STR("checks"))->items[0], STR("type")), "unique", "check");
    const ConfigValue *check = entry_of(manifest, "checks", "sound");
    assert_str(config_text(check, STR("model")), "silver.orders", "model of the check");
    assert_str(config_text(check, STR("severity")), "warn", "severity");
    (void)entry_of(manifest, "streams", "events");
}

static void test_01_9_1_a_loop_declares_distinct_models(void **state) {
    PythonFixture *f = *state;
    fixture_write(f, "models/a.py",
                  "from interlace.dsl.decorators import REGISTRY, ModelDef\n"
                  "def make(tenant):\n"
                  "    def rows(): return tenant\n"
                  "    return rows\n"
                  "for tenant in ['acme', 'globex']:\n"
                  "    REGISTRY.register_model(ModelDef(name=f'{tenant}_rows', fn=make(tenant)))\n"
                  "REGISTRY.register_model(ModelDef(name='total', sql='SELECT 1 AS id'))\n");
    const ConfigValue *manifest = discover_soundly(f);
    const ConfigValue *acme = entry_of(manifest, "models", "acme_rows");
    const ConfigValue *globex = entry_of(manifest, "models", "globex_rows");
    assert_true(str_equal(config_text(acme, STR("canonical")), config_text(globex, STR("canonical"))));
    assert_false(str_equal(config_text(acme, STR("captured")), config_text(globex, STR("captured"))));
    assert_str(config_text(entry_of(manifest, "models", "total"), STR("sql")), "SELECT 1 AS id", "sql");
}

static void neighbours_with_helpers_of_one_name_do_not_mix(void **state) {
    PythonFixture *f = *state;
    fixture_write(f, "models/a/_h.py", "V = 'a'\n");
    fixture_write(f, "models/b/_h.py", "V = 'b'\n");
    fixture_write(f, "models/a/x.py",
                  "from _h import V\nfrom interlace import model\n@model(f'x_{V}')\ndef x(): ...\n");
    fixture_write(f, "models/b/x.py",
                  "from _h import V\nfrom interlace import model\n@model(f'x_{V}')\ndef x(): ...\n");
    const ConfigValue *manifest = discover_soundly(f);
    (void)entry_of(manifest, "models", "x_a");
    (void)entry_of(manifest, "models", "x_b");
}

static void files_of_the_project_do_not_hide_modules_of_python(void **state) {
    PythonFixture *f = *state;
    fixture_write(f, "json.py", "raise RuntimeError('hidden')\n");
    fixture_write(f, "socket.py", "raise RuntimeError('hidden')\n");
    fixture_write(f, "lib/tool.py", "V = 1\n");
    fixture_write(f, "models/a.py", "import json\nfrom lib.tool import V\n" MODEL "def a(): return V\n");
    (void)discover_soundly(f);
}

/* ---- Faults */

static void test_10_8_one_broken_file_does_not_hide_the_others(void **state) {
    PythonFixture *f = *state;
    fixture_write(f, "models/a.py", "from interlac import model\n");
    fixture_write(f, "models/b.py", "x = 1\ndef (:\n");
    fixture_write(f, "models/c.py", MODEL "def c(): ...\n");
    fixture_write(f, "models/d.py", "import sys\nsys.exit(2)\n");
    fixture_write(f, "models/e.py", "from _gone import x\n");
    fixture_write(f, "models/f.py", "from interlace import model\n@model(stratgy='merge')\ndef f(): ...\n");
    fixture_write(f, "models/g.py", "from interlace import model\n@model(tags=[object()])\ndef g(): ...\n");
    fixture_write(f, "models/h.py",
                  "from interlace import model\n@model()\ndef h(*rest): ...\n@model()\ndef i(): ...\n");
    fixture_write(f, "models/_broken.py", "1 / 0\n");
    AUTO(strbuf) StrBuf faults = {0};
    const ConfigValue *manifest = discover(f, &faults);
    assert_str(
        strbuf_str(&faults),
        "DefinitionError models/a.py:1 could not load models/a.py: ModuleNotFoundError: No module named 'interlac'\n"
        "DefinitionError models/b.py:2 could not load models/b.py: SyntaxError: invalid syntax\n"
        "DefinitionError models/d.py:2 could not load models/d.py: SystemExit: sys.exit(2) was called\n"
        "DefinitionError models/e.py:1 could not load models/e.py: ModuleNotFoundError: No module named '_gone'\n"
        "DefinitionError models/f.py:2 model 'f': unknown key 'stratgy'\n"
        "DefinitionError models/g.py:2 model 'g': key 'tags' holds a object, which is no plain value\n"
        "DefinitionError models/h.py:2 model 'h': parameter '*rest' names no model\n",
        "faults");
    (void)entry_of(manifest, "models", "c");
    (void)entry_of(manifest, "models", "i");
}

static void a_file_that_kills_the_worker_is_named(void **state) {
    PythonFixture *f = *state;
    fixture_write(f, "models/a.py", MODEL "def a(): ...\n");
    fixture_write(f, "models/b.py", "import os\nos._exit(3)\n");
    AUTO(strbuf) StrBuf faults = {0};
    assert_null(discover(f, &faults));
    assert_contains(strbuf_str(&faults),
                    "models/b.py:0 could not load models/b.py: the Python worker ended with exit code 3");
}

static void test_10_8_a_wrong_interpreter_is_told_in_one_line(void **state) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"#!/bin/sh\necho \"$0\"\n", "started no worker: it ended with exit code 0"},
        {"#!/bin/sh\n[ \"$1\" = -c ] && echo \"$0\" && exit\necho no such thing >&2\nexit 3\n",
         "started no worker: it ended with exit code 3: no such thing"},
    };
    PythonFixture *f = *state;
    fixture_write(f, "models/a.py", MODEL "def a(): ...\n");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        fixture_write(f, "python", cases[i].text);
        assert_int_equal(system(str_format(f->arena, "chmod +x '" STR_FMT "/python'", STR_ARG(f->root)).ptr), 0);
        f->config.python_interpreter = STR("./python");
        fixture_restart(f, 1, false);
        AUTO(strbuf) StrBuf faults = {0};
        assert_null(discover(f, &faults));
        assert_contains(strbuf_str(&faults), cases[i].message);
    }
}

/* ---- The cache */

static void test_10_4_unchanged_sources_start_no_python(void **state) {
    PythonFixture *f = *state;
    fixture_write(f, "models/_h.py", "V = 1\n");
    fixture_write(f, "models/a.py", COUNTED "from _h import V\n" MODEL "def a(): return V\n");
    Str first = canonical_of(discover_soundly(f), "a");
    Str second = canonical_of(discover_soundly(f), "a");
    assert_true(str_equal(first, second));
    assert_int_equal(imports(f), 1);

    fixture_restart(f, 1, true); /* --no-cache */
    (void)discover_soundly(f);
    assert_int_equal(imports(f), 2);

    fixture_restart(f, 1, false);
    fixture_write(f, "models/_h.py", "V = 2\n");
    assert_false(str_equal(first, canonical_of(discover_soundly(f), "a")));
    assert_int_equal(imports(f), 3);
}

static void what_an_import_read_belongs_to_the_key(void **state) {
    PythonFixture *f = *state;
    fixture_write(f, "tenants.txt", "acme\n");
    fixture_write(f, "lib.py", "V = 1\n");
    fixture_write(f, "models/a.py",
                  COUNTED "import lib\nfrom interlace import model\n"
                          "tenant = open(os.path.join(os.path.dirname(__file__), '..', 'tenants.txt')).read().strip()\n"
                          "region = os.environ.get('TEST_REGION', 'none')\n"
                          "@model(f'{tenant}_{region}')\ndef a(): ...\n");
    unsetenv("TEST_REGION");
    (void)entry_of(discover_soundly(f), "models", "acme_none");
    (void)entry_of(discover_soundly(f), "models", "acme_none");
    assert_int_equal(imports(f), 1);
    setenv("TEST_REGION", "eu", 1);
    (void)entry_of(discover_soundly(f), "models", "acme_eu");
    assert_int_equal(imports(f), 2);
    fixture_write(f, "tenants.txt", "globex\n");
    (void)entry_of(discover_soundly(f), "models", "globex_eu");
    assert_int_equal(imports(f), 3);
    fixture_write(f, "lib.py", "V = 2\n");
    (void)discover_soundly(f);
    assert_int_equal(imports(f), 4);
    (void)discover_soundly(f);
    assert_int_equal(imports(f), 4);
    unsetenv("TEST_REGION");
}

static const char *const volatile_sources[] = {
    "from interlace import volatile\nvolatile()\n",
    "import subprocess\nsubprocess.run(['true'])\n",
    "open('/etc/hostname').read()\n",
    "os.listdir('models')\n",
    "import socket\ntry: socket.create_connection(('127.0.0.1', 1))\nexcept OSError: pass\n",
};

static void files_that_look_further_are_imported_each_time(void **state) {
    PythonFixture *f = *state;
    for (size_t i = 0; i < COUNT_OF(volatile_sources); i++) {
        AUTO(strbuf) StrBuf source = {0};
        strbuf_format(&source, "%s%s%s", COUNTED, volatile_sources[i], MODEL "def a(): ...\n");
        fixture_write(f, "models/a.py", strbuf_c(&source));
        strbuf_clear(&f->log);
        (void)discover_soundly(f);
        (void)discover_soundly(f);
        if (imports(f) != 2) {
            fail_msg("imported %zu times: %s", imports(f), volatile_sources[i]);
        }
    }
}

static void a_changed_variable_is_a_miss(void **state) {
    PythonFixture *f = *state;
    fixture_write(f, "models/a.py", COUNTED "from interlace import var\n" MODEL "def a(): return var('region')\n");
    var_config_vec_push(f->arena, &f->config.vars,
                        (VarConfig){.name = STR("region"), .type = VAR_STRING, .value = STR("EU")});
    Str first = config_text(entry_of(discover_soundly(f), "models", "a"), STR("captured"));
    f->config.vars.items[0].value = STR("US");
    Str second = config_text(entry_of(discover_soundly(f), "models", "a"), STR("captured"));
    assert_false(str_equal(first, second));
    assert_int_equal(imports(f), 2);
}

static void a_project_of_helpers_alone_starts_no_python(void **state) {
    PythonFixture *f = *state;
    fixture_write(f, "models/_h.py", "V = 1\n");
    f->config.python_interpreter = STR("/nowhere");
    fixture_restart(f, 1, false);
    assert_int_equal(config_find(discover_soundly(f), STR("models"))->count, 0);
}

static size_t cached_files(PythonFixture *f) {
    FileEntryVec entries = {0};
    assert_done(directory_walk(f->root, STR("cached"), f->arena, &entries, &f->err), &f->err);
    return entries.count;
}

static void twenty_manifests_are_kept(void **state) {
    PythonFixture *f = *state;
    f->config.cache_path = path_join(f->arena, f->root, STR("cached"));
    for (int i = 0; i < 22; i++) {
        fixture_write(f, "models/a.py", str_format(f->arena, "# %d\n" MODEL "def a(): ...\n", i).ptr);
        (void)discover_soundly(f);
    }
    assert_int_equal(cached_files(f), 20 + 1); /* and their folder */
}

static void a_damaged_cache_file_is_a_miss(void **state) {
    PythonFixture *f = *state;
    fixture_write(f, "models/a.py", COUNTED MODEL "def a(): ...\n");
    (void)discover_soundly(f);
    Str command =
        str_format(f->arena,
                   "for f in '" STR_FMT "'/.interlace/cache/discovery/*; do head -c 100 \"$f\" > x && mv x \"$f\"; "
                   "done",
                   STR_ARG(f->root));
    assert_int_equal(system(command.ptr), 0);
    (void)discover_soundly(f);
    assert_int_equal(imports(f), 2);
}

static void a_load_writes_nothing_into_the_project(void **state) {
    PythonFixture *f = *state;
    fixture_write(f, "models/_h.py", "V = 1\n");
    fixture_write(f, "models/a.py", "from _h import V\n" MODEL "def a(): return V\n");
    (void)discover_soundly(f);
    Str cache = path_join(f->arena, f->root, STR("models/__pycache__"));
    assert_false(file_exists(cache));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PYTHON_TEST(models_checks_and_streams_are_found),
        PYTHON_TEST(test_01_9_1_a_loop_declares_distinct_models),
        PYTHON_TEST(neighbours_with_helpers_of_one_name_do_not_mix),
        PYTHON_TEST(files_of_the_project_do_not_hide_modules_of_python),
        PYTHON_TEST(test_10_8_one_broken_file_does_not_hide_the_others),
        PYTHON_TEST(a_file_that_kills_the_worker_is_named),
        PYTHON_TEST(test_10_8_a_wrong_interpreter_is_told_in_one_line),
        PYTHON_TEST(test_10_4_unchanged_sources_start_no_python),
        PYTHON_TEST(what_an_import_read_belongs_to_the_key),
        PYTHON_TEST(files_that_look_further_are_imported_each_time),
        PYTHON_TEST(a_changed_variable_is_a_miss),
        PYTHON_TEST(a_project_of_helpers_alone_starts_no_python),
        PYTHON_TEST(twenty_manifests_are_kept),
        PYTHON_TEST(a_damaged_cache_file_is_a_miss),
        PYTHON_TEST(a_load_writes_nothing_into_the_project),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
