"""The schema of a model's output: that of its first batch. Later batches are fitted to it, by the names of columns."""

import pyarrow as pa

from interlace.exceptions import ExecutionError
from interlace.runtime.casts import cast_column

_NUMBERS = ("is_integer", "is_floating", "is_decimal")
# Types of one family may be cast when no value is lost; across families a difference is a mistake.
_FAMILIES = (
    _NUMBERS,
    ("is_string", "is_large_string"),
    ("is_binary", "is_large_binary", "is_fixed_size_binary"),
    ("is_date",),
    ("is_time",),
    ("is_timestamp",),
    ("is_duration",),
    ("is_list", "is_large_list", "is_fixed_size_list"),
    ("is_struct",),
    ("is_map",),
)


def has_untyped(schema):
    """True when a column had nothing but nulls so far, so that its type is not known yet."""
    return any(pa.types.is_null(field.type) for field in schema)


def with_types_of(schema, later, number):
    """`schema` with the types of `later` for the columns whose type is not known yet."""
    check_names(schema, later, number)
    return pa.schema(
        [
            field if not pa.types.is_null(field.type) else field.with_type(later.field(field.name).type)
            for field in schema
        ]
    )


def fit(batch, schema, number):
    """`batch` with exactly the columns and types of `schema`. ExecutionError naming batch, column and both types."""
    if batch.schema.equals(schema):
        return batch
    check_names(schema, batch.schema, number)
    columns = [_fit_column(batch.column(field.name), field, number) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def check_names(schema, later, number):
    """Both must have the same set of columns."""
    missing = [name for name in schema.names if name not in later.names]
    unknown = [name for name in later.names if name not in schema.names]
    if missing or unknown:
        what = f"lacks column '{missing[0]}'" if missing else f"has a column '{unknown[0]}' that the first one lacks"
        raise ExecutionError(f"batch {number} {what}", code="output.columns")


def _fit_column(column, field, number):
    if column.type == field.type:
        return column
    if not _may_cast(column.type, field.type):
        raise _mismatch(column, field, number, "")
    try:
        return cast_column(column, field.type, field.name)
    except ExecutionError as failure:
        raise _mismatch(column, field, number, f": {failure.__cause__}") from failure


def _mismatch(column, field, number, why):
    return ExecutionError(
        f"batch {number}: column '{field.name}' is {column.type}, but {field.type} in the first batch{why}",
        code="output.types",
    )


def _may_cast(given, wanted):
    if pa.types.is_null(given):
        return True
    return any(_is_in(given, family) and _is_in(wanted, family) for family in _FAMILIES)


def _is_in(data_type, family):
    return any(getattr(pa.types, name)(data_type) for name in family)
