"""Columns and types are known before anything is built: what `plan` and `apply` refuse, and what they must not refuse."""

import pytest

ORDERS = "SELECT 1 AS id, 10.5::DECIMAL(18,2) AS amount, DATE '2026-01-01' AS day, 'a' AS name"


def lines(result):
    return result.stderr.splitlines()


def refusal(project, sql, **files):
    """The one line that `plan` says of models/b.sql, which `apply` says too; nothing is made."""
    project.write({"models/orders.sql": ORDERS, "models/b.sql": sql, **files})
    result = project.fails("plan")
    assert len(result.error_lines) == 1, result
    assert result.stdout == ""
    again = project.fails("apply")
    assert lines(again) == lines(result)
    assert again.stdout == ""
    assert not project.exists(".interlace/warehouse.duckdb") or project.sql("SELECT * FROM duckdb_tables()") == []
    return lines(result)[0]


# --- What is refused


def test_a_misspelt_column_is_told_with_place_and_nearest_name(project):
    line = refusal(project, "SELECT id,\n  sum(amuont) AS total\nFROM orders GROUP BY id")
    assert line == ('error: model \'b\': there is no column "amuont"; did you mean "amount"? (models/b.sql:2:7)')
    document = project.json("plan", code=1)
    assert document["error"]["kind"] == "CompilationError"
    assert document["error"]["details"] == {
        "code": "query.unbound",
        "file": "models/b.sql",
        "line": 2,
        "column": 7,
    }


@pytest.mark.parametrize(
    ("sql", "words", "place"),
    [
        ("SELECT o.nme FROM orders AS o", 'did you mean "name"?', ":1:8"),
        ("SELECT id FROM orders AS a JOIN orders AS b ON a.id = b.id", "Ambiguous", ":1:8"),
        ("SELECT sum(day) AS s FROM orders", "sum(DATE)", ":1:8"),
        ("SELECT day + name AS s FROM orders", "+(DATE, VARCHAR)", ":1:12"),
        ("SELECT suum(id) AS s FROM orders", "suum", ":1:8"),
        ("SELECT id, count(*) AS n FROM orders", "GROUP BY", ":1:8"),
        ("WITH c AS (SELECT id AS k FROM orders)\nSELECT c.j FROM c", "j", ":2:8"),
        ("SELECT * EXCLUDE (nothing) FROM orders", "nothing", ""),
        ("SELECT id FROM orders UNION ALL SELECT id, day FROM orders", "same number", ""),
    ],
)
def test_what_the_engine_would_refuse_is_told_before_anything_is_built(project, sql, words, place):
    line = refusal(project, sql)
    assert words in line
    assert f"models/b.sql{place}" in line


def test_all_faulty_models_are_told_at_once_and_their_readers_are_not(project):
    project.write(
        {
            "models/orders.sql": ORDERS,
            "models/b.sql": "SELECT idd FROM orders",
            "models/c.sql": "SELECT nothing FROM b",
            "models/d.sql": "SELECT dday FROM orders",
        }
    )
    assert [line.rsplit("(", 1)[1] for line in lines(project.fails("plan"))] == [
        "models/b.sql:1:8)",
        "models/d.sql:1:8)",
    ]
    project.ok("plan", "-s", "orders")
    assert len(lines(project.fails("plan", "-s", "d"))) == 1


def test_a_broken_contract_is_told_before_anything_is_built(project):
    line = refusal(project, "/* interlace: {columns: {id: text, total: integer}} */\nSELECT id FROM orders")
    assert "is missing contracted column(s): total" in line
    assert "id is INTEGER, expected text" in line
    assert project.json("plan", code=1)["error"]["kind"] == "SchemaError"


def test_a_misspelt_column_of_a_file_is_told(project):
    project.write(
        {
            "data/x.csv": "id,amount\n1,2\n",
            "interlace.yaml": "name: p\ninputs:\n  sales: {path: data/x.csv, format: csv}\n",
        }
    )
    assert 'did you mean "amount"?' in refusal(project, "SELECT amuont FROM sales")
    assert "amuont" in refusal(project, "SELECT amuont FROM read_csv('data/x.csv')")
    assert "amuont" in refusal(project, "SELECT amuont FROM 'data/x.csv'")


def test_a_misspelt_column_of_an_ephemeral_model_or_a_view_is_told(project):
    for kind in ("ephemeral", "view"):
        up = {"models/up.sql": f"/* interlace: {{materialise: {kind}}} */\nSELECT id AS k, amount FROM orders"}
        assert 'did you mean "amount"?' in refusal(project, "SELECT amuont FROM up", **up)


def test_columns_of_a_strategy_are_known(project):
    project.write(
        {
            "models/orders.sql": ORDERS,
            "models/h.sql": "/* interlace: {strategy: scd, key: id} */\nSELECT * FROM orders",
            "models/b.sql": "SELECT id, _valid_from, _valid_too FROM h",
        }
    )
    assert 'did you mean "_valid_to"?' in project.fails("plan").stderr
    project.write({"models/b.sql": "SELECT id, _valid_from, _valid_to FROM h"})
    project.ok("apply")


# --- Comparisons of unlike types


def test_a_text_that_is_compared_with_a_number_is_told_with_place_and_hint(project):
    line = refusal(project, "SELECT o.id FROM orders o\nJOIN orders x ON o.id = x.name")
    assert line == (
        "error: model 'b': Cannot compare values of type INTEGER and type VARCHAR - an explicit cast is required"
        " (models/b.sql:2:23)"
    )
    assert "hint: the engine would cast the text of each row" in project.fails("plan").stderr
    assert project.json("plan", code=1)["error"]["details"]["line"] == 2


@pytest.mark.parametrize(
    ("condition", "is_refused"),
    [
        ("JOIN c USING (id)", True),
        ("WHERE o.id IN (SELECT id FROM c)", True),
        ("JOIN c ON day = c.id", True),
        ("WHERE (amount > 1) = name", True),
        ("JOIN c ON o.id = CAST(c.id AS INTEGER)", False),
        ("JOIN c ON o.name = c.id", False),
        ("WHERE amount = id", False),
        ("WHERE day = '2026-01-01' AND id = '1'", False),
        ("WHERE day = TIMESTAMP '2026-01-01' AND name = 1", False),
    ],
)
def test_only_a_text_that_the_engine_would_cast_row_by_row_is_refused(project, condition, is_refused):
    files = {
        "models/orders.sql": ORDERS,
        "models/c.sql": "/* interlace: {materialise: view} */\nSELECT '1' AS id",
        "models/b.sql": f"SELECT o.day AS d FROM orders AS o {condition}",
    }
    assert ("Cannot compare" in project.write(files).run("plan").stderr) == is_refused
    project.write({"models/b.sql": f"SELECT 1 AS one, o.day AS d FROM orders AS o {condition}"})
    assert ("Cannot compare" in project.run("apply").stderr) == is_refused


def test_unlike_types_are_left_alone_where_a_column_is_not_known_for_certain(project):
    project.write(
        {"models/b.sql": "SELECT t.id FROM somewhere.t AS t JOIN orders AS o ON t.id = o.name AND o.id = o.name"}
    )
    project.write({"models/orders.sql": ORDERS})
    project.ok("plan")
    null_of_a_view = {"models/v.sql": "/* interlace: {materialise: view} */\nSELECT NULL AS n"}
    project.write(null_of_a_view | {"models/b.sql": "SELECT name FROM orders JOIN v ON name = n"})
    project.ok("apply")


# --- What a table outside of the project has


def test_columns_of_external_tables_are_remembered_and_asked_for_again_before_a_refusal(project):
    warehouse = ".interlace/warehouse.duckdb"
    project.load("CREATE SCHEMA raw; CREATE TABLE raw.events (id INTEGER, kind VARCHAR)", warehouse)
    project.write({"models/b.sql": "SELECT id, knid FROM raw.events"})
    assert 'did you mean "kind"?' in project.fails("plan").stderr
    project.load("ALTER TABLE raw.events ADD COLUMN knid VARCHAR", warehouse)
    project.ok("plan")
    project.ok("apply")
    project.load("ALTER TABLE raw.events DROP COLUMN kind", warehouse)
    project.write({"models/b.sql": "SELECT id, knid, kind FROM raw.events"})
    assert '"kind"' in project.fails("apply", "--force").error_lines[0]


def test_an_external_table_that_is_not_there_yet_is_left_to_the_build(project):
    project.write({"models/b.sql": "SELECT anything FROM raw.events", "models/c.sql": "SELECT whatever FROM b"})
    project.ok("plan")
    assert "raw.events" in project.fails("apply").error_lines[0]


def test_a_locked_warehouse_leaves_unknown_tables_alone_and_says_so(project):
    warehouse = ".interlace/warehouse.duckdb"
    project.load("CREATE TABLE events (id INTEGER)", warehouse)
    project.write({"models/b.sql": "SELECT nothing FROM events"})
    with project.warehouse(read_only=False):
        result = project.ok("plan")
        assert "columns of tables outside of the project were not looked at" in result.stdout
        assert "b" in result.stdout
    project.fails("plan")


def test_a_macro_of_the_warehouse_is_no_unknown_function(project):
    project.load("CREATE MACRO twice(x) AS 2 * x", ".interlace/warehouse.duckdb")
    project.write({"models/b.sql": "SELECT twice(21) AS n"})
    project.ok("plan")
    project.ok("apply")
    assert project.query("SELECT n FROM b") == [[42]]


# --- What must not be refused


def test_a_null_of_a_view_has_no_type_yet(project):
    for kind in ("ephemeral", "view"):
        project.write(
            {
                "models/up.sql": f"/* interlace: {{materialise: {kind}}} */\nSELECT NULL AS x, [] AS l",
                "models/mid.sql": f"/* interlace: {{materialise: {kind}}} */\nSELECT * FROM up",
                "models/b.sql": "SELECT upper(x) AS x, list_concat(l, ['a']) AS l FROM mid",
            }
        )
        project.ok("apply", "--force")
        assert project.query("SELECT x FROM b") == [[None]]


def test_a_table_that_keeps_old_columns_is_asked(project):
    header = "/* interlace: {strategy: merge, key: id} */\n"
    project.load("CREATE TABLE src AS SELECT 1 AS id, 'a' AS old", ".interlace/warehouse.duckdb")
    project.write({"models/m.sql": header + "SELECT * FROM src"})
    project.ok("apply")
    project.load("ALTER TABLE src DROP COLUMN old", ".interlace/warehouse.duckdb")
    project.ok("run")
    project.write({"models/b.sql": "SELECT id, old FROM m"})
    project.ok("apply")
    project.write({"models/b.sql": "SELECT id, odl FROM m"})
    assert 'did you mean "old"?' in project.fails("plan").stderr


def test_columns_beyond_a_python_contract_are_left_to_the_build(project):
    project.write(
        {
            "models/p.py": "from interlace import model\nimport pyarrow as pa\n\n"
            "@model(columns={'id': 'integer'})\ndef p():\n    return pa.table({'id': pa.array([1], pa.int32()), 'more': ['x']})\n",
            "models/b.sql": "SELECT id, more FROM p",
            "models/c.sql": "SELECT more FROM b",
        }
    )
    project.ok("plan")
    project.ok("apply")
    project.write({"models/c.sql": "SELECT moer FROM b"})
    assert 'did you mean "more"?' in project.fails("plan").stderr


def test_settings_of_the_engine_decide_what_it_accepts(project):
    project.write(
        {
            "interlace.yaml": "name: p\nengines:\n  default:\n    type: duckdb\n    settings: {old_implicit_casting: true}\n",
            "models/b.sql": "SELECT substring(12345, 1, 2) AS s",
        }
    )
    project.ok("apply")
    assert project.query("SELECT s FROM b") == [["12"]]
    project.write({"interlace.yaml": "name: p\n"})
    project.write({"models/b.sql": "SELECT substring(12345, 1, 3) AS s"})
    assert "substring" in project.fails("plan").stderr


def test_registered_models_are_looked_at_before_anything_is_promoted(project):
    project.write(
        {
            "models/orders.sql": ORDERS,
            "models/p.py": "from interlace import model\nfrom interlace.dsl.decorators import REGISTRY, ModelDef\n\n\n@model\ndef p(orders):\n"
            "    REGISTRY.register_model(ModelDef(name='late', sql='SELECT amuont FROM orders'))\n"
            "    return orders.table()\n",
        }
    )
    result = project.fails("apply")
    assert 'did you mean "amount"?' in result.stderr
    assert project.json("env", "list") == []
