"""spec 06 §4: what the commands print and how they exit."""

import json
import shutil
import subprocess

import pytest

CHAIN = {
    "models/a.sql": "SELECT 1 AS id",
    "models/b.sql": "SELECT id + 1 AS id FROM a",
    "models/c.sql": "/* interlace: {tags: [top], owner: ann} */ SELECT id FROM b",
}


# --- apply ------------------------------------------------------------------------------------------------------------


def test_06_4_2_the_quickstart_numbers(fresh_quickstart):
    out = fresh_quickstart.ok("apply").stdout
    rows = {line.split()[0]: line.split() for line in out.splitlines() if line.split()}
    assert "+12" in rows["raw_events"] and "+12" in rows["enriched_events"] and "+3" in rows["event_summary"]
    assert "Checks: 2/2 passed" in out
    assert "Built 3 model(s); promoted 3 to 'prod'." in out
    assert fresh_quickstart.ok("apply").stdout == "No changes for prod.\n"
    assert "Built 0 model(s); promoted 3 to 'dev'." in fresh_quickstart.ok("apply", "-e", "dev").stdout


def test_06_4_a_breaking_plan_is_refused_and_named(project):
    project.write(CHAIN).ok("apply")
    project.write({"models/a.sql": "SELECT 2 AS id"})
    result = project.fails("apply")
    assert "--force" in result.stderr and "a" in result.error_lines[0]
    assert project.query("SELECT id FROM c") == [[2]]
    project.ok("apply", "--force")
    assert project.query("SELECT id FROM c") == [[3]]


def test_06_4_checks_that_only_warn_are_named_in_the_result(project):
    project.write(
        {
            "models/a.sql": "/* interlace: {checks: [{type: unique, column: id, severity: warn}]} */ SELECT unnest([1, 1]) AS id"
        }
    )
    out = project.ok("apply").stdout
    assert "Checks: 0/1 passed; a.unique_id failed (warn)" in out
    assert "promoted 1 to 'prod'." in out
    project.write({"models/a.sql": project.read("models/a.sql") + " UNION ALL SELECT 2"})
    project.fails("apply", "--force", "--strict")


def test_06_4_a_failed_apply_promotes_nothing_and_says_what_it_built(project):
    project.write({"models/a.sql": "SELECT 1 AS id", "models/b.sql": "SELECT error('no') AS id FROM a"})
    result = project.fails("apply")
    assert "Built 1 model(s); nothing promoted." in result.stdout
    assert project.json("env", "list") == []


# --- plan -------------------------------------------------------------------------------------------------------------


def test_06_4_plan_has_detailed_exit_codes(project):
    project.write(CHAIN)
    assert project.run("plan", "--detailed-exit-code").code == 3
    project.ok("apply")
    assert project.run("plan", "--detailed-exit-code").code == 0
    project.write({"models/a.sql": "SELECT 2 AS id"})
    assert project.run("plan", "--detailed-exit-code").code == 4
    assert project.run("plan").code == 0


def test_06_4_plan_explains_and_shows_differences(project):
    project.write(CHAIN).ok("apply")
    project.write({"models/a.sql": "SELECT 2 AS id"})
    out = project.ok("plan", "--explain", "--diff").stdout
    assert "a: column 'id' changed (models/a.sql:1:8); has to be built" in out
    assert "b: uses 'id' of a, which changed; has to be built" in out
    assert "-SELECT 1 AS id" in out and "+SELECT 2 AS id" in out


def test_06_4_plan_shows_differences_of_python_models(fresh_quickstart):
    fresh_quickstart.ok("apply")
    text = fresh_quickstart.read("models/enriched_events.py")
    fresh_quickstart.write({"models/enriched_events.py": text.replace('"purchase"', '"order"')})
    out = fresh_quickstart.ok("plan", "--diff").stdout
    assert '-            "is_conversion": pc.equal(batch["kind"], "purchase"),' in out
    assert '+            "is_conversion": pc.equal(batch["kind"], "order"),' in out


def test_06_4_warnings_of_the_configuration_go_to_stderr(project):
    project.write({"interlace.yaml": "scheduler: {slots: 2}\n", "models/a.sql": "SELECT 1 AS id"})
    result = project.ok("models")
    assert result.stderr.startswith("warning: 'scheduler'")
    assert len(result.stderr.splitlines()) == 1
    assert project.ok("models", "--quiet").stderr == ""
    for command in ("plan", "apply"):
        assert project.ok(command).stderr.startswith("warning: 'scheduler'")


def test_03_5_5_markdown_starts_with_the_marker_and_is_stable(project):
    project.write(CHAIN)
    first = project.ok("plan", "--markdown").stdout
    assert first.splitlines()[0] == "<!-- interlace-plan -->"
    assert "| `a` | added |" in first
    assert project.ok("plan", "--markdown").stdout == first


# --- models -----------------------------------------------------------------------------------------------------------


def test_06_4_models_have_their_keys(project):
    project.write(CHAIN)
    models = project.json("models")
    assert [model["name"] for model in models] == ["a", "b", "c"]
    assert models[2] | {"fingerprint": None} == {
        "name": "c",
        "output": "virtual",
        "strategy": "replace",
        "engine": "default",
        "depends_on": ["b"],
        "language": "sql",
        "tags": ["top"],
        "owner": "ann",
        "description": None,
        "schedule": None,
        "fingerprint": None,
        "file": "models/c.sql",
        "columns": [],
    }
    assert [model["name"] for model in project.json("models", "--tag", "top")] == ["c"]
    assert [model["name"] for model in project.json("models", "-s", "b+")] == ["b", "c"]
    assert not project.exists(".interlace/state.db")


def test_06_4_models_know_what_is_modified_in_an_environment(project):
    project.write(CHAIN).ok("apply")
    assert project.json("models", "-s", "state:modified") == []
    assert len(project.json("models", "-s", "state:modified", "-e", "dev")) == 3
    project.write({"models/b.sql": "SELECT id + 2 AS id FROM a"})
    assert [model["name"] for model in project.json("models", "-s", "state:modified")] == ["b", "c"]


# --- lineage ----------------------------------------------------------------------------------------------------------


def test_05_9_lineage_names_what_is_up_and_down(project):
    project.write(CHAIN)
    assert project.ok("lineage", "b").stdout == "b\n  upstream: a\n  downstream: c\n"
    assert project.ok("lineage", "a").stdout == "a\n  upstream: —\n  downstream: b, c\n"
    assert project.ok("lineage", "a", "--depth", "1").stdout == "a\n  upstream: —\n  downstream: b\n"
    document = project.json("lineage", "b")
    assert (document["model"], document["upstream"], document["downstream"]) == ("b", ["a"], ["c"])
    assert project.json("lineage")["edges"] == [["a", "b"], ["b", "c"]]
    assert project.ok("lineage", "b", "-f", "json").json == document


def test_05_9_lineage_of_an_unknown_model_exits_1(project):
    project.write({"models/orders.sql": "SELECT 1 AS id"})
    assert "orders" in project.fails("lineage", "oders").stderr.replace("oders", "")
    project.fails("lineage", "-f", "xml", code=2)


def test_05_9_dot_is_valid_and_quotes_survive(project):
    project.write({"models/a.sql": 'SELECT * FROM src."odd ""name"', "models/b.sql": "SELECT * FROM a"})
    out = project.ok("lineage", "b", "-f", "dot").stdout
    assert out.startswith("digraph lineage {\n  rankdir=LR;\n")
    assert '"b" [style=bold];' in out
    assert '"a" -> "b";' in out
    assert r'"src.odd \"name" -> "a";' in out
    if shutil.which("dot"):
        subprocess.run(["dot", "-Tsvg"], input=out, text=True, check=True, capture_output=True)


def test_05_9_lineage_needs_no_warehouse(project):
    project.write(CHAIN).ok("apply")
    with project.warehouse(read_only=False):
        assert project.ok("lineage", "b").stdout.startswith("b\n")
        assert "No changes" in project.ok("plan").stdout


# --- env list ---------------------------------------------------------------------------------------------------------


def test_03_9_environments_show_drift_and_what_was_removed(project):
    assert project.ok("env", "list").stdout == "No environments promoted yet — run interlace apply.\n"
    project.write(CHAIN).ok("apply")
    project.ok("apply", "-e", "dev")
    project.write({"models/b.sql": "SELECT id + 2 AS id FROM a", "models/c.sql": None})
    environments = {environment["name"]: environment for environment in project.json("env", "list")}
    assert set(environments) == {"dev", "prod"}
    assert environments["prod"]["views"] == "main.*"
    assert environments["dev"]["views"] == "dev__*.*"
    assert environments["prod"]["models"] == 3
    assert environments["prod"]["drift"] == 1
    assert environments["prod"]["removed"] == 1
    assert environments["prod"]["generation"] == 1
    text = project.ok("env", "list").stdout
    assert "main.* (production)" in text


# --- checks -----------------------------------------------------------------------------------------------------------

CHECKED = "/* interlace: {checks: [{not_null: id}, {unique: id}]} */ SELECT * FROM (VALUES (1), (2)) AS t(id)"


def test_05_5_outcomes_are_listed_and_filtered(project):
    assert project.ok("checks", "list").stdout == "No check has run.\n"
    project.write({"models/a.sql": CHECKED, "models/b.sql": CHECKED.replace("(2)", "(1)")})
    project.fails("apply", "--keep-going")
    assert len(project.json("checks", "list")) == 4
    failed = project.json("checks", "list", "--status", "failed")
    assert [(check["model"], check["check_name"], check["failures"]) for check in failed] == [("b", "unique_id", 1)]
    assert len(project.json("checks", "list", "--model", "a")) == 2
    assert len(project.json("checks", "list", "--limit", "1")) == 1
    assert project.json("checks", "list", "-e", "dev") == []
    assert project.json("checks", "list", "--since", "2100-01-01") == []
    project.fails("checks", "list", "--model", "nosuch")
    table = project.ok("checks", "list").stdout.splitlines()
    assert table[1].split() == ["Env", "Model", "Check", "Severity", "Status", "Failures", "At"]


def test_05_5_2_a_tightened_check_runs_against_what_is_live(project):
    project.write({"models/a.sql": CHECKED}).ok("apply")
    assert "Checks: 2/2 passed against 'prod'." in project.ok("checks", "run").stdout
    project.write({"models/a.sql": CHECKED.replace("{unique: id}", "{range: {column: id, max: 1}}")})
    outcomes = project.json("checks", "run", code=1)
    assert [(check["name"], check["status"]) for check in outcomes] == [
        ("not_null_id", "passed"),
        ("range_id", "failed"),
    ]
    text = project.run("checks", "run")
    assert text.code == 1
    assert "failed a.range_id (1 failing)" in text.stdout
    assert len(project.json("checks", "run", "--check", "not_null_id")) == 1


def test_05_5_3_an_environment_that_was_never_applied_has_nothing_to_check(project):
    project.write({"models/a.sql": CHECKED}).ok("apply")
    assert "dev" in project.fails("checks", "run", "-e", "dev").error_lines[0]


# --- exit codes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["lineage", "nope"], 1),
        (["lineage", "-f", "xml"], 2),
        (["query", "drop table x"], 1),
        (["init"], 1),
        (["plan", "-s", "nosuch"], 1),
        (["plan", "-s", "tag:none"], 1),
        (["checks", "run", "-e", "nope"], 1),
    ],
)
def test_06_4_3_exit_codes(quickstart, args, code):
    quickstart.fails(*args, code=code)


def test_every_json_document_is_utf8_and_indented(quickstart):
    text = quickstart.ok("models", "--json").stdout
    assert text.startswith('[\n  {\n    "name": ')
    assert json.loads(text)


# --- What the configuration names


NAMES = """name: p
engines:
  default:
    type: duckdb
    attach: {pg: "postgresql://u:secret@localhost:1/db"}
  lake:
    database: "ducklake:postgres:dbname=x password=secret host=localhost port=1"
    data_path: data
connections:
  api: {type: http, base_url: "https://me:secret@example.org/v1"}
  db: {type: postgres, dsn: "postgresql://u:secret@localhost/db"}
"""


def test_06_4_7_passwords_of_engines_and_connections_are_never_shown(project):
    project.write({"interlace.yaml": NAMES})
    for command in ("engines", "connections"):
        for args in ((), ("--json",)):
            result = project.ok(command, *args)
            assert "secret" not in result.stdout + result.stderr
    engines = project.json("engines")
    assert [(e["name"], e["default"], e["type"]) for e in engines] == [
        ("default", True, "duckdb"),
        ("lake", False, "ducklake"),
    ]
    assert "password=…" in engines[1]["database"]
    assert project.json("connections") == [
        {"name": "api", "type": "http", "target": "https://…@example.org/v1"},
        {"name": "db", "type": "postgres", "target": "postgresql://…@localhost/db"},
    ]
    assert "secret" not in str(project.run("engines", "--connect", "--json").json)


def test_engines_are_opened_when_asked(project):
    project.write({"models/a.sql": "SELECT 1 AS id"})
    assert project.json("engines", "--connect")[0]["message"] == "not made yet"
    project.ok("apply")
    assert project.json("engines", "--connect")[0]["ok"] is True
    project.write({".interlace/warehouse.duckdb": "no database at all"})
    broken = project.json("engines", "--connect", code=1)[0]
    assert broken["ok"] is False
    assert "warehouse.duckdb" in broken["message"]


def test_the_names_need_no_model_and_a_project(project, tmp_path):
    project.write({"interlace.yaml": "name: p\n", "models/p.py": "raise SystemExit('must not run')\n"})
    assert project.ok("connections").stdout == "No connections configured.\n"
    assert project.json("connections") == []
    assert "no interlace project" in project.fails("engines", "-p", tmp_path / "nowhere").stderr
