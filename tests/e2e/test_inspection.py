"""Commands that look: `show`, `doctor`, `unlock`, `docs` (spec 06 §4)."""

import pathlib
import re
import signal
import sqlite3
import time

import pytest

TREE = pathlib.Path(__file__).resolve().parents[2]
WAREHOUSE = ".interlace/warehouse.duckdb"
ENDLESS = "SELECT count(*) AS n FROM range(1000000000000) t(i) WHERE i % 7 = 3"


@pytest.fixture
def shop(project):
    project.write(
        {
            "models/raw.sql": "SELECT * FROM (VALUES (1, 'a'), (2, NULL), (2, 'c')) t(id, v)",
            "models/top.sql": "/* interlace: {checks: [{not_null: id}], owner: ann, tags: [x, y]} */\nSELECT id FROM raw",
        }
    )
    project.ok("apply")
    return project


@pytest.fixture
def busy(shop, tmp_path):
    """A project while an apply is at work in it: gives the process."""
    started = tmp_path / "started"
    shop.write({"models/slow.sql": ENDLESS})
    process = shop.spawn("apply", env={"INTERLACE_HOOK": f"build.begun=touch:{started}"})
    while not started.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)
    shop.holder = process
    yield shop
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)


def findings(project, code=0):
    result = project.run("doctor", "--json")
    assert result.code == code, result
    assert result.json["ok"] is (code == 0)
    return {row["subject"]: row for row in result.json["findings"]}


# --- show


def test_06_4_show_tells_what_is_served_and_how_its_columns_look(shop):
    document = shop.json("show", "raw", "--rows", "2")
    assert (document["output"], document["strategy"]) == ("virtual", "replace")
    assert document["promoted"]["relation"] == f"interlace__main.raw__{document['fingerprint']}"
    assert document["profile"] == [
        {"column": "id", "type": "int32", "nulls": 0, "distinct": 2, "min": 1, "max": 2},
        {"column": "v", "type": "string", "nulls": 1, "distinct": 2, "min": "a", "max": "c"},
    ]
    assert document["rows"] == [[1, "a"], [2, None]]
    text = shop.ok("show", "top").stdout
    for part in (
        "owner        ann",
        "tags         x, y",
        "depends on   raw",
        "checks       not_null_id",
        "checks passed",
    ):
        assert part in text


def test_06_4_show_of_an_edited_model_says_that_an_older_version_is_served(shop):
    shop.write({"models/raw.sql": "SELECT 7 AS id"})
    text = shop.ok("show", "raw").stdout
    assert "an older version" in text
    assert "SELECT 7 AS id" in text


def test_06_4_show_of_what_is_not_built_and_of_an_unknown_environment(shop):
    shop.write({"models/new.sql": "SELECT 1 AS a"})
    document = shop.json("show", "new")
    assert (document["promoted"], document["available"]) == (None, False)
    assert "not promoted" in shop.ok("show", "raw", "-e", "nosuch").stdout
    assert shop.fails("show", "nosuch").stderr.startswith("error: unknown model 'nosuch'")


def test_06_4_show_sql_and_rendered_print_only_the_text(shop):
    assert shop.ok("show", "top", "--sql").stdout.endswith("SELECT id FROM raw\n")
    assert shop.ok("show", "top", "--rendered").stdout == shop.ok("render", "top").stdout
    assert shop.run("show", "top", "--window", "2026-01-01", "2026-01-02").code == 2


def test_06_4_show_of_a_python_model_names_its_file(fresh_quickstart):
    result = fresh_quickstart.fails("show", "enriched_events", "--sql")
    assert "'enriched_events' is a Python model: its definition is models/enriched_events.py" in result.stderr
    assert fresh_quickstart.json("show", "enriched_events")["sql"] is None


def test_06_4_show_works_while_the_warehouse_is_busy(busy):
    document = busy.json("show", "raw")
    assert document["available"] is False
    assert str(busy.holder.pid) in document["message"]
    assert document["promoted"] is not None


# --- doctor


def test_06_4_doctor_finds_nothing_in_a_healthy_project(shop):
    found = findings(shop)
    assert {row["status"] for row in found.values()} == {"ok"}
    assert set(found) == {
        "program", "configuration", "models", "state", "lock", "promotions", "engine default", "tables", "disk",
    }  # fmt: skip


def test_06_4_doctor_changes_nothing(project):
    project.write({"models/a.sql": "SELECT 1 AS a"})
    before = project.files()
    findings(project)
    assert not [name for name in project.files() if name not in before and ".interlace/cache" not in name]


def test_06_4_doctor_names_a_fault_of_the_configuration_and_of_models(shop):
    shop.write({"models/bad.sql": "SELECT FROM FROM"})
    row = findings(shop, 1)["models"]
    assert row["status"] == "problem"
    assert "models/bad.sql:1:" in row["message"]
    shop.write({"interlace.yaml": "nmae: x\n"})
    row = findings(shop, 1)["configuration"]
    assert "unknown key 'nmae'" in row["message"]


def test_06_4_doctor_of_no_project_fails_without_making_one(project):
    result = project.run("doctor", "-p", "nowhere")
    assert result.code == 1
    assert "no interlace project at" in result.stdout
    assert not project.exists("nowhere")


def test_06_4_doctor_takes_a_working_command_for_no_problem(busy):
    found = findings(busy)
    assert f"pid {busy.holder.pid}" in found["lock"]["message"]
    assert found["engine default"]["status"] == "warning"
    assert "tables" not in found


def test_06_4_doctor_tells_of_a_lock_and_a_promotion_that_a_dead_command_left(shop):
    shop.write({"models/raw.sql": "SELECT 7 AS id"})
    assert shop.run("apply", "--force", env={"INTERLACE_HOOK": "promotion.moved=kill"}).code == -9
    found = findings(shop)
    assert found["lock"]["status"] == "warning"
    assert "left behind by `apply`" in found["lock"]["message"]
    assert "one of 'prod' was interrupted" in found["promotions"]["message"]
    shop.ok("apply", "--force")
    assert findings(shop)["promotions"]["message"] == "none is unfinished"


def test_06_4_doctor_tells_lost_tables_and_those_of_no_version(shop):
    [(lost,)] = shop.sql("SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'top__%'")
    shop.load(f'DROP TABLE interlace__main."{lost}"; CREATE TABLE interlace__main.stray AS SELECT 1 AS a', WAREHOUSE)
    result = shop.run("doctor", "--json")
    rows = [row for row in result.json["findings"] if row["subject"] == "tables"]
    assert result.code == 1
    assert [(row["status"], row["message"]) for row in rows] == [
        ("problem", f"recorded, but not in the warehouse: interlace__main.{lost}"),
        ("warning", "of no recorded version: interlace__main.stray"),
    ]
    shop.ok("run")
    assert [row["status"] for row in shop.json("doctor")["findings"] if row["subject"] == "tables"] == ["warning"]


def test_06_4_doctor_tells_of_a_warehouse_and_a_state_that_are_no_databases(shop):
    shop.write({".interlace/warehouse.duckdb": "not a database" * 1000})
    assert findings(shop, 1)["engine default"]["status"] == "problem"
    shop.write({".interlace/state.db": b"not a database" * 1000})
    for name in ("state.db-wal", "state.db-shm"):
        (shop.root / ".interlace" / name).unlink(missing_ok=True)
    assert findings(shop, 1)["state"]["status"] == "problem"


# --- unlock


def lock_rows(project):
    with sqlite3.connect(project.root / ".interlace/state.db") as state:
        return state.execute("SELECT count(*) FROM locks").fetchone()[0]


def test_06_4_unlock_removes_a_dead_lock_and_only_when_told(shop):
    shop.write({"models/raw.sql": "SELECT 7 AS id"})
    shop.run("apply", "--force", env={"INTERLACE_HOOK": "build.begun=kill"})
    assert lock_rows(shop) == 1
    result = shop.fails("unlock")
    assert "left behind by `apply`" in result.stderr
    assert lock_rows(shop) == 1
    assert "Removed the lock of `apply`" in shop.ok("unlock", "--yes").stdout
    assert lock_rows(shop) == 0
    assert shop.ok("unlock", "--yes").stdout == "There is no lock.\n"
    assert shop.json("unlock") == {"removed": False}


def test_06_4_unlock_refuses_a_live_lock(busy):
    result = busy.fails("unlock", "--yes")
    assert f"the apply lock is held by 'apply' (pid {busy.holder.pid}" in result.stderr
    assert lock_rows(busy) == 1


# --- docs


def test_06_4_docs_writes_the_manual_of_this_version(project):
    document = project.json("docs", "out")
    assert document["first"] == "out/README.md"
    pages = [path for path in (TREE / "docs").rglob("*") if path.is_file() and "development" not in path.parts]
    assert document["pages"] == len(pages)
    for page in pages:
        name = page.relative_to(TREE / "docs").as_posix()
        assert (project.root / "out" / name).read_bytes() == page.read_bytes()


def test_06_4_links_of_the_manual_lead_somewhere(project):
    project.ok("docs", "out")
    for page in (project.root / "out").rglob("*.md"):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), (page.name, target)
