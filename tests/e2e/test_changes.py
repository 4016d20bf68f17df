"""Change records: what a command changed for readers, told to those who read (spec 04 §8)."""

import shutil

import pytest

SALES = """/* interlace: {strategy: incremental, time_column: ts, interval: 1d, backfill: 2026-08-01} */
SELECT i AS id, i % 3 AS k, 10 AS v, TIMESTAMP '2026-08-01' + INTERVAL (i) HOUR AS ts FROM range(0, 24 * 20) t(i)"""
DAILY = """/* interlace: {strategy: incremental, time_column: day, interval: 1d, backfill: 2026-08-01} */
SELECT date_trunc('day', ts) AS day, sum(v) AS v FROM sales GROUP BY 1"""
BY_K = """/* interlace: {strategy: full_merge, key: k} */
SELECT k, sum(v) AS v FROM sales GROUP BY k"""

AUGUST = ("--start", "2026-08-02", "--end", "2026-08-05")
DAYS = [["2026-08-02T00:00:00", "2026-08-05T00:00:00"]]


@pytest.fixture(scope="module")
def applied_shop(project_class, tmp_path_factory):
    """Applied to prod once; tests get copies."""
    master = project_class(tmp_path_factory.mktemp("changes") / "shop")
    master.write({"models/sales.sql": SALES, "models/daily.sql": DAILY, "models/by_k.sql": BY_K})
    master.ok("apply")
    return master


@pytest.fixture
def shop(applied_shop, project_class, tmp_path):
    shutil.copytree(applied_shop.root, tmp_path / "shop")
    return project_class(tmp_path / "shop", env={"INTERLACE_WHO": "ada@desk"})


def changes(project, *args):
    """Oldest first."""
    return project.json("changes", *args)[::-1]


def brief(records):
    return [(record["kind"], record["environment"], record["model"]) for record in records]


def test_a_restate_tells_periods_rows_note_and_who(shop):
    assert changes(shop) == []
    shop.ok("restate", "-s", "sales+", *AUGUST, "--note", "discount bug")
    records = {record["model"]: record for record in changes(shop)}
    assert set(records) == {"sales", "daily", "by_k"}
    sales = records["sales"]
    assert (sales["kind"], sales["environment"], sales["windows"]) == ("restate", "prod", DAYS)
    assert (sales["rows_before"], sales["rows_after"]) == (72, 72)
    assert (sales["note"], sales["who"], sales["campaign"], sales["biggest"]) == (
        "discount bug",
        "ada@desk",
        None,
        None,
    )
    assert (records["daily"]["windows"], records["daily"]["rows_after"]) == (DAYS, 3)
    assert (records["by_k"]["windows"], records["by_k"]["rows_before"], records["by_k"]["rows_after"]) == ([], 3, 3)


def test_rows_that_come_and_go_are_counted_within_the_windows(shop):
    shop.load("CREATE TABLE s AS SELECT TIMESTAMP '2026-08-01 12:00' + INTERVAL (i) DAY AS ts FROM range(4) t(i)")
    shop.write({"interlace.yaml": "attach: {src: data/src.duckdb}\n"})
    head = SALES.split("\n", maxsplit=1)[0]
    shop.write({"models/late.sql": head + "\nSELECT ts FROM src.main.s"})
    shop.ok("apply")
    shop.load("INSERT INTO s VALUES (TIMESTAMP '2026-08-02 09:00'), (TIMESTAMP '2026-08-04 09:00')")
    shop.load("DELETE FROM s WHERE ts = TIMESTAMP '2026-08-03 12:00'")
    shop.ok("restate", "-s", "late", *AUGUST[:3], "2026-08-04")
    assert [(record["rows_before"], record["rows_after"]) for record in changes(shop)] == [(2, 2)]
    shop.ok("restate", "-s", "late", "--start", "2026-08-04", "--end", "2026-08-05")
    assert [(record["rows_before"], record["rows_after"]) for record in changes(shop)[1:]] == [(1, 2)]


def test_routine_commands_tell_nothing(shop):
    shop.ok("run", "-s", "sales", *AUGUST)
    shop.ok("run")
    shop.write({"models/more.sql": "SELECT 1 AS x"})
    shop.ok("apply")
    shop.ok("apply", "-e", "dev")
    shop.ok("env", "promote", "prod", "staging")
    shop.ok("gc")
    assert changes(shop) == []


def test_with_a_note_routine_commands_are_told_too(shop):
    shop.ok("run", "-s", "sales", "--start", "2026-08-21", "--end", "2026-08-23", "--note", "late file")
    shop.write({"models/more.sql": "SELECT 1 AS x"})
    shop.ok("apply", "--note", "asked for by sales")
    records = changes(shop)
    assert brief(records) == [("run", "prod", "sales"), ("promotion", "prod", "more")]
    assert records[0]["windows"] == [["2026-08-21T00:00:00", "2026-08-23T00:00:00"]]
    assert (records[1]["rows_before"], records[1]["rows_after"]) == (0, 1)


def test_breaking_changes_rollback_and_promote_are_told(shop):
    shop.write({"models/by_k.sql": BY_K.replace("sum(v)", "sum(v + 1)")})
    shop.ok("apply", "--force", "--note", "plus one")
    shop.ok("env", "rollback", "--note", "minus one")
    shop.ok("env", "promote", "prod", "dev")
    shop.write({"models/by_k.sql": BY_K.replace("sum(v)", "sum(v + 2)")})
    shop.ok("apply", "-e", "dev", "--force")
    shop.ok("env", "promote", "dev", "prod", "--note", "tried in dev")
    records = changes(shop)
    assert brief(records) == [
        ("promotion", "prod", "by_k"),
        ("rollback", "prod", "by_k"),
        ("promotion", "dev", "by_k"),
        ("promotion", "prod", "by_k"),
    ]
    assert [record["note"] for record in records] == ["plus one", "minus one", None, "tried in dev"]


def test_a_forward_only_change_is_told_with_its_note(shop):
    shop.write({"models/by_k.sql": BY_K.replace("sum(v)", "sum(v + 1)")})
    shop.ok("apply", "--forward-only", "--note", "from now on")
    (record,) = changes(shop)
    assert (record["kind"], record["model"], record["note"]) == ("forward_only", "by_k", "from now on")
    assert (record["rows_before"], record["rows_after"]) == (3, 3)


def test_a_sandbox_is_told_apart(shop):
    shop.ok("apply", "-e", "dev")
    shop.ok("restate", "-e", "dev", "-s", "sales", *AUGUST)
    (record,) = changes(shop)
    assert (record["environment"], record["windows"], record["rows_before"]) == ("dev", DAYS, 72)
    assert changes(shop, "--env", "prod") == []


def test_what_is_listed_can_be_narrowed(shop):
    shop.ok("restate", "-s", "sales+", *AUGUST, env={"INTERLACE_NOW": "2026-11-02T08:00:00"})
    shop.ok("restate", "-s", "sales", *AUGUST, env={"INTERLACE_NOW": "2026-11-03T08:00:00"})
    assert brief(changes(shop, "--model", "SALES")) == [("restate", "prod", "sales")] * 2
    assert len(changes(shop, "--since", "2026-11-03")) == 1
    assert len(changes(shop, "--limit", "2")) == 2
    assert "unknown model 'salse'" in shop.fails("changes", "--model", "salse").stderr
    shop.fails("changes", "--since", "yesterday", code=2)
    shop.write({"models/by_k.sql": None})
    shop.ok("apply", "--force")
    assert len(changes(shop, "--model", "by_k")) == 1  # a model that is gone keeps its history


# --- What dies when


def test_a_restate_that_fails_tells_what_readers_see(shop):
    """Two of three days are committed in place; the promotion never happens."""
    hook = {"INTERLACE_HOOK": "build.written=fail@3"}
    shop.fails("restate", "-s", "sales", *AUGUST, "--batch", "1", env=hook)
    (record,) = changes(shop)
    assert record["windows"] == [["2026-08-02T00:00:00", "2026-08-04T00:00:00"]]
    assert (record["rows_before"], record["rows_after"]) == (48, 48)


def test_a_restate_of_a_copy_that_fails_changed_nothing(shop):
    shop.ok("apply", "-e", "dev")
    hook = {"INTERLACE_HOOK": "build.written=fail@3"}
    shop.fails("restate", "-e", "dev", "-s", "sales", *AUGUST, "--batch", "1", env=hook)
    assert changes(shop) == []


KILLS = [
    ("build.written=kill@2", [["2026-08-02T00:00:00", "2026-08-03T00:00:00"]]),
    ("apply.before_promotion=kill", DAYS),
    ("state.intent_begun=kill", DAYS),
    ("promotion.moved=kill", DAYS),
    ("state.intent_committed=kill", DAYS),
]


@pytest.mark.parametrize(("hook", "windows"), KILLS, ids=[hook for hook, _ in KILLS])
def test_a_killed_restate_is_told_once(shop, hook, windows):
    args = ("restate", "-s", "sales", *AUGUST, "--batch", "1", "--note", "bug")
    assert shop.run(*args, env={"INTERLACE_HOOK": hook}).code == -9
    shop.ok("gc")
    (record,) = changes(shop)
    assert (record["windows"], record["note"]) == (windows, "bug")
    shop.ok("run")
    assert len(changes(shop)) == 1


ROLLBACK_KILLS = [("state.intent_begin=kill", 0), ("promotion.intended=kill", 1), ("state.intent_committed=kill", 1)]


@pytest.mark.parametrize(("hook", "count"), ROLLBACK_KILLS, ids=[hook for hook, _ in ROLLBACK_KILLS])
def test_a_killed_rollback_is_told_once(shop, hook, count):
    shop.write({"models/by_k.sql": BY_K.replace("sum(v)", "sum(v + 1)")})
    shop.ok("apply", "--force")
    before = len(changes(shop))
    assert shop.run("env", "rollback", env={"INTERLACE_HOOK": hook}).code == -9
    assert len(changes(shop)) == before + count
    shop.ok("run", "-s", "by_k")
    assert [record["kind"] for record in changes(shop)[before:] if record["kind"] == "rollback"] == ["rollback"] * count


# --- The warehouse's table


def table(project, columns="id"):
    return [
        row[0] if len(row) == 1 else row
        for row in project.query(f"SELECT {columns} FROM interlace.changes ORDER BY id")
    ]


def test_the_warehouse_has_a_table_of_them(shop):
    shop.ok("restate", "-s", "sales", *AUGUST, "--note", "it's a 'bug'")
    shop.ok("restate", "-s", "by_k")
    columns = "kind, environment, model, rows_before, rows_after, note, who, campaign"
    assert table(shop, columns) == [
        ["restate", "prod", "sales", 72, 72, "it's a 'bug'", "ada@desk", None],
        ["restate", "prod", "by_k", 3, 3, None, "ada@desk", None],
    ]
    told = "SELECT model, w.start::DATE, w.end::DATE FROM interlace.changes AS c, unnest(c.windows) AS u(w)"
    assert shop.query(told) == [["sales", "2026-08-02", "2026-08-05"]]
    (moment,) = {record["at"] for record in changes(shop, "--limit", "1")}
    assert table(shop, "strftime(changed_at, '%Y-%m-%dT%H:%M:%S.%fZ')")[1] == moment


def test_no_change_makes_no_table(shop):
    shop.ok("run")
    assert shop.sql("SELECT count(*) FROM duckdb_schemas() WHERE schema_name = 'interlace'") == [(0,)]


def test_a_dropped_table_is_made_anew_and_gc_and_reset_leave_it(shop):
    for _ in range(2):
        shop.ok("restate", "-s", "by_k")
    with shop.warehouse(read_only=False) as connection:
        connection.execute("DROP SCHEMA interlace CASCADE")
    shop.ok("gc", "--grace", "0d")
    assert table(shop) == [1, 2]
    with shop.warehouse(read_only=False) as connection:
        connection.execute("DELETE FROM interlace.changes WHERE id = 1")
    shop.ok("restate", "-s", "by_k")
    assert table(shop) == [1, 2, 3]


@pytest.mark.parametrize("hook", ["changes.publish=kill", "changes.published=kill"])
def test_a_kill_before_or_after_the_table_is_made_good_by_the_next_command(shop, hook):
    shop.ok("restate", "-s", "by_k")
    assert shop.run("restate", "-s", "by_k", env={"INTERLACE_HOOK": hook}).code == -9
    shop.ok("apply")
    assert table(shop) == [1, 2]


def test_a_table_that_cannot_be_written_fails_no_command(shop):
    shop.ok("restate", "-s", "by_k")
    with shop.warehouse(read_only=False) as connection:
        connection.execute("DROP TABLE interlace.changes; CREATE VIEW interlace.changes AS SELECT 1 AS id WHERE false")
    result = shop.ok("restate", "-s", "by_k")
    assert "interlace.changes of the warehouse is not up to date" in result.stderr
    assert len(changes(shop)) == 2


def test_a_lake_has_the_table_too(shop):
    shutil.rmtree(shop.root / ".interlace")
    shop.write({"interlace.yaml": "name: shop\ndatabase: ducklake:data/lake.ducklake\n"})
    shop.ok("apply")
    shop.ok("restate", "-s", "sales+", *AUGUST)
    shop.ok("restate", "-s", "sales", *AUGUST)
    assert table(shop, "model, len(windows)") == [["sales", 1], ["by_k", 0], ["daily", 1], ["sales", 1]]
