"""Parameters of a model's function, as they are written. What each stands for is the core's to say."""

import inspect

from interlace.exceptions import DefinitionError
from interlace.fingerprint.canonical import plain_function

_REFUSED = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def describe(fn):
    """[{name, has_default, kind}] with kind `positional` or `keyword_only`; `*args` and `**kwargs` are refused."""
    return [_describe(parameter) for parameter in inspect.signature(fn).parameters.values()]


def _describe(parameter):
    if parameter.kind in _REFUSED:
        raise DefinitionError(
            f"parameter '{_REFUSED[parameter.kind]}{parameter.name}' names no model",
            code="parameter.variadic",
            hint="write each upstream as a parameter of its own",
        )
    return {
        "name": parameter.name,
        "has_default": parameter.default is not inspect.Parameter.empty,
        "kind": "keyword_only" if parameter.kind is inspect.Parameter.KEYWORD_ONLY else "positional",
    }


def kinds(fn):
    """(is_async, is_generator) of the function behind the decorators."""
    function, _ = plain_function(fn)
    is_async = inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)
    is_generator = inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function)
    return is_async, is_generator
