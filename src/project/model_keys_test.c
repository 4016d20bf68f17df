#include "base/testing.h"
#include "project/model_keys.h"
#include "project/project.h"

/* Keys of one declaration, without files: "ok", or the codes of its faults in order. */
typedef struct Declaration {
    Arena *arena;
    ModelKind kind;
    Model model;
    ErrorList faults;
} Declaration;

static void declaration_deinit(Declaration *declaration) {
    error_list_deinit(&declaration->faults);
}
DEFINE_AUTO_VALUE(Declaration, declaration, declaration_deinit)

static ProjectConfig test_config(void) {
    static AttachConfig attach[] = {{.alias = STR_INIT("crm"), .uri = STR_INIT("/data/crm.duckdb")}};
    static EngineConfig engines[1];
    engines[0] = (EngineConfig){.name = STR("default"),
                                .type = STR("duckdb"),
                                .dialect = STR("duckdb"),
                                .attach = {.items = attach, .count = 1, .capacity = 1}};
    return (ProjectConfig){.default_engine = STR("default"),
                           .default_dialect = STR("duckdb"),
                           .engines = {.items = engines, .count = 1, .capacity = 1}};
}

/* `yaml` holds the keys; in a Python manifest they stand in another file than the model. */
static Str declare(Declaration *declaration, const char *yaml) {
    Arena *arena = declaration->arena;
    ProjectConfig config = test_config();
    declaration->model = (Model){
        .name = STR("m"),
        .kind = declaration->kind,
        .place = {.file = declaration->kind == MODEL_SQL ? STR("models/m.sql") : STR("models/m.py"), .line = 1}};
    error_list_init(&declaration->faults);
    AUTO(error) Error err;
    error_init(&err);
    ConfigValue *map;
    Str file = declaration->kind == MODEL_SQL ? STR("models/m.sql") : STR("manifest");
    assert_done(yaml_read(str_from(yaml), file, 1, arena, &map, &err), &err);
    ModelReader reader = {
        .arena = arena, .config = &config, .model = &declaration->model, .faults = &declaration->faults};
    model_keys_read(&reader, map->kind == CONFIG_MAP ? map : NULL);
    assert_int_equal(reader.has_fault, declaration->faults.count > 0);
    StrVec codes = {0};
    for (size_t i = 0; i < declaration->faults.count; i++) {
        assert_true(str_starts_with(declaration->faults.items[i].message, STR("model '")));
        str_vec_push(arena, &codes, error_detail_find(&declaration->faults.items[i], STR("code")));
    }
    return codes.count == 0 ? STR("ok") : str_join(arena, codes.items, codes.count, STR(" "));
}

static void check(ModelKind kind, const char *yaml, const char *expected) {
    AUTO(arena) Arena *arena = arena_create();
    AUTO(declaration) Declaration declaration = {.arena = arena, .kind = kind};
    assert_str(declare(&declaration, yaml), expected, yaml);
}

/* ---- */

typedef struct KeyCase {
    const char *key;
    const char *base; /* the keys that make a place for it */
    const char *text, *text_outcome;
    const char *list, *list_outcome;
    const char *map, *map_outcome;
} KeyCase;

#define INCREMENTAL "strategy: incremental, time_column: ts"
#define TABLE "materialise: table, target: crm.out"
#define FILE_CSV "materialise: file, path: out.csv"
#define BAD "key.value"

/* clang-format off */
static const KeyCase sql_keys[] = {
    {"name",          "",          "a.b",             "ok", "[a]",           BAD,  "{a: b}",                BAD},
    {"materialise",   "",          "view",            "ok", "[view]",        BAD,  "{a: b}",                BAD},
    {"materialise",   "",          "full",            "combo.materialise", "[]", BAD, "{}",                 BAD},
    {"strategy",      "",          "replace",         "ok", "[replace]",     BAD,  "{a: b}",                BAD},
    {"strategy",      "",          "upsert",          "combo.strategy", "[]", BAD, "{}",                    BAD},
    {"key",           "",          "id",              "ok", "[id, day]",     "ok", "{a: b}",                BAD},
    {"key",           "",          "''",              BAD,  "[id, ID]",      BAD,  "{}",                    BAD},
    {"time_column",   "strategy: scd, key: id", "ts", "ok", "[ts]",          BAD,  "{a: b}",                BAD},
    {"interval",      INCREMENTAL, "6h",              "ok", "[1d]",          BAD,  "{a: b}",                BAD},
    {"interval",      INCREMENTAL, "0d",              "grain.syntax", "[]",  BAD,  "{}",                    BAD},
    {"backfill",      INCREMENTAL, "2026-01-01",      "ok", "[auto]",        BAD,  "{a: b}",                BAD},
    {"backfill",      INCREMENTAL, "soon",            BAD,  "[none]",        BAD,  "{}",                    BAD},
    {"dialect",       "",          "duckdb",          "ok", "[duckdb]",      BAD,  "{a: b}",                BAD},
    {"engine",        "",          "default",         "ok", "[default]",     BAD,  "{a: b}",                BAD},
    {"depends_on",    "",          "a",               "ok", "[a, b.c]",      "ok", "{a: b}",                BAD},
    {"tags",          "",          "a",               "ok", "[a, b]",        "ok", "{a: b}",                BAD},
    {"owner",         "",          "me",              "ok", "[me]",          BAD,  "{a: b}",                BAD},
    {"description",   "",          "''",              "ok", "[a]",           BAD,  "{a: b}",                BAD},
    {"columns",       "",          "a",               "ok", "[a, b]",        "ok", "{a: BIGINT, b: null}",  "ok"},
    {"columns",       "",          "''",              BAD,  "[a, A]",        BAD,  "{a: [x]}",              BAD},
    {"schedule",      "",          "daily",           BAD,  "[a]",           BAD,  "{cron: '0 6 * * *'}",   "ok"},
    {"checks",        "",          "a",               "ok", "[{not_null: a}]", "ok", "{a: b}",              "ok"},
    {"target",        "materialise: table", "crm.main.out", "ok", "[a]", BAD " combo.target", "{a: b}", BAD " combo.target"},
    {"path",          "materialise: file", "a.csv",   "ok", "[a]", BAD " combo.path combo.format", "{a: b}", BAD " combo.path combo.format"},
    {"format",        FILE_CSV,    "json",            "ok", "[csv]",         BAD,  "{a: b}",                BAD},
    {"options",       FILE_CSV,    "a",               BAD,  "[a]",           BAD,  "{delimiter: ';'}",      "ok"},
    {"options",       FILE_CSV,    "a",               BAD,  "[]",            BAD,  "{compression: zstd}",   "key.unknown"},
    {"environments",  TABLE,       "prod",            "ok", "[dev, prod]",   "ok", "{a: b}",                BAD},
    {"environments",  TABLE,       "a__b",            BAD,  "[prod, prod]",  BAD,  "{}",                    BAD},
    {"indexes",       "",          "id",              "ok", "[id, [a, b], {columns: c, unique: true}]", "ok", "{a: b}", BAD},
    {"indexes",       "",          "'a b'",           BAD,  "[{unique: true}]", BAD, "{}",                  BAD},
    {"constraints",   "",          "id",              BAD,  "[{primary_key: id}, {type: check, expression: a > 0}]", "ok", "{primary_key: id}", BAD},
    {"constraints",   "",          "id",              BAD,  "[{primary_key: id, severity: warn}]", BAD, "{}", BAD},
    {"schema",        "",          "reject",          BAD,  "[reject]",      BAD,  "{columns: reject}",     "ok"},
    {"schema",        "",          "reject",          BAD,  "[]",            BAD,  "{columns: manage}",     BAD},
    {"batch",         INCREMENTAL, "auto",            "ok", "[auto]",        BAD,  "{a: b}",                BAD},
    {"batch",         INCREMENTAL, "0",               BAD,  "[1]",           BAD,  "{}",                    BAD},
    {"batch_rows",    INCREMENTAL, "5",               "ok", "[2]",           BAD,  "{a: b}",                BAD},
    {"batch_rows",    INCREMENTAL, "0",               BAD,  "[]",            BAD,  "{}",                    BAD},
    {"concurrency",   INCREMENTAL, "2",               "ok", "[2]",           BAD,  "{a: b}",                BAD},
    {"concurrency",   INCREMENTAL, "0",               BAD,  "[]",            BAD,  "{}",                    BAD},
    {"clock",         INCREMENTAL, "window",          "ok", "[wall]",        BAD,  "{a: b}",                BAD},
    {"clock",         INCREMENTAL, "now",             BAD,  "[]",            BAD,  "{}",                    BAD},
    {"clock_columns", INCREMENTAL, "loaded_at",       "ok", "[a, b]",        "ok", "{a: b}",                BAD},
    {"audit",         "",          "1%",              BAD,  "[1%]",          BAD,  "{rows: 1%, keys_removed: 0}", "ok"},
    {"audit",         "",          "1%",              BAD,  "[]",            BAD,  "{rows: few}",           BAD},
    {"reads",         INCREMENTAL, "a",               BAD,  "[a]",           BAD,  "{a: {time_column: ts, before: 1d, after: 0d}}", "ok"},
    {"reads",         INCREMENTAL, "a",               BAD,  "[]",            BAD,  "{a: {behind: 1d}}",     "key.unknown"},
    {"lookback",      INCREMENTAL, "3",               "ok", "[3]",           BAD,  "{a: b}",                BAD},
    {"lookback",      INCREMENTAL, "-1",              BAD,  "[]",            BAD,  "{}",                    BAD},
};

static const KeyCase python_keys[] = {
    {"cursor",        "",          "ts",              "ok", "[ts]",          BAD,  "{a: b}",                BAD},
    {"lineage",       "",          "a",               BAD,  "[a]",           BAD,  "{revenue: [raw.amount]}", "ok"},
    {"timeout",       "",          "30m",             "ok", "[30m]",         BAD,  "{a: b}",                BAD},
    {"timeout",       "",          "soon",            BAD,  "[]",            BAD,  "{}",                    BAD},
    {"retries",       "",          "2",               "ok", "[2]",           BAD,  "{a: b}",                BAD},
    {"memory_limit",  "",          "1GB",             "ok", "[1GB]",         BAD,  "{a: b}",                BAD},
    {"pool",          "",          "api",             "ok", "[api]",         BAD,  "{a: b}",                BAD},
    {"env",           "",          "TOKEN",           "ok", "[A, B]",        "ok", "{a: b}",                BAD},
    {"requires",      "",          "httpx>=1",        "ok", "[a, b]",        "ok", "{a: b}",                BAD},
    {"enabled",       "",          "false",           "ok", "[true]",        BAD,  "{a: b}",                BAD},
    {"enabled",       "",          "maybe",           BAD,  "[]",            BAD,  "{}",                    BAD},
    {"commit_every",  "",          "10",              "ok", "[10]",          BAD,  "{a: b}",                BAD},
    {"strategy",      "",          "replace",         "ok", "[replace]",     BAD,  "{a: b}",                BAD},
};
/* clang-format on */

static void check_key(ModelKind kind, const KeyCase *row, const char *value, const char *expected) {
    char yaml[256];
    (void)snprintf(yaml, sizeof yaml, "{%s%s%s: %s}", row->base, *row->base == '\0' ? "" : ", ", row->key, value);
    check(kind, yaml, expected);
}

static void check_rows(ModelKind kind, const KeyCase *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        check_key(kind, &rows[i], rows[i].text, rows[i].text_outcome);
        check_key(kind, &rows[i], rows[i].list, rows[i].list_outcome);
        check_key(kind, &rows[i], rows[i].map, rows[i].map_outcome);
    }
}

static void test_01_4_1_every_key_takes_its_type_and_no_other(void **state) {
    (void)state;
    check_rows(MODEL_SQL, sql_keys, COUNT_OF(sql_keys));
    check_rows(MODEL_PYTHON, python_keys, COUNT_OF(python_keys));
}

/* null is as good as not written, whoever may write the key and wherever it stands. */
static void test_01_4_1_null_is_not_written(void **state) {
    (void)state;
    char yaml[256];
    for (size_t i = 0; i < COUNT_OF(sql_keys) + COUNT_OF(python_keys); i++) {
        const char *key = i < COUNT_OF(sql_keys) ? sql_keys[i].key : python_keys[i - COUNT_OF(sql_keys)].key;
        (void)snprintf(yaml, sizeof yaml, "{%s: null}", key);
        check(MODEL_SQL, yaml, "ok");
        check(MODEL_PYTHON, yaml, "ok");
    }
}

static void test_01_4_1_the_table_has_a_row_for_every_key(void **state) {
    (void)state;
    AUTO(strbuf) StrBuf reference = {0};
    model_keys_write_reference(&reference);
    for (Str rest = strbuf_str(&reference); rest.size > 0;) {
        size_t end = str_find_char(rest, '\n');
        Str line = str_slice(rest, 0, end);
        rest = str_skip(rest, end + 1);
        if (!str_starts_with(line, STR("| `"))) {
            continue;
        }
        Str key = str_slice(str_skip(line, 3), 0, str_find_char(str_skip(line, 3), '`'));
        bool has_case = false;
        for (size_t i = 0; i < COUNT_OF(sql_keys); i++) {
            has_case |= str_equal(key, str_from(sql_keys[i].key));
        }
        for (size_t i = 0; i < COUNT_OF(python_keys); i++) {
            has_case |= str_equal(key, str_from(python_keys[i].key));
        }
        if (!has_case) {
            print_error("no case for key " STR_FMT "\n", STR_ARG(key));
            fail();
        }
    }
}

typedef struct Case {
    const char *yaml, *expected;
} Case;

static void test_01_4_4_keys_without_effect_are_misplaced(void **state) {
    (void)state;
    static const Case sql[] = {
        {"{cursor: ts}", "key.misplaced"},
        {"{target: crm.out}", "key.misplaced"},
        {"{strategy: merge, key: id, interval: 1d}", "key.misplaced"},
        {"{materialise: view, path: a.csv, format: csv}", "key.misplaced key.misplaced"},
        {"{materialise: ephemeral, key: id}", "key.misplaced"},
        {"{materialise: ephemeral, columns: [a]}", "key.misplaced"},
        {"{materialise: ephemeral, schedule: {every: 1h}}", "key.misplaced"},
        {"{materialise: ephemeral, checks: [{not_null: a}]}", "key.misplaced"},
        {"{materialise: file, path: a.csv, key: id}", "key.misplaced"},
        {"{materialise: file, path: a.csv, checks: [{not_null: a}]}", "combo.file_checks"},
        {"{materialise: view, indexes: [a]}", "combo.physical"},
        {"{materialise: ephemeral, constraints: [{not_null: a}]}", "combo.physical"},
        {"{materialise: file, path: a.csv, schema: {columns: reject}}", "combo.physical"},
        {"{environments: [dev]}", "key.misplaced"},
        {"{time_column: ts}", "key.misplaced"},
        {"{lookback: 1}", "key.misplaced"},
        {"{clock: wall}", "key.misplaced"},
        {TABLE "_x, audit: {rows: 1%}}", "key.misplaced"},
        {"{timeout: 1h}", "key.misplaced"},
        {"{lineage: {a: b}}", "key.misplaced"},
        {"{key: [], tags: [], checks: [], options: {}}", "ok"}, /* empty is not written */
    };
    for (size_t i = 0; i < COUNT_OF(sql); i++) {
        char yaml[160];
        (void)snprintf(yaml, sizeof yaml, "%s%s", sql[i].yaml[0] == '{' ? "" : "{", sql[i].yaml);
        check(MODEL_SQL, yaml, sql[i].expected);
    }
    check(MODEL_PYTHON, "{dialect: duckdb}", "key.misplaced");
    check(MODEL_PYTHON, "{" INCREMENTAL ", key: id, clock: wall}", "key.misplaced");
}

static void unknown_keys_name_the_nearest(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(declaration) Declaration declaration = {.arena = arena, .kind = MODEL_SQL};
    assert_str(declare(&declaration, "{stratgy: merge, kye: id}"), "key.unknown key.unknown", "two");
    assert_str(error_line(&declaration.faults.items[0], arena),
               "model 'm': unknown key 'stratgy'; did you mean 'strategy'? (models/m.sql:1:2)", "stratgy");
    assert_str(error_line(&declaration.faults.items[1], arena),
               "model 'm': unknown key 'kye'; did you mean 'key'? (models/m.sql:1:18)", "kye");
    check(MODEL_SQL, "{pre_hook: x, x-mine: y}", "key.unknown key.unknown");
    check(MODEL_SQL, "{function: f}", "key.unknown");
    check(MODEL_PYTHON, "{function: f, file: a.py, line: 3, params: [], helpers: []}", "ok");
}

static void python_faults_stand_at_the_function(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(declaration) Declaration declaration = {.arena = arena, .kind = MODEL_PYTHON};
    assert_str(declare(&declaration, "{stratgy: merge}"), "key.unknown", "stratgy");
    assert_str(error_line(&declaration.faults.items[0], arena),
               "model 'm': unknown key 'stratgy'; did you mean 'strategy'? (models/m.py:1)", "stratgy");
}

static void test_01_4_3_old_words_are_refused_with_the_new(void **state) {
    (void)state;
    static const char *const words[][2] = {
        {"full", "replace"}, {"merge_by_key", "merge"}, {"scd_type_2", "scd"}, {"scd2", "scd"}};
    AUTO(arena) Arena *arena = arena_create();
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        AUTO(declaration) Declaration declaration = {.arena = arena, .kind = MODEL_SQL};
        const char *yaml = str_format(arena, "{strategy: %s}", words[i][0]).ptr;
        assert_str(declare(&declaration, yaml), "combo.strategy", words[i][0]);
        assert_non_null(strstr(error_line(&declaration.faults.items[0], arena).ptr, words[i][1]));
    }
    check(MODEL_SQL, "{export: x}", "key.removed");
}

static void test_01_4_3_incremental_by_time_is_incremental(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(declaration) Declaration declaration = {.arena = arena, .kind = MODEL_SQL};
    assert_str(declare(&declaration, "{strategy: incremental_by_time, time_column: ts}"), "ok", "incremental_by_time");
    assert_int_equal(declaration.model.strategy, STRATEGY_INCREMENTAL);
    assert_str(declaration.model.interval, "1d", "interval");
}

static void values_arrive_in_the_model(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(declaration) Declaration declaration = {.arena = arena, .kind = MODEL_SQL};
    assert_str(declare(&declaration,
                       "name: x.y\nkey: id\ninterval: ' 15 m'\nstrategy: incremental\ntime_column: ts\n"
                       "tags: [b, a]\ncolumns: {a: BIGINT, b: null}\nlookback: 2\nbackfill: 2026-01-01\n"),
               "ok", "keys");
    const Model *model = &declaration.model;
    assert_str(model->name, "x.y", "name");
    assert_str(model->key.items[0], "id", "key");
    assert_str(model->interval, "15m", "interval");
    assert_str(model->tags.items[0], "b", "tags keep their order");
    assert_true(model->has_contract);
    assert_str(model->contract.items[0].type, "BIGINT", "type");
    assert_str(model->contract.items[1].type, "", "no type");
    assert_int_equal(model->lookback, 2);
    assert_int_equal(model->concurrency, 0);
    assert_str(model->backfill, "2026-01-01", "an unquoted date is its text");
}

static void test_02_9_1_grains(void **state) {
    (void)state;
    static const Case grains[] = {
        {"1d", "ok"},
        {"' 6h '", "ok"},
        {"15 m", "ok"},
        {"2w", "ok"},
        {"3mo", "ok"},
        {"24mo", "ok"},
        {"5mo", "grain.syntax"},
        {"0d", "grain.syntax"},
        {"1D", "grain.syntax"},
        {"5", "grain.syntax"},
        {"-1d", "grain.syntax"},
        {"1y", "grain.syntax"},
        {"1.5h", "grain.syntax"},
        {"d", "grain.syntax"},
        {"M", "grain.syntax"},
    };
    for (size_t i = 0; i < COUNT_OF(grains); i++) {
        char yaml[128];
        (void)snprintf(yaml, sizeof yaml, "{" INCREMENTAL ", interval: %s}", grains[i].yaml);
        check(MODEL_SQL, yaml, grains[i].expected);
    }
}

static void terminals_are_complete_and_well_formed(void **state) {
    (void)state;
    static const Case cases[] = {
        {"{materialise: table}", "combo.target"},
        {"{materialise: table, target: out}", "combo.target_shape"},
        {"{materialise: table, target: a.b.c.d}", "combo.target_shape"},
        {"{materialise: table, target: crm..out}", "combo.target_shape"},
        {"{materialise: table, target: other.out}", "combo.target_shape"},
        {"{materialise: table, target: CRM.main.out}", "ok"},
        {"{materialise: file}", "combo.path combo.format"},
        {"{materialise: file, path: out.txt}", "combo.format"},
        {"{materialise: file, path: out.txt, format: xml}", "combo.format"},
        {"{materialise: file, path: out.ndjson}", "ok"},
        {"{materialise: file, path: ../out.csv}", "key.value"},
        {"{materialise: file, path: a/../../out.csv}", "key.value"},
        {"{materialise: file, path: a/../out.csv}", "ok"},
        {"{materialise: file, path: /data/out.csv}", "ok"},
        {"{materialise: file, path: '${date}-${workspace}-${datetime}.csv'}", "ok"},
        {"{materialise: file, path: '${month}.csv'}", "key.value"},
        {"{materialise: file, path: '${open.csv'}", "key.value"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        check(MODEL_SQL, cases[i].yaml, cases[i].expected);
    }
}

static void schedules_have_one_trigger(void **state) {
    (void)state;
    static const Case cases[] = {
        {"{schedule: {every: 15m}}", "ok"},
        {"{schedule: {every: soon}}", "key.value"},
        {"{schedule: {cron: '0 6 * * *', timezone: UTC, jitter: 30s}}", "ok"},
        {"{schedule: {cron: '@daily'}}", "ok"},
        {"{schedule: {cron: '0 6'}}", "key.value"},
        {"{schedule: {cron: '0 6 * * *', every: 1h}}", "key.value"},
        {"{schedule: {}}", "key.value"},
        {"{schedule: {cro: '0 6 * * *'}}", "key.unknown"},
        {"{schedule: {watch: data/*.csv}}", "ok"},
        {"{schedule: {watch: /data/*.csv}}", "key.value"},
        {"{schedule: {fresh: 'ts 2h'}}", "ok"},
        {"{schedule: {fresh: {column: ts, within: 2h}}}", "ok"},
        {"{schedule: {fresh: {column: ts}}}", "key.value"},
        {"{schedule: {after: [a, b]}}", "ok"},
        {"{schedule: {webhook: hook}}", "ok"},
        {"{schedule: {on_change: [a]}}", "key.value"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        check(MODEL_SQL, cases[i].yaml, cases[i].expected);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_01_4_1_every_key_takes_its_type_and_no_other),
        TEST(test_01_4_1_null_is_not_written),
        TEST(test_01_4_1_the_table_has_a_row_for_every_key),
        TEST(test_01_4_4_keys_without_effect_are_misplaced),
        TEST(unknown_keys_name_the_nearest),
        TEST(python_faults_stand_at_the_function),
        TEST(test_01_4_3_old_words_are_refused_with_the_new),
        TEST(test_01_4_3_incremental_by_time_is_incremental),
        TEST(values_arrive_in_the_model),
        TEST(test_02_9_1_grains),
        TEST(terminals_are_complete_and_well_formed),
        TEST(schedules_have_one_trigger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
