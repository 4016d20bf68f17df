"""spec 07 §6 and 06 §4 query: the rows of a SELECT over the views are those of the engine, cell by cell, in each format."""

import json
import math

import duckdb
import pytest
from chance import Chance, examples
from conftest import Project
from hypothesis import given, note
from hypothesis import strategies as st

SAFE_INTEGER = 2**53 - 1
COLUMNS = {
    "id": ("INTEGER", ["1", "2", "3", "4"]),
    "tiny": ("TINYINT", ["-128", "127", "NULL"]),
    "utiny": ("UTINYINT", ["255", "0"]),
    "small": ("SMALLINT", ["-32768", "NULL"]),
    "big": ("BIGINT", ["9007199254740991", "-9007199254740991", "9007199254740992", "-9223372036854775808", "0"]),
    "ubig": ("UBIGINT", ["18446744073709551615", "9007199254740993", "7"]),
    "huge": ("HUGEINT", ["170141183460469231731687303715884105727", "-9007199254740992", "5", "NULL"]),
    "uhuge": ("UHUGEINT", ["340282366920938463463374607431768211455", "1"]),
    "real_": ("REAL", ["0.1", "-0.0", "3.4e38", "'nan'", "'inf'", "1e-45"]),
    "double_": ("DOUBLE", ["0.1", "1e300", "5e-324", "'-inf'", "'nan'", "-0.0", "123456789012345680", "NULL", "1e15", "2"]),
    "dec": ("DECIMAL(18,3)", ["1.500", "-0.001", "123456789012345.678", "NULL"]),
    "dec0": ("DECIMAL(38,0)", ["99999999999999999999999999999999999999", "3"]),
    "bool_": ("BOOLEAN", ["true", "false", "NULL"]),
    "text_": (
        "VARCHAR",
        ["''", "'a'", "'NULL'", "'it''s'", "'a,b'", "'\"q\"'", "'line' || chr(10) || 'two'", "chr(13)", "'ü–😀'", "chr(27) || '[31m'",
         "'\\\\x'", "chr(9)", "' '", "NULL", "'true'", "'\\u0041'", "chr(1)", "chr(127)", "'a' || chr(0) || 'b'"],
    ),  # fmt: skip
    "blob_": ("BLOB", ["'\\x00\\xFF'::BLOB", "''::BLOB", "'abc'::BLOB", "NULL"]),
    "date_": ("DATE", ["'2020-02-29'", "'0044-03-15 (BC)'", "'infinity'", "'9999-12-31'", "NULL"]),
    "time_": ("TIME", ["'23:59:59.999999'", "'00:00:00'", "'24:00:00'"]),
    "ts": ("TIMESTAMP", ["'2020-02-29 12:00:00'", "'1969-12-31 23:59:59.5'", "'-infinity'", "NULL"]),
    "ts_ns": ("TIMESTAMP_NS", ["'2020-01-01 00:00:00.123456789'", "NULL"]),
    "ts_s": ("TIMESTAMP_S", ["'2020-01-01 00:00:01'"]),
    "tstz": ("TIMESTAMPTZ", ["'2020-02-29 12:00:00+02'", "NULL"]),
    "interval_": ("INTERVAL", ["'1 year 2 months 3 days 4.5 seconds'", "'-1 day'", "'0 days'", "NULL"]),
    "uuid_": ("UUID", ["'00000000-0000-0000-0000-000000000001'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'", "NULL"]),
    "list_": ("INTEGER[]", ["[1, NULL, 3]", "[]", "NULL"]),
    "array_": ("INTEGER[2]", ["[1, 2]", "NULL"]),
    "texts": ("VARCHAR[]", ["['a', 'b, c', '', NULL, 'it''s']", "['[', '\"']"]),
    "struct_": ("STRUCT(a INTEGER, \"b c\" VARCHAR)", ["{'a': 1, 'b c': 'x'}", "{'a': NULL, 'b c': NULL}", "NULL"]),
    "map_": ("MAP(VARCHAR, INTEGER)", ["MAP {'k': 1, '': NULL}", "MAP {}"]),
    "union_": ("UNION(num INTEGER, str VARCHAR)", ["union_value(num := 1)", "union_value(str := 'one')", "NULL"]),
    "enum_": ("ENUM('x', 'y z', '')", ["'x'", "'y z'", "''", "NULL"]),
    "bit_": ("BIT", ["'010'", "'1'", "NULL"]),
    "json_": ("JSON", ["'{\"a\": [1, null]}'", "'null'", "NULL"]),
    "bignum_": ("BIGNUM", ["'123456789012345678901234567890123456789012345678901234567890'", "'-1'", "NULL"]),
    "timetz": ("TIMETZ", ["'12:00:00+02'", "NULL"]),
    "Mixed \"Name\"": ("INTEGER", ["1", "NULL"]),
}  # fmt: skip
INTEGERS = {
    "TINYINT",
    "UTINYINT",
    "SMALLINT",
    "USMALLINT",
    "INTEGER",
    "UINTEGER",
    "BIGINT",
    "UBIGINT",
    "HUGEINT",
    "UHUGEINT",
}


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def wide_sql():
    """As many rows as the longest list has values; the others begin again."""
    count = max(len(values) for _, values in COLUMNS.values())
    rows = []
    for i in range(count):
        cells = [
            f"CAST({values[i % len(values)]} AS {kind})" + (f" AS {quoted(name)}" if i == 0 else "")
            for name, (kind, values) in COLUMNS.items()
        ]
        rows.append("SELECT " + ", ".join(cells))
    return "\nUNION ALL ".join(rows)


MODELS = {
    "wide": wide_sql(),
    "mart.lean": "SELECT id, double_, text_, big FROM wide WHERE id > 1",
    "numbers": "SELECT i, i % 7 AS k, 'n' || i AS t FROM range(2000) r(i)",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    shop = Project(tmp_path_factory.mktemp("property_query") / "shop")
    shop.write({f"models/{name.replace('.', '/')}.sql": sql for name, sql in MODELS.items()})
    shop.write({"models/mart/lean.sql": "/* interlace: {materialise: view} */ " + MODELS["mart.lean"]})
    shop.ok("apply")
    return shop


@pytest.fixture(scope="module")
def engine():
    connection = duckdb.connect(":memory:", config={"threads": 1})
    connection.execute("SET TimeZone = 'UTC'; CREATE SCHEMA mart")
    for name, sql in MODELS.items():
        connection.execute(f"CREATE TABLE {name} AS {sql}")
    return connection


# --- Random queries whose rows have one order only


def random_expression(chance):
    return chance.one(
        [
            "big + 0", "id * 1.5", "huge", "1 / 3", "1::DOUBLE / 3", "sqrt(id)", "double_ * 0", "text_ || 'x'", "[text_]",
            "{'n': double_, 'd': dec}", "{'b': blob_}", "date_ IS NULL", "CASE WHEN id > 2 THEN big END", "id::UBIGINT", "MAP {id: text_}",
            "ts::DATE", "bool_ AND id > 1", "NULL", "'x'", "-1", "list_value(ts, NULL)", "[blob_]", "[interval_]", "strlen(text_)",
            "real_ + 1", "dec * 2", "dec0", "tiny::HUGEINT * 9007199254740993", "list_[1]", "struct_.a", "json_", "ts + interval_", "[tstz]",
        ]
    )  # fmt: skip


def random_query(chance):
    pick = chance.number(0, 5)
    if pick <= 2:
        names = chance.some(COLUMNS, 1, 6)
        items = [quoted(name) for name in names] + [random_expression(chance) for _ in range(chance.number(0, 3))]
        where = chance.one(["", "", " WHERE id > 1", " WHERE text_ IS NOT NULL", " WHERE false", " WHERE double_ > 0"])
        star = chance.one(["", "", "", "*, "])
        source = chance.one(["wide", "main.wide", "WIDE", '"wide"', "wide AS w"])
        return f"SELECT {star}{', '.join(items)} FROM {source}{where}"
    if pick == 3:
        return chance.one(
            [
                "SELECT k, count(*), sum(i), avg(i), min(t) FROM numbers GROUP BY k ORDER BY k",
                "SELECT * FROM numbers ORDER BY i DESC LIMIT 5",
                "WITH wide AS (SELECT 1 AS id) SELECT * FROM wide",
                "SELECT id FROM mart.lean UNION ALL SELECT 7",
                "VALUES (1, 'a'), (NULL, '')",
                "FROM numbers WHERE i < 3",
                "SELECT i AS a, i AS a, i FROM numbers WHERE i < 2",
                'SELECT unnest([1, 2]), \'x\' AS """"',
                "SELECT sum(big), max(uhuge), list(id) FROM wide",
                "SELECT (SELECT count(*) FROM mart.lean) AS n, EXISTS (SELECT 1 FROM numbers WHERE i = 5) AS e",
                "SELECT l.id, n.t FROM mart.lean l JOIN numbers n ON n.i = l.id ORDER BY ALL",
                "SELECT * FROM range(3) -- three",
            ]
        )
    if pick == 4:
        return f"SELECT DISTINCT {quoted(chance.one(COLUMNS))} AS c FROM wide ORDER BY c"
    return f"SELECT id, big, text_, double_ FROM mart.lean WHERE id < {chance.number(0, 5)}"


# --- What the cells must be


def expected_cells(engine, sql):
    """Column names, and each cell as it must stand in JSON; all from the texts that the engine casts values to."""
    relation = engine.sql(f"SELECT * FROM ({sql}\n)")  # makes names unique
    kinds = [str(kind) for kind in relation.types]
    casts = [
        f"'\\x' || lower(hex(c{i}))" if kind == "BLOB" else f"CAST(c{i} AS VARCHAR)" for i, kind in enumerate(kinds)
    ]
    aliases = ", ".join(f"c{i}" for i in range(len(kinds)))
    texts = engine.execute(f"SELECT {', '.join(casts)} FROM ({sql}\n) AS t({aliases})").fetchall()
    return relation.columns, [[expected_cell(*pair) for pair in zip(kinds, row, strict=True)] for row in texts]


def expected_cell(kind, text):
    if text is None:
        return None
    if kind == "BOOLEAN":
        return text == "true"
    if kind in INTEGERS:
        return int(text) if abs(int(text)) <= SAFE_INTEGER else text
    if kind in ("FLOAT", "DOUBLE") and math.isfinite(float(text)):
        return float(text)
    return text


def same(found, expected):
    if isinstance(expected, float):
        return (
            isinstance(found, int | float)
            and not isinstance(found, bool)
            and float(found) == expected
            and math.copysign(1, found) == math.copysign(1, expected)
        )
    return type(found) is type(expected) and found == expected


def csv_fields(text):
    """RFC 4180, with None for an empty field that is not quoted."""
    rows, row, field, is_quoted, at = [], [], "", False, 0
    while at < len(text):
        c = text[at]
        if c == '"' and not field and not is_quoted:
            is_quoted, at = True, at + 1
            while not (text[at] == '"' and text[at + 1 : at + 2] != '"'):
                at += 2 if text[at : at + 2] == '""' else 1
                field += text[at - 1]
        elif c in ",\n":
            row.append(field if field or is_quoted else None)
            field, is_quoted = "", False
            if c == "\n":
                rows.append(row)
                row = []
        else:
            field += c
        at += 1
    assert not row and not field
    return rows


def same_text(found, expected):
    if expected is None or found is None:
        return found is expected
    if isinstance(expected, float):
        return float(found) == expected
    text = str(expected).lower() if isinstance(expected, bool) else str(expected)
    return found == text.replace("\r\n", "\n").replace("\r", "\n")  # as stdout is read here


@examples(12)
@given(data=st.data())
def test_07_6_query_results_match_duckdb(shop, engine, data):
    chance = Chance(data)
    for _ in range(4):
        sql = random_query(chance)
        limit = chance.one([10000, 10000, chance.number(1, 5)])
        note(f"{sql}\nlimit {limit}")
        names, rows = expected_cells(engine, sql)
        if chance.one_in(3):
            found = csv_fields(shop.ok("query", sql, "--limit", limit, "--format", "csv").stdout)
            assert len(found) == 1 + min(limit, len(rows))
            assert found[0] == names
            wrong = [
                (f, e)
                for got, want in zip(found[1:], rows, strict=False)
                for f, e in zip(got, want, strict=True)
                if not same_text(f, e)
            ]
        else:
            result = json.loads(shop.ok("query", sql, "--limit", limit, "--json").stdout)
            assert result["columns"] == names
            assert len(result["rows"]) == min(limit, len(rows))
            assert result["truncated"] == (len(rows) > limit)
            wrong = [
                (f, e)
                for got, want in zip(result["rows"], rows, strict=False)
                for f, e in zip(got, want, strict=True)
                if not same(f, e)
            ]
        assert not wrong
