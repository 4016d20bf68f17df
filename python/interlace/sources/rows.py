"""Records, as JSON has them, as Arrow batches."""

import decimal
import json


def to_batch(records, *, columns=None, schema=None, flatten=False):
    """A pyarrow.RecordBatch of dicts. `columns` keeps these keys only, `schema` pins types; a missing key is null.

    With `flatten` a nested `{"user": {"login": …}}` is a column `user_login`.
    """
    import pyarrow as pa

    records = [_flat(record) for record in records] if flatten else list(records)
    if not records and schema is None:
        raise ValueError("there are no records, so their types are not known: give `schema`")
    if schema is None:
        names = list(columns) if columns is not None else list(dict.fromkeys(key for row in records for key in row))
        return pa.RecordBatch.from_arrays([_inferred(records, name) for name in names], names=names)
    fields = [schema.field(name) for name in columns] if columns is not None else list(schema)
    arrays = [_pinned(records, field) for field in fields]
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def batches(pages, *, columns=None, schema=None, flatten=False, dedupe=None):
    """A batch for each page that has records; with `schema` also for those that have none.

    `dedupe` names the key columns: of records with equal ones the first is kept, over all pages.
    """
    seen = set()
    for page in pages:
        records = [_flat(record) for record in page] if flatten else list(page)
        if dedupe is not None:
            records = list(_unseen(records, [dedupe] if isinstance(dedupe, str) else list(dedupe), seen))
        if records or schema is not None:
            yield to_batch(records, columns=columns, schema=schema)


def _unseen(records, key, seen):
    for record in records:
        identity = json.dumps([record.get(name) for name in key], sort_keys=True, default=str)
        if identity not in seen:
            seen.add(identity)
            yield record


def _flat(record, prefix=""):
    flat = {}
    for name, value in record.items():
        if isinstance(value, dict) and value:
            flat.update(_flat(value, f"{prefix}{name}_"))
        else:
            flat[prefix + name] = value
    return flat


def _inferred(records, name):
    import pyarrow as pa

    values = [record.get(name) for record in records]
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as failure:
        raise ValueError(f"column '{name}' has no one type: {failure}; pin it with `schema`") from failure


def _pinned(records, field):
    import pyarrow as pa

    values = [_fitting(record.get(field.name), field.type) for record in records]
    try:
        return pa.array(values, field.type)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, TypeError, ValueError):
        pass
    try:  # dates and numbers are often written as texts
        return pa.array(values, pa.string()).cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError) as failure:
        raise ValueError(f"column '{field.name}': a value does not fit its type {field.type}: {failure}") from failure


def _fitting(value, data_type):
    """The value as its type wants it, where JSON has another one."""
    import pyarrow as pa

    if value is None:
        return None
    if pa.types.is_string(data_type) or pa.types.is_large_string(data_type):
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    if pa.types.is_decimal(data_type) and isinstance(value, (int, float, str)) and not isinstance(value, bool):
        try:
            return decimal.Decimal(str(value))
        except decimal.InvalidOperation:
            return value
    return value
