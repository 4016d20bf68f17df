"""spec 06 §3: JSON output, in success and in failure."""

import json
import pathlib
import re

import json_schemas
import pytest

TREE = pathlib.Path(__file__).resolve().parents[2]

FAILING_CHECK = """/* interlace:
  checks: [{unique: id}]
*/
SELECT * FROM (VALUES (1), (1)) AS t(id)"""

COMMANDS = [
    ["plan"],
    ["apply"],
    ["models"],
    ["show", "event_summary"],
    ["render", "event_summary"],
    ["lineage"],
    ["impact", "raw_events.amount"],
    ["env", "list"],
    ["env", "show", "prod"],
    ["env", "diff", "prod", "prod"],
    ["env", "promote", "prod", "dev"],
    ["env", "rollback", "--list"],
    ["checks", "list"],
    ["checks", "run"],
    ["query", "SELECT 1 AS x"],
    ["diff", "--against", "prod"],
    ["run", "--dry-run"],
    ["restate", "--dry-run"],
    ["changes"],
    ["gc"],
    ["reset", "--dry-run"],
    ["engines"],
    ["connections"],
    ["unlock"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_06_3_1_every_command_prints_one_document(quickstart, command):
    result = quickstart.ok(*command, "--json")
    assert result.json is not None
    assert result.stdout.endswith("\n")


def test_06_3_the_shape_of_every_command_is_published(project):
    reference = (TREE / "docs/reference/cli.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", reference, flags=re.MULTILINE)[1:]
    commands = [text.split("\n")[0].removeprefix("interlace ").strip(" `") for text in sections if "`--json" in text]
    assert len(commands) >= 30
    published = {path.stem for path in json_schemas.FOLDER.glob("*.json")}
    assert published == {name.replace(" ", "-") for name in commands} | {"error", "run-dry"}


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_06_3_1_every_command_prints_one_document_when_it_fails(project, command):
    args = [*command, "-p", "nowhere", "--json"]
    result = project.fails(*args)
    assert result.json["error"]["kind"] == "ConfigurationError"
    assert "nowhere" in result.json["error"]["message"]
    assert "details" in result.json["error"]
    assert len(result.error_lines) == 1


def test_06_3_several_failures_are_a_list(project):
    project.write({"models/a.sql": "SELEC 1", "models/b.sql": "SELEC 2"})
    document = project.json("plan", code=1)
    assert [error["kind"] for error in document["errors"]] == ["CompilationError", "CompilationError"]
    assert document["errors"][0]["details"]["file"] == "models/a.sql"
    assert document["errors"][0]["details"]["line"] == 1


def test_06_3_1_init_and_version_too(project):
    assert project.json("init", "shop")["files"]
    assert project.json("init", "shop", code=1)["error"]["kind"] == "ConfigurationError"
    assert project.json("version")["version"]


def test_06_3_2_a_failing_check_has_its_kind_and_outcomes(project):
    project.write({"models/a.sql": FAILING_CHECK})
    document = project.json("apply", code=1)
    assert document["error"]["kind"] == "CheckError"
    assert document["checks"] == [
        {
            "model": "a",
            "name": "unique_id",
            "type": "unique",
            "check_type": "unique",
            "severity": "error",
            "status": "failed",
            "failures": 1,
            "message": None,
        }
    ]
    assert document["promoted"] == 0


def test_06_3_apply_prints_the_response_of_the_api(fresh_quickstart):
    document = fresh_quickstart.json("apply")
    assert document["environment"] == "prod"
    assert document["built"] == ["raw_events", "enriched_events", "event_summary"]
    assert document["promoted"] == 3
    assert document["rows"]["raw_events"] == {"inserted": 12, "updated": 0, "deleted": 0}
    assert document["reused"] == document["gated"] == document["transfers"] == []
    assert document["generation"] == 1
    assert [check["status"] for check in document["checks"]] == ["passed", "passed"]
    assert set(document["timings"]) == set(document["built"])
    again = fresh_quickstart.json("apply")
    assert again["built"] == again["reused"] == [] and again["promoted"] == 0 and again["plan"]["empty"]


def lines_of(result):
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_06_3_3_lines_come_in_the_order_of_what_happens(fresh_quickstart):
    events = lines_of(fresh_quickstart.ok("apply", "--json=lines"))
    assert all({"ts", "event"} <= set(event) for event in events)
    names = [event["event"] for event in events]
    assert names[0] == "plan" and names[-1] == "summary"
    for model in ("raw_events", "enriched_events", "event_summary"):
        started = next(i for i, event in enumerate(events) if event["event"] == "start" and event["model"] == model)
        done = next(i for i, event in enumerate(events) if event["event"] == "done" and event["model"] == model)
        assert started < done
    assert events[-1]["promoted"] == 3


def test_06_3_3_the_last_line_tells_of_failures(project):
    project.write({"models/a.sql": FAILING_CHECK})
    events = lines_of(project.fails("apply", "--json=lines"))
    assert "failed" in [event["event"] for event in events]
    assert events[-1]["event"] == "summary"
    assert events[-1]["error"]["kind"] == "CheckError"
    broken = lines_of(project.fails("apply", "--json=lines", "-p", "nowhere"))
    assert [event["event"] for event in broken] == ["summary"]


def test_06_3_a_dry_run_is_the_plan(project):
    project.write({"models/a.sql": "SELECT 1 AS id"})
    assert project.json("apply", "--dry-run") == project.json("plan")
    assert project.json("env", "list") == []
