"""The table of spec 02 §6 as each engine gives it: a text that can be laid beside the chapter. `make golden` rewrites
tests/golden/panels-*.txt."""

import pytest
from scenario import FIRST, NINE, NINE_CHANGED, P0, SECOND, WINDOW, P, set_source

# Number → name, header. 1′ and 2 are deliveries; the others too where the engine only takes deliveries.
PANELS = {
    "1": ("replace (virtual)", "strategy: replace"),
    "1′": ("replace (table)", "strategy: replace"),
    "2": ("append (table)", "strategy: append"),
    "3": ("merge", "strategy: merge, key: id"),
    "4": ("full_merge", "strategy: full_merge, key: id"),
    "5": ("hash_merge", "strategy: hash_merge, key: id"),
    "6": ("scd", "strategy: scd, key: id"),
    "7": ("scd, event time", "strategy: scd, key: id, time_column: ts"),
    "8": ("incremental", "strategy: incremental, time_column: ts"),
    "9": ("incremental with key", "strategy: incremental, time_column: ts, key: id"),
}
DELIVERED = ("1′", "2")
VERSIONS = "id, v, _valid_from::VARCHAR, _valid_to::VARCHAR"
COLUMNS = {"5": "id, v, _hash", "6": VERSIONS, "7": VERSIONS}

DATABASES = {
    "duckdb": "database: data/wh.duckdb",
    "ducklake": "database: 'ducklake:data/lake.ducklake'",
    "postgres": "database: data/wh.duckdb",
}
TITLES = {
    "duckdb": "on DuckDB (1′ and 2 into another file)",
    "ducklake": "on DuckLake (1′ and 2 into a DuckDB file)",
    "postgres": "into PostgreSQL",
}


def is_delivered(engine, number):
    return engine == "postgres" or number in DELIVERED


def run_twice(project, engine, number):
    """Both runs of a panel: the counts of the second."""
    _, header = PANELS[number]
    by_window = "incremental" in header
    keys = f"{header}, materialise: table, target: out.panels.m" if is_delivered(engine, number) else header
    columns = "id, v, ts" if "ts" in header else "id, v"
    project.write({"models/m.sql": f"/* interlace: {{{keys}}} */\nSELECT {columns} FROM src.items"})
    set_source(project, (NINE if by_window else "") + FIRST)
    project.ok("apply", env={"INTERLACE_NOW": P0})
    set_source(project, (NINE_CHANGED if by_window else "") + SECOND)
    verb = ("restate", *WINDOW) if by_window else ("run",)
    return project.json(*verb, env={"INTERLACE_NOW": P})["rows"]["m"]


def read_rows(project, engine, number, server):
    columns = COLUMNS.get(number, "id, v")
    if server:
        lines = server.sql(f"SELECT {columns} FROM panels.m")
        return [[cell or None for cell in line.split("|")] for line in lines]
    if is_delivered(engine, number):
        return project.sql(f"SELECT {columns} FROM panels.m", "data/out.duckdb")
    return project.query(f"SELECT {columns} FROM m")


def instant(text):
    names = {P0: "P0", P: "P", None: "∞"}
    text = text and text.replace(" ", "T")
    return names.get(text) or text[11:16]


def rows_text(rows):
    """1a 1A 2b …, as the chapter writes them; versions by their start, hashes behind."""
    rows = sorted(rows, key=lambda row: (row[0], row[2] if len(row) == 4 else row[1].swapcase()))
    if len(rows[0]) == 4:
        return " · ".join(f"{id}{v} [{instant(start)},{instant(end)})" for id, v, start, end in rows)
    text = " ".join(f"{row[0]}{row[1]}" for row in rows)
    hashes = [row[2] for row in rows if row[1] == "A" and len(row) == 3]
    return text + "".join(f", _hash of A = {value}" for value in hashes)


def counts_text(counts):
    numbers = zip("+~-", (counts["inserted"], counts["updated"], counts["deleted"]), strict=True)
    return " ".join(f"{sign}{number}" for sign, number in numbers if number)


def panels_text(engine, cells):
    lines = [
        f"The panels of the shared scenario (spec 02 §6), {TITLES[engine]}: rows after the second run, and its counts.",
        "P0 is the time of the first run, P of the second.",
        "",
    ]
    for number, name, counts, rows in [("#", "Panel", "Counts", "Rows afterwards"), *cells]:
        lines.append(f"{number:<2}  {name:<20}  {counts:<8}  {rows}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("engine", DATABASES)
def test_02_6_1_the_panels_on_each_engine(make_project, golden, request, engine):
    server = request.getfixturevalue("postgres") if engine == "postgres" else None
    out = server.dsn if server else "data/out.duckdb"
    cells = []
    for number, (name, _) in PANELS.items():
        if server and number == "1":
            continue  # no table of ours is there
        project = make_project(name=f"panel{len(cells)}")
        project.load("SELECT 1", name="data/out.duckdb")
        attach = f"attach: {{src: data/src.duckdb, out: '{out}'}}"
        project.write({"interlace.yaml": f"{DATABASES[engine]}\n{attach}\ntimezone: UTC\n"})
        if server:
            server.sql("DROP SCHEMA IF EXISTS panels CASCADE")
        counts = run_twice(project, engine, number)
        rows = read_rows(project, engine, number, server)
        cells.append((number, name, counts_text(counts), rows_text(rows)))
    golden(f"panels-{engine}", panels_text(engine, cells))
