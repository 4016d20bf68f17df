/* Spec 01 §5 as it is written there, against the table that the code has. */
#include "base/testing.h"
#include "project/model_keys.h"

typedef struct Given {
    ModelKind kind;
    Materialise materialise;
    StrategyKind strategy;
    bool has_key, has_time_column;
} Given;

static bool needs_key(StrategyKind strategy) {
    return strategy == STRATEGY_MERGE || strategy == STRATEGY_FULL_MERGE || strategy == STRATEGY_HASH_MERGE ||
           strategy == STRATEGY_SCD;
}

/* What refuses the cell itself; NULL: it is allowed. */
static const char *cell_refusal(const Given *given) {
    bool is_replace = given->strategy == STRATEGY_REPLACE;
    if (given->kind == MODEL_PYTHON && given->materialise == MATERIALISE_VIEW) {
        return "combo.py_view";
    }
    if (given->kind == MODEL_PYTHON && given->materialise == MATERIALISE_EPHEMERAL) {
        return "combo.py_ephemeral";
    }
    if (given->strategy == STRATEGY_APPEND && given->materialise != MATERIALISE_TABLE) {
        return "combo.append";
    }
    if (!is_replace && given->materialise == MATERIALISE_VIEW) {
        return "combo.view";
    }
    if (!is_replace && given->materialise == MATERIALISE_EPHEMERAL) {
        return "combo.ephemeral";
    }
    if (!is_replace && given->materialise == MATERIALISE_FILE) {
        return "combo.file_strategy";
    }
    return NULL;
}

static void expect(const Given *given, Arena *arena, StrVec *codes) {
    const char *refusal = cell_refusal(given);
    bool takes_time = given->strategy == STRATEGY_INCREMENTAL || given->strategy == STRATEGY_SCD;
    bool takes_key = given->materialise != MATERIALISE_EPHEMERAL && given->materialise != MATERIALISE_FILE;
    if (refusal != NULL) {
        str_vec_push(arena, codes, str_from(refusal));
        return;
    }
    if (needs_key(given->strategy) && !given->has_key) {
        str_vec_push(arena, codes, STR("combo.key"));
    }
    if (given->strategy == STRATEGY_INCREMENTAL && !given->has_time_column) {
        str_vec_push(arena, codes, STR("combo.time_column"));
    }
    if (given->strategy == STRATEGY_INCREMENTAL && given->kind == MODEL_PYTHON && !given->has_key) {
        str_vec_push(arena, codes, STR("combo.py_incremental"));
    }
    if (given->has_key && !takes_key) {
        str_vec_push(arena, codes, STR("key.misplaced"));
    }
    if (given->has_time_column && !takes_time) {
        str_vec_push(arena, codes, STR("key.misplaced"));
    }
}

static const char *yaml_of(const Given *given, Arena *arena) {
    AUTO(strbuf) StrBuf yaml = {0};
    strbuf_format(&yaml, "{materialise: %s, strategy: %s", materialise_name(given->materialise),
                  strategy_name(given->strategy));
    strbuf_text(&yaml, given->materialise == MATERIALISE_TABLE ? ", target: crm.out" : "");
    strbuf_text(&yaml, given->materialise == MATERIALISE_FILE ? ", path: out.csv" : "");
    strbuf_text(&yaml, given->has_key ? ", key: id" : "");
    strbuf_text(&yaml, given->has_time_column ? ", time_column: ts" : "");
    strbuf_text(&yaml, "}");
    return strbuf_copy(&yaml, arena).ptr;
}

static void check_cell(const Given *given) {
    static AttachConfig attach[] = {{.alias = STR_INIT("crm")}};
    EngineConfig engine = {.name = STR("default"), .attach = {.items = attach, .count = 1}};
    ProjectConfig config = {.default_engine = STR("default"), .engines = {.items = &engine, .count = 1}};
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err;
    AUTO(error_list) ErrorList faults;
    error_init(&err);
    error_list_init(&faults);
    const char *yaml = yaml_of(given, arena);
    ConfigValue *map;
    assert_done(yaml_read(str_from(yaml), STR("m"), 1, arena, &map, &err), &err);
    Model model = {.name = STR("m"), .kind = given->kind, .place = {.file = STR("m")}};
    ModelReader reader = {.arena = arena, .config = &config, .model = &model, .faults = &faults};
    model_keys_read(&reader, map);

    StrVec expected = {0}, actual = {0};
    expect(given, arena, &expected);
    for (size_t i = 0; i < faults.count; i++) {
        assert_int_equal(faults.items[i].kind, ERROR_DEFINITION);
        str_vec_push(arena, &actual, error_detail_find(&faults.items[i], STR("code")));
    }
    Str wanted = str_join(arena, expected.items, expected.count, STR(" "));
    assert_str(str_join(arena, actual.items, actual.count, STR(" ")), wanted.ptr, yaml);
}

static void test_01_5_1_every_combination_cell(void **state) {
    (void)state;
    size_t cells = 0;
    for (size_t cell = 0; cell < (size_t)2 * MATERIALISE_COUNT * STRATEGY_COUNT * 4; cell++) {
        Given given = {
            .kind = (ModelKind)(cell % 2),
            .materialise = (Materialise)(cell / 2 % MATERIALISE_COUNT),
            .strategy = (StrategyKind)(cell / 2 / MATERIALISE_COUNT % STRATEGY_COUNT),
            .has_key = cell / 2 / MATERIALISE_COUNT / STRATEGY_COUNT % 2 == 1,
            .has_time_column = cell / 2 / MATERIALISE_COUNT / STRATEGY_COUNT / 2 == 1,
        };
        check_cell(&given);
        cells++;
    }
    assert_int_equal(cells, 280);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_01_5_1_every_combination_cell)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
