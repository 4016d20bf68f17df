"""Sends a model's output to the core as one Arrow stream.

The stream is opened when the schema is known. Batch by batch, what the function gives is cast to types that travel, cut
to a size that the core takes, and written; the write waits while the core is behind. Only a whole output gets the end
marker.
"""

import io
import socket

import pyarrow as pa

from interlace.exceptions import DefinitionError, ExecutionError
from interlace.runtime.casts import cast_column, wire_schema
from interlace.runtime.output_schema import fit, has_untyped, with_types_of
from interlace.runtime.pieces import numbered_batches
from interlace.runtime.stream_file import SocketWriter

_WRITE_BUFFER = 1 << 18
_MESSAGE_SIZE_MAX = (64 << 20) - 4096  # the core refuses larger bodies
_SIZE_WANTED = 16 << 20  # then no column of a batch has more values than the core takes, not even booleans
_ROWS_WANTED = 1 << 24
_HELD_SIZE_MAX = 16 << 20  # batches that wait for the type of a column that was all null so far


class Output:
    """The output of one task. `send_fd` hands the reading end of the stream to the core."""

    def __init__(self, send_fd):
        self._send_fd = send_fd
        self._socket = None
        self._file = None
        self._writer = None
        self._schema = None
        self._given, self._wire = None, None  # the last batch's schema, and what it is sent as
        self._held = []  # (number, batch) before the stream is open
        self.rows = 0
        self.batches = 0
        self.has_nothing = False  # nothing was given, and that was allowed: then no stream was opened

    def write_all(self, result, columns, may_be_nothing=False):
        """Writes all that the function gave. On an exception call `abandon`."""
        for number, schema, batch in numbered_batches(result, columns):
            if self._given is None or not schema.equals(self._given, check_metadata=True):
                self._given, self._wire = schema, wire_schema(schema)
            self._write(number, self._wire, batch)
        if self._schema is None and may_be_nothing:
            self.has_nothing = True
            return
        if self._schema is None:
            raise DefinitionError(
                "it yielded nothing, not even a schema",
                code="output.nothing",
                hint="to say that there are no rows, yield one empty batch that has a schema",
            )
        self._open()
        self._writer.close()
        self._file.flush()
        self._socket.close()

    def abandon(self):
        """Breaks the stream off: without end marker the core takes no row of it."""
        if self._socket is not None:
            self._socket.close()

    def _write(self, number, schema, batch):
        if self._schema is None:
            self._schema = schema
        if self._writer is None:
            self._schema = with_types_of(self._schema, schema, number)
        if batch is not None:
            self._held.append((number, _as_sent(batch, schema)))
        if self._writer is not None or self._may_open():
            self._open()
            self._write_held()

    def _may_open(self):
        """True when the schema is settled, or enough was held in the hope that it will be."""
        held_size = sum(held.nbytes for _, held in self._held)
        return not has_untyped(self._schema) or held_size > _HELD_SIZE_MAX

    def _open(self):
        """Opens the stream, once; what was held goes first."""
        if self._writer is None:
            self._socket, theirs = socket.socketpair()
            with theirs:
                self._send_fd(theirs.fileno())
            self._file = io.BufferedWriter(SocketWriter(self._socket), _WRITE_BUFFER)
            self._writer = pa.ipc.new_stream(self._file, self._schema)
            self._write_held()
            self._file.flush()

    def _write_held(self):
        held, self._held = self._held, []
        for number, batch in held:
            self._send(fit(batch, self._schema, number))

    def _send(self, batch):
        for part in _parts(batch):
            self._writer.write_batch(part)
            self._file.flush()
            self.rows += part.num_rows
            self.batches += 1


def _as_sent(batch, schema):
    if batch.schema.equals(schema, check_metadata=True):
        return batch
    columns = [cast_column(batch.column(index), field.type, field.name) for index, field in enumerate(schema)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _parts(batch):
    """The batch in slices of a size that travels."""
    if batch.num_rows <= _ROWS_WANTED and _message_size(batch) <= _SIZE_WANTED:
        yield batch
    elif batch.num_rows > 1:
        middle = batch.num_rows // 2
        yield from _parts(batch.slice(0, middle))
        yield from _parts(batch.slice(middle))
    elif _message_size(batch) <= _MESSAGE_SIZE_MAX:
        yield batch
    else:
        raise _too_large(batch)


def _message_size(batch):
    """Its size when it is sent; without measuring for those that are surely small enough."""
    size = batch.nbytes
    return size if size <= _SIZE_WANTED // 2 else pa.ipc.get_record_batch_size(batch)


def _too_large(batch):
    largest = max(batch.schema.names, key=lambda name: batch.column(name).nbytes)
    size = batch.column(largest).nbytes >> 20
    return ExecutionError(f"column '{largest}' holds a value of {size} MiB; at most 63 MiB fit into one row")
