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
    assert "2 keys with several rows" in item["message"]
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
