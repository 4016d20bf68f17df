"""Forward-only: new logic from now on, over a copy of the old rows (spec 02 §13; spec 03 §8)."""

import signal

import pytest

CONFIG = "database: data/wh.duckdb\nattach: {src: data/src.duckdb}\ntimezone: UTC\n"
WAREHOUSE = "data/wh.duckdb"


def model(query, **keys):
    block = ", ".join(f"{key}: {value}" for key, value in keys.items())
    return f"/* interlace: {{{block}}} */\n{query}\n"


def keyed(query="SELECT id, v FROM src.t", strategy="merge", key="[id]", **keys):
    return model(query, strategy=strategy, key=key, **keys)


@pytest.fixture
def shop(project):
    project.load("CREATE TABLE t AS SELECT * FROM (VALUES (1, 'a', 10), (2, 'b', 20), (3, 'c', 30)) AS t (id, v, n)")
    return project.write({"interlace.yaml": CONFIG})


def tables(project, base="m"):
    """Physical tables of a model, by name."""
    sql = f"SELECT table_name FROM duckdb_tables() WHERE table_name LIKE '{base}\\_\\_%' ESCAPE '\\' ORDER BY 1"
    return [name for (name,) in project.sql(sql, WAREHOUSE)]


def live_table(project, name="m"):
    [[definition]] = project.sql(
        f"SELECT sql FROM duckdb_views() WHERE view_name = '{name}' AND NOT internal", WAREHOUSE
    )
    return [table for table in tables(project, name) if table in definition][-1]


def rows_of(project, table):
    return project.sql(f'SELECT * FROM interlace__main."{table}" ORDER BY ALL', WAREHOUSE)


def change_of(project, *args):
    [change] = project.json("plan", *args)["changes"]
    return change["category"]


def versions(project):
    return project.query("SELECT id, v, _valid_to IS NULL FROM m ORDER BY id, _valid_from")


def with_history(shop):
    shop.write({"models/m.sql": keyed(strategy="scd")})
    shop.ok("apply")
    shop.load("UPDATE t SET v = 'A' WHERE id = 1")
    shop.ok("run")
    assert versions(shop) == [[1, "a", False], [1, "A", True], [2, "b", True], [3, "c", True]]


# --- The six of the chapter --------------------------------------------------------------------------------------------


def test_02_13_1_versions_that_were_closed_are_carried_over(shop):
    with_history(shop)
    [old] = tables(shop)
    before = rows_of(shop, old)
    shop.write({"models/m.sql": keyed("SELECT id, v FROM src.t WHERE id <> 3", strategy="scd")})
    document = shop.json("plan", "--forward-only")
    assert document["changes"][0]["category"] == "forward_only"
    assert document["changes"][0]["previous_fingerprint"] != document["changes"][0]["new_fingerprint"]
    assert document["breaking"] is False
    assert document["changes"][0]["reused"] is False
    shop.ok("apply", "--forward-only")
    assert versions(shop) == [[1, "a", False], [1, "A", True], [2, "b", True], [3, "c", False]]
    assert len(tables(shop)) == 2
    assert live_table(shop) != old
    assert rows_of(shop, old) == before


def test_02_13_2_without_the_flag_history_begins_anew(shop):
    with_history(shop)
    shop.write({"models/m.sql": keyed("SELECT id, v FROM src.t WHERE id <> 3", strategy="scd")})
    assert change_of(shop) == "breaking"
    shop.fails("apply")
    shop.ok("apply", "--force")
    assert versions(shop) == [[1, "A", True], [2, "b", True]]


DAYS = "SELECT CAST(TIMESTAMP '2026-06-01' + INTERVAL (range) DAY AS DATE) AS d, range::INTEGER AS n FROM range(30)"


def daily(query, **keys):
    return model(query, strategy="incremental", time_column="d", **keys)


def ledger(project):
    return [[start[:10], end[:10]] for start, end in project.json("intervals", "m")["intervals"]]


@pytest.fixture
def june(shop):
    shop.env["INTERLACE_NOW"] = "2026-07-05T12:00:00"
    shop.load(f"CREATE TABLE days AS {DAYS}")
    shop.write({"models/m.sql": daily("SELECT d, n FROM src.days")})
    shop.ok("apply")
    return shop


def test_02_13_3_filled_days_keep_the_old_logic_until_they_are_restated(june):
    filled = ledger(june)
    june.write({"models/m.sql": daily("SELECT d, n + 1000 AS n FROM src.days")})
    june.ok("apply", "--forward-only")
    assert june.query("SELECT max(n) FROM m WHERE d < DATE '2026-07-01'") == [[29]]
    assert june.query("SELECT count(*) FROM m") == [[30]]
    assert ledger(june) == [*filled, ["2026-07-04", "2026-07-05"]]
    document = june.json("run", "--start", "2026-06-01", "--end", "2026-07-01")
    assert document["tasks"]["models"][0]["action"] == "skip"
    june.ok("restate", "--start", "2026-06-10", "--end", "2026-06-11")
    assert june.query("SELECT d::VARCHAR, n FROM m WHERE n > 999") == [["2026-06-10", 1009]]


def test_02_13_3_the_latest_complete_day_gets_the_new_logic(june):
    june.load("INSERT INTO days SELECT DATE '2026-07-04', 33")
    june.write({"models/m.sql": daily("SELECT d, n + 1000 AS n FROM src.days")})
    june.ok("apply", "--forward-only")
    assert june.query("SELECT d::VARCHAR, n FROM m WHERE n > 999 ORDER BY d")[-1][0] == "2026-07-04"
    assert june.query("SELECT count(*) FROM m WHERE n > 999 AND d < DATE '2026-07-04'") == [[0]]


def test_02_13_3_a_ledger_without_windows_is_no_reason_to_build_anew(shop):
    """All rows lie in the day that is not over: nothing is recorded as filled, and the copy still has them."""
    shop.env["INTERLACE_NOW"] = "2026-06-01T12:00:00"
    shop.load("CREATE TABLE days AS SELECT DATE '2026-06-01' AS d, 1 AS n")
    shop.write({"models/m.sql": daily("SELECT d, n FROM src.days")})
    shop.ok("apply")
    shop.load("DELETE FROM days")
    shop.write({"models/m.sql": daily("SELECT d, n + 1 AS n FROM src.days")})
    shop.ok("apply", "--forward-only")
    assert shop.query("SELECT n FROM m") == [[1]]


@pytest.mark.parametrize("strategy", ["merge", "full_merge", "hash_merge", "scd"])
def test_02_13_4_a_failing_check_changes_nothing(shop, strategy):
    shop.write({"models/m.sql": keyed(strategy=strategy)})
    shop.ok("apply")
    old = live_table(shop)
    before = rows_of(shop, old)
    shop.write(
        {
            "models/m.sql": keyed(
                "SELECT id, v || '!' AS v FROM src.t",
                strategy,
                checks="[{accepted_values: {column: v, values: [a, b, c]}}]",
            )
        }
    )
    result = shop.fails("apply", "--forward-only")
    assert "accepted_values" in result.stderr
    assert tables(shop) == [old]
    assert rows_of(shop, old) == before
    assert shop.query("SELECT v FROM m ORDER BY id") == [["a"], ["b"], ["c"]]
    assert change_of(shop, "--forward-only") == "forward_only"


@pytest.mark.parametrize("strategy", ["merge", "full_merge", "hash_merge", "scd"])
def test_02_13_5_an_added_column_is_null_in_history(shop, strategy):
    shop.write({"models/m.sql": keyed(strategy=strategy)})
    shop.ok("apply")
    shop.load("DELETE FROM t WHERE id = 3")
    shop.write({"models/m.sql": keyed("SELECT id, v, n FROM src.t", strategy=strategy)})
    shop.ok("apply", "--forward-only")
    expected = {
        "merge": [[1, 10], [2, 20], [3, None]],
        "hash_merge": [[1, 10], [2, 20], [3, None]],
        "full_merge": [[1, 10], [2, 20]],
        "scd": [[1, 10], [1, None], [2, 20], [2, None], [3, None]],
    }
    assert shop.query("SELECT id, n FROM m ORDER BY id, n") == expected[strategy]


@pytest.mark.parametrize(("before", "after"), [("n::INTEGER", "n::VARCHAR"), ("n::BIGINT", "n::INTEGER")])
def test_02_13_5_another_type_is_refused_at_plan(shop, before, after):
    shop.write({"models/m.sql": keyed(f"SELECT id, {before} AS n, v FROM src.t")})
    shop.ok("apply")
    [old] = tables(shop)
    shop.write({"models/m.sql": keyed(f"SELECT id, {after} AS n, upper(v) AS v FROM src.t")})
    for command in ("plan", "apply"):
        result = shop.fails(command, "--forward-only")
        assert "model 'm'" in result.stderr
        assert f"n ({before[3:]} to {after[3:]})" in result.stderr
        assert "v (" not in result.stderr
    assert shop.json("plan", "--forward-only", code=1)["error"]["kind"] == "PlanError"
    assert tables(shop) == [old]
    assert change_of(shop) == "breaking"


HOOKS = ["build.begun", "build.written", "build.checked", "build.committed", "build.recorded", "promotion.intended"]


@pytest.mark.parametrize("hook", HOOKS)
def test_02_13_6_a_kill_after_seeding_changes_nothing_in_the_result(shop, hook):
    shop.write({"models/m.sql": keyed()})
    shop.ok("apply")
    shop.load("DELETE FROM t WHERE id = 3; INSERT INTO t VALUES (4, 'd', 40)")
    shop.write({"models/m.sql": keyed("SELECT id, upper(v) AS v FROM src.t")})
    killed = shop.run("apply", "--forward-only", env={"INTERLACE_HOOK": f"{hook}=kill"})
    assert killed.code == -signal.SIGKILL
    shop.ok("apply", "--forward-only")
    assert shop.query("SELECT * FROM m ORDER BY id") == [[1, "A"], [2, "B"], [3, "c"], [4, "D"]]
    assert shop.json("plan", "--forward-only")["empty"] is True


@pytest.mark.parametrize("hook", ["build.written", "build.committed", "build.ledger", "build.recorded"])
def test_02_13_6_a_kill_leaves_the_ledger_as_an_uninterrupted_build_does(june, hook):
    june.write({"models/m.sql": daily("SELECT d, n + 1000 AS n FROM src.days")})
    killed = june.run("apply", "--forward-only", env={"INTERLACE_HOOK": f"{hook}=kill"})
    assert killed.code == -signal.SIGKILL
    assert june.query("SELECT max(n) FROM m") == [[29]]
    june.load("DELETE FROM days WHERE d < DATE '2026-07-01'")
    june.ok("apply", "--forward-only")
    assert june.query("SELECT count(*), max(n) FROM m") == [[30, 29]]
    document = june.json("run", "--start", "2026-06-01", "--end", "2026-07-01")
    assert document["tasks"]["models"][0]["action"] == "skip"


# --- The table of changes ----------------------------------------------------------------------------------------------


def test_02_13_a_column_that_is_gone_stays_and_is_null_from_now_on(shop):
    shop.write({"models/m.sql": keyed("SELECT id, v, n FROM src.t")})
    shop.ok("apply")
    shop.load("DELETE FROM t; INSERT INTO t VALUES (4, 'd', 40)")
    shop.write({"models/m.sql": keyed("SELECT id, v FROM src.t")})
    shop.ok("apply", "--forward-only")
    assert shop.query("SELECT id, n FROM m ORDER BY id") == [[1, 10], [2, 20], [3, 30], [4, None]]


@pytest.mark.parametrize("strategy", ["merge", "full_merge", "hash_merge", "scd"])
def test_02_13_a_type_that_widens_is_widened(shop, strategy):
    shop.write({"models/m.sql": keyed("SELECT id, n::INTEGER AS n FROM src.t", strategy=strategy)})
    shop.ok("apply")
    shop.load("UPDATE t SET n = 31 WHERE id = 3")
    shop.write(
        {"models/m.sql": keyed("SELECT id, n::BIGINT + 3000000000 AS n FROM src.t WHERE id = 3", strategy=strategy)}
    )
    shop.ok("apply", "--forward-only")
    assert [3, 3000000031] in shop.query("SELECT id, n FROM m")
    [[kind]] = shop.query("SELECT DISTINCT typeof(n) FROM m")
    assert kind == "BIGINT"


def test_02_13_a_type_that_the_query_gave_before_is_no_change(shop):
    """The table has widened since; the query gives what it gave before."""
    shop.write({"models/m.sql": keyed("SELECT id, n::INTEGER AS n FROM src.t")})
    shop.ok("apply")
    shop.write({"models/m.sql": keyed("SELECT id, n::BIGINT AS n FROM src.t")})
    shop.ok("apply", "--forward-only")
    shop.write({"models/m.sql": keyed("SELECT id, n::BIGINT AS n FROM src.t WHERE id < 3")})
    shop.ok("apply", "--forward-only")
    assert shop.query("SELECT count(*) FROM m") == [[3]]


def test_02_13_another_key_under_which_the_rows_are_unique(shop):
    shop.write({"models/m.sql": keyed("SELECT id, v, n FROM src.t")})
    shop.ok("apply")
    shop.load("UPDATE t SET id = id + 100")
    shop.write({"models/m.sql": keyed("SELECT id, v, n FROM src.t", key="[v]")})
    shop.ok("apply", "--forward-only")
    assert shop.query("SELECT id FROM m ORDER BY id") == [[101], [102], [103]]


@pytest.mark.parametrize(
    ("change", "key", "said"),
    [
        ("UPDATE t SET v = 'a'", "[v]", "(a) x3"),
        ("UPDATE t SET v = NULL WHERE id = 2", "[v, n]", "(NULL, 20)"),
        ("UPDATE t SET n = n", "[id, w]", "'w'"),
    ],
)
def test_02_13_another_key_that_the_rows_break_is_refused_at_plan(shop, change, key, said):
    shop.load(change)
    shop.write({"models/m.sql": keyed("SELECT id, v, n FROM src.t")})
    shop.ok("apply")
    query = "SELECT id, v || id AS v, n, 1 AS w FROM src.t"
    shop.write({"models/m.sql": keyed(query, key=key)})
    for command in ("plan", "apply"):
        result = shop.fails(command, "--forward-only")
        assert said in result.stderr
    assert len(tables(shop)) == 1


def test_02_13_of_scd_only_open_versions_must_be_unique_under_another_key(shop):
    shop.write({"models/m.sql": keyed(strategy="scd")})
    shop.ok("apply")
    shop.load("UPDATE t SET n = 11, id = 7 WHERE id = 1")
    shop.ok("run")
    shop.write({"models/m.sql": keyed("SELECT id, v FROM src.t WHERE true", strategy="scd", key="[v]")})
    shop.ok("apply", "--forward-only")
    assert shop.query("SELECT count(*), count(_valid_to) FROM m") == [[4, 1]]


def test_02_13_another_time_column_of_incremental_is_refused_at_plan(june):
    june.load("ALTER TABLE days ADD COLUMN e DATE")
    june.write({"models/m.sql": model("SELECT d, n, d AS e FROM src.days", strategy="incremental", time_column="e")})
    for command in ("plan", "apply"):
        assert "time_column was d and is e" in june.fails(command, "--forward-only").stderr


def test_02_13_another_grain_is_carried_over(june):
    june.write({"models/m.sql": daily("SELECT d, n + 1000 AS n FROM src.days", interval="1w")})
    june.ok("apply", "--forward-only")
    assert june.query("SELECT max(n) FROM m WHERE d < DATE '2026-06-22'") == [[20]]
    document = june.json("run", "--start", "2026-06-01", "--end", "2026-06-22")
    assert document["tasks"]["models"][0]["action"] == "skip"


def test_02_13_hashes_are_computed_for_what_merge_kept(shop):
    shop.write({"models/m.sql": keyed("SELECT id, v, n FROM src.t")})
    shop.ok("apply")
    shop.write({"models/m.sql": keyed("SELECT id, v, n FROM src.t", strategy="hash_merge")})
    document = shop.json("apply", "--forward-only")
    assert document["rows"]["m"] == {"inserted": 0, "updated": 0, "deleted": 0}
    assert shop.query("SELECT count(*), count(_hash) FROM m") == [[3, 3]]
    shop.load("UPDATE t SET v = 'x' WHERE id = 1")
    document = shop.json("run")
    assert document["rows"]["m"] == {"inserted": 0, "updated": 1, "deleted": 0}


@pytest.mark.parametrize(
    ("before", "after"), [("merge", "scd"), ("scd", "merge"), ("hash_merge", "merge"), ("merge", "full_merge")]
)
def test_02_13_another_strategy_is_refused_at_plan(shop, before, after):
    shop.write({"models/m.sql": keyed(strategy=before)})
    shop.ok("apply")
    shop.write({"models/m.sql": keyed(strategy=after)})
    for command in ("plan", "apply"):
        result = shop.fails(command, "--forward-only")
        assert f"strategy {before}" in result.stderr
        assert after in result.stderr
    shop.ok("apply", "--force")


# --- What it touches, and what it shows --------------------------------------------------------------------------------


def test_03_8_2_a_model_that_replaces_ignores_the_flag(shop):
    shop.write({"models/m.sql": "SELECT id FROM src.t", "models/n.sql": keyed()})
    shop.ok("apply")
    shop.write(
        {
            "models/m.sql": "SELECT id + 1 AS id FROM src.t",
            "models/n.sql": keyed("SELECT id, v FROM src.t WHERE id < 3"),
        }
    )
    document = shop.json("plan", "--forward-only")
    assert {c["name"]: c["category"] for c in document["changes"]} == {"m": "breaking", "n": "forward_only"}
    shop.fails("apply", "--forward-only")
    shop.ok("apply", "--forward-only", "--force")
    assert shop.query("SELECT (SELECT max(id) FROM m), (SELECT count(*) FROM n)") == [[4, 3]]


def test_02_13_what_is_new_is_built_as_without_the_flag(shop):
    shop.write({"models/m.sql": keyed()})
    assert change_of(shop, "--forward-only") is None
    shop.ok("apply", "--forward-only")
    assert shop.query("SELECT count(*) FROM m") == [[3]]


def test_02_13_the_plan_shows_it(shop):
    shop.write({"models/m.sql": keyed()})
    shop.ok("apply")
    shop.write({"models/m.sql": keyed("SELECT id, v FROM src.t WHERE id < 3")})
    shown = shop.ok("plan", "--forward-only", "--explain").stdout
    assert "forward_only" in shown
    assert "copy + run" in shown
    assert "--force" not in shown
    assert "its rows are copied" in shown
    assert "copy + run" in shop.ok("plan", "--forward-only", "--markdown").stdout
    assert "copy + run" in shop.ok("apply", "--forward-only", "--dry-run").stdout
    assert len(tables(shop)) == 1


def test_02_13_a_version_of_another_environment_has_another_history(shop):
    shop.write({"models/m.sql": keyed()})
    shop.ok("apply")
    shop.load("DELETE FROM t WHERE id = 3")
    shop.write({"models/m.sql": keyed("SELECT id, upper(v) AS v FROM src.t")})
    shop.ok("apply", "-e", "dev")
    assert change_of(shop, "--forward-only") == "forward_only"
    shop.ok("apply", "--forward-only")
    assert shop.query("SELECT v FROM m ORDER BY id") == [["A"], ["B"], ["c"]]
    assert shop.query("SELECT v FROM m ORDER BY id", env="dev") == [["A"], ["B"]]


def test_02_13_types_of_an_upstream_that_changes_too_are_known_to_plan(shop):
    shop.write({"models/m.sql": keyed("SELECT id, v AS x FROM up"), "models/up.sql": "SELECT id, n AS v FROM src.t"})
    shop.ok("apply")
    shop.write({"models/up.sql": "SELECT id, v FROM src.t"})
    assert "x (INTEGER to VARCHAR)" in shop.fails("plan", "--forward-only").stderr
    shop.write(
        {"models/up.sql": "SELECT id, n AS v, v AS w FROM src.t", "models/m.sql": keyed("SELECT id, v AS x, w FROM up")}
    )
    shop.ok("plan", "--forward-only")
    shop.ok("apply", "--forward-only", "--force")
    assert shop.query("SELECT w FROM m ORDER BY id") == [["a"], ["b"], ["c"]]


def test_02_13_a_table_that_is_gone_has_no_history(shop):
    shop.write({"models/m.sql": keyed()})
    shop.ok("apply")
    old = live_table(shop)
    with shop.warehouse(WAREHOUSE, read_only=False) as connection:
        connection.execute(f'DROP VIEW m; DROP TABLE interlace__main."{old}"')
    shop.write({"models/m.sql": keyed("SELECT id, v FROM src.t WHERE id < 3")})
    for command in ("plan", "apply"):
        assert "is not in the warehouse" in shop.fails(command, "--forward-only").stderr


def test_02_13_a_warehouse_that_is_in_use_leaves_it_to_apply(shop):
    shop.write({"models/m.sql": keyed("SELECT id, n FROM src.t")})
    shop.ok("apply")
    shop.write({"models/m.sql": keyed("SELECT id, n::VARCHAR AS n FROM src.t")})
    with shop.warehouse(WAREHOUSE, read_only=False):
        result = shop.ok("plan", "--forward-only")
    assert "only known to apply" in result.stdout + result.stderr
    shop.fails("apply", "--forward-only")


FETCH = """from interlace import model

@model(strategy="merge", key=["id"], cursor="id", columns={{"id": "BIGINT", "v": "{kind}", "seen": "BIGINT"}})
def m(cursor):
    start = cursor or 0
    return [{{"id": start + 1, "v": {value}, "seen": start}}] if start < {limit} else []
"""


def test_02_13_a_python_model_reads_its_cursor_from_the_copied_rows(shop):
    shop.write({"models/m.py": FETCH.format(value='"old"', kind="VARCHAR", limit=9)})
    shop.ok("apply")
    shop.ok("run")
    shop.write({"models/m.py": FETCH.format(value='"new"', kind="VARCHAR", limit=9)})
    shop.ok("apply", "--forward-only")
    assert shop.query("SELECT id, v, seen FROM m ORDER BY id") == [[1, "old", 0], [2, "old", 1], [3, "new", 2]]


def test_02_13_a_python_model_that_finds_nothing_new_keeps_the_copy(shop):
    shop.write({"models/m.py": FETCH.format(value='"old"', kind="VARCHAR", limit=9)})
    shop.ok("apply")
    shop.write({"models/m.py": FETCH.format(value='"new"', kind="VARCHAR", limit=0)})
    shop.ok("apply", "--forward-only")
    assert shop.query("SELECT id, v FROM m") == [[1, "old"]]
    shop.write({"models/m.py": FETCH.format(value="1", kind="BIGINT", limit=9)})
    assert "v (VARCHAR to BIGINT)" in shop.fails("apply", "--forward-only").stderr
    assert shop.query("SELECT id, v FROM m") == [[1, "old"]]
