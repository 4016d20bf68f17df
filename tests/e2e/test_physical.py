"""Indexes and constraints: spec 01 §12.4 and its line 7, 03 §3 and §5. Names carry the number of the line they show."""

import pytest


def block(text, query="SELECT 1 AS id, 'x' AS name"):
    return f"/* interlace: {{{text}}} */ {query}"


def names(project, name=".interlace/warehouse.duckdb"):
    """Indexes with their columns, then columns that may not be NULL, of tables that stand for a model."""
    indexes = "SELECT index_name, is_unique, expressions FROM duckdb_indexes() WHERE database_name = current_database()"
    rules = (
        "SELECT column_name FROM duckdb_columns() WHERE NOT is_nullable AND NOT internal"
        " AND database_name = current_database()"
    )
    with project.warehouse(name) as connection:
        found = sorted((row[0], row[1]) for row in connection.execute(indexes).fetchall())
        return found, sorted(row[0] for row in connection.execute(rules).fetchall())


def test_01_12_7_an_edit_of_an_index_is_one_line_and_builds_nothing(project):
    project.write({"models/m.sql": block("indexes: [id], constraints: [{not_null: id}]")})
    plan = project.json("plan")
    assert plan["physical"] == ["+ index il__m__id", "+ constraint il__m__nn__id"]
    project.ok("apply")
    indexes, rules = names(project)
    assert [name[:9] for name, _ in indexes] == ["il__m__id"]
    assert rules == ["id"]
    assert project.json("plan")["empty"]

    project.write({"models/m.sql": block("indexes: [name], constraints: [{not_null: id}]")})
    plan = project.json("plan")
    assert plan["changes"] == []
    assert plan["physical"] == ["- index il__m__id", "+ index il__m__name"]
    assert "physical: + index il__m__name" in project.ok("plan").stdout
    assert "`+ index il__m__name`" in project.ok("plan", "--markdown").stdout
    assert project.json("apply")["built"] == []
    indexes, rules = names(project)
    assert [name[:11] for name, _ in indexes] == ["il__m__name"]
    assert rules == ["id"]
    assert project.json("plan")["empty"]


def test_two_objects_of_one_name_are_refused(project):
    project.write({"models/m.sql": block("indexes: [{columns: id, name: i}, {columns: name, name: i}]")})
    error = project.json("plan", code=1)["error"]
    assert (error["kind"], error["details"]["code"]) == ("DefinitionError", "physical.name")
    assert "two of its indexes and constraints, index and index, have the name 'i'" in error["message"]


def test_a_rule_on_a_column_comes_and_goes_under_an_index(project):
    project.write({"models/m.sql": block("indexes: [id, {columns: name, unique: true}]")})
    project.ok("apply")
    project.write(
        {"models/m.sql": block("indexes: [id, {columns: name, unique: true}], constraints: [{not_null: name}]")}
    )
    assert project.json("plan")["physical"] == ["+ constraint il__m__nn__name"]
    project.ok("apply")
    indexes, rules = names(project)
    assert [unique for _, unique in indexes] == [False, True]
    assert rules == ["name"]
    project.write({"models/m.sql": block("indexes: [id]")})
    project.ok("apply")
    indexes, rules = names(project)
    assert len(indexes) == 1
    assert rules == []
    assert project.json("plan")["empty"]


def test_they_are_made_anew_after_every_replace_and_in_every_version(project):
    project.write({"models/m.sql": block("indexes: [id]")})
    project.ok("apply")
    before = names(project)
    project.ok("run")
    assert names(project) == before
    project.write({"models/m.sql": block("indexes: [id]", "SELECT 2 AS id, 'y' AS name")})
    assert project.json("plan")["physical"] == ["+ index il__m__id"]
    project.ok("apply", "--force")
    assert len(names(project)[0]) == 2
    assert project.query("SELECT id FROM m") == [[2]]
    project.ok("apply", "-e", "dev")
    assert project.json("plan", "-e", "dev")["empty"]


def test_strategies_go_on_with_an_indexed_table(project):
    objects = "indexes: [{columns: [id], unique: true}, v], constraints: [{not_null: id}]"
    source = "SELECT id, v FROM read_csv('s.csv')"
    for strategy in ("merge", "full_merge", "hash_merge", "scd"):
        unique = objects if strategy not in ("scd", "full_merge") else "indexes: [id, v], constraints: [{not_null: id}]"
        project.write(
            {
                f"models/{strategy}.sql": block(f"strategy: {strategy}, key: [id], {unique}", source),
                "s.csv": "id,v\n1,a\n2,b\n",
            }
        )
    project.write(
        {
            "models/inc.sql": block(
                f"strategy: incremental, time_column: t, interval: 1d, {objects}",
                "SELECT id, v, TIMESTAMP '2026-07-01' + to_days(id::INT) AS t FROM read_csv('s.csv')",
            )
        }
    )
    project.ok("apply", env={"INTERLACE_NOW": "2026-07-10T00:00:00Z"})
    project.write({"s.csv": "id,v\n2,c\n3,d\n"})
    project.ok("run", env={"INTERLACE_NOW": "2026-07-11T00:00:00Z"})
    assert project.query("SELECT id, v FROM merge ORDER BY id") == [[1, "a"], [2, "c"], [3, "d"]]
    assert project.query("SELECT id, v FROM full_merge ORDER BY id") == [[2, "c"], [3, "d"]]
    assert project.query("SELECT id, v FROM hash_merge ORDER BY id") == [[1, "a"], [2, "c"], [3, "d"]]
    project.ok(
        *("restate", "--start", "2026-07-02", "--end", "2026-07-06", "-s", "inc"),
        env={"INTERLACE_NOW": "2026-07-11T00:00:00Z"},
    )
    assert project.query("SELECT id, v FROM inc ORDER BY id") == [[2, "c"], [3, "d"]]
    assert len(names(project)[0]) == 10


def test_what_is_not_enforced_becomes_an_index_or_a_warning(project):
    text = "constraints: [{primary_key: id}, {check: {expression: 'id > 0'}}]"
    project.write({"models/m.sql": block(text)})
    plan = project.json("plan")
    assert plan["physical"] == ["+ index il__m__pk"]
    assert [warning for warning in plan["warnings"] if "DuckDB does not enforce primary_key il__m__pk" in warning]
    assert [warning for warning in plan["warnings"] if "does not enforce check" in warning]
    project.ok("apply")
    indexes, _ = names(project)
    assert [unique for _, unique in indexes] == [False]
    plan = project.json("plan")
    assert plan["empty"]
    assert plan["warnings"] == []


def test_a_lake_keeps_not_null_alone(project):
    project.write(
        {
            "interlace.yaml": "database: 'ducklake:lake.ducklake'\ntimezone: UTC\n",
            "models/m.sql": block("indexes: [id], constraints: [{not_null: id}]"),
        }
    )
    plan = project.json("plan")
    assert plan["physical"] == ["+ constraint il__m__nn__id"]
    assert [warning for warning in plan["warnings"] if "DuckLake does not enforce index il__m__id" in warning]
    project.ok("apply")
    project.ok("run")
    assert project.json("plan")["empty"]
    project.write({"models/m.sql": block("indexes: [id]")})
    assert project.json("plan")["physical"] == ["- constraint il__m__nn__id"]
    project.ok("apply")
    assert project.json("plan")["empty"]


def test_01_12_4_postgres_enforces_all_and_only_ours_are_dropped(project, postgres):
    postgres.sql("CREATE SCHEMA live")
    postgres.sql("CREATE TABLE live.parents (id int PRIMARY KEY)")
    postgres.sql("INSERT INTO live.parents VALUES (1)")
    postgres.sql("CREATE TABLE live.m (id int, name text NOT NULL, parent int)")
    postgres.sql("CREATE INDEX theirs ON live.m (name)")
    head = "materialise: table, strategy: merge, key: [id], target: crm.live.m, "
    query = "SELECT 1::INT AS id, 'x' AS name, 1::INT AS parent"
    objects = (
        "indexes: [name], constraints: [{primary_key: id}, {unique: name}, {not_null: name},"
        " {check: {expression: 'id > 0'}}, {foreign_key: {columns: parent, to: live.parents, fields: id}}]"
    )
    project.write(
        {
            "interlace.yaml": f"timezone: UTC\nattach: {{crm: '{postgres.dsn}'}}\n",
            "models/m.sql": block(head + objects, query),
        }
    )
    project.ok("apply")
    constraints = "SELECT contype FROM pg_constraint WHERE conrelid = 'live.m'::regclass AND contype <> 'n' ORDER BY 1"
    assert postgres.sql(constraints) == ["c", "f", "p", "u"]
    assert project.json("plan")["empty"]
    project.ok("run")

    project.write({"models/m.sql": block(head + "indexes: []", query)})
    assert len(project.json("plan")["physical"]) == 6
    project.ok("apply")
    assert postgres.sql(constraints) == []
    indexes = "SELECT indexname FROM pg_indexes WHERE schemaname = 'live' AND tablename = 'm'"
    assert postgres.sql(indexes) == ["theirs"]
    nullable = (
        "SELECT attname FROM pg_attribute WHERE attrelid = 'live.m'::regclass AND attnotnull AND attname = 'name'"
    )
    assert len(postgres.sql(nullable)) == 1
    assert project.json("plan")["empty"]


def test_a_unique_index_under_full_merge_is_warned_of(project):
    text = "strategy: full_merge, key: [id], indexes: [{columns: [id], unique: true}, name]"
    project.write({"models/m.sql": block(text)})
    warnings = project.json("plan")["warnings"]
    assert [warning for warning in warnings if "full_merge may fail over the unique index il__m__uniq__id" in warning]
    project.write({"models/m.sql": block(text.replace(", name", ""))})
    assert project.json("plan")["warnings"] == []


@pytest.mark.parametrize("strategy", ["merge", "full_merge", "hash_merge", "scd"])
def test_a_copy_of_another_environments_table_gets_its_own_indexes(project, strategy):
    text = f"strategy: {strategy}, key: [id], indexes: [id], constraints: [{{not_null: id}}]"
    project.write({"models/m.sql": block(text)})
    project.ok("apply")
    project.ok("apply", "-e", "dev")
    result = project.ok("run", "-e", "dev")
    assert "copy-on-write: owned by prod" in result.stderr
    indexes, rules = names(project)
    assert len(indexes) == 2
    assert rules == ["id", "id"]
    project.ok("run", "-e", "dev")
    project.ok("run")
    assert len(names(project)[0]) == 2
