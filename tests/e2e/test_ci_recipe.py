"""A sandbox for each change under review: spec 03 §14."""

import threading

import pytest

CHAIN = {
    "models/a.sql": "SELECT 1 AS v",
    "models/b.sql": "SELECT v, v + 1 AS w FROM a",
    "models/c.sql": "SELECT w FROM b",
}


@pytest.fixture
def shop(project):
    project.write(CHAIN)
    project.ok("apply")
    return project


def owned(project):
    return {
        name for (name,) in project.sql("SELECT table_name FROM duckdb_tables() WHERE schema_name LIKE 'interlace%'")
    }


def views(project, schema):
    rows = project.sql(f"SELECT view_name FROM duckdb_views() WHERE schema_name = '{schema}' ORDER BY 1")
    return [name for (name,) in rows]


def generations(project):
    return {row["name"]: row["generation"] for row in project.json("env", "list")}


# --- apply --from


def test_03_14_3_a_sandbox_that_starts_from_prod_has_a_view_of_every_model_and_differs_where_selected(shop):
    shop.write({"models/a.sql": "SELECT 5 AS v"})
    document = shop.json("apply", "-e", "pr_1", "--from", "prod", "-s", "a", "--force")
    assert document["built"] == ["a"]
    assert views(shop, "pr_1__main") == ["a", "b", "c"]
    assert [row["model"] for row in shop.json("env", "diff", "prod", "pr_1")] == ["a"]
    assert shop.sql("SELECT v FROM pr_1__main.a") == [(5,)]
    assert shop.sql("SELECT w FROM pr_1__main.c") == [(2,)]
    assert shop.sql("SELECT v FROM main.a") == [(1,)]
    assert generations(shop) == {"prod": 1, "pr_1": 1}


def test_an_unchanged_project_still_starts_the_sandbox(shop):
    document = shop.json("apply", "-e", "pr_1", "--from", "prod")
    assert (document["built"], document["promoted"]) == ([], 3)
    assert views(shop, "pr_1__main") == ["a", "b", "c"]
    assert shop.ok("plan", "-e", "pr_1").stdout == "No changes for pr_1.\n"


def test_a_refused_change_leaves_no_sandbox(shop):
    before = owned(shop)
    shop.write({"models/a.sql": "SELECT 5 AS v"})
    assert "breaking" in shop.fails("apply", "-e", "pr_1", "--from", "prod").stderr
    assert views(shop, "pr_1__main") == []
    assert owned(shop) == before
    assert "pr_1" not in generations(shop)


def test_a_failed_check_leaves_no_sandbox(shop):
    shop.write({"models/d.sql": "/* interlace: {checks: [{not_null: v}]} */\nSELECT NULL::INT AS v"})
    shop.fails("apply", "-e", "pr_1", "--from", "prod")
    assert views(shop, "pr_1__main") == []
    assert "pr_1" not in generations(shop)


def test_only_a_new_environment_starts_from_another_one(shop):
    shop.write({"models/a.sql": "SELECT 5 AS v"})
    shop.ok("apply", "-e", "pr_1", "-s", "a")
    result = shop.ok("apply", "-e", "pr_1", "--from", "prod", "-s", "a")
    assert "environment 'pr_1' exists" in result.stderr
    assert views(shop, "pr_1__main") == ["a"]


def test_a_model_that_the_change_deletes_is_not_in_the_sandbox(shop):
    shop.write({"models/c.sql": None})
    shop.ok("apply", "-e", "pr_1", "--from", "prod")
    assert views(shop, "pr_1__main") == ["a", "b"]
    assert shop.ok("plan", "-e", "pr_1").stdout == "No changes for pr_1.\n"


def test_with_a_selection_a_deleted_model_is_still_there(shop):
    shop.write({"models/c.sql": None, "models/b.sql": "SELECT v, v + 1 AS w, 0 AS z FROM a"})
    shop.ok("apply", "-e", "pr_1", "--from", "prod", "-s", "b")
    assert views(shop, "pr_1__main") == ["a", "b", "c"]


def test_an_unknown_environment_to_start_from_is_named(shop):
    result = shop.fails("apply", "-e", "pr_1", "--from", "nosuch")
    assert result.stderr == "error: No environment 'nosuch'.\n"


def test_what_prod_delivers_is_not_delivered_by_the_sandbox(shop):
    shop.write({"models/out.sql": "/* interlace: {materialise: file, path: out/rows.csv} */\nSELECT v FROM a"})
    shop.ok("apply")
    (shop.root / "out/rows.csv").unlink()
    shop.write({"models/a.sql": "SELECT 5 AS v"})
    shop.ok("apply", "-e", "pr_1", "--from", "prod", "--force")
    assert not shop.exists("out/rows.csv")
    assert shop.ok("plan", "-e", "pr_1").stdout == "No changes for pr_1.\n"


def test_what_the_sandbox_delivers_itself_is_delivered(shop):
    header = "/* interlace: {materialise: file, path: out/rows.csv, environments: [prod, pr_1]} */\n"
    shop.write({"models/out.sql": header + "SELECT v FROM a"})
    shop.ok("apply")
    (shop.root / "out/rows.csv").unlink()
    shop.ok("apply", "-e", "pr_1", "--from", "prod")
    assert shop.exists("out/rows.csv")


@pytest.mark.parametrize("hook", ["apply.before_promotion", "promotion.intended", "promotion.view", "promotion.moved"])
def test_a_killed_start_is_done_or_not_at_all(shop, hook):
    shop.write({"models/a.sql": "SELECT 5 AS v"})
    args = ("apply", "-e", "pr_1", "--from", "prod", "-s", "a", "--force")
    assert shop.run(*args, env={"INTERLACE_HOOK": f"{hook}=kill"}).code == -9
    shop.ok("plan", "-e", "pr_1")
    shown = views(shop, "pr_1__main")
    assert shown == ([] if hook == "apply.before_promotion" else ["a", "b", "c"])
    shop.ok(*args)
    assert views(shop, "pr_1__main") == ["a", "b", "c"]
    assert shop.sql("SELECT v FROM pr_1__main.a") == [(5,)]


# --- plan --against


def test_plan_against_another_environment_says_what_is_new_there(shop):
    shop.ok("apply", "-e", "dev")
    shop.write({"models/a.sql": "SELECT 5 AS v", "models/c.sql": None})
    shop.ok("apply", "-e", "dev", "--force")
    document = shop.json("plan", "-e", "dev", "--against", "prod")
    assert document["environment"] == "dev"
    assert document["compared_with"] == "prod"
    changes = {change["name"]: change["change_type"] for change in document["changes"]}
    assert changes == {"a": "modified", "b": "modified", "c": "removed"}
    assert "Plan · dev against prod" in shop.ok("plan", "-e", "dev", "--against", "prod").stdout
    assert shop.ok("plan", "-e", "prod", "--against", "dev").stdout == "No changes for prod against dev.\n"


def test_plan_against_an_unknown_environment_fails(shop):
    assert shop.fails("plan", "--against", "nosuch").stderr == "error: No environment 'nosuch'.\n"
    assert shop.run("plan", "--against", "a b").code == 2


def test_a_plan_on_its_own_names_no_other_environment(shop):
    assert "compared_with" not in shop.json("plan")


# --- The recipe


def test_03_14_1_the_recipe_builds_one_table_in_all_and_leaves_no_schema(shop):
    before = owned(shop)
    shop.write({"models/c.sql": "SELECT w, w * 2 AS x FROM b"})
    selected = ("-s", "state:modified+")
    assert shop.ok("plan", "-e", "pr_7", "--against", "prod", "--markdown", *selected).stdout.startswith(
        "<!-- interlace-plan -->"
    )
    assert shop.json("apply", "-e", "pr_7", "--from", "prod", *selected, "--force")["built"] == ["c"]
    [difference] = shop.json("diff", "-e", "prod", "--against", "pr_7", *selected, code=1)
    assert (difference["model"], difference["schema"]["added"]) == ("c", ["x"])
    assert len(owned(shop) - before) == 1
    document = shop.json("apply")
    assert (document["built"], document["reused"]) == ([], ["c"])
    shop.ok("env", "drop", "pr_7")
    assert shop.sql("SELECT count(*) FROM duckdb_schemas() WHERE schema_name LIKE 'pr_7%'") == [(0,)]
    assert len(owned(shop) - before) == 1


def test_03_14_2_two_sandboxes_at_once_both_finish_and_prod_does_not_move(shop):
    shop.write({"models/a.sql": "SELECT 5 AS v"})
    codes = {}

    def job(name):
        codes[name] = shop.run("apply", "-e", name, "--from", "prod", "-s", "state:modified+", "--force").code

    jobs = [threading.Thread(target=job, args=(name,)) for name in ("pr_1", "pr_2")]
    for each in jobs:
        each.start()
    for each in jobs:
        each.join()
    assert codes == {"pr_1": 0, "pr_2": 0}
    assert generations(shop) == {"prod": 1, "pr_1": 1, "pr_2": 1}
    for name in ("pr_1", "pr_2"):
        assert shop.sql(f"SELECT w FROM {name}__main.c") == [(6,)]
