"""The shared scenario of spec 02 §6: one target, one changed source, every strategy; in SQL and in Python, on each engine
that owns tables. Rows, counts, and what is physically left alone."""

import dataclasses

import pytest
from scenario import FIRST, HASH_OF_A, NINE, NINE_CHANGED, P0, SECOND, WINDOW, P, set_source


@dataclasses.dataclass
class Panel:
    """`rows` of `columns` afterwards; `counts` of the second run; `untouched`: rows that keep their physical place."""

    number: str
    header: str
    columns: str
    rows: list
    counts: tuple
    verb: tuple = ("run",)
    first: str = FIRST
    second: str = SECOND
    untouched: str = ""


def version(id, value, start, end):
    return [id, value, start, end]


PANELS = [
    Panel("1", "strategy: replace", "id, v", [[1, "A"], [2, "b"], [4, "d"]], (3, 0, 0)),
    Panel("3", "strategy: merge, key: id", "id, v", [[1, "A"], [2, "b"], [3, "c"], [4, "d"]], (1, 2, 0), untouched="3"),
    Panel("4", "strategy: full_merge, key: id", "id, v", [[1, "A"], [2, "b"], [4, "d"]], (1, 1, 1), untouched="2"),
    Panel(
        "5",
        "strategy: hash_merge, key: id",
        "id, v",
        [[1, "A"], [2, "b"], [3, "c"], [4, "d"]],
        (1, 1, 0),
        untouched="2,3",
    ),
    Panel(
        "6",
        "strategy: scd, key: id",
        "id, v, _valid_from::VARCHAR, _valid_to::VARCHAR",
        [
            version(1, "A", "2026-07-02 12:00:00", None),
            version(1, "a", "2026-07-02 08:30:00", "2026-07-02 12:00:00"),
            version(2, "b", "2026-07-02 08:30:00", None),
            version(3, "c", "2026-07-02 08:30:00", "2026-07-02 12:00:00"),
            version(4, "d", "2026-07-02 12:00:00", None),
        ],
        (2, 2, 0),
        untouched="2",
    ),
    Panel(
        "7",
        "strategy: scd, key: id, time_column: ts",
        "id, v, _valid_from::VARCHAR, _valid_to::VARCHAR",
        [
            version(1, "A", "2026-07-02 09:15:00", None),
            version(1, "a", "2026-07-02 08:00:00", "2026-07-02 09:15:00"),
            version(2, "b", "2026-07-02 08:00:00", None),
            version(3, "c", "2026-07-02 08:00:00", "2026-07-02 12:00:00"),
            version(4, "d", "2026-07-02 09:40:00", None),
        ],
        (2, 2, 0),
        untouched="2",
    ),
    Panel(
        "8",
        "strategy: incremental, time_column: ts",
        "id, v",
        [[1, "A"], [2, "b"], [4, "d"], [9, "z"]],
        (3, 0, 3),
        verb=("restate", *WINDOW),
        first=NINE + FIRST,
        second=NINE_CHANGED + SECOND,
        untouched="9",
    ),
    Panel(
        "9",
        "strategy: incremental, time_column: ts, key: id",
        "id, v",
        [[1, "A"], [2, "b"], [3, "c"], [4, "d"], [9, "z"]],
        (1, 2, 0),
        verb=("restate", *WINDOW),
        first=NINE + FIRST,
        second=NINE_CHANGED + SECOND,
        untouched="3,9",
    ),
]
# A Python model is incremental only with a key (spec 01 §5).
KINDS = [(panel, kind) for panel in PANELS for kind in ("sql", "python") if (panel.number, kind) != ("8", "python")]

ENGINES = {
    "duckdb": "database: data/wh.duckdb",
    "ducklake": "database: 'ducklake:data/lake.ducklake'",
}


def python_arguments(header):
    """`strategy: merge, key: id` as keyword arguments of @model."""
    pairs = [part.split(": ") for part in header.split(", ")]
    return ", ".join(f'{key}="{value}"' for key, value in pairs)


def sql_model(header, source, name="m"):
    return {f"models/{name}.sql": f"/* interlace: {{{header}}} */\nSELECT * FROM {source}"}


def python_model(header, source, name="m"):
    return {
        "models/stg.sql": f"/* interlace: {{materialise: view}} */\nSELECT * FROM {source}",
        f"models/{name}.py": "from interlace import model\n"
        f"@model({python_arguments(header)})\ndef {name}(stg):\n    return stg.reader()\n",
    }


def write_project(project, engine, files):
    project.write({"interlace.yaml": f"{ENGINES[engine]}\nattach: {{src: data/src.duckdb}}\ntimezone: UTC\n", **files})


def start(project, engine, files, rows, columns="id, v, ts"):
    write_project(project, engine, files)
    set_source(project, rows, columns)
    project.ok("apply", env={"INTERLACE_NOW": P0})


def counts_of(result, model="m"):
    rows = result["rows"][model]
    return (rows["inserted"], rows["updated"], rows["deleted"])


def relation_of(database, model="m"):
    return database.execute(
        "SELECT schema_name || '.' || table_name FROM duckdb_tables()"
        f" WHERE table_name SIMILAR TO '{model}__[0-9a-f]{{16}}(__r[0-9]+)?' ORDER BY table_name DESC LIMIT 1"
    ).fetchone()[0]


def physical_places(project, engine, ids):
    """(id, rowid) of the rows with these ids: what a rewritten row does not keep."""
    if engine != "duckdb" or not ids:
        return None
    with project.warehouse("data/wh.duckdb") as database:
        return database.execute(
            f"SELECT id, rowid FROM {relation_of(database)} WHERE id IN ({ids}) ORDER BY ALL"
        ).fetchall()


def second_run(project, panel):
    verb, *bounds = panel.verb
    return project.json(verb, "-s", "+m", *bounds, env={"INTERLACE_NOW": P})


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("panel", "kind"), KINDS, ids=lambda value: getattr(value, "number", value))
def test_02_6_1_and_5_each_panel_gives_its_rows_and_counts(project, panel, kind, engine):
    build = sql_model if kind == "sql" else python_model
    start(project, engine, build(panel.header, "src.items"), panel.first)
    before = physical_places(project, engine, panel.untouched)
    set_source(project, panel.second)
    result = second_run(project, panel)
    assert counts_of(result) == panel.counts
    assert project.query(f"SELECT {panel.columns} FROM m ORDER BY id, v") == panel.rows
    # spec 02 §6, 2: untouched is read off physical row ids.
    assert physical_places(project, engine, panel.untouched) == before


MINIMAL = "merge,create_or_replace,except_in_delete"


@pytest.mark.parametrize(
    ("engine", "without"),
    [("duckdb", "merge_actions"), ("duckdb", MINIMAL), ("ducklake", MINIMAL)],  # a lake has no merge_actions anyway
    ids=["duckdb-no actions", "duckdb-minimal", "ducklake-minimal"],
)
@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.number)
def test_02_4_6_an_engine_that_can_do_less_gives_equal_tables_and_counts(project, panel, engine, without):
    project.env["INTERLACE_WITHOUT"] = without
    start(project, engine, sql_model(panel.header, "src.items"), panel.first)
    set_source(project, panel.second)
    assert counts_of(second_run(project, panel)) == panel.counts
    assert project.query(f"SELECT {panel.columns} FROM m ORDER BY id, v") == panel.rows


def test_02_3_2_the_split_of_a_merge_is_exact_without_merge(project):
    rows = "SELECT {} + range AS id, 'a' AS v FROM range({})"
    for without in ("", "merge"):
        project.env["INTERLACE_WITHOUT"] = without
        name = f"m_{without}"
        project.write({f"models/{name}.sql": "/* interlace: {strategy: merge, key: id} */\nSELECT * FROM src.items"})
        project.load("CREATE OR REPLACE TABLE items AS " + rows.format(0, 600))
        write_project(project, "duckdb", {})
        project.ok("apply")
        project.load("CREATE OR REPLACE TABLE items AS " + rows.format(0, 1000))
        assert counts_of(project.json("run", "-s", name), name) == (400, 600, 0)


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.number)
def test_02_3_4_an_engine_that_tells_no_counts_shows_none(project, panel):
    project.env["INTERLACE_WITHOUT"] = "row_counts"
    start(project, "duckdb", sql_model(panel.header, "src.items"), panel.first)
    set_source(project, panel.second)
    assert second_run(project, panel)["rows"]["m"] is None
    verb, *bounds = panel.verb
    [row] = [line for line in project.ok(verb, *bounds).stdout.splitlines() if line.startswith("m  ")]
    assert row.split()[-2] == "—"


@pytest.mark.parametrize("strategy", ["full_merge", "scd"])
def test_02_2_an_engine_without_subqueries_in_writes_refuses_what_needs_them(project, strategy):
    project.env["INTERLACE_WITHOUT"] = "mutation_subquery"
    write_project(project, "duckdb", sql_model(f"strategy: {strategy}, key: id", "src.items"))
    set_source(project, FIRST)
    failed = project.fails("apply")
    assert strategy in failed.stderr and "hash_merge" in failed.stderr


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.number)
def test_02_3_1_the_cell_of_each_panel(project, panel):
    start(project, "duckdb", sql_model(panel.header, "src.items"), panel.first)
    set_source(project, panel.second)
    verb, *bounds = panel.verb
    result = project.ok(verb, *bounds, env={"INTERLACE_NOW": P})
    cell = " ".join(f"{sign}{count}" for sign, count in zip("+~-", panel.counts, strict=True) if count)
    [row] = [line for line in result.stdout.splitlines() if line.startswith("m  ")]
    assert f" {cell}  " in row


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.number)
def test_02_6_3_with_a_composite_key_only_the_changed_region_is_affected(project, panel):
    header = panel.header.replace("key: id", "key: [id, region]")
    both = "SELECT *, 'north' AS region FROM src.items UNION ALL SELECT *, 'south' FROM src.still"
    project.load(f"CREATE TABLE still AS SELECT * FROM (VALUES {panel.first}) t(id, v, ts)")
    files = {"models/m.sql": f"/* interlace: {{{header}}} */\n{both}"}
    start(project, "duckdb", files, panel.first)
    south = f"SELECT {panel.columns} FROM m WHERE region = 'south' ORDER BY id, v"
    before = project.query(south)
    set_source(project, panel.second)
    second_run(project, panel)
    assert project.query(f"SELECT {panel.columns} FROM m WHERE region = 'north' ORDER BY id, v") == panel.rows
    assert project.query(south) == before


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.number)
def test_02_6_4_null_values_change_like_others(project, panel):
    first = panel.first.replace("'a'", "NULL")
    second = panel.second.replace("'d'", "NULL")
    start(project, "duckdb", sql_model(panel.header, "src.items"), first)
    set_source(project, second)
    result = second_run(project, panel)
    assert counts_of(result) == panel.counts
    expected = [[row[0], {"a": None, "d": None}.get(row[1], row[1]), *row[2:]] for row in panel.rows]
    rows = project.query(f"SELECT {panel.columns} FROM m")
    assert sorted(rows, key=str) == sorted(expected, key=str)


def test_02_6_hash_of_a_changed_row(project):
    start(project, "duckdb", sql_model("strategy: hash_merge, key: id", "(SELECT id, v FROM src.items)"), FIRST)
    set_source(project, SECOND)
    project.ok("run")
    assert project.query("SELECT _hash FROM m WHERE id = 1") == [[HASH_OF_A]]


REPEATS = {
    "1": (3, 0, 0),
    "3": (0, 3, 0),
    "4": (0, 0, 0),
    "5": (0, 0, 0),
    "6": (0, 0, 0),
    "7": (0, 0, 0),
    "8": (3, 0, 3),
    "9": (0, 3, 0),
}


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.number)
def test_02_7_1_the_same_again_changes_nothing(project, panel):
    start(project, "duckdb", sql_model(panel.header, "src.items"), panel.first)
    before = project.query("SELECT * FROM m ORDER BY ALL")
    result = second_run(project, panel)
    assert counts_of(result) == REPEATS[panel.number]
    assert project.query("SELECT * FROM m ORDER BY ALL") == before


KEYED = [panel for panel in PANELS if "key: id" in panel.header]


def untouched_state(project, panel):
    """Everything a refused run must leave: rows, ledger, what the environment shows."""
    return (
        project.query("SELECT * FROM m ORDER BY ALL"),
        project.json("env", "list"),
        project.json("intervals", "m")["intervals"] if "incremental" in panel.header else None,
    )


@pytest.mark.parametrize("panel", KEYED, ids=lambda panel: panel.number)
def test_02_2_1_repeated_keys_are_refused_on_a_first_build_and_later(project, panel):
    def repeated(day):
        values = [(1, "a"), (1, "b"), (1, "c"), (7, "d"), (7, "e"), (2, "f")]
        return ", ".join(f"({key}, '{value}', TIMESTAMP '{day} 08:00')" for key, value in values)

    # By event time a key may have several versions: the unit is the key and the time (spec 02 §8.3).
    by_time = panel.number == "7"
    at = ", 2026-07-02 08:00:00" if by_time else ""
    repeated_key, sample = "(id, ts)" if by_time else "(id)", f"(1{at}) x3, (7{at}) x2"
    files = sql_model(panel.header, "src.items")
    write_project(project, "duckdb", files)
    set_source(project, repeated("2026-07-02"))
    result = project.fails("apply")
    assert (
        f"key {repeated_key} is not unique in the source: 2 key values repeat over 5 rows, e.g. {sample}"
        in result.stderr
    )
    set_source(project, FIRST)
    project.ok("apply")
    before = untouched_state(project, panel)
    if panel.verb == ("run",):
        set_source(project, repeated("2026-07-02"))
        document = project.json("run", code=1)
    else:  # A new window: a restate takes its windows out of the ledger before it does them (spec 02 §11).
        set_source(project, repeated("2026-07-03"))
        document = project.json("run", "--start", "2026-07-03", "--end", "2026-07-04", code=1)
    details = document["error"]["details"]
    assert (details["code"], details["model"], details["repeated"], details["rows"]) == ("duplicate_key", "m", 2, 5)
    assert details["key"] == (["id", "ts"] if by_time else ["id"])
    assert [(entry["key"]["id"], entry["count"]) for entry in details["sample"]] == [(1, 3), (7, 2)]
    assert sample in document["error"]["message"]
    assert untouched_state(project, panel) == before


@pytest.mark.parametrize("panel", KEYED, ids=lambda panel: panel.number)
@pytest.mark.parametrize("key", ["id", "[g, id]"])
def test_02_2_3_a_null_in_a_key_is_refused(project, panel, key):
    rows = "('x', 1, 'a', TIMESTAMP '2026-07-02 08:00'), ('x', NULL, 'x', TIMESTAMP '2026-07-02 08:00')"
    files = sql_model(panel.header.replace("key: id", f"key: {key}"), "src.items")
    write_project(project, "duckdb", files)
    set_source(project, rows, "g, id, v, ts")
    document = project.json("apply", code=1)
    details = document["error"]["details"]
    assert (details["code"], details["model"], details["key"], details["rows"]) == ("null_key", "m", ["id"], 1)
    [sample] = details["sample"]
    assert (sample["g"], sample["id"], sample["v"]) == ("x", None, "x")
    assert "1 source row" in document["error"]["message"]
    assert "id: NULL" in document["error"]["message"]


def test_02_2_2_identical_rows_collapse_in_full_merge_and_scd_only(project):
    doubled = "(1,'a',TIMESTAMP '2026-07-02 08:00'), (1,'a',TIMESTAMP '2026-07-02 08:00')"
    for strategy in ("full_merge", "scd"):
        project.write({f"models/{strategy}.sql": f"/* interlace: {{strategy: {strategy}, key: id}} */ FROM src.items"})
    write_project(project, "duckdb", {})
    set_source(project, doubled)
    project.ok("apply")
    assert project.query("SELECT (SELECT count(*) FROM full_merge) AS f, (SELECT count(*) FROM scd) AS s") == [[1, 1]]
    for strategy in ("merge", "hash_merge"):
        project.write({f"models/{strategy}.sql": f"/* interlace: {{strategy: {strategy}, key: id}} */ FROM src.items"})
    result = project.fails("apply", "--keep-going")
    assert result.stderr.count("is not unique in the source") == 2


def test_02_2_5_an_unstable_source_is_read_once(project):
    project.write(
        {
            "models/m.sql": "/* interlace: {strategy: full_merge, key: id} */\n"
            "SELECT range AS id, random() AS r FROM range(100)"
        }
    )
    project.ok("apply")
    project.ok("run")
    assert project.query("SELECT count(*), count(DISTINCT id) FROM m") == [[100, 100]]


def test_02_4_4_an_empty_source_is_told_before_it_empties_the_target(project):
    start(project, "duckdb", sql_model("strategy: full_merge, key: id", "src.items"), "(1,'a'), (2,'b')", "id, v")
    assert "source is empty" not in project.ok("run").stderr
    project.load("DELETE FROM items WHERE id = 2")
    assert "source is empty" not in project.ok("run").stderr
    project.load("DELETE FROM items")
    result = project.ok("run")
    assert "note: model 'm': source is empty: 1 row will be deleted" in result.stderr
    assert project.query("SELECT count(*) FROM m") == [[0]]
    assert "source is empty" not in project.ok("run").stderr  # nothing is left to delete


@pytest.mark.parametrize("strategy", ["full_merge", "hash_merge", "scd"])
def test_02_2_6_null_and_the_empty_text_differ(project, strategy):
    start(project, "duckdb", sql_model(f"strategy: {strategy}, key: id", "src.items"), "(1,NULL), (2,'')", "id, v")
    set_source(project, "(1,''), (2,NULL)", "id, v")
    result = project.json("run")
    assert counts_of(result)[1] == 2
    where = "WHERE _valid_to IS NULL" if strategy == "scd" else ""
    assert project.query(f"SELECT id, v FROM m {where} ORDER BY id") == [[1, ""], [2, None]]


def test_02_3_2_merge_tells_new_from_matched_keys(project):
    write_project(project, "duckdb", sql_model("strategy: merge, key: id", "src.items"))
    project.load("CREATE TABLE items AS SELECT range AS id, 'a' AS v FROM range(600)")
    project.ok("apply")
    project.load("CREATE OR REPLACE TABLE items AS SELECT range AS id, 'b' AS v FROM range(1000)")
    assert counts_of(project.json("run")) == (400, 600, 0)
    assert project.ok("run").stdout.count("~1,000") == 1
