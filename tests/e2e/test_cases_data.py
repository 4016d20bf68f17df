"""Hard situations of users with strategies and windows, by their number: repeated and NULL keys, history, drift, windows and
their edges, late data, environments, checks as gates."""

import signal

import pytest

SHOP = "name: shop\ndatabase: data/wh.duckdb\nattach: {src: data/src.duckdb}\ntimezone: UTC\n"
KEYED = ["merge", "hash_merge", "full_merge", "scd"]


@pytest.fixture
def shop(project):
    project.write({"interlace.yaml": SHOP, "models/.keep": ""})
    project.load("SELECT 1")
    return project


def model(project, name, header, query):
    project.write({f"models/{name}.sql": f"/* interlace: {{{header}}} */\n{query}"})


def counts(document, name):
    return tuple(document["rows"][name][part] for part in ("inserted", "updated", "deleted"))


def windows(document, name):
    [entry] = [entry for entry in document["tasks"]["models"] if entry["name"] == name]
    return [pair[0][:10] for pair in entry["windows"]]


def ledger(project, name, **options):
    return [[edge[:10] for edge in pair] for pair in project.json("intervals", name, **options)["intervals"]]


def test_case_006_merge_with_two_source_rows_for_one_key(shop):
    model(shop, "stock", "strategy: merge, key: sku", "SELECT sku, name, qty FROM src.main.stock")
    shop.load("CREATE TABLE stock AS SELECT * FROM (VALUES (1,'bolt',5),(2,'nut',7)) t(sku, name, qty)")
    shop.ok("apply")
    for rows, sample in (("(1,'bolt',6),(1,'bolt',9)", "(1) x2"), ("(3,'cog',1),(3,'cog',2)", "(3) x2")):
        shop.load(f"DELETE FROM stock; INSERT INTO stock VALUES {rows}")
        error = shop.json("run", code=1)["error"]
        assert (error["kind"], error["details"]["code"]) == ("ExecutionError", "duplicate_key")
        assert "stock" in error["message"]
        assert "sku" in error["message"]
        assert sample in error["message"]
        assert shop.query("FROM stock ORDER BY sku") == [[1, "bolt", 5], [2, "nut", 7]]
    shop.load("DELETE FROM stock; INSERT INTO stock VALUES (1,'bolt',6),(3,'cog',2)")
    shop.ok("run")
    assert shop.query("FROM stock ORDER BY sku") == [[1, "bolt", 6], [2, "nut", 7], [3, "cog", 2]]


@pytest.mark.parametrize("strategy", KEYED)
def test_case_008_one_part_of_a_composite_key_is_null(shop, strategy):
    def refused(verb):
        error = shop.json(verb, code=1)["error"]
        assert error["details"]["code"] == "null_key"
        assert "'p'" in error["message"]
        assert "zone" in error["message"]
        assert "1 source row" in error["message"]

    model(shop, "p", f"strategy: {strategy}, key: [area, zone]", "SELECT area, zone, cents FROM src.main.p")
    shop.load("CREATE TABLE p AS SELECT * FROM (VALUES ('EU',NULL,10),('EU','north',12)) t(area, zone, cents)")
    refused("apply")
    refused("run")
    shop.load("UPDATE p SET cents = 11 WHERE zone IS NULL")
    refused("run")
    shop.fails("query", "SELECT * FROM p")
    shop.load("UPDATE p SET zone = 'south' WHERE zone IS NULL")
    shop.ok("apply")
    rows = [["EU", "north", 12], ["EU", "south", 11]]
    assert shop.query("SELECT area, zone, cents FROM p ORDER BY zone") == rows
    assert counts(shop.json("run"), "p") == (0, 2 if strategy == "merge" else 0, 0)
    assert shop.query("SELECT area, zone, cents FROM p ORDER BY zone") == rows
    shop.load("INSERT INTO p VALUES ('EU',NULL,10)")
    refused("run")
    assert shop.query("SELECT area, zone, cents FROM p ORDER BY zone") == rows


def test_case_010_a_null_that_becomes_an_empty_text(shop):
    model(shop, "n", "strategy: hash_merge, key: id", "SELECT id, note FROM src.main.n")
    shop.load("CREATE TABLE n AS SELECT * FROM (VALUES (1,NULL),(2,'ok')) t(id, note)")
    shop.ok("apply")
    shop.load("UPDATE n SET note = '' WHERE id = 1")
    assert counts(shop.json("run"), "n") == (0, 1, 0)
    assert shop.query("SELECT id, note IS NULL AS isnull FROM n ORDER BY id") == [[1, False], [2, False]]
    assert counts(shop.json("run"), "n") == (0, 0, 0)


def test_case_012_scd_with_duplicate_keys(shop):
    model(shop, "emp", "strategy: scd, key: id", "SELECT id, city FROM src.main.emp")
    shop.load("CREATE TABLE emp AS SELECT * FROM (VALUES (7,'NY'),(7,'LA'),(8,'SF')) t(id, city)")
    for change in ("SELECT 1", "UPDATE emp SET city = 'DC' WHERE city = 'LA'"):
        shop.load(change)
        result = shop.fails("apply")
        assert "'emp'" in result.stderr
        assert "key (id)" in result.stderr
        assert "(7) x2" in result.stderr
        shop.fails("query", "FROM emp")
    shop.load("DELETE FROM emp; INSERT INTO emp VALUES (7,'DC'),(8,'SF')")
    shop.ok("apply")
    rows = [[7, "DC", None], [8, "SF", None]]
    assert shop.query("SELECT id, city, _valid_to FROM emp ORDER BY id") == rows
    assert counts(shop.json("run"), "emp") == (0, 0, 0)
    assert shop.query("SELECT id, city, _valid_to FROM emp ORDER BY id") == rows


def test_case_014_an_older_event_arrives_late(shop):
    versions = "SELECT level, _valid_from::VARCHAR, _valid_to::VARCHAR FROM cust ORDER BY _valid_from, _valid_to"
    model(
        shop,
        "cust",
        "strategy: scd, key: id, time_column: changed_at",
        "SELECT id, level, changed_at FROM src.main.cust",
    )
    shop.load(
        "CREATE TABLE cust AS SELECT * FROM (VALUES (1,'silver',TIMESTAMP '2024-03-01 08:00')) t(id,level,changed_at)"
    )
    shop.ok("apply")
    march, february = "2024-03-01 08:00:00", "2024-02-15 10:00:00"
    shop.load("UPDATE cust SET level = 'gold'")
    assert counts(shop.json("run"), "cust") == (1, 1, 0)
    corrected = [["silver", march, march], ["gold", march, None]]
    assert shop.query(versions) == corrected
    assert counts(shop.json("run"), "cust") == (0, 0, 0)
    shop.load("UPDATE cust SET level = 'bronze', changed_at = TIMESTAMP '2024-02-15 10:00'")
    assert counts(shop.json("run"), "cust") == (1, 0, 0)
    assert shop.query(versions) == [["bronze", february, march], *corrected]
    assert counts(shop.json("run"), "cust") == (0, 0, 0)
    assert shop.query(versions) == [["bronze", february, march], *corrected]
    for time, level in (("2024-02-14", None), (february, "bronze"), ("2024-03-01 07:59:59", "bronze"), (march, "gold")):
        as_of = f"_valid_from <= TIMESTAMP '{time}' AND (TIMESTAMP '{time}' < _valid_to OR _valid_to IS NULL)"
        assert shop.query(f"SELECT level FROM cust WHERE {as_of}") == ([[level]] if level else [])


def test_case_016_a_key_leaves_and_returns_unchanged(shop):
    versions = "SELECT id, town, _valid_from::VARCHAR, _valid_to::VARCHAR FROM shop ORDER BY id, _valid_from"
    days = iter(range(1, 10))

    def at_next_day(verb):
        return shop.json(verb, env={"INTERLACE_NOW": f"2024-05-0{next(days)}T00:00:00"})

    model(shop, "shop", "strategy: scd, key: id", "SELECT id, town FROM src.main.shop")
    shop.load("CREATE TABLE shop AS SELECT * FROM (VALUES (1,'Kiel'),(2,'Bonn')) t(id, town)")
    at_next_day("apply")
    kiel = [1, "Kiel", "2024-05-01 00:00:00", None]
    closed = [2, "Bonn", "2024-05-01 00:00:00", "2024-05-02 00:00:00"]
    shop.load("DELETE FROM shop WHERE id = 2")
    assert counts(at_next_day("run"), "shop") == (0, 1, 0)
    assert counts(at_next_day("run"), "shop") == (0, 0, 0)
    assert shop.query(versions) == [kiel, closed]
    shop.load("INSERT INTO shop VALUES (2,'Bonn')")
    assert counts(at_next_day("run"), "shop") == (1, 0, 0)
    assert counts(at_next_day("run"), "shop") == (0, 0, 0)
    assert shop.query(versions) == [kiel, closed, [2, "Bonn", "2024-05-04 00:00:00", None]]


PYTHON_PEOPLE = """from interlace import model
@model(strategy="{strategy}", key="id")
def people(stg):
    return stg.reader()
"""


@pytest.mark.parametrize("form", ["star", "named", "python"])
@pytest.mark.parametrize("strategy", ["merge", "full_merge", "hash_merge"])
def test_case_018_the_columns_come_back_in_another_order(shop, strategy, form):
    if form == "python":
        model(shop, "stg", "materialise: view", "SELECT * FROM src.main.people")
        shop.write({"models/people.py": PYTHON_PEOPLE.format(strategy=strategy)})
    else:
        columns = "*" if form == "star" else "id, first, last"
        model(shop, "people", f"strategy: {strategy}, key: id", f"SELECT {columns} FROM src.main.people")
    shop.load("CREATE TABLE people AS SELECT * FROM (VALUES (1,'Ada','Byron')) t(id, first, last)")
    shop.ok("apply")
    shop.load("CREATE OR REPLACE TABLE people AS SELECT * FROM"
              " (VALUES (1,'Byron','Ada'),(2,'Hopper','Grace')) t(id, Last, First)")  # fmt: skip
    assert counts(shop.json("run"), "people") == (1, 1 if strategy == "merge" else 0, 0)
    names = [[1, "Ada", "Byron"], [2, "Grace", "Hopper"]]
    assert shop.query("SELECT id, first, last FROM people ORDER BY id") == names


@pytest.mark.parametrize("batch", [("--batch", "1"), ()], ids=["one", "auto"])
def test_case_020_window_three_of_five_fails_and_the_next_run_takes_up(shop, batch):
    header = "strategy: incremental, time_column: ts, interval: 1d, backfill: none"
    model(shop, "ev", header, "SELECT id, CAST(v AS INTEGER) AS v, ts FROM src.main.ev")
    values = ",".join(
        f"({i},'{v}',TIMESTAMP '2024-05-0{i} 10:00')" for i, v in enumerate(["10", "20", "oops", "40", "50"], 1)
    )
    shop.load(f"CREATE TABLE ev AS SELECT * FROM (VALUES {values}) t(id, v, ts)")
    run = ("run", *batch, "--start", "2024-05-01", "--end", "2024-05-06")
    result = shop.fails(*run)
    [line] = result.error_lines
    assert "'ev'" in line
    assert "2024-05-03" in line
    assert "oops" in line
    shop.fails("query", "FROM ev")
    assert ledger(shop, "ev") == [["2024-05-01", "2024-05-03"]]
    shop.load("UPDATE ev SET v = '30' WHERE id = 3")
    missing = ["2024-05-03", "2024-05-04", "2024-05-05"]
    dry = shop.json(*run, "--dry-run")
    assert [pair[0][:10] for pair in dry["models"][0]["windows"]] == missing
    assert windows(shop.json(*run), "ev") == missing
    assert shop.query("SELECT count(*) AS n, sum(v)::INTEGER AS v FROM ev") == [[5, 150]]
    assert windows(shop.json(*run), "ev") == []
    assert ledger(shop, "ev") == [["2024-05-01", "2024-05-06"]]


def test_case_022_rows_on_the_border_and_odd_ends(shop):
    header = "strategy: incremental, time_column: ts, interval: {}, backfill: none"
    query = "SELECT id, ts FROM src.main.e"
    model(shop, "e", header.format("1d"), query)
    shop.load(
        "CREATE TABLE e AS SELECT * FROM (VALUES (1,TIMESTAMP '2024-01-01 00:00:00'),"
        "(2,TIMESTAMP '2024-01-01 23:59:59.999999'),(3,TIMESTAMP '2024-01-02 00:00:00'),"
        "(4,TIMESTAMP '2024-01-03 00:00:00')) t(id, ts)"
    )
    document = shop.json("run", "--start", "2024-01-01", "--end", "2024-01-03")
    assert windows(document, "e") == ["2024-01-01", "2024-01-02"]
    assert shop.query("SELECT id FROM e ORDER BY id") == [[1], [2], [3]]
    for flags, named in (
        (("--start", "2024-01-01", "--end", "2024-01-01"), "--start"),
        (("--start", "2024-01-03", "--end", "2024-01-01"), "--start"),
        (("--start", "2024-02-30"), "--start"),
        (("--end", "tomorrow"), "--end"),
    ):
        assert named in shop.fails("run", *flags, code=2).stderr
    assert ledger(shop, "e") == [["2024-01-01", "2024-01-03"]]
    model(shop, "e", header.format("1m"), query)
    result = shop.ok("run", "--dry-run", "--start", "2020-01-01", "--end", "2024-01-01")
    assert "2,103,840" in result.stdout
    assert "2020-01-01" in result.stdout
    model(shop, "e", header.format("1mo"), query)
    result = shop.ok("run", "--dry-run", "--start", "2023-11-15", "--end", "2024-01-03", "--json")
    assert result.json["models"][0]["windows"] == [
        [f"{first}T00:00:00", f"{end}T00:00:00"]
        for first, end in (("2023-11-01", "2023-12-01"), ("2023-12-01", "2024-01-01"), ("2024-01-01", "2024-02-01"))
    ]
    assert "note: " in shop.ok("run", "--dry-run", "--start", "2023-11-15", "--end", "2024-01-03").stdout


def test_case_024_the_same_command_on_hosts_in_different_zones(shop):
    header = "strategy: incremental, time_column: ts, interval: 1d, backfill: none"
    model(shop, "t", header, "SELECT id, ts FROM src.main.t")
    shop.load(
        "SET TimeZone = 'UTC'; CREATE TABLE t AS SELECT * FROM (VALUES (1,TIMESTAMPTZ '2024-06-10 23:30:00+00'),"
        "(2,TIMESTAMPTZ '2024-06-11 00:30:00+00'),(3,TIMESTAMPTZ '2024-06-11 03:59:00+00'),"
        "(4,TIMESTAMPTZ '2024-06-12 01:00:00+00')) t(id, ts)"
    )
    day = ("--start", "2024-06-11", "--end", "2024-06-12")
    ids = "SELECT id FROM t ORDER BY id"
    shop.ok("run", *day, env={"TZ": "America/New_York"})
    assert shop.query(ids) == [[2], [3]]
    assert windows(shop.json("run", *day), "t") == []
    assert counts(shop.json("restate", *day, env={"TZ": "Asia/Tokyo"}), "t") == (2, 0, 2)
    assert shop.query(ids) == [[2], [3]]
    for zone in ("UTC", "America/New_York", "Asia/Tokyo"):
        assert ledger(shop, "t", env={"TZ": zone}) == [["2024-06-11", "2024-06-12"]]


def test_case_026_the_time_column_is_text(shop):
    header = "strategy: incremental, time_column: ts, interval: 1d, backfill: none"
    model(shop, "log", header, "SELECT id, ts FROM src.main.log")
    shop.load(
        "CREATE TABLE log AS SELECT * FROM (VALUES (1,'2024-01-01 10:00:00'),(2,'2024-01-02 00:00:00'),"
        "(3,'2024-01-02 23:59:59'),(4,'2024-01-03 08:00:00')) t(id, ts)"
    )
    day = ("--start", "2024-01-02", "--end", "2024-01-03")
    for verb in ("run", "restate"):
        result = shop.fails(verb, *day)
        for word in ("'log'", "ts", "VARCHAR", "CAST(ts AS TIMESTAMP)"):
            assert word in result.stderr
        shop.fails("query", "FROM log")
    model(shop, "log", header, "SELECT id, CAST(ts AS TIMESTAMP) AS ts FROM src.main.log")
    for verb in ("run", "restate"):
        shop.ok(verb, *day)
        assert shop.query("SELECT id FROM log ORDER BY id") == [[2], [3]]
    shop.load("UPDATE log SET ts = 'noon' WHERE id = 3")
    assert "noon" in shop.fails("restate", *day).stderr
    assert shop.query("SELECT id FROM log ORDER BY id") == [[2], [3]]


def test_case_028_a_late_row_restated_with_what_depends_on_it(shop):
    header = "strategy: incremental, time_column: {}, interval: 1d"
    model(shop, "sales", header.format("ts"), "SELECT id, k, v, ts FROM src.main.s")
    model(shop, "daily", header.format("day"), "SELECT date_trunc('day', ts) AS day, sum(v) AS v FROM sales GROUP BY 1")
    model(shop, "by_k", "strategy: full_merge, key: k", "SELECT k, sum(v) AS v FROM sales GROUP BY k")
    shop.load(
        "CREATE TABLE s AS SELECT * FROM (VALUES (1,'a',10,TIMESTAMP '2024-08-01 09:00'),"
        "(2,'a',20,TIMESTAMP '2024-08-02 09:00'),(3,'b',5,TIMESTAMP '2024-08-03 09:00')) t(id, k, v, ts)"
    )
    shop.ok("apply")
    shop.load("UPDATE s SET v = 21 WHERE id = 2; INSERT INTO s VALUES (4,'b',7,TIMESTAMP '2024-08-02 22:00')")
    document = shop.json("run", "--start", "2024-08-01", "--end", "2024-08-04")
    assert windows(document, "sales") == windows(document, "daily") == []
    daily = "SELECT v::INTEGER AS v FROM daily ORDER BY day"
    assert shop.query(daily) == [[10], [20], [5]]
    day = ("--start", "2024-08-02", "--end", "2024-08-03")
    assert sorted(shop.json("restate", "--select", "sales", *day, "--dry-run")["stale"]) == ["by_k", "daily"]
    document = shop.json("restate", "--select", "sales+", *day)
    assert counts(document, "sales") == (2, 0, 1)
    assert counts(document, "daily") == (1, 0, 1)
    assert windows(document, "sales") == windows(document, "daily") == ["2024-08-02"]
    assert shop.query(daily) == [[10], [28], [5]]
    assert shop.query("SELECT k, v::INTEGER AS v FROM by_k ORDER BY k") == [["a", 31], ["b", 12]]


def test_case_030_a_restate_asked_for_dev_leaves_prod_alone(shop):
    model(shop, "r", "strategy: incremental, time_column: ts, interval: 1d", "SELECT id, v, ts FROM src.main.r")
    shop.write({"models/other.sql": "SELECT count(*) AS n FROM src.main.r"})
    shop.load(
        "CREATE TABLE r AS SELECT * FROM (VALUES (1,10,TIMESTAMP '2024-10-01 12:00'),(2,20,TIMESTAMP '2024-10-02 12:00'))"
        " t(id, v, ts)"
    )
    shop.ok("apply")
    shop.ok("apply", "--env", "dev")
    filled = ledger(shop, "r")
    shop.load("UPDATE r SET v = -999 WHERE id = 2; INSERT INTO r VALUES (3, 1, NULL)")
    restate = ("restate", "--env", "dev", "--select", "r", "--start", "2024-10-02", "--end", "2024-10-03")
    # A process that dies in the middle leaves both as they were, and is simply run again.
    for point in ("build.checked", "build.committed", "build.recorded", "promotion.view"):
        assert shop.run(*restate, env={"INTERLACE_HOOK": f"{point}=kill"}).code == -signal.SIGKILL
        assert shop.query("SELECT v FROM main.r WHERE id = 2") == [[20]]
    shop.ok(*restate)
    assert shop.query("SELECT v FROM main.r WHERE id = 2") == [[20]]
    assert shop.query("SELECT id, v FROM dev__main.r ORDER BY id") == [[1, 10], [2, -999]]
    assert shop.query("SELECT n FROM main.other UNION ALL SELECT n FROM dev__main.other") == [[2], [2]]
    assert {entry["name"] for entry in shop.json("env", "list")} == {"prod", "dev"}
    assert ledger(shop, "r") == filled
    assert "No changes for prod." in shop.ok("plan").stdout


INV_CHECKS = 'checks: [{type: expression, expression: "cents >= 0"}, {row_count: {min: 1}}, {unique: id}]'


@pytest.mark.parametrize("strategy", ["replace", "merge, key: id", "full_merge, key: id"])
def test_case_032_run_on_an_unchanged_model_shows_no_failing_row(shop, strategy):
    model(shop, "inv", f"strategy: {strategy}, {INV_CHECKS}", "SELECT id, cents FROM src.main.inv")
    shop.load("CREATE TABLE inv AS SELECT * FROM (VALUES (1,100),(2,250)) t(id, cents)")
    shop.ok("apply")
    shop.load("INSERT INTO inv VALUES (3,-5)")
    summary = "SELECT count(*) AS n, min(cents) AS least FROM inv"
    assert "inv.expression (1 failing)" in shop.fails("run").stderr
    assert shop.query(summary) == [[2, 100]]
    assert "failed" in {row["status"] for row in shop.json("checks", "list")}
    shop.load("DELETE FROM inv")
    if strategy.startswith("merge"):
        shop.ok("run")
    else:
        assert "row_count" in shop.fails("run").stderr
    assert shop.query(summary) == [[2, 100]]
