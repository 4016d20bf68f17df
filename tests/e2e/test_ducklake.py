"""Projects on a DuckLake, whatever its catalog: spec 09 §1, §3 (§0: lines of the whole chapter); spec 01 §2.2."""

import os
import pathlib
import subprocess
import sys

import pytest

MODELS = {
    "models/raw/orders.sql": "SELECT range AS id, range % 3 AS customer_id, range * 1.5 AS amount FROM range(30)",
    "models/silver/orders.sql": "/* interlace: {checks: [{unique: id}, {not_null: amount}]} */\n"
    "SELECT * FROM raw.orders WHERE id >= 10",
    "models/gold/totals.sql": "/* interlace: {checks: [{row_count: {min: 1}}]} */\n"
    "SELECT customer_id, sum(amount) AS total FROM silver.orders GROUP BY customer_id ORDER BY customer_id",
}
TOTALS = "SELECT customer_id, total FROM gold.totals ORDER BY customer_id"
BEFORE = [[0, "175.5"], [1, "199.5"], [2, "210.0"]]


def totals(project, env=None):
    return [[customer, str(total)] for customer, total in project.query(TOTALS, env=env)]


@pytest.fixture(params=["duckdb", "sqlite", "postgres"])
def lake(request, project):
    """A project on a lake with each catalog."""
    config = {
        "duckdb": "database: ducklake:data/lake.ducklake\n",
        "sqlite": "database: ducklake:sqlite:data/lake.sqlite\ndata_path: data/parquet\n",
    }
    if request.param == "postgres":
        server = request.getfixturevalue("postgres")
        schema = f"lake_{os.getpid()}"
        server.sql(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
        text = f'database: "ducklake:{server.dsn}"\nmetadata_schema: {schema}\ndata_path: data/parquet\n'
    else:
        text = config[request.param]
    return project.write({"interlace.yaml": f"name: shop\n{text}", **MODELS})


def test_09_3_ducklake_a_project_is_built_promoted_and_queried(lake):
    lake.ok("plan")
    lake.ok("apply")
    assert totals(lake) == BEFORE
    assert "No changes" in lake.ok("apply").stdout

    lake.write({"models/silver/orders.sql": MODELS["models/silver/orders.sql"] + " AND customer_id < 2"})
    lake.ok("apply", "--env", "dev")
    assert totals(lake, env="dev") == BEFORE[:2]
    assert totals(lake) == BEFORE

    statuses = {r["status"] for r in lake.json("checks", "list")}
    assert statuses == {"passed"}


def test_09_3_ducklake_a_failing_check_keeps_the_old_rows(lake):
    lake.ok("apply")
    lake.write(
        {
            "models/silver/orders.sql": MODELS["models/silver/orders.sql"].replace(
                "SELECT *", "SELECT 1 AS id, * EXCLUDE (id)"
            )
        }
    )
    lake.fails("apply", "--force")
    assert totals(lake) == BEFORE


def test_09_3_ducklake_columns_that_cannot_be_stored_fail_with_their_reason(lake):
    lake.write({"models/bad.sql": "SELECT 'a'::ENUM('a', 'b') AS kind"})
    failed = lake.fails("apply")
    assert "ENUM('a', 'b')" in failed.stderr + failed.stdout


def test_09_1_a_schema_named_like_the_lake_asks_for_an_alias(project):
    project.write(
        {"interlace.yaml": "name: shop\ndatabase: ducklake:x.ducklake\n", "models/shop/a.sql": "SELECT 1 AS id"}
    )
    failed = project.fails("apply")
    assert "alias" in failed.stderr
    project.write({"interlace.yaml": "name: shop\nalias: lake\ndatabase: ducklake:x.ducklake\n"})
    project.ok("apply")
    assert project.query("SELECT id FROM shop.a") == [[1]]


def test_09_3_a_held_catalog_names_its_holder(project):
    project.write({"interlace.yaml": "database: ducklake:lake.ducklake\n", "models/a.sql": "SELECT 1 AS id"})
    project.ok("apply")
    holder = (
        "import duckdb, sys\nconnection = duckdb.connect(sys.argv[1])\nprint('held', flush=True)\nsys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holder, str(project.root / "lake.ducklake")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "held\n"
        project.write({"models/a.sql": "SELECT 2 AS id"})
        failed = project.fails("apply", "--force")
        process.stdin.close()
    assert len(failed.error_lines) == 1
    assert f"is in use by process {process.pid}" in failed.error_lines[0]


def test_09_0_6_an_extension_that_is_missing_is_named(project, tmp_path, binary_path):
    engine = tmp_path / "engine"
    engine.mkdir()
    library = pathlib.Path(os.environ.get("INTERLACE_DUCKDB_LIB") or binary_path.parent / "libduckdb.so")
    (engine / "libduckdb.so").symlink_to(library.resolve())
    project.write({"interlace.yaml": "database: ducklake:lake.ducklake\n", "models/a.sql": "SELECT 1 AS id"})
    failed = project.fails("apply", env={"INTERLACE_DUCKDB_LIB": engine / "libduckdb.so"})
    assert "ducklake.duckdb_extension" in failed.stderr
    assert "v1.5.5" in failed.stderr
