"""A campaign over windows over which another one is under way begins when that one is over, by choice (spec 04 §5)."""

import os
import signal
import time

import pytest
from test_backfill import ALL, SANITIZED, Shop


@pytest.fixture
def shop(project):
    shop = Shop(project)
    project.ok("apply")
    shop.correct()
    return shop


def start_waiting(shop, *args, what=ALL):
    """Started while campaign 1 is under way; what it says so far."""
    waiting = shop.project.spawn("backfill", "start", *what, "--wait", "--note", "second", *args)
    said = ""
    until = time.monotonic() + 60
    while "waiting for campaign" not in said:
        assert time.monotonic() < until, said
        said += waiting.stderr.readline()
    return waiting, said


@pytest.mark.parametrize("verb", ["publish", "discard"])
def test_04_5_a_second_campaign_waits_by_choice_and_plans_anew(shop, verb):
    shop.start("--note", "first")
    waiting, said = start_waiting(shop, "--publish", "auto")
    assert "waiting for campaign 1 (audited, by " in said
    # The source moves meanwhile; the second campaign computes with what it is when its turn comes.
    shop.change("UPDATE orders SET amount = amount + 1 WHERE ordered_at >= TIMESTAMP '2026-08-01'")
    assert waiting.poll() is None
    assert [row["id"] for row in shop.project.ok("backfill", "list", "--json").json] == [1]
    shop.project.ok("backfill", verb, 1)
    _, stderr = waiting.communicate(timeout=120)
    assert waiting.returncode == 0, stderr
    assert shop.state(1) == {"publish": "published", "discard": "discarded"}[verb]
    assert shop.state(2) == "published"
    new = shop.rows()
    shop.project.ok("restate", *ALL, "--note", "the same by hand")
    assert shop.rows() == new


def test_04_5_it_waits_for_one_whose_process_has_the_warehouse(shop):
    """And then, since that one waits to be published, for its end."""
    slow = {"INTERLACE_HOOK": f"campaign.batch=wait:{20_000 if SANITIZED else 6_000}@3"}
    first = shop.project.spawn("backfill", "start", *ALL, "--batch", "10", "--note", "first", env=slow)
    shop.wait_until_at_work()
    waiting, said = start_waiting(shop)
    assert "which has the warehouse open" in said
    _, stderr = first.communicate(timeout=120)
    assert first.returncode == 0, stderr
    while "waiting for campaign 1 (audited" not in said:
        line = waiting.stderr.readline()
        assert line, said
        said += line
    shop.project.ok("backfill", "publish", 1)
    _, stderr = waiting.communicate(timeout=120)
    assert waiting.returncode == 0, stderr
    assert shop.state(2) == "audited"


def test_04_5_texts_that_were_edited_meanwhile_are_what_is_computed(shop):
    """Else the campaign would bring back what was live before."""
    shop.start("--note", "first")
    waiting, _ = start_waiting(shop, "--publish", "auto")
    text = (shop.project.root / "models/top_shops.sql").read_text()
    shop.project.write({"models/top_shops.sql": text.replace("sum(revenue)", "sum(2 * revenue)")})
    shop.project.ok("backfill", "discard", 1)
    _, stderr = waiting.communicate(timeout=120)
    assert waiting.returncode == 0, stderr
    assert shop.project.ok("plan", "--json").json["changes"] == []


def test_04_5_ctrl_c_ends_the_waiting_and_nothing_is_recorded(shop):
    shop.start("--note", "first")
    waiting, _ = start_waiting(shop)
    os.kill(waiting.pid, signal.SIGINT)
    _, stderr = waiting.communicate(timeout=60)
    assert waiting.returncode == 130
    assert "interrupted while waiting for campaign 1" in stderr
    assert [row["id"] for row in shop.project.ok("backfill", "list", "--json").json] == [1]
    shop.project.ok("backfill", "publish", 1)


def test_04_5_a_plan_that_moved_while_its_campaign_waited_is_refused(shop):
    plan = shop.project.ok("backfill", "plan", *ALL, "--json").json["plan_id"]
    shop.start("--note", "first")
    waiting, _ = start_waiting(shop, what=("--plan", plan))
    shop.change("INSERT INTO orders VALUES (9999, TIMESTAMP '2026-10-28 23:59:00', 1, 10, 0)")
    shop.project.ok("backfill", "discard", 1)
    _, stderr = waiting.communicate(timeout=60)
    assert waiting.returncode == 1
    assert f"plan {plan} does not hold any more" in stderr


def test_04_5_without_another_one_there_is_nothing_to_wait_for(shop):
    assert shop.start("--wait", "--note", "x")["state"] == "audited"
    refused = shop.project.run("backfill", "start", *ALL, "--note", "y")
    assert refused.code == 1
    assert "campaign 1 is under way over windows of model 'fct_daily_sales'" in refused.stderr
    assert "or `backfill start --wait`" in refused.stderr
