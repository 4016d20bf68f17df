#include "base/files.h"
#include "base/testing.h"
#include "config/project_config_parse.h"

#include <sys/stat.h>

typedef struct Fixture {
    Arena *arena;
    ConfigSources sources;
    ErrorList faults;
    ProjectConfig *config; /* of the last parse that went well */
} Fixture;

static int set_up(void **state) {
    Fixture *f = heap_alloc_zeroed(1, sizeof *f);
    f->arena = arena_create();
    f->sources.root = STR("/p");
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    error_list_deinit(&f->faults);
    arena_destroy(f->arena);
    free(f);
    return 0;
}

static Str fault_lines(Fixture *f) {
    StrVec lines = {0};
    error_list_sort(&f->faults);
    for (size_t i = 0; i < f->faults.count; i++) {
        str_vec_push(f->arena, &lines, error_line(&f->faults.items[i], f->arena));
    }
    return str_join(f->arena, lines.items, lines.count, STR("\n"));
}

/* All fault lines; empty when the text is fine. */
static Str faults_of(Fixture *f, const char *yaml) {
    error_list_deinit(&f->faults);
    f->sources.text = str_from(yaml);
    Status status = project_config_parse(&f->sources, f->arena, &f->config, &f->faults);
    assert_int_equal(failed(status), f->faults.count > 0);
    return fault_lines(f);
}

static ProjectConfig *parsed(Fixture *f, const char *yaml) {
    assert_str(faults_of(f, yaml), "", yaml);
    return f->config;
}

typedef struct Case {
    const char *yaml, *expected;
} Case;

static void check_faults(Fixture *f, const Case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        assert_str(faults_of(f, cases[i].yaml), cases[i].expected, cases[i].yaml);
    }
}

static const char *environment_of_test(const char *name) {
    static const struct {
        const char *name, *value;
    } values[] = {{"BOTH", "from environment"}, {"EMPTY", ""}, {"N", "8"}, {"YAML", "a: [b] # \"c"}, {"REF", "${N}"}};
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        if (strcmp(values[i].name, name) == 0) {
            return values[i].value;
        }
    }
    return NULL;
}

static void all_defaults_apply_without_a_file(void **state) {
    Fixture *f = *state;
    static const char *const texts[] = {"", "# nothing\n", "name:\nengines: {}\nvars:\nmodel_paths: ~\n"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        const ProjectConfig *config = parsed(f, texts[i]);
        assert_str(config->name, "interlace", "name");
        assert_str(config->default_dialect, "duckdb", "dialect");
        assert_str(config->default_engine, "default", "engine");
        assert_str(config->state_path, "/p/.interlace/state.db", "state");
        assert_str(config->cache_path, "/p/.interlace/cache", "cache");
        assert_str(config->model_paths.items[0], "models", "models");
        assert_str(config->macro_paths.items[0], "macros", "macros");
        assert_int_equal(config->parallelism, 4);
        assert_int_equal(config->engines.count, 1);
        assert_str(config->engines.items[0].database_path, "/p/.interlace/warehouse.duckdb", "database");
        assert_int_equal(config->warnings.count, 0);
        assert_null(config->connections);
    }
}

static void settings_are_read(void **state) {
    Fixture *f = *state;
    const ProjectConfig *config =
        parsed(f, "name: shop\n"
                  "parallelism: 2\n"
                  "database: data/wh.duckdb\n"
                  "state_path: ../s.db\n"
                  "timezone: UTC\n"
                  "model_paths: [./models/, more//sql]\n"
                  "macro_paths: []\n"
                  "python: .venv/bin/python\n"
                  "x-anything: {a: [1]}\n"
                  "attach: {crm: crm.db, pg: 'postgresql://h/x', mem: ':memory:'}\n"
                  "settings: {memory_limit: 1GB, threads: 2, preserve_insertion_order: no}\n");
    assert_str(config->name, "shop", "name");
    assert_int_equal(config->parallelism, 2);
    assert_str(config->state_path, "/s.db", "state");
    assert_str(config->timezone, "UTC", "timezone");
    assert_int_equal(config->model_paths.count, 2);
    assert_str(config->model_paths.items[0], "models", "first path");
    assert_str(config->model_paths.items[1], "more/sql", "second path");
    assert_int_equal(config->macro_paths.count, 0);
    assert_str(config->python_interpreter, "/p/.venv/bin/python", "python");

    const EngineConfig *engine = project_config_engine(config, STR("default"));
    assert_str(engine->database, "data/wh.duckdb", "as written");
    assert_str(engine->database_path, "/p/data/wh.duckdb", "path");
    static const char *const settings[] = {"memory_limit=1GB", "threads=2", "preserve_insertion_order=false",
                                           "temp_directory=/p/.tmp"};
    assert_int_equal(engine->settings.count, COUNT_OF(settings));
    for (size_t i = 0; i < COUNT_OF(settings); i++) {
        ConfigSetting setting = engine->settings.items[i];
        assert_str(str_format(f->arena, STR_FMT "=" STR_FMT, STR_ARG(setting.name), STR_ARG(setting.value)),
                   settings[i], "setting");
    }
    static const char *const attached[] = {"/p/crm.db", "postgresql://h/x", ":memory:"};
    for (size_t i = 0; i < COUNT_OF(attached); i++) {
        assert_str(engine->attach.items[i].uri, attached[i], "attach");
    }
}

static void temp_directory_is_under_the_root(void **state) {
    Fixture *f = *state;
    const ProjectConfig *config = parsed(f, "settings: {memory_limit: 1GB, temp_directory: spill}");
    assert_int_equal(config->engines.items[0].settings.count, 2);
    assert_str(config->engines.items[0].settings.items[1].value, "/p/spill", "temp_directory");
}

static void python_may_be_a_map(void **state) {
    Fixture *f = *state;
    assert_str(
        parsed(f, "python: {interpreter: python3.12, isolation: process-per-task, max_rss: 1GiB}")->python_interpreter,
        "python3.12", "a bare name stays");
    assert_str(parsed(f, "python: {max_rss: 1GiB}")->python_interpreter, "", "not set");
}

static void unknown_keys_are_refused_with_place_and_nearest(void **state) {
    Fixture *f = *state;
    static const Case cases[] = {
        {"databse: x", "unknown key 'databse' in interlace.yaml: did you mean database? (interlace.yaml:1:1)"},
        {"name: x\ncolour: red", "unknown key 'colour' in interlace.yaml (interlace.yaml:2:1)"},
        {"engines:\n  pg:\n    tpye: postgres",
         "unknown key 'tpye' in engines.pg: did you mean type? (interlace.yaml:3:5)"},
        {"service: {lockdwn: true}", "unknown key 'lockdwn' in service: did you mean lockdown? (interlace.yaml:1:11)"},
        {"scheduler: {slot: 1}", "unknown key 'slot' in scheduler: did you mean slots? (interlace.yaml:1:13)"},
        {"retention: {event: 1d}", "unknown key 'event' in retention: did you mean events? (interlace.yaml:1:13)"},
        {"transfer: {onloss: cast}", "unknown key 'onloss' in transfer: did you mean on_loss? (interlace.yaml:1:12)"},
        {"ducklake: {compat: true}", "unknown key 'compat' in ducklake: did you mean compact? (interlace.yaml:1:12)"},
        {"python: {interpeter: x}",
         "unknown key 'interpeter' in python: did you mean interpreter? (interlace.yaml:1:10)"},
        {"secrets: {s: {keyid: x}}", "unknown key 'keyid' in secrets.s: did you mean key_id? (interlace.yaml:1:15)"},
        {"vars: {a: {type: int, value: 1, x: 2}}", "unknown key 'x' in vars.a (interlace.yaml:1:33)"},
        {"connections: {a: {type: http, base_url: u, dsn: 1}}",
         "unknown key 'dsn' in connections.a (interlace.yaml:1:44)"},
    };
    check_faults(f, cases, COUNT_OF(cases));
    assert_str(error_detail_find(&f->faults.items[0], STR("code")), "key.unknown", "code");
}

static void values_of_another_type_are_refused(void **state) {
    Fixture *f = *state;
    static const Case cases[] = {
        {"parallelism: 0", "parallelism must be a whole number of at least 1, not '0' (interlace.yaml:1:14)"},
        {"parallelism: many", "parallelism must be a whole number of at least 1, not 'many' (interlace.yaml:1:14)"},
        {"name: [a]", "name must be text, not a list (interlace.yaml:1:7)"},
        {"engines: [a]", "engines must be a map of names, not a list (interlace.yaml:1:10)"},
        {"engines: {a: b}", "engines.a must be a map, not a single value (interlace.yaml:1:14)"},
        {"engines: {a: {settings: {x: [1]}}}", "engines.a.settings.x must be text, not a list (interlace.yaml:1:29)"},
        {"attach: [x]", "attach must be a map of names, not a list (interlace.yaml:1:9)"},
        {"service: yes", "service must be a map, not a single value (interlace.yaml:1:10)"},
        {"python: [x]", "python must be text or a map, not a list (interlace.yaml:1:9)"},
        {"model_paths: {a: b}", "model_paths must be a list of texts, not a map (interlace.yaml:1:14)"},
        {"default_dialect: duckdbb",
         "default_dialect: 'duckdbb' is not one of duckdb, postgres, snowflake, bigquery, spark, redshift "
         "(interlace.yaml:1:18)"},
        {"engines: {a: {type: oracle}}",
         "engines.a.type: 'oracle' is not one of duckdb, ducklake, quack, motherduck, postgres, redshift, snowflake, "
         "bigquery, spark, adbc (interlace.yaml:1:21)"},
        {"default_engine: pg", "default_engine: there is no engine 'pg'; engines are default (interlace.yaml:1:17)"},
        {"settings: {'a b': 1}",
         "settings: 'a b' is no name of a setting (letters, digits and _) (interlace.yaml:1:12)"},
    };
    check_faults(f, cases, COUNT_OF(cases));
}

static void time_zones_must_exist(void **state) {
    Fixture *f = *state;
    static const Case cases[] = {
        {"timezone: Europe/Berlin", ""},
        {"timezone: Mars/Olympus", "timezone: there is no time zone 'Mars/Olympus' (interlace.yaml:1:11)"},
        {"timezone: ../../etc/passwd", "timezone: there is no time zone '../../etc/passwd' (interlace.yaml:1:11)"},
        {"timezone: zone.tab", "timezone: there is no time zone 'zone.tab' (interlace.yaml:1:11)"},
        {"scheduler: {timezone: X}", "scheduler.timezone: there is no time zone 'X' (interlace.yaml:1:23)"},
    };
    if (!file_is_directory(STR("/usr/share/zoneinfo"))) {
        skip();
    }
    check_faults(f, cases, COUNT_OF(cases));
}

static void root_must_be_a_map(void **state) {
    Fixture *f = *state;
    static const Case cases[] = {
        {"- a", "'/p/interlace.yaml' must hold a map of keys, not a list (interlace.yaml:1:1)"},
        {"just text", "'/p/interlace.yaml' must hold a map of keys, not a single value (interlace.yaml:1:1)"},
        {"a: \xFF", "'interlace.yaml' is not UTF-8 text (byte 3) (interlace.yaml:1:4)"},
        {"name: x\nname: y", "key 'name' is written twice, on line 1 and on line 2 (interlace.yaml:2:1)"},
    };
    check_faults(f, cases, COUNT_OF(cases));
}

static void all_faults_are_told_together(void **state) {
    Fixture *f = *state;
    assert_str(faults_of(f, "databse: x\nparallelism: 0\ndefault_engine: q\nvars: {n: {type: int, value: x}}\n"),
               "unknown key 'databse' in interlace.yaml: did you mean database? (interlace.yaml:1:1)\n"
               "parallelism must be a whole number of at least 1, not '0' (interlace.yaml:2:14)\n"
               "default_engine: there is no engine 'q'; engines are default (interlace.yaml:3:17)\n"
               "vars.n: 'x' is not of type int, which takes a whole number, without quotes (interlace.yaml:4:30)",
               "four faults");
}

static void test_01_10_faults_of_inputs_are_told_by_name(void **state) {
    Fixture *f = *state;
    static const Case cases[] = {
        {"inputs: {a: {format: csv, path: x}, x-b: 1}", ""},
        {"inputs: {a-b: {format: csv, path: x}}",
         "input 'a-b': the name must be letters, digits and _ (interlace.yaml:1:10)"},
        {"inputs: {a: {format: csv, path: x}, A: {format: csv, path: x}}",
         "input 'A': 'a' differs from it only in letter case (interlace.yaml:1:37)"},
        {"inputs: {a: {format: xml, path: x}}",
         "inputs.a.format: 'xml' is not one of parquet, csv, json, delta, iceberg (interlace.yaml:1:22)"},
        {"inputs: {a: {format: csv}}", "inputs.a needs 'path' (interlace.yaml:1:13)"},
        {"inputs: {a: {format: csv, path: '${NOPE}/x'}}",
         "input 'a': ${NOPE} is not set, neither in the environment nor in .env (interlace.yaml:1:33)"},
        {"inputs: {a: {format: csv, path: '${date}/${datetime}/${workspace}'}}", ""},
        {"inputs: {a: {format: csv, path: 'ftp://h/x'}}",
         "input 'a': a path at 'ftp://' cannot be read; there are s3, gs, gcs, r2, http and https "
         "(interlace.yaml:1:33)"},
        {"inputs: {a: {format: json, path: x, options: {header: true}}}",
         "input 'a': options: only csv has any, and the format is json (interlace.yaml:1:46)"},
        {"inputs: {a: {format: csv, path: x, options: {headr: true}}}",
         "unknown key 'headr' in inputs.a.options: did you mean header? (interlace.yaml:1:46)"},
        {"inputs: {a: {format: csv, path: 'http://h/x', connection: c}}",
         "input 'a': connection: there is no connection or secret 'c' (interlace.yaml:1:59)"},
        {"inputs: {a: {format: csv, path: 'http://h/x', connection: c}}\n"
         "connections: {c: {type: http, base_url: 'http://h'}}",
         ""},
        {"inputs: {a: {format: csv, path: 'http://h/x', connection: c}}\n"
         "connections: {c: {type: postgres, dsn: 'host=h'}}",
         "input 'a': connection 'c' is of type postgres; files come over an http one or with a secret "
         "(interlace.yaml:1:59)"},
        {"inputs: {a: {format: csv, path: x, connection: c}}\nconnections: {c: {type: http, base_url: 'http://h'}}",
         "input 'a': connection 'c' has no effect on a path that is no http:// or https:// address "
         "(interlace.yaml:1:48)"},
        {"inputs: {a: {format: csv, path: 's3://h/x', connection: c}}\nsecrets: {c: {type: s3}}", ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_str(faults_of(f, cases[i].yaml), cases[i].expected, cases[i].yaml);
    }
}

static void later_features_are_refused_when_they_are_used(void **state) {
    Fixture *f = *state;
    static const Case cases[] = {
        {"state_url: postgres://h/x", "PostgreSQL state: 'state_url' is not in this release (interlace.yaml:1:1)"},
        {"cdc: {a: {connection: c, slot: s, publication: p, tables: t, stream: x}}",
         "Change data capture: 'cdc' is not in this release (interlace.yaml:1:1)"},
        {"streams: {a: {schema: {x: int}}}",
         "Streams declared without Python: 'streams' is not in this release (interlace.yaml:1:1)"},
        {"inputs: {}\ncdc:\nstreams: {}\nstate_url: \"\"", ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_str(faults_of(f, cases[i].yaml), cases[i].expected, cases[i].yaml);
        if (f->faults.count > 0) {
            assert_str(error_detail_find(&f->faults.items[0], STR("code")), "feature.later", "code");
            assert_int_equal(f->faults.items[0].kind, i == 0 ? ERROR_CONFIGURATION : ERROR_PLAN);
        }
    }
}

static void keys_without_effect_are_warned_of(void **state) {
    Fixture *f = *state;
    const ProjectConfig *config = parsed(f, "name: x\nevent_log_path: e.json\nretention: {}\nscheduler: {slots: 2}");
    assert_int_equal(config->warnings.count, 2);
    assert_str(config->warnings.items[0], "'event_log_path' has no effect in this release (interlace.yaml:2)", "first");
    assert_str(config->warnings.items[1], "'scheduler' has no effect in this release (interlace.yaml:4)", "second");
    config = parsed(f, "database: a.db\nengines: {default: {database: b.db}}");
    assert_int_equal(config->warnings.count, 1);
    assert_str(config->engines.items[0].database, "b.db", "the engine's own");
}

static void vars_are_typed_and_canonical(void **state) {
    Fixture *f = *state;
    static const struct {
        const char *type, *value, *canonical; /* NULL: refused */
    } cases[] = {
        {"string", "EU", "EU"},
        {"string", "'O''Brien; DROP TABLE x'", "O'Brien; DROP TABLE x"},
        {"string", "''", ""},
        {"string", "2026-01-01", "2026-01-01"},
        {"string", "5", NULL},
        {"string", "yes", NULL},
        {"string", "[a]", NULL},
        {"int", "5", "5"},
        {"int", "0x10", "16"},
        {"int", "-1_000", "-1000"},
        {"int", "'5'", NULL},
        {"int", "true", NULL},
        {"int", "5.0", NULL},
        {"int", "99999999999999999999", NULL},
        {"float", "1.50", "1.5"},
        {"float", "3", "3.0"},
        {"float", ".inf", NULL},
        {"float", "x", NULL},
        {"bool", "yes", "true"},
        {"bool", "false", "false"},
        {"bool", "1", NULL},
        {"bool", "'true'", NULL},
        {"date", "2026-02-28", "2026-02-28"},
        {"date", "'2026-02-28'", "2026-02-28"},
        {"date", "2026-02-30", NULL},
        {"date", "2026-02-28T10:00", NULL},
        {"timestamp", "2026-02-28T10:00", "2026-02-28T10:00:00"},
        {"timestamp", "2026-02-28", "2026-02-28T00:00:00"},
        {"timestamp", "2026-02-28 10:00:00.5Z", "2026-02-28T10:00:00.500000+00:00"},
        {"timestamp", "2026-02-28T10:00:00-03:30", "2026-02-28T10:00:00-03:30"},
        {"timestamp", "soon", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Str yaml = str_format(f->arena, "vars: {v: {type: %s, value: %s}}", cases[i].type, cases[i].value);
        Str faults = faults_of(f, yaml.ptr);
        if (cases[i].canonical == NULL) {
            assert_int_equal(f->faults.count, 1);
            assert_true(str_starts_with(faults, STR("vars.v: ")));
            continue;
        }
        assert_str(faults, "", yaml.ptr);
        assert_str(project_config_var(f->config, STR("v"))->value, cases[i].canonical, yaml.ptr);
    }
    assert_null(project_config_var(f->config, STR("V")));
}

static void vars_need_name_type_and_value(void **state) {
    Fixture *f = *state;
    static const Case cases[] = {
        {"vars: {a: 1}", "vars.a must be a map, not a single value (interlace.yaml:1:11)"},
        {"vars: {a: {type: int}}", "vars.a needs 'value' (interlace.yaml:1:11)"},
        {"vars: {a: {value: 1}}", "vars.a needs 'type' (interlace.yaml:1:11)"},
        {"vars: {a: {type: text, value: x}}",
         "vars.a.type: 'text' is not one of string, int, float, bool, date, timestamp (interlace.yaml:1:18)"},
        {"vars: {a-b: {type: int, value: 1}}",
         "vars: 'a-b' is no name of a var (letters, digits and _, not beginning with a digit) (interlace.yaml:1:8)"},
    };
    /* An unknown type is one fault, although the value cannot be read either. */
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Str faults = faults_of(f, cases[i].yaml);
        assert_true(str_starts_with(faults, str_from(cases[i].expected)));
        assert_int_equal(f->faults.count, 1);
    }
}

static void variables_are_filled_in_their_order(void **state) {
    Fixture *f = *state;
    f->sources.environment = environment_of_test;
    f->sources.dotenv =
        STR("BOTH=from file\nFILE='in file'\nexport  EXPORTED = \"x # y\" \n# C=1\nno line\n9=1\nLAST=a\n"
            "LAST=b\r\nHALF=\"a\nQUOTE='\n");
    static const struct {
        const char *value, *name;
    } cases[] = {
        {"${BOTH}", "from environment"},
        {"${FILE}", "in file"},
        {"${EXPORTED}", "x # y"},
        {"${LAST}", "b"},
        {"${HALF}", "\"a"},
        {"${QUOTE}", "'"},
        {"${NONE:-default}", "default"},
        {"a${NONE:-}b", "ab"},
        {"${NONE}", "${NONE}"},
        {"\"${YAML}\"", "a: [b] # \"c"},
        {"${YAML}", "a: [b] # \"c"},
        {"${REF}", "${N}"},
        {"$N $${N} ${N", "$N $8 ${N"},
        {"${1x} ${a b}", "${1x} ${a b}"},
        {"${FILE}${FILE}", "in filein file"},
        {"'${N:-x}'", "8"},
        {"${N:-a:-b}", "8"},
        {"${NONE:-a:-b}", "a:-b"},
        {"${C:-none}", "none"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Str yaml = str_format(f->arena, "name: %s", cases[i].value);
        assert_str(parsed(f, yaml.ptr)->name, cases[i].name, cases[i].value);
    }
}

static void plain_values_are_typed_after_filling(void **state) {
    Fixture *f = *state;
    f->sources.environment = environment_of_test;
    assert_int_equal(parsed(f, "parallelism: ${N:-2}")->parallelism, 8);
    assert_int_equal(parsed(f, "parallelism: ${NONE:-2}")->parallelism, 2);
    assert_int_equal(parsed(f, "parallelism: ${EMPTY}")->parallelism, 4); /* null */
}

static void quoted_values_stay_text_after_filling(void **state) {
    Fixture *f = *state;
    f->sources.environment = environment_of_test;
    assert_str(faults_of(f, "vars: {v: {type: int, value: \"${N}\"}}"),
               "vars.v: '8' is not of type int, which takes a whole number, without quotes (interlace.yaml:1:30)",
               "int");
    assert_str(project_config_var(parsed(f, "vars: {v: {type: string, value: \"${N}\"}}"), STR("v"))->value, "8",
               "string");
}

static void connections_are_checked_by_their_type(void **state) {
    Fixture *f = *state;
    static const Case cases[] = {
        {"connections: {a: {type: http, base_url: 'http://x', headers: {A: b}}, b: {type: postgres, dsn: host=x}}", ""},
        {"connections: {a: {type: mysql}}",
         "connections.a: type 'mysql' is not one of http, postgres (interlace.yaml:1:15)"},
        {"connections: {a: {}}", "connections.a needs 'type': http or postgres (interlace.yaml:1:15)"},
        {"connections: {a: {type: http}}", "connections.a needs 'base_url' (interlace.yaml:1:18)"},
        {"connections: {a: {type: postgres, dsn: \"\"}}", "connections.a: 'dsn' is empty (interlace.yaml:1:40)"},
        {"connections: {a: {type: postgres, dsn: \"${NOPE}${NOPE}${X}\"}}",
         "connections.a: ${NOPE}, ${X} are not set, neither in the environment nor in .env (interlace.yaml:1:15)"},
        {"connections: {a: {type: http, base_url: u, headers: {K: \"${NOPE}\"}}}",
         "connections.a: ${NOPE} is not set, neither in the environment nor in .env (interlace.yaml:1:15)"},
        {"connections: [a]", "connections must be a map of names, not a list (interlace.yaml:1:14)"},
    };
    check_faults(f, cases, COUNT_OF(cases));
}

static Str usability(Fixture *f, const char *yaml, const char *engine_name) {
    AUTO(error) Error err;
    error_init(&err);
    const EngineConfig *engine = project_config_engine(parsed(f, yaml), str_from(engine_name));
    return failed(engine_config_check_usable(engine, &err)) ? error_line(&err, f->arena) : STR("usable");
}

static void types_follow_the_prefix_of_the_database(void **state) {
    Fixture *f = *state;
    static const struct {
        const char *yaml, *type, *dialect, *path;
    } cases[] = {
        {"", "duckdb", "duckdb", "/p/.interlace/warehouse.duckdb"},
        {"database: ':memory:'", "duckdb", "duckdb", ":memory:"},
        {"database: /abs/x.db", "duckdb", "duckdb", "/abs/x.db"},
        {"database: 'ducklake:x.ducklake'", "ducklake", "duckdb", "/p/x.ducklake"},
        {"database: 'ducklake:sqlite:a/x.sqlite'", "ducklake", "duckdb", "/p/a/x.sqlite"},
        {"database: 'ducklake:postgres:host=h'", "ducklake", "duckdb", ""},
        {"engines: {default: {type: ducklake}}", "ducklake", "duckdb", "/p/.interlace/warehouse.ducklake"},
        {"database: 'quack:h:1'", "quack", "duckdb", ""},
        {"database: 'md:x'", "motherduck", "duckdb", ""},
        {"database: postgresql://h/x", "postgres", "postgres", ""},
        {"engines: {default: {type: duckdb, database: 'ducklake:x'}}", "ducklake", "duckdb", "/p/x"},
        {"engines: {default: {type: postgres, database: 'host=h'}}", "postgres", "postgres", ""},
        {"engines: {default: {type: spark, dialect: duckdb}}", "spark", "duckdb", ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const EngineConfig *engine = project_config_engine(parsed(f, cases[i].yaml), STR("default"));
        assert_str(engine->type, cases[i].type, cases[i].yaml);
        assert_str(engine->dialect, cases[i].dialect, cases[i].yaml);
        assert_str(engine->database_path, cases[i].path, cases[i].yaml);
        assert_str(f->config->default_dialect, cases[i].dialect, cases[i].yaml);
    }
    assert_str(parsed(f, "default_dialect: postgres")->default_dialect, "postgres", "as written");
}

static void a_lake_has_an_alias_and_a_folder(void **state) {
    Fixture *f = *state;
    static const struct {
        const char *yaml, *alias, *data_path;
    } cases[] = {
        {"database: 'ducklake:x'", "interlace", ""},
        {"name: shop\ndatabase: 'ducklake:x'\ndata_path: d/e", "shop", "/p/d/e"},
        {"name: shop\ndatabase: 'ducklake:x'\nalias: lake\ndata_path: /d", "lake", "/d"},
        {"database: 'ducklake:x'\ndata_path: s3://b/d", "interlace", "s3://b/d"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const EngineConfig *engine = project_config_engine(parsed(f, cases[i].yaml), STR("default"));
        assert_str(engine->alias, cases[i].alias, cases[i].yaml);
        assert_str(engine->data_path, cases[i].data_path, cases[i].yaml);
    }
    const EngineConfig *named =
        project_config_engine(parsed(f, "engines: {lake: {type: ducklake, database: x}}"), STR("lake"));
    assert_str(named->alias, "lake", "the engine's name");
    assert_str(named->database_path, "/p/x", "without its prefix");
}

static void engines_are_refused_only_when_they_are_used(void **state) {
    Fixture *f = *state;
    static const struct {
        const char *yaml, *engine, *expected;
    } cases[] = {
        {"", "default", "usable"},
        {"attach: {a: a.db}\nsettings: {threads: 2}", "default", "usable"},
        {"database: '${NOPE}'", "default",
         "engine 'default': ${NOPE} is not set, neither in the environment nor in .env (interlace.yaml:1:1)"},
        {"settings: {a: '${A}'}\nattach: {b: '${B}/x'}", "default",
         "engine 'default': ${A}, ${B} are not set, neither in the environment nor in .env (interlace.yaml:1:1)"},
        {"engines: {pg: {type: postgres, database: dbname=x}}", "pg",
         "engine 'pg': database is a PostgreSQL string without a host (interlace.yaml:1:15)"},
        {"engines: {pg: {type: postgres}}", "pg",
         "engine 'pg' of type postgres needs 'database' (interlace.yaml:1:15)"},
        {"engines: {pg: {type: postgres, database: host=h}}", "pg",
         "engine 'pg': engines of type postgres are not in this release (interlace.yaml:1:15)"},
        {"database: 'ducklake:postgres:dbname=x'", "default",
         "engine 'default': database is a PostgreSQL string without a host (interlace.yaml:1:1)"},
        {"database: s3://b/x.db", "default",
         "engine 'default': a database at 's3:\xE2\x80\xA6' is not in this release: name a DuckDB file "
         "(interlace.yaml:1:1)"},
        {"attach: {a: 'postgres:dbname=x'}", "default",
         "engine 'default': attach is a PostgreSQL string without a host (interlace.yaml:1:13)"},
        {"attach: {a: 'postgres://u:secret@h/x', b: 'postgres:host=h'}", "default", "usable"},
        {"attach: {a: 'mysql:host=h'}", "default",
         "engine 'default': attaching a 'mysql:' database ('a') is not in this release (interlace.yaml:1:13)"},
        {"attach: {a: 'ducklake:postgres:host=h'}", "default",
         "engine 'default': attaching a 'ducklake:' database ('a') is not in this release (interlace.yaml:1:13)"},
        {"database: 'ducklake:x'\nalias: lake\ndata_path: d\nmetadata_schema: m", "default", "usable"},
        {"database: 'ducklake:sqlite:x'", "default", "usable"},
        {"database: 'ducklake:postgres:host=h'", "default", "usable"},
        {"database: 'ducklake:mysql:host=h'", "default",
         "engine 'default': a DuckLake keeps its catalog in ducklake:<file>, ducklake:sqlite:<file> or "
         "ducklake:postgres:<connection string>; others are not in this release (interlace.yaml:1:1)"},
        {"database: 'ducklake:x'\ndata_path: s3://b/d", "default",
         "engine 'default': a data_path at 's3:\xE2\x80\xA6' is not in this release: name a folder "
         "(interlace.yaml:1:1)"},
        {"secrets: {s: {type: s3}}", "default",
         "engine 'default': 'secrets' is not in this release (interlace.yaml:1:1)"},
        {"engines: {a: {read_only: true}}", "a",
         "engine 'a': 'read_only' is not in this release (interlace.yaml:1:14)"},
        {"engines: {a: {read_only: true}}", "default", "usable"},
    };
    (void)unsetenv("PGHOST");
    (void)unsetenv("PGSERVICE");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_str(usability(f, cases[i].yaml, cases[i].engine), cases[i].expected, cases[i].yaml);
    }
}

static void pghost_names_the_host(void **state) {
    Fixture *f = *state;
    (void)setenv("PGHOST", "db", 1);
    assert_str(usability(f, "engines: {pg: {type: postgres, database: dbname=x}}", "pg"),
               "engine 'pg': engines of type postgres are not in this release (interlace.yaml:1:15)", "PGHOST");
    (void)unsetenv("PGHOST");
}

static void overlay_is_merged_over_the_main_file(void **state) {
    Fixture *f = *state;
    f->sources.overlay_file = STR("interlace.dev.yaml");
    f->sources.overlay_text = STR("name: dev\nmodel_paths: [m]\nsettings: {threads: ~, memory_limit: 1GB}\nvars: ~\n");
    const ProjectConfig *config = parsed(f, "name: main\nparallelism: 2\nmodel_paths: [a, b]\n"
                                            "settings: {threads: 4, x: 1}\nvars: {a: {type: int, value: 1}}");
    assert_str(config->name, "dev", "name");
    assert_int_equal(config->parallelism, 2);
    assert_int_equal(config->model_paths.count, 1);
    assert_int_equal(config->vars.count, 0);
    assert_int_equal(config->engines.items[0].settings.count, 3); /* x, memory_limit, temp_directory */
    assert_str(config->engines.items[0].settings.items[0].name, "x", "threads is gone");

    f->sources.overlay_text = STR("\nnmae: ~\nparallelism: 0");
    assert_str(faults_of(f, "name: main"),
               "unknown key 'nmae' in interlace.yaml: did you mean name? (interlace.dev.yaml:2:1)\n"
               "parallelism must be a whole number of at least 1, not '0' (interlace.dev.yaml:3:14)",
               "faults of the overlay");
    f->sources.overlay_text = STR("- a");
    assert_str(faults_of(f, "- b"),
               "'/p/interlace.dev.yaml' must hold a map of keys, not a list (interlace.dev.yaml:1:1)\n"
               "'/p/interlace.yaml' must hold a map of keys, not a list (interlace.yaml:1:1)",
               "both files");
}

static void reference_lists_every_section(void **state) {
    (void)state;
    AUTO(strbuf) StrBuf out = {0};
    project_config_write_reference(&out);
    static const char *const parts[] = {
        "## Top-level keys",
        "## Engines",
        "| `parallelism` | whole number \xE2\x89\xA5 1 | `4` |",
        "| `type` | one of `duckdb`,",
        "| `base_url` | text | required |",
        "Not in this release: refused.",
        "## Vars",
        "## Python",
    };
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        assert_true(str_find(strbuf_str(&out), str_from(parts[i])) != STR_NOT_FOUND);
    }
}

/* The disk side. */

static Str load_faults(Fixture *f, Str root, const char *overlay) {
    error_list_deinit(&f->faults);
    ConfigOptions options = {.root = root, .overlay = str_from(overlay)};
    Status status = project_config_load(&options, f->arena, &f->config, &f->faults);
    assert_int_equal(failed(status), f->faults.count > 0);
    return fault_lines(f);
}

static void write_file(Fixture *f, Str root, const char *name, const char *content) {
    AUTO(error) Error err;
    error_init(&err);
    assert_done(file_write_atomic(path_join(f->arena, root, str_from(name)), str_from(content), false, &err), &err);
}

static void files_of_the_project_are_found(void **state) {
    Fixture *f = *state;
    Str root = test_directory(f->arena);
    assert_str(load_faults(f, root, NULL), "", "an empty folder");
    write_file(f, root, "interlace.yml", "name: x");
    assert_str(load_faults(f, root, NULL), "", "another name");
    assert_str(f->config->warnings.items[0], "interlace.yml is not read: the file must be called interlace.yaml",
               "warning");
    write_file(f, root, "interlace.yaml", "name: ${A}");
    write_file(f, root, ".env", "A=from .env");
    write_file(f, root, "interlace.dev.yaml", "name: dev");
    assert_str(load_faults(f, root, NULL), "", "main file");
    assert_str(f->config->name, "from .env", "name");
    assert_str(load_faults(f, root, "dev"), "", "overlay");
    assert_str(f->config->name, "dev", "name");
    (void)setenv("INTERLACE_OVERLAY", "dev", 1);
    assert_str(load_faults(f, root, NULL), "", "overlay of the environment");
    assert_str(f->config->name, "dev", "name");
    (void)unsetenv("INTERLACE_OVERLAY");
    FileEntryVec entries;
    AUTO(error) Error err;
    error_init(&err);
    assert_done(directory_walk(root, STR("."), f->arena, &entries, &err), &err);
    assert_int_equal(entries.count, 3); /* nothing was created */
    test_directory_remove(f->arena, root);
}

static void files_that_cannot_be_read_are_named(void **state) {
    Fixture *f = *state;
    Str root = test_directory(f->arena);
    const char *root_c = str_to_c(f->arena, root);
    assert_str(load_faults(f, STR("/nowhere/at/all"), NULL), "there is no project directory '/nowhere/at/all'", "root");
    assert_str(load_faults(f, root, "prod"),
               str_format(f->arena, "overlay 'prod': there is no file interlace.prod.yaml in '%s'", root_c).ptr,
               "overlay");
    assert_str(load_faults(f, root, "../x"), "overlay '../x': a name is made of letters, digits, '_', '-' and '.'",
               "name of an overlay");
    assert_int_equal(mkdir(str_to_c(f->arena, path_join(f->arena, root, STR(".env"))), 0700), 0);
    assert_str(load_faults(f, root, NULL), "", "a folder called .env is no fault");
    Str file = path_join(f->arena, root, STR("interlace.yaml"));
    assert_int_equal(mkdir(str_to_c(f->arena, file), 0700), 0);
    assert_str(load_faults(f, root, NULL),
               str_format(f->arena, "'%s/interlace.yaml' is a directory, not a file (interlace.yaml)", root_c).ptr,
               "folder");
    assert_int_equal(f->faults.items[0].kind, ERROR_CONFIGURATION);
    test_directory_remove(f->arena, root);
}

#define FIXTURE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(all_defaults_apply_without_a_file),
        FIXTURE_TEST(settings_are_read),
        FIXTURE_TEST(temp_directory_is_under_the_root),
        FIXTURE_TEST(python_may_be_a_map),
        FIXTURE_TEST(unknown_keys_are_refused_with_place_and_nearest),
        FIXTURE_TEST(values_of_another_type_are_refused),
        FIXTURE_TEST(time_zones_must_exist),
        FIXTURE_TEST(root_must_be_a_map),
        FIXTURE_TEST(all_faults_are_told_together),
        FIXTURE_TEST(test_01_10_faults_of_inputs_are_told_by_name),
        FIXTURE_TEST(later_features_are_refused_when_they_are_used),
        FIXTURE_TEST(keys_without_effect_are_warned_of),
        FIXTURE_TEST(vars_are_typed_and_canonical),
        FIXTURE_TEST(vars_need_name_type_and_value),
        FIXTURE_TEST(variables_are_filled_in_their_order),
        FIXTURE_TEST(plain_values_are_typed_after_filling),
        FIXTURE_TEST(quoted_values_stay_text_after_filling),
        FIXTURE_TEST(connections_are_checked_by_their_type),
        FIXTURE_TEST(types_follow_the_prefix_of_the_database),
        FIXTURE_TEST(a_lake_has_an_alias_and_a_folder),
        FIXTURE_TEST(engines_are_refused_only_when_they_are_used),
        FIXTURE_TEST(pghost_names_the_host),
        FIXTURE_TEST(overlay_is_merged_over_the_main_file),
        FIXTURE_TEST(reference_lists_every_section),
        FIXTURE_TEST(files_of_the_project_are_found),
        FIXTURE_TEST(files_that_cannot_be_read_are_named),
    };
    return cmocka_run_group_tests_name("project_config", tests, NULL, NULL);
}
