"""spec 05 §2: each type of check counts what its line of the table says, on any rows. The oracle is plain Python."""

import collections
import datetime
import itertools
import json
import re
from decimal import Decimal

from chance import Chance, examples
from hypothesis import given, note
from hypothesis import strategies as st

serial = itertools.count()

NOW = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None, microsecond=0)
TYPES = {
    "id": "BIGINT",
    "n": "BIGINT",
    "m": "DECIMAL(6,2)",
    "f": "DOUBLE",
    "s": "VARCHAR",
    "b": "BOOLEAN",
    "d": "DATE",
    "ts": "TIMESTAMP",
    "Odd name": "INTEGER",
}
DOMAINS = {
    "id": [0, 1, 2, 3, 2**53 + 1, -1],
    "n": [None, 0, 1, 2, -5],
    "m": [None, Decimal("0.00"), Decimal("1.50"), Decimal("-2.25"), Decimal("100.10")],
    "f": [None, 0.0, 1.5, -2.5, 1e300],
    "s": [None, "", "a", "A", "ab", "a@b", "it's", "é", " a", "{table}", "%"],
    "b": [None, True, False],
    "d": [None, NOW.date(), NOW.date() - datetime.timedelta(days=5), datetime.date(2020, 2, 29)],
    "ts": [
        None,
        NOW,
        NOW - datetime.timedelta(minutes=90),
        NOW - datetime.timedelta(days=3),
        datetime.datetime(2020, 2, 29, 12, 30),
    ],
    "Odd name": [None, 1, 2],
}


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def literal(column, value):
    if value is None:
        return f"NULL::{TYPES[column]}"
    text = str(value) if not isinstance(value, bool) else str(value).lower()
    return f"{quoted(text)}::{TYPES[column]}"


def table_sql(rows):
    names = ", ".join('"' + name + '"' for name in TYPES)
    if not rows:
        return "SELECT " + ", ".join(f'NULL::{t} AS "{n}"' for n, t in TYPES.items()) + " WHERE false"
    lines = ",\n".join("(" + ", ".join(literal(name, row[name]) for name in TYPES) + ")" for row in rows)
    return f"SELECT * FROM (VALUES {lines}) t({names})"


# --- Predicates in SQL and in Python, with the three values of SQL


def comparison(chance):
    column = chance.one(["n", "id", "m", "Odd name"])
    sign = chance.one(["<", "<=", ">", ">=", "=", "<>"])
    bound = chance.number(-1, 3)
    compare = {
        "<": lambda a: a < bound,
        "<=": lambda a: a <= bound,
        ">": lambda a: a > bound,
        ">=": lambda a: a >= bound,
        "=": lambda a: a == bound,
        "<>": lambda a: a != bound,
    }[sign]
    name = '"Odd name"' if " " in column else column
    return f"{name} {sign} {bound}", lambda row: None if row[column] is None else compare(row[column])


def atom(chance):
    pick = chance.number(0, 6)
    if pick == 0:
        column = chance.one(list(TYPES)[:-1])
        if chance.one_in(2):
            return f"{column} IS NULL", lambda row: row[column] is None
        return f"{column} IS NOT NULL", lambda row: row[column] is not None
    if pick == 1:
        return "b", lambda row: row["b"]
    if pick == 2:
        text = chance.one(["a", "A", "it's", "--", "é"])
        return f"s = {quoted(text)}", lambda row: None if row["s"] is None else row["s"] == text
    if pick == 3:
        return "n IN (1, NULL)", lambda row: True if row["n"] == 1 else None
    if pick == 4:
        return "n NOT IN (1, 2)", lambda row: None if row["n"] is None else row["n"] not in (1, 2)
    return comparison(chance)


def negation(value):
    return None if value is None else not value


def conjunction(a, b):
    if a is False or b is False:
        return False
    return None if a is None or b is None else True


def predicate(chance, depth=2):
    pick = chance.number(0, 4 if depth else 1)
    if pick <= 1:
        return atom(chance)
    left, left_of = predicate(chance, depth - 1)
    if pick == 2:
        return f"NOT ({left})", lambda row: negation(left_of(row))
    right, right_of = predicate(chance, depth - 1)
    if pick == 3:
        return f"({left} AND {right})", lambda row: conjunction(left_of(row), right_of(row))
    return (
        f"({left} OR {right})",
        lambda row: negation(conjunction(negation(left_of(row)), negation(right_of(row)))),
    )


# --- Checks: what is declared, and what must be counted


def not_null(chance, rows, _):
    columns = chance.some(TYPES, 1, 3)
    return {"columns": columns}, lambda rows: sum(any(row[c] is None for c in columns) for row in rows)


def unique(chance, rows, _):
    columns = chance.some(TYPES, 1, 3)

    def count(rows):
        return sum(n > 1 for n in collections.Counter(tuple(row[c] for c in columns) for row in rows).values())

    return {"columns": columns}, count


def accepted_values(chance, rows, _):
    column = chance.one(["n", "id", "m", "f", "s", "b", "d", "ts"])
    values = chance.some([v for v in DOMAINS[column] if v is not None], 0, 3)
    if column in ("n", "f", "m") and chance.one_in(4):
        values.append(2.5)
    written = [
        v if isinstance(v, bool | int | float | str) else float(v) if isinstance(v, Decimal) else str(v) for v in values
    ]
    accepted = [Decimal(str(v)) if isinstance(v, Decimal) else v for v in values]
    return (
        {"column": column, "values": written},
        lambda rows: sum(row[column] is not None and row[column] not in accepted for row in rows),
    )


def value_range(chance, rows, _):
    column = chance.one(["n", "id", "m", "f", "d", "ts"])
    found = {}
    for bound in chance.one([["min"], ["max"], ["min", "max"]]):
        if column in ("d", "ts"):
            found[bound] = chance.one([v for v in DOMAINS[column] if v is not None])
        else:
            found[bound] = chance.one([-5, 0, 1, 2, 1.5, -2.25, 100, 2**53])
    if len(found) == 2 and found["min"] > found["max"]:
        found = {"min": found["max"], "max": found["min"]}

    def is_out(value):
        if value is None:
            return False
        value = Decimal(value) if isinstance(value, int | float) else value
        low, high = found.get("min"), found.get("max")
        return (low is not None and value < low) or (high is not None and value > high)

    written = {name: v if isinstance(v, int | float) else str(v) for name, v in found.items()}
    return {"column": column, **written}, lambda rows: sum(is_out(row[column]) for row in rows)


def pattern(chance, rows, _):
    pieces = [
        "a",
        "b",
        "@",
        ".",
        "[ab]",
        "[^a]",
        "(a|b)",
        "a*",
        "b+",
        ".?",
        "\\.",
        "'",
        "%",
        "\\{",
        "é",
        "(?:x|a)",
        " ",
    ]
    regex = chance.one(["", "^"]) + "".join(chance.one(pieces) for _ in range(chance.number(1, 3)))
    regex += chance.one(["", "$"])
    inner = re.compile(regex.removesuffix("$") + (r"\Z" if regex.endswith("$") else ""))
    return (
        {"column": "s", "regex": regex},
        lambda rows: sum(row["s"] is not None and inner.search(row["s"]) is None for row in rows),
    )


def freshness(chance, rows, _):
    column, ages = chance.one([("ts", {"2h": 7200, "1d": 86400, "7d": 604800}), ("d", {"2d": 172800, "2w": 1209600})])
    age = chance.one(list(ages))

    def count(rows):
        values = [row[column] for row in rows if row[column] is not None]
        if not values:
            return 1
        newest = max(values)
        if column == "d":
            newest = datetime.datetime.combine(newest, datetime.time())
        return int(newest < NOW - datetime.timedelta(seconds=ages[age]))

    return {"column": column, "max_age": age}, count


def relationships(chance, rows, parents):
    column, field = chance.one([("n", "k"), ("s", "t"), ("id", "k")])
    known = {parent[field] for parent in parents} - {None}
    return (
        {"column": column, "to": "parent", "field": field},
        lambda rows: sum(row[column] is not None and row[column] not in known for row in rows),
    )


def row_count(chance, rows, _):
    names = chance.one([["min"], ["max"], ["min", "max"]])
    bounds = dict(zip(names, sorted(chance.number(0, 6) for _ in names), strict=True))
    return bounds, lambda rows: int(not bounds.get("min", 0) <= len(rows) <= bounds.get("max", 99))


def expression(chance, rows, _):
    sql, holds = predicate(chance)
    return {"expression": sql}, lambda rows: sum(holds(row) is False for row in rows)


def sql(chance, rows, parents):
    text, holds = predicate(chance)
    pick = chance.number(0, 2)
    if pick == 0:
        return (
            {"query": chance.one(["SELECT k FROM parent WHERE k > 0", "select parent.k from main.parent where K>0 ;"])},
            lambda rows: sum(parent["k"] is not None and parent["k"] > 0 for parent in parents),
        )
    if pick == 1:
        known = {parent["k"] for parent in parents} - {None}
        return (
            {"query": "SELECT t.id FROM {table} t LEFT JOIN parent AS p ON p.k = t.n WHERE p.k IS NULL -- {table}"},
            lambda rows: sum(row["n"] not in known for row in rows),
        )
    return {"query": f"SELECT * FROM {{table}} WHERE {text}"}, lambda rows: sum(holds(row) is True for row in rows)


KINDS = {
    "not_null": not_null,
    "unique": unique,
    "accepted_values": accepted_values,
    "range": value_range,
    "pattern": pattern,
    "freshness": freshness,
    "relationships": relationships,
    "row_count": row_count,
    "expression": expression,
    "sql": sql,
}


def random_check(chance, rows, parents):
    kind = chance.one(list(KINDS))
    parameters, count = KINDS[kind](chance, rows, parents)
    looked_at = rows
    if kind not in ("row_count", "expression", "sql") and chance.one_in(4):
        where, holds = predicate(chance, 1)
        parameters = {**parameters, "where": where}
        looked_at = [row for row in rows if holds(row) is True]
    short = kind not in ("row_count", "expression", "sql", "relationships") and chance.one_in(3)
    declared = {kind: {**parameters, "severity": "warn"}} if short else {"type": kind, **parameters, "severity": "warn"}
    return declared, count(looked_at)


def values_of(parents):
    return ", ".join(
        f"({'NULL' if p['k'] is None else p['k']}, {'NULL' if p['t'] is None else quoted(p['t'])})" for p in parents
    )


def outcomes(checks):
    return {check["name"]: (check["status"], check["failures"]) for check in checks}


@examples(14)
@given(data=st.data())
def test_05_2_checks_match_an_oracle(make_project, data):
    chance = Chance(data)
    rows = [{name: chance.one(DOMAINS[name]) for name in TYPES} for _ in range(chance.number(0, 6))]
    parents = [
        {"k": chance.one([None, 0, 1, 2]), "t": chance.one([None, "a", "it's", ""])} for _ in range(chance.number(1, 4))
    ]
    declared, expected = [], {}
    for number in range(10):
        check, failures = random_check(chance, rows, parents)
        (check if "type" in check else next(iter(check.values())))["name"] = f"c{number}"
        declared.append(check)
        expected[f"c{number}"] = ("failed" if failures else "passed", failures)

    header = {"interlace": {"materialise": chance.one(["virtual", "view"]), "checks": declared}}
    files = {
        "models/checked.sql": f"/* {json.dumps(header, ensure_ascii=False)} */\n{table_sql(rows)}\n",
        "models/parent.sql": f"SELECT k::BIGINT AS k, t::VARCHAR AS t FROM (VALUES {values_of(parents)}) v(k, t)\n",
    }
    project = make_project(files, name=f"checks{next(serial)}")
    note("\n".join(f"--- {name}\n{text}" for name, text in files.items()))
    found = outcomes(project.json("apply")["checks"])
    wrong = [
        (found.get(name), expected[name], declared[int(name[1:])])
        for name in expected
        if found.get(name) != expected[name]
    ]
    assert not wrong


# --- Several checks in one scan


def failing_check(chance, number):
    """One that the engine refuses, or that fails while it runs, on some rows at least."""
    declared = chance.one(
        [
            {"type": "expression", "expression": "nosuch > 1"},
            {"type": "expression", "expression": "CAST(s AS INTEGER) > 0"},
            {"type": "expression", "expression": "CAST(n AS UTINYINT) >= 0"},
            {"type": "not_null", "column": "nosuch"},
            {"type": "range", "column": "n", "min": 0, "where": "s = 1"},
            {"type": "accepted_values", "column": "d", "values": ["no date"]},
        ]
    )
    return {**declared, "severity": "warn", "name": f"c{number}"}


def recorded(project, model, count):
    """The newest outcomes of a model."""
    records = project.json("checks", "list", "--model", model, "--limit", count)
    return [(r["check_name"], r["status"], r["failures"]) for r in records]


@examples(5)
@given(data=st.data())
def test_05_3_checks_of_a_view_in_one_scan_come_out_as_those_of_a_table_one_by_one(make_project, data):
    chance = Chance(data)
    rows = [{name: chance.one(DOMAINS[name]) for name in TYPES} for _ in range(chance.number(0, 6))]
    declared = []
    for number in range(8):
        if chance.one_in(4):
            declared.append(failing_check(chance, number))
            continue
        check, _ = random_check(chance, rows, [{"k": 1, "t": "a"}])
        (check if "type" in check else next(iter(check.values())))["name"] = f"c{number}"
        declared.append(check)
    files = {
        f"models/{name}.sql": f"/* {json.dumps({'interlace': {'materialise': kind, 'checks': declared}})} */\nSELECT * FROM src"
        for name, kind in (("a_view", "view"), ("a_table", "virtual"))
    }
    files["models/src.sql"] = table_sql(rows)
    files["models/parent.sql"] = "SELECT 1::BIGINT AS k, 'a' AS t"
    project = make_project(files, name=f"scan{next(serial)}")
    note("\n".join(map(json.dumps, declared)) + "\n" + files["models/src.sql"])
    project.json("apply")
    one_by_one = recorded(project, "a_table", len(declared))
    assert len(one_by_one) == len(declared)
    assert recorded(project, "a_view", len(declared)) == one_by_one
    # Served ones: what a check costs is rolled back, and recorded as far as it went.
    for name in ("a_view", "a_table"):
        project.run("run", "-s", name)
    assert recorded(project, "a_view", 2 * len(declared)) == recorded(project, "a_table", 2 * len(declared))
    ad_hoc = {"a_view": [], "a_table": []}
    for check in project.run("checks", "run", "--json").json:
        ad_hoc[check["model"]].append((check["name"], check["status"], check["failures"]))
    assert ad_hoc["a_view"] == ad_hoc["a_table"] == one_by_one[::-1]
