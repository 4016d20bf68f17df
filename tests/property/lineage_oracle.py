"""The oracle of column lineage: the engine itself. One column of a source gets other values, and what the query gives is
compared with what it gave: an output may only change when lineage names that column as one of its sources or among those
that decide the rows."""

import contextlib
import random

TEXTS = ["a", "b", "c", "paid", "1", "x"]
DAYS = ["2024-01-01 00:00:00", "2024-01-01 12:30:00", "2024-01-20 08:00:00", "2024-02-10 00:00:00"]


def text(value):
    return "'" + value.replace("'", "''") + "'"


def json_text(rng):
    name, number = rng.choice(TEXTS), rng.randrange(4)
    return text(f'{{"a": {{"b": {number}}}, "k": "v", "name": "{name}", "n": {number}, "x": [{number}], "items": [1]}}')


def struct_text(rng):
    return f"{{'page': {{'url': {literal('varchar', rng)}}}, 'ref': {literal('varchar', rng)}}}"


VALUES = {
    "varchar": lambda rng: text(rng.choice(TEXTS)),
    "timestamp": lambda rng: f"TIMESTAMP '{rng.choice(DAYS)}'",
    "date": lambda rng: f"DATE '{rng.choice(DAYS)[:10]}'",
    "json": json_text,
    "struct(page struct(url varchar), ref varchar)": struct_text,
    "struct(p bigint, q bigint)": lambda rng: f"{{'p': {rng.randrange(5)}, 'q': {rng.randrange(5)}}}",
    "varchar[]": lambda rng: "[" + ", ".join(literal("varchar", rng) for _ in range(rng.randrange(4))) + "]",
    "bigint[]": lambda rng: "[" + ", ".join(str(rng.randrange(5)) for _ in range(rng.randrange(4))) + "]",
}

# Keys of a tree: a row's parent is an earlier row, whatever the seed, so that a recursive query ends.
NODE, PARENT = "bigint /* node */", "bigint /* parent */"
HIERARCHY = {
    NODE: lambda rng, row: row + 1 + rng.choice([0, 100]),
    PARENT: lambda rng, row: rng.randrange(1, row + 1) if row > 1 else "NULL",
}


def literal(type_name, rng, row=0):
    if type_name in HIERARCHY:
        return str(HIERARCHY[type_name](rng, row))
    make = VALUES.get(type_name, lambda rng: str(rng.randrange(5)))
    return f"NULL::{type_name}" if rng.random() < 0.15 else make(rng)


def quoted(name):
    return ".".join('"' + part.replace('"', '""') + '"' for part in name)


class Source:
    """A table of the oracle: its name in parts, and its columns with their types."""

    def __init__(self, parts, columns):
        self.parts, self.columns = parts, columns
        self.name = ".".join(parts)

    def cells(self, column, rows, seed):
        rng = random.Random(f"{seed} {self.name} {column}")
        return [literal(self.columns[column], rng, row) for row in range(rows)]

    def create(self, connection):
        if len(self.parts) > 1:
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(self.parts[:-1])}")
        columns = ", ".join(f"{quoted([name])} {type_name}" for name, type_name in self.columns.items())
        connection.execute(f"CREATE TABLE {quoted(self.parts)} ({columns})")

    def fill(self, connection, rows, seed, changed=None):
        """Rows by a seed; the column `changed` has those of another seed."""
        columns = [self.cells(name, rows, f"{seed}{'!' * (name == changed)}") for name in self.columns]
        values = ", ".join("(" + ", ".join(row) + ")" for row in zip(*columns, strict=True))
        connection.execute(f"DELETE FROM {quoted(self.parts)}; INSERT INTO {quoted(self.parts)} VALUES {values}")


def run(connection, query):
    """Names of the outputs, and each one's values as a bag: which rows they stand in is another matter."""
    table = connection.execute(query).to_arrow_table()
    return table.column_names, [sorted(column.to_pylist(), key=repr) for column in table.columns]


@contextlib.contextmanager
def refilled(connection, source, column, rows, seed):
    """The column of the source has other values meanwhile."""
    connection.execute("BEGIN")
    try:
        source.fill(connection, rows, seed, changed=column)
        yield
    finally:
        connection.execute("ROLLBACK")


def changes_of(connection, query, sources, changed):
    """The names of the outputs, and {(table, column, number of an output that other values of the column change)};
    `changed(source, column)` is the time in which the column has them."""
    names, before = run(connection, query)
    changes = set()
    for source in sources:
        for column in source.columns:
            with changed(source, column):
                after = run(connection, query)[1]
            changes |= {(source.name, column, i) for i in range(len(names)) if before[i] != after[i]}
    return names, changes


def names_column(sources, table, column):
    folded = {source.lower() for source in sources}
    return f"{table}.{column}".lower() in folded or f"{table}.*".lower() in folded


def listed_outputs(lineage, names):
    """The sources of each output of the query; None: lineage does not list it, which only a guess may do."""
    columns = lineage["columns"]
    if len(columns) == len(names):
        return list(columns.values())
    assert lineage["opaque"], f"lineage lists {list(columns)}, the query gives {names}"
    return [columns.get(name) for name in names]


def differences(lineage, names, changes):
    """What changes although lineage calls it untouched, as texts."""
    outputs = listed_outputs(lineage, names)
    return {
        f"{table}.{column} changes {names[i]}"
        for table, column, i in changes
        if not names_column(lineage["row_influence"], table, column)
        and outputs[i] is not None
        and not names_column(outputs[i], table, column)
    }
