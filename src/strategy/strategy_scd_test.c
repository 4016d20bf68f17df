/* scd row by row: the example tables of spec 02 §8 and the cases that its rules were made for. */
#include "strategy/strategy_fixture.h"

/* One run: its instant, the source's rows as a VALUES list, its counts and all versions afterwards. */
typedef struct Run {
    const char *now, *rows, *counts, *versions;
} Run;

typedef struct Script {
    const char *columns, *types; /* of the source: names, and a row of typed NULLs */
    const char *time;
    const char *query; /* of the versions */
} Script;

static Delivery delivery_of(Fixture *f, const Script *script, const Run *run, bool is_minimal) {
    Str source = run->rows[0] == '\0' ? str_format(f->arena, "SELECT * FROM (VALUES %s) r(%s) WHERE false",
                                                   script->types, script->columns)
                                      : str_format(f->arena, "SELECT * FROM (VALUES %s, %s) r(%s) WHERE id IS NOT NULL",
                                                   script->types, run->rows, script->columns);
    return (Delivery){
        .kind = STRATEGY_SCD,
        .source = str_to_c(f->arena, source),
        .key = "id",
        .time = script->time,
        .now = str_to_c(f->arena, str_format(f->arena, "TIMESTAMP '%s'", run->now)),
        .is_minimal = is_minimal,
    };
}

/* Each run is done twice: the second counts nothing and changes nothing. */
static void play(Fixture *f, const Script *script, const Run *runs, size_t count) {
    for (int is_minimal = 0; is_minimal < 2; is_minimal++) {
        run_sql(f, "DROP TABLE IF EXISTS t");
        for (size_t i = 0; i < count; i++) {
            print_message("# run at %s\n", runs[i].now);
            assert_delivery(f, delivery_of(f, script, &runs[i], is_minimal == 1), runs[i].counts);
            assert_rows(f, script->query, runs[i].versions);
            assert_delivery(f, delivery_of(f, script, &runs[i], is_minimal == 1), "—");
            assert_rows(f, script->query, runs[i].versions);
        }
    }
}

#define VERSIONS(content)                                                                                              \
    "SELECT id || ' ' || " content " || ' ' || strftime(_valid_from, '%m-%d') || ',' || "                              \
    "coalesce(strftime(_valid_to, '%m-%d'), '') FROM t ORDER BY id, _valid_from, _valid_to NULLS LAST, " content

static void test_02_8_1_processing_time(void **state) {
    static const Script script = {"id, level", "(NULL::INTEGER, NULL::VARCHAR)", NULL, VERSIONS("level")};
    static const Run runs[] = {
        {"2026-07-01", "(1, 'gold'), (2, 'silver')", "+2", "1 gold 07-01,;2 silver 07-01,"},
        {"2026-07-02", "(1, 'gold'), (2, 'gold'), (3, 'bronze')", "+2 ~1",
         "1 gold 07-01,;2 silver 07-01,07-02;2 gold 07-02,;3 bronze 07-02,"},
        {"2026-07-03", "(1, 'gold'), (3, 'bronze')", "~1",
         "1 gold 07-01,;2 silver 07-01,07-02;2 gold 07-02,07-03;3 bronze 07-02,"},
        {"2026-07-04", "(1, 'gold'), (2, 'gold'), (3, 'bronze')", "+1",
         "1 gold 07-01,;2 silver 07-01,07-02;2 gold 07-02,07-03;2 gold 07-04,;3 bronze 07-02,"},
    };
    play(*state, &script, runs, COUNT_OF(runs));
}

static const Script events = {"id, v, e", "(NULL::INTEGER, NULL::VARCHAR, NULL::TIMESTAMP)", "e", VERSIONS("v")};

static void test_02_8_1_event_time(void **state) {
    static const Run runs[] = {
        {"2026-07-10", "(7, 'a', '2026-07-01')", "+1", "7 a 07-01,"},
        {"2026-07-11", "(7, 'b', '2026-07-05')", "+1 ~1", "7 a 07-01,07-05;7 b 07-05,"},
        {"2026-07-12", "(7, 'd', '2026-07-08'), (7, 'c', '2026-07-06')", "+2 ~1",
         "7 a 07-01,07-05;7 b 07-05,07-06;7 c 07-06,07-08;7 d 07-08,"},
        {"2026-07-13", "(7, 'd', '2026-07-08'), (7, 'x', '2026-07-03')", "+1 ~1",
         "7 a 07-01,07-03;7 x 07-03,07-05;7 b 07-05,07-06;7 c 07-06,07-08;7 d 07-08,"},
        {"2026-07-14", "(7, 'D', '2026-07-08')", "+1 ~1",
         "7 a 07-01,07-03;7 x 07-03,07-05;7 b 07-05,07-06;7 c 07-06,07-08;7 d 07-08,07-08;7 D 07-08,"},
        {"2026-07-20", "", "~1",
         "7 a 07-01,07-03;7 x 07-03,07-05;7 b 07-05,07-06;7 c 07-06,07-08;7 d 07-08,07-08;7 D 07-08,07-20"},
        {"2026-07-22", "(7, 'D', '2026-07-08')", "+1",
         "7 a 07-01,07-03;7 x 07-03,07-05;7 b 07-05,07-06;7 c 07-06,07-08;7 d 07-08,07-08;7 D 07-08,07-20;7 D 07-22,"},
    };
    play(*state, &events, runs, COUNT_OF(runs));
}

static void case_014_an_older_event_goes_into_history(void **state) {
    static const Run runs[] = {
        {"2026-07-10", "(1, 'silver', '2026-03-01')", "+1", "1 silver 03-01,"},
        {"2026-07-11", "(1, 'gold', '2026-03-01')", "+1 ~1", "1 silver 03-01,03-01;1 gold 03-01,"},
        {"2026-07-12", "(1, 'bronze', '2026-02-15')", "+1", "1 bronze 02-15,03-01;1 silver 03-01,03-01;1 gold 03-01,"},
    };
    play(*state, &events, runs, COUNT_OF(runs));
}

static void case_016_a_key_leaves_and_returns_unchanged(void **state) {
    static const Script script = {"id, town", "(NULL::INTEGER, NULL::VARCHAR)", NULL, VERSIONS("town")};
    static const Run runs[] = {
        {"2026-07-01", "(1, 'Kiel'), (2, 'Bonn')", "+2", "1 Kiel 07-01,;2 Bonn 07-01,"},
        {"2026-07-02", "(1, 'Kiel')", "~1", "1 Kiel 07-01,;2 Bonn 07-01,07-02"},
        {"2026-07-03", "(1, 'Kiel'), (2, 'Bonn')", "+1", "1 Kiel 07-01,;2 Bonn 07-01,07-02;2 Bonn 07-03,"},
    };
    play(*state, &script, runs, COUNT_OF(runs));
}

/* A value corrected and corrected back is the current one again, though its content is stored already. */
static void a_correction_is_taken_back(void **state) {
    static const Run runs[] = {
        {"2026-07-10", "(1, 'a', '2026-07-01')", "+1", "1 a 07-01,"},
        {"2026-07-11", "(1, 'b', '2026-07-01')", "+1 ~1", "1 a 07-01,07-01;1 b 07-01,"},
        {"2026-07-12", "(1, 'a', '2026-07-01')", "+1 ~1", "1 a 07-01,07-01;1 b 07-01,07-01;1 a 07-01,"},
    };
    play(*state, &events, runs, COUNT_OF(runs));
}

static void a_log_that_corrects_and_goes_on(void **state) {
    static const Run runs[] = {
        {"2026-07-10", "(1, 'a', '2026-07-01')", "+1", "1 a 07-01,"},
        {"2026-07-11", "(1, 'b', '2026-07-01'), (1, 'c', '2026-07-03')", "+2 ~1",
         "1 a 07-01,07-01;1 b 07-01,07-03;1 c 07-03,"},
    };
    play(*state, &events, runs, COUNT_OF(runs));
}

static void late_rows_share_one_gap_and_one_version(void **state) {
    static const Run runs[] = {
        {"2026-07-20", "(1, 'a', '2026-07-05'), (1, 'b', '2026-07-09')", "+2", "1 a 07-05,07-09;1 b 07-09,"},
        {"2026-07-21",
         "(1, 'b', '2026-07-09'), (1, 'p', '2026-07-01'), (1, 'q', '2026-07-02'), (1, 'r', '2026-07-06'), "
         "(1, 's', '2026-07-07')",
         "+4 ~1", "1 p 07-01,07-02;1 q 07-02,07-05;1 a 07-05,07-06;1 r 07-06,07-07;1 s 07-07,07-09;1 b 07-09,"},
    };
    play(*state, &events, runs, COUNT_OF(runs));
}

/* The newest event of a key that was gone is older than its end: it opens now; those before it are history. */
static void a_key_returns_with_old_events(void **state) {
    static const Run runs[] = {
        {"2026-07-10", "(1, 'a', '2026-07-01')", "+1", "1 a 07-01,"},
        {"2026-07-20", "", "~1", "1 a 07-01,07-20"},
        {"2026-07-25", "(1, 'a', '2026-07-01'), (1, 'x', '2026-07-05'), (1, 'y', '2026-07-08')", "+2 ~1",
         "1 a 07-01,07-05;1 x 07-05,07-20;1 y 07-25,"},
    };
    play(*state, &events, runs, COUNT_OF(runs));
}

static void a_key_returns_with_new_events(void **state) {
    static const Run runs[] = {
        {"2026-07-10", "(1, 'a', '2026-07-01')", "+1", "1 a 07-01,"},
        {"2026-07-20", "", "~1", "1 a 07-01,07-20"},
        {"2026-07-25", "(1, 'x', '2026-07-20'), (1, 'y', '2026-07-22')", "+2",
         "1 a 07-01,07-20;1 x 07-20,07-22;1 y 07-22,"},
    };
    play(*state, &events, runs, COUNT_OF(runs));
}

/* --- Orders of arrival -------------------------------------------------------------------------------------------- */

/* All orders of a log of five events at once, a key each; a run delivers one event more of every key. */
static const char orders[] = "CREATE TEMP TABLE orders AS SELECT row_number() OVER () AS id, [a.i, b.i, c.i, d.i, e.i] "
                             "AS events FROM range(5) a(i), "
                             "range(5) b(i), range(5) c(i), range(5) d(i), range(5) e(i) WHERE len(list_distinct([a.i, "
                             "b.i, c.i, d.i, e.i])) = 5";

static void test_02_8_3_every_order_of_a_log_ends_alike(void **state) {
    Fixture *f = *state;
    run_sql(f, orders);
    assert_int_equal(query_number(f, "SELECT count(*) FROM orders"), 120);
    for (int run = 1; run <= 5; run++) {
        Str source = str_format(f->arena,
                                "SELECT id, 'v' || i AS v, TIMESTAMP '2026-07-01' + to_days(2 * i::INTEGER) AS e FROM "
                                "(SELECT id, unnest(events[:%d]) AS i FROM orders)",
                                run);
        Delivery delivery = {.kind = STRATEGY_SCD, .key = "id", .time = "e", .now = "TIMESTAMP '2026-07-20'"};
        delivery.source = str_to_c(f->arena, source);
        (void)deliver(f, delivery);
    }
    assert_rows(f,
                "SELECT v, strftime(_valid_from, '%m-%d'), strftime(_valid_to, '%m-%d'), count(*) FROM t GROUP BY ALL "
                "ORDER BY ALL",
                "v0|07-01|07-03|120;v1|07-03|07-05|120;v2|07-05|07-07|120;v3|07-07|07-09|120;v4|07-09|NULL|120");
}

/* --- Random batches ----------------------------------------------------------------------------------------------- */

#define NO_ROWS(f, query) assert_int_equal(query_number((f), "SELECT count(*) FROM (" query ")"), 0)

static void assert_invariants(Fixture *f) {
    NO_ROWS(f, "SELECT id FROM t WHERE _valid_to IS NULL GROUP BY id HAVING count(*) > 1");
    NO_ROWS(f, "SELECT id FROM t WHERE _valid_to < _valid_from");
    NO_ROWS(
        f, "SELECT a.id FROM t a JOIN t b ON a.id = b.id AND a.rowid < b.rowid"
           " WHERE a._valid_from < coalesce(b._valid_to, 'infinity') AND b._valid_from < coalesce(a._valid_to, "
           "'infinity') AND a._valid_from IS DISTINCT FROM a._valid_to AND b._valid_from IS DISTINCT FROM b._valid_to");
}

/* At any moment a key has at most one version: the moments are all that occur, and those between. */
static void assert_one_version_at_a_time(Fixture *f) {
    NO_ROWS(f, "SELECT id, moment FROM t, (SELECT DISTINCT unnest([_valid_from, _valid_from + INTERVAL 30 MINUTE]) AS "
               "moment FROM t) WHERE _valid_from <= moment AND (moment < _valid_to OR _valid_to IS NULL)"
               " GROUP BY id, moment HAVING count(*) > 1");
}

/* Twenty-five keys in twenty runs: 500 batches, in which keys vanish, return, and bring several events, late, new and
 * corrected ones. Chance is a hash, so that a failure can be seen again. */
static void test_02_8_2_and_4_random_batches_keep_the_invariants(void **state) {
    Fixture *f = *state;
    for (int run = 0; run < 20; run++) {
        Str source =
            str_format(f->arena,
                       "SELECT DISTINCT ON (id, e) id, 'v' || hash(id, %d, n) %% 3 AS v, TIMESTAMP '2026-07-01' +"
                       " to_hours((hash(id, n, %d // 3) %% 200)::INTEGER) AS e FROM range(25) k(id), range(3) c(n)"
                       " WHERE hash(id, %d) %% 5 > 0 AND n <= hash(id, %d, 1) %% 3 ORDER BY n",
                       run, run, run, run);
        Str now = str_format(f->arena, "TIMESTAMP '2026-08-01' + INTERVAL (%d) DAY", run);
        Delivery delivery = {.kind = STRATEGY_SCD, .key = "id", .time = "e", .now = str_to_c(f->arena, now)};
        delivery.source = str_to_c(f->arena, source);
        (void)deliver(f, delivery);
        assert_invariants(f);
        assert_delivery(f, delivery, "—");
    }
    assert_one_version_at_a_time(f);
}

/* --- Types of event times ----------------------------------------------------------------------------------------- */

static void test_02_8_7_stamps_do_not_depend_on_the_session_zone(void **state) {
    Fixture *f = *state;
    static const struct {
        const char *value, *stamp;
    } cases[] = {
        {"TIMESTAMPTZ '2026-07-01 12:00:00+02'", "2026-07-01 10:00:00"},
        {"TIMESTAMP '2026-07-01 12:00:00'", "2026-07-01 12:00:00"},
        {"DATE '2026-07-01'", "2026-07-01 00:00:00"},
        {"'2026-07-01 12:00:00'", "2026-07-01 12:00:00"},
    };
    run_sql(f, "SET TimeZone = 'Asia/Tokyo'");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        run_sql(f, "DROP TABLE IF EXISTS t");
        Str source = str_format(f->arena, "SELECT 1 AS id, %s AS e", cases[i].value);
        Delivery delivery = {.kind = STRATEGY_SCD, .key = "id", .time = "e", .now = "TIMESTAMP '2026-07-05'"};
        delivery.source = str_to_c(f->arena, source);
        assert_delivery(f, delivery, "+1");
        assert_delivery(f, delivery, "—");
        assert_rows(f, "SELECT _valid_from, typeof(_valid_from), _valid_to, typeof(_valid_to) FROM t",
                    str_to_c(f->arena, str_format(f->arena, "%s|TIMESTAMP|NULL|TIMESTAMP", cases[i].stamp)));
    }
}

static void test_02_8_5_events_are_unique_and_have_a_time(void **state) {
    Fixture *f = *state;
    static const struct {
        const char *rows, *code, *message;
    } cases[] = {
        {"(1, 'a', TIMESTAMP '2026-07-01'), (1, 'b', TIMESTAMP '2026-07-01')", "duplicate_key",
         "key (id, e) is not unique in the source: 1 key value repeats over 2 rows, e.g. (1, 2026-07-01 00:00:00) x2"},
        {"(1, 'a', TIMESTAMP '2026-07-01'), (1, 'b', NULL)", "null_time", "1 source row has NULL in time column 'e'"},
    };
    for (size_t i = 0; i < COUNT_OF(cases) * 2; i++) {
        run_sql(f, "DROP TABLE IF EXISTS t");
        Run old = {.now = "2026-07-10", .rows = "(1, 'a', TIMESTAMP '2026-06-01')"};
        if (i % 2 == 1) {
            (void)deliver(f, delivery_of(f, &events, &old, false));
        }
        Run run = {.now = "2026-07-11", .rows = cases[i / 2].rows};
        deliver_refused(f, delivery_of(f, &events, &run, false));
        assert_str(error_detail_find(&f->err, STR("code")), cases[i / 2].code);
        assert_contains(f->err.message, cases[i / 2].message);
    }
}

static void text_that_is_no_time_is_refused(void **state) {
    Fixture *f = *state;
    Delivery delivery = {.kind = STRATEGY_SCD, .key = "id", .time = "e", .now = "TIMESTAMP '2026-07-05'"};
    delivery.source = "SELECT 1 AS id, '2026-07-01' AS e UNION ALL SELECT 2, 'soon'";
    deliver_refused(f, delivery);
    assert_str(error_detail_find(&f->err, STR("code")), "cast");
    assert_contains(f->err.message, "value 'soon' of column 'e' does not convert to TIMESTAMP");
    delivery.source = "SELECT 1 AS id, 5 AS e";
    deliver_refused(f, delivery);
    assert_str(error_detail_find(&f->err, STR("code")), "time_type");
}

/* --- Names ---------------------------------------------------------------------------------------------------------
 */

static void bookkeeping_names_are_refused(void **state) {
    Fixture *f = *state;
    Delivery delivery = {.kind = STRATEGY_SCD, .key = "id", .now = "TIMESTAMP '2026-07-05'"};
    delivery.source = "SELECT 1 AS id, 2 AS _Valid_From";
    deliver_refused(f, delivery);
    assert_int_equal(f->err.kind, ERROR_PLAN);
    assert_contains(f->err.message, "column '_valid_from'");
    run_sql(f, "CREATE TABLE t (id INTEGER, _valid_to TIMESTAMP)");
    delivery.is_external = true;
    delivery.source = "SELECT 1 AS id";
    deliver_refused(f, delivery);
    assert_int_equal(f->err.kind, ERROR_PLAN);
    assert_contains(f->err.message, "needs the column(s) _valid_from in the target");
    assert_contains(f->err.hint, "merge");
}

/* Working tables have columns of their own beside the user's. */
static void names_of_working_columns_are_free_for_the_user(void **state) {
    Fixture *f = *state;
    Delivery delivery = {.kind = STRATEGY_SCD, .key = "event", .time = "opened", .now = "TIMESTAMP '2026-07-05'"};
    delivery.source = "SELECT 1 AS event, TIMESTAMP '2026-07-01' AS opened, 2 AS c0, 3 AS closed, 4 AS source, 5 AS "
                      "target, 6 AS n, {'id': 7} AS h, 'x' AS \"it's \"\"{odd}\"\" @#$\"";
    assert_delivery(f, delivery, "+1");
    assert_delivery(f, delivery, "—");
    delivery.source = "SELECT 1 AS event, TIMESTAMP '2026-07-02' AS opened, 2 AS c0, 4 AS closed, 4 AS source, 5 AS "
                      "target, 6 AS n, {'id': 7} AS h, 'x' AS \"it's \"\"{odd}\"\" @#$\"";
    assert_delivery(f, delivery, "+1 ~1");
    assert_rows(f, "SELECT closed, _valid_to FROM t ORDER BY closed", "3|2026-07-02 00:00:00;4|NULL");
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)
        CASE(test_02_8_1_processing_time),
        CASE(test_02_8_1_event_time),
        CASE(case_014_an_older_event_goes_into_history),
        CASE(case_016_a_key_leaves_and_returns_unchanged),
        CASE(a_correction_is_taken_back),
        CASE(a_log_that_corrects_and_goes_on),
        CASE(late_rows_share_one_gap_and_one_version),
        CASE(a_key_returns_with_old_events),
        CASE(a_key_returns_with_new_events),
        CASE(test_02_8_2_and_4_random_batches_keep_the_invariants),
        CASE(test_02_8_3_every_order_of_a_log_ends_alike),
        CASE(test_02_8_7_stamps_do_not_depend_on_the_session_zone),
        CASE(test_02_8_5_events_are_unique_and_have_a_time),
        CASE(text_that_is_no_time_is_refused),
        CASE(bookkeeping_names_are_refused),
        CASE(names_of_working_columns_are_free_for_the_user),
    };
    return cmocka_run_group_tests_name("strategy_scd", tests, NULL, NULL);
}
