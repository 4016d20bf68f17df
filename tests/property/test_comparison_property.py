"""Comparisons of unlike types: what `plan` refuses against what the engine does with rows that do not fit, and queries over
numbers only, of which none may be refused."""

import os

import duckdb
from lineage_queries import TABLES, Generator

EXAMPLES = int(os.environ.get("INTERLACE_PROPERTY_EXAMPLES", "40" if os.environ.get("INTERLACE_SANITIZED") else "150"))
TYPES = {
    "VARCHAR": "'no value of another type'",
    "BOOLEAN": "true",
    "TINYINT": "1",
    "BIGINT": "1",
    "UINTEGER": "1",
    "DECIMAL(9,2)": "1",
    "DOUBLE": "1",
    "DATE": "DATE '2026-01-01'",
    "TIME": "TIME '10:00:00'",
    "TIMESTAMP": "TIMESTAMP '2026-01-01'",
    "TIMESTAMP WITH TIME ZONE": "TIMESTAMPTZ '2026-01-01 00:00:00+00'",
}
FORMS = [
    "SELECT 1 AS one FROM {a} AS a, {b} AS b WHERE a.c = b.c",
    "SELECT 1 AS one FROM {a} AS a LEFT JOIN {b} AS b ON a.c <> b.c",
    "SELECT 1 AS one FROM {a} JOIN {b} USING (c)",
    "SELECT 1 AS one FROM {a} WHERE c NOT IN (SELECT c FROM {b})",
    "WITH x AS (SELECT max(c) AS m FROM {a}) SELECT (m == coalesce(c, c)) AS same FROM {b}, x",
]


def refused_models(project):
    """The models that `plan` refuses, and its words about them."""
    result = project.run("plan")
    return {line.split("'")[1]: line for line in result.error_lines}


def fails_on_rows(connection, query):
    """None: the engine does not even take it. A truth value that meets a day fails as well, on every row."""
    try:
        connection.execute(f"PREPARE p AS {query}")
        connection.execute(query).fetchall()
    except duckdb.ConversionException:
        return True
    except (duckdb.BinderException, duckdb.NotImplementedException):
        return None
    return False


def test_a_comparison_is_refused_exactly_when_a_text_that_does_not_fit_would_fail(project):
    names = {name: f"t{i}" for i, name in enumerate(TYPES)}
    connection = duckdb.connect()
    for name, value in TYPES.items():
        project.write({f"models/{names[name]}.sql": f"SELECT CAST({value} AS {name}) AS c"})
        connection.execute(f"CREATE TABLE {names[name]} AS SELECT CAST({value} AS {name}) AS c")
    pairs = [(a, b) for a in TYPES for b in TYPES for _ in FORMS]
    queries = [form.format(a=names[a], b=names[b]) for a in TYPES for b in TYPES for form in FORMS]
    project.write({f"models/m{i}.sql": query for i, query in enumerate(queries)})
    refused = refused_models(project)
    for i, (query, pair) in enumerate(zip(queries, pairs, strict=True)):
        fails = fails_on_rows(connection, query)
        is_text_with_other = "VARCHAR" in pair and pair[0] != pair[1]
        assert (f"m{i}" in refused) == (fails is None or is_text_with_other), f"{query}: {refused.get(f'm{i}')}"
        assert fails is not False or not is_text_with_other


def test_no_query_over_numbers_only_is_refused(project):
    connection = duckdb.connect()
    for table, columns in TABLES.items():
        items = ", ".join(f"NULL::{type_name} AS {name}" for name, type_name in columns.items())
        project.write({f"models/{table}.sql": f"SELECT {items}"})
        connection.execute(f"CREATE TABLE {table} AS SELECT {items}")
    queries = [Generator(10_000 + seed).top() for seed in range(EXAMPLES)]
    sound = {f"m{i}": query for i, query in enumerate(queries) if fails_on_rows(connection, query) is False}
    project.write({f"models/{name}.sql": query for name, query in sound.items()})
    assert refused_models(project) == {}
    assert len(sound) > EXAMPLES * 0.9
