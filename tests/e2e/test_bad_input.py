"""Bad input: each gives one clear message with the name of the thing, the right exit code, and loses nothing."""

import os
import signal
import subprocess

import pytest

READERS = [("plan",), ("apply",), ("models",)]


def refuses(project, *words, code=1, commands=READERS):
    """Every command says the same, creates no warehouse and leaves standard output empty."""
    for command in commands:
        result = project.fails(*command, code=code)
        for word in words:
            assert word in result.stderr, (word, result)
        assert result.stdout == "", result
    assert not project.exists(".interlace/warehouse.duckdb")
    return result


# --- The folder and its files ---------------------------------------------------------------------------------------


def test_an_empty_folder_has_no_changes(project):
    result = project.ok("plan")
    assert "No changes for prod." in result.stdout
    assert "no models" in result.stdout + result.stderr
    assert project.files() == []


def test_a_missing_folder_is_not_created(project):
    result = project.fails("plan", "-p", "does/not/exist")
    assert "no interlace project at" in result.stderr
    assert not project.exists("does")


def test_an_unreadable_file_is_named(project):
    if os.geteuid() == 0:
        project.write({"models/a.sql": "SELECT 1"})
        (project.root / "models/b.sql").symlink_to("nowhere.sql")
        refuses(project, "models/b.sql")
    else:
        project.write({"models/a.sql": "SELECT 1"})
        (project.root / "models/a.sql").chmod(0)
        refuses(project, "models/a.sql")


def test_a_file_that_is_not_utf8_is_named(project):
    project.write({"models/bad.sql": "SELECT 'für' AS x".encode("latin-1")})
    refuses(project, "models/bad.sql", "UTF-8")


def test_a_sql_file_of_ten_megabytes_is_refused_or_built(project):
    text = "SELECT 1 AS id -- " + "x" * (10 << 20)
    project.write({"models/big.sql": text})
    refuses(project, "models/big.sql")


def test_a_folder_that_is_named_like_a_model_is_said(project):
    (project.root / "models/x.sql").mkdir(parents=True)
    refuses(project, "models/x.sql", "folder")


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"interlace.yaml": "name:\tx\nvars:\n\ta: 1\n"}, ["interlace.yaml", "tab"]),
        ({"interlace.yaml": "name: a\nparallelism: 2\nname: b\n"}, ["interlace.yaml:3:1", "name"]),
        ({"interlace.yaml": "databse: x\n"}, ["interlace.yaml:1:1", "databse", "database"]),
        ({"interlace.yaml": "- a\n- b\n"}, ["interlace.yaml"]),
        ({"interlace.yaml": "name: [a\n"}, ["interlace.yaml:"]),
        ({"interlace.yaml": "parallelism: 0\n"}, ["parallelism"]),
        ({"interlace.yaml": "parallelism: many\n"}, ["parallelism"]),
        ({"interlace.yaml": "vars: {r: {type: int, value: x}}\n"}, ["r", "int"]),
        ({"interlace.yaml": "timezone: Mars/Olympus\n"}, ["timezone", "Mars/Olympus"]),
        ({"models/a.sql": "SELECT * FROM a"}, ["model 'a'", "models/a.sql"]),
        (
            {"models/a.sql": "SELECT * FROM c", "models/b.sql": "SELECT * FROM a", "models/c.sql": "SELECT * FROM b"},
            ["models/a.sql", "models/b.sql", "models/c.sql", "cycle"],
        ),
        ({"models/a.sql": "/* interlace: {depends_on: [nothing]} */ SELECT 1 AS x"}, ["model 'a'", "nothing"]),
        ({"models/a.sql": "SELECT 1 AS x", "models/A.sql": "SELECT 1 AS x"}, ["models/A.sql", "models/a.sql"]),
        (
            {"models/a.sql": "/* interlace: {name: b} */ SELECT 1 AS x", "models/b.sql": "SELECT 1 AS x"},
            ["models/a.sql", "models/b.sql"],
        ),
        ({"models/a.sql": "INSERT INTO t VALUES (1)"}, ["model 'a'", "INSERT"]),
        ({"models/a.sql": "SELECT 1; SELECT 2"}, ["model 'a'", "models/a.sql"]),
        ({"models/a.sql": ""}, ["model 'a'"]),
        ({"models/a.sql": "-- nothing here\n"}, ["model 'a'"]),
        ({"models/a.sql": "SELECT 1 AS x,\n  FROM (SELECT 2"}, ["models/a.sql:2:"]),
        ({"models/a.sql": "SELECT 'x"}, ["models/a.sql:1:"]),
        ({"models/größe.sql": "SELECT 1 AS id"}, ["größe.sql"]),
        ({"models/a.sql": "/* interlace: {stratgy: merge, key: id} */ SELECT 1 AS id"}, ["stratgy", "strategy"]),
        ({"models/a.sql": "/* interlace: : */ SELECT 1"}, ["models/a.sql:1"]),
        ({"models/a.sql": "PIVOT t ON k USING sum(v)"}, ["model 'a'", "IN"]),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else None,
)
def test_a_fault_of_the_project_is_named_with_its_place(project, files, words):
    project.write(files)
    refuses(project, *words)


def test_all_faults_of_a_load_are_reported_together_in_the_order_of_files(project):
    project.write(
        {
            "models/a.sql": "SELECT 1; SELECT 2",
            "models/b.sql": "/* interlace: {stratgy: merge} */ SELECT 1 AS id",
            "models/c.sql": "/* interlace: {materialise: table} */ SELECT 1 AS id",
        }
    )
    result = project.fails("plan")
    assert len(result.error_lines) == 3
    assert ["models/a.sql" in result.error_lines[0], "models/b.sql" in result.error_lines[1]] == [True, True]
    assert "models/c.sql" in result.error_lines[2]


@pytest.mark.parametrize(
    ("header", "feature"),
    [
        ("{dialect: postgres}", "dialect"),
    ],
)
def test_what_a_later_release_brings_is_refused_by_one_plan_error_that_names_it(project, header, feature):
    project.write(
        {
            "interlace.yaml": "attach: {src: data/src.duckdb}\n",
            "models/a.sql": f"/* interlace: {header} */ SELECT 1 AS id, now() AS ts",
        }
    )
    document = project.json("plan", code=1)
    assert document["error"]["kind"] == "PlanError"
    assert document["error"]["details"]["code"] == "feature.later"
    assert feature in document["error"]["message"]
    assert "'a'" in document["error"]["message"]


# --- Errors that the engine finds -----------------------------------------------------------------------------------


def test_06_1_4_an_engine_error_points_into_the_file_of_the_user(project):
    project.write({"models/a.sql": "SELECT 1 AS id", "models/b.sql": "-- für\nSELECT id,\n       idd\nFROM a"})
    result = project.fails("apply")
    assert "models/b.sql:3:8" in result.stderr


def test_an_error_inside_an_inlined_model_points_into_that_models_file(project):
    project.write(
        {
            "models/a.sql": "/* interlace: {materialise: ephemeral} */\nSELECT 1 AS id,\n  nothing_here AS x",
            "models/b.sql": "SELECT * FROM a",
        }
    )
    result = project.fails("apply")
    assert "models/a.sql:3:3" in result.stderr


def test_06_1_4_a_cast_that_fails_shows_the_statement(project):
    project.write({"models/x.sql": "SELECT CAST(v AS INT) AS v FROM (VALUES ('oops')) t(v)"})
    result = project.fails("apply")
    assert result.error_lines[0].startswith("error: model 'x' failed: ")
    assert "oops" in result.error_lines[0]
    assert "CAST(v AS INT)" in result.stderr.split("\n", 1)[1]


# --- Files and disks ------------------------------------------------------------------------------------------------


def test_a_full_disk_is_said_and_nothing_is_lost(project, small_disk):
    project.write(
        {
            "interlace.yaml": f"database: {small_disk}/w.duckdb\n",
            "models/a.sql": "SELECT 1 AS id",
        }
    )
    project.ok("apply")
    project.write({"models/big.sql": "SELECT i, hash(i) AS h, md5(i::VARCHAR) AS m FROM range(1000000) t(i)"})
    result = project.fails("apply")
    assert "model 'big' failed" in result.stderr
    assert project.query("SELECT * FROM a") == [[1]]
    subprocess.run(["mount", "-o", "remount,size=256m", small_disk], check=True)
    project.ok("apply")
    assert project.query("SELECT count(*) FROM big") == [[1000000]]


def test_a_full_disk_under_the_state_is_said_and_nothing_is_lost(project, small_disk):
    project.write({"interlace.yaml": f"state_path: {small_disk}/state.db\n", "models/a.sql": "SELECT 1 AS id"})
    project.ok("apply")
    filler = small_disk / "filler"
    with pytest.raises(OSError), filler.open("wb", buffering=0) as file:  # noqa: PT012
        while True:
            file.write(b"x" * 65536)
    project.write({f"models/m{i}.sql": f"SELECT {i} AS id, '{'y' * 20000}' AS t" for i in range(60)})
    result = project.fails("apply")
    assert "state.db" in result.stderr
    filler.unlink()
    project.ok("apply")
    assert project.query("SELECT id FROM m59") == [[59]]


@pytest.mark.skipif(os.geteuid() == 0 and not os.path.exists("/usr/bin/setpriv"), reason="needs another user")
def test_a_read_only_folder_can_be_planned_and_says_why_it_cannot_be_applied(project, binary_path):
    project.write({"models/a.sql": "SELECT 1 AS id"})
    project.root.chmod(0o555)
    for folder in project.root.parents:
        if not folder.stat().st_mode & 0o001:
            folder.chmod(0o755)
    as_user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []

    def run(*args):
        return subprocess.run(
            [*as_user, str(binary_path), *args],
            cwd=project.root,
            env=project.environment(),
            capture_output=True,
            text=True,
            check=False,
        )

    if run("--version").returncode != 0:
        pytest.skip("the binary is out of reach of another user")
    plan = run("plan")
    assert plan.returncode == 0, plan
    applied = run("apply")
    assert applied.returncode == 1, applied
    assert ".interlace" in applied.stderr
    project.root.chmod(0o755)


def test_a_corrupt_state_file_is_named_and_left_alone(project):
    project.write({"models/a.sql": "SELECT 1 AS id"})
    project.ok("apply")
    for suffix in ("-wal", "-shm"):
        path = project.root / f".interlace/state.db{suffix}"
        path.unlink(missing_ok=True)
    junk = b"this is no database" * 500
    project.write({".interlace/state.db": junk})
    for command in READERS[:2]:
        result = project.fails(*command)
        assert "state.db" in result.stderr
        assert "hint" in result.stderr
    assert (project.root / ".interlace/state.db").read_bytes() == junk


def test_a_state_file_of_a_newer_version_is_refused(project):
    import sqlite3

    project.write({"models/a.sql": "SELECT 1 AS id"})
    project.ok("apply")
    with sqlite3.connect(project.root / ".interlace/state.db") as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()
    for command in READERS[:2]:
        result = project.fails(*command)
        assert "state.db" in result.stderr
        assert "999" in result.stderr


def test_a_corrupt_warehouse_is_named_and_left_alone(project):
    project.write({"models/a.sql": "SELECT 1 AS id", ".interlace/warehouse.duckdb": b"no database at all" * 1000})
    result = project.fails("apply")
    assert "warehouse.duckdb" in result.stderr
    assert (project.root / ".interlace/warehouse.duckdb").read_bytes().startswith(b"no database")


def test_a_database_with_an_unresolved_variable_is_refused_before_anything_is_made(project):
    project.write({"interlace.yaml": 'database: "${NOPE}"\n', "models/a.sql": "SELECT 1 AS id"})
    result = project.fails("apply")
    assert "${NOPE}" in result.stderr
    assert not [path for path in project.root.iterdir() if "NOPE" in path.name]


# --- Python models --------------------------------------------------------------------------------------------------

HEAD = "from interlace import model\nimport pyarrow as pa\n\n\n@model()\ndef p():\n"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("    return None\n", ["None"]),
        ("    pass\n", ["None"]),
        ("    return {'a': 1}\n", ["dict"]),
        ("    return 'text'\n", ["str"]),
        ("    return 42\n", ["int"]),
        ("    yield 1\n", ["int"]),
        ("    yield from ()\n", ["nothing"]),
        ("    raise ValueError('the tariff is missing')\n", ["ValueError", "the tariff is missing", "models/p.py:7"]),
        ("    raise SystemExit(3)\n", ["exit", "3"]),
        ("    import os\n    os._exit(3)\n", ["exit", "3"]),
        ("    import os, signal\n    os.kill(os.getpid(), signal.SIGKILL)\n", ["SIGKILL"]),
        ("    import os, signal\n    os.kill(os.getpid(), signal.SIGSEGV)\n", ["SIGSEGV"]),
        ("    yield pa.table({'a': [1]})\n    yield pa.table({'b': [1]})\n", ["b"]),
    ],
)
def test_a_python_model_that_fails_is_one_clear_line_and_nothing_is_kept(project, body, words):
    project.write({"models/p.py": HEAD + body, "models/q.sql": "SELECT * FROM p"})
    result = project.fails("apply")
    assert len(result.error_lines) == 1, result
    assert "'p'" in result.error_lines[0]
    for word in words:
        assert word in result.error_lines[0], result
    assert project.sql("SELECT count(*) FROM duckdb_tables()") == [(0,)]


def test_a_python_file_with_a_syntax_error_is_named_and_hides_no_other_fault(project):
    project.write({"models/bad.py": "def broken(:\n", "models/a.sql": "SELECT 1; SELECT 2"})
    result = project.fails("plan")
    assert len(result.error_lines) == 2
    assert "models/bad.py" in result.stderr
    assert "SyntaxError" in result.stderr
    assert "models/a.sql" in result.stderr


def test_01_1_5_a_python_file_that_fails_to_import_is_one_line(project):
    project.write({"models/bad.py": "import nosuchpackage_at_all\n"})
    result = project.fails("plan")
    assert len(result.error_lines) == 1
    assert "models/bad.py" in result.error_lines[0]
    assert "nosuchpackage_at_all" in result.error_lines[0]


def test_what_a_python_model_prints_is_no_result(project):
    project.write({"models/p.py": HEAD + "    print('hello from p')\n    return pa.table({'a': [1]})\n"})
    result = project.ok("apply")
    assert "hello from p" not in result.stdout
    lines = project.write({"models/p.py": HEAD + "    print('hello again')\n    return pa.table({'a': [2]})\n"}).ok(
        "apply", "--force", "--json=lines"
    )
    assert "hello again" in lines.stdout


@pytest.mark.parametrize("body", ["    import time\n    time.sleep(3600)\n", "    while True:\n        pass\n"])
def test_a_python_model_that_runs_forever_ends_within_seconds_of_ctrl_c(project, tmp_path, body):
    from test_apply import wait_for_file

    started = tmp_path / "started"
    project.write({"models/p.py": HEAD + f"    open({str(started)!r}, 'w').close()\n" + body})
    process = project.spawn("apply")
    wait_for_file(started, process)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=12)
    assert process.returncode == 130, stderr
    assert "nothing promoted" in stderr


def test_an_interpreter_that_is_not_there_is_named(project):
    project.write(
        {"interlace.yaml": "python: /no/such/python\n", "models/p.py": HEAD + "    return pa.table({'a': [1]})\n"}
    )
    result = project.fails("plan")
    assert "/no/such/python" in result.stderr
