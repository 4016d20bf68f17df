"""Lineage of generated queries against the engine (lineage_oracle, lineage_queries): with the columns of the tables known,
and without, where it has to guess and may name too much."""

import contextlib
import os

import duckdb
import pytest
from lineage_oracle import Source, changes_of, differences
from lineage_queries import TABLES, Generator

EXAMPLES = int(os.environ.get("INTERLACE_PROPERTY_EXAMPLES", "40" if os.environ.get("INTERLACE_SANITIZED") else "150"))
ROWS, ROW_SETS = 8, 5
SOURCES = [Source([name], columns) for name, columns in TABLES.items()]


def schema_name(seed, source=None, column=""):
    return f"rows{seed}_{source.name if source else ''}_{column}"


def make_schemas(connection):
    """For each set of rows: a schema of the tables, and one for each column with other values in that column."""
    for seed in range(ROW_SETS):
        for changed, column in [(None, "")] + [(source, column) for source in SOURCES for column in source.columns]:
            connection.execute(f"CREATE SCHEMA {schema_name(seed, changed, column)}")
            connection.execute(f"SET schema = '{schema_name(seed, changed, column)}'")
            for source in SOURCES:
                source.create(connection)
                source.fill(connection, ROWS, seed, column if source is changed else None)


@pytest.fixture(scope="module")
def observed():
    """(query, names of its outputs, changes) for each query that runs."""
    connection, found = duckdb.connect(config={"threads": 1}), []
    make_schemas(connection)

    @contextlib.contextmanager
    def changed(source, column):
        connection.execute(f"SET schema = '{schema_name(seed % ROW_SETS, source, column)}'")
        yield

    for seed in range(EXAMPLES):
        query = Generator(seed).top()
        connection.execute(f"SET schema = '{schema_name(seed % ROW_SETS)}'")
        try:
            found.append((query, *changes_of(connection, query, SOURCES, changed)))
        except duckdb.Error:
            continue  # a join of correlated columns that the engine cannot do, an overflow
    assert len(found) > EXAMPLES * 0.9
    assert sum(len(changes) for _, _, changes in found) > EXAMPLES
    return found


@pytest.mark.parametrize("is_known", [True, False], ids=["known", "unknown"])
def test_05_7_7_what_lineage_calls_untouched_does_not_change(project, observed, is_known):
    project.write({f"models/m{i}.sql": query for i, (query, _, _) in enumerate(observed)})
    for source in SOURCES if is_known else []:
        project.write({f"models/{source.name}.sql": "SELECT " + ", ".join(f"1 AS {c}" for c in source.columns)})
    lineage = project.json("lineage", "-c")["columns"]
    assert project.json("lineage", "-c")["columns"] == lineage  # from the cache
    wrong = [
        f"{difference} of {query}"
        for i, (query, names, changes) in enumerate(observed)
        for difference in differences(lineage[f"m{i}"], names, changes)
    ]
    assert not wrong, f"{len(wrong)}: {min(wrong, key=len)}"
