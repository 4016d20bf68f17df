"""What a model returned or yielded, as pieces: a schema with the record batches that follow it."""

import sys

import pyarrow as pa

from interlace.exceptions import DefinitionError, ExecutionError
from interlace.runtime.sql_types import arrow_type

_WANTED = (
    "a pyarrow.Table, RecordBatch or RecordBatchReader, a data frame, or a generator of these "
    "(or a list of dicts, when `columns` declares types)"
)
_ROWS_OF_DICTS = 10_000
_BAD_VALUE = "output.value"


class Piece:
    """A schema, and batches with it. There may be none: an empty table is a piece too."""

    def __init__(self, schema, batches):
        self.schema = schema
        self.batches = batches


def pieces(result, columns):
    """The pieces of a model's result, in order and lazily. DefinitionError when it is no result."""
    whole = piece_of(result, columns)
    if whole is not None:
        yield whole
        return
    if isinstance(result, (str, bytes, bytearray, dict)) or not hasattr(result, "__iter__"):
        raise _wrong("it returned", result)
    for number, item in enumerate(result, 1):
        piece = piece_of(item, columns)
        if piece is None:
            raise _wrong(f"item {number} of what it yields is", item)
        yield piece


def piece_of(value, columns):
    """The piece of one value; None when it is not tabular."""
    if isinstance(value, pa.RecordBatch):
        return Piece(value.schema, (value,))
    if isinstance(value, pa.Table):
        return Piece(value.schema, value.to_batches())
    if isinstance(value, pa.RecordBatchReader):
        return Piece(value.schema, value)
    if _is_pandas_frame(value):
        return piece_of(_from_pandas(value), columns)
    if hasattr(value, "__arrow_c_stream__"):
        reader = _imported(pa.RecordBatchReader.from_stream, value)
        return Piece(reader.schema, reader)
    if hasattr(value, "__arrow_c_array__"):
        return piece_of(_imported(pa.record_batch, value), columns)
    if isinstance(value, list) and _is_list_of_dicts(value, columns):
        return _from_dicts(value, columns)
    return None


def _is_list_of_dicts(value, columns):
    """An empty list is one when its columns are known; else it is an iterable that yields nothing."""
    return isinstance(value[0], dict) if value else _declares_types(columns)


def _wrong(what, value):
    hint = "call .collect() on it" if type(value).__name__ == "LazyFrame" else ""
    if value is None:
        hint = "perhaps a `return` is missing; to empty the table, return a table without rows"
    return DefinitionError(f"{what} {_type_name(value)}; wanted is {_WANTED}", code="output.type", hint=hint)


def _type_name(value):
    if value is None:
        return "None"
    name = type(value).__qualname__
    module = type(value).__module__.split(".")[0]
    return f"a {name}" if module == "builtins" else f"a {module}.{name}"


def _imported(take, value):
    try:
        return take(value)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, ValueError) as failure:
        raise DefinitionError(
            f"it gave {_type_name(value)}, which is no table: {failure}", code="output.type"
        ) from failure


def _is_pandas_frame(value):
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.DataFrame)


def _from_pandas(frame):
    """An index with a name is a column; one without is only the numbering of the rows."""
    has_named_index = any(name is not None for name in frame.index.names)
    try:
        return pa.Table.from_pandas(frame, preserve_index=has_named_index)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as failure:
        raise ExecutionError(f"the data frame has no Arrow form: {failure}") from failure


def _from_dicts(rows, columns):
    schema = _declared_schema(columns)
    starts = range(0, len(rows), _ROWS_OF_DICTS)
    return Piece(schema, (_dict_batch(rows[start : start + _ROWS_OF_DICTS], start, schema) for start in starts))


def _declares_types(columns):
    return isinstance(columns, dict) and bool(columns) and None not in columns.values()


def _declared_schema(columns):
    if not _declares_types(columns):
        raise DefinitionError(
            "it gave a list of dicts, but `columns` does not declare the type of every column",
            code="output.type",
            hint='for example columns={"id": "BIGINT", "name": "VARCHAR"}',
        )
    return pa.schema([(name, arrow_type(text)) for name, text in columns.items()])


def _dict_batch(rows, first, schema):
    names = set(schema.names)
    for number, row in enumerate(rows, first + 1):
        unknown = next((name for name in row if name not in names), None) if isinstance(row, dict) else None
        if not isinstance(row, dict):
            raise DefinitionError(f"row {number} of the list is {_type_name(row)}, not a dict", code="output.type")
        if unknown is not None:
            raise ExecutionError(f"row {number} has a column '{unknown}' that `columns` does not declare")
    arrays = [_dict_column(rows, first, field) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _dict_column(rows, first, field):
    values = [row.get(field.name) for row in rows]
    try:
        return pa.array(values, field.type)
    except _CAST_ERRORS as failure:
        number = first + _first_that_fails(values, field.type) + 1
        raise ExecutionError(
            f"column '{field.name}', row {number}: a value does not fit its type {field.type}: {failure}",
            code=_BAD_VALUE,
        ) from failure


_CAST_ERRORS = (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, ValueError, TypeError)


def _first_that_fails(values, data_type):
    for index, value in enumerate(values):
        try:
            pa.array([value], data_type)
        except _CAST_ERRORS:
            return index
    return 0


def numbered_batches(result, columns):
    """(number of the batch, schema, batch or None) for all pieces; None: a piece without batches."""
    number = 1
    for piece in pieces(result, columns):
        batches = iter(piece.batches)
        batch = _next_batch(batches, number)
        yield number, piece.schema, batch
        number += 1
        while batch is not None and (batch := _next_batch(batches, number)) is not None:
            yield number, piece.schema, batch
            number += 1


def _next_batch(batches, number):
    """The next one, or None; a value that does not fit is told with the number of its batch."""
    try:
        return next(batches, None)
    except ExecutionError as failure:
        if failure.code != _BAD_VALUE:
            raise
        raise ExecutionError(f"batch {number}: {failure}", code=_BAD_VALUE) from failure.__cause__
