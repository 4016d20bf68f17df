"""Arrow types that do not travel, and what they are sent as. The core's decoder and the engine know the plain layouts
only; everything else is cast here, before it is sent."""

import pyarrow as pa

from interlace.exceptions import ExecutionError

_KEPT_EXTENSIONS = frozenset(("arrow.uuid", "arrow.json"))


def wire_type(data_type, column):
    """The type that a column's values are sent as. ExecutionError naming `column` when there is none."""
    for matches, convert in _RULES:
        if matches(data_type):
            return convert(data_type, column)
    return data_type


def wire_schema(schema):
    """The schema that batches of `schema` are sent with: without metadata of other libraries."""
    _refuse_odd_columns(schema)
    fields = [pa.field(field.name, wire_type(field.type, field.name), field.nullable) for field in schema]
    return pa.schema(fields)


def cast_column(column, target, name):
    """A column as its wire type."""
    if column.type == target:
        return column
    try:
        return _cast(column, target)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as failure:
        raise ExecutionError(f"column '{name}': {column.type} cannot be sent as {target}: {failure}") from failure


def _cast(column, target):
    if isinstance(column.type, pa.RunEndEncodedType):
        column = _compute().run_end_decode(column)
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.storage
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if column.type == target:
        return column
    rebuild = next((rebuild for matches, rebuild in _REBUILDERS if matches(column.type)), None)
    return rebuild(column, target) if rebuild is not None else column.cast(target)


def _compute():
    """Its import takes a fifth of a worker's start, and few columns need it."""
    import pyarrow.compute

    return pyarrow.compute


def _rebuild_struct(column, target):
    fields = [_cast(child, target.field(index).type) for index, child in enumerate(_children(column))]
    return pa.StructArray.from_arrays(fields, fields=list(target), mask=column.is_null())


def _children(column):
    """The children of a struct as they lie below its offset, with nulls of their own only."""
    return [column.field(index) for index in range(column.type.num_fields)]


def _rebuild_list(column, target):
    """From the values in order and the lengths: also for list views, whose lists may lie in any order."""
    pc = _compute()
    offset_type = pa.int32() if pa.types.is_list(target) else pa.int64()
    lengths = pc.fill_null(pc.list_value_length(column), 0).cast(pa.int64())
    ends = pc.cumulative_sum(lengths).cast(offset_type)
    offsets = pa.concat_arrays([pa.array([0], offset_type), ends])
    if column.null_count > 0:  # a null offset stands for a null list
        is_null = pa.concat_arrays([column.is_null(), pa.array([False])])
        offsets = pc.if_else(is_null, pa.scalar(None, offset_type), offsets)
    build = pa.ListArray if pa.types.is_list(target) else pa.LargeListArray
    return build.from_arrays(offsets, _cast(column.flatten(), target.value_type), type=target)


def _is(*names):
    """A predicate over types by names in pyarrow.types; a name that an older pyarrow lacks matches nothing."""
    predicates = [getattr(pa.types, name) for name in names if hasattr(pa.types, name)]
    return lambda data_type: any(predicate(data_type) for predicate in predicates)


_is_list = _is("is_list", "is_list_view", "is_large_list", "is_large_list_view")
_REBUILDERS = ((_is("is_struct"), _rebuild_struct), (_is_list, _rebuild_list))


def _refuse_odd_columns(schema):
    if len(schema) == 0:
        raise ExecutionError("the output has no columns")
    seen = set()
    for name in schema.names:
        if name in seen:
            raise ExecutionError(f"the output has two columns called '{name}'")
        seen.add(name)


def _refuse(data_type, column):
    raise ExecutionError(
        f"column '{column}': type {data_type} cannot be stored",
        hint="use a struct, or one column for each kind of value",
    )


def _decimal256(data_type, column):
    if data_type.precision <= 38:
        return pa.decimal128(data_type.precision, data_type.scale)
    return pa.decimal128(38, data_type.scale)


def _extension(data_type, column):
    name = getattr(data_type, "extension_name", "")
    if name == "arrow.bool8":
        return pa.bool_()
    return data_type if name in _KEPT_EXTENSIONS else wire_type(data_type.storage_type, column)


def _struct(data_type, column):
    return pa.struct([_wire_field(field, column) for field in data_type])


def _map(data_type, column):
    return pa.map_(wire_type(data_type.key_type, column), wire_type(data_type.item_type, column))


def _wire_field(field, column):
    return field.with_type(wire_type(field.type, column))


def _union(data_type, column):
    if data_type.mode == "dense":
        _refuse(data_type, column)
    return data_type


# First match holds; a type without a rule travels as it is.
_RULES = (
    (lambda data_type: isinstance(data_type, pa.BaseExtensionType), _extension),
    (_is("is_dictionary"), lambda data_type, column: wire_type(data_type.value_type, column)),
    (_is("is_run_end_encoded"), lambda data_type, column: wire_type(data_type.value_type, column)),
    (_is("is_string_view"), lambda data_type, column: pa.string()),
    (_is("is_binary_view"), lambda data_type, column: pa.binary()),
    (_is("is_float16"), lambda data_type, column: pa.float32()),
    (_is("is_decimal256"), _decimal256),
    (_is("is_union"), _union),
    (_is("is_struct"), _struct),
    (_is("is_map"), _map),
    (_is("is_list", "is_list_view"), lambda data_type, column: pa.list_(_wire_field(data_type.value_field, column))),
    (
        _is("is_large_list", "is_large_list_view"),
        lambda data_type, column: pa.large_list(_wire_field(data_type.value_field, column)),
    ),
    (
        _is("is_fixed_size_list"),
        lambda data_type, column: pa.list_(_wire_field(data_type.value_field, column), data_type.list_size),
    ),
)
