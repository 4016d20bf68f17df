"""Terminal models of a campaign: delivered when the others are published (spec 04 §4, §7)."""

import contextlib
import signal
import sqlite3

import duckdb
import pytest
from test_backfill import ALL, CONFIG, RANGE, Shop

TABLE = """\
/* interlace: {strategy: incremental, time_column: day, interval: 1d, materialise: table, target: out.days} */
SELECT day, revenue FROM sales_by_day
"""
FILE = """\
/* interlace: {materialise: file, path: data/shops.csv, format: csv} */
SELECT shop, revenue FROM top_shops ORDER BY shop
"""


class DeliveringShop(Shop):
    def __init__(self, project):
        super().__init__(project)
        config = CONFIG.format(database="data/wh.duckdb").replace("}\n", ", out: data/out.duckdb}\n")
        project.write({"models/days_out.sql": TABLE, "models/shops_out.sql": FILE, "interlace.yaml": config})
        duckdb.connect(str(project.root / "data/out.duckdb")).close()

    def delivered(self):
        with duckdb.connect(str(self.project.root / "data/out.duckdb"), read_only=True) as connection:
            days = connection.execute("SELECT day, revenue FROM days ORDER BY day").fetchall()
        return days, self.project.read("data/shops.csv")

    def served(self):
        rows = self.rows()
        days = [(day, revenue) for day, revenue, _ in rows["sales_by_day"]]
        shops = "".join(f"{shop},{revenue}\n" for shop, revenue in rows["top_shops"])
        return days, "shop,revenue\n" + shops

    def deliveries(self):
        with contextlib.closing(sqlite3.connect(self.project.root / ".interlace/state.db")) as state:
            rows = state.execute(
                "SELECT model, state, attempts FROM campaign_batches WHERE model LIKE '%out' ORDER BY model"
            )
            return rows.fetchall()


@pytest.fixture
def shop(project):
    shop = DeliveringShop(project)
    project.ok("apply")
    assert shop.delivered() == shop.served()
    return shop


def test_04_4_a_terminal_without_deliver_is_refused(shop):
    refused = shop.project.run("backfill", "start", *ALL, "--note", "x")
    assert refused.code == 1
    assert "model 'days_out' cannot take part: it is delivered outside of the warehouse" in refused.stderr
    assert "hint: --deliver delivers it when the campaign is published" in refused.stderr
    only = shop.project.run("backfill", "start", "-s", "days_out", *RANGE, "--deliver", "--note", "x")
    assert only.code == 1
    assert "there is nothing to do" in only.stderr


def test_04_7_terminals_are_delivered_after_publication_and_again_after_a_revert(shop):
    before = shop.delivered()
    shop.correct()
    plan = shop.project.ok("backfill", "plan", *ALL, "--deliver", "--json").json
    parts = {model["name"]: model["takes_part"] for model in plan["models"]}
    assert (parts["days_out"], parts["shops_out"]) == ("terminal", "terminal")
    shop.start("--deliver", "--note", "x")
    assert shop.delivered() == before
    shop.project.ok("backfill", "publish", 1)
    after = shop.delivered()
    assert after == shop.served()
    assert after != before
    # Windows only: what lies before the range is as it was.
    assert after[0][:31] == before[0][:31]
    assert shop.deliveries() == [("days_out", "done", 1), ("shops_out", "done", 1)]
    shop.project.ok("backfill", "revert", 1, "--note", "back")
    assert shop.delivered() == before


def test_04_7_publish_auto_delivers_too(shop):
    shop.correct()
    shop.start("--deliver", "--publish", "auto", "--note", "x")
    assert shop.state() == "published"
    assert shop.delivered() == shop.served()


@pytest.mark.parametrize("how", ["failed", "killed"])
def test_04_7_a_delivery_that_failed_or_was_killed_is_done_by_the_next_publish(shop, how):
    shop.correct()
    shop.start("--deliver", "--note", "x")
    csv = shop.project.root / "data/shops.csv"
    if how == "killed":
        killed = shop.project.run("backfill", "publish", 1, env={"INTERLACE_HOOK": "campaign.delivered=kill"})
        assert killed.code == -signal.SIGKILL
    else:
        csv.unlink()
        csv.mkdir()
        failed = shop.project.run("backfill", "publish", 1)
        assert failed.code == 1
        assert "campaign 1 is published, but not all of it is delivered" in failed.stderr
        assert "`interlace backfill publish 1` delivers what is left" in failed.stderr
        assert [state for _, state, _ in shop.deliveries()] == ["done", "failed"]
        csv.rmdir()
    assert shop.state() == "published"
    shop.project.ok("backfill", "publish", 1)
    assert shop.delivered() == shop.served()
    assert [state for _, state, _ in shop.deliveries()] == ["done", "done"]
    again = shop.project.run("backfill", "publish", 1)
    assert again.code == 1
    assert "campaign 1 is published" in again.stderr
