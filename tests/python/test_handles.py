"""Handles on upstreams: read once, streaming, and never quietly short."""

import socket
import threading

import pyarrow as pa
import pytest
from interlace.exceptions import DefinitionError, ExecutionError
from interlace.runtime.handles import RelationHandle

TABLE = pa.table({"id": range(10_000), "v": [str(number) for number in range(10_000)]})


def sender(table, sock, cut, chunk):
    data = pa.BufferOutputStream()
    with pa.ipc.new_stream(data, table.schema) as writer:
        writer.write_table(table, max_chunksize=chunk)
    with sock:
        sock.sendall(data.getvalue().to_pybytes()[:cut])


def handle(table=TABLE, cut=None, chunk=2048):
    """A handle on a stream that another thread writes; with `cut`, only its first bytes."""
    opened = []

    def open_socket(name):
        assert not opened, "asked for twice"
        opened.append(name)
        ours, theirs = socket.socketpair()
        threading.Thread(target=sender, args=(table, theirs, cut, chunk), daemon=True).start()
        return ours

    made = RelationHandle("orders", open_socket)
    made.opened = opened
    return made


def test_nothing_is_asked_for_before_the_first_use():
    made = handle()
    assert made.opened == []
    assert made.name == "orders"
    assert made.schema == TABLE.schema
    assert made.opened == ["orders"]


def test_all_ways_of_reading_give_all_rows():
    assert handle().table() == TABLE
    assert pa.Table.from_batches(list(handle().reader())) == TABLE
    assert pa.RecordBatchReader.from_stream(handle()).read_all() == TABLE
    assert handle().table().schema == TABLE.schema


def test_data_frames():
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    assert handle().pandas()["id"].sum() == 49_995_000
    assert handle().polars()["id"].sum() == 49_995_000


def test_small_batches_are_joined():
    rows = pa.table({"id": range(40_000)})
    assert [batch.num_rows for batch in handle(rows).reader()] == [16_384, 16_384, 7_232]


def test_large_batches_are_left_alone():
    rows = pa.table({"id": range(5), "v": ["x" * 3_000_000] * 5})
    assert [batch.num_rows for batch in handle(rows, chunk=1).reader()] == [1] * 5


def test_empty_relations_have_a_schema():
    empty = TABLE.schema.empty_table()
    made = handle(empty)
    assert made.schema == empty.schema
    assert made.table() == empty


@pytest.mark.parametrize("first", ["table", "reader", "pandas", "close"])
@pytest.mark.parametrize("second", ["table", "reader", "schema"])
def test_a_second_read_is_refused(first, second):
    made = handle()
    getattr(made, first)()
    with pytest.raises(DefinitionError, match="upstream 'orders' has been read already"):
        result = getattr(made, second)
        result()


def end_of_messages():
    data = pa.BufferOutputStream()
    with pa.ipc.new_stream(data, TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=2048)
    return data.getvalue().size


@pytest.mark.parametrize("back", [8, 9, 1000, 100_000, None])
def test_a_stream_that_ends_early_is_never_taken_for_a_whole_one(back):
    made = handle(cut=0 if back is None else end_of_messages() - back)
    with pytest.raises(ExecutionError, match="the rows of upstream 'orders' ended early"):
        made.table()


def test_closing_frees_the_socket():
    made = handle()
    next(iter(made.reader()))
    made.close()
    made.close()
    assert made._file.closed


# --- Some of the rows


def test_some_columns():
    assert handle().select("v", "id").table() == TABLE.select(["v", "id"])
    assert handle().select(["v"]).schema.names == ["v"]
    made = handle().select("nope")
    with pytest.raises(DefinitionError, match="upstream 'orders' has no column 'nope'; it has id, v"):
        made.table()


def test_a_query_over_the_rows():
    pytest.importorskip("duckdb")
    assert handle().where("id >= 9998").table().to_pydict() == {"id": [9998, 9999], "v": ["9998", "9999"]}
    total = handle().select("id").where("id < 10").sql("SELECT sum(id)::BIGINT AS s FROM this")
    assert total.schema.names == ["s"]
    assert total.table().to_pydict() == {"s": [45]}
    assert handle().duckdb().aggregate("count(*) AS n").fetchall() == [(10_000,)]
    assert pa.RecordBatchReader.from_stream(handle().where("true")).read_all().num_rows == 10_000


def part_handle():
    """A handle whose rows come in parts; `asked` has what was asked for."""
    asked = []

    def open_part(name, columns, predicate):
        asked.append((columns, predicate))
        rows = TABLE.slice(0, 10)
        return handle(rows if columns is None else rows.select(columns))._open_socket(name)

    made = RelationHandle("orders", None, open_part)
    made.asked = asked
    return made


@pytest.mark.parametrize(
    ("make", "asked"),
    [
        (lambda rows: rows.select("v"), (["v"], None)),
        (lambda rows: rows.select(["v", "id"]).where("id < 10"), (["v", "id"], "id < 10")),
        (lambda rows: rows.where("id < 10").select("v"), (["v"], "id < 10")),
        (lambda rows: rows.where("id < 10 -- ten").where("true"), (None, "(id < 10 -- ten\n) AND (true\n)")),
    ],
)
def test_parts_are_asked_for(make, asked):
    made = part_handle()
    assert make(made).table().num_rows == 10
    assert made.asked == [asked]
    with pytest.raises(DefinitionError, match="upstream 'orders' has been read already"):
        made.where("true").table()


@pytest.mark.parametrize(
    "ask",
    [
        lambda rows: rows.where("id IN (SELECT 1)"),
        lambda rows: rows.where("id IN (FROM range(1, 2))"),
        lambda rows: (rows.schema, rows.where("id = 1"))[1],
    ],
)
def test_what_the_warehouse_cannot_know_is_done_here(ask):
    pytest.importorskip("duckdb")
    made = handle()
    made._open_part = lambda *part: pytest.fail(f"asked for {part}")
    assert ask(made).table()["id"].to_pylist() == [1]


def test_several_queries_run_side_by_side():
    pytest.importorskip("duckdb")
    first, second = (handle().where(f"id % 2 = {rest}").reader() for rest in (0, 1))
    head = first.read_next_batch()
    assert second.read_all().num_rows == 5000
    assert head.num_rows + first.read_all().num_rows == 5000


def test_a_part_is_read_once_and_its_whole_with_it():
    pytest.importorskip("duckdb")
    made = handle()
    part = made.where("id = 1")
    assert part.table().num_rows == 1
    with pytest.raises(DefinitionError, match="these rows of upstream 'orders' have been read already"):
        part.table()
    with pytest.raises(DefinitionError, match="upstream 'orders' has been read already"):
        made.table()


def test_a_part_of_a_stream_that_ends_early_is_no_whole():
    pytest.importorskip("duckdb")
    for part in (handle(cut=end_of_messages() - 9).select("id"), handle(cut=end_of_messages() - 9).where("true")):
        with pytest.raises(Exception, match="ended early"):
            part.table()
