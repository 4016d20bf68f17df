"""spec 04 §6: the figures of a campaign's audit are those that plain Python counts in the rows of both sides.

One project serves all examples: its source tables are rewritten, built, rewritten again, and a campaign over them is
audited and discarded. The first rows of a key are what readers see, the second ones what the campaign makes."""

import collections
import datetime
import decimal

import pytest
from chance import Chance, examples
from hypothesis import given, note
from hypothesis import strategies as st

DAYS = [datetime.date(2026, 5, day) for day in range(1, 6)]  # the last one lies outside of the campaigns
RANGE = ("--start", "2026-05-01", "--end", "2026-05-05")
COLUMNS = {"id": "INTEGER", "part": "VARCHAR", "day": "DATE", "f": "DOUBLE", "d": "DECIMAL(9,2)", "t": "VARCHAR"}
KEYS = {"whole": (), "keyed": ("id", "part"), "windowed": (), "upserted": ("id",)}
HEADERS = {
    "whole": "{strategy: replace}",
    "keyed": "{strategy: replace, key: [id, part]}",
    "windowed": "{strategy: incremental, time_column: day, interval: 1d}",
    "upserted": "{strategy: incremental, time_column: day, interval: 1d, key: id}",
}


def random_row(chance, number):
    return {
        "id": number,
        "part": chance.one([None, "a", "b"]),
        "day": chance.one(DAYS),
        "f": chance.one([None, 0.0, 0.25, -1.5]),
        "d": chance.one([None, decimal.Decimal("0.10"), decimal.Decimal("2.00")]),
        "t": chance.one([None, "", "x"]),
    }


def random_rows(chance, name):
    """Keys are numbers that occur once; without a key rows repeat."""
    count = chance.number(0, 7)
    numbers = [chance.number(0, 2) for _ in range(count)] if not KEYS[name] else chance.some(range(9), count)
    rows = [random_row(chance, number) for number in numbers]
    if KEYS[name]:
        rows = [{**row, "part": row["part"] or "a"} for row in rows]
    return rows


def sql_value(value):
    if value is None:
        return "NULL"
    return f"'{value}'" if isinstance(value, str | datetime.date) else str(value)


def table_sql(name, rows):
    columns = ", ".join(f"{column} {type}" for column, type in COLUMNS.items())
    values = ", ".join("(" + ", ".join(sql_value(row[column]) for column in COLUMNS) + ")" for row in rows)
    return f"CREATE OR REPLACE TABLE {name}({columns});" + (f" INSERT INTO {name} VALUES {values};" if rows else "")


# --- The oracle


def inside(row):
    return row["day"] in DAYS[:4]


def sides(name, shown, made):
    """What is replaced, and what replaces it."""
    if name in ("whole", "keyed"):
        return shown, made
    new = [row for row in made if inside(row)]
    if name == "windowed":
        return [row for row in shown if inside(row)], new
    return [row for row in shown if row["id"] in {other["id"] for other in new}], new


def total(rows, column):
    values = [row[column] for row in rows if row[column] is not None]
    return float(sum(values)) if values else None


def expected_keys(name, old, new):
    if not KEYS[name]:
        left, right = (collections.Counter(tuple(row.values()) for row in rows) for rows in (old, new))
        return {"added": (right - left).total(), "removed": (left - right).total(), "changed": 0}
    left, right = ({tuple(row[key] for key in KEYS[name]): row for row in rows} for rows in (old, new))
    return {
        "added": len(right.keys() - left.keys()),
        "removed": len(left.keys() - right.keys()),
        "changed": sum(left[key] != right[key] for key in left.keys() & right.keys()),
    }


def expected_columns(name, old, new):
    left, right = ({tuple(row[key] for key in KEYS[name]): row for row in rows} for rows in (old, new))
    columns = {}
    for column in COLUMNS:
        is_number = column in ("id", "f", "d")
        changed = sum(left[key][column] != right[key][column] for key in left.keys() & right.keys())
        columns[column] = {
            "changed": changed if KEYS[name] and column not in KEYS[name] else None,
            "sum_old": total(old, column) if is_number else None,
            "sum_new": total(new, column) if is_number else None,
            "nulls_old": sum(row[column] is None for row in old),
            "nulls_new": sum(row[column] is None for row in new),
        }
    return columns


def expected_windows(old, new):
    days = sorted({row["day"] for row in old + new})
    counted = {}
    for day in days:
        left, right = ([row for row in rows if row["day"] == day] for rows in (old, new))
        counted[str(day)] = (len(left), len(right), total(left, "f"), total(right, "f"))
    return counted


# --- What is tried


@pytest.fixture(scope="module")
def project(project_class, tmp_path_factory):
    made = project_class(tmp_path_factory.mktemp("audit") / "p", {"INTERLACE_NOW": "2026-05-10T00:00:00Z"})
    made.write({"interlace.yaml": "name: audit\nattach: {src: data/src.duckdb}\n"})
    for name, header in HEADERS.items():
        made.write({f"models/{name}.sql": f"/* interlace: {header} */ SELECT * FROM src.{name}"})
        made.load(table_sql(name, []))
    made.ok("apply")
    return made


@examples(20)
@given(data=st.data())
def test_figures_of_an_audit_are_those_of_plain_python(project, data):
    chance = Chance(data)
    shown, made = ({name: random_rows(chance, name) for name in KEYS} for _ in range(2))
    note(f"shown: {shown}\nmade: {made}")
    project.load("".join(table_sql(name, rows) for name, rows in shown.items()))
    project.ok("reset", "--yes")
    project.ok("apply")
    project.ok("run", "--start", "2026-05-01", "--end", "2026-05-06")
    project.load("".join(table_sql(name, rows) for name, rows in made.items()))
    campaign = project.json("backfill", "start", "-s", "*", *RANGE)
    report = project.json("backfill", "audit", campaign["id"])
    project.ok("backfill", "discard", campaign["id"])
    assert [model["name"] for model in report["models"]] == sorted(KEYS)
    for model in report["models"]:
        name = model["name"]
        old, new = sides(name, shown[name], made[name])
        assert (model["rows"]["old"], model["rows"]["new"]) == (len(old), len(new)), name
        assert {key: model["keys"][key] for key in ("added", "removed", "changed")} == expected_keys(name, old, new), (
            name
        )
        for column, figures in expected_columns(name, old, new).items():
            assert {key: model["columns"][column][key] for key in figures} == figures, (name, column)
        windows = {
            window["window"]: (
                window["rows_old"],
                window["rows_new"],
                window["sums"]["f"]["old"],
                window["sums"]["f"]["new"],
            )
            for window in model["windows"]
        }
        assert windows == ({} if name in ("whole", "keyed") else expected_windows(old, new)), name
        if KEYS[name]:
            assert len(model["moved_keys"]) == min(10, sum(expected_keys(name, old, new).values())), name
