"""Model tests, `interlace test`: spec 05 §10 and 01 §14. Names carry the number of the line they show."""

import json
import xml.etree.ElementTree as ET

import pytest

TWO = {
    "models/a.sql": "SELECT 99 AS id, 99 AS v",
    "models/b.sql": "SELECT id, v * 2 AS w FROM a",
    "tests/fixtures/a.csv": "id,v\n1,10\n2,20\n",
    "tests/golden/b.csv": "id:int64,w:int64\n1,20\n2,40\n",
}


@pytest.fixture
def two(project):
    return project.write(TWO)


def warehouse_files(project):
    return [name for name in project.files() if name.startswith(".interlace/") and "cache" not in name]


def test_05_10_1_a_changed_query_is_found(two):
    assert two.ok("test").stdout == "passed b\n1 passed\n"
    two.write({"models/b.sql": "SELECT id, v * 3 AS w FROM a"})
    result = two.run("test")
    assert result.code == 1
    assert "failed b" in result.stdout
    assert "expected: 1,20   (row 1)" in result.stdout
    assert "actual:   1,30" in result.stdout
    assert result.stdout.endswith("0 passed, 1 failed\n")


def test_05_10_2_update_golden_writes_what_then_passes(two):
    two.write({"tests/golden/b.csv": ""})
    assert "1 golden file(s) written" in two.ok("test", "--update-golden").stdout
    first = two.read("tests/golden/b.csv")
    assert first == "id:int64,w:int64\n1,20\n2,40\n"
    assert "1 passed" in two.ok("test").stdout
    two.ok("test", "--update-golden")
    assert two.read("tests/golden/b.csv") == first


def test_01_14_1_a_first_golden_file_is_written_and_then_passes(two):
    two.ok("test", "-s", "a", "--update-golden")
    assert two.read("tests/golden/a.csv") == "id:int32,v:int32\n99,99\n"
    assert "1 passed" in two.ok("test", "-s", "a").stdout


def test_01_14_2_a_changed_fixture_shows_model_row_and_both_values(two):
    two.write({"tests/fixtures/a.csv": "id,v\n1,10\n2,21\n"})
    result = two.run("test")
    assert result.code == 1
    for word in ("failed b", "1 of 2 row(s) differ", "expected: 2,40   (row 2)", "actual:   2,42"):
        assert word in result.stdout


def test_01_14_3_nothing_to_test_is_a_failure(two):
    result = two.run("test", "-s", "a")
    assert result.code == 1
    assert "no golden file: tests/golden/a.csv" in result.stdout
    assert "nosuch" in two.fails("test", "-s", "nosuch").stderr
    (two.root / "tests/golden/b.csv").unlink()
    assert "nothing to test" in two.fails("test").stderr
    assert "nothing to test" in two.fails("test", "--update-golden").stderr


VALUES = """SELECT 1 AS n, NULL::VARCHAR AS s, true AS b, 0.1::DOUBLE + 0.2 AS f, DATE '2026-02-03' AS d, 1.50::DECIMAL(6,2) AS m
UNION ALL SELECT 2, '', false, 0.123456789012345, NULL, NULL
UNION ALL SELECT 3, 'a,b', NULL, 1e300, DATE '1999-12-31', -0.25
UNION ALL SELECT 4, 'say "hi"
twice', NULL, NULL, NULL, NULL
UNION ALL SELECT 5, '\\N', NULL, NULL, NULL, NULL"""


def test_05_10_3_null_empty_text_and_quotes_survive(project):
    project.write({"models/m.sql": VALUES})
    project.ok("test", "-s", "m", "--update-golden")
    text = project.read("tests/golden/m.csv")
    for line in ("2,,false", '3,"a,b",', '4,"say ""hi""\ntwice",', '5,"\\N",'):
        assert line in text
    assert "1 passed" in project.ok("test").stdout


def test_01_14_4_values_survive_the_golden_file(project):
    project.write({"models/m.sql": VALUES, "models/n.sql": "SELECT * FROM m"})
    project.ok("test", "-s", "m", "--update-golden")
    assert project.read("tests/golden/m.csv").splitlines()[:4] == [
        'n:int32,s:string,b:bool,f:double,d:date32[day],"m:decimal128(6, 2)"',
        "1,\\N,true,0.3,2026-02-03,1.50",
        "2,,false,0.123456789012,\\N,\\N",
        '3,"a,b",\\N,1e+300,1999-12-31,-0.25',
    ]
    assert "1 passed" in project.ok("test").stdout
    # A golden file is a fixture of the same rows and types, but for the digits that it leaves out.
    rows = [line for line in project.read("tests/golden/m.csv").splitlines(True) if not line.startswith("5,")]
    project.write({"tests/fixtures/m.csv": "".join(rows), "tests/golden/n.csv": "".join(rows)})
    assert "1 passed" in project.ok("test", "-s", "n").stdout


PYTHON = {
    "models/raw.py": "from interlace import model\nimport pathlib\nimport pyarrow as pa\n\n\n@model()\ndef raw():\n"
    "    pathlib.Path('ran').touch()\n    return pa.table({'id': [1]})\n",
    "models/top.sql": "SELECT id + 1 AS id FROM raw",
    "tests/golden/top.csv": "id:int64\n8\n",
}


def test_05_10_4_a_python_ancestor_needs_a_fixture(project):
    project.write(PYTHON)
    assert "tests/fixtures/raw.csv" in project.fails("test").stderr


def test_01_14_5_a_replaced_python_model_never_runs(project):
    project.write({**PYTHON, "tests/fixtures/raw.csv": "id\n7\n"})
    assert "1 passed" in project.ok("test").stdout
    assert not project.exists("ran")
    assert warehouse_files(project) == []


def test_a_selected_python_model_runs_on_fixtures(project):
    project.write(
        {
            "models/a.sql": "SELECT 99 AS id",
            "models/p.py": "from interlace import model\nimport pyarrow as pa\n\n\n@model()\ndef p(a, *, ctx):\n"
            "    ids = a.table()['id'].to_pylist()\n    return pa.table({'twice': [2 * i for i in ids], 'y': [ctx.now.year] * len(ids)})\n",
            "models/q.sql": "SELECT sum(twice) AS s FROM p",
            "tests/fixtures/a.csv": "id\n1\n2\n",
            "tests/golden/p.csv": "twice:int64,y:int64\n4,2031\n2,2031\n",
            "tests/golden/q.csv": '"s:decimal128(38, 0)"\n6\n',
        }
    )
    assert "2 passed" in project.ok("test", "--now", "2031-05-06T07:08:09Z").stdout


def test_05_10_5_an_ephemeral_model_has_nothing_to_test(project):
    project.write({"models/e.sql": "/* interlace: {materialise: ephemeral} */ SELECT 1 AS id"})
    result = project.fails("test", "-s", "e")
    assert "ephemeral" in result.stderr


def test_05_10_6_state_and_warehouse_are_not_touched(two):
    two.ok("test")
    assert warehouse_files(two) == []
    two.ok("apply")
    before = {name: (two.root / name).read_bytes() for name in warehouse_files(two)}
    two.ok("test")
    two.ok("test", "--update-golden")
    assert {name: (two.root / name).read_bytes() for name in warehouse_files(two)} == before


def test_05_10_7_only_an_order_that_is_asked_for_counts(two):
    two.write({"tests/golden/b.csv": "id:int64,w:int64\n2,40\n1,20\n"})
    assert "1 passed" in two.ok("test").stdout
    two.write({"models/b.sql": "SELECT id, v * 2 AS w FROM a ORDER BY id"})
    result = two.run("test")
    assert result.code == 1
    assert "2 of 2 row(s) differ" in result.stdout
    two.write({"models/b.sql": "SELECT id, v * 2 AS w FROM a ORDER BY id DESC"})
    assert "1 passed" in two.ok("test").stdout


def test_a_row_that_is_there_twice_counts_twice(two):
    two.write({"tests/golden/b.csv": "id:int64,w:int64\n1,20\n1,20\n2,40\n"})
    result = two.run("test")
    assert result.code == 1
    assert "row count differs: expected 3, actual 2" in result.stdout


def test_at_most_five_differing_rows_are_shown(two):
    two.write(
        {
            "tests/fixtures/a.csv": "id,v\n" + "".join(f"{i},1\n" for i in range(8)),
            "tests/golden/b.csv": "id:int64,w:int64\n" + "".join(f"{i},3\n" for i in range(8)),
        }
    )
    result = two.run("test")
    assert result.stdout.count("expected:") == 5
    assert "and 3 more" in result.stdout


def test_other_columns_are_told(two):
    two.write({"models/b.sql": "SELECT id, v AS x FROM a"})
    result = two.run("test")
    assert "columns differ" in result.stdout
    assert "id:int64,w:int64" in result.stdout
    assert "id:int64,x:int64" in result.stdout


def test_cases_have_fixtures_and_golden_files_of_their_own(two):
    two.write(
        {
            "models/c.sql": "SELECT count(*) AS n, (SELECT count(*) FROM a) AS m FROM raw.orders",
            "tests/fixtures/raw.orders.csv": "id\n1\n",
            "tests/empty/fixtures/a.csv": "id:int64,v:int64\n",
            "tests/empty/golden/b.csv": "id:int64,w:int64\n",
            "tests/empty/golden/c.csv": "n:int64,m:int64\n1,0\n",
        }
    )
    found = [(t["model"], t["case"], t["status"]) for t in two.json("test")]
    assert found == [("b", None, "passed"), ("b", "empty", "passed"), ("c", "empty", "passed")]


def test_sources_and_inputs_can_have_fixtures(project):
    project.write(
        {
            "interlace.yaml": "inputs:\n  codes: {path: data/nothing.csv, format: csv}\nengines:\n  default:\n    type: duckdb\n"
            "    attach: {crm: data/crm.duckdb}\n",
            "models/m.sql": "SELECT o.id, c.label, p.name FROM raw.orders o JOIN codes c ON c.code = o.code JOIN crm.people p ON p.id = o.id",
            "tests/fixtures/raw.orders.csv": "id:INTEGER,code:VARCHAR\n1,007\n",
            "tests/fixtures/codes.csv": "code:VARCHAR,label\n007,seven\n",
            "tests/fixtures/crm.people.csv": "id,name\n1,Ann\n",
            "tests/golden/m.csv": "id:int32,label:string,name:string\n1,seven,Ann\n",
        }
    )
    assert "1 passed" in project.ok("test").stdout


def test_an_ephemeral_ancestor_is_inlined_or_replaced(project):
    project.write(
        {
            "models/e.sql": "/* interlace: {materialise: ephemeral} */ SELECT 5 AS id",
            "models/m.sql": "SELECT id FROM e",
            "tests/golden/m.csv": "id:int32\n5\n",
            "tests/other/fixtures/e.csv": "id:INTEGER\n6\n",
            "tests/other/golden/m.csv": "id:int32\n6\n",
        }
    )
    assert "2 passed" in project.ok("test").stdout


def test_the_clock_can_be_fixed(project):
    project.write(
        {
            "interlace.yaml": "timezone: Europe/Berlin\n",
            "models/m.sql": "SELECT current_date AS d, now() AS t",
            "tests/golden/m.csv": 'd:date32[day],"t:timestamp[us, tz=UTC]"\n2026-07-02,2026-07-02 00:30:00+02\n',
        }
    )
    assert "1 passed" in project.ok("test", "--now", "2026-07-01T22:30:00Z").stdout
    assert project.run("test").code == 1
    assert project.run("test", "--now", "soon").code == 2


@pytest.mark.parametrize(
    ("name", "text", "word"),
    [
        ("tests/fixtures/aa.csv", "id\n1\n", "did you mean 'a'"),
        ("tests/golden/bb.csv", "id:int64\n", "tests/golden/bb.csv"),
        ("tests/fixtures/a.csv", "", "it is empty"),
        ("tests/fixtures/a.csv", "id:int64,v:int64\n1,x\n", "tests/fixtures/a.csv"),
        ("tests/golden/b.csv", 'id:int64,w:int64\n"1,2\n', "line 2: a quote is not closed"),
    ],
)
def test_a_bad_file_is_named(two, name, text, word):
    two.write({name: text})
    assert word in two.fails("test").stderr


def test_a_model_that_fails_is_an_error_and_the_others_go_on(two):
    two.write(
        {
            "models/c.sql": "SELECT error('boom') AS x FROM a",
            "models/d.sql": "SELECT * FROM c",
            "tests/golden/c.csv": "x:string\n",
            "tests/golden/d.csv": "x:string\n",
        }
    )
    result = two.run("test", "--json", "--junit", "out.xml")
    assert result.code == 1
    found = {t["model"]: (t["status"], t["message"]) for t in json.loads(result.stdout)}
    assert found["b"] == ("passed", None)
    assert found["c"][0] == found["d"][0] == "error"
    assert "boom" in found["c"][1]
    assert "'c' failed" in found["d"][1]
    suite = ET.fromstring(two.read("out.xml"))
    assert suite.attrib["tests"] == "3"
    assert suite.attrib["errors"] == "2"
    assert [c.attrib["name"] for c in suite if c.find("error") is not None] == ["c", "d"]
