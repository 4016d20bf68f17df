"""Campaigns: the past computed anew beside what readers see, and published in one step (spec 04 §4, §5, §7, §10)."""

import contextlib
import datetime
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import time

import duckdb
import pytest

NOW = "2026-10-29T00:00:00Z"
SANITIZED = os.environ.get("INTERLACE_SANITIZED") == "1"
KILLS = int(os.environ.get("INTERLACE_PROPERTY_EXAMPLES", "6"))
CONFIG = "name: shop\ndatabase: {database}\nattach: {{src: data/src.duckdb}}\ntimezone: UTC\n"
SALES = """\
/* interlace: {{strategy: incremental, time_column: sales_date, interval: 1d, backfill: 2026-07-01{keys}}} */
SELECT CAST(o.ordered_at AS DATE) AS sales_date, o.shop, count(*) AS orders, sum(o.amount * (100 - o.discount)) AS revenue
FROM src.orders AS o GROUP BY ALL
"""
DAYS = """\
/* interlace: {strategy: incremental, time_column: day, interval: 1d} */
SELECT sales_date AS day, sum(revenue) AS revenue, sum(orders) AS orders FROM fct_daily_sales GROUP BY ALL
"""
SHOPS = """\
/* interlace: {strategy: replace} */
SELECT shop, sum(revenue) AS revenue FROM sales_of_shops GROUP BY ALL
"""
VIEW = """\
/* interlace: {materialise: view} */
SELECT shop, sales_date, revenue FROM fct_daily_sales
"""
RANGE = ("--start", "2026-08-01", "--end", "2026-10-29")
ALL = ("-s", "fct_daily_sales+", *RANGE)
TABLES = {
    "fct_daily_sales": "sales_date, shop",
    "sales_by_day": "day",
    "top_shops": "shop",
    "sales_of_shops": "shop, sales_date",
}


class Shop:
    """A project over generated orders, a few for each day since the first of July."""

    def __init__(self, project, database="data/wh.duckdb", keys=""):
        self.project, self.is_lake = project, database.startswith("ducklake:")
        self.warehouse = project.root / database  # of a file
        self.environment = "prod"
        project.env["INTERLACE_NOW"] = NOW
        project.write(
            {
                "interlace.yaml": CONFIG.format(database=database),
                "models/fct_daily_sales.sql": SALES.format(keys=keys),
                "models/sales_by_day.sql": DAYS,
                "models/sales_of_shops.sql": VIEW,
                "models/top_shops.sql": SHOPS,
                "data/.keep": "",
            }
        )
        self.change(
            "CREATE TABLE orders AS SELECT i AS id, TIMESTAMP '2026-07-01' + to_minutes(i * 97) AS ordered_at,"
            " i % 5 AS shop, i % 90 + 10 AS amount, CASE WHEN i % 7 = 0 THEN 10 ELSE 0 END AS discount"
            " FROM range(1780) AS t(i)"
        )

    def change(self, sql):
        with duckdb.connect(str(self.project.root / "data/src.duckdb")) as connection:
            connection.execute(sql)

    def correct(self):
        """The discounts since August were twice as high."""
        self.change("UPDATE orders SET discount = discount * 2 WHERE ordered_at >= TIMESTAMP '2026-08-01'")

    def rows(self, environment=None):
        """What readers of the environment see."""
        of = environment or self.environment
        texts = {name: f"SELECT * FROM {name} ORDER BY {order}" for name, order in TABLES.items()}
        if self.is_lake:
            return {name: self.project.query(text, env=of) for name, text in texts.items()}
        with duckdb.connect(str(self.warehouse), read_only=True) as connection:
            connection.execute(f"USE {'main' if of == 'prod' else of + '__main'}")
            return {name: connection.execute(text).fetchall() for name, text in texts.items()}

    def is_like(self, rows):
        """The same as read from a DuckDB file, in the spelling of `query --json`."""

        def spelled(row):
            return [str(cell) if isinstance(cell, datetime.date) else cell for cell in row]

        return self.rows() == {name: [spelled(row) for row in table] for name, table in rows.items()}

    def start(self, *args, **options):
        return self.project.ok("backfill", "start", "-e", self.environment, *ALL, "--json", *args, **options).json

    def state(self, campaign=1):
        return self.project.ok("backfill", "status", campaign, "--json").json["state"]

    def tries(self, campaign=1):
        """How often batches were tried."""
        with contextlib.closing(sqlite3.connect(self.project.root / ".interlace/state.db")) as state:
            rows = state.execute("SELECT DISTINCT attempts FROM campaign_batches WHERE campaign = ?", [campaign])
            return {attempts for (attempts,) in rows}

    def cannot_go_on(self, why):
        """With the campaign, which is then discarded."""
        refused = self.project.run("backfill", "publish", 1)
        assert refused.code == 1
        assert f"campaign 1 cannot go on: {why}" in refused.stderr
        self.project.ok("backfill", "discard", 1)
        assert self.relations() == []

    def survives_a_kill(self, verb, hook, old, new, is_edited=False):
        """Of the publication of `new`, or of its revert: all of it was done or nothing, and the rest can be done."""
        name, _, count = hook.partition("@")
        if verb == "revert":
            self.project.ok("backfill", "publish", 1)
        killed = self.project.run("backfill", verb, 1, env={"INTERLACE_HOOK": f"{name}=kill@{count or 1}"})
        assert killed.code == -signal.SIGKILL
        before, after = (old, new) if verb == "publish" else (new, old)
        states = ("audited", "published") if verb == "publish" else ("published", "reverted")
        rows = self.rows()
        assert rows in (before, after)
        changes = self.project.ok("plan", "-e", self.environment, "--json").json["changes"]  # which recovers
        state = self.state()
        assert state in states
        assert self.rows() == rows == (after if state == states[1] else before)
        assert (changes == []) == (not is_edited or rows == new)
        if state == states[0]:
            self.project.ok("backfill", verb, 1)
            assert self.rows() == after
        told = self.project.ok("changes", "--json", "-e", self.environment, "--model", "top_shops").json
        assert [change["kind"] for change in told] == {"publish": ["publication"], "revert": ["revert", "publication"]}[
            verb
        ]

    def publish_and_revert_beside_gc(self):
        self.project.ok("gc", "--grace", "0d")
        self.project.ok("backfill", "publish", 1)
        self.project.ok("gc", "--grace", "1d")
        self.project.ok("backfill", "revert", 1)

    def ask_state(self, sql):
        path = self.project.root / ".interlace/state.db"
        with contextlib.closing(sqlite3.connect(path)) as state:
            return state.execute(sql).fetchone()[0]

    def campaigns(self):
        return self.ask_state("SELECT count(*) FROM campaigns")

    def tries_too_many(self):
        return self.ask_state("SELECT sum(attempts - 1) FROM campaign_batches")

    def wait_until_at_work(self, campaign=1):
        """A batch of the first model is done."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            status = self.project.run("backfill", "status", campaign, "--json")
            if status.code == 0 and status.json["models"][0]["done"] > 0:
                return
        pytest.fail("no batch was done in time")

    def relations(self):
        """Names of a campaign's relations in the warehouse."""
        with duckdb.connect(str(self.warehouse), read_only=True) as connection:
            names = connection.execute(
                "SELECT table_name FROM duckdb_tables() UNION SELECT view_name FROM duckdb_views()"
            )
            return sorted(name for (name,) in names.fetchall() if name.endswith(("_1", "_2")))


@pytest.fixture
def shop(project):
    shop = Shop(project)
    project.ok("apply")
    return shop


def fresh_rows(make_project, source):
    """What a first build over the corrected source gives."""
    other = Shop(make_project(name="fresh"))
    (other.project.root / "data/src.duckdb").write_bytes((source.project.root / "data/src.duckdb").read_bytes())
    other.project.ok("apply")
    return other.rows()


# ---- The way as told.


def test_04_10_1_what_a_campaign_made_is_seen_when_it_is_published_and_not_before(shop, make_project):
    old = shop.rows()
    shop.correct()
    plan = shop.project.ok("backfill", "plan", *ALL, "--json").json
    assert {model["name"]: model["takes_part"] for model in plan["models"]} == {
        "fct_daily_sales": "windowed",
        "sales_by_day": "windowed",
        "sales_of_shops": "view",
        "top_shops": "whole",
    }
    assert [model["windows"] for model in plan["models"]] == [89, 89, 0, 0]
    assert shop.project.ok("backfill", "list").stdout.startswith("No campaigns yet")

    assert shop.start("--note", "discount rule fixed")["state"] == "audited"
    assert shop.rows() == old
    assert shop.project.ok("backfill", "publish", 1, "--json").json["state"] == "published"
    new = fresh_rows(make_project, shop)
    assert new != old
    assert shop.rows() == new
    changes = shop.project.ok("changes", "--json", "--model", "fct_daily_sales").json
    assert [(change["kind"], change["note"], change["campaign"]) for change in changes] == [
        ("publication", "discount rule fixed", 1)
    ]
    assert changes[0]["biggest"]["measure"] == "revenue"
    assert changes[0]["biggest"]["new"] < changes[0]["biggest"]["old"]
    assert shop.project.ok("plan").stdout.strip() == "No changes for prod."
    shop.project.ok("run")
    assert shop.rows() == new


@pytest.mark.parametrize("batch", ["7", "auto"] if SANITIZED else ["1", "7", "auto"])
@pytest.mark.parametrize("order", ["oldest", "newest"])
def test_04_10_1_batches_and_their_order_do_not_change_what_is_made(shop, make_project, batch, order):
    shop.correct()
    status = shop.start("--batch", batch, "--order", order, "--concurrency", "4", "--publish", "auto", "--note", "x")
    assert status["state"] == "published"
    assert status["models"][0]["batches"] == {"1": 89, "7": 13, "auto": 1}[batch]
    assert shop.rows() == fresh_rows(make_project, shop)


GROWTH = """\
/* interlace: {strategy: incremental, time_column: day, interval: 1d} */
SELECT f.sales_date AS day, sum(f.revenue) AS revenue, sum(before.revenue) AS revenue_before
FROM fct_daily_sales AS f LEFT JOIN fct_daily_sales AS before
ON before.sales_date = f.sales_date - 1 AND before.shop = f.shop
GROUP BY ALL
"""
INLINED = """\
/* interlace: {materialise: ephemeral} */
SELECT sales_date + 1 AS day_after, revenue FROM fct_daily_sales
"""
BESIDE = """\
/* interlace: {strategy: incremental, time_column: day, interval: 1d} */
SELECT f.sales_date AS day, sum(f.revenue) AS revenue,
    (SELECT sum(y.revenue) FROM yesterday AS y WHERE y.day_after = f.sales_date) AS revenue_before
FROM fct_daily_sales AS f GROUP BY ALL
"""


def test_04_5_a_batch_waits_for_all_that_it_reads_of_its_upstream(shop, make_project):
    """It looks at the day before: in the same query twice, and by way of an inlined one."""
    models = {"models/growth.sql": GROWTH, "models/yesterday.sql": INLINED, "models/beside.sql": BESIDE}
    shop.project.write(models)
    shop.project.ok("apply")
    shop.correct()
    shop.start("--batch", "1", "--order", "newest", "--concurrency", "4", "--publish", "auto", "--note", "x")
    other = Shop(make_project(name="fresh"))
    other.project.write(models)
    (other.project.root / "data/src.duckdb").write_bytes((shop.project.root / "data/src.duckdb").read_bytes())
    other.project.ok("apply")
    for name in ("growth", "beside"):
        query = f"SELECT * FROM {name} ORDER BY day"
        assert shop.project.query(query) == other.project.query(query)


def test_04_10_1_a_lake_does_the_same(project, make_project):
    lake = Shop(project, database="ducklake:data/lake.ducklake")
    project.ok("apply")
    old = lake.rows()
    lake.correct()
    assert lake.start("--batch", "10", "--concurrency", "4", "--note", "x")["state"] == "audited"
    assert lake.rows() == old
    project.ok("backfill", "publish", 1)
    assert lake.is_like(fresh_rows(make_project, lake))
    project.ok("backfill", "revert", 1)
    assert lake.rows() == old


def test_04_10_1_readers_see_all_old_or_all_new(shop):
    """Asked within the process, over all tables at once, while the campaign works and publishes."""
    seen = shop.project.root / "seen.txt"
    sums = ", ".join(f"(SELECT CAST(sum(revenue) AS BIGINT) FROM {name})" for name in TABLES)
    shop.correct()
    env = {"INTERLACE_POLL_SQL": f"SELECT {sums}", "INTERLACE_POLL_FILE": str(seen)}
    shop.start("--batch", "10", "--publish", "auto", "--note", "x", env=env)
    answers = [line.split(",") for line in seen.read_text().splitlines()]
    assert len(answers) == 2, answers
    assert all(len(set(answer)) == 1 for answer in answers), answers


# ---- Interrupted.

HOOKS = ["campaign.created", "campaign.area", "campaign.batch@5", "build.written@5", "build.committed@5", "build.ledger@5",
         "campaign.batch_done@5", "campaign.seal"]  # fmt: skip


@pytest.mark.parametrize("hook", HOOKS)
def test_04_10_2_a_killed_campaign_is_resumed_where_it_was(shop, make_project, hook):
    shop.correct()
    name, _, count = hook.partition("@")
    env = {"INTERLACE_HOOK": f"{name}=kill@{count or 1}"}
    old = shop.rows()
    killed = shop.project.run("backfill", "start", *ALL, "--batch", "10", "--note", "x", env=env)
    assert killed.code == -signal.SIGKILL
    assert shop.rows() == old
    assert shop.state() == "running"
    status = shop.project.ok("backfill", "resume", 1, "--json").json
    assert status["state"] == "audited"
    assert all(model["done"] == model["batches"] for model in status["models"])
    # What was done before the kill was not begun again: a batch that ran then has left no try of its own.
    assert shop.tries() == {1}
    shop.project.ok("backfill", "publish", 1)
    assert shop.rows() == fresh_rows(make_project, shop)


def test_04_10_2_kills_at_random_moments_lose_no_batch(shop, make_project):
    shop.correct()
    moments, kills = random.Random(4102), KILLS
    start = ("start", *ALL, "--batch", "2", "--note", "x")
    for n in range(kills):
        working = shop.project.spawn("backfill", *(start if shop.campaigns() == 0 else ("resume", 1)))
        with contextlib.suppress(subprocess.TimeoutExpired):
            working.wait(moments.uniform(0.1, 0.8) * (3 if SANITIZED else 1))
        working.kill()
        working.communicate()
        if shop.campaigns() == 1 and shop.state() != "running":
            break
        assert shop.campaigns() <= 1, n
    if shop.state() == "running":
        shop.project.ok("backfill", "resume", 1)
    assert shop.state() == "audited"
    # One of each model is at work at a time: no kill costs more than these.
    assert shop.tries_too_many() <= 3 * kills
    shop.project.ok("backfill", "publish", 1)
    assert shop.rows() == fresh_rows(make_project, shop)


def test_04_5_a_full_disk_in_the_middle_loses_nothing(project, make_project, small_disk):
    shop = Shop(project, database=f"{small_disk}/wh.duckdb")
    project.ok("apply")
    old = shop.rows()
    shop.correct()
    started = project.spawn(
        "backfill", "start", *ALL, "--batch", "10", "--note", "x", env={"INTERLACE_HOOK": "campaign.batch=wait:300"}
    )
    shop.wait_until_at_work()
    filler = small_disk / "filler"
    with pytest.raises(OSError), filler.open("wb", buffering=0) as file:  # noqa: PT012
        while True:
            file.write(b"x" * 65536)
    _, stderr = started.communicate(timeout=120)
    assert started.returncode == 1
    assert "campaign 1" in stderr
    assert shop.rows() == old
    filler.unlink()
    assert project.ok("backfill", "resume", 1, "--json").json["state"] == "audited"
    project.ok("backfill", "publish", 1)
    assert shop.rows() == fresh_rows(make_project, shop)


@pytest.mark.parametrize("now", ["2026-08-15T00:00:00Z", "2031-01-01T00:00:00Z"])
def test_04_5_a_clock_that_jumps_changes_no_window(shop, make_project, now):
    shop.correct()
    killed = shop.project.run(
        "backfill", "start", *ALL, "--batch", "10", "--note", "x", env={"INTERLACE_HOOK": "campaign.batch=kill@5"}
    )
    assert killed.code == -signal.SIGKILL
    jumped = {"INTERLACE_NOW": now}
    status = shop.project.ok("backfill", "resume", 1, "--json", env=jumped).json
    assert status["state"] == "audited"
    assert status["range"] == ["2026-08-01T00:00:00", "2026-10-29T00:00:00"]
    shop.project.ok("backfill", "publish", 1, env=jumped)
    assert shop.rows() == fresh_rows(make_project, shop)


@pytest.mark.parametrize("hook", ["campaign.publishing", "campaign.replaced@2", "campaign.committed", "state.commit@3"])
@pytest.mark.parametrize("verb", ["publish", "revert"])
def test_04_7_a_publication_that_was_killed_is_whole_or_undone(shop, make_project, hook, verb):
    old = shop.rows()
    shop.correct()
    shop.start("--batch", "30", "--note", "x")
    new = fresh_rows(make_project, shop)
    shop.survives_a_kill(verb, hook, old, new)


def test_04_5_another_terminal_pauses_and_cancels(shop):
    shop.correct()
    env = {"INTERLACE_HOOK": "campaign.batch=wait:100"}
    for verb, state in (("pause", "paused"), ("cancel", "cancelled")):
        started = shop.project.spawn("backfill", "start", *ALL, "--batch", "3", "--note", "x", env=env)
        campaign = {"pause": 1, "cancel": 2}[verb]
        shop.wait_until_at_work(campaign)
        assert shop.project.ok("backfill", verb, campaign, "--json").json["state"] == state
        _, stderr = started.communicate(timeout=60)
        assert started.returncode == 1
        assert f"campaign {campaign} was {state} by another command" in stderr
        if verb == "pause":
            assert shop.project.ok("backfill", "resume", campaign, "--json").json["state"] == "audited"
            shop.project.ok("backfill", "discard", campaign)
    assert shop.relations() == []


def test_04_5_progress_is_told_as_lines_of_json(shop):
    shop.correct()
    started = shop.project.ok("backfill", "start", *ALL, "--batch", "30", "--note", "x", "--json=lines")
    lines = [json.loads(line) for line in started.stdout.splitlines()]
    assert {"start", "window", "done", "summary"} == {line["event"] for line in lines}
    windows = [line for line in lines if line["event"] == "window" and line["model"] == "fct_daily_sales"]
    assert [(line["done"], line["total"]) for line in windows] == [(30, 89), (60, 89), (89, 89)]
    done = {line["model"]: line["rows"] for line in lines if line["event"] == "done"}
    assert set(done) == {"fct_daily_sales", "sales_by_day", "top_shops"}
    assert done["sales_by_day"] == {"inserted": 89, "updated": 0, "deleted": 0}
    assert (lines[-1]["id"], lines[-1]["state"]) == (1, "audited")
    for args, why in ((ALL, "campaign 1 is under way"), (("--plan", "nope"), "there is no plan 'nope'")):
        refused = shop.project.run("backfill", "start", *args, "--note", "y", "--json=lines")
        assert refused.code == 1
        [line] = [json.loads(line) for line in refused.stdout.splitlines()]
        assert why in line["error"]["message"]


def test_04_5_ctrl_c_pauses(shop):
    env = {"INTERLACE_HOOK": "campaign.batch=wait:100"}
    started = shop.project.spawn("backfill", "start", *ALL, "--batch", "3", "--note", "x", env=env)
    shop.wait_until_at_work()
    os.kill(started.pid, signal.SIGINT)
    _, stderr = started.communicate(timeout=60)
    assert started.returncode == 130
    assert "campaign 1 is paused; nothing is published" in stderr
    assert shop.state() == "paused"
    assert shop.project.ok("backfill", "resume", 1, "--json").json["state"] == "audited"


def test_04_5_batches_begin_within_the_hours_and_the_warehouse_is_free_between_them(shop):
    old = shop.rows()
    shop.correct()
    started = shop.project.spawn("backfill", "start", *ALL, "--hours", "06:00-22:00", "--note", "x")
    for line in started.stderr:
        if "campaign 1 waits for its hours (06:00-22:00)" in line:
            break
    assert shop.state() == "running"
    assert shop.rows() == old  # the warehouse can be opened, also by those who write:
    shop.project.ok("run", "-s", "sales_by_day")
    shop.project.ok("backfill", "pause", 1)
    _, stderr = started.communicate(timeout=60)
    assert started.returncode == 1
    assert "campaign 1 was paused by another command" in stderr
    assert {model["done"] for model in shop.project.ok("backfill", "status", 1, "--json").json["models"]} == {0}
    by_day = {"INTERLACE_NOW": "2026-10-29T12:00:00Z"}
    assert shop.project.ok("backfill", "resume", 1, "--json", env=by_day).json["state"] == "audited"


def test_04_5_a_campaign_goes_on_by_itself_when_its_hours_begin(shop):
    del shop.project.env["INTERLACE_NOW"]
    shop.correct()
    now = datetime.datetime.now(datetime.timezone.utc)
    first, last = (f"{now + datetime.timedelta(seconds=after):%H:%M:%S}" for after in (4, 3600))
    shop.project.ok("backfill", "start", *ALL, "--hours", f"{first}-{last}", "--note", "x")
    assert datetime.datetime.now(datetime.timezone.utc) - now > datetime.timedelta(seconds=3)
    assert shop.state() == "audited"


# ---- What stands in the way.


def test_04_10_4_a_failing_check_stops_at_its_window_and_nothing_is_seen(project):
    shop = Shop(project, keys=", checks: [{range: {column: revenue, min: 0}}]")
    project.ok("apply")
    old = shop.rows()
    shop.correct()
    bad = datetime.date(2026, 8, 1) + datetime.timedelta(days=39)
    shop.change(f"UPDATE orders SET amount = -100000 WHERE CAST(ordered_at AS DATE) = DATE '{bad}'")
    until = ("-s", "fct_daily_sales+", "--start", "2026-08-01", "--end", "2026-09-20")
    failed = project.run("backfill", "start", *until, "--batch", "1", "--note", "x")
    assert failed.code == 1
    status = project.ok("backfill", "status", 1, "--json").json
    assert status["state"] == "failed"
    assert [failure["window"][0][:10] for failure in status["failures"]] == [str(bad)]
    assert "range" in status["failures"][0]["error"]
    assert shop.rows() == old
    done = status["models"][0]["done"]
    shop.change(f"UPDATE orders SET amount = 20 WHERE CAST(ordered_at AS DATE) = DATE '{bad}'")
    assert project.ok("backfill", "resume", 1, "--json").json["state"] == "audited"
    assert done == 49  # the others went on; resume did the rest
    project.ok("backfill", "publish", 1)
    with duckdb.connect(str(project.root / "data/src.duckdb")) as connection:
        [(revenue,)] = connection.execute(
            "SELECT CAST(sum(amount * (100 - discount)) AS BIGINT) FROM orders WHERE ordered_at < TIMESTAMP '2026-09-20'"
        ).fetchall()
    assert project.query(
        "SELECT CAST(sum(revenue) AS BIGINT) FROM fct_daily_sales WHERE sales_date < '2026-09-20'"
    ) == [[revenue]]


def test_04_10_5_a_read_of_the_clock_is_refused_with_its_place(shop):
    sql = SALES.format(keys="").replace("o.shop, count", "o.shop, today() - CAST(o.ordered_at AS DATE) AS age, count")
    shop.project.write({"models/fct_daily_sales.sql": sql})
    shop.project.ok("apply", "--force")
    refused = shop.project.run("backfill", "plan", *ALL)
    assert refused.code == 1
    (line,) = refused.error_lines
    assert "models/fct_daily_sales.sql:2:" in line
    assert "reads the clock" in line


def test_04_10_6_what_the_source_no_longer_has_is_said_before(shop):
    shop.change("DELETE FROM orders WHERE ordered_at < TIMESTAMP '2026-09-01'")
    plan = shop.project.ok("backfill", "plan", *ALL)
    assert "missing before 2026-09-01" in plan.stdout
    assert "note: fct_daily_sales: 'src.orders' has no rows before 2026-09-01" in plan.stdout
    reads = shop.project.ok("backfill", "plan", *ALL, "--json").json["models"][0]["reads"]
    assert reads == [
        {
            "upstream": "src.orders",
            "time_column": "ordered_at",
            "min": reads[0]["min"],
            "max": reads[0]["max"],
            "missing_before": "2026-09-01",
            "pruned": True,
        }
    ]


def test_04_10_7_append_is_refused_and_what_is_left_stale_is_listed(shop):
    header = "/* interlace: {strategy: append, materialise: table, target: out.log} */"
    shop.project.write(
        {
            "models/log.sql": f"{header} SELECT * FROM fct_daily_sales",
            "interlace.yaml": CONFIG.format(database="data/wh.duckdb").replace("}\n", ", out: data/out.duckdb}\n"),
        }
    )
    duckdb.connect(str(shop.project.root / "data/out.duckdb")).close()
    shop.project.ok("apply")
    refused = shop.project.run("backfill", "start", *ALL, "--note", "x")
    assert refused.code == 1
    assert "model 'log' cannot take part: strategy append: a repeat doubles its rows" in refused.stderr
    assert shop.project.ok("backfill", "list", "--json").json == []
    plan = shop.project.ok("backfill", "plan", "-s", "fct_daily_sales", *RANGE, "--json").json
    assert plan["left_stale"] == ["log", "sales_by_day", "top_shops"]
    stale = shop.project.run("backfill", "plan", "-s", "fct_daily_sales", *RANGE, "--no-stale")
    assert stale.code == 1
    assert "error: left stale: log, sales_by_day, top_shops" in stale.stderr
    assert shop.start("--allow-refused", "--note", "x")["state"] == "audited"


def test_04_10_8_a_routine_run_between_audit_and_publication_stops_it(shop, make_project):
    shop.correct()
    shop.start("--batch", "1", "--note", "x")
    shop.change("UPDATE orders SET amount = amount + 1 WHERE CAST(ordered_at AS DATE) = DATE '2026-09-05'")
    shop.project.ok("restate", "-s", "fct_daily_sales", "--start", "2026-09-05", "--end", "2026-09-06")
    before = shop.rows()
    stopped = shop.project.run("backfill", "publish", 1)
    assert stopped.code == 1
    assert "these windows have moved since it was audited: fct_daily_sales 2026-09-05" in stopped.stderr
    assert shop.rows() == before
    assert shop.state() == "audited"
    published = shop.project.ok("backfill", "publish", 1, "--rebase")
    # The day, the day of the model behind it, and the model that is rebuilt whole.
    assert "3 batch(es) of campaign 1 are computed anew" in published.stderr
    assert shop.rows() == fresh_rows(make_project, shop)


def test_04_10_9_a_revert_brings_the_old_rows_back(shop):
    old = shop.rows()
    shop.correct()
    shop.start("--note", "x")
    shop.project.ok("backfill", "publish", 1)
    assert shop.rows() != old
    shop.project.ok("backfill", "revert", 1, "--note", "it was right before")
    assert shop.rows() == old
    kinds = [change["kind"] for change in shop.project.ok("changes", "--json", "--model", "top_shops").json]
    assert kinds == ["revert", "publication"]
    assert shop.relations() == []
    again = shop.project.run("backfill", "revert", 1)
    assert again.code == 1
    assert "campaign 1 is reverted, not published" in again.stderr


def test_04_7_a_revert_does_not_undo_what_was_written_since(shop):
    shop.correct()
    shop.start("--note", "x")
    shop.project.ok("backfill", "publish", 1)
    shop.change("UPDATE orders SET amount = amount + 1 WHERE CAST(ordered_at AS DATE) = DATE '2026-09-05'")
    shop.project.ok("restate", "-s", "fct_daily_sales", "--start", "2026-09-05", "--end", "2026-09-06")
    rows = shop.rows()
    refused = shop.project.run("backfill", "revert", 1)
    assert refused.code == 1
    assert "windows of model 'fct_daily_sales' have been written since" in refused.stderr
    assert shop.rows() == rows


# ---- Bad input.


@pytest.mark.parametrize(
    ("args", "code", "text"),
    [
        (["plan"], 2, "--start is missing"),
        (["plan", "--start", "2026-13-01"], 2, "--start must be an ISO timestamp"),
        (["plan", "--start", "2026-08-02", "--end", "2026-08-01"], 2, "--start must be before --end"),
        (["plan", "--start", "2027-08-02"], 2, "--start lies in the future"),
        (["plan", "--start", "2026-08-02", "-s", "nope"], 1, "nope"),
        (["start", "--start", "2026-08-02", "--gaps", "--restate"], 2, "exclude each other"),
        (["start", "--start", "2026-08-02", "--hours", "22-6"], 2, "two times of a day, as in 22:00-06:00; got '22-6'"),
        (["start", "--start", "2026-08-02", "--end", "2026-08-05", "--gaps", "-s", "fct_daily_sales"], 1,
         "no window of the range is left"),
        (["start", "--start", "2026-06-01", "-s", "fct_daily_sales"], 1, "the range begins before `backfill: 2026-07-01`"),
        (["status", "7"], 1, "there is no campaign 7"),
        (["publish", "7"], 1, "there is no campaign 7"),
        (["resume", "x"], 2, "ID must be the number of a campaign"),
        (["discard", "0"], 2, "ID must be the number of a campaign"),
    ],
)  # fmt: skip
def test_04_4_bad_input_is_refused_and_records_nothing(shop, args, code, text):
    refused = shop.project.run("backfill", *args)
    assert refused.code == code
    assert text in refused.stderr
    assert shop.project.ok("backfill", "list", "--json").json == []


def test_04_5_moves_that_make_no_sense_are_refused(shop):
    shop.start("--note", "x")
    shop.project.ok("backfill", "publish", 1)
    for verb, text in (
        ("publish", "campaign 1 is published, not audited"),
        ("resume", "campaign 1 is published: it cannot be resumed"),
        ("pause", "campaign 1 is published: it cannot be paused"),
        ("discard", "campaign 1 is published: it cannot be discarded"),
    ):
        refused = shop.project.run("backfill", verb, 1)
        assert refused.code == 1
        assert text in refused.stderr


def test_04_5_two_campaigns_never_work_on_the_same_windows(shop):
    shop.start("--note", "x")
    second = shop.project.run("backfill", "start", *ALL, "--note", "y")
    assert second.code == 1
    assert "campaign 1 is under way over windows of model" in second.stderr
    shop.project.ok("backfill", "discard", 1)
    assert shop.start("--note", "y")["id"] == 2


def test_04_8_prod_is_not_changed_without_a_note(shop):
    shop.start()
    refused = shop.project.run("backfill", "publish", 1)
    assert refused.code == 1
    assert "has no note that says why" in refused.stderr
    assert shop.project.ok("backfill", "publish", 1, "--note", "because", "--json").json["note"] == "because"
    shop.start()
    config = shop.project.read("interlace.yaml")
    shop.project.write({"interlace.yaml": f"{config}notes: optional\n"})
    assert shop.project.ok("backfill", "publish", 2, "--json").json["note"] in (None, "")


def test_04_5_an_edited_model_stops_the_campaign(shop):
    shop.start("--note", "x")
    shop.project.write({"models/fct_daily_sales.sql": SALES.format(keys="").replace("100 -", "101 -")})
    shop.cannot_go_on("model 'fct_daily_sales' was edited since")


def test_04_5_gaps_fills_only_what_is_missing(project):
    shop = Shop(project, keys="").project
    shop.write({"models/fct_daily_sales.sql": SALES.format(keys="").replace("backfill: 2026-07-01", "backfill: none")})
    shop.ok("apply")
    shop.ok("run", "-s", "fct_daily_sales", "--start", "2026-08-10", "--end", "2026-08-20")
    status = shop.ok(
        "backfill",
        "start",
        "-s",
        "fct_daily_sales",
        *RANGE,
        "--gaps",
        "--no-audit",
        "--publish",
        "auto",
        "--note",
        "x",
        "--json",
    ).json
    assert (status["state"], status["models"][0]["windows"]) == ("published", 78)
    filled = shop.ok("intervals", "fct_daily_sales", "--json").json["intervals"]
    assert filled == [["2026-08-01T00:00:00", "2026-10-29T00:00:00"]]
    shop.ok("backfill", "revert", 1)
    filled = shop.ok("intervals", "fct_daily_sales", "--json").json["intervals"]
    latest = ["2026-10-28T00:00:00", "2026-10-29T00:00:00"]
    assert filled == [["2026-08-10T00:00:00", "2026-08-20T00:00:00"], latest]


def test_03_10_gc_leaves_a_campaign_alone(shop):
    old = shop.rows()
    shop.correct()
    shop.start("--note", "x")
    shop.publish_and_revert_beside_gc()
    assert shop.rows() == old


def test_02_12_8_restate_with_audit_is_a_campaign_that_waits(shop, make_project):
    old = shop.rows()
    shop.correct()
    status = shop.project.ok("restate", *ALL, "--audit", "--note", "x", "--json").json
    assert (status["id"], status["state"]) == (1, "audited")
    assert shop.rows() == old
    seen = shop.project.root / "seen.txt"
    sums = ", ".join(f"(SELECT CAST(sum(revenue) AS BIGINT) FROM {name})" for name in TABLES)
    env = {"INTERLACE_POLL_SQL": f"SELECT {sums}", "INTERLACE_POLL_FILE": str(seen)}
    shop.project.ok("backfill", "publish", 1, env=env)
    answers = [line.split(",") for line in seen.read_text().splitlines()]
    assert all(len(set(answer)) == 1 for answer in answers), answers
    assert shop.rows() == fresh_rows(make_project, shop)
    shop.project.ok("backfill", "revert", 1)
    assert shop.rows() == old
    dry = shop.project.ok("restate", *ALL, "--audit", "--dry-run", "--json").json
    assert [model["windows"] for model in dry["models"]] == [89, 89, 0, 0]
    assert len(shop.project.ok("backfill", "list", "--json").json) == 1
    assert shop.project.ok("restate", *ALL, "--audit", "--dry-run", "--json=lines").json == dry
    for option in ("--strict", "--keep-going"):
        assert "--audit makes a campaign of it" in shop.project.fails("restate", *ALL, "--audit", option, code=2).stderr
    missing = shop.project.run("restate", "--audit")
    assert missing.code == 2
    assert "--audit needs --start" in missing.stderr


def test_04_4_a_plan_is_started_by_its_id_until_something_moves(shop):
    plan = shop.project.ok("backfill", "plan", *ALL, "--batch", "10", "--json").json
    assert plan["estimate"]["source"] == "unknown"
    started = shop.project.ok("backfill", "start", "--plan", plan["plan_id"], "--note", "x", "--json").json
    assert started["models"][0]["batches"] == 9
    shop.project.ok("backfill", "discard", 1)
    again = shop.project.ok("backfill", "plan", *ALL, "--batch", "10", "--json").json
    assert again["plan_id"] == plan["plan_id"]
    assert again["models"][0]["estimate"]["source"] == "history (89 windows)"
    shop.change("DELETE FROM orders WHERE ordered_at < TIMESTAMP '2026-07-02'")
    moved = shop.project.run("backfill", "start", "--plan", plan["plan_id"], "--note", "x")
    assert moved.code == 1
    assert f"plan {plan['plan_id']} does not hold any more" in moved.stderr
    unknown = shop.project.run("backfill", "start", "--plan", "nope")
    assert (unknown.code, unknown.error_lines) == (1, ["error: there is no plan 'nope'"])
    assert shop.project.run("backfill", "start", "--plan", "nope", "--start", "2026-08-01").code == 2


def test_04_4_a_probe_leaves_nothing_behind(shop):
    plan = shop.project.ok("backfill", "plan", *ALL, "--batch", "44", "--probe", "--json").json
    sources = {model["name"]: model["estimate"]["source"] for model in plan["models"]}
    # 44, 44 and 1: the last one would say nothing of the others.
    assert sources["fct_daily_sales"] == "probe (88 windows, 2026-09-14 … 2026-10-28 and 2026-08-01 … 2026-09-14)"
    assert sources["top_shops"] == "probe"
    estimates = [model["estimate"] for model in plan["models"] if model["takes_part"] != "view"]
    assert len(estimates) == 3
    for estimate in (plan["estimate"], *estimates):
        assert estimate["rows"] > 0
        assert 0 < estimate["seconds_least"] <= estimate["seconds"] <= estimate["seconds_most"]
        assert estimate["bytes"] > 0
        assert 1e6 < estimate["peak_memory"] < 4e9
    told = shop.project.ok("backfill", "plan", *ALL, "--batch", "44", "--probe").stdout
    assert re.search(
        r"of work \([0-9.]+s to [0-9.]+s\), reading [0-9.]+ [MG]B, with at most \d+ MB of memory\. Plan", told
    )
    with duckdb.connect(str(shop.warehouse), read_only=True) as connection:
        names = [name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
    assert not [name for name in names if name.endswith("_0")]


@pytest.mark.parametrize(
    ("limit", "text"),
    [
        (["--max-windows", "10"], "--max-windows: 178 windows"),
        (["--max-rows", "100"], "--max-rows"),
        (["--max-time", "1s"], "--max-time"),
    ],
)
def test_04_4_a_campaign_that_takes_more_than_it_may_is_refused_or_paused(shop, limit, text):
    is_known_before = limit[0] == "--max-windows"
    slow = {"INTERLACE_HOOK": "campaign.batch=wait:1100@1"}
    refused = shop.project.run("backfill", "start", *ALL, "--batch", "10", "--note", "x", *limit, env=slow)
    assert refused.code == 1
    if is_known_before:
        assert text in refused.stderr
        return
    assert "--max-time or --max-rows is reached: campaign 1 is paused; nothing is published" in refused.stderr
    assert shop.state() == "paused"
    shop.project.ok("backfill", "discard", 1)
    expected = shop.project.run("backfill", "plan", *ALL, *limit)
    assert expected.code == 1
    assert f"expected to take more than {text}" in expected.stderr


def test_04_5_a_campaign_goes_on_with_the_models_that_it_began_with(shop, make_project):
    """Whatever its selectors choose by now."""
    tagged = SALES.format(keys=", tags: [sales]")
    shop.project.write({"models/fct_daily_sales.sql": tagged})
    shop.project.ok("apply")
    shop.correct()
    killed = shop.project.run(
        "backfill", "start", "-s", "tag:sales+", *RANGE, "--note", "x", env={"INTERLACE_HOOK": "campaign.seal=kill"}
    )
    assert killed.code == -signal.SIGKILL
    shop.project.write({"models/fct_daily_sales.sql": SALES.format(keys="")})
    assert shop.project.ok("backfill", "resume", 1, "--json").json["state"] == "audited"
    shop.project.ok("backfill", "publish", 1)
    assert shop.rows() == fresh_rows(make_project, shop)
