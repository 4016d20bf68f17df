"""A syntax tree as text that is the same for the same code under every supported Python.

`(Kind field=value …)`, fields by name, empty ones left out: a field that a newer Python adds shows only when it is
used. Positions, comments, docstrings, quotes and the way a literal was written do not show.
"""

import ast
import json

# ctx follows from the place, kind is the `u` of u"", type_comment is a comment.
_SILENT_FIELDS = frozenset(("ctx", "kind", "type_comment"))
_WITH_DOCSTRING = (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def serialize(node, skipped=frozenset(), without=()):
    """Text of `node`. Nodes whose id is in `skipped` are left out, and so are the top node's fields in `without`."""
    parts = [type(node).__name__]
    for field in sorted(node._fields):
        if field in _SILENT_FIELDS or field in without:
            continue
        text = _field(node, field, skipped)
        if text:
            parts.append(f"{field}={text}")
    return f"({' '.join(parts)})"


def _field(node, field, skipped):
    value = getattr(node, field, None)
    if isinstance(node, ast.Constant) and field == "value":
        return constant(value)
    if field == "body" and isinstance(node, _WITH_DOCSTRING):
        value = _without_docstring(value)
    elif field == "values" and isinstance(node, ast.JoinedStr):
        value = _joined(value)
    if value is None or value == []:
        return ""
    if isinstance(value, list):
        kept = [_item(item, skipped) for item in value if id(item) not in skipped]
        return f"[{' '.join(kept)}]" if kept else ""
    if field == "format_spec" and not _joined(value.values):
        return ""
    return _item(value, skipped)


def _item(value, skipped):
    if isinstance(value, ast.AST):
        return serialize(value, skipped)
    return "None" if value is None else constant(value)


def constant(value):
    """A literal's value as text, exact and with its type."""
    if value is None or value is Ellipsis or isinstance(value, bool):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, bytes):
        return f"b{value.hex()}"
    if isinstance(value, int):
        return hex(value)
    return repr(value)  # float, complex: the shortest text that gives the same number


def _without_docstring(body):
    first = body[0] if body else None
    is_docstring = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    return body[1:] if is_docstring else body


def _joined(values):
    """The parts of an f-string, with neighbouring texts joined: versions of Python split them differently."""
    joined = []
    for value in values:
        is_text = isinstance(value, ast.Constant) and isinstance(value.value, str)
        if is_text and joined and isinstance(joined[-1], ast.Constant):
            joined[-1] = ast.Constant(joined[-1].value + value.value)
        elif not is_text or value.value:
            joined.append(value)
    return joined
