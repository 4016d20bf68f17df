"""`interlace diff`: rows of two environments, or of two tables, beside each other. Spec 03 §12."""

import pytest

ORDERS = "/* interlace: {{key: id}} */\nSELECT * FROM (VALUES {rows}) t(id, item, amount)"
V1 = ORDERS.format(rows="(1, 'tea', 2.50), (2, 'jam', 4.00), (3, 'pie', 7.25)")
V2 = ORDERS.format(rows="(1, 'tea', 2.50), (2, 'jam', 4.75), (3, 'pie', 7.25), (4, 'egg', 0.30)")


@pytest.fixture
def two(project):
    """prod has the first version of orders, dev the second."""
    project.write({"models/orders.sql": V1})
    project.ok("apply")
    project.write({"models/orders.sql": V2})
    project.ok("apply", "-e", "dev", "--force")
    return project


def tables(project, left, right, *args, code=1):
    """The document of two tables of the warehouse, made by these queries."""
    if not project.exists("interlace.yaml"):
        project.write({"interlace.yaml": "attach: {src: data/src.duckdb}\n", "models/a.sql": "SELECT 1 AS x"})
        project.load("SELECT 1")
        project.ok("apply")
    project.load(f"CREATE OR REPLACE TABLE l AS {left}")
    project.load(f"CREATE OR REPLACE TABLE r AS {right}")
    (item,) = project.json("diff", "--source", "src.main.l", "--target", "src.main.r", *args, code=code)
    return item


def counts(item):
    rows = item["rows"]
    return [rows[name] for name in ("left_count", "right_count", "matched", "changed", "left_only", "right_only")]


# --- Two environments


def test_03_12_1_one_changed_and_one_extra_row_between_two_versions(two):
    (item,) = two.json("diff", "--against", "dev", code=1)
    assert item["model"] == "orders"
    assert item["differs"]
    assert item["schema"] == {"added": [], "removed": [], "type_changed": []}
    assert item["left"].startswith("interlace__main.orders__")
    assert item["right"].startswith("interlace__main.orders__")
    rows = item["rows"]
    assert counts(item) == [3, 4, 2, 1, 0, 1]
    assert rows["keys"] == ["id"]
    assert rows["duplicate_keys"] == 0
    assert rows["left_only_sample"] == []
    assert rows["right_only_sample"] == [{"id": 4, "item": "egg", "amount": "0.30"}]
    assert rows["changed_sample"] == [
        {"id": 2, "left_item": "jam", "right_item": "jam", "left_amount": "4.00", "right_amount": "4.75"}
    ]
    assert item["message"] is None


def test_03_12_1_the_same_version_is_equal(two):
    two.ok("apply", "--force")
    (item,) = two.json("diff", "--against", "dev")
    assert counts(item) == [4, 4, 4, 0, 0, 0]
    assert not item["differs"]


def test_03_12_2_an_environment_that_does_not_exist(two):
    assert "No environment 'stage'" in two.fails("diff", "--against", "stage").stderr
    assert "No environment 'stage'" in two.fails("diff", "-e", "stage", "--against", "prod").stderr


# --- Keys


def test_03_12_3_null_keys_match_each_other(project):
    item = tables(
        project,
        "SELECT * FROM (VALUES (NULL, 1, 'a'), (1, NULL, 'b'), (NULL, NULL, 'c')) t(k, l, v)",
        "SELECT * FROM (VALUES (NULL, 1, 'a'), (1, NULL, 'B'), (NULL, 2, 'd')) t(k, l, v)",
        *("--on", "k", "--on", "l"),
    )
    assert counts(item) == [3, 3, 1, 1, 1, 1]
    assert item["rows"]["changed_sample"] == [{"k": 1, "l": None, "left_v": "b", "right_v": "B"}]
    assert item["rows"]["left_only_sample"] == [{"k": None, "l": None, "v": "c"}]


def test_03_12_3_keys_that_repeat_are_compared_as_often_as_they_stand(project):
    item = tables(
        project,
        "SELECT * FROM (VALUES (1, 'a'), (1, 'a'), (1, 'b'), (2, 'x'), (3, 'y')) t(k, v)",
        "SELECT * FROM (VALUES (1, 'a'), (1, 'c'), (2, 'x'), (4, 'z'), (4, 'z')) t(k, v)",
        *("--on", "k"),
    )
    assert counts(item) == [5, 5, 2, 1, 2, 2]
    assert item["rows"]["duplicate_keys"] == 2
    assert item["message"] == "2 key(s) have several rows: compared as multisets"
    assert item["rows"]["right_only_sample"] == [{"k": 4, "v": "z"}, {"k": 4, "v": "z"}]


def test_03_12_3_a_key_with_very_many_rows_on_both_sides_makes_no_billion_pairs(project):
    many = "SELECT 1 AS k, i AS v FROM range(200000) t(i)"
    item = tables(project, many, f"{many} UNION ALL SELECT 1, -1", "--on", "k")
    assert counts(item) == [200000, 200001, 200000, 0, 0, 1]
    assert item["rows"]["duplicate_keys"] == 1


# --- Two tables


def test_03_12_4_without_common_columns_a_key_is_asked_for(project):
    tables(project, "SELECT 1 AS a", "SELECT 1 AS a", code=0)
    project.load("CREATE TABLE other AS SELECT 1 AS b")
    result = project.fails("diff", "--source", "src.l", "--target", "src.other")
    assert "no common columns" in result.stderr
    assert "--on" in result.stderr


@pytest.mark.parametrize(
    "args",
    [
        (),
        ("--source", "a"),
        ("--target", "a"),
        ("--against", "dev", "--source", "a", "--target", "b"),
        ("--source", "a", "--target", "b", "-s", "a"),
        ("--against", "dev", "--tolerance", "-1"),
        ("--against", "dev", "--tolerance", "much"),
        ("--against", "a b"),
        ("--against", "dev", "-n", "-1"),
    ],
)
def test_03_12_4_and_06_4_3_a_wrong_command_line_is_exit_2(two, args):
    two.fails("diff", *args, code=2)


def test_a_key_must_be_a_column_of_both_sides(project):
    item = tables(project, "SELECT 1 AS id, 2 AS amount", "SELECT 1 AS id, 2 AS amount", "--on", "id", code=0)
    assert item["rows"]["keys"] == ["id"]
    sides = ("--source", "src.l", "--target", "src.r")
    result = project.fails("diff", *sides, "--on", "amuont")
    assert "neither 'src.l' nor 'src.r' has a column 'amuont'" in result.stderr
    assert "did you mean 'amount'?" in result.stderr


def test_columns_of_one_side_and_of_other_types(project):
    item = tables(
        project,
        "SELECT 1 AS id, 10::INTEGER AS a, 'x' AS gone",
        "SELECT 1 AS id, 10::BIGINT AS a, 'y' AS fresh",
        *("--on", "id"),
    )
    assert item["schema"] == {
        "added": ["fresh"],
        "removed": ["gone"],
        "type_changed": [{"column": "a", "left": "INTEGER", "right": "BIGINT"}],
    }
    assert counts(item) == [1, 1, 1, 0, 0, 0]
    assert item["differs"]


def test_schema_reads_no_rows(project):
    item = tables(project, "SELECT 1 AS a", "SELECT 2 AS a, 3 AS b", "--schema")
    assert item["schema"]["added"] == ["b"]
    assert item["rows"] is None
    item = tables(project, "SELECT 1 AS a", "SELECT 2 AS a", "--schema", code=0)
    assert not item["differs"]
    sides = ("--source", "src.l", "--target", "src.r")
    assert "The columns are the same." in project.ok("diff", *sides, "--schema").stdout


def test_nan_nested_values_and_names_that_need_quotes(project):
    rows = 'SELECT * FROM (VALUES (1, \'nan\'::DOUBLE, {{\'q\': [1, NULL]}}), (2, 1.5, {other})) t("a b", "it\'s", """n""")'
    left, right = rows.format(other="{'q': [2]}"), rows.format(other="{'q': [2, 3]}")
    item = tables(project, left, right, "--on", "a b")
    assert counts(item) == [2, 2, 1, 1, 0, 0]
    (changed,) = item["rows"]["changed_sample"]
    assert changed['left_"n"'] != changed['right_"n"']
    item = tables(project, left, right)
    assert counts(item) == [2, 2, 1, 0, 1, 1]


def test_a_tolerance_is_for_floats(project):
    left = "SELECT * FROM (VALUES (1, 1.0::DOUBLE, 1.00), (2, 2.0, 2.00), (3, NULL, 3.00)) t(id, f, d)"
    right = "SELECT * FROM (VALUES (1, 1.25::DOUBLE, 1.00), (2, 2.0, 2.25), (3, 0.0, 3.00)) t(id, f, d)"
    assert counts(tables(project, left, right, "--on", "id", "--tolerance", "0.25")) == [3, 3, 1, 2, 0, 0]
    assert counts(tables(project, left, right, "--on", "id", "--tolerance", "1e-3")) == [3, 3, 0, 3, 0, 0]
    # Without a key the columns that are no floats are it.
    item = tables(project, left, right, "--tolerance", "0.25")
    assert item["rows"]["keys"] == ["id", "d"]
    assert counts(item) == [3, 3, 1, 1, 1, 1]
    # Floats only: rows are paired in their order.
    floats = "SELECT f::DOUBLE AS f FROM (VALUES (1.0), (2.0), ({0})) t(f)"
    item = tables(project, floats.format("3.0"), floats.format("3.1"), "--tolerance", "0.2", code=0)
    assert counts(item) == [3, 3, 3, 0, 0, 0]


def test_samples_are_the_first_rows_by_key_and_as_many_as_asked_for(project):
    left = "SELECT 100 - i AS id, i AS v FROM range(50) t(i)"
    right = "SELECT i AS id, 0 AS v FROM range(70) t(i)"
    rows = tables(project, left, right, "--on", "id", "-n", "3")["rows"]
    assert [row["id"] for row in rows["right_only_sample"]] == [0, 1, 2]
    assert [row["id"] for row in rows["left_only_sample"]] == [70, 71, 72]
    assert [row["id"] for row in rows["changed_sample"]] == [51, 52, 53]
    rows = tables(project, left, right, "--on", "id", "-n", "0")["rows"]
    assert (rows["left_only"], rows["left_only_sample"], rows["changed_sample"]) == (31, [], [])
    assert len(tables(project, left, right, "--on", "id")["rows"]["right_only_sample"]) == 20


def test_tables_are_named_as_in_sql_or_by_a_model(two):
    left = two.json("diff", "--source", "orders", "--target", "main.orders")
    assert left[0]["model"] is None
    two.json("diff", "--source", "main.orders", "--target", '"dev__main"."orders"', "--on", "id", code=1)
    two.json("diff", "-e", "dev", "--source", "ORDERS", "--target", "dev__main.orders")
    result = two.fails("diff", "--source", "orders", "--target", "ordrs")
    assert "there is no table 'ordrs'" in result.stderr
    assert "did you mean 'orders'?" in result.stderr
    assert "No environment 'stage'" in two.fails("diff", "-e", "stage", "--source", "orders", "--target", "a.b").stderr
    for wrong in ("a..b", "a.b.c.d", '"a', ".a", "a.", ""):
        two.fails("diff", "--source", "orders", "--target", wrong, code=2)


# --- What environments show


def test_a_model_that_one_environment_lacks_is_not_built_there(two):
    two.write({"models/late.sql": "SELECT 1 AS x"})
    items = {item["model"]: item for item in two.json("diff", "--against", "dev", code=1)}
    assert items["late"]["message"] == "not built in either"
    assert not items["late"]["differs"]
    two.ok("apply", "-s", "late")
    for args, env in ((("--against", "dev"), "dev"), (("-e", "dev", "--against", "prod"), "dev")):
        (item,) = two.json("diff", *args, "-s", "late", code=1)
        assert item["message"] == f"not built in '{env}'"
        assert item["rows"] is None
        assert item["schema"] is None
        assert item["differs"]
    assert two.json("diff", "--against", "dev", "-s", "late", code=1)[0]["right"] is None


def test_relations_are_those_that_pointers_name_not_those_of_the_files(two):
    two.write({"models/orders.sql": ORDERS.format(rows="(9, 'new', 1.00)")})
    (item,) = two.json("diff", "--against", "dev", code=1)
    assert counts(item) == [3, 4, 2, 1, 0, 1]


def test_a_reused_relation_is_the_older_one_and_equal(project):
    project.write({"models/a.sql": "SELECT 1 AS x, 2 AS y", "models/b.sql": "SELECT x FROM a"})
    project.ok("apply")
    project.ok("apply", "-e", "dev")
    project.write({"models/a.sql": "SELECT 1 AS x, 3 AS y"})
    project.ok("apply", "-e", "dev", "--force")
    items = {item["model"]: item for item in project.json("diff", "--against", "dev", code=1)}
    assert items["a"]["differs"]
    assert items["b"]["message"] == "both sides are the same table"
    assert items["b"]["left"] == items["b"]["right"]
    assert not items["b"]["differs"]


def test_rows_that_one_environment_changed_in_place_show(project):
    project.write(
        {
            "interlace.yaml": "attach: {src: data/src.duckdb}\n",
            "models/m.sql": "/* interlace: {strategy: merge, key: id} */\nSELECT * FROM src.items",
        }
    )
    project.load("CREATE TABLE items AS SELECT 1 AS id, 'a' AS v")
    project.ok("apply")
    project.ok("apply", "-e", "dev")
    project.load("UPDATE items SET v = 'b'")
    project.ok("run", "-e", "dev")
    (item,) = project.json("diff", "--against", "dev", code=1)
    assert item["left"] != item["right"]
    assert item["rows"]["changed_sample"] == [{"id": 1, "left_v": "a", "right_v": "b"}]


def test_views_are_compared_ephemerals_and_files_are_not(project):
    project.write(
        {
            "models/e.sql": "/* interlace: {materialise: ephemeral} */\nSELECT 1 AS x",
            "models/f.sql": "/* interlace: {materialise: file, path: out.csv} */\nSELECT 1 AS x",
            "models/v.sql": "/* interlace: {materialise: view} */\nSELECT x FROM e",
        }
    )
    project.ok("apply")
    project.write({"models/v.sql": "/* interlace: {materialise: view} */\nSELECT x + 1 AS x FROM e"})
    project.ok("apply", "-e", "dev", "--force")
    (item,) = project.json("diff", "--against", "dev", code=1)
    assert item["model"] == "v"
    assert counts(item) == [1, 1, 0, 0, 1, 1]
    result = project.ok("diff", "--against", "dev", "-s", "e,f")
    assert result.stdout == "No comparable models (ephemeral and file outputs are skipped).\n"
    assert project.json("diff", "--against", "dev", "-s", "e") == []
    assert "has no table" in project.fails("diff", "--source", "e", "--target", "v").stderr


def test_a_delivered_table_is_compared_with_what_feeds_it(project):
    project.write(
        {
            "interlace.yaml": "attach: {out: data/out.duckdb}\n",
            "models/a.sql": "SELECT range AS id, 'v' AS v FROM range(3)",
            "models/t.sql": "/* interlace: {materialise: table, target: out.t, strategy: replace} */\nSELECT * FROM a",
        }
    )
    project.load("SELECT 1", "data/out.duckdb")
    project.ok("apply")
    project.json("diff", "--source", "a", "--target", "t")
    project.load("UPDATE t SET v = 'w' WHERE id = 1", "data/out.duckdb")
    (item,) = project.json("diff", "--source", "a", "--target", "out.t", "--on", "id", code=1)
    assert counts(item) == [3, 3, 2, 1, 0, 0]
    project.ok("apply", "-e", "dev")  # gated there: nothing leaves the warehouse
    items = {item["model"]: item for item in project.json("diff", "--against", "dev")}
    assert items["t"]["left"] == items["t"]["right"] == "out.main.t"


def test_the_key_of_a_model_that_a_side_lacks_is_not_used(two):
    two.write({"models/orders.sql": "SELECT 'tea' AS item, 2.50 AS amount"})
    two.ok("apply", "-e", "dev", "--force")
    two.write({"models/orders.sql": V1})
    (item,) = two.json("diff", "--against", "dev", code=1)
    assert item["rows"]["keys"] == ["item", "amount"]
    assert "lacks id of the key" in item["message"]
    assert item["schema"]["removed"] == ["id"]
    assert counts(item) == [3, 1, 1, 0, 2, 0]


def test_models_are_selected_and_modified_means_against_the_left_environment(two):
    two.write({"models/other.sql": "SELECT 1 AS x"})
    two.ok("apply", "-s", "other")
    two.ok("apply", "-e", "dev", "-s", "other")
    modified = two.json("diff", "--against", "dev", "-s", "state:modified", code=1)
    assert [item["model"] for item in modified] == ["orders"]
    assert [item["model"] for item in two.json("diff", "--against", "dev", "-x", "orders")] == ["other"]
    assert two.json("diff", "-e", "dev", "--against", "prod", "-s", "state:modified") == []
    assert "unknown model" in two.fails("diff", "--against", "dev", "-s", "ordrs").stderr


def test_a_table_that_is_gone_is_told(two):
    gone = two.json("diff", "--against", "dev", code=1)[0]["right"]
    with two.warehouse(read_only=False) as connection:
        connection.execute("DROP VIEW dev__main.orders")
        connection.execute(f"DROP TABLE {gone}")
    (item,) = two.json("diff", "--against", "dev", code=1)
    assert item["message"] == "the table of 'dev' is gone from the warehouse"
    assert item["differs"]


def test_it_reads_only_and_runs_beside_another_reader(two):
    warehouse = two.root / ".interlace/warehouse.duckdb"
    before = (warehouse.read_bytes(), sorted(path.name for path in warehouse.parent.iterdir()))
    with two.warehouse():
        two.json("diff", "--against", "dev", code=1)
    assert (warehouse.read_bytes(), sorted(path.name for path in warehouse.parent.iterdir())) == before


def test_nothing_is_built_yet(project):
    project.write({"models/a.sql": "SELECT 1 AS x"})
    assert "No environment 'prod'" in project.fails("diff", "--against", "dev").stderr
    assert "nothing is built" in project.fails("diff", "--source", "x", "--target", "y").stderr
    assert not project.exists(".interlace/warehouse.duckdb")


def test_the_text_names_both_sides_and_shows_what_differs(two):
    text = two.run("diff", "--against", "dev").stdout
    assert "left 3 · right 4 · matched 2 · changed 1 · left only 0 · right only 1 (by id)" in text
    assert "id  left_amount  right_amount" in text
    assert "left_item" not in text
    assert "Only in dev" in text
    assert text.endswith("1 of 1 model(s) differ.\n")


def test_a_model_of_an_engine_that_is_not_open_is_told(two):
    config = "default_engine: {0}\nengines: {{{0}: {{type: duckdb, database: .interlace/warehouse.duckdb}}}}\n"
    two.write({"interlace.yaml": config.format("other")})
    (item,) = two.json("diff", "--against", "dev", code=1)
    assert item["message"] == "on engine 'default', which cannot be read together with 'other'"
    assert item["rows"] is None


def test_a_model_is_compared_with_a_table_in_postgres(project, postgres):
    postgres.sql("CREATE SCHEMA side; CREATE TABLE side.orders(id integer, item text, amount numeric(9,2))")
    postgres.sql("INSERT INTO side.orders VALUES (1, 'tea', 2.50), (2, 'jam', 9.99), (NULL, 'egg', 1.00)")
    project.write({"interlace.yaml": f"attach: {{pg: '{postgres.dsn}'}}\n", "models/orders.sql": V1})
    project.ok("apply")
    (item,) = project.json("diff", "--source", "orders", "--target", "pg.side.orders", "--on", "id", code=1)
    assert counts(item) == [3, 3, 1, 1, 1, 1]
    assert item["rows"]["right_only_sample"] == [{"id": None, "item": "egg", "amount": "1.00"}]
    assert "there is no table" in project.fails("diff", "--source", "orders", "--target", "pg.side.nope").stderr


def test_environments_of_a_lake(project):
    project.write({"interlace.yaml": "database: ducklake:data/lake.ducklake\n", "models/orders.sql": V1})
    project.ok("apply")
    project.write({"models/orders.sql": V2})
    project.ok("apply", "-e", "dev", "--force")
    (item,) = project.json("diff", "--against", "dev", code=1)
    assert counts(item) == [3, 4, 2, 1, 0, 1]
