"""What a change does is proven, and what stays valid is reused (spec 03 §3)."""

import sqlite3

import pytest

CONFIG = "name: shop\ndatabase: data/wh.duckdb\nattach: {src: data/src.duckdb}\ntimezone: UTC\n"
WAREHOUSE = "data/wh.duckdb"
SOURCE = "CREATE TABLE s AS SELECT * FROM (VALUES (1, 'a', 10), (1, 'b', 20), (2, 'c', 30)) t (g, h, v)"


@pytest.fixture
def shop(project):
    project.load(SOURCE)
    return project.write({"interlace.yaml": CONFIG})


def sql(**models):
    return {f"models/{name}.sql": text for name, text in models.items()}


def verdicts(project, *args):
    """What `plan --json` says of each change: model → "category build", with a * before `reuse`."""
    changes = project.json("plan", *args)["changes"]
    return {c["name"]: f"{c['category']} {'reuse' if c['reused'] else 'rebuild'}" for c in changes}


def impacted(project):
    return {c["name"]: c["impacted_columns"] for c in project.json("plan")["changes"]}


def relation(project, name, schema="main"):
    """The snapshot relation that an environment's view shows."""
    [[text]] = project.sql(
        f"SELECT sql FROM duckdb_views() WHERE view_name = '{name}' AND schema_name = '{schema}'", WAREHOUSE
    )
    return text.split("interlace__main.")[1].split(";")[0].strip().strip('"')


def state(project, statement):
    with sqlite3.connect(project.root / ".interlace/state.db") as connection:
        return connection.execute(statement).fetchall()


def explanation(project, name):
    lines = project.ok("plan", "--explain").stdout.splitlines()
    [line] = [line for line in lines if line.startswith(f"{name}: ")]
    return line


def check_against_fresh(make_project, project):
    """Every view of `prod` has the rows of a build in an empty warehouse."""
    files = {str(p.relative_to(project.root)): p.read_text() for p in project.root.glob("models/*")}
    fresh = make_project({"interlace.yaml": CONFIG, **files}, name="fresh")
    fresh.load(SOURCE)
    fresh.ok("apply")
    for path in project.root.glob("models/*.sql"):
        if "ephemeral" not in path.read_text():
            query = f"SELECT * FROM main.{path.stem} ORDER BY ALL"
            assert project.sql(query, WAREHOUSE) == fresh.sql(query, WAREHOUSE), path.stem
            query = f"SELECT column_name, column_type FROM (DESCRIBE main.{path.stem})"
            assert project.sql(query, WAREHOUSE) == fresh.sql(query, WAREHOUSE), path.stem


# --- Line 1: the table

UP = "SELECT 1 AS x, 2 AS y"
GROUPED = "SELECT g, count(*) AS n FROM src.main.s GROUP BY g"
TABLE = [
    (UP, UP + ", 3 AS z", "non_breaking rebuild", "non_breaking reuse", "non_breaking rebuild"),
    (UP, "SELECT 1 AS x, 20 AS y", "breaking rebuild", "non_breaking reuse", "breaking rebuild"),
    (UP, "SELECT 5 AS x, 2 AS y", "breaking rebuild", "breaking rebuild", "breaking rebuild"),
    (UP, UP + " WHERE 1 = 1", "breaking rebuild", "breaking rebuild", "breaking rebuild"),
    (
        UP,
        "/* interlace: {strategy: merge, key: x} */\n" + UP,
        "breaking rebuild",
        "breaking rebuild",
        "breaking rebuild",
    ),
    (
        GROUPED.replace("g,", "g AS x,"),
        GROUPED.replace("g,", "g AS x,").replace("AS n", "AS n, sum(v) AS t"),
        "non_breaking rebuild",
        "non_breaking reuse",
        "non_breaking rebuild",
    ),
    (
        GROUPED.replace("g,", "g AS x,"),
        "SELECT g AS x, h, count(*) AS n FROM src.main.s GROUP BY g, h",
        "breaking rebuild",
        "breaking rebuild",
        "breaking rebuild",
    ),
]


@pytest.mark.parametrize("row", range(len(TABLE)))
def test_03_3_1_every_row_of_the_table(shop, make_project, row):
    before, after, up, down, star = TABLE[row]
    shop.write(sql(up=before, down="SELECT x FROM up", star="SELECT * FROM up")).ok("apply")
    shop.write(sql(up=after))
    assert verdicts(shop) == {"up": up, "down": down, "star": star}
    breaks = "breaking rebuild" in (up, down, star)
    if breaks:
        shop.fails("apply")
    result = shop.json("apply", *(["--force"] if breaks else []))
    assert sorted(result["built"]) == sorted(
        n for n, v in [("up", up), ("down", down), ("star", star)] if "rebuild" in v
    )
    assert shop.json("plan")["empty"]
    check_against_fresh(make_project, shop)


def test_03_3_1_impacted_columns(shop):
    shop.write(sql(up=UP, down="SELECT x FROM up", other="SELECT y FROM up")).ok("apply")
    shop.write(sql(up=UP + ", 3 AS z"))
    assert impacted(shop) == {"up": ["z"], "down": [], "other": []}
    shop.write(sql(up="SELECT 1 AS x, 3 AS y"))
    assert impacted(shop) == {"up": ["y"], "down": [], "other": ["y"]}
    shop.write(sql(up=UP + " LIMIT 1"))
    assert impacted(shop) == {"up": [], "down": [], "other": []}


# --- Line 2 and what else is unsound elsewhere

MOVES_ROWS = {
    "count": ("SELECT 1 AS one FROM src.main.s", "SELECT 1 AS one, count(*) AS n FROM src.main.s"),
    "unnest": ("SELECT g AS one FROM src.main.s", "SELECT g AS one, unnest([1, 2]) AS e FROM src.main.s"),
    "correlated": ("SELECT 1 AS one FROM src.main.s", "SELECT 1 AS one, (SELECT sum(s.v)) AS n FROM src.main.s"),
    "capture": (
        "SELECT g AS one FROM src.main.s ORDER BY v LIMIT 1",
        "SELECT g AS one, -v AS v FROM src.main.s ORDER BY v LIMIT 1",
    ),
    "random": ("SELECT random() AS one FROM src.main.s", "SELECT random() AS one, 2 AS two FROM src.main.s"),
    "limit": ("SELECT g AS one FROM src.main.s LIMIT 1", "SELECT g AS one, v FROM src.main.s LIMIT 1"),
    "distinct": ("SELECT DISTINCT g AS one FROM src.main.s", "SELECT DISTINCT g AS one, h FROM src.main.s"),
    "group_by_all": (
        "SELECT g AS one, sum(v) AS n FROM src.main.s GROUP BY ALL",
        "SELECT g AS one, h, sum(v) AS n FROM src.main.s GROUP BY ALL",
    ),
    "ordinal": (
        "SELECT g AS one, v FROM src.main.s ORDER BY 2 LIMIT 2",
        "SELECT g AS one, h, v FROM src.main.s ORDER BY 2 LIMIT 2",
    ),
    "lateral": ("SELECT g AS k, k + 1 AS one FROM src.main.s", "SELECT g + 5 AS k, k + 1 AS one FROM src.main.s"),
}


@pytest.mark.parametrize("name", MOVES_ROWS)
def test_03_3_2_and_6_what_is_not_proven_rebuilds_its_readers(shop, make_project, name):
    before, after = MOVES_ROWS[name]
    shop.write(sql(up=before, down="SELECT one FROM up")).ok("apply")
    shop.write(sql(up=after))
    assert verdicts(shop) == {"up": "breaking rebuild", "down": "breaking rebuild"}
    shop.ok("apply", "--force")
    if name != "random":
        check_against_fresh(make_project, shop)


def test_03_3_2_a_natural_join_takes_a_new_column_into_its_condition(shop, make_project):
    shop.write(
        sql(
            up="SELECT 1 AS id, 2 AS w UNION ALL SELECT 2, 3",
            a="SELECT s.g AS id, s.v AS w FROM src.main.s",
            o="SELECT 1 AS id, 10 AS v UNION ALL SELECT 1, 99",
            j="SELECT id, v FROM a NATURAL JOIN o",
            k="SELECT count(*) AS n FROM j",
        )
    ).ok("apply")
    shop.write(sql(a="SELECT s.g AS id, s.v AS w, s.v FROM src.main.s"))
    assert verdicts(shop) == {"a": "non_breaking rebuild", "j": "non_breaking rebuild", "k": "non_breaking rebuild"}
    shop.ok("apply")
    assert shop.query("SELECT n FROM k") == [[1]]
    check_against_fresh(make_project, shop)


REBINDS = {
    "unqualified": "SELECT a.id, w FROM up a JOIN o ON a.id = o.id",
    "group_by_alias": "SELECT 1 AS w, count(*) AS n FROM up GROUP BY w",
    "star_and_name": "SELECT a.*, o.w FROM up a JOIN o ON a.id = o.id",
    "distinct_star": "SELECT DISTINCT * FROM up",
    "whole_row": "SELECT up FROM up",
    "columns": "SELECT id FROM up WHERE COLUMNS(*) > 0",
    "aliases": "SELECT p FROM up AS u(p)",
    "summarize": "SELECT column_name FROM (SUMMARIZE up)",
    "pivot": "SELECT * FROM (PIVOT up ON id IN (1, 2) USING count(*))",
    "by_name": "SELECT id FROM o UNION ALL BY NAME SELECT * FROM up",
}


@pytest.mark.parametrize("name", REBINDS)
def test_03_3_2_readers_that_see_new_columns_are_not_reused(shop, make_project, name):
    shop.write(
        sql(
            up="SELECT g AS id FROM src.main.s",
            o="SELECT 1 AS id, 10 AS w",
            reader=REBINDS[name],
            last="SELECT count(*) AS n FROM reader",
        )
    ).ok("apply")
    shop.write(sql(up="SELECT g AS id, v AS w FROM src.main.s"))
    if name == "unqualified":
        assert "mbiguous" in shop.fails("plan").stderr  # and the old rows stay
        assert shop.query("SELECT * FROM last") == [[2]]
        return
    assert verdicts(shop)["reader"] == "non_breaking rebuild"
    assert verdicts(shop)["last"] == "non_breaking rebuild"
    shop.ok("apply")
    if name != "summarize":
        check_against_fresh(make_project, shop)


def test_03_3_python_readers_are_rebuilt_and_what_follows_them(shop):
    shop.write(
        {
            **sql(up="SELECT 1 AS x", down="SELECT n FROM p"),
            "models/p.py": "from interlace import model\n\n\n@model()\ndef p(up):\n"
            "    import pyarrow as pa\n\n    return pa.table({'n': [up.table().num_columns]})\n",
        }
    ).ok("apply")
    assert shop.query("SELECT n FROM down") == [[1]]
    shop.write(sql(up="SELECT 1 AS x, 2 AS y"))
    assert verdicts(shop) == {"up": "non_breaking rebuild", "p": "non_breaking rebuild", "down": "non_breaking rebuild"}
    shop.ok("apply")
    assert shop.query("SELECT n FROM down") == [[2]]


# --- Line 3


def test_03_3_3_an_edit_does_not_hide_its_upstream(shop):
    shop.write(sql(up="SELECT 1 AS x", mid="SELECT x FROM up", down="SELECT x FROM mid")).ok("apply")
    shop.write(sql(up="SELECT 5 AS x", mid="SELECT x, 1 AS more FROM up"))
    assert verdicts(shop)["down"] == "breaking rebuild"
    shop.ok("apply", "--force")
    assert shop.query("SELECT x FROM down") == [[5]]


def test_03_3_3_a_reused_view_reads_the_tables_of_now(shop):
    shop.write(
        sql(
            t="SELECT id, 1 AS x FROM (VALUES (1), (2)) s(id)",
            e="/* interlace: {materialise: ephemeral} */ SELECT id FROM t",
            v="/* interlace: {materialise: view} */ SELECT id FROM e",
            w="/* interlace: {materialise: view} */ SELECT id FROM v",
            u="SELECT count(*) AS n FROM w",
        )
    ).ok("apply")
    old = relation(shop, "t")
    table = relation(shop, "u")
    shop.write(sql(t="SELECT id, 1 AS x, 2 AS y FROM (VALUES (1), (2)) s(id)"))
    assert {n: v.split()[1] for n, v in verdicts(shop).items() if n != "e"} == {
        "t": "rebuild",
        "v": "reuse",
        "w": "reuse",
        "u": "reuse",
    }
    result = shop.json("apply")
    assert result["built"] == ["t"] and sorted(result["reused"]) == ["u", "v", "w"]
    assert relation(shop, "u") == table
    assert any(name.endswith(old) for name in shop.json("gc", "--grace", "0")["dropped"])
    assert shop.query("SELECT id FROM v ORDER BY 1") == [[1], [2]]
    assert shop.query("SELECT n FROM u, w LIMIT 1") == [[2]]


ACCUMULATING = {
    "merge": ("strategy: merge, key: [id]", "SELECT id, v FROM src.main.t"),
    "scd": ("strategy: scd, key: [id]", "SELECT id, v FROM src.main.t"),
    "incremental": ("strategy: incremental, time_column: d, interval: 1d", "SELECT id, v, d FROM src.main.t"),
}


def accumulating(shop, name):
    keys, query = ACCUMULATING[name]
    shop.load("CREATE TABLE t AS SELECT i AS id, i * 10 AS v, DATE '2026-01-01' + i::INT AS d FROM range(1, 4) r(i)")
    shop.write(
        sql(
            up="SELECT id, v, d FROM src.main.t",
            m=f"/* interlace: {{{keys}}} */\n{query.replace('src.main.t', 'up')}",
        )
    ).ok("apply")
    shop.load("DELETE FROM t WHERE id = 1")
    shop.ok("run")


@pytest.mark.parametrize("name", ACCUMULATING)
def test_03_3_3_what_a_reused_model_holds_stays_when_it_runs(shop, name):
    accumulating(shop, name)
    held = shop.query("SELECT id, v FROM m ORDER BY ALL")
    table = relation(shop, "m")
    ledger = state(shop, "SELECT name, start_us, end_us FROM ledger ORDER BY 1, 2") if name == "incremental" else []
    shop.write(sql(up="SELECT id, v, d, 1 AS more FROM src.main.t"))
    assert verdicts(shop)["m"] == "non_breaking reuse"
    shop.ok("apply")
    assert relation(shop, "m") == table
    shop.ok("run")
    assert relation(shop, "m") == table
    rows = shop.query("SELECT id, v FROM m ORDER BY ALL")
    assert rows == held and [1, 10] in rows
    if name == "incremental":
        assert state(shop, "SELECT name, start_us, end_us FROM ledger ORDER BY 1, 2") == ledger
    assert shop.json("plan")["empty"]


@pytest.mark.parametrize("name", ACCUMULATING)
def test_03_3_3_run_alone_goes_on_from_the_rows_that_are_there(shop, name):
    """A pending change that is proven harmless, and no `apply` in between."""
    accumulating(shop, name)
    table = relation(shop, "m")
    shop.write(sql(up="SELECT id, v, d, 1 AS more FROM src.main.t"))
    shop.ok("run")
    assert relation(shop, "m") == table
    assert [1, 10] in shop.query("SELECT id, v FROM m ORDER BY ALL")
    assert shop.json("plan")["empty"]


def test_03_3_3_a_reused_table_is_copied_before_another_environment_writes(shop):
    accumulating(shop, "merge")
    shop.ok("apply", "-e", "dev")
    table = relation(shop, "m")
    shop.write(sql(up="SELECT id, v, d, 1 AS more FROM src.main.t"))
    shop.ok("apply", "-e", "dev")
    assert relation(shop, "m", "dev__main") == table
    shop.load("INSERT INTO t VALUES (9, 90, DATE '2026-01-09')")
    assert "copy-on-write" in shop.ok("run", "-e", "dev").stderr
    assert relation(shop, "m", "dev__main") != table
    assert [9, 90] in shop.query("SELECT id, v FROM m", "dev") and [1, 10] in shop.query("SELECT id, v FROM m", "dev")
    assert [9, 90] not in shop.query("SELECT id, v FROM m")
    shop.ok("apply")  # prod keeps its own table, dev its copy
    assert relation(shop, "m") == table
    assert [9, 90] not in shop.query("SELECT id, v FROM m")
    assert [9, 90] in shop.query("SELECT id, v FROM m", "dev")
    shop.ok("run")
    assert relation(shop, "m") == table
    assert shop.json("plan")["empty"] and shop.json("plan", "-e", "dev")["empty"]


def test_03_3_3_a_version_never_takes_a_table_that_another_one_lives_in(shop):
    """Its own record is gone (gc removes it), but the table has its name and shows a later version."""
    accumulating(shop, "merge")
    table = relation(shop, "m")
    shop.write(sql(up="SELECT id, v, d, 1 AS more FROM src.main.t")).ok("apply")
    state(shop, "DELETE FROM snapshots WHERE name = 'm' AND fingerprint NOT IN (SELECT fingerprint FROM pointers)")
    shop.write(sql(up="SELECT id, v, d FROM src.main.t"))
    shop.ok("apply", "-e", "new")  # builds the first version for an environment that has none
    assert relation(shop, "m", "new__main") != table
    assert [1, 10] in shop.query("SELECT id, v FROM m")
    assert [1, 10] not in shop.query("SELECT id, v FROM m", "new")


# --- Lines 5 to 7


def test_03_3_5_columns_with_a_table_in_front_are_told_apart(shop):
    other = {"o": "SELECT 1 AS x, 7 AS w"}
    shop.write(
        sql(
            up=UP,
            named="SELECT u.x, o.w FROM up u JOIN o ON u.x = o.x",
            loose="SELECT u.x, w FROM up u JOIN o ON u.x = o.x",
            **other,
        )
    ).ok("apply")
    shop.write(sql(up="SELECT 1 AS x, 20 AS y"))
    assert verdicts(shop) == {
        "up": "breaking rebuild",
        "named": "non_breaking reuse",
        "loose": "breaking rebuild",
    }


def test_03_3_7_only_breaking_changes_need_force(shop):
    shop.write(sql(up=UP, down="SELECT x FROM up", gone="SELECT 1 AS a")).ok("apply")
    shop.write(sql(up=UP + ", 3 AS z", gone=None, new="SELECT 2 AS b"))
    assert {c["change_type"] for c in shop.json("plan")["changes"]} == {"added", "removed", "modified"}
    assert sorted(shop.json("apply")["built"]) == ["new", "up"]
    before = shop.sql("SELECT table_schema, table_name FROM information_schema.tables ORDER BY ALL", WAREHOUSE)
    shop.write(sql(up="SELECT 2 AS x, 2 AS y, 3 AS z", new="SELECT 2 AS b, 1 AS c"))
    result = shop.fails("apply")
    assert "up" in result.stderr and "down" in result.stderr and "new" not in result.stderr
    assert shop.sql("SELECT table_schema, table_name FROM information_schema.tables ORDER BY ALL", WAREHOUSE) == before


def test_case_036_a_child_that_reads_none_of_the_changed_columns(shop):
    shop.write(
        sql(
            o="SELECT id, cust, total, memo FROM (VALUES (1,'ann',5,'x'),(2,'bo',50,'y'),(3,'bo',70,'z')) "
            "t(id, cust, total, memo)",
            custs="SELECT DISTINCT cust FROM o",
            n="SELECT count(*) AS n FROM o",
            memos="SELECT id, memo FROM o",
        )
    ).ok("apply")
    tables = {name: relation(shop, name) for name in ("custs", "n", "memos")}
    shop.write(sql(o=shop.read("models/o.sql").replace("memo FROM", "lower(memo) || '!' AS memo FROM")))
    assert verdicts(shop) == {
        "o": "breaking rebuild",
        "custs": "non_breaking reuse",
        "memos": "breaking rebuild",
        "n": "non_breaking reuse",
    }
    shop.ok("apply", "--force")
    assert {name for name, table in tables.items() if relation(shop, name) == table} == {"custs", "n"}
    shop.write(sql(o=shop.read("models/o.sql") + " WHERE total > 10"))
    assert set(verdicts(shop).values()) == {"breaking rebuild"}
    shop.ok("apply", "--force")
    assert shop.query("SELECT * FROM custs") == [["bo"]]
    assert shop.query("SELECT * FROM n") == [[2]]
    assert shop.query("SELECT * FROM memos ORDER BY id") == [[2, "y!"], [3, "z!"]]


# --- Whether what is shown was built from what is shown


def test_03_3_a_model_left_behind_by_a_selection_is_not_proven(shop):
    shop.write(sql(up=UP, down="SELECT x FROM up")).ok("apply")
    shop.write(sql(up="SELECT 5 AS x, 2 AS y")).ok("apply", "--force", "-s", "up")
    assert verdicts(shop) == {"down": "breaking rebuild"}
    shop.write(sql(up="SELECT 5 AS x, 2 AS y, 3 AS z"))  # additive to what is shown, not to what `down` was built from
    assert verdicts(shop)["down"] == "breaking rebuild"
    shop.write(sql(down="SELECT x, 1 AS k FROM up"))
    assert verdicts(shop)["down"] == "breaking rebuild"
    shop.ok("apply", "--force")
    assert shop.query("SELECT x FROM down") == [[5]]


def test_03_3_ephemeral_models_pass_proofs_on(shop):
    shop.write(
        sql(
            up=UP,
            e="/* interlace: {materialise: ephemeral} */ SELECT u.x, u.y AS k FROM up u",
            down="SELECT x FROM e",
        )
    ).ok("apply")
    shop.write(sql(up=UP + ", 3 AS z"))
    assert verdicts(shop)["down"] == "non_breaking reuse"
    shop.ok("apply")
    shop.write(sql(e="/* interlace: {materialise: ephemeral} */ SELECT u.x, u.z AS k FROM up u"))
    assert verdicts(shop)["down"] == "breaking rebuild"  # no record of the old text


def test_03_3_a_rebuild_that_would_lose_rows_is_breaking(shop):
    accumulating(shop, "merge")
    shop.write(sql(m=shop.read("models/m.sql").replace("id, v", "id, v, 1 AS k")))
    assert verdicts(shop) == {"m": "breaking rebuild"}
    assert "strategy merge" in explanation(shop, "m")
    [change] = shop.json("plan", "--forward-only")["changes"]
    assert change["category"] == "forward_only"


def test_03_3_spelling_alone_is_reused(shop):
    shop.write(sql(up="SELECT 1::INT AS x", down="SELECT x FROM up")).ok("apply")
    shop.write(sql(up="SELECT (CAST(1 AS INTEGER)) x"))
    assert verdicts(shop) == {"up": "non_breaking reuse", "down": "non_breaking reuse"}
    assert shop.json("apply")["built"] == []


def test_03_3_an_index_stays_with_the_table_it_is_on(shop):
    shop.write(sql(up=UP, down="/* interlace: {indexes: [x]} */ SELECT x FROM up")).ok("apply")
    shop.write(sql(up=UP + ", 3 AS z"))
    plan = shop.json("plan")
    assert plan["physical"] == []
    shop.ok("apply")
    indexes = "SELECT count(*) FROM duckdb_indexes()"
    assert shop.sql(indexes, WAREHOUSE) == [(1,)]
    shop.write(sql(down="SELECT x FROM up")).ok("apply")
    assert shop.sql(indexes, WAREHOUSE) == [(0,)]
    assert shop.json("plan")["empty"]


def test_03_3_a_reused_table_that_is_gone_is_built(shop):
    shop.write(sql(up=UP, down="SELECT x FROM up")).ok("apply")
    table = relation(shop, "down")
    shop.write(sql(up=UP + ", 3 AS z"))
    shop.load(f'DROP TABLE interlace__main."{table}"', WAREHOUSE)
    assert sorted(shop.json("apply")["built"]) == ["down", "up"]
    assert shop.query("SELECT x FROM down") == [[1]]
    assert shop.json("plan")["empty"]


# --- --explain


def test_06_4_explain_says_what_decides(shop):
    macro = "CREATE MACRO twice(a) AS a * 2;"
    shop.write(
        {
            **sql(
                up="SELECT 1 AS x, twice(2) AS y, var('k') AS k",
                down="SELECT x FROM up",
                star="SELECT * FROM up",
                keyed="/* interlace: {strategy: merge, key: a} */ SELECT 1 AS a, 2 AS b",
                filtered="SELECT 1 AS a",
            ),
            "macros/m.sql": macro,
            "interlace.yaml": CONFIG + "vars: {k: {type: int, value: 1}}\n",
        }
    ).ok("apply")
    shop.write(
        {
            "macros/m.sql": macro.replace("2", "3"),
            **sql(filtered="SELECT 1 AS a WHERE true"),
            "models/keyed.sql": shop.read("models/keyed.sql").replace("key: a", "key: b"),
        }
    )
    assert "column 'y' changed (macros/m.sql:1:" in explanation(shop, "up")
    assert "uses none of the columns of up that changed: 'y'" in explanation(shop, "down")
    assert "its table is kept" in explanation(shop, "down")
    assert "may use any column of up (it has a *)" in explanation(shop, "star")
    assert "its configuration changed: `key`" in explanation(shop, "keyed")
    assert "its WHERE changed" in explanation(shop, "filtered")
    shop.write(
        {
            "macros/m.sql": macro,
            "interlace.yaml": CONFIG + "vars: {k: {type: int, value: 2}}\n",
            **sql(filtered="SELECT 1 AS a"),
        }
    )
    assert "column 'k' changed (models/up.sql:1:" in explanation(shop, "up")
