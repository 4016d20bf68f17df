"""SQL type names, as `columns` declares them, as Arrow types: for outputs that have no types of their own."""

import re

import pyarrow as pa

from interlace.exceptions import DefinitionError

_SIMPLE = {
    **dict.fromkeys(("BOOLEAN", "BOOL", "LOGICAL"), pa.bool_()),
    **dict.fromkeys(("TINYINT", "INT1"), pa.int8()),
    **dict.fromkeys(("SMALLINT", "INT2", "SHORT"), pa.int16()),
    **dict.fromkeys(("INTEGER", "INT", "INT4", "SIGNED"), pa.int32()),
    **dict.fromkeys(("BIGINT", "INT8", "LONG"), pa.int64()),
    "UTINYINT": pa.uint8(),
    "USMALLINT": pa.uint16(),
    "UINTEGER": pa.uint32(),
    "UBIGINT": pa.uint64(),
    "HUGEINT": pa.decimal128(38, 0),
    **dict.fromkeys(("REAL", "FLOAT", "FLOAT4"), pa.float32()),
    **dict.fromkeys(("DOUBLE", "FLOAT8", "DOUBLE PRECISION"), pa.float64()),
    **dict.fromkeys(("VARCHAR", "TEXT", "STRING", "CHAR", "BPCHAR", "JSON", "UUID"), pa.string()),
    **dict.fromkeys(("BLOB", "BYTEA", "BINARY", "VARBINARY"), pa.binary()),
    "DATE": pa.date32(),
    "TIME": pa.time64("us"),
    **dict.fromkeys(("TIMESTAMP", "DATETIME", "TIMESTAMP WITHOUT TIME ZONE"), pa.timestamp("us")),
    "TIMESTAMP_S": pa.timestamp("s"),
    "TIMESTAMP_MS": pa.timestamp("ms"),
    "TIMESTAMP_NS": pa.timestamp("ns"),
    **dict.fromkeys(("TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE"), pa.timestamp("us", "UTC")),
    "INTERVAL": pa.duration("us"),
    **dict.fromkeys(("DECIMAL", "NUMERIC"), pa.decimal128(18, 3)),
}

_TOKEN = re.compile(r'\s*("(?:[^"]|"")*"|\d+|[A-Za-z_][A-Za-z0-9_]*|[(),\[\]])')


def arrow_type(text):
    """The Arrow type of a SQL type: `DECIMAL(18,2)`, `INTEGER[]`, `STRUCT(a INTEGER, b VARCHAR)`, …"""
    reader = _Reader(text)
    data_type = reader.read_type()
    if reader.peek() is not None:
        reader.fail()
    return data_type


class _Reader:
    def __init__(self, text):
        self.text = text
        self.tokens = _TOKEN.findall(text)
        self.position = 0
        if "".join(self.tokens) != re.sub(r"\s+(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)", "", text):
            self.fail()

    def fail(self):
        raise DefinitionError(f"columns: '{self.text}' is no type that rows can be converted to")

    def peek(self):
        return self.tokens[self.position] if self.position < len(self.tokens) else None

    def take(self, wanted=None):
        token = self.peek()
        if token is None or (wanted is not None and token != wanted):
            self.fail()
        self.position += 1
        return token

    def take_if(self, wanted):
        if self.peek() == wanted:
            self.position += 1
            return True
        return False

    def read_type(self):
        data_type = self._read_base()
        while self.take_if("["):
            size = self.take() if self.peek() != "]" else None
            self.take("]")
            data_type = pa.list_(data_type, int(size)) if size is not None else pa.list_(data_type)
        return data_type

    def _read_base(self):
        name = self._read_name()
        build = _BUILDERS.get(name)
        if build is not None and self.take_if("("):
            data_type = build(self)
            self.take(")")
            return data_type
        if name not in _SIMPLE:
            self.fail()
        return _SIMPLE[name]

    def _read_name(self):
        """One word, or several that are one type's name together."""
        words = [self.take().upper()]
        while (self.peek() or "").isidentifier() and " ".join([*words, self.peek().upper()]) in _NAME_STARTS:
            words.append(self.take().upper())
        return " ".join(words)

    def read_decimal(self):
        precision, scale = int(self.take()), 0
        if self.take_if(","):
            scale = int(self.take())
        return pa.decimal128(precision, scale)

    def read_length(self):
        self.take()
        return pa.string()

    def read_struct(self):
        fields = []
        while not fields or self.take_if(","):
            name = self.take()
            name = name[1:-1].replace('""', '"') if name.startswith('"') else name
            fields.append((name, self.read_type()))
        return pa.struct(fields)

    def read_map(self):
        key = self.read_type()
        self.take(",")
        return pa.map_(key, self.read_type())


_BUILDERS = {
    **dict.fromkeys(("DECIMAL", "NUMERIC"), _Reader.read_decimal),
    **dict.fromkeys(("VARCHAR", "CHAR", "BPCHAR", "TEXT", "STRING"), _Reader.read_length),
    **dict.fromkeys(("STRUCT", "ROW"), _Reader.read_struct),
    "MAP": _Reader.read_map,
}
_NAME_STARTS = {name[:end] for name in _SIMPLE for end in (*(i for i, c in enumerate(name) if c == " "), len(name))}
