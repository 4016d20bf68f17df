"""Apply, environments and promotion: spec 03 §5–7 and §11. Names carry the number of the line they show."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

SANITIZED = os.environ.get("INTERLACE_SANITIZED") == "1"

CHAIN = {
    "models/a.sql": "SELECT 1 AS id, 10 AS v",
    "models/b.sql": "SELECT id, v + 1 AS v FROM a",
    "models/c.sql": "SELECT id, v + 1 AS v FROM b",
}
# Runs until it is interrupted: the engine has no sleep, so it counts.
ENDLESS = "SELECT count(*) AS n FROM range(10000000000) a(i), range(1000000) b(j) WHERE hash(a.i) % 7 = hash(b.j) % 5"
HOLD = "SELECT count(*) AS n FROM range(60000000) t(i) WHERE hash(i) % 3 = 1"


def snapshot_tables(project):
    return sorted(
        f"{schema}.{name}"
        for schema, name in project.sql(
            "SELECT schema_name, table_name FROM duckdb_tables() WHERE schema_name LIKE 'interlace\\_\\_%' ESCAPE '\\'"
        )
    )


def wait_for_file(path, process, deadline_s=60):
    """Waits until the process has made the file; its end is a failure."""
    end = time.monotonic() + deadline_s
    while not path.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "not reached"
        time.sleep(0.005)


# --- 03 §2: names ---------------------------------------------------------------------------------------------------


def test_03_2_1_the_view_and_its_snapshot_table_exist(project):
    project.write({"models/silver/orders.sql": "SELECT 1 AS id"})
    project.ok("apply")
    assert project.sql("SELECT * FROM silver.orders") == [(1,)]
    [table] = snapshot_tables(project)
    schema, name = table.split(".")
    assert schema == "interlace__silver"
    base, fingerprint = name.rsplit("__", 1)
    assert base == "orders"
    assert len(fingerprint) == 16
    assert set(fingerprint) <= set("0123456789abcdef")


def test_03_2_2_another_environment_leaves_the_views_of_prod_as_they_are(project):
    project.write({"models/silver/orders.sql": "SELECT 1 AS id"})
    project.ok("apply")
    definition = "SELECT sql FROM duckdb_views() WHERE schema_name = 'silver' AND view_name = 'orders'"
    before = project.sql(definition)
    project.ok("apply", "-e", "dev")
    assert project.sql(definition) == before
    assert project.sql("SELECT * FROM dev__silver.orders") == [(1,)]


@pytest.mark.parametrize("name", ["interlace", "a b", "a__b", "streams", "main", "1x", "x" * 33])
def test_03_2_4_environment_names_follow_the_rule(project, name):
    project.write(CHAIN)
    result = project.fails("apply", "-e", name, code=2)
    assert name in result.stderr
    assert not project.exists(".interlace")


# --- 03 §5: plan ----------------------------------------------------------------------------------------------------


PLAN_KEYS = {
    "environment",
    "changes",
    "transfers",
    "physical",
    "drift",
    "metadata",
    "warnings",
    "blocking",
    "breaking",
    "empty",
}
CHANGE_KEYS = {
    "name",
    "change_type",
    "category",
    "previous_fingerprint",
    "new_fingerprint",
    "impacted_columns",
    "new_sql",
    "previous_sql",
    "reused",
}


def test_03_5_1_plan_json_has_the_listed_keys(project):
    project.write(CHAIN)
    plan = project.json("plan")
    assert set(plan) == PLAN_KEYS
    assert [change["name"] for change in plan["changes"]] == ["a", "b", "c"]
    assert all(set(change) == CHANGE_KEYS for change in plan["changes"])
    assert {change["change_type"] for change in plan["changes"]} == {"added"}
    project.ok("apply")
    plan = project.json("plan")
    lists = [value for value in plan.values() if isinstance(value, list)]
    assert not any(lists)
    assert plan["empty"] is True
    assert plan["breaking"] is False


def test_03_5_2_plan_needs_no_warehouse(project):
    project.write(CHAIN)
    project.ok("apply")
    project.write({"models/a.sql": "SELECT 2 AS id, 10 AS v"})
    with project.warehouse(read_only=False):
        plan = project.json("plan")
    assert [change["name"] for change in plan["changes"]] == ["a", "b", "c"]


def test_03_5_3_a_second_environment_reuses_everything(project):
    project.write(CHAIN)
    project.ok("apply")
    before = snapshot_tables(project)
    plan = project.json("plan", "-e", "dev")
    assert [change["reused"] for change in plan["changes"]] == [True, True, True]
    assert plan["breaking"] is False
    result = project.ok("apply", "-e", "dev")
    assert "Built 0 model(s); promoted 3 to 'dev'" in result.stdout
    assert snapshot_tables(project) == before


def test_03_5_5_markdown_starts_with_its_marker_and_is_stable(project):
    project.write(CHAIN)
    first = project.ok("plan", "--markdown").stdout
    assert first.startswith("<!-- interlace-plan -->\n")
    assert "| a |" in first.replace("`", "")
    assert project.ok("plan", "--markdown").stdout == first


def test_plan_writes_nothing(project):
    project.write(CHAIN)
    project.ok("plan")
    assert [path for path in project.files() if not path.startswith((".interlace/cache/", "models/"))] == []


def test_every_change_of_logic_is_breaking_and_rebuilds_what_is_behind_it(project):
    project.write(CHAIN | {"models/z.sql": "SELECT 1 AS z"})
    project.ok("apply")
    project.write({"models/b.sql": "SELECT id, v + 2 AS v FROM a"})
    plan = project.json("plan")
    assert [(c["name"], c["change_type"], c["category"]) for c in plan["changes"]] == [
        ("b", "modified", "breaking"),
        ("c", "modified", "breaking"),
    ]
    assert plan["breaking"] is True
    result = project.ok("apply", "--force")
    assert "Built 2 model(s)" in result.stdout
    assert project.query("SELECT v FROM c") == [[13]]


# --- 03 §6: apply ---------------------------------------------------------------------------------------------------


def test_03_6_1_a_failing_model_promotes_nothing_and_the_rest_is_reused(project):
    project.write(CHAIN)
    project.ok("apply")
    before = project.json("env", "list")
    project.write(
        {"models/a.sql": "SELECT 1 AS id, 20 AS v", "models/c.sql": "SELECT id, CAST('x' || v AS INT) AS v FROM b"}
    )
    result = project.fails("apply", "--force")
    assert "model 'c' failed" in result.stderr
    assert project.query("SELECT (SELECT v FROM a), (SELECT v FROM b), (SELECT v FROM c)") == [[10, 11, 12]]
    after = project.json("env", "list")
    assert [e["generation"] for e in after] == [e["generation"] for e in before]
    project.write({"models/c.sql": "SELECT id, v + 100 AS v FROM b"})
    result = project.ok("apply", "--force")
    assert "Built 1 model(s)" in result.stdout
    assert project.query("SELECT (SELECT v FROM a), (SELECT v FROM b), (SELECT v FROM c)") == [[20, 21, 121]]


def test_03_6_2_a_blocked_first_build_is_kept_without_a_view_and_rebuilt_when_the_source_is_mended(project):
    project.write(
        {
            "interlace.yaml": "attach: {src: data/src.duckdb}\n",
            "models/o.sql": "/* interlace: {checks: [{not_null: id}]} */ SELECT id FROM src.main.orders",
        }
    )
    project.load("CREATE TABLE orders AS SELECT * FROM (VALUES (1), (NULL)) t(id)")
    result = project.fails("apply")
    assert "o.not_null_id (1 failing)" in result.stderr
    assert len(snapshot_tables(project)) == 1
    assert project.sql("SELECT count(*) FROM duckdb_views() WHERE NOT internal AND view_name = 'o'") == [(0,)]
    project.load("DELETE FROM orders WHERE id IS NULL")
    result = project.ok("apply")
    assert "Built 1 model(s); promoted 1" in result.stdout
    assert project.query("SELECT * FROM o") == [[1]]


def test_03_6_4_fast_models_end_while_a_slow_one_runs(project):
    files = {f"models/fast{i}.sql": f"SELECT {i} AS v" for i in range(8)}
    files["models/a_slow.sql"] = HOLD
    project.write(files)
    lines = [json.loads(line) for line in project.ok("apply", "--parallelism", "2", "--json=lines").stdout.splitlines()]
    running, most, ended_before_slow = set(), 0, 0
    for event in lines:
        if event["event"] == "start":
            running.add(event["model"])
            most = max(most, len(running))
        if event["event"] == "done":
            running.discard(event["model"])
            if "a_slow" in running:
                ended_before_slow += 1
    assert most == 2
    assert ended_before_slow == 8


def test_03_6_5_a_breaking_plan_writes_nothing_without_force(project):
    project.write(CHAIN)
    project.ok("apply")
    before = snapshot_tables(project)
    project.write({"models/a.sql": "SELECT 3 AS id, 10 AS v"})
    result = project.fails("apply")
    assert "a, b, c" in result.stderr
    assert "--force" in result.stderr
    assert snapshot_tables(project) == before
    assert project.query("SELECT id FROM a") == [[1]]


def test_03_6_keep_going_builds_what_does_not_depend_on_the_failure(project):
    project.write(
        {
            "models/bad.sql": "SELECT CAST('x' AS INT) AS v",
            "models/behind.sql": "SELECT * FROM bad",
            "models/other.sql": "SELECT 1 AS v",
            "models/other2.sql": "SELECT v FROM other",
        }
    )
    result = project.fails("apply", "--keep-going", "--parallelism", "1")
    assert len(result.error_lines) == 1
    result = project.write({"models/bad.sql": "SELECT 1 AS v"}).ok("apply")
    assert "Built 2 model(s); promoted 4" in result.stdout


HOOKS = [
    "state.lock_acquired",
    "state.intent_begin",
    "state.intent_begun",
    "state.intent_commit",
    "state.intent_committed",
    "state.snapshot",
    "build.begun",
    "build.written",
    "build.checked",
    "build.committed",
    "build.recorded",
    "apply.before_promotion",
    "promotion.intended",
    "promotion.view",
    "promotion.moved",
    "duck.execute",
    "duck.commit",
]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, project_class):
    """What the views hold and what is recorded after an apply that nothing disturbed."""
    project = project_class(tmp_path_factory.mktemp("undisturbed") / "project").write(CHECKED_CHAIN)
    project.ok("apply")
    return final_state(project)


CHECKED_CHAIN = CHAIN | {
    "models/silver/d.sql": "/* interlace: {checks: [{not_null: id}, {row_count: {min: 1}}]} */ SELECT id, v FROM c",
    "models/v.sql": "/* interlace: {materialise: view} */ SELECT * FROM silver.d",
}


def final_state(project):
    return {
        "views": project.query("SELECT a.v, b.v, c.v, d.v, v.v FROM a, b, c, silver.d AS d, v"),
        "tables": snapshot_tables(project),
        "environments": [(e["name"], e["models"], e["drift"], e["generation"]) for e in project.json("env", "list")],
        "plan": project.json("plan"),
    }


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize("passage", [1, 2, 3])
def test_03_6_7_a_kill_at_every_step_is_mended_by_the_next_apply(project, undisturbed, hook, passage):
    project.write(CHECKED_CHAIN)
    killed = project.run("apply", "--parallelism", "1", env={"INTERLACE_HOOK": f"{hook}=kill@{passage}"})
    assert killed.code in (-signal.SIGKILL, 0), killed
    project.ok("apply")
    assert final_state(project) == undisturbed


@pytest.mark.parametrize("hook", [h for h in HOOKS if not h.startswith("state.intent_committed")])
@pytest.mark.parametrize("passage", [1, 2])
def test_a_fault_at_every_step_is_reported_and_mended_by_the_next_apply(project, undisturbed, hook, passage):
    project.write(CHECKED_CHAIN)
    failed = project.run("apply", "--parallelism", "1", env={"INTERLACE_HOOK": f"{hook}=fail@{passage}"})
    assert failed.code in (1, 0, 70), failed
    assert failed.code == 0 or failed.error_lines, failed
    project.ok("apply")
    assert final_state(project) == undisturbed


# --- 03 §7: promotion -----------------------------------------------------------------------------------------------


def test_03_7_1_a_reader_never_sees_two_versions_nor_an_error(project):
    """The reader is a thread of the process itself: a DuckDB file is open in one process only."""
    views = 12
    poll = {
        "INTERLACE_POLL_SQL": "SELECT " + ", ".join(f"(SELECT max(v) FROM m{i:02})" for i in range(views)),
        "INTERLACE_POLL_FILE": str(project.root / "seen.txt"),
    }

    def write(version):
        project.write({f"models/m{i:02}.sql": f"SELECT {version} AS v" for i in range(views)})

    write(0)
    project.ok("apply")
    rounds = 10 if SANITIZED else 50
    for version in range(1, rounds + 1):
        write(version)
        project.ok("apply", "--force", env=poll)
    seen = (project.root / "seen.txt").read_text().split()
    assert {len(set(line.split(","))) for line in seen} == {1}, seen
    assert len(set(seen)) > rounds // 2


def test_03_7_2_generations_count_changes_only(project):
    project.write(CHAIN)
    project.ok("apply")
    project.ok("apply")
    generation = lambda: project.json("env", "list")[0]["generation"]  # noqa: E731
    assert generation() == 1
    project.write({"models/c.sql": "SELECT id, v + 7 AS v FROM b"}).ok("apply", "--force")
    assert generation() == 2
    project.write({"models/c.sql": None}).ok("apply")
    assert generation() == 3
    assert "c" not in [row[0] for row in project.sql("SELECT view_name FROM duckdb_views() WHERE NOT internal")]
    project.ok("apply")
    assert generation() == 3


@pytest.mark.parametrize("hook", ["promotion.intended", "promotion.view", "promotion.moved"])
@pytest.mark.parametrize("command", [("plan",), ("env", "list"), ("query", "SELECT v FROM a"), ("checks", "list")])
def test_03_7_3_any_command_finishes_a_promotion_that_was_cut_off(project, hook, command):
    project.write(CHAIN)
    project.run("apply", env={"INTERLACE_HOOK": f"{hook}=kill"})
    first = project.ok(*command)
    assert "finished a promotion of 'prod'" in first.stderr
    second = project.ok(*command)
    assert "finished a promotion" not in second.stderr
    assert "No changes for prod." in project.ok("plan").stdout
    assert project.query("SELECT v FROM c") == [[12]]


@pytest.mark.parametrize("kind", ["TABLE", "VIEW"])
def test_03_7_4_a_name_that_somebody_else_uses_stops_before_anything_is_built(project, kind):
    project.write({"models/orders.sql": "SELECT 2 AS id", ".interlace/keep": ""})
    project.load(f"CREATE {kind} orders AS SELECT 1 AS id", name=".interlace/warehouse.duckdb")
    result = project.fails("apply")
    assert "main.orders" in result.stderr
    assert project.sql("SELECT id FROM orders") == [(1,)]
    assert snapshot_tables(project) == []


def test_an_environment_never_takes_the_view_of_another_ones_model(project):
    project.write({"models/b.sql": "SELECT 1 AS v", "models/dev__main/b.sql": "SELECT 5 AS v"})
    project.ok("apply")
    assert "dev__main.b" in project.fails("apply", "-e", "dev", "-s", "b").stderr
    assert project.sql("SELECT v FROM dev__main.b") == [(5,)]


def test_a_model_that_becomes_ephemeral_loses_its_view(project):
    project.write(CHAIN)
    project.ok("apply")
    project.write({"models/a.sql": "/* interlace: {materialise: ephemeral} */ SELECT 1 AS id, 10 AS v"})
    project.ok("apply", "--force")
    views = [row[0] for row in project.sql("SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY 1")]
    assert views == ["b", "c"]
    assert project.query("SELECT v FROM c") == [[12]]


def test_a_warehouse_that_somebody_removed_is_built_anew(project):
    project.write(CHAIN)
    project.ok("apply")
    (project.root / ".interlace/warehouse.duckdb").unlink()
    assert [c["change_type"] for c in project.json("plan")["changes"]] == ["added"] * 3
    assert "Built 3 model(s)" in project.ok("apply").stdout
    assert project.query("SELECT v FROM c") == [[12]]


def test_a_promotion_that_can_never_be_finished_stops_no_later_command(project):
    project.write(CHAIN)
    project.run("apply", env={"INTERLACE_HOOK": "promotion.intended=kill"})
    (project.root / ".interlace/warehouse.duckdb").unlink()
    (project.root / ".interlace/warehouse.duckdb.wal").unlink(missing_ok=True)
    result = project.ok("apply")
    assert "cannot be finished" in result.stderr
    assert project.query("SELECT v FROM c") == [[12]]


# --- 03 §11: lock, crash, cancel ------------------------------------------------------------------------------------


def test_03_11_1_two_applies_at_once_build_once(project):
    project.write(CHAIN | {"models/slow.sql": HOLD})
    both = [project.spawn("apply") for _ in range(2)]
    outputs = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    texts = sorted(stdout for stdout, _ in outputs)
    assert sum("No changes for prod." in text for text in texts) == 1
    assert sum("Built 4 model(s)" in text for text in texts) == 1
    assert project.json("env", "list")[0]["generation"] == 1


SLOW_READER = "SELECT sum(a.range * b.range) FROM range(8000) a, range(8000) b"


@pytest.mark.parametrize("command", ["run", "gc --grace 0d", "env rollback", "env list"])
def test_03_11_1_who_waited_for_the_lock_can_open_the_warehouse(project, tmp_path, command):
    """A reader inside the first process holds the warehouse open for a moment after the command is done."""
    project.write({"models/a.sql": "SELECT 1 AS v"})
    project.ok("apply")
    project.write({"models/a.sql": "SELECT 2 AS v"})
    if command == "env list":  # it finishes what the dead one left
        project.run("apply", "--force", env={"INTERLACE_HOOK": "promotion.intended=kill"})
    else:
        project.ok("apply", "--force")
    locked = tmp_path / "locked"
    env = {
        "INTERLACE_POLL_SQL": SLOW_READER,
        "INTERLACE_POLL_FILE": tmp_path / "polled",
        "INTERLACE_HOOK": f"state.lock_acquired=touch:{locked}",
    }
    first = project.spawn(*command.split(), env=env)
    wait_for_file(locked, first)
    project.write({"models/a.sql": "SELECT 3 AS v"})
    project.ok("run")
    assert project.query("SELECT v FROM a") == [[3]]
    assert first.wait(timeout=60) == 0, first.communicate()


def test_03_11_2_a_zero_lock_timeout_fails_at_once_and_names_the_holder(project, tmp_path):
    started = tmp_path / "started"
    project.write({"models/slow.sql": ENDLESS})
    slow = project.spawn("apply", env={"INTERLACE_HOOK": f"build.begun=touch:{started}"})
    try:
        wait_for_file(started, slow)
        result = project.fails("apply", "--lock-timeout", "0")
        assert str(slow.pid) in result.stderr
    finally:
        slow.send_signal(signal.SIGINT)
        slow.communicate(timeout=60)


def test_03_11_3_the_lock_of_a_killed_apply_is_taken_over_at_once(project, tmp_path):
    started = tmp_path / "started"
    project.write({"models/slow.sql": ENDLESS})
    slow = project.spawn("apply", env={"INTERLACE_HOOK": f"build.begun=touch:{started}"})
    wait_for_file(started, slow)
    slow.kill()
    slow.communicate()
    project.write({"models/slow.sql": "SELECT 1 AS n"})
    result = project.ok("apply", "--lock-timeout", "2s")
    assert "waiting" not in result.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_03_11_4_an_interrupted_apply_ends_soon_and_leaves_nothing(project, tmp_path, number, code):
    started = tmp_path / "started"
    project.write(CHAIN)
    project.ok("apply")
    project.write({"models/slow.sql": ENDLESS, "models/behind.sql": "SELECT * FROM slow"})
    slow = project.spawn("apply", env={"INTERLACE_HOOK": f"build.begun=touch:{started}"})
    wait_for_file(started, slow)
    slow.send_signal(number)
    _, stderr = slow.communicate(timeout=30)
    assert slow.returncode == code, stderr
    assert "interrupted: 0 built, 1 cancelled, 1 not started; nothing promoted" in stderr
    assert project.query("SELECT v FROM c") == [[12]]
    project.write({"models/slow.sql": "SELECT 1 AS n"})
    assert "promoted 2" in project.ok("apply", "--lock-timeout", "0").stdout


def test_a_second_signal_ends_at_once(project, tmp_path):
    started = tmp_path / "started"
    project.write({"models/slow.py": PYTHON_STUBBORN})
    slow = project.spawn("apply", env={"INTERLACE_HOOK": f"build.begun=touch:{started}"})
    wait_for_file(started, slow)
    slow.send_signal(signal.SIGINT)
    slow.send_signal(signal.SIGINT)
    slow.communicate(timeout=30)
    assert slow.returncode == 130


PYTHON_STUBBORN = """
from interlace import model


@model()
def slow():
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
"""


def test_a_warehouse_that_another_process_holds_is_named_with_its_pid(project):
    project.write(CHAIN)
    project.ok("apply")
    project.write({"models/a.sql": "SELECT 5 AS id, 10 AS v"})
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(project.root / ".interlace/warehouse.duckdb")],
        stdout=subprocess.PIPE,
        stdin=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout.readline().strip() == "open"
        result = project.fails("apply", "--force")
        assert "warehouse.duckdb" in result.stderr
        assert str(holder.pid) in result.stderr
    finally:
        holder.communicate()
    assert "promoted" in project.ok("apply", "--force").stdout


HOLDER = """
import sys
import duckdb

connection = duckdb.connect(sys.argv[1])
print("open", flush=True)
sys.stdin.read()
"""
