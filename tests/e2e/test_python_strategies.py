"""Python models with strategies, end to end: spec 01 §8.2–8.5, spec 02 §5, §7 and §14. Names carry the number of the line
they show."""

import os
import signal
import subprocess
import sys

import pytest
from test_apply import wait_for_file
from test_strategies import counts_of, set_source

HEAD = "from interlace import model\nimport pyarrow as pa\n\n\n"
CONFIG = "attach: {src: data/src.duckdb}\ntimezone: UTC\n"
KEYED = ["merge", "full_merge", "hash_merge", "scd"]
ALL = ["replace", *KEYED, "incremental"]
NOW = {"INTERLACE_NOW": "2026-07-02T12:00:00"}


def arguments(strategy, key="'id'"):
    extra = {"replace": "", "incremental": f", key={key}, time_column='ts'"}.get(strategy, f", key={key}")
    return f"strategy='{strategy}'{extra}"


def from_source(strategy, name="m"):
    """A Python model that hands on the rows of src.items."""
    return {
        "interlace.yaml": CONFIG,
        "models/stg.sql": "/* interlace: {materialise: view} */\nSELECT * FROM src.items",
        f"models/{name}.py": HEAD + f"@model({arguments(strategy)})\ndef {name}(stg):\n    return stg.reader()\n",
    }


def again(strategy):
    """The command that does `m` once more: whole, or the day of its rows."""
    day = ("restate", "--start", "2026-07-01", "--end", "2026-07-02")
    return (*(day if strategy == "incremental" else ("run",)), "-s", "m")


def at(text):
    return f"TIMESTAMP '2026-07-{text}'"


# --- cursor

PULL = HEAD + (
    "@model(strategy='merge', key='id', cursor='id')\ndef m(cursor):\n"
    "    with open('seen', 'a') as seen:\n        print(repr(cursor), file=seen)\n"
    "    first = 1 if cursor is None else cursor + 1\n    end = 20 if cursor is None else cursor + 5\n"
    "    return pa.table({'id': list(range(first, end + 1))})\n"
)


def test_01_8_4_the_cursor_is_none_then_twenty_and_the_same_after_a_kill(project):
    project.write({"models/m.py": PULL})
    project.ok("apply")
    killed = project.run("run", env={"INTERLACE_HOOK": "build.written=kill"})
    assert killed.code == -9
    assert project.query("SELECT count(*)::INT, max(id)::INT FROM m") == [[20, 20]]
    project.ok("run")
    assert project.read("seen").split() == ["None", "20", "20"]
    assert project.query("SELECT count(*)::INT, max(id)::INT FROM m") == [[25, 25]]
    project.ok("restate", "-s", "m")
    assert project.read("seen").split()[-1] == "None"


@pytest.mark.parametrize(
    "made",
    [
        "pa.array([1782864000000001], pa.timestamp('us', 'UTC'))",
        "pa.array([decimal.Decimal('12.30')], pa.decimal128(10, 2))",
        "pa.array(['tëxt'])",
    ],
)
def test_10_5_the_cursor_arrives_with_equal_type_and_value(project, made):
    project.write(
        {
            "models/m.py": HEAD + "import decimal\n\n\n@model(strategy='merge', key='id', cursor='c')\ndef m(cursor):\n"
            f"    made = {made}\n    if cursor is not None:\n"
            "        assert (type(cursor), cursor) == (type(made[0].as_py()), made[0].as_py()), repr(cursor)\n"
            "    return pa.table({'id': [1 if cursor is None else 2], 'c': made})\n",
        }
    )
    project.ok("apply")
    project.ok("run")
    assert project.query("SELECT count(*)::INT FROM m") == [[2]]


def test_01_8_the_cursor_keeps_the_type_of_its_column(project):
    project.write(
        {
            "models/m.py": HEAD
            + "import datetime\n\n\n@model(strategy='merge', key='id', cursor='at')\ndef m(cursor):\n"
            "    with open('seen', 'a') as seen:\n        print(repr(cursor), file=seen)\n"
            "    return pa.table({'id': [1], 'at': [datetime.datetime(2026, 7, 1, 8, 0)]})\n",
        }
    )
    project.ok("apply")
    project.ok("run")
    assert project.read("seen").splitlines() == ["None", "datetime.datetime(2026, 7, 1, 8, 0)"]


# --- Nothing new

QUIET = HEAD + (
    "@model({arguments}, cursor='id')\ndef m(cursor):\n    if cursor is None:\n"
    "        yield pa.table({{'id': [1, 2], 'ts': pa.array([0, 0], pa.timestamp('us'))}})\n"
)


@pytest.mark.parametrize("strategy", ["merge", "hash_merge", "incremental"])
def test_01_8_5_a_quiet_pull_changes_nothing(project, strategy):
    project.write({"interlace.yaml": "timezone: UTC\n", "models/m.py": QUIET.format(arguments=arguments(strategy))})
    project.ok("apply", env=NOW)
    [row] = [line for line in project.ok("run", env=NOW).stdout.splitlines() if line.startswith("m ")]
    assert row.split()[-2] == "—"
    assert project.query("SELECT count(*)::INT FROM m") == [[2]]


@pytest.mark.parametrize("strategy", ["replace", "full_merge", "scd"])
def test_01_8_5_where_the_output_is_the_state_nothing_yielded_is_an_error(project, strategy):
    project.write({"models/m.py": QUIET.format(arguments=arguments(strategy))})
    project.ok("apply")
    assert "yielded nothing" in project.fails("run").stderr
    assert project.query("SELECT count(*)::INT FROM m") == [[2]]


def test_01_8_nothing_yielded_on_a_first_build_is_an_error(project):
    project.write(
        {"models/m.py": HEAD + "@model(strategy='merge', key='id')\ndef m():\n    if False:\n        yield None\n"}
    )
    assert "yielded nothing" in project.fails("apply").stderr


# --- this


@pytest.mark.parametrize("body", ["t = this.table()", "t = pa.Table.from_batches(list(this.reader()))"])
def test_01_8_6_this_adds_one_row_a_run(project, body):
    project.write(
        {
            "models/m.py": HEAD + "@model()\ndef m(this):\n    one = pa.table({'n': [0]})\n    if this is None:\n"
            f"        return one\n    {body}\n    return pa.concat_tables([t, one.cast(t.schema)])\n"
        }
    )
    project.ok("apply")
    counts = [project.query("SELECT count(*)::INT FROM m")[0][0]]
    for _ in range(2):
        project.ok("run")
        counts += project.query("SELECT count(*)::INT FROM m")[0]
    assert counts == [1, 2, 3]


def test_01_8_this_is_read_while_the_same_table_is_written(project):
    project.write(
        {
            "models/m.py": HEAD + "@model()\ndef m(this):\n    if this is None:\n"
            "        yield pa.table({'n': list(range(200000))})\n        return\n"
            "    for batch in this.reader():\n        yield batch\n        yield batch\n"
        }
    )
    project.ok("apply")
    project.ok("run")
    assert project.query("SELECT count(*)::INT, count(DISTINCT n)::INT FROM m") == [[400000, 200000]]


# --- Wrong returns


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return None", "None"),
        ("return {'a': [1]}", "dict"),
        ("return 'a'", "str"),
        ("return b'a'", "bytes"),
        ("return [{'a': 1}]", "dict"),
        ("return 7", "int"),
        ("yield 7", "int"),
    ],
)
def test_01_8_5_a_wrong_return_type_is_named(project, body, said):
    project.write({"models/m.py": HEAD + f"@model()\ndef m():\n    {body}\n"})
    result = project.fails("apply", "--json")
    assert result.json["error"]["kind"] == "DefinitionError"
    assert said in result.json["error"]["message"] and "'m'" in result.json["error"]["message"]


@pytest.mark.parametrize("second", ["pa.table({'a': ['x']})", "pa.table({'a': [1], 'b': [1]})", "pa.table({'b': [1]})"])
def test_01_8_a_later_batch_of_another_schema_names_batch_and_column(project, second):
    project.write({"models/m.py": HEAD + f"@model()\ndef m():\n    yield pa.table({{'a': [1]}})\n    yield {second}\n"})
    said = project.fails("apply").stderr
    assert "batch 2" in said and ("'a'" in said or "'b'" in said)


def test_01_8_batches_are_matched_by_name(project):
    project.write(
        {
            "models/m.py": HEAD + "@model()\ndef m():\n    yield pa.table({'a': [1], 'b': ['x']})\n"
            "    yield pa.table({'b': ['y'], 'a': [2]})\n"
        }
    )
    project.ok("apply")
    assert project.query("SELECT a, b FROM m ORDER BY a") == [[1, "x"], [2, "y"]]


# --- window and ctx

WINDOWED = HEAD + (
    "@model(strategy='incremental', key='id', time_column='ts', interval='1d')\ndef m(stg, *, window, ctx):\n"
    "    with open('seen', 'a') as seen:\n"
    "        print(window and (str(window.start), str(window.end)), ctx.model, ctx.environment, ctx.attempt, file=seen)\n"
    "    return stg.reader()\n"
)


def start_windowed(project):
    project.write({**from_source("incremental"), "models/m.py": WINDOWED})
    set_source(project, f"(1,'a',{at('01 08:00')}), (2,'b',{at('02 08:00')})")
    project.ok("apply", env={"INTERLACE_NOW": "2026-07-03T12:00:00"})


def test_01_8_window_and_ctx_tell_what_is_built(project):
    start_windowed(project)
    project.ok("restate", "-s", "m", "--start", "2026-07-02", "--end", "2026-07-03")
    first, second = project.read("seen").splitlines()
    assert first == "None m prod 1"
    assert second == "('2026-07-02 00:00:00', '2026-07-03 00:00:00') m prod 1"


def test_02_5_5_a_keyed_window_takes_its_own_rows_alone(project):
    start_windowed(project)
    set_source(project, f"(1,'changed',{at('01 08:00')}), (2,'B',{at('02 09:00')}), (3,'new',{at('02 10:00')})")
    answer = project.json("restate", "-s", "m", "--start", "2026-07-02", "--end", "2026-07-03")
    assert answer["rows"]["m"] == {"inserted": 1, "updated": 1, "deleted": 0}
    assert project.query("SELECT id, v FROM m ORDER BY id") == [[1, "a"], [2, "B"], [3, "new"]]


# --- Keys, contracts, checks


@pytest.mark.parametrize("strategy", [*KEYED, "incremental"])
@pytest.mark.parametrize(
    ("rows", "said"), [("(1,'a',{t}), (1,'b',{t})", "not unique"), ("(1,'a',{t}), (NULL,'b',{t})", "NULL")]
)
def test_02_1_keys_that_are_null_or_repeat_are_refused(project, strategy, rows, said):
    project.write(from_source(strategy))
    set_source(project, f"(1,'z',{at('01 08:00')})")
    project.ok("apply", env=NOW)
    set_source(project, rows.format(t=at("01 08:00")))
    result = project.fails(*again(strategy), env=NOW)
    assert said in result.stderr and "'m'" in result.stderr
    assert project.query("SELECT id, v FROM m") == [[1, "z"]]


@pytest.mark.parametrize("strategy", ALL)
def test_01_8_4_a_broken_contract_leaves_the_table(project, strategy):
    text = HEAD + (
        f"@model({arguments(strategy)}, columns={{'id': 'BIGINT', 'v': 'VARCHAR', 'ts': 'TIMESTAMP'}})\ndef m():\n"
        "    import pathlib\n    v = [7] if pathlib.Path('broken').exists() else ['a']\n"
        "    return pa.table({'id': [1], 'v': v, 'ts': pa.array([1782864000000000], pa.timestamp('us'))})\n"
    )
    project.write({"interlace.yaml": "timezone: UTC\n", "models/m.py": text})
    project.ok("apply", env=NOW)
    project.write({"broken": ""})
    result = project.fails(*again(strategy), env=NOW)
    assert "column v is BIGINT, expected VARCHAR" in result.stderr
    assert "(models/m.py:5); while running model 'm'" in result.stderr
    assert project.query("SELECT id, v FROM m") == [[1, "a"]]


@pytest.mark.parametrize("strategy", ALL)
def test_01_8_4_a_function_that_raises_midway_leaves_the_table(project, strategy):
    text = HEAD + (
        f"@model({arguments(strategy)})\ndef m():\n    import pathlib\n"
        "    when = pa.array([1782864000000000], pa.timestamp('us'))\n"
        "    yield pa.table({'id': [1], 'v': ['a'], 'ts': when})\n"
        "    if pathlib.Path('broken').exists():\n        raise ValueError('midway')\n"
    )
    project.write({"interlace.yaml": "timezone: UTC\n", "models/m.py": text})
    project.ok("apply", env=NOW)
    before = project.query("SELECT * FROM m")
    project.write({"broken": ""})
    result = project.fails(*again(strategy), env=NOW)
    assert "ValueError: midway" in result.stderr and "models/m.py:11" in result.stderr
    assert project.query("SELECT * FROM m") == before


# --- Columns that come and go

FIRST = "(1, 'a'), (2, 'b')"
KEPT = [[1, "a", 10], [2, "b", None], [3, "c", 30]]
DRIFTS = {
    # strategy: rows after a column came, rows after column v went
    "replace": ([[1, "a", 10], [3, "c", 30]], [[1, 10], [3, 30]], "id, w"),
    "merge": (KEPT, KEPT, "id, v, w"),
    "full_merge": ([[1, "a", 10], [3, "c", 30]], [[1, "a", 10], [3, "c", 30]], "id, v, w"),
    "hash_merge": (KEPT, KEPT, "id, v, w"),
}


def drifting(kind, strategy):
    if kind == "python":
        return from_source(strategy)
    key = "" if strategy == "replace" else ", key: id"
    return {
        "interlace.yaml": CONFIG,
        "models/m.sql": f"/* interlace: {{strategy: {strategy}{key}}} */\nSELECT * FROM src.items",
    }


@pytest.mark.parametrize("kind", ["sql", "python"])
@pytest.mark.parametrize("strategy", DRIFTS)
def test_02_14_2_a_column_that_comes_and_one_that_goes(project, strategy, kind):
    grown, shrunk, columns = DRIFTS[strategy]
    project.write(drifting(kind, strategy))
    set_source(project, FIRST, "id, v")
    project.ok("apply")
    set_source(project, "(1, 'a', 10), (3, 'c', 30)", "id, v, w")
    project.ok("run")
    assert project.query("SELECT id, v, w FROM m ORDER BY id") == grown
    set_source(project, "(1, 10), (3, 30)", "id, w")
    project.ok("run")
    assert project.query(f"SELECT {columns} FROM m ORDER BY id") == shrunk


@pytest.mark.parametrize("kind", ["sql", "python"])
def test_02_14_4_scd_keeps_its_validity_when_a_column_comes(project, kind):
    project.write(drifting(kind, "scd"))
    set_source(project, FIRST, "id, v")
    project.ok("apply", env={"INTERLACE_NOW": "2026-07-01T08:00:00"})
    set_source(project, "(1, 'a', 10), (2, 'b', NULL)", "id, v, w")
    project.ok("run", env={"INTERLACE_NOW": "2026-07-02T08:00:00"})
    assert project.query(
        "SELECT id, v, w, _valid_from::VARCHAR, _valid_to::VARCHAR FROM m ORDER BY id, _valid_from"
    ) == [
        [1, "a", None, "2026-07-01 08:00:00", "2026-07-02 08:00:00"],
        [1, "a", 10, "2026-07-02 08:00:00", None],
        [2, "b", None, "2026-07-01 08:00:00", None],
    ]


@pytest.mark.parametrize("kind", ["sql", "python"])
@pytest.mark.parametrize("strategy", ["merge", "full_merge", "hash_merge"])
def test_02_14_3_a_type_that_drifts_is_cast_or_told(project, strategy, kind):
    project.write(drifting(kind, strategy))
    set_source(project, "(1, 1)", "id, v")
    project.ok("apply")
    set_source(project, "(1, '7')", "id, v")
    project.ok("run")
    assert project.query("SELECT id, v FROM m") == [[1, 7]]
    set_source(project, "(1, 'junk')", "id, v")
    result = project.fails("run")
    assert "value 'junk' of column 'v' does not convert" in result.stderr
    assert project.query("SELECT id, v FROM m") == [[1, 7]]


@pytest.mark.parametrize("kind", ["sql", "python"])
@pytest.mark.parametrize("strategy", [*DRIFTS, "scd"])
def test_02_14_5_columns_go_by_name(project, strategy, kind):
    project.write(drifting(kind, strategy))
    set_source(project, "(1, 'a', 'b')", "id, v, w")
    project.ok("apply")
    set_source(project, "('d', 1, 'c')", "w, id, v")
    project.ok("run")
    current = " WHERE _valid_to IS NULL" if strategy == "scd" else ""
    assert project.query(f"SELECT id, v, w FROM m{current}") == [[1, "c", "d"]]


# --- What a repeat does, and a kill

REPEATS = {
    "replace": (2, 0, 0),
    "merge": (0, 2, 0),
    "full_merge": (0, 0, 0),
    "hash_merge": (0, 0, 0),
    "scd": (0, 0, 0),
    "incremental": (0, 2, 0),
}


@pytest.mark.parametrize("strategy", REPEATS)
def test_02_7_1_a_repeat_of_a_python_model(project, strategy):
    project.write(from_source(strategy))
    set_source(project, f"(1,'a',{at('01 08:00')}), (2,'b',{at('01 09:00')})")
    project.ok("apply", env=NOW)
    before = project.query("SELECT * FROM m ORDER BY id")
    assert counts_of(project.json(*again(strategy), env=NOW)) == REPEATS[strategy]
    assert project.query("SELECT * FROM m ORDER BY id") == before


@pytest.mark.parametrize("hook", ["build.written", "build.committed", "build.recorded"])
@pytest.mark.parametrize("strategy", ["merge", "full_merge", "hash_merge", "scd"])
def test_02_7_2_a_killed_run_is_made_good_by_the_next(project, strategy, hook):
    project.write(from_source(strategy))
    set_source(project, f"(1,'a',{at('01 08:00')}), (2,'b',{at('01 09:00')})")
    project.ok("apply", env={"INTERLACE_NOW": "2026-07-01T12:00:00"})
    set_source(project, f"(1,'A',{at('01 08:00')}), (3,'c',{at('01 09:00')})")
    assert project.run("run", "-s", "m", env={**NOW, "INTERLACE_HOOK": f"{hook}=kill"}).code == -9
    project.ok("run", "-s", "m", env=NOW)
    expected = {
        "merge": [[1, "A"], [2, "b"], [3, "c"]],
        "full_merge": [[1, "A"], [3, "c"]],
        "hash_merge": [[1, "A"], [2, "b"], [3, "c"]],
        "scd": [[1, "A"], [1, "a"], [2, "b"], [3, "c"]],
    }
    assert project.query("SELECT id, v FROM m ORDER BY id, v") == expected[strategy]
    stages = project.sql("SELECT table_name FROM duckdb_tables() WHERE table_name LIKE '%stage%'")
    assert stages == []


# --- Ctrl-C and memory


@pytest.mark.parametrize("strategy", ALL)
def test_01_8_ctrl_c_ends_a_model_and_leaves_its_table(project, strategy):
    text = HEAD + (
        f"@model({arguments(strategy)})\ndef m():\n    import pathlib, time\n"
        "    when = pa.array([1782864000000000], pa.timestamp('us'))\n"
        "    yield pa.table({'id': [1], 'v': ['a'], 'ts': when})\n"
        "    while pathlib.Path('slow').exists():\n        pathlib.Path('begun').touch()\n"
        "        time.sleep(0.05)\n        yield pa.table({'id': [1], 'v': ['b'], 'ts': when})\n"
    )
    project.write({"interlace.yaml": "timezone: UTC\n", "models/m.py": text})
    project.ok("apply", env=NOW)
    before = project.query("SELECT * FROM m")
    project.write({"slow": ""})
    process = project.spawn(*again(strategy), env=NOW)
    wait_for_file(project.root / "begun", process)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    assert process.returncode == 130, stderr
    assert project.query("SELECT * FROM m") == before


MEASURE = (
    "import resource, subprocess, sys\n"
    "code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode\n"
    "print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)\n"
)


def peak_of(project, binary_path, *args):
    """Peak resident memory of the largest process of a run, in MiB."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(binary_path), *args],
        cwd=project.root,
        env=project.environment(),
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    code, peak = done.stdout.split()
    assert code == "0", done.stderr
    return int(peak)


def test_01_8_2_memory_does_not_grow_with_the_rows(project, binary_path):
    text = HEAD + (
        "@model()\ndef m():\n    import pathlib\n    for i in range(int(pathlib.Path('batches').read_text())):\n"
        "        yield pa.table({'n': pa.array(range(65536), pa.int64()), 'x': pa.array([float(i)] * 65536)})\n"
    )
    engines = "engines: {default: {type: duckdb, settings: {memory_limit: 256MB}}}\n"
    project.write({"interlace.yaml": engines, "models/m.py": text, "batches": "40"})
    small = peak_of(project, binary_path, "apply")
    project.write({"batches": "240"})
    large = peak_of(project, binary_path, "run")
    assert project.query("SELECT count(*)::INT FROM m") == [[240 * 65536]]
    # The address sanitizer keeps up to 256 MB of freed blocks from reuse.
    quarantine = 256 if os.environ.get("INTERLACE_SANITIZED") == "1" else 0
    assert large < 256 + 512 + quarantine
    assert large < small + 300 + quarantine
