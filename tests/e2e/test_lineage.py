"""Column lineage and impact through the binary: no warehouse, then with what an environment shows."""

CHAIN = {
    "models/raw.sql": "SELECT id, amount, status, 1 AS one FROM main.events",
    "models/agg.sql": "SELECT id, sum(amount) AS total FROM raw WHERE status = 'x' GROUP BY id",
    "models/top.sql": "SELECT id, total FROM agg",
}
PYTHON = {
    "models/raw.sql": "SELECT 1 AS id, 2 AS amount",
    "models/enrich.py": (
        "import pyarrow as pa\nfrom interlace import model\n\n\n"
        '@model(columns=["id", "amount"])\ndef enrich(raw):\n    return raw\n'
    ),
    "models/agg.sql": "SELECT id, sum(amount) AS total FROM enrich GROUP BY id",
}


def columns(project, model, *options):
    return project.json("lineage", model, "-c", *options)["columns"]


def test_05_7_1_columns_are_attributed_to_their_sources(project):
    project.write(CHAIN)
    assert columns(project, "agg") == {"id": ["raw.id"], "total": ["raw.amount"]}
    assert columns(project, "raw")["amount"] == ["main.events.amount"]
    assert "  one ← —\n" in project.ok("lineage", "raw", "-c").stdout


def test_05_7_2_ctes_are_traced_through(project):
    text = "WITH c AS (SELECT id, v+1 AS vv FROM up) SELECT c.id, sum(vv) OVER (PARTITION BY c.id) AS s FROM c"
    project.write({"models/up.sql": "SELECT 1 AS id, 2 AS v", "models/m.sql": text})
    assert columns(project, "m") == {"id": ["up.id"], "s": ["up.v", "up.id"]}


def test_05_7_3_set_operations_have_the_names_of_the_first_branch(project):
    project.write(CHAIN | {"models/u.sql": "SELECT id AS a FROM raw UNION ALL SELECT total FROM agg"})
    assert columns(project, "u") == {"a": ["raw.id", "agg.total"]}


def test_05_7_4_stars_need_no_warehouse(project):
    project.write(CHAIN | {"models/s.sql": "SELECT * FROM raw"})
    assert list(columns(project, "s")) == ["id", "amount", "status", "one"]


def test_05_7_5_python_is_opaque_and_traced_by_name(project):
    project.write(PYTHON)
    assert columns(project, "agg")["total"] == ["enrich.amount"]
    document = project.json("lineage", "enrich", "-c")
    assert (document["columns"]["amount"], document["opaque"]) == (["raw.amount"], True)
    assert "amount ← raw.amount (opaque)" in project.ok("lineage", "enrich", "-c").stdout


DECLARED = (
    "from interlace import model\n\n\n"
    '@model(lineage={"revenue": ["raw.amount", "raw.id"], "day": []})\ndef enrich(raw):\n    return raw\n'
)


def test_05_7_declared_lineage_replaces_the_guess(project):
    project.write(PYTHON | {"models/enrich.py": DECLARED, "models/agg.sql": "SELECT sum(revenue) AS r FROM enrich"})
    document = project.json("lineage", "enrich", "-c")
    assert (document["columns"], document["opaque"]) == ({"revenue": ["raw.amount", "raw.id"], "day": []}, False)
    impact = project.json("impact", "raw.amount")
    assert [(row["model"], row["column"]) for row in impact["impacted"]] == [("enrich", "revenue"), ("agg", "r")]
    assert impact["opaque_consumers"] == []
    project.write({"models/enrich.py": DECLARED.replace("lineage", 'columns=["revenue", "amount"], lineage')})
    document = project.json("lineage", "enrich", "-c")
    assert document["columns"]["amount"] == ["raw.amount"]
    assert document["opaque"]


def test_05_7_declared_lineage_is_checked_and_is_no_part_of_the_fingerprint(project):
    enrich = DECLARED.replace(
        "return raw", "import pyarrow\n    return pyarrow.table({'revenue': [1.5], 'day': ['x']})"
    )
    project.write({"models/raw.sql": PYTHON["models/raw.sql"], "models/enrich.py": enrich}).ok("apply")
    fingerprint = {row["name"]: row["fingerprint"] for row in project.json("models")}
    project.write({"models/enrich.py": enrich.replace("raw.id", "raw.idd")})
    line = project.fails("plan").error_lines[0]
    assert line.startswith(
        "error: model 'enrich': lineage of 'revenue' names 'raw.idd', which is no column; it has id, amount"
    )
    assert "models/enrich.py:" in line
    project.write({"models/enrich.py": enrich.replace('"raw.id"', '"ra.id"')})
    assert "names 'ra.id', which is no <model>.<column>; did you mean 'raw'?" in project.fails("plan").stderr
    project.write({"models/enrich.py": enrich.replace(', "raw.id"', "")})
    assert {row["name"]: row["fingerprint"] for row in project.json("models")} == fingerprint
    assert project.json("plan")["changes"] == []


def test_05_7_6_count_beside_an_unknown_column_keeps_all_names(project):
    project.write({"models/m.sql": "SELECT count(*) AS n, x FROM elsewhere GROUP BY x"})
    assert columns(project, "m") == {"n": [], "x": ["elsewhere.x"]}


def test_05_7_4_a_star_of_an_external_table_takes_the_names_of_the_relation(project):
    project.write({"models/m.sql": "SELECT * FROM (SELECT 1 AS a)", "models/n.sql": "FROM range(2)"}).ok("apply")
    assert columns(project, "n") == {"range": []}
    assert columns(project, "n", "-e", "dev") == {}


def test_05_7_columns_of_external_tables_are_the_warehouses_and_are_remembered(project):
    warehouse = ".interlace/warehouse.duckdb"
    project.load("CREATE SCHEMA raw; CREATE TABLE raw.events (id INTEGER, kind VARCHAR)", warehouse)
    project.write({"models/m.sql": "SELECT * FROM raw.events", "models/n.sql": "SELECT id, kind AS k, 1 AS one FROM m"})
    known = {"id": ["raw.events.id"], "kind": ["raw.events.kind"]}
    with project.warehouse(warehouse, read_only=False):  # somebody else holds it, and nothing is remembered yet
        document = project.json("lineage", "m", "-c")
        assert (document["columns"], document["opaque"]) == ({}, True)
    document = project.json("lineage", "m", "-c")
    assert (document["columns"], document["opaque"]) == (known, False)
    with project.warehouse(warehouse, read_only=False):
        assert columns(project, "m") == known
        assert [row["column"] for row in project.json("impact", "m.kind")["impacted"]] == ["k"]
        assert "it has id, kind" in project.fails("impact", "m.nosuch").stderr
    project.load("ALTER TABLE raw.events RENAME kind TO sort", warehouse)
    assert columns(project, "m") == {"id": ["raw.events.id"], "sort": ["raw.events.sort"]}
    project.load("DROP TABLE raw.events", warehouse)
    assert project.json("lineage", "m", "-c")["opaque"]


def test_05_7_lineage_that_is_remembered_follows_every_change(project):
    project.write({"models/a.sql": "SELECT 1 AS x, 2 AS y", "models/b.sql": "SELECT * FROM a"})
    assert columns(project, "b") == {"x": ["a.x"], "y": ["a.y"]}
    project.write({"models/a.sql": "SELECT 1 AS x, 3 AS z"})
    assert columns(project, "b") == {"x": ["a.x"], "z": ["a.z"]}
    project.write({"models/b.sql": "SELECT z AS x FROM a"})
    assert columns(project, "b") == columns(project, "b", "--no-cache") == {"x": ["a.z"]}
    cache = project.root / ".interlace/cache/lineage.bin"
    cache.write_bytes(cache.read_bytes()[:-9])
    assert columns(project, "b") == {"x": ["a.z"]}


def test_05_9_lineage_needs_no_warehouse(project):
    warehouse = ".interlace/warehouse.duckdb"
    project.write(CHAIN).load("CREATE SCHEMA s", warehouse)
    with project.warehouse(warehouse, read_only=False):
        assert project.json("lineage", "agg")["upstream"] == ["raw"]
        assert project.ok("lineage", "agg").stderr == ""


def test_05_8_1_a_chain_names_the_edges(project):
    project.write(CHAIN)
    assert project.json("impact", "raw.amount")["impacted"] == [
        {"model": "agg", "column": "total", "via": "raw.amount -> agg.total"},
        {"model": "top", "column": "total", "via": "agg.total -> top.total"},
    ]


def test_05_8_2_a_python_consumer_is_opaque(project):
    project.write(PYTHON)
    assert project.json("impact", "raw.amount")["opaque_consumers"] == ["enrich"]


def test_05_8_3_a_filter_is_row_influence(project):
    project.write(CHAIN)
    document = project.json("impact", "raw.status")
    assert (document["impacted"], document["row_influence"]) == ([], ["agg"])
    assert project.ok("impact", "raw.status").stdout == "Decides the rows of: agg\n"
    assert project.ok("impact", "raw.one").stdout == "Nothing downstream reads raw.one.\n"


def test_05_8_4_impact_goes_through_ctes_and_unions(project):
    text = "WITH c AS (SELECT amount AS a FROM raw) SELECT 1 AS z UNION ALL SELECT a FROM c"
    project.write(CHAIN | {"models/u.sql": text})
    assert {"model": "u", "column": "z", "via": "raw.amount -> u.z"} in project.json("impact", "raw.amount")["impacted"]


def test_05_8_5_what_is_not_there_is_refused(project):
    project.write(CHAIN)
    assert "expected <model>.<column> with a known model; got 'nosuch.c'" in project.fails("impact", "nosuch.c").stderr
    assert "it has id, amount, status, one" in project.fails("impact", "raw.nosuch").stderr


def test_05_8_6_impact_is_one_document(project):
    project.write(CHAIN)
    keys = {"source", "impacted", "opaque_consumers", "row_influence", "checks", "terminals"}
    assert set(project.json("impact", "raw.id")) == keys


def test_05_9_column_edges_of_graphs(project):
    project.write({"models/a.sql": 'SELECT "x ""y" FROM src.t', "models/b.sql": "SELECT * FROM a"})
    assert r'"src.t.x \"y" -> "a.x \"y" [color=grey];' in project.ok("lineage", "b", "-c", "-f", "dot").stdout
    assert 'n3["src.t.x #34;y"]' in project.ok("lineage", "b", "-c", "-f", "mermaid").stdout
