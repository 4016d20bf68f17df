"""The commands' texts on the quickstart project, not on a terminal. `make golden` rewrites tests/golden/*.txt."""

import pytest

RESULTS = [
    ("plan-clean", ["plan"]),
    ("plan-dev", ["plan", "-e", "dev"]),
    ("plan-dev-markdown", ["plan", "-e", "dev", "--markdown"]),
    ("plan-dev-explain", ["plan", "-e", "dev", "--explain"]),
    ("apply-again", ["apply"]),
    ("apply-dev", ["apply", "-e", "dev"]),
    ("models", ["models"]),
    ("models-json", ["models", "--json"]),
    ("lineage", ["lineage"]),
    ("lineage-model", ["lineage", "enriched_events"]),
    ("lineage-dot", ["lineage", "-f", "dot"]),
    ("env-list", ["env", "list"]),
    ("env-list-json", ["env", "list", "--json"]),
    ("checks-list", ["checks", "list"]),
    ("checks-list-json", ["checks", "list", "--json"]),
    ("checks-run", ["checks", "run"]),
    ("run", ["run", "--parallelism", "1"]),
    ("run-dry", ["run", "--dry-run"]),
    ("lineage-columns", ["lineage", "event_summary", "-c"]),
    ("impact", ["impact", "raw_events.amount"]),
    ("env-show", ["env", "show", "prod"]),
    ("env-rollback-list", ["env", "rollback", "--list"]),
    ("gc", ["gc"]),
    ("engines", ["engines"]),
    ("connections", ["connections"]),
    ("show", ["show", "event_summary", "--rows", "3"]),
    ("show-json", ["show", "event_summary", "--json"]),
    ("render", ["render", "event_summary"]),
    ("unlock", ["unlock"]),
    ("reset-dry", ["reset", "--dry-run"]),
    ("query", ["query", "SELECT * FROM event_summary ORDER BY country"]),
    ("query-json", ["query", "SELECT * FROM event_summary ORDER BY country", "--json"]),
]


@pytest.mark.parametrize(("name", "args"), RESULTS, ids=[name for name, _ in RESULTS])
def test_06_4_1_results_on_the_quickstart_project(quickstart, golden, name, args):
    golden(name, quickstart.ok(*args).stdout)


def test_06_4_1_the_first_plan_and_apply(fresh_quickstart, golden):
    golden("plan", fresh_quickstart.ok("plan").stdout)
    golden("plan-json", fresh_quickstart.ok("plan", "--json").stdout)
    golden("apply", fresh_quickstart.ok("apply", "--parallelism", "1").stdout)


def test_06_4_1_a_changed_model(quickstart, golden):
    text = quickstart.read("models/event_summary.sql")
    quickstart.write({"models/event_summary.sql": text.replace("sum(revenue)", "sum(2 * revenue)")})
    golden("plan-changed", quickstart.ok("plan", "--explain", "--diff").stdout)
    golden("apply-refused", quickstart.fails("apply").stderr)


def test_06_4_1_what_changed(quickstart, golden):
    moment = {"INTERLACE_NOW": "2026-11-02T08:00:00", "INTERLACE_WHO": "ada@desk"}
    quickstart.ok("restate", "-s", "raw_events", "--note", "a file came twice", env=moment)
    quickstart.ok("restate", "-s", "event_summary", env=moment)
    golden("changes", quickstart.ok("changes").stdout)
    golden("changes-json", quickstart.ok("changes", "--json", "--limit", "1").stdout)


def test_06_4_1_diff_of_two_environments(quickstart, golden):
    quickstart.ok("apply", "-e", "dev")
    golden("diff-equal", quickstart.ok("diff", "--against", "dev", "-s", "raw_events").stdout)
    text = quickstart.read("models/event_summary.sql")
    text = text.replace("count(*) FILTER", "count(DISTINCT user_name) AS users,\n    count(*) FILTER")
    quickstart.write({"models/event_summary.sql": text.replace("sum(revenue)", "sum(least(revenue, 50))")})
    quickstart.ok("apply", "-e", "dev", "--force")
    golden("diff", quickstart.run("diff", "--against", "dev", "--on", "country", "-s", "event_summary").stdout)
    golden("diff-json", quickstart.run("diff", "--against", "dev", "--json", "-s", "event_summary").stdout)


def test_06_4_1_init(project, golden):
    golden("init", project.ok("init").stdout)
    golden("init-list", project.ok("init", "--list").stdout)


@pytest.mark.parametrize("command", ["", "plan", "apply", "query", "diff", "env", "checks"])
def test_06_1_help(project, golden, command):
    golden(f"help-{command or 'all'}", project.ok(*command.split(), "--help").stdout)
