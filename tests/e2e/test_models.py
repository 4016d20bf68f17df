"""Projects and models: spec 01 §1–8 and §13, spec 03 §1 and §4. Names carry the number of the line they show."""

import shutil
import subprocess
import sys

import pytest


def changed(project, *args):
    return [change["name"] for change in project.json("plan", *args)["changes"]]


# --- 01 §1: layout --------------------------------------------------------------------------------------------------


def test_01_1_3_relative_paths_mean_the_project_wherever_the_command_runs(project, tmp_path):
    project.write({"seeds/x.csv": "id\n1\n2\n", "models/a.sql": "SELECT id FROM read_csv('seeds/x.csv')"})
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    project.ok("apply", "-p", str(project.root), cwd=elsewhere)
    assert project.query("SELECT count(*) FROM a") == [[2]]
    assert list(elsewhere.iterdir()) == []
    assert changed(project) == []


def test_01_1_3_a_quoted_file_and_a_glob_are_found_from_elsewhere_too(project, tmp_path):
    project.write(
        {
            "seeds/x.csv": "id\n1\n",
            "seeds/y.csv": "id\n2\n",
            "models/a.sql": "/* interlace: {materialise: view} */ SELECT id FROM 'seeds/*.csv'",
            "models/b.sql": "SELECT id FROM a",
        }
    )
    project.ok("apply", "-p", str(project.root), cwd=tmp_path)
    assert project.query("SELECT count(*) FROM b") == [[2]]


def test_a_view_over_files_is_readable_from_elsewhere_by_other_clients(project, tmp_path):
    project.write(
        {
            "seeds/x.csv": "id\n1\n",
            "models/e.sql": "/* interlace: {materialise: ephemeral} */ SELECT id FROM 'seeds/x.csv'",
            "models/a.sql": "/* interlace: {materialise: view} */ SELECT id FROM read_csv(['seeds/x.csv']) UNION ALL FROM e",
        }
    )
    project.ok("apply")
    script = "import duckdb, sys; print(duckdb.connect(sys.argv[1], read_only=True).sql('FROM a').fetchall())"
    warehouse = project.root / ".interlace/warehouse.duckdb"
    read = [sys.executable, "-c", script, str(warehouse)]
    out = subprocess.run(read, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    assert out.stdout == "[(1,), (1,)]\n"
    assert changed(project) == []
    assert project.query("SELECT count(*) FROM a") == [[2]]


def test_01_1_6_helpers_are_no_models(project):
    project.write(
        {
            "models/_h.py": "import pyarrow as pa\n\n\ndef f():\n    return pa.table({'a': [1, 2]})\n",
            "models/x.py": "from _h import f\nfrom interlace import model\n\n\n@model()\ndef x():\n    return f()\n",
            "models/_broken.py": "raise RuntimeError('never loaded')\n",
        }
    )
    project.ok("apply")
    assert project.query("SELECT count(*) FROM x") == [[2]]


def test_unreserved_schemas_only(project):
    project.write({"models/interlace__x/a.sql": "SELECT 1 AS id"})
    assert "interlace__x" in project.fails("plan").stderr


# --- 01 §2: configuration -------------------------------------------------------------------------------------------


def test_01_2_1_the_database_follows_the_environment_then_dotenv_then_the_default(project):
    project.write({"interlace.yaml": 'database: "${WH:-x.duckdb}"\n', "models/a.sql": "SELECT 1 AS id"})
    project.ok("apply")
    assert project.exists("x.duckdb")
    project.write({".env": "WH=y.duckdb\n"})
    shutil.rmtree(project.root / ".interlace")
    project.ok("apply")
    assert project.exists("y.duckdb")
    shutil.rmtree(project.root / ".interlace")
    project.ok("apply", env={"WH": "z.duckdb"})
    assert project.exists("z.duckdb")


def test_01_2_7_settings_reach_the_engine(project):
    project.write(
        {
            "interlace.yaml": "settings: {memory_limit: 256MB, threads: 2}\n",
            "models/a.sql": "SELECT current_setting('threads') AS t",
            "models/big.sql": "SELECT hash(i) AS h, md5(i::VARCHAR) AS m FROM range(8000000) t(i) ORDER BY h",
        }
    )
    project.ok("apply")
    assert project.query("SELECT t FROM a") == [[2]]
    assert project.query("SELECT count(*) FROM big") == [[8000000]]


def test_an_overlay_is_merged_over_the_main_file(project):
    project.write(
        {
            "interlace.yaml": "vars: {region: {type: string, value: EU}}\n",
            "interlace.us.yaml": "vars: {region: {value: US}}\n",
            "models/a.sql": "SELECT var('region') AS r",
        }
    )
    project.ok("apply")
    assert project.query("SELECT r FROM a") == [["EU"]]
    assert changed(project, "--overlay", "us") == ["a"]
    assert "nope" in project.fails("plan", "--overlay", "nope").stderr


# --- 01 §3: SQL files -----------------------------------------------------------------------------------------------


def test_01_3_2_a_comment_that_is_no_configuration_is_a_comment(project):
    project.write({"models/a.sql": "/* just words */ SELECT 1 AS x;"})
    project.ok("apply")
    assert project.query("SELECT * FROM a") == [[1]]


def test_01_3_5_a_block_inside_a_string_is_a_string(project):
    project.write({"models/a.sql": "SELECT '/* interlace: {materialise: view} */' AS x"})
    assert project.json("models")[0]["output"] == "virtual"


def test_a_licence_comment_may_stand_before_the_block(project):
    project.write(
        {"models/a.sql": "-- ours\n/* (c) Example Ltd */\n/* interlace: {materialise: view} */\nSELECT 1 AS x"}
    )
    assert project.json("models")[0]["output"] == "view"


# --- 01 §6: macros and vars -----------------------------------------------------------------------------------------


def test_01_6_1_editing_a_macro_lists_its_callers_and_their_readers(project):
    project.write(
        {
            "macros/money.sql": "CREATE MACRO cents(x) AS (x / 100)::DECIMAL(16,2);",
            "models/a.sql": "SELECT cents(1234) AS total",
            "models/b.sql": "SELECT total FROM a",
            "models/c.sql": "SELECT 1 AS x",
        }
    )
    project.ok("apply")
    assert project.query("SELECT total FROM b") == [["12.34"]]
    project.write({"macros/money.sql": "CREATE MACRO cents(x) AS (x / 100)::DECIMAL(16,1);"})
    assert changed(project) == ["a", "b"]


def test_01_6_2_wrong_arguments_and_endless_macros_are_refused(project):
    project.write({"macros/m.sql": "CREATE MACRO cents(x) AS x / 100;", "models/a.sql": "SELECT cents(1, 2) AS t"})
    result = project.fails("plan")
    assert "'cents' takes 1 argument (x), but 2 are given" in result.stderr
    project.write(
        {"macros/m.sql": "CREATE MACRO f(x) AS g(x); CREATE MACRO g(x) AS f(x);", "models/a.sql": "SELECT f(1)"}
    )
    result = project.fails("plan")
    assert "recursive" in result.stderr
    assert "model 'a'" in result.stderr


def test_01_6_3_a_var_lists_its_readers(project):
    project.write(
        {
            "interlace.yaml": "vars: {region: {type: string, value: EU}}\n",
            "models/a.sql": "SELECT var('region') AS r",
            "models/b.sql": "SELECT 1 AS x",
        }
    )
    project.ok("apply")
    project.write({"interlace.yaml": "vars: {region: {type: string, value: US}}\n"})
    assert changed(project) == ["a"]
    project.write({"models/a.sql": "SELECT var('nope') AS r"})
    assert "region" in project.fails("plan").stderr


def test_01_6_4_a_var_is_a_literal_whatever_is_in_it(project):
    project.write(
        {
            "interlace.yaml": 'vars: {who: {type: string, value: "O\'Brien; DROP TABLE x"}}\n',
            "models/a.sql": "SELECT var('who') AS who, var('who') = 'O''Brien; DROP TABLE x' AS same",
        }
    )
    project.ok("apply")
    assert project.query("SELECT same FROM a") == [[True]]


# --- 01 §7: references ----------------------------------------------------------------------------------------------


def upstream(project, name):
    return project.ok("lineage", name, "--format", "json").json["upstream"]


def test_01_7_1_another_schemas_table_is_not_the_model_of_that_name(project):
    project.write(
        {
            "interlace.yaml": "attach: {raw: data/raw.duckdb}\n",
            "models/stg/orders.sql": "SELECT * FROM raw.orders",
            "models/orders.sql": "SELECT 1 AS id",
        }
    )
    assert upstream(project, "stg.orders") == []
    assert "raw.orders" in project.ok("plan").stdout


def test_01_7_2_a_cte_hides_the_unqualified_name_only(project):
    project.write(
        {
            "models/orders.sql": "SELECT 1 AS id, 'm' AS src",
            "models/a.sql": "WITH orders AS (SELECT 1 AS id) SELECT id, o.src FROM orders JOIN main.orders o USING (id)",
        }
    )
    assert upstream(project, "a") == ["orders"]
    project.ok("apply")
    assert project.query("SELECT id, src FROM a") == [[1, "m"]]


def test_01_7_3_ephemeral_chains_are_inlined(project):
    project.write(
        {
            "models/a.sql": "/* interlace: {materialise: ephemeral} */ SELECT 1 AS id -- one",
            "models/b.sql": "/* interlace: {materialise: ephemeral} */ WITH x AS (SELECT * FROM a) SELECT id + 1 AS id FROM x;",
            "models/final.sql": "WITH _eph_a AS (SELECT 7 AS z) SELECT b.id, a.id AS a, z FROM b, a, _eph_a",
        }
    )
    project.ok("apply")
    assert project.query("SELECT * FROM final") == [[2, 1, 7]]
    names = project.sql(
        "SELECT table_name FROM duckdb_tables() UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal"
    )
    assert len(names) == 2
    project.write({"models/a.sql": "/* interlace: {materialise: ephemeral} */ SELECT 5 AS id"})
    assert changed(project) == ["a", "b", "final"]
    project.ok("apply", "--force")
    assert project.query("SELECT id FROM final") == [[6]]


def test_columns_are_not_called_after_physical_names(project):
    project.write(
        {
            "models/a.sql": "SELECT 1 AS id",
            "models/e.sql": "/* interlace: {materialise: ephemeral} */ SELECT (SELECT max(id) FROM a)",
            "models/b.sql": "SELECT (SELECT count(*) FROM a), exists(FROM e), * FROM e",
        }
    )
    project.ok("apply")
    names = ["(SELECT count_star() FROM a)", "EXISTS(SELECT * FROM e)", "(SELECT max(id) FROM a)"]
    assert project.json("query", "FROM b")["columns"] == names
    assert project.json("query", "SELECT (SELECT max(id) FROM a)")["columns"] == ["(SELECT max(id) FROM a)"]


def test_01_7_5_unquoted_names_compare_without_case(project):
    project.write({"models/orders.sql": "SELECT 1 AS id", "models/b.sql": "SELECT Orders.id FROM ORDERS"})
    project.ok("apply")
    assert project.query("SELECT id FROM b") == [[1]]


def test_a_view_model_reads_its_upstream_when_it_is_queried(project):
    project.write(
        {
            "models/t.sql": "SELECT i AS id FROM range(3) r(i)",
            "models/v.sql": "/* interlace: {materialise: view} */ SELECT id * 10 AS id FROM t",
            "models/w.sql": "SELECT sum(id)::INT AS s FROM v",
        }
    )
    project.ok("apply")
    assert project.query("SELECT s FROM w") == [[30]]
    assert project.query("SELECT max(id) FROM v") == [[20]]


# --- 01 §13 and 03 §1: fingerprints ---------------------------------------------------------------------------------


def test_01_13_1_what_is_no_logic_changes_nothing(project):
    project.write(
        {
            "models/a.sql": "select Id, 'a' as tag\nfrom (values (1)) t(id)",
            "models/b.sql": "/* interlace: {materialise: virtual, tags: [x]} */ SELECT id FROM a",
        }
    )
    project.ok("apply")
    project.write(
        {
            "models/a.sql": "-- said\nSELECT ID,\n  'a' /* why */ AS TAG\n  FROM (VALUES (1)) T(ID);\n",
            "models/b.sql": "/* interlace:\n  tags: [x]\n  strategy: replace\n  materialise: virtual\n*/\nSELECT id FROM a",
        }
    )
    assert "No changes for prod." in project.ok("plan").stdout
    project.write({"models/a.sql": "select Id, 'A' as tag\nfrom (values (1)) t(id)"})
    assert changed(project) == ["a", "b"]


def test_03_1_2_metadata_is_no_change_of_the_data(project):
    project.write({"models/a.sql": "SELECT 1 AS id"})
    project.ok("apply")
    for header in (
        "{owner: me}",
        "{tags: [t]}",
        "{description: d}",
        "{checks: [{not_null: id}]}",
        "{schedule: {every: 1h}}",
    ):
        project.write({"models/a.sql": f"/* interlace: {header} */ SELECT 1 AS id"})
        assert changed(project) == []
    assert "Built" not in project.ok("apply").stdout
    assert project.json("plan")["empty"] is True


def test_01_13_3_fingerprints_do_not_know_the_place(project, make_project):
    files = {
        "models/a.sql": "SELECT 1 AS id",
        "models/s/b.sql": "SELECT * FROM a",
        "models/p.py": "from interlace import model\n\nK = 3\n\n\n@model()\ndef p(a):\n    return a.table().slice(0, K)\n",
    }
    project.write(files)
    other = make_project(files, name="elsewhere/deep")
    plans = [p.json("plan") for p in (project, other)]
    assert plans[0] == plans[1]


# --- 03 §4: selection -----------------------------------------------------------------------------------------------


@pytest.fixture
def chain(project):
    return project.write(
        {
            "models/a.sql": "/* interlace: {tags: [x]} */ SELECT 1 AS id",
            "models/b.sql": "SELECT * FROM a",
            "models/c.sql": "SELECT * FROM b",
            "models/silver/other.sql": "SELECT 1 AS id",
        }
    )


@pytest.mark.parametrize(
    ("selectors", "expected"),
    [
        (["+c"], ["a", "b", "c"]),
        (["a+"], ["a", "b", "c"]),
        (["+b+"], ["a", "b", "c"]),
        (["a,c"], ["a", "c"]),
        (["a", "c"], ["a", "c"]),
        (["tag:x+"], ["a", "b", "c"]),
        (["silver.*"], ["silver.other"]),
        (["path:models/silver/"], ["silver.other"]),
    ],
)
def test_03_4_1_selectors_select_what_is_documented(chain, selectors, expected):
    args = [word for selector in selectors for word in ("-s", selector)]
    assert sorted(m["name"] for m in chain.json("models", *args)) == expected


def test_03_4_1_exclude_is_subtracted_last(chain):
    assert sorted(m["name"] for m in chain.json("models", "-s", "a+", "-x", "b")) == ["a", "c"]


def test_03_4_2_a_selection_grows_by_its_changed_ancestors(chain):
    chain.ok("apply")
    chain.write({"models/a.sql": "SELECT 2 AS id", "models/silver/other.sql": "SELECT 2 AS id"})
    result = chain.ok("apply", "--force", "-s", "c")
    assert "Built 3 model(s)" in result.stdout
    assert chain.query("SELECT id FROM c") == [[2]]
    assert chain.query("SELECT id FROM silver.other") == [[1]]


def test_03_4_3_bad_selectors_say_what_there_is(chain):
    assert "nosuch" in chain.fails("plan", "-s", "nosuch").stderr
    assert "x" in chain.fails("plan", "-s", "tag:none").stderr
    assert "state" in chain.fails("plan", "-s", "state:odd").stderr
    chain.ok("apply")
    assert "No changes" in chain.ok("plan", "-s", "state:modified").stdout


def test_03_4_4_a_selected_plan_shows_no_removals(chain):
    chain.ok("apply")
    chain.write({"models/silver/other.sql": None})
    assert changed(chain, "-s", "a") == []
    assert changed(chain) == ["silver.other"]
