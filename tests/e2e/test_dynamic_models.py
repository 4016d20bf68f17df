"""Generated models and models that are registered while another one runs: spec 01 §9, 03 §13."""

import pytest

HEAD = """from interlace import model
from interlace.dsl.decorators import REGISTRY, ModelDef
import pyarrow as pa


"""
ONE = "    return pa.table({'v': [1]})\n"


def owner(*definitions, keys="", before=""):
    """A file with the model `m`, which registers the given definitions whenever it runs."""
    lines = "".join(f"    REGISTRY.register_model(ModelDef({definition}))\n" for definition in definitions)
    return HEAD + f"@model({keys})\ndef m():\n" + before + lines + ONE


def names(plan):
    return [change["name"] for change in plan["changes"]]


# --- Generated while files load


LOOP = (
    HEAD
    + """def build(tenant):
    def fn():
        return pa.table({'tenant': [tenant]})
    return fn


for tenant in %s:
    REGISTRY.register_model(ModelDef(name=f'orders_{tenant}', fn=build(tenant)))
"""
)


def test_01_9_1_a_loop_makes_models_that_come_and_go_one_by_one(project):
    project.write({"models/m.py": LOOP % ["acme", "globex"]})
    project.ok("apply")
    assert project.query("SELECT tenant FROM orders_acme UNION SELECT tenant FROM orders_globex ORDER BY 1") == [
        ["acme"],
        ["globex"],
    ]
    assert len({model["fingerprint"] for model in project.json("models")}) == 2
    project.write({"models/m.py": LOOP % ["acme"]})
    plan = project.json("plan")
    assert names(plan) == ["orders_globex"]
    assert plan["changes"][0]["change_type"] == "removed"


def test_01_9_2_a_late_bound_variable_shows_and_a_bound_one_is_right(project):
    late = (
        HEAD + "for t in ['a', 'b']:\n    @model(name=f'm_{t}')\n    def f(%s):\n        return pa.table({'t': [t]})\n"
    )
    project.write({"models/m.py": late % ""})
    project.ok("apply")
    both = "SELECT (SELECT t FROM m_a), (SELECT t FROM m_b)"
    assert project.query(both) == [["b", "b"]]
    project.write({"models/m.py": late % "t=t"})
    project.ok("apply", "--force")
    assert project.query(both) == [["a", "b"]]


# --- Registered while a model runs

D1 = "name='d1', sql='SELECT v + 1 AS w FROM m', tags=['made'], description='of */ m'"


def test_01_9_3_a_registered_model_is_built_saved_and_at_rest(project):
    project.write({"models/m.py": owner(D1)})
    answer = project.json("apply")
    assert answer["registered"] == ["d1"]
    assert answer["built"] == ["m", "d1"]
    assert answer["promoted"] == 2
    assert project.query("SELECT w FROM d1") == [[2]]
    assert project.exists(".interlace/dynamic/d1.sql")
    assert project.json("plan")["changes"] == []
    listed = project.ok("models").stdout
    assert "d1" in listed and "m" in listed


def test_03_13_1_one_apply_builds_both_and_models_lists_both(project):
    project.write({"models/m.py": owner("name='silver.r1', sql='SELECT 1 AS a'")})
    project.ok("apply")
    assert project.query("SELECT a FROM silver.r1") == [[1]]
    assert "silver.r1" in project.ok("models").stdout
    assert project.json("plan")["changes"] == []


def test_01_9_4_a_name_of_a_source_file_is_refused_and_nothing_promoted(project):
    project.write({"models/d1.sql": "SELECT 7 AS w", "models/m.py": owner("name='D1', sql='SELECT 1 AS w'")})
    result = project.fails("apply")
    assert "models/d1.sql" in result.stderr and "'m' registers 'D1'" in result.stderr
    project.fails("query", "SELECT * FROM d1")
    assert not project.exists(".interlace/dynamic/D1.sql")
    assert sorted(names(project.json("plan"))) == ["d1", "m"]


def test_03_13_3_a_chain_without_end_stops(project):
    count = (
        "    import pathlib\n    path = pathlib.Path('count')\n"
        "    n = int(path.read_text()) + 1 if path.exists() else 1\n    path.write_text(str(n))\n"
    )
    again = owner("name='d1', sql=f'SELECT {n} AS w'", before=count)
    project.write({"models/m.py": again})
    project.ok("apply")
    project.write({"models/m.py": again.replace("def m():", "def m(d1):")})
    result = project.fails("apply", "--force")
    assert "'m' registers 'd1' anew in each of the 8 plans" in result.stderr
    assert int(project.read("count")) == 10


def test_01_9_an_unchanged_text_keeps_its_time_of_change(project):
    project.write({"models/m.py": owner(D1)})
    project.ok("apply")
    path = project.root / ".interlace/dynamic/d1.sql"
    before = path.stat().st_mtime_ns
    answer = project.json("run")
    assert answer["registered"] == ["d1"]
    assert path.stat().st_mtime_ns == before


def test_01_9_a_name_registered_before_is_replaced(project):
    project.write({"models/m.py": owner("name='d1', sql='SELECT 1 AS w'"), "models/r.sql": "SELECT 5 AS w"})
    project.ok("apply")
    project.write({"models/m.py": owner("name='d1', sql='SELECT 2 AS w'"), "models/r.sql": "SELECT w FROM d1"})
    project.ok("apply", "--force")
    assert project.query("SELECT (SELECT w FROM d1), (SELECT w FROM r)") == [[2, 2]]
    assert project.json("plan")["changes"] == []


def test_10_3_what_its_owner_registers_no_more_is_retired(project):
    project.write({"models/m.py": owner(D1, "name='d2', sql='SELECT 2 AS w'")})
    project.ok("apply")
    project.write({"models/m.py": owner(D1)})
    project.ok("apply", "--force")
    assert project.exists(".interlace/dynamic/d1.sql") and not project.exists(".interlace/dynamic/d2.sql")
    assert project.query("SELECT w FROM d1") == [[2]]
    project.fails("query", "SELECT * FROM d2")
    assert project.json("plan")["changes"] == []


def test_10_3_what_is_registered_goes_with_its_owner_and_comes_back_with_it(project):
    text = owner(D1)
    project.write({"models/m.py": text, "models/a.sql": "SELECT 1 AS id"})
    project.ok("apply")
    project.write({"models/m.py": None})
    assert names(project.json("plan")) == ["d1", "m"]
    project.write({"models/m.py": text})
    assert project.json("plan")["changes"] == []


@pytest.mark.parametrize(
    ("sql", "said"),
    [("SELECT nosuch FROM m", "nosuch"), ("SELEKT 1", "SELEKT"), ("SELECT CAST(''x'' AS INT) AS w", "'x'")],
)
def test_01_9_a_model_that_cannot_be_built_is_not_saved(project, sql, said):
    project.write({"models/m.py": owner('name="d1", sql="' + sql.replace("''", "'") + '"')})
    result = project.fails("apply")
    assert said in result.stderr
    assert "interlace run --select m" in result.stderr + result.stdout
    assert not project.exists(".interlace/dynamic/d1.sql")
    assert "d1" not in project.ok("models").stdout


def test_10_7_fifty_models_are_built_kept_replaced_and_saved_all_or_none(project):
    project.write(
        {
            "models/m.py": HEAD + "@model()\ndef m():\n    import pathlib\n"
            "    value = pathlib.Path('value').read_text()\n    for i in range(50):\n"
            "        REGISTRY.register_model(ModelDef(name=f'd{i}', sql=f'SELECT {i} AS i, {value} AS v'))\n" + ONE,
            "value": "1",
        }
    )
    assert len(project.json("apply")["built"]) == 51
    folder = project.root / ".interlace/dynamic"
    saved = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert len(saved) == 50
    assert project.json("plan")["changes"] == []
    project.write({"value": "CAST('no' AS INT)"})
    project.fails("run", "-s", "m")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == saved
    project.write({"value": "3"})
    project.ok("run", "-s", "m")
    assert project.query("SELECT i, v FROM d49") == [[49, 3]]
    assert project.json("plan")["changes"] == []


def test_01_9_two_models_may_not_register_one_name(project):
    text = owner("name='d1', sql='SELECT 1 AS w'")
    project.write({"models/m.py": text, "models/n.py": text.replace("def m", "def n")})
    result = project.fails("apply")
    assert "registers 'd1'" in result.stderr
    assert not project.exists(".interlace/dynamic/d1.sql")


def test_01_9_functions_are_not_registered_while_running(project):
    project.write({"models/m.py": owner("name='d1', fn=print")})
    assert "queries alone" in project.fails("apply").stderr


def test_01_9_a_selection_takes_what_is_registered_alone(project):
    project.write({"models/m.py": owner(D1), "models/other.sql": "SELECT 1 AS id"})
    answer = project.json("apply", "-s", "m")
    assert answer["built"] == ["m", "d1"]
    assert names(project.json("plan")) == ["other"]


def test_01_9_a_breaking_change_of_what_is_registered_meets_the_gate(project):
    count = "    import pathlib\n    path = pathlib.Path('kind')\n    n = path.read_text() if path.exists() else '1'\n"
    project.write({"models/m.py": owner("name='d1', sql=f'SELECT {n} AS w'", before=count)})
    project.ok("apply")
    project.write({"kind": "2"})
    project.ok("run", "-s", "m")
    assert project.query("SELECT w FROM d1") == [[2]]


# --- The run


def test_10_3_ctx_has_the_id_of_the_run(project):
    project.write(
        {
            f"models/{name}.py": HEAD + f"@model()\ndef {name}(*, ctx):\n    return pa.table({{'r': [ctx.run_id]}})\n"
            for name in ("a", "b")
        }
    )
    project.ok("apply", env={"INTERLACE_RUN_ID": "nightly-7"})
    assert project.query("SELECT a.r, b.r FROM a, b") == [["nightly-7", "nightly-7"]]
    seen = set()
    for _ in range(2):
        project.ok("run")
        [[a, b]] = project.query("SELECT a.r, b.r FROM a, b")
        assert a == b and len(a) == 16 and set(a) <= set("0123456789abcdef")
        seen.add(a)
    assert len(seen) == 2
