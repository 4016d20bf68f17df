"""Batches of one model at once (spec 04 §3): whatever is read at once, everything is as if one batch came after the other."""

import re
import signal

import pytest
from test_apply import wait_for_file
from test_windows import AFTER, CONFIG, JUNE, daily, ledger, load_days

RANGE = "--start", JUNE[0], "--end", JUNE[1]
ONE_BY_ONE = *RANGE, "--batch", "1"
AT_ONCE = "--concurrency", "4"
# Keys move between days, and stand in several of them.
KEYED = {"models/m.sql": daily(", backfill: none, key: k", "SELECT d, n % 7 AS k, n FROM src.days")}
MODELS = {
    "keyless": {"models/m.sql": daily(", backfill: none")},
    "keyed": KEYED,
    "unique": {"models/m.sql": daily(", backfill: none, checks: [{unique: n}]")},
    "totals": {"models/m.sql": daily(", backfill: none", "SELECT d, sum(n) AS n FROM src.days GROUP BY d")},
    "clock": {
        "models/m.sql": daily(
            ", backfill: none, interval: 6h, clock: window", "SELECT d, n, now()::TIMESTAMP AS at FROM src.days"
        )
    },
    "python": {
        "models/stg.sql": "/* interlace: {materialise: view} */\nSELECT d, n % 7 AS k, n FROM src.days",
        "models/m.py": """from interlace import model


@model(strategy='incremental', time_column='d', key='k', backfill='none')
def m(stg, *, window):
    if window.start.day % 5 == 0:
        return  # nothing new
    yield stg.table()
""",
    },
}


@pytest.fixture
def twins(make_project):
    """Two projects alike: what the second one does at once, the first does one after the other."""

    def make(files, config=CONFIG):
        pair = [make_project({"interlace.yaml": config, **files}, name=name) for name in ("first", "second")]
        for project in pair:
            project.env.update(AFTER)
            load_days(project, "TIMESTAMP")
            project.ok("apply")
        return pair

    return make


def state_of(project):
    """Rows and ledger."""
    with project.warehouse("data/wh.duckdb") as database:
        [name] = database.execute(
            "SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'm@_@_%' ESCAPE '@'"
        ).fetchone()
        return database.execute(f"FROM interlace__main.{name} ORDER BY ALL").fetchall(), ledger(project)


def told(result):
    """What a person reads of it, without its durations and run."""
    return re.sub(r"\d+\.\d+ ?m?s|run [0-9a-f]{16}", "…", result.stderr)


def both(pair, *args, env=None, code=0):
    first, second = pair
    results = [first.run(*args, "--concurrency", "1", env=env), second.run(*args, *AT_ONCE, env=env)]
    assert [result.code for result in results] == [code, code], f"{results[0]}\n{results[1]}"
    assert state_of(first) == state_of(second)
    return results


@pytest.mark.parametrize("kind", MODELS)
def test_04_3_batches_at_once_leave_what_one_after_the_other_leaves(twins, kind):
    pair = twins(MODELS[kind])
    for args in ([*ONE_BY_ONE], ["--start", "2026-06-05", "--end", "2026-06-25", "--batch", "3", "--order", "newest"]):
        for verb in ("run", "restate"):
            one, four = both(pair, verb, *args, "--json")
            assert one.json["rows"] == four.json["rows"]
    assert len(state_of(pair[0])[0]) == (7 if kind in ("keyed", "python") else 30)


def test_04_3_keys_go_to_the_newest_window_that_has_them(twins):
    pair = twins(KEYED)
    both(pair, "run", *ONE_BY_ONE)
    assert pair[1].query("SELECT k, n FROM m ORDER BY k") == [[k, 28 + k if k < 2 else 21 + k] for k in range(7)]


def test_04_3_the_first_batch_makes_the_table_or_the_copy(june_daily):
    project = june_daily(", concurrency: 4")
    project.write({"models/new.sql": daily(", backfill: none, concurrency: 4")})
    project.ok("run", *ONE_BY_ONE, "-s", "new")
    project.ok("run", *ONE_BY_ONE, "-s", "m")
    project.ok("apply", "-e", "dev")
    project.load("UPDATE days SET n = -n")
    project.ok("restate", *ONE_BY_ONE, "-e", "dev", "-s", "m")
    assert project.query("SELECT sum(n) FROM new") == project.query("SELECT sum(n) FROM m") == [[435]]
    assert project.query("SELECT sum(n), count(*) FROM m", env="dev") == [[-435, 30]]
    assert ledger(project, env="dev") == ledger(project) == ledger(project, "new") + [["2026-07-04", "2026-07-05"]]


# ---- What is read at once, and when not. The hook is passed by each batch that has been read before its turn.


def reads_ahead(project, *args):
    """The first batch waits for a moment, so that an idle thread surely takes the second one."""
    env = {"INTERLACE_HOOK": "build.written=wait:1000@1,build.staged=kill"}
    return project.run("restate", *ONE_BY_ONE, *args, env=env).code == -9


@pytest.mark.parametrize(
    ("header", "args", "expected"),
    [
        ("", [], False),
        ("", ["--concurrency", "2"], True),
        (", concurrency: 3", [], True),
        (", concurrency: 3", ["--concurrency", "1"], False),
        (", concurrency: 1", ["--concurrency", "4"], False),
        (", concurrency: 3", ["--parallelism", "1"], False),
    ],
)
def test_04_3_the_model_or_the_command_says_how_many(june_daily, header, args, expected):
    project = june_daily(header)
    assert reads_ahead(project, *args) == expected


@pytest.fixture
def june_daily(project):
    def make(header=""):
        project.env.update(AFTER)
        project.write({"interlace.yaml": CONFIG, "models/m.sql": daily(", backfill: none" + header)})
        load_days(project)
        project.ok("apply")
        return project

    return make


def test_04_2_a_concurrency_that_cannot_be_meant(june_daily):
    project = june_daily()
    for value in ("0", "-1", "many"):
        assert "--concurrency must be a whole number" in project.fails("run", "--concurrency", value, code=2).stderr
    assert "concurrency" in project.write({"models/m.sql": daily(", concurrency: 0")}).fails("plan").stderr


def test_04_3_what_cannot_be_read_ahead_is_read_in_its_turn(june_daily):
    project = june_daily()
    project.ok("run", *ONE_BY_ONE, *AT_ONCE, env={"INTERLACE_HOOK": "build.ahead=fail"})
    assert project.query("SELECT count(*) FROM m") == [[30]]


MEETING = """import pathlib, time
import pyarrow as pa
from interlace import model


@model(strategy='incremental', time_column='d', key='d', backfill='none')
def m(*, window):
    with open(f'call_{window.start:%d}', 'a') as calls:
        calls.write('x')
    end = time.monotonic() + 60
    while window.start.month == 6 and len(list(pathlib.Path().glob('call_*'))) < 2:
        assert time.monotonic() < end, 'called alone'
        time.sleep(0.005)
    return pa.table({'d': pa.array([window.start], pa.timestamp('us')), 'n': [window.start.day]})
"""


def test_04_3_python_functions_are_called_at_once(project):
    project.env.update(AFTER)
    project.write({"interlace.yaml": "timezone: UTC\n", "models/m.py": MEETING})
    project.ok("apply")
    (project.root / "call_04").unlink()
    project.ok("run", "--start", "2026-06-01", "--end", "2026-06-03", "--batch", "1", "--concurrency", "2")
    assert project.query("SELECT n FROM m ORDER BY d") == [[1], [2], [4]]
    assert [project.read(f"call_0{day}") for day in (1, 2)] == ["x", "x"]


def test_04_3_models_that_windows_register_are_built_each(project):
    python = """import pyarrow as pa
from interlace import model
from interlace.dsl.decorators import REGISTRY, ModelDef


@model(strategy='incremental', time_column='d', key='d', backfill='none')
def m(*, window):
    REGISTRY.register_model(ModelDef(name=f'day_{window.start:%d}', sql='SELECT 1 AS a'))
    return pa.table({'d': pa.array([window.start], pa.timestamp('us'))})
"""
    project.env.update(AFTER)
    project.write({"interlace.yaml": "timezone: UTC\n", "models/m.py": python})
    project.ok("apply")
    document = project.json("run", "-s", "m", "--start", "2026-06-01", "--end", "2026-06-07", "--batch", "1", *AT_ONCE)
    assert sorted(document["registered"]) == [f"day_0{day}" for day in range(1, 7)]


@pytest.mark.parametrize("own", ["this", "cursor"])
def test_04_3_a_window_that_reads_its_own_table_waits_for_the_one_before_it(twins, own):
    python = (
        "from interlace import model\nimport pyarrow as pa\n\n\n"
        "@model(strategy='incremental', time_column='d', key='d', cursor='n', backfill='none')\n"
        f"def m(*, window, {own}):\n"
        + ("    seen = 0 if this is None else this.table().num_rows\n" if own == "this" else "    seen = cursor or 0\n")
        + "    return pa.table({'d': pa.array([window.start], pa.timestamp('us')), 'n': [seen + 1]})\n"
    )
    pair = twins({"models/m.py": python})
    both(pair, "run", *ONE_BY_ONE, env={"INTERLACE_HOOK": "build.ahead=kill"})


def test_04_3_a_delivery_gives_the_same_table(twins):
    config = CONFIG.replace("{src", "{crm: data/crm.duckdb, src")
    header = "/* interlace: {materialise: table, target: crm.t, strategy: incremental, time_column: d, key: k, backfill: none} */"
    pair = twins({"models/m.sql": f"{header}\nSELECT d, n % 7 AS k, n FROM src.days"}, config)
    for project, concurrency in zip(pair, (1, 4), strict=True):
        project.ok("run", *ONE_BY_ONE, "--concurrency", concurrency)
    tables = [project.sql("FROM t", "data/crm.duckdb") for project in pair]
    assert tables[0] == tables[1]
    assert len(tables[0]) == 7
    assert ledger(pair[0]) == ledger(pair[1])


def test_04_5_a_lake_reads_and_writes_one_batch_at_a_time_and_says_so_once(project):
    project.env.update(AFTER)
    project.write(
        {
            "interlace.yaml": "database: ducklake:data/lake.ducklake\nattach: {src: data/src.duckdb}\ntimezone: UTC\n",
            "models/m.sql": daily(", backfill: none"),
            "models/o.sql": daily(", backfill: none, concurrency: 2"),
        }
    )
    load_days(project)
    project.ok("apply")
    env = {"INTERLACE_HOOK": "build.ahead=kill"}
    result = project.ok("run", "--start", "2026-06-01", "--end", "2026-06-05", "--batch", "1", *AT_ONCE, env=env)
    assert result.stderr.count("does one thing at a time") == 1
    assert "one thing at a time" not in project.ok("run", "-s", "m").stderr
    assert project.query("SELECT count(*) FROM m") == [[4]]


# ---- Failures


FAULTS = {
    "check": daily(", backfill: none, checks: [{not_null: n}]", "SELECT d, nullif(n, 9) AS n FROM src.days"),
    "query": daily(", backfill: none", "SELECT d, CAST(replace(n::VARCHAR, '9', 'x') AS INTEGER) AS n FROM src.days"),
}


@pytest.mark.parametrize("more", [[], ["--keep-going"], ["--order", "newest"], ["--batch", "4"], ["--batch", "auto"]])
@pytest.mark.parametrize("fault", FAULTS)
def test_04_2_a_failing_window_leaves_what_it_leaves_alone(twins, more, fault):
    pair = twins({"models/m.sql": FAULTS[fault]})
    first, second = both(pair, "run", *ONE_BY_ONE, *more, code=1)
    assert "of 30 windows are filled; failed: 2026-06-" in first.stderr
    assert told(first) == told(second)


@pytest.mark.parametrize("point", ["begun", "statement", "written", "checked", "committed", "ledger", "recorded"])
def test_04_3_a_kill_loses_no_finished_batch(twins, point):
    pair = twins(MODELS["keyless"])
    hook = {"INTERLACE_HOOK": f"build.{point}=kill@5"}
    both(pair, "run", *ONE_BY_ONE, env=hook, code=-9)
    both(pair, "run", *ONE_BY_ONE)
    assert len(state_of(pair[1])[0]) == 30


@pytest.mark.parametrize("passage", [1, 2, 7])
def test_04_3_a_kill_while_batches_are_read_ahead(twins, passage):
    pair = twins(KEYED)
    pair[1].run("run", *ONE_BY_ONE, *AT_ONCE, env={"INTERLACE_HOOK": f"build.ahead=kill@{passage}"})
    rows, filled = state_of(pair[1])
    done = [batch for batch in filled if batch[0] < "2026-07"]
    days = sum((int(end[8:]) - int(start[8:])) or 30 for start, end in done)
    assert len(rows) == min(days, 7)
    both(pair, "run", *ONE_BY_ONE)


def test_04_3_a_cancelled_run_keeps_what_is_done(june_daily, tmp_path):
    endless = "SELECT d, n FROM src.days WHERE n < 3 OR n < (SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b)"
    project = june_daily()
    project.write({"models/m.sql": daily(", backfill: none", endless)})
    started = tmp_path / "started"
    env = {"INTERLACE_HOOK": f"build.ahead=touch:{started}"}
    running = project.spawn("run", *ONE_BY_ONE, *AT_ONCE, env=env)
    wait_for_file(started, running)
    running.send_signal(signal.SIGINT)
    _, stderr = running.communicate(timeout=60)
    assert running.returncode == 130, stderr
    project.write({"models/m.sql": daily(", backfill: none")})
    project.ok("run", *ONE_BY_ONE, *AT_ONCE, "--lock-timeout", "0")
    assert project.query("SELECT count(*) FROM m") == [[30]]
