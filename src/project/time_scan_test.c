#include "project/time_scan.h"

#include "project/project_fixture.h"

static void write_sql(Fixture *f, const char *name, const char *keys, const char *query) {
    Str path = str_format(f->arena, "models/%s.sql", name);
    Str text = str_format(f->arena, "/* interlace: {%s} */ %s", keys, query);
    fixture_write(f, str_to_c(f->arena, path), str_to_c(f->arena, text));
}

static void write_model(Fixture *f, const char *keys, const char *query) {
    Str all = str_format(f->arena, "strategy: incremental, time_column: d, interval: 1d%s", keys);
    write_sql(f, "m", str_to_c(f->arena, all), query);
}

static void write_ephemeral(Fixture *f, const char *name, const char *query) {
    write_sql(f, name, "materialise: ephemeral", query);
}

/* "owner:table.column day>month declared -absent | …"; "!n" with the obstacle when nothing is proven. */
static const char *scans_of(Fixture *f) {
    assert_loads(f);
    TimeScans found = time_scans_find(f->project, fixture_model(f, "m"), f->arena);
    AUTO(strbuf) StrBuf form = {0};
    for (size_t i = 0; i < found.scans.count; i++) {
        const TimeScan *scan = &found.scans.items[i];
        const SqlTableRef *table = &scan->owner->facts->tables.items[scan->table];
        strbuf_format(&form, "%s" STR_FMT ":" STR_FMT "." STR_FMT, i > 0 ? " | " : "", STR_ARG(scan->owner->name),
                      STR_ARG(table->name), STR_ARG(scan->column));
        for (size_t u = 0; u < scan->units.count; u++) {
            strbuf_format(&form, "%s" STR_FMT, u == 0 ? " " : ">", STR_ARG(scan->units.items[u]));
        }
        for (size_t a = 0; a < scan->absent.count; a++) {
            strbuf_format(&form, " -" STR_FMT, STR_ARG(scan->absent.items[a]));
        }
        strbuf_text(&form, scan->declared != NULL ? " declared" : "");
    }
    if (found.obstacle != SQL_TIME_PROVEN) {
        strbuf_format(&form, "!%d", (int)found.obstacle);
    }
    return str_to_c(f->arena, strbuf_str(&form));
}

static const char *obstacle(Fixture *f, SqlTimeObstacle number) {
    return str_to_c(f->arena, str_format(f->arena, "!%d", (int)number));
}

static void external_tables_and_models_are_scans(void **state) {
    Fixture *f = *state;
    write_model(f, "", "SELECT ts::DATE AS d, count(*) AS n FROM raw.events GROUP BY 1");
    assert_string_equal(scans_of(f), "m:events.ts day");
    write_sql(f, "events", "materialise: view", "SELECT * FROM raw.events");
    write_model(f, "", "SELECT e.ts::DATE AS d FROM events e JOIN raw.u USING (id)");
    assert_string_equal(scans_of(f), "m:events.ts day");
}

static void ephemeral_models_are_looked_through(void **state) {
    Fixture *f = *state;
    write_ephemeral(f, "a", "SELECT date_trunc('hour', ts) AS h, id FROM raw.events");
    write_ephemeral(f, "b", "SELECT * FROM a WHERE id > 3");
    write_model(f, "", "SELECT CAST(b.h AS DATE) AS d FROM b JOIN raw.u USING (id)");
    assert_string_equal(scans_of(f), "a:events.ts day>hour");
}

static void an_ephemeral_model_that_is_read_twice_is_not(void **state) {
    Fixture *f = *state;
    write_ephemeral(f, "a", "SELECT d, id FROM raw.events");
    write_ephemeral(f, "b", "SELECT id FROM a");
    write_model(f, "", "SELECT d FROM a WHERE id IN (SELECT id FROM a)");
    assert_string_equal(scans_of(f), obstacle(f, SQL_TIME_SHARED));
    write_model(f, "", "SELECT d FROM a WHERE id IN (SELECT id FROM b)");
    assert_string_equal(scans_of(f), obstacle(f, SQL_TIME_SHARED));
    write_model(f, "", "SELECT d FROM a WHERE id IN (SELECT id FROM raw.events)");
    assert_string_equal(scans_of(f), "a:events.d");
}

static void obstacles_of_ephemeral_models_count(void **state) {
    Fixture *f = *state;
    write_ephemeral(f, "a", "SELECT d, id FROM raw.events LIMIT 3");
    write_model(f, "", "SELECT d FROM a");
    assert_string_equal(scans_of(f), obstacle(f, SQL_TIME_LIMIT));
    write_ephemeral(f, "a", "SELECT d, row_number() OVER () AS n FROM raw.events");
    assert_string_equal(scans_of(f), obstacle(f, SQL_TIME_WINDOW));
    write_ephemeral(f, "a", "SELECT max(d) AS d FROM raw.events");
    assert_string_equal(scans_of(f), obstacle(f, SQL_TIME_COMPUTED));
}

static void a_star_may_give_the_name_before_the_item(void **state) {
    Fixture *f = *state;
    write_model(f, "", "SELECT *, ts::DATE AS d FROM raw.events");
    assert_string_equal(scans_of(f), "m:events.ts day -d");
    write_ephemeral(f, "a", "SELECT ts, id FROM raw.events");
    write_model(f, "", "SELECT *, ts::DATE AS d FROM a");
    assert_string_equal(scans_of(f), "a:events.ts day");
    write_ephemeral(f, "a", "SELECT ts, x AS d FROM raw.events");
    assert_string_equal(scans_of(f), obstacle(f, SQL_TIME_COMPUTED));
    write_ephemeral(f, "a", "SELECT * FROM raw.events");
    assert_string_equal(scans_of(f), obstacle(f, SQL_TIME_COMPUTED));
}

static void declared_reads_stand_for_themselves(void **state) {
    Fixture *f = *state;
    write_sql(f, "events", "materialise: view", "SELECT * FROM raw.events");
    write_model(
        f, ", reads: {events: {time_column: at, before: 1d}, raw.u: {time_column: d}}",
        "SELECT e.d, lag(e.x) OVER (ORDER BY e.d) AS x FROM events e JOIN raw.u USING (id) JOIN events f USING (id)");
    assert_string_equal(
        scans_of(f),
        str_to_c(f->arena, str_format(f->arena, "m:events.at declared | m:u.d declared | m:events.at declared%s",
                                      obstacle(f, SQL_TIME_WINDOW))));
    write_model(f, ", reads: {events: {time_column: at}}", "SELECT d FROM events");
    assert_string_equal(scans_of(f), "m:events.at declared");
    write_model(f, ", reads: {events: {before: 1d}}", "SELECT d FROM events");
    assert_string_equal(scans_of(f), "m:events.d");
}

static const char *explained(Fixture *f) {
    assert_loads(f);
    StrVec lines = time_scans_explain(f->project, fixture_model(f, "m"), f->arena);
    return str_to_c(f->arena, str_join(f->arena, lines.items, lines.count, STR(" | ")));
}

static void what_a_window_reads_is_told(void **state) {
    Fixture *f = *state;
    write_model(f, "", "SELECT ts::DATE AS d FROM raw.events");
    assert_string_equal(explained(f), "a window reads only its rows of raw.events, by ts");
    write_model(f, "", "SELECT d FROM raw.events LIMIT 3");
    assert_string_equal(explained(f), "no pruning: its query has a LIMIT or OFFSET");
    write_model(f, ", reads: {raw.events: {time_column: at, before: 1d}}", "SELECT d FROM raw.events");
    assert_string_equal(explained(f),
                        "a window reads of raw.events what reads: declares, by at: 1d before to 0d after it");
    write_sql(f, "m", "tags: [a]", "SELECT d FROM raw.events");
    assert_string_equal(explained(f), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PROJECT_TEST(external_tables_and_models_are_scans),
        PROJECT_TEST(ephemeral_models_are_looked_through),
        PROJECT_TEST(an_ephemeral_model_that_is_read_twice_is_not),
        PROJECT_TEST(obstacles_of_ephemeral_models_count),
        PROJECT_TEST(a_star_may_give_the_name_before_the_item),
        PROJECT_TEST(declared_reads_stand_for_themselves),
        PROJECT_TEST(what_a_window_reads_is_told),
    };
    return cmocka_run_group_tests_name("time scan", tests, NULL, NULL);
}
