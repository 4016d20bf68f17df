"""examples/benchmark at a small scale: its figures against a second computation in plain Python, and its windows."""

import collections
import datetime
import decimal
import pathlib
import shutil

import pytest

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples/benchmark"
EVENTS = 20000
START = datetime.datetime(2026, 6, 1)
REGIONS = {"DE": "Europe", "FR": "Europe", "US": "America", "BR": "America", "JP": "Asia"}


def events():
    """The stream again, by its own arithmetic: (user, time, kind, amount, country) of each event."""
    step = 30 * 86400 * 10**6 // EVENTS
    kinds = {0: "purchase", 1: "cart", 2: "search"}
    for i in range(EVENTS):
        yield (
            (i * 2654435761) % (1 + EVENTS // 125),
            START + datetime.timedelta(microseconds=i * step),
            kinds.get((i * 40503) % 10, "view"),
            decimal.Decimal((i * 7919) % 10000) / 100,
            ["DE", "FR", "US", "JP", "BR"][(i * 31) % 5],
        )


@pytest.fixture(scope="module")
def benchmark(project_class, tmp_path_factory):
    folder = tmp_path_factory.mktemp("benchmark") / "benchmark"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns(".interlace"))
    project = project_class(folder, {"BENCHMARK_EVENTS": str(EVENTS), "INTERLACE_NOW": "2026-07-05T12:00:00"})
    project.ok("apply")
    return project


def purchases():
    return [event for event in events() if event[2] == "purchase"]


def test_daily_revenue_is_that_of_the_events(benchmark):
    expected = collections.defaultdict(lambda: [0, decimal.Decimal(0)])
    for _user, at, _kind, amount, country in purchases():
        cell = expected[at.date().isoformat(), REGIONS[country]]
        cell[0] += 1
        cell[1] += amount
    rows = benchmark.query("SELECT day::VARCHAR, region, purchases, revenue::VARCHAR FROM mart.daily")
    assert {(day, region): [count, decimal.Decimal(revenue)] for day, region, count, revenue in rows} == expected


def test_totals_of_users_and_their_tiers(benchmark):
    counts, amounts = collections.Counter(), collections.defaultdict(decimal.Decimal)
    for user, _at, _kind, amount, _country in events():
        counts[user] += 1
        amounts[user] += amount
    rows = benchmark.query("SELECT user_id, events, amount::VARCHAR FROM mart.totals")
    assert {user: (count, decimal.Decimal(amount)) for user, count, amount in rows} == {
        user: (counts[user], amounts[user]) for user in counts
    }
    tiers = {user: "gold" if a > 5000 else "silver" if a > 1000 else "bronze" for user, a in amounts.items()}
    assert dict(benchmark.query("SELECT user_id, tier FROM mart.tiers WHERE _valid_to IS NULL")) == tiers


def test_sessions_in_python_add_up(benchmark):
    sessions = collections.defaultdict(decimal.Decimal)
    for user, at, _kind, amount, _country in events():
        sessions[user * 1000 + at.hour] += amount
    rows = benchmark.query("SELECT session_id, amount_sum::VARCHAR FROM mart.session_totals")
    assert {session: decimal.Decimal(amount) for session, amount in rows} == sessions


def test_a_restated_day_and_a_run_again_change_nothing(benchmark):
    before = benchmark.query("SELECT * FROM mart.daily ORDER BY ALL")
    document = benchmark.json("restate", "-s", "mart.daily", "--start", "2026-06-10", "--end", "2026-06-12")
    counts = document["rows"]["mart.daily"]
    assert counts["inserted"] == counts["deleted"] > 0
    assert benchmark.query("SELECT * FROM mart.daily ORDER BY ALL") == before
    document = benchmark.json("run", "-s", "mart.totals", "-s", "mart.tiers", "-s", "mart.active")
    nothing = {"inserted": 0, "updated": 0, "deleted": 0}
    assert document["rows"] == {"mart.totals": nothing, "mart.tiers": nothing, "mart.active": nothing}
