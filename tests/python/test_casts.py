"""Types that do not travel are cast before they are sent; values stay."""

import decimal

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from interlace.exceptions import ExecutionError
from interlace.runtime.casts import cast_column, wire_schema, wire_type

D = decimal.Decimal
TEXTS = ["a", None, "c"]

COLUMNS = {
    "string view": (pa.array(TEXTS, pa.string_view()), pa.string()),
    "binary view": (pa.array([b"a", None, b"c"], pa.binary_view()), pa.binary()),
    "list view": (pa.array([[1], None, [2, 3]], pa.list_view(pa.int32())), pa.list_(pa.int32())),
    "large list view": (pa.array([[1], None, []], pa.large_list_view(pa.int8())), pa.large_list(pa.int8())),
    "runs": (pc.run_end_encode(pa.array(["x", "x", None])), pa.string()),
    "half": (pa.array([1.5, None, 2], pa.float16()), pa.float32()),
    "decimal256": (pa.array([D("1.5"), None, D("2.5")], pa.decimal256(50, 2)), pa.decimal128(38, 2)),
    "short decimal256": (pa.array([D("1.5"), None, D("2.5")], pa.decimal256(20, 2)), pa.decimal128(20, 2)),
    "dictionary": (pa.array(TEXTS).dictionary_encode(), pa.string()),
    "dictionary of numbers": (pa.array([1, None, 2]).dictionary_encode(), pa.int64()),
    "uuid": (pa.array([b"0" * 16, None, b"1" * 16], pa.uuid()), pa.uuid()),
    "bool8": (pa.array([1, None, 0], pa.int8()).cast(pa.bool8()), pa.bool_()),
    "null": (pa.nulls(3), pa.null()),
    "large string": (pa.array(TEXTS, pa.large_string()), pa.large_string()),
    "time": (pa.array([1, None, 3], pa.time32("ms")), pa.time32("ms")),
    "list of views": (pa.array([["a"], None, ["b", None]], pa.list_(pa.string_view())), pa.list_(pa.string())),
    "list view of views": (pa.array([["a"], None, []], pa.list_view(pa.string_view())), pa.list_(pa.string())),
    "map of views": (
        pa.array([[("a", "b")], None, []], pa.map_(pa.string_view(), pa.string_view())),
        pa.map_(pa.string(), pa.string()),
    ),
    "pairs of views": (
        pa.array([["a", "b"], None, ["c", "d"]], pa.list_(pa.string_view(), 2)),
        pa.list_(pa.string(), 2),
    ),
    "struct": (
        pa.StructArray.from_arrays(
            [pa.array(["a", "b", "a"]).dictionary_encode(), pa.array(TEXTS, pa.string_view())],
            names=["x", "y"],
            mask=pa.array([False, True, False]),
        ),
        pa.struct({"x": pa.string(), "y": pa.string()}),
    ),
    "list of runs": (
        pa.ListArray.from_arrays(pa.array([0, 1, None, 2], pa.int32()), pc.run_end_encode(pa.array(["x", "x"]))),
        pa.list_(pa.string()),
    ),
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("start, length", [(0, 3), (1, 2), (1, 1), (2, 1), (0, 0)])
def test_values_stay(name, start, length):
    column, expected = COLUMNS[name]
    column = column.slice(start, length)
    target = wire_type(column.type, name)
    assert target == expected
    cast = cast_column(column, target, name)
    cast.validate(full=True)
    assert cast.type == expected
    assert cast.to_pylist() == column.to_pylist()


def test_unions_are_sent_sparse_or_not_at_all():
    parts = [pa.array([1, 2]), pa.array(["a", "b"])]
    sparse = pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), parts)
    assert wire_type(sparse.type, "u") == sparse.type
    dense = pa.UnionArray.from_dense(pa.array([0, 1], pa.int8()), pa.array([0, 0], pa.int32()), parts)
    with pytest.raises(ExecutionError, match="column 'u': type dense_union"):
        wire_type(dense.type, "u")
    with pytest.raises(ExecutionError, match="column 'u'"):
        wire_type(pa.list_(dense.type), "u")


def test_a_decimal_that_is_too_large_names_its_column():
    column = pa.array([D(10) ** 45], pa.decimal256(50, 0))
    with pytest.raises(ExecutionError, match="column 'big': decimal256"):
        cast_column(column, wire_type(column.type, "big"), "big")


def test_an_unknown_extension_is_sent_as_its_storage():
    class Money(pa.ExtensionType):
        def __init__(self):
            super().__init__(pa.int64(), "test.money")

        def __arrow_ext_serialize__(self):
            return b""

    column = pa.ExtensionArray.from_storage(Money(), pa.array([1, None]))
    assert wire_type(column.type, "m") == pa.int64()
    assert cast_column(column, pa.int64(), "m").to_pylist() == [1, None]


def test_metadata_of_libraries_does_not_travel():
    schema = pa.schema([pa.field("a", pa.int64(), nullable=False)], metadata={"pandas": "…"})
    assert wire_schema(schema).metadata is None
