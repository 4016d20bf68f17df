"""Campaigns of an environment that shows tables of another one: what that one shows is never written (spec 04 §2, §7)."""

import contextlib
import sqlite3
import time

import duckdb
import pytest
from test_backfill import ALL, RANGE, SANITIZED, Shop

COPY = "copy-on-write: owned by prod"


def sandbox(project, **options):
    """The campaigns are dev's; prod owns everything."""
    shop = Shop(project, **options)
    project.ok("apply")
    project.ok("apply", "-e", "dev")
    shop.environment = "dev"
    return shop


@pytest.fixture
def shop(project):
    return sandbox(project)


def tables(shop, model):
    """Of all its versions and revisions, without those of campaign 1."""
    with duckdb.connect(str(shop.warehouse), read_only=True) as connection:
        names = connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY ALL").fetchall()
    return [name for (name,) in names if name.startswith(f"{model}__") and not name.endswith("_1")]


def expected(make_project, name="fresh"):
    other = Shop(make_project(name=name))
    other.correct()
    other.project.ok("apply")
    return other.rows()


def test_04_2_a_campaign_of_a_sandbox_publishes_into_a_copy(shop, make_project):
    old = shop.rows()
    assert shop.rows("prod") == old
    shop.correct()
    plan = shop.project.ok("backfill", "plan", "-e", "dev", *ALL, "--json").json
    assert [model["takes_part"] for model in plan["models"]] == ["windowed", "windowed", "view", "whole"]
    assert [COPY in model["notes"] for model in plan["models"]] == [True, True, False, True]
    assert shop.start("--batch", "10")["state"] == "audited"
    assert shop.rows() == shop.rows("prod") == old
    shop.project.ok("backfill", "publish", 1)
    assert shop.rows("prod") == old
    assert shop.rows() == expected(make_project)
    # Each goes on with its own: dev's ledger came along, and nothing is to be done.
    for environment in ("prod", "dev"):
        filled = shop.project.ok("intervals", "fct_daily_sales", "-e", environment, "--json").json["intervals"]
        assert filled == [["2026-07-01T00:00:00", "2026-10-29T00:00:00"]]
        assert shop.project.ok("plan", "-e", environment, "--json").json["changes"] == []
    # The next campaign of dev is over what is its own, in place.
    shop.change("UPDATE orders SET amount = amount + 1 WHERE ordered_at >= TIMESTAMP '2026-08-01'")
    assert not any(
        COPY in model["notes"]
        for model in shop.project.ok("backfill", "plan", "-e", "dev", *ALL, "--json").json["models"]
    )
    shop.start("--publish", "auto")
    assert shop.rows("prod") == old


def test_04_2_a_revert_shows_the_owners_tables_again(shop):
    old = shop.rows()
    shop.correct()
    shop.start("--publish", "auto")
    new = shop.rows()
    assert new != old
    shop.project.ok("backfill", "revert", 1)
    assert shop.rows() == shop.rows("prod") == old
    assert shop.relations() == []
    # What was taken back is gc's; a campaign makes it once more.
    shop.project.ok("gc", "--grace", "0d")
    shop.start("--publish", "auto")
    assert shop.rows() == new
    assert shop.rows("prod") == old


def test_04_2_a_lake_does_the_same(project, make_project):
    lake = sandbox(project, database="ducklake:data/lake.ducklake")
    old = lake.rows()
    lake.correct()
    lake.start("--publish", "auto")
    assert lake.rows("prod") == old
    assert lake.is_like(expected(make_project))
    project.ok("backfill", "revert", 1)
    assert lake.rows() == old


def test_04_2_with_a_key_the_copy_keeps_the_other_rows(project, make_project):
    keyed = sandbox(project, keys=", key: [sales_date, shop]")
    old = keyed.rows()
    keyed.correct()
    keyed.start("--batch", "20", "--publish", "auto")
    assert keyed.rows("prod") == old
    assert keyed.rows() == expected(make_project)


def test_04_7_campaigns_of_two_environments_do_not_meet(shop, make_project):
    old = shop.rows()
    shop.correct()
    shop.start()
    shop.environment = "prod"
    shop.start("--note", "x")
    shop.project.ok("backfill", "publish", 2)
    new = expected(make_project)
    assert shop.rows("prod") == new
    # dev showed prod's tables, so that it shows the new rows already, and what was compared with it has moved.
    assert shop.rows("dev") == new != old
    moved = shop.project.run("backfill", "publish", 1)
    assert moved.code == 1
    assert "these windows have moved since it was audited" in moved.stderr
    shop.project.ok("backfill", "publish", 1, "--rebase")
    assert shop.rows("dev") == shop.rows("prod") == new


def test_04_2_a_table_that_another_environment_took_over_is_not_written(project):
    """dev had it alone when it was published into, in place."""
    shop = Shop(project)
    shop.environment = "dev"
    project.ok("apply", "-e", "dev")
    shop.correct()
    shop.start("--publish", "auto")
    new = shop.rows()
    project.ok("env", "promote", "dev", "prod")
    refused = project.run("backfill", "revert", 1)
    assert refused.code == 1
    assert "campaign 1 cannot go on: model 'fct_daily_sales' has another table by now" in refused.stderr
    assert shop.rows("prod") == shop.rows("dev") == new


def test_04_2_a_table_that_another_environment_takes_over_before_publication_is_copied(project, make_project):
    shop = Shop(project)
    shop.environment = "dev"
    project.ok("apply", "-e", "dev")
    old = shop.rows()
    shop.correct()
    assert shop.start()["state"] == "audited"
    project.ok("env", "promote", "dev", "prod")
    project.ok("backfill", "publish", 1)
    assert shop.rows("prod") == old
    assert shop.rows("dev") == expected(make_project)


HOOKS = ["campaign.publishing", "campaign.replaced@2", "promotion.view@2", "campaign.committed", "state.commit@2",
         "state.commit@3", "state.commit@4"]  # fmt: skip
KILLS = [("publish", "state.snapshot@2"), *((verb, hook) for verb in ("publish", "revert") for hook in HOOKS)]


@pytest.mark.parametrize(("verb", "hook"), KILLS)
def test_04_2_a_killed_publication_into_a_copy_is_whole_or_undone(shop, make_project, verb, hook):
    old = shop.rows()
    shop.correct()
    shop.start("--batch", "30")
    shop.survives_a_kill(verb, hook, old, expected(make_project))
    assert shop.rows("prod") == old


def test_04_2_only_what_is_selected_is_copied(shop):
    """Readers of dev see the copy of the days beside prod's other tables."""
    [days], [facts] = tables(shop, "sales_by_day"), tables(shop, "fct_daily_sales")
    with duckdb.connect(str(shop.warehouse)) as connection:  # what only a computation of the days puts right
        connection.execute(f"UPDATE interlace__main.{days} SET revenue = 0 WHERE day = DATE '2026-08-01'")
    wrong = shop.rows("prod")
    plan = shop.project.ok("backfill", "plan", "-e", "dev", "-s", "sales_by_day", *RANGE, "--json").json
    assert [COPY in model["notes"] for model in plan["models"]] == [True]
    shop.project.ok("backfill", "start", "-e", "dev", "-s", "sales_by_day", *RANGE, "--publish", "auto")
    assert shop.rows("prod") == wrong
    assert shop.rows()["sales_by_day"] != wrong["sales_by_day"]
    assert tables(shop, "sales_by_day") == [days, f"{days}__r1"]
    assert tables(shop, "fct_daily_sales") == [facts]


def test_04_2_a_table_that_is_taken_over_while_a_publication_waits_is_not_written(project):
    """On a lake both work at once: prod's promotion has the lock, and was not there when the owner was looked up."""
    lake = Shop(project, database="ducklake:sqlite:data/lake.sqlite")
    lake.environment = "dev"
    project.ok("apply", "-e", "dev")
    lake.correct()
    assert lake.start()["state"] == "audited"
    old = lake.rows()
    slow = {"INTERLACE_HOOK": f"promotion.view=wait:{20_000 if SANITIZED else 6_000}@1"}
    promotion = project.spawn("env", "promote", "dev", "prod", env=slow)
    with contextlib.closing(sqlite3.connect(project.root / ".interlace/state.db")) as state:
        until = time.monotonic() + 60
        while not state.execute("SELECT 1 FROM locks WHERE name = 'apply'").fetchall():
            assert time.monotonic() < until and promotion.poll() is None
    refused = project.run("backfill", "publish", 1)
    _, stderr = promotion.communicate(timeout=120)
    assert promotion.returncode == 0, stderr
    assert refused.code == 1
    assert "model 'fct_daily_sales' became another environment's meanwhile" in refused.stderr
    assert lake.rows("prod") == lake.rows("dev") == old
