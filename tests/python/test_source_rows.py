"""Records of an API as Arrow batches."""

import datetime
import decimal

import pyarrow as pa
import pytest
from interlace.sources import batches, to_batch


def test_keys_are_columns_in_the_order_they_came():
    batch = to_batch([{"a": 1}, {"b": "x", "a": None}])
    assert batch.schema.names == ["a", "b"]
    assert batch.to_pylist() == [{"a": 1, "b": None}, {"a": None, "b": "x"}]


def test_columns_keeps_these_keys():
    assert to_batch([{"a": 1, "b": 2}], columns=["b", "c"]).to_pylist() == [{"b": 2, "c": None}]


SCHEMA = pa.schema(
    [
        ("n", pa.int32()),
        ("d", pa.decimal128(38, 2)),
        ("s", pa.string()),
        ("t", pa.timestamp("us")),
        ("z", pa.timestamp("us", "UTC")),
        ("day", pa.date32()),
    ]
)


def test_a_schema_pins_types():
    record = {
        "n": 1,
        "d": 12345678901234567890,
        "s": {"a": 1},
        "t": "2026-01-02T03:04:05",
        "z": "2026-01-02T03:04:05Z",
        "day": "2026-01-02",
    }
    batch = to_batch([record, {}], schema=SCHEMA)
    assert batch.schema == SCHEMA
    first = batch.to_pylist()[0]
    assert first["d"] == decimal.Decimal("12345678901234567890")
    assert first["s"] == '{"a": 1}'
    assert first["t"] == datetime.datetime(2026, 1, 2, 3, 4, 5)
    assert first["z"].timestamp() == 1767323045
    assert first["day"] == datetime.date(2026, 1, 2)
    assert set(batch.to_pylist()[1].values()) == {None}
    assert to_batch([record], schema=SCHEMA, columns=["day", "n"]).schema.names == ["day", "n"]


def test_numbers_as_texts_keep_all_digits():
    schema = pa.schema([("v", pa.string())])
    assert to_batch([{"v": 2**70}, {"v": True}, {"v": 1.5}], schema=schema).column("v").to_pylist() == [
        str(2**70),
        "true",
        "1.5",
    ]


@pytest.mark.parametrize(
    "records, schema, message",
    [
        ([], None, "give `schema`"),
        ([{"v": 1}, {"v": "x"}], None, "column 'v' has no one type"),
        ([{"v": 2**70}], None, "column 'v' has no one type"),
        ([{"v": "x"}], pa.schema([("v", pa.int64())]), "column 'v': a value does not fit its type int64"),
        ([{"v": [1]}], pa.schema([("v", pa.int64())]), "column 'v': a value does not fit its type int64"),
    ],
)
def test_what_does_not_fit_names_the_column(records, schema, message):
    with pytest.raises(ValueError, match=message):
        to_batch(records, schema=schema)


def test_pages_become_batches():
    pages = [[{"a": 1}], [], [{"a": 2}, {"a": 3}]]
    assert [batch.num_rows for batch in batches(iter(pages))] == [1, 2]
    assert [batch.num_rows for batch in batches(iter(pages), schema=pa.schema([("a", pa.int64())]))] == [1, 0, 2]
    assert list(batches([[]])) == []


def test_duplicates_go_over_all_pages():
    pages = [[{"a": 1, "v": "x"}, {"a": 1, "v": "y"}], [{"a": 1, "v": "z"}, {"a": 2, "v": "w"}]]
    kept = [row["v"] for batch in batches(pages, dedupe="a") for row in batch.to_pylist()]
    assert kept == ["x", "w"]
    assert sum(batch.num_rows for batch in batches(pages, dedupe=["a", "v"])) == 4


def test_nested_records_become_columns():
    record = {"id": 1, "user": {"login": "x", "plan": {"name": "p"}}, "tags": [1], "none": {}}
    assert to_batch([record], flatten=True, columns=["id", "user_login", "user_plan_name", "tags"]).to_pylist() == [
        {"id": 1, "user_login": "x", "user_plan_name": "p", "tags": [1]}
    ]
