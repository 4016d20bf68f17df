"""Environments that can go back, take over, go away, and what is then cleaned up: spec 03 §7, §9, §10."""

import sqlite3

import pytest


@pytest.fixture
def two(project):
    """Two generations of prod: a says 1, then 2; b reads it."""
    project.write({"models/a.sql": "SELECT 1 AS v", "models/b.sql": "SELECT v FROM a"})
    project.ok("apply")
    project.write({"models/a.sql": "SELECT 2 AS v"})
    project.ok("apply", "--force")
    return project


def tables(project):
    return sorted(
        name
        for (name,) in project.sql(
            "SELECT table_name FROM duckdb_tables() WHERE schema_name LIKE 'interlace%' UNION ALL "
            "SELECT view_name FROM duckdb_views() WHERE schema_name LIKE 'interlace%'"
        )
    )


def generation(project, env="prod"):
    return {row["name"]: row["generation"] for row in project.json("env", "list")}.get(env)


# --- Generations


def test_03_7_2_repeated_runs_add_no_generation_and_each_change_adds_one(two):
    assert generation(two) == 2
    for _ in range(3):
        two.ok("run")
    assert generation(two) == 2
    two.write({"models/b.sql": None})
    two.ok("apply")
    assert generation(two) == 3


# --- Rollback


def test_03_9_1_rollback_shows_the_old_rows_builds_nothing_and_apply_goes_forward_by_reuse(two):
    before = tables(two)
    document = two.json("env", "rollback")
    assert document["generation"] == 1
    assert document["repointed"] == ["a", "b"]
    assert document["removed_views"] == []
    assert tables(two) == before
    assert two.query("SELECT v FROM b") == [[1]]
    assert generation(two) == 3
    summary = two.json("apply", "--force")
    assert summary["built"] == []
    assert two.query("SELECT v FROM b") == [[2]]
    assert tables(two) == before


def test_03_9_1_a_second_rollback_returns(two):
    two.ok("env", "rollback")
    two.ok("env", "rollback")
    assert two.query("SELECT v FROM b") == [[2]]


def test_03_9_2_rollback_takes_views_of_later_models_away_and_brings_deleted_ones_back(two):
    two.write({"models/c.sql": "SELECT v FROM b"})
    two.ok("apply")
    assert two.json("env", "rollback", "--to", "2")["removed_views"] == ["c"]
    assert "c" in two.fails("query", "SELECT * FROM c").stderr
    two.ok("apply")
    two.write({"models/c.sql": None})
    two.ok("apply")
    latest = generation(two)
    assert two.json("env", "rollback", "--to", str(latest - 1))["repointed"] == ["c"]
    assert two.sql("SELECT v FROM main.c") == [(2,)]


def test_03_9_3_a_target_that_is_not_there_is_refused(two, make_project):
    assert "valid targets: 1 to 1" in two.fails("env", "rollback", "--to", "99").stderr
    assert "valid targets: 1 to 1" in two.fails("env", "rollback", "--to", "-1").stderr
    assert "valid targets: 1 to 1" in two.fails("env", "rollback", "--to", "2").stderr
    assert "has no history" in two.fails("env", "rollback", "nope").stderr
    single = make_project({"models/a.sql": "SELECT 1 AS v"}, name="single")
    single.ok("apply")
    assert "no earlier generation" in single.fails("env", "rollback").stderr


def test_03_9_3_a_target_that_gc_took_is_refused_as_a_whole(two):
    two.write({"models/e.sql": "/* interlace: {materialise: ephemeral} */ SELECT 1 AS x"})
    two.ok("apply")
    two.ok("gc", "--grace", "0")
    result = two.fails("env", "rollback", "--to", "1")
    assert "gc has reclaimed what it showed of a, b" in result.stderr
    assert two.query("SELECT v FROM b") == [[2]]
    two.ok("env", "rollback", "--to", "2")


def test_what_gc_took_can_be_gone_back_to_when_it_was_built_again(two):
    two.ok("gc", "--grace", "0")
    two.write({"models/a.sql": "SELECT 1 AS v"})
    two.ok("apply", "--force")
    two.ok("env", "rollback", "--to", "2")
    assert two.query("SELECT v FROM b") == [[2]]
    two.ok("env", "rollback", "--to", "1")
    assert two.query("SELECT v FROM b") == [[1]]


def test_rollback_says_what_it_does_not_undo(project):
    project.load("CREATE TABLE s AS SELECT 1 AS id", ".interlace/warehouse.duckdb")
    project.write({"models/m.sql": "/* interlace: {strategy: merge, key: id} */ SELECT * FROM s"})
    project.ok("apply")
    project.write({"models/n.sql": "SELECT 1 AS one"})
    project.ok("apply")
    project.load("INSERT INTO s VALUES (2)", ".interlace/warehouse.duckdb")
    project.ok("run", "-s", "m")
    assert project.json("env", "rollback", "--dry-run")["changed_in_place"] == ["m"]
    result = project.ok("env", "rollback")
    assert "changed in place since, and not undone: m" in result.stdout
    assert project.query("SELECT count(*) FROM m") == [[2]]


def test_a_rollback_that_is_killed_is_finished_by_the_next_command(two):
    for hook in ("state.intent_begun", "promotion.view", "promotion.moved", "state.intent_committed"):
        before = two.query("SELECT v FROM b")
        code = two.run("env", "rollback", env={"INTERLACE_HOOK": f"{hook}=kill"}).code
        assert code == -9
        document = two.json("env", "show", "prod")
        rows = two.query("SELECT v FROM b")
        assert rows != before
        relation = {m["model"]: m["relation"] for m in document["models"]}["b"]
        assert [list(row) for row in two.sql(f"SELECT v FROM {relation}")] == rows


# --- Dropping, taking over


def test_03_9_4_prod_is_dropped_by_force_alone_and_foreign_tables_stay(two):
    two.load("CREATE TABLE main.mine AS SELECT 7 AS x", ".interlace/warehouse.duckdb")
    assert "--force" in two.fails("env", "drop", "prod").stderr
    assert two.query("SELECT v FROM b") == [[2]]
    two.ok("env", "drop", "prod", "--force")
    assert two.sql("SELECT x FROM main.mine") == [(7,)]
    assert two.sql("SELECT count(*) FROM duckdb_views() WHERE NOT internal AND schema_name = 'main'") == [(0,)]
    assert two.json("env", "list") == []


def test_a_dropped_environment_leaves_no_schema_and_can_come_back(two):
    two.ok("apply", "-e", "dev")
    result = two.json("env", "drop", "dev")
    assert result["removed_views"] == ["a", "b"]
    assert two.sql("SELECT count(*) FROM duckdb_schemas() WHERE schema_name LIKE 'dev%'") == [(0,)]
    assert "No environment 'dev'." in two.fails("env", "drop", "dev").stderr
    assert two.json("env", "rollback", "dev")["generation"] == 1
    assert two.query("SELECT v FROM b", env="dev") == [[2]]


@pytest.mark.parametrize(
    ("hook", "is_dropped"),
    [
        ("state.intent_begin", False),
        ("state.intent_begun", True),
        ("promotion.intended", True),
        ("promotion.view", True),
        ("promotion.view=kill@2", True),
        ("promotion.moved", True),
        ("state.intent_commit", True),
        ("state.intent_committed", True),
    ],
)
def test_a_drop_that_is_killed_leaves_the_environment_whole_or_nothing_of_it(two, hook, is_dropped):
    two.ok("apply", "-e", "dev")
    assert two.run("env", "drop", "dev", env={"INTERLACE_HOOK": hook if "=" in hook else f"{hook}=kill"}).code == -9
    names = {environment["name"] for environment in two.json("env", "list")}
    assert names == ({"prod"} if is_dropped else {"prod", "dev"})
    schemas = two.sql("SELECT count(*) FROM duckdb_schemas() WHERE schema_name LIKE 'dev%'")
    assert schemas == [(0 if is_dropped else 1,)]
    assert is_dropped or two.query("SELECT v FROM b", env="dev") == [[2]]
    assert two.query("SELECT v FROM b") == [[2]]


def test_a_schema_that_holds_something_else_is_kept_and_named(two):
    two.ok("apply", "-e", "dev")
    two.load("CREATE TABLE dev__main.mine AS SELECT 7 AS x", ".interlace/warehouse.duckdb")
    assert two.json("env", "drop", "dev")["kept_schemas"] == ["dev__main"]
    assert two.sql("SELECT x FROM dev__main.mine") == [(7,)]


def test_promote_takes_over_what_passed_its_checks(two):
    two.write({"models/a.sql": "/* interlace: {checks: [{range: {column: v, max: 3}}]} */ SELECT 3 AS v"})
    two.ok("apply", "-e", "dev")
    before = tables(two)
    assert [row["model"] for row in two.json("env", "diff", "prod", "dev")] == ["a", "b"]
    assert two.json("env", "promote", "dev", "prod")["repointed"] == ["a", "b"]
    assert tables(two) == before
    assert two.query("SELECT v FROM b") == [[3]]
    assert two.json("env", "diff", "prod", "dev") == []
    two.write({"models/a.sql": "/* interlace: {checks: [{range: {column: v, max: 2}}]} */ SELECT 3 AS v"})
    result = two.fails("env", "promote", "dev", "test")
    assert two.json("env", "list")[-1]["name"] == "prod"
    assert "a.range_v" in result.stderr


def test_promote_of_selected_models_leaves_the_others(two):
    two.write({"models/a.sql": "SELECT 3 AS v", "models/c.sql": "SELECT 1 AS c"})
    two.ok("apply", "-e", "dev")
    assert two.json("env", "promote", "dev", "prod", "-s", "c")["repointed"] == ["c"]
    assert two.query("SELECT v FROM b") == [[2]]
    assert "'nope' is not in environment 'dev'" in two.fails("env", "promote", "dev", "prod", "-s", "nope").stderr
    assert "No environment 'nope'." in two.fails("env", "promote", "nope", "prod").stderr


# --- gc


def test_03_10_1_gc_takes_what_nobody_shows_once_the_grace_is_over(two):
    assert two.json("gc")["removed"] == []
    document = two.json("gc", "--grace", "0")
    assert [row["model"] for row in document["removed"]] == ["a", "b"]
    assert len(document["dropped"]) == 2
    assert document["kept"] == 2
    assert two.query("SELECT v FROM b") == [[2]]
    assert len(tables(two)) == 2
    assert two.json("gc", "--grace", "0")["dropped"] == []


def test_03_10_1_the_grace_counts_from_the_last_moment_a_version_was_shown(project):
    project.write({"models/a.sql": "SELECT 1 AS v"})
    project.ok("apply", env={"INTERLACE_NOW": "2026-01-01T00:00:00Z"})
    project.write({"models/a.sql": "SELECT 2 AS v"})
    project.ok("apply", "--force", env={"INTERLACE_NOW": "2026-03-01T00:00:00Z"})
    assert project.json("gc", env={"INTERLACE_NOW": "2026-03-02T00:00:00Z"})["removed"] == []
    assert len(project.json("gc", env={"INTERLACE_NOW": "2026-03-09T00:00:00Z"})["removed"]) == 1


def test_03_10_2_what_another_environment_shows_is_kept(two):
    two.ok("apply", "-e", "staging")
    two.write({"models/a.sql": "SELECT 3 AS v"})
    two.ok("apply", "--force")
    assert len(two.json("gc", "--grace", "0")["removed"]) == 2
    assert two.query("SELECT v FROM b", env="staging") == [[2]]
    two.ok("env", "drop", "staging")
    assert len(two.json("gc", "--grace", "0")["removed"]) == 2


def test_03_10_2_a_table_that_a_later_version_reuses_is_kept(project):
    project.write({"models/up.sql": "SELECT 1 AS x, 2 AS y", "models/down.sql": "SELECT x FROM up"})
    project.ok("apply")
    project.write({"models/up.sql": "SELECT 1 AS x, 20 AS y"})
    assert project.json("apply", "--force")["built"] == ["up"]
    document = project.json("gc", "--grace", "0")
    assert [row["model"] for row in document["removed"]] == ["down", "up"]
    assert [name.split("__")[1] for name in document["dropped"]] == ["main.up"]
    assert project.query("SELECT x FROM down") == [[1]]
    project.ok("run")
    assert project.query("SELECT x FROM down") == [[1]]


def test_03_10_versions_that_were_delivered_to_a_file_are_forgotten_too(project):
    header = "/* interlace: {materialise: file, path: out/rows.csv} */"
    for number in (1, 2, 3):
        project.write({"models/out.sql": f"{header} SELECT {number} AS v"})
        project.ok("apply")
    assert len(project.json("gc", "--grace", "0d")["removed"]) == 2
    assert project.read("out/rows.csv") == "v\n3\n"
    assert project.ok("plan").stdout == "No changes for prod.\n"


def test_03_10_3_a_dry_run_says_the_same_and_touches_nothing(two):
    before = tables(two)
    said = two.json("gc", "--grace", "0", "--dry-run")
    assert tables(two) == before
    done = two.json("gc", "--grace", "0")
    assert {**said, "dry_run": False, "trimmed": done["trimmed"]} == done


def test_03_10_3_a_superseded_view_model_is_reclaimed_and_tables_that_views_read_are_kept(project):
    view = "/* interlace: {materialise: view} */ SELECT v%s AS v FROM a"
    project.write({"models/a.sql": "SELECT 1 AS v", "models/w.sql": view % ""})
    project.ok("apply")
    project.write({"models/w.sql": view % " + 1"})
    project.ok("apply", "--force")
    assert len(project.json("gc", "--grace", "0")["dropped"]) == 1
    assert project.query("SELECT v FROM w") == [[2]]


def test_03_10_2_what_a_view_of_a_view_reads_is_kept(project):
    view = "/* interlace: {materialise: view} */ SELECT v FROM %s"
    project.write({"models/a.sql": "SELECT 1 AS v", "models/w.sql": view % "a", "models/x.sql": view % "w"})
    project.ok("apply")
    for statement in (
        "DELETE FROM snapshots WHERE name IN ('a', 'w')",
        "DELETE FROM pointers WHERE model IN ('a', 'w')",
    ):
        with sqlite3.connect(project.root / ".interlace/state.db") as state:
            state.execute(statement)
    assert project.json("gc", "--grace", "0")["dropped"] == []
    assert project.query("SELECT v FROM x") == [[1]]


def test_orphans_and_scratch_tables_go_but_only_after_the_grace(two):
    two.load(
        "CREATE TABLE interlace__main.left_over AS SELECT 1 AS x; CREATE SCHEMA interlace__xfer;"
        "CREATE TABLE interlace__xfer.scratch AS SELECT 1 AS x",
        ".interlace/warehouse.duckdb",
    )
    assert two.json("gc")["dropped"] == ["default:interlace__xfer.scratch"]
    later = {"INTERLACE_NOW": "2036-01-01T00:00:00Z"}
    assert "default:interlace__main.left_over" not in two.json("gc", env=later)["dropped"]
    later = {"INTERLACE_NOW": "2036-01-09T00:00:00Z"}
    assert "default:interlace__main.left_over" in two.json("gc", env=later)["dropped"]
    assert two.query("SELECT v FROM b") == [[2]]


@pytest.mark.parametrize(
    ("hook", "code"),
    [
        ("gc.taken=kill", -9),
        ("gc.drop=kill", -9),
        ("gc.drop=kill@2", -9),
        ("gc.drop=fail", 0),
        ("state.commit=kill@3", -9),
        ("state.commit=kill@4", -9),
    ],
)
def test_a_gc_that_is_killed_or_fails_is_taken_up_by_the_next(two, hook, code):
    result = two.run("gc", "--grace", "0", env={"INTERLACE_HOOK": hook})
    assert result.code == code
    assert code != 0 or "the next gc tries again" in result.stdout
    assert two.query("SELECT v FROM b") == [[2]]
    two.ok("gc", "--grace", "0")
    assert len(tables(two)) == 2
    assert two.query("SELECT v FROM b") == [[2]]
    two.write({"models/a.sql": "SELECT 1 AS v"})
    two.ok("apply", "--force")
    assert two.query("SELECT v FROM b") == [[1]]


# --- reset


def test_03_10_4_reset_needs_yes_and_the_next_apply_builds_what_is_owned_and_delivers_nothing(two):
    two.write(
        {
            "models/f.sql": "/* interlace: {materialise: file, path: out/f.csv} */ SELECT v FROM a",
            "models/e.sql": "/* interlace: {materialise: ephemeral} */ SELECT 1 AS one",
        }
    )
    two.ok("apply")
    two.ok("apply", "-e", "dev")
    two.load("CREATE TABLE main.mine AS SELECT 7 AS x", ".interlace/warehouse.duckdb")
    (two.root / "out/f.csv").unlink()
    assert "--yes" in two.fails("reset").stderr
    said = two.json("reset", "--dry-run")
    assert two.query("SELECT v FROM b", env="dev") == [[2]]
    done = two.json("reset", "--yes")
    assert done == {**said, "dry_run": False}
    assert done["environments"] == ["dev", "prod"]
    assert done["dropped_views"] == ["dev__main.a", "dev__main.b", "main.a", "main.b"]
    assert done["dropped_schemas"] == ["interlace__main", "dev__main"]
    assert done["kept_terminals"] == ["f"]
    assert tables(two) == []
    assert two.sql("SELECT x FROM main.mine") == [(7,)]
    assert sorted(two.json("apply")["built"]) == ["a", "b"]
    assert two.query("SELECT v FROM b") == [[2]]
    assert not two.exists("out/f.csv")


@pytest.mark.parametrize("hook", ["reset.cleared", "reset.schema"])
def test_a_reset_that_is_killed_can_be_done_again(two, hook):
    assert two.run("reset", "--yes", env={"INTERLACE_HOOK": f"{hook}=kill"}).code == -9
    two.ok("reset", "--yes")
    assert tables(two) == []
    two.ok("apply")
    assert two.query("SELECT v FROM b") == [[2]]


def test_bad_arguments_are_told(two):
    assert "--grace" in two.fails("gc", "--grace", "zz", code=2).stderr
    assert "No environment 'nope'." in two.fails("env", "show", "nope").stderr
    assert two.fails("env", "drop", "a b", code=2)


# --- Views over tables that have copies


def both_of(project, env):
    """When the rows that a and b show were built: b is a view of a."""
    return project.query(
        "SELECT DISTINCT 'a', built FROM a UNION ALL SELECT DISTINCT 'b', built FROM b ORDER BY 1", env
    )


def assert_b_shows_a(project, env="prod"):
    [[_, table], [_, view]] = both_of(project, env)
    assert table == view, env


@pytest.fixture
def viewed(project):
    """prod and dev share table a; dev alone has its version of view b, and table c that reads it."""
    view = "/* interlace: {materialise: view} */ SELECT built, "
    project.write({"models/a.sql": "SELECT epoch_us(now()) AS built", "models/b.sql": f"{view} 1 AS v FROM a"})
    project.ok("apply")
    project.write({"models/b.sql": f"{view} 2 AS v FROM a", "models/c.sql": "SELECT v FROM b"})
    project.ok("apply", "-e", "dev", "--force")
    return project


def test_03_9_1_a_rollback_shows_a_view_over_the_tables_of_its_generation(viewed):
    before = both_of(viewed, "dev")
    viewed.ok("run", "-e", "dev")
    assert_b_shows_a(viewed, "dev")
    viewed.ok("env", "rollback", "dev")
    assert both_of(viewed, "dev") == before
    viewed.ok("env", "rollback", "dev")
    assert_b_shows_a(viewed, "dev")
    assert both_of(viewed, "dev") != before


def test_03_7_1_a_view_moves_with_the_promotion_and_not_before(viewed):
    before = both_of(viewed, "dev")
    viewed.write({"models/c.sql": "/* interlace: {checks: [{range: {column: v, max: 1}}]} */ SELECT v FROM b"})
    viewed.fails("run", "-e", "dev")
    assert both_of(viewed, "dev") == before


def test_03_7_1_an_environment_takes_over_the_view_that_reads_its_tables(viewed):
    viewed.ok("run", "-e", "dev")
    viewed.ok("apply", "--force")
    assert_b_shows_a(viewed)
    assert_b_shows_a(viewed, "dev")
    viewed.ok("run")
    assert_b_shows_a(viewed)
    assert_b_shows_a(viewed, "dev")


def test_03_7_1_a_view_that_gc_took_is_not_found_again_over_other_tables(viewed):
    viewed.ok("run", "-e", "dev")  # b__r1 reads a__r1
    viewed.ok("env", "drop", "dev")
    viewed.ok("gc", "--grace", "0d")
    viewed.ok("apply", "-e", "dev", "--force")
    for generation in ("1", "2"):
        result = viewed.run("env", "rollback", "dev", "--to", generation)
        assert result.code == 0 or "gc has reclaimed" in result.stderr
        assert_b_shows_a(viewed, "dev")


def test_runs_of_one_environment_leave_one_view_behind(viewed):
    for _ in range(3):
        viewed.ok("run", "-e", "dev")
    viewed.ok("gc", "--grace", "0d")
    for _ in range(3):
        viewed.ok("run", "-e", "dev")
    assert len([name for name in tables(viewed) if name.startswith(("a__", "b__"))]) == 4
