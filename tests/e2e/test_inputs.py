"""Inputs: spec 01 §10 and what §7, 03 §1 and 09 §6 say of them. Names carry the number of the line they show."""

import os

import pytest


def changed(project, *args):
    return [change["name"] for change in project.json("plan", *args)["changes"]]


def inputs(text, more=""):
    return f"timezone: UTC\ninputs:\n  {text}\n{more}"


def test_01_10_1_a_glob_is_one_relation(project):
    project.write(
        {
            "interlace.yaml": inputs("orders: {format: csv, path: seeds/*.csv}"),
            "seeds/a.csv": "id,amount\n1,10\n2,20\n",
            "seeds/b.csv": "id,amount\n3,30\n",
            "models/n.sql": "SELECT count(*) AS n, sum(amount) AS total FROM orders",
        }
    )
    project.ok("apply")
    assert project.query("SELECT n, total FROM n") == [[3, 60]]


def test_01_10_2_watched_files_plan_their_readers_and_those_of_these(project):
    project.write(
        {
            "interlace.yaml": inputs("orders: {format: csv, path: seeds/o.csv, watch: true}"),
            "seeds/o.csv": "id\n1\n",
            "models/a.sql": "SELECT id FROM orders",
            "models/b.sql": "SELECT count(*) AS n FROM a",
            "models/c.sql": "SELECT 1 AS one",
        }
    )
    project.ok("apply")
    os.utime(project.root / "seeds/o.csv", (1, 1))
    assert changed(project) == []
    project.write({"seeds/o.csv": "id\n1\n2\n"})
    assert changed(project) == ["a", "b"]
    project.ok("apply", "--force")
    assert project.query("SELECT n FROM b") == [[2]]
    assert changed(project) == []


def test_files_that_are_not_watched_come_with_a_run(project):
    project.write(
        {
            "interlace.yaml": inputs("orders: {format: csv, path: o.csv}"),
            "o.csv": "id\n1\n",
            "models/a.sql": "SELECT id FROM orders",
        }
    )
    project.ok("apply")
    project.write({"o.csv": "id\n1\n2\n"})
    assert changed(project) == []
    project.ok("run")
    assert project.query("SELECT count(*) FROM a") == [[2]]


def test_01_10_4_an_input_named_like_a_model_is_refused(project):
    project.write(
        {
            "interlace.yaml": inputs("orders: {format: csv, path: o.csv}"),
            "models/orders.sql": "SELECT 1 AS id",
        }
    )
    result = project.fails("plan")
    assert "input 'orders' has the name of the model 'orders' (models/orders.sql)" in result.stderr


@pytest.mark.parametrize("materialise", ["virtual", "view", "ephemeral"])
def test_inputs_are_read_by_every_kind_of_model(project, tmp_path, materialise):
    project.write(
        {
            "interlace.yaml": inputs("orders: {format: csv, path: o.csv}"),
            "o.csv": "id\n1\n2\n",
            "models/a.sql": f"/* interlace: {{materialise: {materialise}}} */ SELECT Orders.id FROM ORDERS",
            "models/b.sql": "SELECT a.id, o.id AS again FROM a JOIN orders AS o USING (id)",
        }
    )
    project.ok("apply", "-p", project.root, cwd=tmp_path)
    assert project.query("SELECT id, again FROM b ORDER BY 1") == [[1, 1], [2, 2]]
    if materialise != "ephemeral":
        assert project.query("SELECT count(*) FROM a") == [[2]]


def test_every_way_of_naming_a_table_names_an_input(project):
    project.write(
        {
            "interlace.yaml": inputs("orders: {format: csv, path: o.csv}"),
            "o.csv": "id\n1\n2\n",
            "models/a.sql": "TABLE orders",
            "models/b.sql": "SELECT 3 AS id UNION ALL TABLE orders",
            "models/c.sql": "FROM (DESCRIBE orders)",
            "models/d.sql": "SELECT (SELECT max(id) FROM orders) AS top, x FROM orders AS o(x) TABLESAMPLE 100%",
            "models/e.sql": "PIVOT orders ON id IN (1, 2) USING count(*)",
            "models/f.sql": "SELECT orders FROM orders",
        }
    )
    project.ok("apply")
    assert project.query("SELECT count(*) FROM a") == [[2]]
    assert project.query("SELECT sum(id) FROM b") == [[6]]
    assert project.query("SELECT column_name FROM c") == [["id"]]
    assert project.query("SELECT top, x FROM d ORDER BY x") == [[2, 1], [2, 2]]
    assert project.query('SELECT "1", "2" FROM e') == [[1, 1]]
    assert project.query("SELECT orders.id FROM f ORDER BY 1") == [[1], [2]]


def test_checks_read_inputs(project):
    project.write(
        {
            "interlace.yaml": inputs("known: {format: csv, path: k.csv}"),
            "k.csv": "id\n1\n",
            "models/a.sql": "/* interlace: {checks: [{sql: {query: 'SELECT id FROM {table} WHERE id NOT IN (FROM known)'}}]} */"
            " SELECT 2 AS id",
        }
    )
    assert "sql" in project.fails("apply").stderr
    project.write({"k.csv": "id\n1\n2\n"})
    project.ok("apply")


def test_01_10_options_tell_how_a_csv_is_written(project):
    options = "{delimiter: ';', quote: \"'\", nullstr: NA, columns: {zip: VARCHAR}}"
    project.write(
        {
            "interlace.yaml": inputs(
                f"a: {{format: csv, path: a.csv, options: {options}}}",
                "  b: {format: csv, path: b.csv, options: {header: false, columns: {x: BIGINT, y: VARCHAR}}}\n",
            ),
            "a.csv": "zip;n\n01234;NA\n'5;6';7\n",
            "b.csv": "1,x\n",
            "models/a1.sql": "SELECT zip, n FROM a",
            "models/b1.sql": "SELECT x, y FROM b",
        }
    )
    project.ok("apply")
    assert project.query("SELECT zip, n FROM a1 ORDER BY 1") == [["01234", None], ["5;6", 7]]
    assert project.query("SELECT x, y FROM b1") == [[1, "x"]]


def test_01_10_tokens_are_filled_in_by_every_build(project):
    project.write(
        {
            "interlace.yaml": inputs("orders: {format: csv, path: 'in/${workspace}/${date}.csv'}"),
            f"in/{project.root.name}/2026-07-01.csv": "id\n1\n",
            f"in/{project.root.name}/2026-07-02.csv": "id\n2\n",
            "models/a.sql": "SELECT id FROM orders",
        }
    )
    project.ok("apply", env={"INTERLACE_NOW": "2026-07-01T08:00:00Z"})
    assert project.query("SELECT id FROM a") == [[1]]
    project.ok("run", env={"INTERLACE_NOW": "2026-07-02T08:00:00Z"})
    assert project.query("SELECT id FROM a") == [[2]]


def test_folders_json_and_parquet(project):
    project.write(
        {
            "interlace.yaml": inputs(
                "made: {format: parquet, path: out/p.parquet}",
                "  lines: {format: json, path: l.json}\n  folder: {format: csv, path: f}\n",
            ),
            "l.json": '{"id": 1}\n{"id": 2}\n',
            "f/x/a.csv": "id\n7\n",
            "models/p.sql": "/* interlace: {materialise: file, path: out/p.parquet} */ SELECT 5 AS id",
        }
    )
    project.ok("apply")
    project.write({"models/a.sql": "SELECT id FROM made UNION ALL FROM lines UNION ALL FROM folder"})
    project.ok("apply")
    assert project.query("SELECT id FROM a ORDER BY 1") == [[1], [2], [5], [7]]


@pytest.mark.parametrize(
    ("entry", "extension"),
    [
        ("lake: {format: delta, path: lake}", "delta"),
        ("lake: {format: iceberg, path: lake}", "iceberg"),
        ("lake: {format: parquet, path: 's3://bucket/x.parquet'}", "httpfs"),
    ],
)
def test_01_10_a_missing_extension_is_named_with_the_input(project, entry, extension):
    project.write({"interlace.yaml": inputs(entry), "models/a.sql": "SELECT 1 AS one"})
    project.ok("apply")
    project.write({"models/b.sql": "SELECT * FROM lake"})
    result = project.fails("apply", "--json")
    error = result.json["error"] if "error" in result.json else result.json["errors"][0]
    assert error["kind"] == "ConfigurationError", result
    assert f"input 'lake' needs DuckDB's extension '{extension}'" in error["message"]


def test_a_fault_in_a_file_has_the_place_of_the_reference(project):
    project.write(
        {
            "interlace.yaml": inputs("orders: {format: csv, path: nosuch.csv}"),
            "models/a.sql": "SELECT id\nFROM orders",
        }
    )
    result = project.fails("apply")
    assert "nosuch.csv" in result.stderr
    assert "models/a.sql" in result.stderr


def test_a_query_reads_inputs_and_views_over_them(project, tmp_path):
    (tmp_path / "away.csv").write_text("id\n9\n")
    project.write(
        {
            "interlace.yaml": inputs(
                "orders: {format: csv, path: o.csv}", f"  away: {{format: csv, path: {tmp_path}/away.csv}}\n"
            ),
            "o.csv": "id\n1\n",
            "models/a.sql": "/* interlace: {materialise: view} */ SELECT id FROM away",
        }
    )
    project.ok("apply")
    assert project.query("SELECT a.id, orders.id FROM a, orders") == [[9, 1]]
    project.fails("query", f"SELECT * FROM '{tmp_path}/away.csv'")
