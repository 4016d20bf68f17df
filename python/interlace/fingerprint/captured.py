"""Values that a function carries besides its source, as one JSON text: defaults that are no literals, closure cells,
and project variables and environment variables that its code names.

Plain data counts by value, exactly; functions and classes of the project by their source; anything else by the name of
its type, never by its text, which may hold an address.
"""

import ast
import datetime
import decimal
import hashlib
import json
import os
import types

from interlace import _variables
from interlace.exceptions import DefinitionError

_VALUE_DEPTH_MAX = 50


def captured(fn, reached, form_of, environment=(), bound=()):
    """The JSON text for `fn`. `form_of` gives the canonical form of other code; `environment` names variables that the
    model declares to read (`env`); `bound` are values that functools.partial holds."""
    encoder = _Encoder(form_of)
    facts = {
        "bound": encoder.items(bound),
        "closure": encoder.closure(fn),
        "defaults": encoder.defaults(fn),
        "env": {name: _digest(os.environ.get(name)) for name in environment},
        "vars": {name: encoder.encode(value) for name, value in _variables_read(reached).items()},
    }
    facts = {name: values for name, values in facts.items() if values}
    return json.dumps(facts, sort_keys=True, separators=(",", ":")) if facts else ""


class _Encoder:
    def __init__(self, form_of):
        self.form_of = form_of
        self.open = []  # functions and containers that are being encoded: a cycle ends there

    def closure(self, fn):
        """Values of the closure cells of a function, by name."""
        names = fn.__code__.co_freevars
        return {name: self._cell(cell) for name, cell in zip(names, fn.__closure__ or (), strict=True)}

    def defaults(self, fn):
        """Values of the parameters' defaults that are not literals in the source, by name."""
        code = fn.__code__
        positional = code.co_varnames[: code.co_argcount]
        values = dict(zip(reversed(positional), reversed(fn.__defaults__ or ()), strict=False))
        values.update(fn.__kwdefaults__ or {})
        literal = _literal_defaults(fn, self.form_of)
        return {name: self.encode(value) for name, value in values.items() if name not in literal}

    def _cell(self, cell):
        try:
            return self.encode(cell.cell_contents)
        except ValueError:
            return ["unset"]

    def encode(self, value):
        """`value` as JSON in which equal JSON means an equal value of an equal type."""
        if value is None or type(value) in (bool, str):
            return value
        base = next((cls for cls in type(value).__mro__ if cls in _ENCODERS), None)
        if base is None:
            return ["type", _type_name(value)]
        encoded = self._nested(_ENCODERS[base], value)
        return encoded if base is type(value) else ["type", _type_name(value), encoded]

    def _nested(self, encode, value):
        if any(value is other for other in self.open):
            return ["cycle"]
        if len(self.open) >= _VALUE_DEPTH_MAX:
            raise DefinitionError(f"a captured value is nested deeper than {_VALUE_DEPTH_MAX} levels")
        self.open.append(value)
        try:
            return encode(self, value)
        finally:
            self.open.pop()

    def items(self, values):
        """Each value of a sequence."""
        return [self.encode(item) for item in values]

    def unordered(self, values):
        """Each value of a set, in an order that does not depend on hashes."""
        return sorted(self.items(values), key=lambda item: json.dumps(item, sort_keys=True))

    def function(self, fn):
        """A function: its source with all it reaches, and what it captured in turn."""
        form = self.form_of.function_form(fn)
        if form is None:
            return ["function", f"{fn.__module__}.{fn.__qualname__}"]
        return ["function", form, self.closure(fn), self.defaults(fn)]

    def method(self, method):
        """A bound method: its function, and its object."""
        return ["method", self.encode(method.__func__), self.encode(method.__self__)]

    def module(self, module):
        """A module: the file of the project, else its name."""
        return ["module", self.form_of.module_form(module) or module.__name__]

    def cls(self, cls):
        """A class: its source when it is of the project, else its name."""
        return ["class", self.form_of.class_form(cls) or f"{cls.__module__}.{cls.__qualname__}"]


_ENCODERS = {
    bool: lambda encoder, value: value,
    str: lambda encoder, value: str(value),
    int: lambda encoder, value: ["int", hex(value)],
    float: lambda encoder, value: ["float", value.hex()],
    complex: lambda encoder, value: ["complex", value.real.hex(), value.imag.hex()],
    bytes: lambda encoder, value: ["bytes", value.hex()],
    bytearray: lambda encoder, value: ["bytearray", value.hex()],
    decimal.Decimal: lambda encoder, value: ["decimal", str(value)],
    datetime.date: lambda encoder, value: ["date", value.isoformat()],
    datetime.datetime: lambda encoder, value: ["datetime", value.isoformat()],
    datetime.time: lambda encoder, value: ["time", value.isoformat()],
    datetime.timedelta: lambda encoder, value: ["timedelta", value.days, value.seconds, value.microseconds],
    list: lambda encoder, value: ["list", encoder.items(value)],
    tuple: lambda encoder, value: ["tuple", encoder.items(value)],
    set: lambda encoder, value: ["set", encoder.unordered(value)],
    frozenset: lambda encoder, value: ["frozenset", encoder.unordered(value)],
    dict: lambda encoder, value: ["dict", [encoder.items(entry) for entry in value.items()]],
    types.FunctionType: lambda encoder, value: encoder.function(value),
    types.MethodType: lambda encoder, value: encoder.method(value),
    types.ModuleType: lambda encoder, value: encoder.module(value),
    type: lambda encoder, value: encoder.cls(value),
}


def _type_name(value):
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _digest(value):
    """Of an environment variable: it may be a secret."""
    return None if value is None else hashlib.sha256(value.encode("utf-8", "surrogateescape")).hexdigest()


def _literal_defaults(fn, form_of):
    """Names of the parameters whose default is a literal in the source, hence in the canonical form already."""
    node = form_of.node(fn)
    if node is None:
        return frozenset()
    arguments = node.args
    positional = arguments.posonlyargs + arguments.args
    pairs = list(zip(reversed(positional), reversed(arguments.defaults), strict=False))
    pairs += zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return frozenset(argument.arg for argument, default in pairs if default is not None and _is_literal(default))


def _is_literal(node):
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _variables_read(reached):
    """The project variables that the reached code reads: by literal name, else all of them."""
    found = {}
    for file, node in reached.nodes:
        for call in ast.walk(node):
            if isinstance(call, ast.Call) and file.is_interlace(call.func, ("var",)):
                found.update(_named_variables(call))
    return found


def _named_variables(call):
    names = [argument for argument in call.args] + [keyword.value for keyword in call.keywords]
    if len(names) == 1 and isinstance(names[0], ast.Constant) and isinstance(names[0].value, str):
        _variables.check_known(names[0].value)
        return {names[0].value: _variables.all_values()[names[0].value]}
    return _variables.all_values()
