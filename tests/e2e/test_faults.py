"""What is left when a build fails or dies in its middle: each statement of each strategy, each crash point, two processes at
once, and a reader that never looks away (spec 02 §1, §7)."""

import itertools
import os
import random
import shutil
import signal
import sqlite3
import time

import pytest
from test_apply import wait_for_file
from test_strategies import FIRST, SECOND, WINDOW, set_source

CONFIG = "database: data/wh.duckdb\nattach: {src: data/src.duckdb, out: data/out.duckdb}\ntimezone: UTC\n"
STRATEGIES = {
    "replace": "strategy: replace",
    "merge": "strategy: merge, key: id",
    "full_merge": "strategy: full_merge, key: id",
    "hash_merge": "strategy: hash_merge, key: id",
    "scd": "strategy: scd, key: id",
    "scd_event": "strategy: scd, key: id, time_column: ts",
    "incremental": "strategy: incremental, time_column: ts",
    "incremental_keyed": "strategy: incremental, time_column: ts, key: id",
}
EXTERNAL = ", materialise: table, target: out.main.m"
PLACES = [
    pytest.param(strategy, place, id=f"{strategy}-{'external' if place else 'owned'}")
    for strategy in STRATEGIES
    for place in ("", EXTERNAL)
]
KILLED = -signal.SIGKILL
STATEMENTS_MAX = 40


def write_model(project, header):
    project.env["INTERLACE_NOW"] = "2026-07-02T12:00:00"
    project.write({"interlace.yaml": CONFIG, "models/m.sql": f"/* interlace: {{{header}}} */\nSELECT * FROM src.items"})
    project.load("SELECT 1", "data/out.duckdb")
    set_source(project, FIRST)
    return project


def command(strategy):
    return ("restate", *WINDOW) if strategy.startswith("incremental") else ("run",)


def ledger(project):
    with sqlite3.connect(project.root / ".interlace/state.db") as store:
        filled = store.execute("SELECT name, start_us, end_us FROM ledger ORDER BY 1, 2").fetchall()
    store.close()
    return filled


def tables(project, name):
    """{table: its rows} of a database file, physical tables and views alike; without the records of what changed."""
    with project.warehouse(name) as database:
        names = database.execute(
            "SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT internal AND schema_name <> 'interlace'"
            " UNION ALL SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal ORDER BY ALL"
        ).fetchall()
        return {
            pair: database.execute('SELECT * FROM "{}"."{}" ORDER BY ALL'.format(*pair)).fetchall() for pair in names
        }


def warehouse(project):
    """Everything that a reader can see."""
    return tables(project, "data/wh.duckdb"), tables(project, "data/out.duckdb")


# --- 02 §1, 2: a failure before each statement in turn


@pytest.mark.parametrize(("strategy", "place"), [*PLACES, pytest.param("append", EXTERNAL, id="append-external")])
def test_02_1_2_a_failing_statement_leaves_everything_as_it_was(project, strategy, place):
    write_model(project, STRATEGIES.get(strategy, "strategy: append") + place)
    project.ok("apply")
    set_source(project, SECOND)
    before, generations = warehouse(project), project.json("env", "list")
    for statement in range(1, STATEMENTS_MAX):
        result = project.run(*command(strategy), env={"INTERLACE_HOOK": f"build.statement=fail@{statement}"})
        if result.code == 0:
            break
        assert result.code == 1, result
        assert "model 'm'" in result.stderr
        assert warehouse(project) == before
    assert 1 < statement < STATEMENTS_MAX - 1, "no statement was passed, or there is no end of them"
    assert warehouse(project) != before
    assert project.json("env", "list") == generations, "the same relation is shown as before"


@pytest.mark.parametrize("strategy", ["incremental", "incremental_keyed"])
def test_02_1_2_a_failing_statement_adds_nothing_to_the_ledger(project, strategy):
    write_model(project, STRATEGIES[strategy] + ", backfill: none")
    project.ok("apply")
    filled = ledger(project)
    failed_count = 0
    for statement in range(1, STATEMENTS_MAX):
        hook = {"INTERLACE_HOOK": f"build.statement=fail@{statement}", "INTERLACE_NOW": "2026-07-04T12:00:00"}
        result = project.run("run", *WINDOW, env=hook)
        if result.code == 0:
            break
        failed_count += 1
        assert ledger(project) == filled
    assert failed_count > 1
    assert len(project.query("SELECT * FROM m")) == 3
    assert ledger(project) != filled


# --- 02 §7, 2: crash points


POINTS = ["build.begun", "build.checked", "build.committed", "build.ledger", "build.recorded", "promotion.intended"]


def settled(project):
    """Rows and ledger without the names of relations: equal in twins."""
    owned, external = warehouse(project)
    rows = sorted(repr(rows) for rows in [*owned.values(), *external.values()])
    return rows, [pair[1:] for pair in ledger(project)]


@pytest.mark.parametrize(("strategy", "place"), PLACES)
def test_02_7_2_a_plain_run_after_a_crash_gives_what_an_uninterrupted_twin_has(make_project, strategy, place):
    twin = write_model(make_project(name="twin"), STRATEGIES[strategy] + place)
    twin.ok("apply")
    first = settled(twin)
    set_source(twin, SECOND)
    twin.ok(*command(strategy))
    for point in POINTS:
        project = write_model(make_project(name=f"at-{point}"), STRATEGIES[strategy] + place)
        killed = project.run("apply", env={"INTERLACE_HOOK": f"{point}=kill"})
        assert killed.code == KILLED, killed
        project.ok("apply")
        assert settled(project) == first, point
        set_source(project, SECOND)
        killed = project.run(*command(strategy), env={"INTERLACE_HOOK": f"{point}=kill"})
        assert killed.code == KILLED, killed
        project.ok(*command(strategy))
        assert settled(project) == settled(twin), point


# A few at the same moments in each run; as many as INTERLACE_PROPERTY_EXAMPLES says, at others each time.
RANDOM_KILLS = int(os.environ.get("INTERLACE_PROPERTY_EXAMPLES", "0"))


@pytest.mark.parametrize(("strategy", "place"), PLACES)
def test_02_7_2_killed_at_any_moment_it_is_made_good_by_the_next_run(make_project, strategy, place):
    origin = write_model(make_project(name="origin"), STRATEGIES[strategy] + place)
    origin.ok("apply")
    set_source(origin, SECOND)
    twin = make_project(name="twin", env=origin.env)
    shutil.copytree(origin.root, twin.root, dirs_exist_ok=True)
    begun = time.monotonic()
    twin.ok(*command(strategy))
    took = time.monotonic() - begun
    moments = random.Random(None if RANDOM_KILLS else strategy)
    for kill in range(RANDOM_KILLS or 3):
        project = make_project(name=f"kill-{kill}", env=origin.env)
        shutil.copytree(origin.root, project.root, dirs_exist_ok=True)
        moment = moments.random()
        process = project.spawn(*command(strategy))
        time.sleep(moment * took)
        process.kill()
        process.communicate()
        project.ok(*command(strategy))
        assert settled(project) == settled(twin), moment
        shutil.rmtree(project.root)


def test_02_7_2_an_append_after_a_crash_is_a_new_run(project):
    """Only a retry of the same queued run is known again (spec 02 §4.2)."""
    write_model(project, "strategy: append" + EXTERNAL)
    project.ok("apply")
    count = "SELECT count(*) FROM m"
    assert project.run("run", env={"INTERLACE_HOOK": "build.checked=kill"}).code == KILLED
    assert project.sql(count, "data/out.duckdb") == [(3,)]
    assert project.run("run", env={"INTERLACE_HOOK": "build.committed=kill"}).code == KILLED
    assert project.sql(count, "data/out.duckdb") == [(6,)]
    project.ok("run")
    assert project.sql(count, "data/out.duckdb") == [(9,)]


# --- 02 §7, 3


def test_02_7_3_a_kill_between_windows_keeps_the_finished_ones(project):
    write_model(project, STRATEGIES["incremental"] + ", backfill: none")
    week = ("--start", "2026-06-20", "--end", "2026-06-27", "--batch", "1")
    project.load("CREATE OR REPLACE TABLE items AS SELECT range AS id, 'a' AS v,"
                 " TIMESTAMP '2026-06-20' + INTERVAL (range) DAY AS ts FROM range(7)")  # fmt: skip
    project.ok("apply")
    before = ledger(project)
    assert project.run("run", *week, env={"INTERLACE_HOOK": "build.begun=kill@4"}).code == KILLED
    assert len(project.query("FROM m")) == 3
    [filled] = [pair for pair in ledger(project) if pair not in before]
    assert filled[2] - filled[1] == 3 * 86_400_000_000
    document = project.json("run", *week)
    assert len(document["tasks"]["models"][0]["windows"]) == 4
    assert len(project.query("FROM m")) == 7


# --- 02 §7, 4


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_02_7_4_two_runs_at_once_are_one_after_the_other(make_project, tmp_path, strategy):
    twin = write_model(make_project(name="twin"), STRATEGIES[strategy])
    project = write_model(make_project(name="both"), STRATEGIES[strategy])
    for one in (twin, project):
        one.ok("apply")
        set_source(one, SECOND)
    started = tmp_path / "started"
    first = project.spawn(
        *command(strategy), env={"INTERLACE_HOOK": f"build.begun=touch:{started},build.written=wait:500"}
    )
    wait_for_file(started, first)
    second = project.spawn(*command(strategy))
    outputs = [process.communicate(timeout=120) for process in (first, second)]
    assert [first.returncode, second.returncode] == [0, 0], outputs
    for _ in range(2):
        twin.ok(*command(strategy))
    assert settled(project) == settled(twin)


def test_02_7_4_a_run_that_may_not_wait_is_refused(project, tmp_path):
    write_model(project, STRATEGIES["merge"])
    project.ok("apply")
    started = tmp_path / "started"
    first = project.spawn("run", env={"INTERLACE_HOOK": f"build.begun=touch:{started},build.written=wait:3000"})
    wait_for_file(started, first)
    document = project.json("run", "--lock-timeout", "0", code=1)
    assert document["error"]["kind"] == "LockError"
    assert first.wait(timeout=60) == 0


# --- 02 §1, 3: a reader that polls


ROUNDS = 20


@pytest.mark.parametrize("strategy", ["replace", "incremental"])
def test_02_1_3_a_polling_reader_sees_whole_states_only(project, tmp_path, strategy):
    rows = 20_000
    write_model(project, STRATEGIES[strategy])
    project.load(f"CREATE OR REPLACE TABLE items AS SELECT range AS id, 'a' AS v,"
                 f" TIMESTAMP '2026-07-02 08:00' AS ts FROM range({rows})")  # fmt: skip
    project.ok("apply")
    seen = tmp_path / "seen"
    poll = {"INTERLACE_POLL_SQL": "SELECT count(*), count(DISTINCT v) FROM m", "INTERLACE_POLL_FILE": seen}
    for version in range(ROUNDS):
        project.load(f"UPDATE items SET v = 'v{version}'")
        project.ok(*command(strategy), env=poll)
    answers = {line for line in seen.read_text().splitlines()}
    assert answers == {f"{rows},1"}


@pytest.mark.parametrize("strategy", ["replace", "merge", "incremental"])
def test_02_1_3_a_polling_reader_sees_no_error_when_a_column_comes_and_goes(project, tmp_path, strategy):
    write_model(project, STRATEGIES[strategy])
    project.ok("apply")
    seen = tmp_path / "seen"
    poll = {"INTERLACE_POLL_SQL": "SELECT count(*) FROM m", "INTERLACE_POLL_FILE": seen}
    changes = itertools.cycle(["ALTER TABLE items ADD COLUMN w INTEGER DEFAULT 5", "ALTER TABLE items DROP COLUMN w"])
    for change in itertools.islice(changes, 4):
        project.load(change)
        project.ok(*command(strategy), env={**poll, "INTERLACE_HOOK": "apply.before_promotion=wait:50"})
    assert set(seen.read_text().splitlines()) == {"3"}
