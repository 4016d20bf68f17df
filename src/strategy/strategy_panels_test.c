/* The shared scenario of spec 02 §6 and the repeats of §7, for each strategy, with all that an engine can do and with
 * next to nothing. */
#include "strategy/strategy_fixture.h"

#define DAY "TIMESTAMP '2026-07-02 "
#define FIRST_ROWS                                                                                                     \
    "SELECT * FROM (VALUES (1, 'a', " DAY "08:00'), (2, 'b', " DAY "08:00'), (3, 'c', " DAY "08:00')) r(id, v, seen)"
#define SECOND_ROWS                                                                                                    \
    "SELECT * FROM (VALUES (1, 'A', " DAY "09:15'), (2, 'b', " DAY "08:00'), (4, 'd', " DAY "09:40')) r(id, v, seen)"

static const char first_source[] = "SELECT id, v FROM (" FIRST_ROWS ")";
static const char second_source[] = "SELECT id, v FROM (" SECOND_ROWS ")";
static const char first_events[] = FIRST_ROWS;
static const char second_events[] = SECOND_ROWS;
static const char first_window[] = FIRST_ROWS " UNION ALL SELECT 9, 'z', TIMESTAMP '2026-07-01 10:00'";
static const char second_window[] = SECOND_ROWS " UNION ALL SELECT 9, 'ZZ', TIMESTAMP '2026-07-01 10:00'";

#define WINDOW .start = "TIMESTAMP '2026-07-02'", .end = "TIMESTAMP '2026-07-03'"
#define P0 "TIMESTAMP '2026-07-02 10:00:00'"
#define P "TIMESTAMP '2026-07-02 12:00:00'"

typedef struct Panel {
    const char *name;
    Delivery delivery; /* without source */
    const char *first, *second;
    const char *query;     /* of the rows afterwards */
    const char *rows;      /* what it gives */
    const char *counts;    /* of the second run */
    const char *repeated;  /* counts of the same run again */
    const char *untouched; /* condition on rows that keep their rowid */
} Panel;

/* clang-format off */
static const Panel panels[] = {
    {"1 replace", {.kind = STRATEGY_REPLACE}, first_source, second_source,
     "SELECT id || v FROM t ORDER BY 1", "1A;2b;4d", "+3", "+3", "false"},
    {"1' replace, external", {.kind = STRATEGY_REPLACE, .is_external = true}, first_source, second_source,
     "SELECT id || v FROM t ORDER BY 1", "1A;2b;4d", "+3 -3", "+3 -3", "false"},
    {"2 append", {.kind = STRATEGY_APPEND, .is_external = true}, first_source, second_source,
     "SELECT id || v FROM t ORDER BY id, v", "1A;1a;2b;2b;3c;4d", "+3", "+3", "true"},
    {"3 merge", {.kind = STRATEGY_MERGE, .key = "id"}, first_source, second_source,
     "SELECT id || v FROM t ORDER BY 1", "1A;2b;3c;4d", "+1 ~2", "~3", "true"},
    {"4 full_merge", {.kind = STRATEGY_FULL_MERGE, .key = "id"}, first_source, second_source,
     "SELECT id || v FROM t ORDER BY 1", "1A;2b;4d", "+1 ~1 -1", "—", "id = 2"},
    {"5 hash_merge", {.kind = STRATEGY_HASH_MERGE, .key = "id"}, first_source, second_source,
     "SELECT id || v || CASE WHEN id = 1 THEN _hash ELSE '' END FROM t ORDER BY 1",
     "1Ac86712ff194a2814e6b1b447d678b103;2b;3c;4d", "+1 ~1", "—", "id IN (2, 3)"},
    {"6 scd", {.kind = STRATEGY_SCD, .key = "id", .now = P}, first_source, second_source,
     "SELECT id || v, _valid_from = " P0 ", _valid_to = " P " FROM t ORDER BY id, _valid_from",
     "1a|true|true;1A|false|NULL;2b|true|NULL;3c|true|true;4d|false|NULL", "+2 ~2", "—", "id = 2"},
    {"7 scd, event time", {.kind = STRATEGY_SCD, .key = "id", .time = "seen", .now = P}, first_events, second_events,
     "SELECT id || v, strftime(_valid_from, '%H:%M'), strftime(_valid_to, '%H:%M') FROM t ORDER BY id, _valid_from",
     "1a|08:00|09:15;1A|09:15|NULL;2b|08:00|NULL;3c|08:00|12:00;4d|09:40|NULL", "+2 ~2", "—", "id = 2"},
    {"8 incremental", {.kind = STRATEGY_INCREMENTAL, .time = "seen", WINDOW}, first_window, second_window,
     "SELECT id || v FROM t ORDER BY 1", "1A;2b;4d;9z", "+3 -3", "+3 -3", "id = 9"},
    {"9 incremental with key", {.kind = STRATEGY_INCREMENTAL, .key = "id", .time = "seen", WINDOW},
     first_window, second_window, "SELECT id || v FROM t ORDER BY 1", "1A;2b;3c;4d;9z", "+1 ~2", "~3", "id = 9"},
};
/* clang-format on */

typedef struct Variant {
    const char *name;
    bool is_staged, is_minimal, is_external;
} Variant;

static const Variant variants[] = {
    {.name = "plain"},
    {.name = "staged", .is_staged = true},
    {.name = "minimal", .is_minimal = true},
    {.name = "external", .is_external = true},
    {.name = "external, staged, minimal", .is_staged = true, .is_minimal = true, .is_external = true},
};

static Delivery delivery_of(const Panel *panel, const Variant *variant, const char *source) {
    Delivery delivery = panel->delivery;
    delivery.source = source;
    delivery.is_staged = variant->is_staged;
    delivery.is_minimal = variant->is_minimal;
    delivery.is_external = variant->is_external || panel->delivery.is_external;
    return delivery;
}

static void build_first(Fixture *f, const Panel *panel, const Variant *variant, const char *source) {
    Delivery first = delivery_of(panel, variant, source);
    first.start = first.end = NULL;
    first.now = P0;
    run_sql(f, "DROP TABLE IF EXISTS t");
    (void)deliver(f, first);
}

/* Owned replace has no twin outside: it is a panel of its own. */
static bool is_covered(const Panel *panel, const Variant *variant) {
    return panel->delivery.kind == STRATEGY_REPLACE && variant->is_external != panel->delivery.is_external;
}

static void test_02_6_1_panels(void **state) {
    Fixture *f = *state;
    for (size_t i = 0; i < COUNT_OF(panels) * COUNT_OF(variants); i++) {
        const Panel *panel = &panels[i / COUNT_OF(variants)];
        const Variant *variant = &variants[i % COUNT_OF(variants)];
        if (is_covered(panel, variant)) {
            continue;
        }
        print_message("# panel %s, %s\n", panel->name, variant->name);
        build_first(f, panel, variant, panel->first);
        Delivery second = delivery_of(panel, variant, panel->second);
        assert_delivery(f, second, panel->counts);
        assert_rows(f, panel->query, panel->rows);
        assert_delivery(f, second, panel->repeated);
    }
}

static void test_02_6_2_untouched_rows_keep_their_row_ids(void **state) {
    Fixture *f = *state;
    for (size_t i = 0; i < COUNT_OF(panels) * COUNT_OF(variants); i++) {
        const Panel *panel = &panels[i / COUNT_OF(variants)];
        const Variant *variant = &variants[i % COUNT_OF(variants)];
        if (is_covered(panel, variant)) {
            continue;
        }
        build_first(f, panel, variant, panel->first);
        run_sql(f, "CREATE OR REPLACE TEMP TABLE before AS SELECT rowid AS place, id FROM t");
        (void)deliver(f, delivery_of(panel, variant, panel->second));
        Str moved = str_format(f->arena,
                               "SELECT count(*) FROM before WHERE (%s) AND id IN (SELECT id FROM t) AND NOT EXISTS "
                               "(SELECT 1 FROM t WHERE t.rowid = before.place AND t.id = before.id)",
                               panel->untouched);
        assert_int_equal(query_number(f, str_to_c(f->arena, moved)), 0);
    }
}

/* What is not touched is not merely written back: an unchanged row makes no update at all. */
static void test_02_7_1_repeats_of_comparing_strategies_count_nothing(void **state) {
    Fixture *f = *state;
    static const StrategyKind comparing[] = {STRATEGY_FULL_MERGE, STRATEGY_HASH_MERGE, STRATEGY_SCD};
    for (size_t i = 0; i < COUNT_OF(comparing); i++) {
        run_sql(f, "DROP TABLE IF EXISTS t");
        Delivery delivery = {.kind = comparing[i], .source = first_events, .key = "id", .now = P0};
        assert_delivery(f, delivery, "+3");
        assert_delivery(f, delivery, "—");
    }
}

static void test_02_6_3_panels_with_a_composite_key(void **state) {
    Fixture *f = *state;
    for (size_t i = 0; i < COUNT_OF(panels); i++) {
        const Panel *panel = &panels[i];
        if (panel->delivery.key == NULL) {
            continue;
        }
        Variant variant = {.is_minimal = i % 2 == 0};
        Str pairs =
            str_format(f->arena, "SELECT *, 'eu' AS region FROM (%s) UNION ALL SELECT *, 'us' AS region FROM (%s)",
                       panel->first, panel->first);
        Str changed =
            str_format(f->arena, "SELECT *, 'eu' AS region FROM (%s) UNION ALL SELECT *, 'us' AS region FROM (%s)",
                       panel->second, panel->first);
        Panel composite = *panel;
        composite.delivery.key = "id,region";
        build_first(f, &composite, &variant, str_to_c(f->arena, pairs));
        run_sql(f, "CREATE OR REPLACE TEMP TABLE us AS SELECT * FROM t WHERE region = 'us'");
        (void)deliver(f, delivery_of(&composite, &variant, str_to_c(f->arena, changed)));
        Str query = str_format(f->arena, "WITH t AS (SELECT * FROM main.t WHERE region = 'eu') %s", panel->query);
        assert_rows(f, str_to_c(f->arena, query), panel->rows);
        assert_rows(f, "SELECT * FROM t WHERE region = 'us' EXCEPT ALL FROM us", "");
        assert_rows(f, "FROM us EXCEPT ALL SELECT * FROM t WHERE region = 'us'", "");
    }
}

static void test_02_6_4_panels_with_null_values(void **state) {
    Fixture *f = *state;
    for (size_t i = 0; i < COUNT_OF(panels); i++) {
        const Panel *panel = &panels[i];
        Variant variant = {.is_minimal = i % 2 == 1, .is_external = panel->delivery.is_external};
        Str first = str_format(f->arena, "SELECT * REPLACE (nullif(v, 'a') AS v) FROM (%s)", panel->first);
        Str second = str_format(f->arena, "SELECT * REPLACE (nullif(v, 'd') AS v) FROM (%s)", panel->second);
        build_first(f, panel, &variant, str_to_c(f->arena, first));
        assert_delivery(f, delivery_of(panel, &variant, str_to_c(f->arena, second)), panel->counts);
        Str query = str_format(f->arena,
                               "WITH t AS (SELECT * REPLACE (coalesce(v, CASE id WHEN 1 THEN 'a' ELSE 'd' END) AS v) "
                               "FROM main.t) %s",
                               panel->query);
        assert_rows(f, str_to_c(f->arena, query), panel->rows);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)
        CASE(test_02_6_1_panels),
        CASE(test_02_6_2_untouched_rows_keep_their_row_ids),
        CASE(test_02_7_1_repeats_of_comparing_strategies_count_nothing),
        CASE(test_02_6_3_panels_with_a_composite_key),
        CASE(test_02_6_4_panels_with_null_values),
    };
    return cmocka_run_group_tests_name("strategy_panels", tests, NULL, NULL);
}
