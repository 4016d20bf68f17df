"""The handle on an upstream's rows that a model gets as a parameter."""

import io
import re

from interlace.exceptions import DefinitionError, ExecutionError
from interlace.runtime.rows import Columns, Derived, Query, Rows, flattened
from interlace.runtime.stream_file import SocketReader

_READ_BUFFER = 1 << 18
_ROWS_JOINED = 1 << 14
_BYTES_NOT_JOINED = 2 << 20
# Such a predicate may read the scratch database, which the warehouse does not know.
_READS_TABLES = re.compile(r"\b(select|table)\b|\(\s*from\b", re.IGNORECASE)


class RelationHandle(Rows):
    """Rows of one upstream, read once: as a stream of batches in bounded memory (`reader`) or whole (`table`).

    Nothing is asked of the warehouse before the first use. A handle stays valid until the model's output is complete.
    """

    def __init__(self, name, open_socket, open_part=None):
        self.name = name
        self._open_socket = open_socket  # gives the socket that carries the rows
        self._open_part = open_part  # the same for some columns and a predicate; None: only all rows can be had
        self._file = None
        self._stream = None  # pyarrow's stream reader, once opened
        self._is_read = False

    def __repr__(self):
        return f"<RelationHandle '{self.name}'>"

    @property
    def schema(self):
        """The pyarrow schema; to be asked before the rows are read."""
        self._refuse_second_use("its schema")
        return self._opened().schema

    def reader(self):
        """A pyarrow.RecordBatchReader over all rows."""
        import pyarrow

        stream = self._begin_read()
        return pyarrow.RecordBatchReader.from_batches(stream.schema, self._joined_batches(stream))

    def table(self):
        """All rows as one pyarrow.Table."""
        import pyarrow

        stream = self._begin_read()
        return pyarrow.Table.from_batches(list(self._joined_batches(stream)), stream.schema)

    def select(self, *columns):
        """Only these columns, in this order. The warehouse gives no others."""
        return _Part(self).select(*columns)

    def where(self, predicate):
        """Only the rows for which a predicate of DuckDB's SQL holds. The warehouse gives no others."""
        return _Part(self).where(predicate)

    def part_reader(self, columns, predicate):
        """A reader over the rows for which the predicate holds, of them these columns; None: all."""
        if self._may_ask_for(columns, predicate):
            open_part = self._open_part
            self._open_socket = lambda name: open_part(name, columns, predicate)
            return self.reader()
        rows = self if predicate is None else Query(self, f"SELECT * FROM this WHERE {predicate}")
        return rows.reader() if columns is None else Columns(rows, columns).reader()

    def _may_ask_for(self, columns, predicate):
        is_fresh = self._open_part is not None and self._stream is None and not self._is_read
        is_plain = predicate is None or not _READS_TABLES.search(predicate)
        return is_fresh and is_plain and (columns is None or 0 < len(columns) == len(set(columns)))

    def close(self):
        """Gives the rows up. Done for all handles when the model has ended."""
        self._is_read = True
        self._open_socket = None
        if self._file is not None:
            self._file.close()

    def _refuse_second_use(self, what):
        if self._is_read:
            raise DefinitionError(
                f"upstream '{self.name}' has been read already: {what} cannot be had a second time",
                code="handle.second_read",
                hint="keep what the first read gave, for example `rows = handle.table()`",
            )

    def _begin_read(self):
        self._refuse_second_use("its rows")
        stream = self._opened()
        self._is_read = True
        return stream

    def _opened(self):
        if self._stream is None:
            import pyarrow

            self._file = io.BufferedReader(SocketReader(self._open_socket(self.name)), _READ_BUFFER)
            try:
                self._stream = pyarrow.ipc.open_stream(self._file)
            except pyarrow.ArrowInvalid as failure:
                raise self._broken() from failure
        return self._stream

    def _joined_batches(self, stream):
        """The batches, small neighbours joined: user code that loops over them pays for each one. Only a few at a time,
        since what is in the processor's cache is cheaper to join than to fetch."""
        group, rows = [], 0
        for batch in self._batches(stream):
            if not group and (batch.num_rows >= _ROWS_JOINED or batch.nbytes >= _BYTES_NOT_JOINED):
                yield batch
                continue
            group.append(batch)
            rows += batch.num_rows
            if rows >= _ROWS_JOINED:
                yield _join(group)
                group, rows = [], 0
        if group:
            yield _join(group)

    def _batches(self, stream):
        import pyarrow

        try:
            yield from stream
        except (pyarrow.ArrowInvalid, OSError) as failure:
            raise self._broken() from failure
        if self._file.raw.at_end:
            raise self._broken()
        self._file.close()

    def _broken(self):
        """The core closed the stream early; it knows why and reports that in place of this."""
        return ExecutionError(f"the rows of upstream '{self.name}' ended early", code="input.broken")


class _Part(Derived):
    """Some columns and rows of a handle, which are asked for when they are read."""

    def __init__(self, source, columns=None, predicate=None):
        super().__init__(source)
        self._columns = columns
        self._predicate = predicate

    def select(self, *columns):
        if self._columns is not None or self._reader is not None:
            return super().select(*columns)
        return _Part(self._source, flattened(columns), self._predicate)

    def where(self, predicate):
        if self._reader is not None:
            return super().where(predicate)
        both = predicate if self._predicate is None else f"({self._predicate}\n) AND ({predicate}\n)"
        return _Part(self._source, self._columns, both)

    def _open(self):
        return self._source.part_reader(self._columns, self._predicate)


def _join(batches):
    import pyarrow

    if len(batches) > 1:
        joined = pyarrow.Table.from_batches(batches).combine_chunks().to_batches()
        return joined[0] if joined else batches[0]
    return batches[0]
