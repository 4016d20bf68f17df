"""spec 03 §12: rows of two environments, compared by any key, are counted as multisets. The oracle is plain Python.

The models are views of a source's tables, so that rows can be put in their place without another build: prod shows l0 to
l5, dev shows r0 to r5, and each example is one run over all six pairs."""

import collections
import itertools
import math

import pytest
from chance import Chance, examples
from hypothesis import given, note
from hypothesis import strategies as st

COLUMNS = {"k": "INTEGER", "s": "VARCHAR", "f": "DOUBLE", "n": "STRUCT(a INTEGER, b DOUBLE[])"}
DOMAINS = {
    "k": [None, 1, 2, 3],
    "s": [None, "", "a", "A"],
    "f": [None, 0.0, -0.0, 1.0, 1.25, math.nan, math.inf],
    "n": [None, (None, ()), (1, (0.0, math.nan)), (1, (-0.0, None)), (2, None)],
}
KEYS = [("k",), ("k", "s"), ("s", "f"), (), ("n",), ("n", "k", "s", "f")]
TOLERANCE = 0.25


def sql_value(value):
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, float):
        return f"'{value}'::DOUBLE"
    if isinstance(value, tuple):
        number, items = value
        listed = "NULL" if items is None else "[" + ", ".join(map(sql_value, items)) + "]"
        return f"{{'a': {sql_value(number)}, 'b': {listed}}}"
    return str(value)


def table_sql(name, rows):
    columns = ", ".join(f"{column} {type}" for column, type in COLUMNS.items())
    values = ", ".join("(" + ", ".join(sql_value(row[column]) for column in COLUMNS) + ")" for row in rows)
    return f"CREATE OR REPLACE TABLE {name}({columns});" + (f" INSERT INTO {name} VALUES {values};" if rows else "")


# --- The oracle


def plain(value):
    """Equal when the engine takes them for equal, and in its order: NULL last, NaN after all numbers."""
    if value is None:
        return (1,)
    if isinstance(value, float):
        return (0, math.isnan(value), 0.0 if math.isnan(value) else value + 0.0)
    if isinstance(value, tuple):
        number, items = value
        return (0, plain(number), (1,) if items is None else (0, tuple(plain(item) for item in items)))
    return (0, value)


def is_near(left, right):
    if left is None or right is None:
        return left is right
    return plain(left) == plain(right) or abs(left - right) <= TOLERANCE


def counts(left, right, key, has_tolerance):
    """matched, changed, left only, right only, keys with several rows."""
    key = key or [column for column in COLUMNS if not (has_tolerance and column == "f")]
    values = [column for column in COLUMNS if column not in key]

    def by_key(rows):
        groups = collections.defaultdict(list)
        for row in rows:
            groups[tuple(plain(row[column]) for column in key)].append(row)
        return groups

    def rest(rows, others):
        """What rows have more of; in the order of the values."""
        seen = collections.Counter(tuple(plain(row[column]) for column in values) for row in others)
        kept = []
        for row in rows:
            value = tuple(plain(row[column]) for column in values)
            if seen[value] > 0:
                seen[value] -= 1
            else:
                kept.append((value, row))
        return [row for _, row in sorted(kept, key=lambda pair: pair[0])]

    sides = by_key(left), by_key(right)
    found = collections.Counter()
    for group in {**sides[0], **sides[1]}:
        lefts, rights = sides[0].get(group, []), sides[1].get(group, [])
        found["repeated"] += len(lefts) > 1 or len(rights) > 1
        surplus = rest(lefts, rights), rest(rights, lefts)
        found["matched"] += len(lefts) - len(surplus[0])
        for a, b in itertools.zip_longest(*surplus):
            if a is None or b is None:
                found["right_only" if a is None else "left_only"] += 1
            elif has_tolerance and all(is_near(a[c], b[c]) if c == "f" else plain(a[c]) == plain(b[c]) for c in values):
                found["matched"] += 1
            else:
                found["changed"] += 1
    return [found[name] for name in ("matched", "changed", "left_only", "right_only", "repeated")]


# --- The runs


@pytest.fixture(scope="module")
def world(project_class, tmp_path_factory):
    project = project_class(tmp_path_factory.mktemp("diff") / "project")
    project.write({"interlace.yaml": "attach: {src: data/src.duckdb}\n"})
    project.load("".join(table_sql(f"{side}{i}", []) for side in "lr" for i in range(len(KEYS))))
    for side, args in (("l", ()), ("r", ("-e", "dev"))):
        for i, key in enumerate(KEYS):
            header = f"/* interlace: {{materialise: view, key: [{', '.join(key)}]}} */\n"
            project.write({f"models/m{i}.sql": f"{header}SELECT * FROM src.{side}{i}"})
        project.ok("apply", *args)
    return project


def table_rows(chance):
    return [{name: chance.one(domain) for name, domain in DOMAINS.items()} for _ in range(chance.number(0, 5))]


def changed_rows(chance, rows):
    """Most rows as they are, so that sides have something in common."""
    kept = [dict(row) for row in rows if not chance.one_in(4)]
    for row in kept:
        if chance.one_in(3):
            column = chance.one(list(COLUMNS))
            row[column] = chance.one(DOMAINS[column])
    return kept + table_rows(chance)[: chance.number(0, 2)]


@examples(16)
@given(st.data())
def test_counts_are_those_of_multisets(world, data):
    chance = Chance(data)
    pairs = []
    for _ in KEYS:
        left = table_rows(chance)
        pairs.append((left, changed_rows(chance, left)))
    on = chance.one([(), (), ("k",), ("f", "s"), ("n", "f")])
    has_tolerance = chance.one_in(2)
    args = [*itertools.chain.from_iterable(("--on", column) for column in on)]
    args += ["--tolerance", str(TOLERANCE)] if has_tolerance else []
    world.load("".join(table_sql(f"l{i}", left) + table_sql(f"r{i}", right) for i, (left, right) in enumerate(pairs)))
    note(pairs)
    note(args)
    result = world.run("diff", "--against", "dev", "--json", *args)
    assert result.code in (0, 1), result
    differs = False
    for item, (left, right), key in zip(result.json, pairs, KEYS, strict=True):
        rows = item["rows"]
        wanted = counts(left, right, on or key, has_tolerance)
        names = ("matched", "changed", "left_only", "right_only", "duplicate_keys")
        assert [rows[name] for name in names] == wanted, item
        assert (rows["left_count"], rows["right_count"]) == (len(left), len(right))
        assert len(rows["left_only_sample"]) == rows["left_only"]
        assert len(rows["changed_sample"]) == rows["changed"]
        assert item["differs"] == (sum(wanted[1:4]) > 0)
        differs = differs or item["differs"]
    assert result.code == int(differs)
