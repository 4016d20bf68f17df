"""Lineage of every text of the SQL corpus against the engine (lineage_oracle): once with the columns of the tables known,
once without, where lineage has to guess and may name too much."""

import functools
import json
import os
import pathlib

import duckdb
import pytest
from lineage_oracle import NODE, PARENT, Source, changes_of, differences, quoted, refilled

CORPUS = pathlib.Path(__file__).parents[1] / "corpus" / "sql"
MANIFEST = json.loads((CORPUS / "manifest.json").read_text(encoding="utf-8"))
SEEDS = range(max(1, int(os.environ.get("INTERLACE_PROPERTY_EXAMPLES", "0")) // 200))
ROWS = 12

# Tables that the corpus reads without saying what they have.
MORE = {
    "orders": {"order_id": "bigint", "amount": "decimal(18,2)"},
    "t": {"order_id": "bigint"},
    "raw.monthly": {"jan": "bigint", "feb": "bigint", "mar": "bigint", "region": "varchar"},
    "raw.calendar": {"current_date": "date", "today": "date"},
    "raw.blocked": {"customer_id": "bigint"},
    "raw.vip": {"customer_id": "bigint"},
    "raw.t": {"a": "bigint", "b": "varchar"},
    "raw.table": {"select": "bigint", "from": "bigint", "group": "bigint"},
}
ATTACHED = {
    "My DB.Raw Schema.Order Lines": {"OrderID": "bigint", "Status": "varchar"},
    "pg.public.users": {"id": "bigint", "name": "varchar"},
    "lake.main.events": {"user_id": "bigint", "kind": "varchar"},
}
MACROS = (
    "CREATE SCHEMA lib",
    "CREATE MACRO lib.my_fn(a) AS a + 1",
    "CREATE MACRO my_macro(a, tz := 'x') AS a || tz",
    "CREATE MACRO iif(a, b, c) AS if(a, b, c)",
)
# What is no model, or cannot run over any tables that are empty of meaning, and why.
NO_MODELS = {
    "012": "PIVOT without an IN list is several statements",
    "070": "the engine has no symmetric BETWEEN",
    "072": "a syntax error",
    "082": "placeholders of two kinds",
    **dict.fromkeys(("086", "087", "088", "089", "090", "091", "092", "093"), "no query"),
}
BY_CHANCE = {"045": "random numbers and the clock", "051": "a sample"}
NOT_RUN = {
    "024": "a name of the select list that the engine does not find",
    "064": "files",
    "071": "operators of numbers and of texts over the same column",
    "078": "a catalog that is called main",
    "080": "time travel",
    "083": "parameters",
}


def number_of(model):
    return model["file"].removeprefix("duckdb_")[:3]


def sources_of(tables):
    return [Source(name.split("."), columns) for name, columns in tables.items()]


def schema():
    """A recursive query over employees has to end, and a scalar subquery to find one customer."""
    tables = {name: dict(columns) for name, columns in (MANIFEST["schema"] | MORE).items()}
    tables["raw.emp"] |= {"id": NODE, "manager_id": PARENT}
    tables["raw.customers"] |= {"customer_id": NODE}
    return tables


SOURCES = sources_of(schema() | ATTACHED)
TEXTS = {number_of(model): (CORPUS / model["file"]).read_text(encoding="utf-8") for model in MANIFEST["models"]}
QUERIES = {number: text for number, text in TEXTS.items() if number not in NO_MODELS}


def connect():
    connection = duckdb.connect(config={"threads": 1})
    for catalog in ("My DB", "pg", "lake"):
        connection.execute(f"ATTACH ':memory:' AS {quoted([catalog])}")
    for source in SOURCES:
        source.create(connection)
    for macro in MACROS:
        connection.execute(macro)
    return connection


@pytest.fixture(scope="module")
def observed():
    """(number of the text, names of its outputs, changes) for each text and seed; texts that do not run are checked to
    be the ones that we know."""
    connection, not_run, found = connect(), set(), []
    for seed in SEEDS:
        for source in SOURCES:
            source.fill(connection, ROWS, seed)
        for number, text in ((n, text) for n, text in QUERIES.items() if n not in BY_CHANCE):
            changed = functools.partial(refilled, connection, rows=ROWS, seed=seed)
            read = [source for source in SOURCES if source.parts[-1].lower() in text.lower()]
            try:
                found.append((number, *changes_of(connection, text, read, changed)))
            except duckdb.Error:
                not_run.add(number)
    assert not_run == NOT_RUN.keys()
    assert sum(len(changes) for _, _, changes in found) > 100 * len(SEEDS)
    return found


def stub(source):
    columns = ", ".join(f"NULL AS {quoted([name])}" for name in source.columns)
    return {f"models/{'/'.join(source.parts)}.sql": f"SELECT {columns}"}


@pytest.mark.parametrize("is_known", [True, False], ids=["known", "unknown"])
def test_05_7_7_what_lineage_of_the_corpus_calls_untouched_does_not_change(project, observed, is_known):
    project.write({f"models/m{number}.sql": text for number, text in QUERIES.items()})
    for source in SOURCES if is_known else []:
        if len(source.parts) < 3 and source.name.isascii():  # else it is no name of a model
            project.write(stub(source))
    lineage = project.json("lineage", "-c")["columns"]
    assert project.json("lineage", "-c")["columns"] == lineage  # from the cache
    wrong = {
        f"{number}: {difference}"
        for number, names, changes in observed
        for difference in differences(lineage[f"m{number}"], names, changes)
    }
    assert not wrong, sorted(wrong)
