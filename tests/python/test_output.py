"""What a model may return, and what arrives of it."""

import asyncio
import socket
import threading

import pyarrow as pa
import pytest
from interlace.exceptions import DefinitionError, ExecutionError
from interlace.runtime import output as output_module
from interlace.runtime.output import Output
from interlace.worker.calling import Call

BATCH = pa.record_batch({"id": [1, 2], "v": ["a", "b"]})
ROWS = [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}]
TYPED = {"id": "BIGINT", "v": "VARCHAR"}


class Reader:
    """Takes the other end of an output and reads it as the core does."""

    def __init__(self):
        self.sizes = []
        self.table = None
        self.is_broken = False
        self.thread = None

    def take(self, fd):
        import os

        sock = socket.socket(fileno=os.dup(fd))
        self.thread = threading.Thread(target=self._read, args=(sock,))
        self.thread.start()

    def _read(self, sock):
        with sock, sock.makefile("rb") as file:
            data = file.read()
        self.is_broken = not data.endswith(b"\xff\xff\xff\xff\0\0\0\0")
        if self.is_broken:
            return
        with pa.ipc.open_stream(data) as stream:
            batches = list(stream)
            self.table = pa.Table.from_batches(batches, stream.schema)
        self.sizes = [batch.num_rows for batch in batches]


def send(result, columns=None):
    """The rows that arrive of a result, as a table."""
    reader = Reader()
    output = Output(reader.take)
    try:
        output.write_all(result, columns)
    except BaseException:
        output.abandon()
        if reader.thread:
            reader.thread.join()
            assert reader.is_broken
        raise
    reader.thread.join()
    assert not reader.is_broken
    assert (output.rows, output.batches) == (reader.table.num_rows, len(reader.sizes))
    send.sizes = reader.sizes
    return reader.table


def call(function):
    """The rows that arrive of a call."""
    running = Call(function, {})
    try:
        return send(running.result)
    finally:
        running.close()


def frames():
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    duckdb = pytest.importorskip("duckdb")
    return {
        "pandas": pandas.DataFrame({"id": [1, 2], "v": ["a", "b"]}),
        "polars": polars.DataFrame({"id": [1, 2], "v": ["a", "b"]}),
        "duckdb": duckdb.sql("SELECT * FROM (VALUES (1::BIGINT, 'a'), (2, 'b')) t(id, v)"),
    }


class Capsule:
    def __init__(self, kind):
        self.kind = kind

    def __getattr__(self, name):
        if name == self.kind:
            source = pa.Table.from_batches([BATCH]) if name == "__arrow_c_stream__" else BATCH
            return getattr(source, name)
        raise AttributeError(name)


def generator_of_tables():
    yield pa.Table.from_batches([BATCH.slice(0, 1)])
    yield pa.Table.from_batches([BATCH.slice(1)])


async def asynchronous():
    await asyncio.sleep(0)
    return pa.Table.from_batches([BATCH])


async def asynchronous_generator():
    for start in (0, 1):
        await asyncio.sleep(0)
        yield BATCH.slice(start, 1)


async def asynchronous_giving_a_generator():
    return iter([BATCH])


CALLS = {
    "table": lambda: pa.Table.from_batches([BATCH]),
    "batch": lambda: BATCH,
    "reader": lambda: pa.RecordBatchReader.from_batches(BATCH.schema, [BATCH]),
    "list of batches": lambda: [BATCH.slice(0, 1), BATCH.slice(1)],
    "generator": lambda: (BATCH.slice(i, 1) for i in (0, 1)),
    "generator of tables": generator_of_tables,
    "async": asynchronous,
    "async generator": asynchronous_generator,
    "async of a generator": asynchronous_giving_a_generator,
    "stream": lambda: Capsule("__arrow_c_stream__"),
    "array": lambda: Capsule("__arrow_c_array__"),
    "pandas": lambda: frames()["pandas"],
    "polars": lambda: frames()["polars"],
    "duckdb": lambda: frames()["duckdb"],
}


@pytest.mark.parametrize("name", CALLS)
def test_whatever_may_be_returned_arrives(name):
    assert call(CALLS[name]).to_pylist() == ROWS


def test_lists_of_dicts_need_types():
    assert send(ROWS, TYPED).to_pylist() == ROWS
    assert send(iter([ROWS[:1], ROWS[1:]]), TYPED).to_pylist() == ROWS
    assert send([{"id": 1}], TYPED).to_pylist() == [{"id": 1, "v": None}]
    assert send([], TYPED).schema.names == ["id", "v"]
    for columns in (None, ["id", "v"], {"id": "BIGINT", "v": None}):
        with pytest.raises(DefinitionError, match="does not declare the type"):
            send(ROWS, columns)
    with pytest.raises(ExecutionError, match="row 2 has a column 'w'"):
        send([*ROWS[:1], {"w": 1}], TYPED)
    with pytest.raises(ExecutionError, match="batch 1: column 'id', row 1: a value does not fit its type int64"):
        send([{"id": "x"}], TYPED)
    many = [{"id": number} for number in range(10_002)]
    many[10_001] = {"id": "x"}
    for rows in (many, iter([many[:10_000], many[10_000:]])):
        with pytest.raises(ExecutionError, match="batch 2: column 'id', row") as caught:
            send(rows, TYPED)
        assert isinstance(caught.value.__cause__, pa.ArrowInvalid)
    with pytest.raises(ExecutionError, match="column 'id'"):
        send([{"id": 2**70}], TYPED)


REFUSED = [None, 5, "text", b"bytes", {"id": [1]}, object(), pa.array([1]), pa.chunked_array([[1]])]


@pytest.mark.parametrize("value", REFUSED, ids=lambda value: type(value).__name__)
def test_01_8_5_anything_else_is_refused_by_its_type(value):
    with pytest.raises(DefinitionError) as caught:
        send(value)
    name = "None" if value is None else type(value).__name__
    assert name in str(caught.value)
    with pytest.raises(DefinitionError):
        send(iter([value]))


def test_a_lazy_frame_is_refused_with_the_way_out():
    polars = pytest.importorskip("polars")
    with pytest.raises(DefinitionError, match="polars.LazyFrame") as caught:
        send(polars.LazyFrame({"id": [1]}))
    assert "collect" in caught.value.hint


@pytest.mark.parametrize("nothing", [iter(()), [], ()], ids=["iterator", "list", "tuple"])
def test_01_8_5_yielding_nothing_is_refused_unless_it_may(nothing):
    with pytest.raises(DefinitionError, match="yielded nothing") as caught:
        send(nothing)
    assert caught.value.code == "output.nothing"
    assert "yield one empty batch that has a schema" in caught.value.hint
    output = Output(None)
    output.write_all(nothing, None, may_be_nothing=True)
    assert (output.has_nothing, output.rows) == (True, 0)


def test_an_empty_batch_is_an_output():
    assert send(BATCH.slice(0, 0)).to_pylist() == []
    assert send(iter([BATCH.schema.empty_table()])).schema.names == ["id", "v"]


def test_a_pandas_index_is_a_column_only_when_it_has_a_name():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": [1, 2, 3]})
    assert send(frame[frame["id"] > 1]).schema.names == ["id"]
    assert send(frame.set_index(pandas.Index(["a", "b", "c"], name="key"))).schema.names == ["id", "key"]


# --- Later batches


def batches(*columns):
    return iter([pa.record_batch(column) for column in columns])


def test_columns_are_matched_by_name():
    second = pa.record_batch({"v": ["b"], "id": [2]})
    assert send(iter([BATCH.slice(0, 1), second])).to_pylist() == ROWS


@pytest.mark.parametrize(
    "first, second, expected",
    [
        (pa.array([1]), pa.array([2], pa.int32()), pa.int64()),
        (pa.array([1], pa.int32()), pa.array([2]), pa.int32()),
        (pa.array([1.5]), pa.array([2]), pa.float64()),
        (pa.array(["a"]), pa.array(["b"], pa.large_string()), pa.string()),
        (pa.array(["a"]), pa.array(["b"], pa.string_view()), pa.string()),
        (pa.array(["a"]).dictionary_encode(), pa.array(["b"]), pa.string()),
        (pa.array([1], pa.timestamp("us")), pa.array([2], pa.timestamp("ms")), pa.timestamp("us")),
        (pa.array([1]), pa.nulls(1), pa.int64()),
        (pa.nulls(1), pa.array([1]), pa.int64()),
        (pa.nulls(1), pa.nulls(1), pa.null()),
    ],
    ids=str,
)
def test_types_are_fitted_when_no_value_is_lost(first, second, expected):
    table = send(batches({"v": first}, {"v": second}))
    assert table.schema.field("v").type == expected
    assert table.num_rows == 2


@pytest.mark.parametrize(
    "first, second, message",
    [
        ([1], ["x"], "batch 2: column 'v' is string, but int64 in the first batch"),
        (["x"], [1], "batch 2: column 'v' is int64, but string in the first batch"),
        (pa.array([1], pa.int32()), [2**40], "batch 2: column 'v' is int64, but int32 in the first batch: "),
        ([1], [1.5], "batch 2: column 'v' is double, but int64 in the first batch: "),
        ([1], [True], "batch 2: column 'v' is bool"),
    ],
)
def test_other_differences_name_batch_column_and_types(first, second, message):
    with pytest.raises(ExecutionError) as caught:
        send(batches({"v": first}, {"v": second}))
    assert str(caught.value).startswith(message)


def test_other_columns_name_batch_and_column():
    with pytest.raises(ExecutionError, match="batch 3 lacks column 'id'"):
        send(iter([BATCH, BATCH, pa.record_batch({"v": ["a"]})]))
    with pytest.raises(ExecutionError, match="batch 2 has a column 'w'"):
        send(iter([BATCH, BATCH.append_column("w", pa.array([1, 2]))]))


def test_columns_without_values_wait_for_their_type():
    table = send(batches({"a": pa.nulls(2), "b": [1, 2]}, {"a": pa.nulls(1), "b": [3]}, {"a": ["x"], "b": [4]}))
    assert table.to_pydict() == {"a": [None, None, None, "x"], "b": [1, 2, 3, 4]}


def test_waiting_for_a_type_ends_somewhere(monkeypatch):
    monkeypatch.setattr(output_module, "_HELD_SIZE_MAX", 100)
    with pytest.raises(ExecutionError, match="batch 3: column 'a' is string, but null"):
        send(batches({"a": pa.nulls(99), "b": range(99)}, {"a": pa.nulls(99), "b": range(99)}, {"a": ["x"], "b": [4]}))


# --- Sizes


def test_large_batches_are_cut(monkeypatch):
    monkeypatch.setattr(output_module, "_SIZE_WANTED", 1 << 16)
    batch = pa.record_batch({"v": [str(number) * 20 for number in range(10_000)]})
    table = send(batch)
    assert table == pa.Table.from_batches([batch])
    assert len(send.sizes) > 10


def test_a_value_that_does_not_fit_names_its_column(monkeypatch):
    monkeypatch.setattr(output_module, "_SIZE_WANTED", 1 << 16)
    monkeypatch.setattr(output_module, "_MESSAGE_SIZE_MAX", 1 << 17)
    assert send(pa.record_batch({"v": ["x" * 100_000]})).num_rows == 1
    with pytest.raises(ExecutionError, match="column 'v' holds a value of"):
        send(pa.record_batch({"id": [1], "v": ["x" * 200_000]}))


def test_a_slice_sends_its_own_rows_only():
    batch = pa.record_batch({"v": ["x" * 1000] * 100_000})
    assert send(batch.slice(5, 2)).nbytes < 10_000


def test_a_failing_generator_is_closed_and_leaves_a_broken_stream():
    closed = []

    def rows():
        try:
            yield BATCH
            yield 5
        finally:
            closed.append(True)

    with pytest.raises(DefinitionError):
        call(rows)
    assert closed
