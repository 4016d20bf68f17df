"""SQL types of `columns` as Arrow types."""

import pyarrow as pa
import pytest
from interlace.exceptions import DefinitionError
from interlace.runtime.sql_types import arrow_type


@pytest.mark.parametrize(
    "text, expected",
    [
        ("BIGINT", pa.int64()),
        ("integer", pa.int32()),
        ("DECIMAL(18, 2)", pa.decimal128(18, 2)),
        ("NUMERIC(5)", pa.decimal128(5, 0)),
        ("VARCHAR(20)", pa.string()),
        ("double precision", pa.float64()),
        ("TIMESTAMP", pa.timestamp("us")),
        ("TIMESTAMP WITH TIME ZONE", pa.timestamp("us", "UTC")),
        ("TIMESTAMPTZ", pa.timestamp("us", "UTC")),
        ("INTEGER[]", pa.list_(pa.int32())),
        ("INTEGER[3]", pa.list_(pa.int32(), 3)),
        ("VARCHAR[][]", pa.list_(pa.list_(pa.string()))),
        ("STRUCT(a INTEGER, b VARCHAR[])", pa.struct({"a": pa.int32(), "b": pa.list_(pa.string())})),
        ('STRUCT("a b" INT, "c""d" INT)', pa.struct({"a b": pa.int32(), 'c"d': pa.int32()})),
        ("MAP(VARCHAR, STRUCT(x DOUBLE))", pa.map_(pa.string(), pa.struct({"x": pa.float64()}))),
    ],
)
def test_types_are_read(text, expected):
    assert arrow_type(text) == expected


@pytest.mark.parametrize(
    "text", ["", "NUMBER", "INT)", "INT[", "STRUCT()", "STRUCT(a)", "DECIMAL(", "MAP(INT)", "INT; DROP", "a b"]
)
def test_other_texts_are_refused(text):
    with pytest.raises(DefinitionError, match="is no type"):
        arrow_type(text)
