"""Windows, the interval ledger, run and restate (spec 02 §5, §9–12; spec 04 §2)."""

import pytest
from test_strategies import relation_of

JUNE = "2026-06-01", "2026-07-01"
AFTER = {"INTERLACE_NOW": "2026-07-05T12:00:00"}
CONFIG = "database: data/wh.duckdb\nattach: {src: data/src.duckdb}\ntimezone: UTC\n"


def daily(extra="", query="SELECT d, n FROM src.days"):
    return f"/* interlace: {{strategy: incremental, time_column: d{extra}}} */\n{query}"


def load_days(project, kind="DATE", first="2026-06-01", days=30):
    project.load(
        f"CREATE OR REPLACE TABLE days AS SELECT CAST(TIMESTAMP '{first}' + INTERVAL (range) DAY AS {kind}) AS d,"
        f" range::INTEGER AS n FROM range({days})"
    )


@pytest.fixture(params=["DATE", "TIMESTAMP"])
def june(project, request):
    project.env.update(AFTER)
    project.write({"interlace.yaml": CONFIG, "models/m.sql": daily()})
    load_days(project, request.param)
    return project


def ledger(project, model="m", env=None):
    selected = ("-e", env) if env else ()
    document = project.json("intervals", model, *selected)
    return [[text[:10] if text.endswith("T00:00:00") else text for text in pair] for pair in document["intervals"]]


def windows_of(document, model="m"):
    [entry] = [entry for entry in document["tasks"]["models"] if entry["name"] == model]
    return [pair[0][:10] for pair in entry["windows"]]


def test_02_10_1_a_first_build_takes_all_and_the_last_day_is_in_the_ledger(june):
    june.ok("apply")
    assert june.query("SELECT count(*) FROM m") == [[30]]
    assert ledger(june) == [["2026-06-01", "2026-07-01"]]


@pytest.mark.parametrize("value", ["2026-06-15", "'2026-06-15'"])
def test_02_10_2_a_pinned_start(june, value):
    june.write({"models/m.sql": daily(f", backfill: {value}")})
    june.ok("apply")
    assert june.query("SELECT count(*) FROM m") == [[16]]
    assert ledger(june) == [["2026-06-15", "2026-07-01"]]


def test_02_10_2_backfill_none_takes_yesterday_only(june):
    june.write({"models/m.sql": daily(", backfill: none")})
    june.ok("apply")
    assert ledger(june) == [["2026-07-04", "2026-07-05"]]
    june.write({"models/m.sql": daily(", backfill: soon")})
    june.fails("apply")


def test_02_10_3_run_does_what_is_missing_and_restate_the_range(june):
    june.ok("apply")
    document = june.json("run", "--start", JUNE[0], "--end", JUNE[1])
    assert windows_of(document) == []
    assert document["tasks"]["models"][0]["action"] == "skip"
    document = june.json("restate", "--start", "2026-06-08", "--end", "2026-06-15")
    assert len(windows_of(document)) == 7
    assert document["rows"]["m"] == {"inserted": 7, "updated": 0, "deleted": 7}


def test_02_10_4_a_range_is_widened_to_whole_grains(june):
    june.write({"models/m.sql": daily(", backfill: none")})
    june.ok("apply")
    result = june.ok("run", "--start", "2026-06-08T06:00:00", "--end", "2026-06-09T06:00:00")
    assert june.query("SELECT n FROM m ORDER BY n") == [[7], [8]]
    assert "2026-06-08" in result.stderr
    assert "note: " in result.stderr
    assert ledger(june)[0] == ["2026-06-08", "2026-06-10"]


def test_02_10_5_an_empty_source_is_no_failure(june):
    june.load("DELETE FROM days")
    result = june.ok("apply")
    assert "its source has no row with a time" in result.stderr
    assert june.query("SELECT count(*) FROM m") == [[0]]
    assert ledger(june) == []
    june.load("INSERT INTO days SELECT DATE '2026-06-01', 1")
    june.ok("run")
    assert june.query("SELECT count(*) FROM m") == [[1]]
    assert ledger(june) == [["2026-06-01", "2026-06-02"]]


@pytest.mark.parametrize("extra", ["", ", key: n", ", backfill: 2026-06-15", ", key: n, backfill: 2026-06-15"])
def test_02_5_rows_without_a_time_are_counted_by_the_first_build(june, extra):
    june.load("INSERT INTO days VALUES (NULL, 1), (NULL, NULL)")
    june.write({"models/m.sql": daily(f"{extra}, checks: [{{not_null: d}}], indexes: [{{columns: n, unique: true}}]")})
    result = june.ok("apply")
    rows = 16 if "backfill" in extra else 30
    assert f"+{rows}" in result.stdout
    assert "note: model 'm': 2 source rows have no d\n" in result.stderr
    assert june.query("SELECT count(*), count(d) FROM m") == [[rows, rows]]
    assert "no d" not in june.ok("restate", "--start", JUNE[0], "--end", JUNE[1]).stderr


def test_02_5_rows_without_a_time_are_counted_by_a_first_delivery(june):
    june.load("INSERT INTO days VALUES (NULL, 1), (NULL, 2)")
    june.write({"models/m.sql": daily(", materialise: table, target: src.main.out")})
    assert "note: model 'm': 2 source rows have no d\n" in june.ok("apply").stderr


@pytest.mark.parametrize("verb", ["run", "restate"])
def test_02_10_6_bounds_that_cannot_be_meant(june, verb):
    june.fails(verb, "--start", "2026-07-02", "--end", "2026-07-01", code=2)
    result = june.fails(verb, "--start", "yesterday", code=2)
    assert "--start must be an ISO timestamp (e.g. 2026-07-01T00:00:00); got 'yesterday'" in result.stderr
    assert not june.exists("data/wh.duckdb")


def test_02_10_7_an_unbounded_run_takes_the_latest_grain_and_tells_the_gap(june):
    june.ok("apply")
    result = june.ok("run")
    assert ledger(june) == [["2026-06-01", "2026-07-01"], ["2026-07-04", "2026-07-05"]]
    assert "3 grains between 2026-07-01 and 2026-07-04 are not filled" in result.stderr
    assert "interlace run -s m --start 2026-07-01 --end 2026-07-04" in result.stderr


def test_02_10_7_catch_up_fills_to_now(june):
    june.ok("apply")
    document = june.json("run", "--catch-up")
    assert windows_of(document) == ["2026-07-01", "2026-07-02", "2026-07-03", "2026-07-04"]
    assert ledger(june) == [["2026-06-01", "2026-07-05"]]


def test_02_11_2_holes_are_filled_and_the_ledger_joins(june):
    june.write({"models/m.sql": daily(", backfill: none")})
    june.env["INTERLACE_NOW"] = "2026-06-02T12:00:00"
    june.ok("apply")  # 1 June
    june.env.update(AFTER)
    for day in (2, 5, 6):
        june.ok("run", "--start", f"2026-06-0{day}", "--end", f"2026-06-0{day + 1}")
    assert ledger(june) == [["2026-06-01", "2026-06-03"], ["2026-06-05", "2026-06-07"]]
    document = june.json("run", "--start", "2026-06-01", "--end", "2026-06-08")
    assert windows_of(document) == ["2026-06-03", "2026-06-04", "2026-06-07"]
    assert ledger(june) == [["2026-06-01", "2026-06-08"]]


FAILING_CHECK = ", backfill: none, checks: [{not_null: n}]"


def test_02_11_3_a_failing_check_stops_at_its_window(june):
    june.write({"models/m.sql": daily(FAILING_CHECK)})
    june.ok("apply")
    before = ledger(june)
    june.load("UPDATE days SET n = NULL WHERE d = '2026-06-03'")
    result = june.fails("run", "--start", "2026-06-01", "--end", "2026-06-06", "--batch", "1")
    assert "2026-06-03" in result.stderr
    assert ledger(june) == [["2026-06-01", "2026-06-03"], *before]
    june.load("UPDATE days SET n = 2 WHERE d = '2026-06-03'")
    document = june.json("run", "--start", "2026-06-01", "--end", "2026-06-06")
    assert windows_of(document) == ["2026-06-03", "2026-06-04", "2026-06-05"]


def test_02_11_3_an_automatic_batch_fills_the_good_days_before_it_names_the_bad_one(june):
    june.write({"models/m.sql": daily(FAILING_CHECK)})
    june.ok("apply")
    june.load("UPDATE days SET n = NULL WHERE d = '2026-06-06'")
    result = june.fails("run", "--start", "2026-06-01", "--end", "2026-06-11")
    assert "2026-06-06" in result.stderr
    assert ledger(june)[0] == ["2026-06-01", "2026-06-06"]
    result = june.fails("run", "--start", "2026-06-01", "--end", "2026-06-11", "--keep-going")
    assert ledger(june)[:2] == [["2026-06-01", "2026-06-06"], ["2026-06-07", "2026-06-11"]]


def test_02_11_4_the_running_grain_stays_due(project):
    project.write({"interlace.yaml": CONFIG, "models/m.sql": daily(query="SELECT d, n FROM src.days")})
    project.load(
        "CREATE TABLE days AS SELECT TIMESTAMP '2026-06-29' + INTERVAL (range) HOUR AS d, range AS n FROM range(36)"
    )
    project.env["INTERLACE_NOW"] = "2026-06-30T12:00:00"
    project.ok("apply")
    assert project.query("SELECT count(*) FROM m") == [[36]]
    assert ledger(project) == [["2026-06-29", "2026-06-30"]]
    project.load("INSERT INTO days SELECT TIMESTAMP '2026-06-30 20:00', 99")
    project.env["INTERLACE_NOW"] = "2026-07-01T09:00:00"
    assert windows_of(project.json("run")) == ["2026-06-30"]
    assert project.query("SELECT count(*) FROM m") == [[37]]


def test_02_11_6_an_interrupted_restate_shows_what_is_left(june):
    june.ok("apply")
    killed = june.run(
        "restate", "--start", "2026-06-08", "--end", "2026-06-15", "--batch", "1",
        env={"INTERLACE_HOOK": "build.recorded=kill@3"},
    )  # fmt: skip
    assert killed.code == -9
    assert ledger(june) == [["2026-06-01", "2026-06-11"], ["2026-06-15", "2026-07-01"]]
    document = june.json("run", "--start", "2026-06-08", "--end", "2026-06-15")
    assert len(windows_of(document)) == 4
    assert ledger(june) == [["2026-06-01", "2026-07-01"]]


def test_02_12_1_run_of_a_range_twice(june):
    june.write({"models/m.sql": daily(", backfill: none")})
    june.ok("apply")
    june.ok("run", "--start", "2026-06-03", "--end", "2026-06-05")
    assert len(windows_of(june.json("run", "-s", "m", "--start", "2026-06-01", "--end", "2026-06-11"))) == 8
    assert len(windows_of(june.json("run", "-s", "m", "--start", "2026-06-01", "--end", "2026-06-11"))) == 0


def days_in_place(project, model):
    """(day, n, physical row id) of the model's rows, as they lie."""
    with project.warehouse("data/wh.duckdb") as database:
        sql = f"SELECT d::DATE::VARCHAR, n, rowid FROM {relation_of(database, model)} ORDER BY rowid"
        return database.execute(sql).fetchall()


def test_02_12_2_a_restate_with_what_reads_it(june):
    june.write(
        {
            "models/totals.sql": "SELECT sum(n) AS total FROM m",
            "models/doubled.sql": daily(query="SELECT d, n * 2 AS n FROM m"),
        }
    )
    june.ok("apply")
    before = {name: days_in_place(june, name) for name in ("m", "doubled")}
    june.load("UPDATE days SET n = 1000 WHERE d IN ('2026-06-10', '2026-06-11')")
    june.ok("restate", "-s", "m+", "--start", "2026-06-10", "--end", "2026-06-12")
    assert june.query("SELECT n FROM m WHERE d IN ('2026-06-10', '2026-06-11')") == [[1000], [1000]]
    assert june.query("SELECT n FROM doubled WHERE d IN ('2026-06-10', '2026-06-11')") == [[2000], [2000]]
    assert june.query("SELECT total FROM totals") == [[sum(range(30)) - 9 - 10 + 2000]]
    for name, rows in before.items():
        # Rows after deleted ones may move up, but stay in their order; those that were written lie behind them all.
        after = days_in_place(june, name)
        assert after[:9] == rows[:9]
        assert [day for day, _, _ in after] == [f"2026-06-{day:02}" for day in (*range(1, 10), *range(12, 31), 10, 11)]


def test_02_12_3_batches_give_the_same_table_and_ledger(june):
    june.write({"models/m.sql": daily(", backfill: none"), "models/other.sql": daily(", backfill: none")})
    june.ok("apply")
    document = june.json("run", "-s", "m", "--start", JUNE[0], "--end", JUNE[1], "--batch", "7")
    [entry] = [entry for entry in document["tasks"]["models"] if entry["name"] == "m"]
    assert [batch[2] for batch in entry["batches"]] == [7, 7, 7, 7, 2]
    june.ok("run", "-s", "other", "--start", JUNE[0], "--end", JUNE[1], "--batch", "1")
    assert june.query("SELECT * FROM m ORDER BY ALL") == june.query("SELECT * FROM other ORDER BY ALL")
    assert ledger(june) == ledger(june, "other")


def test_02_12_3_a_failure_loses_that_batch_only(june):
    june.write({"models/m.sql": daily(FAILING_CHECK)})
    june.ok("apply")
    june.load("UPDATE days SET n = NULL WHERE d = '2026-06-10'")
    june.fails("run", "--start", JUNE[0], "--end", JUNE[1], "--batch", "7")
    assert ledger(june)[0] == ["2026-06-01", "2026-06-08"]


def test_02_12_4_a_restate_keeps_closed_versions(project):
    project.write(
        {"interlace.yaml": CONFIG, "models/m.sql": "/* interlace: {strategy: scd, key: id} */ FROM src.items"}
    )
    project.load("CREATE TABLE items AS SELECT 1 AS id, 'a' AS v")
    project.ok("apply")
    project.load("UPDATE items SET v = 'b'")
    project.ok("restate")
    assert project.query("SELECT v, _valid_to IS NULL FROM m ORDER BY v") == [["a", False], ["b", True]]


def test_02_12_5_a_failing_check_under_run_leaves_readers_as_they_were(june):
    june.write({"models/m.sql": daily(", checks: [{not_null: n}]")})
    june.ok("apply")
    june.ok("apply", "-e", "dev")
    before = june.query("SELECT * FROM m ORDER BY ALL")
    generations = june.json("env", "list")
    filled = ledger(june)
    june.load("UPDATE days SET n = NULL WHERE d = '2026-06-10'")
    for env in ("prod", "dev"):
        june.fails("restate", "-e", env, "--start", "2026-06-10", "--end", "2026-06-11")
        assert june.query("SELECT * FROM m ORDER BY ALL") == before
        assert june.json("env", "list") == generations
    assert [["2026-06-01", "2026-06-10"], ["2026-06-11", "2026-07-01"]] == ledger(june)
    assert filled == [["2026-06-01", "2026-07-01"]]


def test_02_12_7_a_sandbox_gets_its_own_copy_when_it_writes(june):
    june.ok("apply")
    june.ok("apply", "-e", "dev")
    june.load("UPDATE days SET n = 1000 WHERE d = '2026-06-10'")
    result = june.ok("restate", "-e", "dev", "--start", "2026-06-10", "--end", "2026-06-11")
    assert "copy-on-write: owned by prod" in result.stderr
    assert june.query("SELECT n FROM m WHERE d = '2026-06-10'", env="dev") == [[1000]]
    assert june.query("SELECT n FROM m WHERE d = '2026-06-10'") == [[9]]
    assert ledger(june, env="dev") == ledger(june)
    assert june.json("plan")["changes"] == []
    assert june.json("plan", "-e", "dev")["changes"] == []


def test_04_10_3_what_prod_owns_is_changed_by_prod_alone(june):
    june.ok("apply")
    june.ok("apply", "-e", "dev")
    june.load("UPDATE days SET n = 1000 WHERE d = '2026-06-10'")
    june.ok("run", "--start", JUNE[0], "--end", JUNE[1])
    june.ok("restate", "--start", "2026-06-10", "--end", "2026-06-11")
    day = "SELECT n FROM m WHERE d = '2026-06-10'"
    with june.warehouse("data/wh.duckdb") as database:
        tables = "SELECT count(*) FROM duckdb_tables() WHERE table_name LIKE 'm\\_\\_%' ESCAPE '\\'"
        assert database.execute(tables).fetchone() == (1,)
    assert june.query(day, env="dev") == june.query(day) == [[1000]]
    shown = june.query("SELECT * FROM m ORDER BY ALL")
    june.load("UPDATE days SET n = 2000 WHERE d = '2026-06-10'")
    june.ok("restate", "-e", "dev", "--start", "2026-06-10", "--end", "2026-06-11")
    assert june.query("SELECT * FROM m ORDER BY ALL") == shown
    assert june.query(day, env="dev") == [[2000]]


def test_a_new_environment_takes_what_prod_shows_not_a_private_copy(june):
    june.ok("apply")
    june.ok("apply", "-e", "dev")
    june.load("UPDATE days SET n = 1000 WHERE d = '2026-06-10'")
    june.ok("restate", "-e", "dev", "--start", "2026-06-10", "--end", "2026-06-11")
    june.ok("apply", "-e", "qa")
    assert june.query("SELECT n FROM m WHERE d = '2026-06-10'", env="qa") == [[9]]


def test_04_3_the_owner_writes_in_place_and_the_others_see_it(june):
    june.ok("apply", "-e", "dev")
    june.ok("apply")
    june.load("UPDATE days SET n = 1000 WHERE d = '2026-06-10'")
    june.ok("restate", "--start", "2026-06-10", "--end", "2026-06-11")
    for env in ("prod", "dev"):
        assert june.query("SELECT n FROM m WHERE d = '2026-06-10'", env=env) == [[1000]]
    with june.warehouse("data/wh.duckdb") as database:
        tables = database.execute("SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'm\\_\\_%' ESCAPE '\\'")
        assert len(tables.fetchall()) == 1


def test_04_2_without_prod_the_environment_that_showed_it_first_is_the_owner(june):
    june.ok("apply", "-e", "zoo")
    june.ok("apply", "-e", "alps")
    june.ok("restate", "-e", "zoo", "--start", "2026-06-11", "--end", "2026-06-12")
    june.load("UPDATE days SET n = 1000 WHERE d = '2026-06-10'")
    june.ok("restate", "-e", "alps", "--start", "2026-06-10", "--end", "2026-06-11")
    shown = "SELECT n FROM m WHERE d = '2026-06-10'"
    assert june.query(shown, env="alps") == [[1000]]
    assert june.query(shown, env="zoo") != [[1000]]
    june.ok("restate", "-e", "zoo", "--start", "2026-06-10", "--end", "2026-06-11")
    with june.warehouse("data/wh.duckdb") as database:
        tables = database.execute("SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'm\\_\\_%' ESCAPE '\\'")
        assert len(tables.fetchall()) == 2


def test_02_9_2_a_bound_with_an_offset_is_of_that_instant(june):
    june.write({"models/m.sql": daily(", backfill: none, interval: 1h"), "models/x.sql": "SELECT 1 AS a"})
    june.load("CREATE OR REPLACE TABLE days AS SELECT TIMESTAMP '2026-06-30 22:30' AS d, 1 AS n")
    june.ok("apply")
    document = june.json(
        "run", "-s", "m", "--start", "2026-07-01T00:00:00+02:00", "--end", "2026-07-01T01:00:00+02:00", "--dry-run"
    )
    assert document["models"][0]["windows"] == [["2026-06-30T22:00:00", "2026-06-30T23:00:00"]]


@pytest.mark.parametrize("kind", ["TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_NS", "TIMESTAMP_S"])
def test_02_9_3_rows_at_the_edge_land_in_adjacent_windows(project, kind):
    project.env.update(AFTER)
    last = "2026-06-01 23:59:59" if kind == "TIMESTAMP_S" else "2026-06-01 23:59:59.999999"
    project.write({"interlace.yaml": CONFIG, "models/m.sql": daily(", backfill: none")})
    project.load(
        f"CREATE TABLE days AS SELECT CAST(x AS {kind}) AS d, 1 AS n FROM (VALUES ('{last}'), ('2026-06-02')) t(x)"
    )
    project.ok("apply")
    project.ok("run", "--start", "2026-06-01", "--end", "2026-06-02")
    assert project.query("SELECT count(*) FROM m") == [[1]]
    project.ok("run", "--start", "2026-06-02", "--end", "2026-06-03")
    assert project.query("SELECT count(*) FROM m") == [[2]]


def test_02_9_4_both_clock_changes_load_every_row_once(project):
    project.env["INTERLACE_NOW"] = "2026-11-01T00:00:00"
    project.write(
        {
            "interlace.yaml": CONFIG.replace("UTC", "Europe/Berlin"),
            "models/m.sql": daily(", backfill: none, interval: 1h"),
        }
    )
    project.load(
        "SET TimeZone = 'UTC'; CREATE TABLE days AS SELECT t AS d, 1 AS n FROM"
        " (SELECT TIMESTAMPTZ '2026-03-28 22:00:00+00' + INTERVAL (range * 10) MINUTE AS t FROM range(200)"
        "  UNION ALL SELECT TIMESTAMPTZ '2026-10-24 21:00:00+00' + INTERVAL (range * 10) MINUTE FROM range(200))"
    )
    project.ok("apply")
    for start, end in (("2026-03-28", "2026-03-31"), ("2026-10-24", "2026-10-27")):
        project.ok("run", "--start", start, "--end", end, "--batch", "1")
    assert project.query("SELECT count(*), count(DISTINCT d) FROM m") == [[400, 400]]


def test_02_9_6_a_date_is_not_cut_by_hours(june):
    load_days(june, "DATE")
    june.write({"models/m.sql": daily(", interval: 6h")})
    assert "6h" in june.fails("apply").stderr


def test_02_9_a_text_time_column_is_refused_with_a_cast(june):
    june.write({"models/m.sql": daily(query="SELECT d::VARCHAR AS d, n FROM src.days")})
    assert "CAST(d AS TIMESTAMP)" in june.fails("apply").stderr


def test_02_12_restate_names_what_it_leaves_stale(june):
    june.write({"models/totals.sql": "SELECT sum(n) AS total FROM m"})
    june.ok("apply")
    document = june.json("restate", "-s", "m", "--start", "2026-06-10", "--end", "2026-06-11")
    assert document["tasks"]["stale"] == ["totals"]
    assert "totals" in june.ok("restate", "-s", "m", "--start", "2026-06-10", "--end", "2026-06-11").stderr


def test_02_12_a_view_is_stale_when_the_table_that_it_reads_is_no_longer_shown(project):
    project.write(
        {
            "models/a.sql": "SELECT 1 AS v",
            "models/seen.sql": "/* interlace: {materialise: view} */ SELECT v FROM a",
            "models/inlined.sql": "/* interlace: {materialise: ephemeral} */ SELECT v FROM a",
            "models/through.sql": "/* interlace: {materialise: view} */ SELECT v FROM inlined",
            "models/kept.sql": "SELECT v FROM seen",
        }
    )
    project.ok("apply")
    project.ok("apply", "-e", "dev")
    stale = ["kept", "seen", "through"]
    assert sorted(project.json("run", "-s", "a")["tasks"]["stale"]) == ["kept"]  # its views see the same table
    assert sorted(project.json("run", "-e", "dev", "-s", "a")["tasks"]["stale"]) == stale  # dev has a copy now
    project.write({"models/a.sql": "SELECT 2 AS v"})
    assert sorted(project.json("run", "-s", "a", "--dry-run")["stale"]) == stale
    assert "left stale" in project.ok("run", "-s", "a", "--dry-run").stdout
    assert "left stale" in project.ok("run", "-s", "a").stderr
    assert project.query("SELECT a.v, seen.v FROM a, seen") == [[2, 1]]
    assert sorted(project.json("run", "-s", "a")["tasks"]["stale"]) == stale  # as long as nobody takes them along
    assert project.json("run", "-s", "a+")["tasks"]["stale"] == []
    assert project.query("SELECT a.v, seen.v, through.v, kept.v FROM a, seen, through, kept") == [[2, 2, 2, 2]]


# ---- batch: auto


def test_04_10_11_batches_by_rows_give_what_batches_of_one_day_give(june):
    load_days(june, first="2026-02-01", days=90)
    june.write({"models/m.sql": daily(", backfill: none"), "models/n.sql": daily(", backfill: none")})
    june.ok("apply")
    span = ("--start", "2026-02-01", "--end", "2026-05-02")
    june.ok("run", "-s", "m", *span, "--batch", "auto")
    june.ok("run", "-s", "n", *span, "--batch", "1")
    assert june.query("SELECT * FROM m ORDER BY ALL") == june.query("SELECT * FROM n ORDER BY ALL")
    assert len(june.query("SELECT * FROM m WHERE d < '2026-05-02'")) == 90
    assert ledger(june, "m") == ledger(june, "n")


def batch_sizes(document, model="m"):
    [entry] = [entry for entry in document["tasks"]["models"] if entry["name"] == model]
    return [batch[2] for batch in entry["batches"]]


def auto_batches(project, *args):
    return batch_sizes(project.json("restate", "-s", "m", "--start", JUNE[0], "--end", JUNE[1], *args))


def test_04_3_an_automatic_batch_stays_below_batch_rows(june):
    june.write({"models/m.sql": daily(", backfill: none, batch_rows: 7")})
    june.load("INSERT INTO days SELECT DATE '2026-06-10', 100 FROM range(20)")
    june.ok("apply")
    assert auto_batches(june) == [7, 2, 1, 7, 7, 6]
    assert auto_batches(june, "--order", "newest") == [6, 7, 7, 1, 2, 7]
    assert auto_batches(june, "--batch", "auto") == [7, 2, 1, 7, 7, 6]
    assert auto_batches(june, "--batch", "20") == [20, 10]
    at_once = june.query("SELECT * FROM m ORDER BY ALL"), ledger(june)
    june.ok("restate", "--start", JUNE[0], "--end", JUNE[1], "--batch", "1")
    assert (june.query("SELECT * FROM m ORDER BY ALL"), ledger(june)) == at_once
    june.write({"models/m.sql": daily(", backfill: none, batch_rows: 5000")})
    assert auto_batches(june) == [30]


def test_04_3_rows_of_all_sources_count(june):
    join = "SELECT a.d, a.n, b.n AS o FROM src.days a JOIN base b ON a.d = b.d"
    reads = ", reads: {base: {time_column: d}, src.days: {time_column: d}}"
    june.write(
        {
            "models/base.sql": "SELECT * FROM src.days",
            "models/m.sql": daily(", backfill: none, batch_rows: 20" + reads, join),
        }
    )
    june.ok("apply")
    assert auto_batches(june) == [10, 10, 10]


def test_04_3_where_no_source_is_counted_the_rows_of_the_table_stand_for_it(june):
    june.load("CREATE VIEW seen AS SELECT * FROM days UNION ALL SELECT * FROM days")
    june.write({"models/m.sql": daily(", batch_rows: 12", "SELECT d, n FROM src.seen")})
    june.ok("apply")  # two rows a window
    assert auto_batches(june) == [6, 6, 6, 6, 6]


def test_04_3_windows_that_read_everything_are_one_batch(june):
    june.write({"models/m.sql": daily(", batch_rows: 1", "SELECT d, sum(n) OVER (ORDER BY d) AS n FROM src.days")})
    june.ok("apply")
    assert auto_batches(june) == [30]


@pytest.mark.parametrize("kind", ["TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_NS"])
@pytest.mark.parametrize("interval", ["7h", "90m", "2d", "1w", "1mo"])
def test_04_3_batches_of_every_grain_hold_no_more_rows(project, kind, interval):
    project.env["INTERLACE_NOW"] = "2026-07-01T00:00:00"
    header = f", backfill: none, interval: {interval}, batch_rows: 100"
    query = "SELECT d, n FROM src.days"
    project.write({"interlace.yaml": CONFIG.replace("UTC", "Europe/Berlin"), "models/m.sql": daily(header, query)})
    project.load(
        f"CREATE TABLE days AS SELECT CAST(TIMESTAMP '2026-03-01' + INTERVAL (range * 5) HOUR AS {kind}) AS d,"
        " range::INTEGER AS n FROM range(500)"
    )
    project.ok("apply")
    document = project.json("run", "-s", "m", "--start", "2026-03-01", "--end", "2026-06-01")
    [entry] = document["tasks"]["models"]
    counts = [
        project.query(f"SELECT count(*)::INT FROM m WHERE d >= TIMESTAMP '{start}' AND d < TIMESTAMP '{end}'")[0][0]
        for start, end, grains in entry["batches"]
        if grains > 1
    ]
    assert all(count <= 100 for count in counts), counts
    assert interval == "1mo" or max(counts) > 60
