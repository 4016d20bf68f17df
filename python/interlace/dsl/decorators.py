"""`@model`, `@check`, `@stream`, and the registry in which they put what they declare."""

import sys

from interlace.dsl.keys import CHECK_KEYS, MODEL_KEYS, CheckSpec, check_keys, plain, plain_keys
from interlace.exceptions import DefinitionError

__all__ = ["REGISTRY", "CheckDef", "CheckSpec", "ModelDef", "StreamDef", "check", "model", "stream"]


class ModelDef:
    """A model: a Python function `fn`, or a query `sql`, with the keys of `@model`."""

    def __init__(self, name=None, fn=None, sql=None, **keys):
        if (fn is None) == (sql is None):
            raise DefinitionError(f"model {name!r}: give either fn or sql")
        self.name = _name_of("model", name, fn)
        self.what = what = f"model '{self.name}'"
        if fn is not None and not callable(fn):
            raise DefinitionError(f"{what}: fn is a {type(fn).__name__}, not a function")
        check_keys(what, keys, MODEL_KEYS)
        self.fn = fn
        self.sql = sql
        self.keys = plain_keys(what, keys)
        self.line = _line_of(fn)


class CheckDef:
    """A check of the model called `model`, done by the function `fn`."""

    def __init__(self, model, fn, name=None, severity="error", **keys):
        self.name = _name_of("check", name, fn)
        self.what = what = f"check '{self.name}'"
        if not isinstance(model, str) or not model:
            raise DefinitionError(f"{what}: `model` must be the name of a model, not {model!r}")
        check_keys(what, keys, CHECK_KEYS)
        self.fn = fn
        self.model = model
        self.keys = plain_keys(what, {"severity": severity, **keys})
        self.line = _line_of(fn)


class StreamDef:
    """A stream of events. Declared now; what it does is brought by a later version."""

    def __init__(self, name=None, fn=None, **keys):
        self.name = _name_of("stream", name, fn)
        self.what = what = f"stream '{self.name}'"
        self.fn = fn
        self.keys = {key: plain(value, f"{what}: key '{key}'") for key, value in keys.items() if value is not None}
        self.line = _line_of(fn)


class Registry:
    """What has been declared since `begin`, in order. In a plain test it simply fills up."""

    def __init__(self):
        self.models, self.checks, self.streams = [], [], []
        self.is_running = False
        self._run = None  # what the running model declares

    def begin_run(self, path, may_register):
        """Said by the worker: a model of the file `path` is about to run, and may declare others or not."""
        from interlace.dsl.dynamic import RunDeclarations  # most processes only look for declarations

        self._run = RunDeclarations(path, may_register)

    def end_run(self):
        """What the model that ran declared, as entries of a manifest."""
        run, self._run = self._run, None
        return run.entries() if run is not None else []

    def begin(self):
        """Starts anew, for the file that is about to be imported."""
        self.models, self.checks, self.streams = [], [], []

    def register_model(self, definition):
        """Adds a model; the way to declare models in a loop."""
        if not isinstance(definition, ModelDef):
            raise DefinitionError(f"register_model takes a ModelDef, not a {type(definition).__name__}")
        if self.is_running:
            if self._run is None:
                raise DefinitionError(f"{definition.what}: only a running model may register another one, not a check")
            self._run.add(definition)
        else:
            self.models.append(definition)

    def register_check(self, definition):
        """Adds a check."""
        self.checks.append(definition)

    def register_stream(self, definition):
        """Adds a stream."""
        self.streams.append(definition)


REGISTRY = Registry()


def model(name=None, **keys):
    """Declares the function below it as a model, named `name` or like the function.

    Keys: materialise, strategy, key, time_column, interval, backfill, cursor, dialect, engine, depends_on, tags, owner,
    description, columns, schedule, checks, target, path, format, options, environments, indexes, constraints, schema,
    batch, batch_rows, concurrency, audit, reads, lineage, timeout, retries, memory_limit, pool, env, requires,
    enabled, commit_every, lookback.
    """
    if callable(name):
        return model()(name)

    def register(fn):
        REGISTRY.register_model(ModelDef(name, fn, **keys))
        return fn

    return register


def check(*, model, name=None, severity="error", **keys):
    """Declares the function below it as a check of `model`. It gets one handle on the rows that were written.

    True, None, 0 or an empty table: passed. False, a positive number or a table with rows: failed.
    """

    def register(fn):
        REGISTRY.register_check(CheckDef(model, fn, name, severity, **keys))
        return fn

    return register


def stream(name=None, **keys):
    """Declares a stream, named `name` or like the function below it."""
    if callable(name):
        return stream()(name)

    def register(fn):
        REGISTRY.register_stream(StreamDef(name, fn, **keys))
        return fn

    return register


def _name_of(what, name, fn):
    name = getattr(fn, "__name__", None) if name is None else name
    if isinstance(name, str) and name:
        return name
    raise DefinitionError(f"a {what} must have a text as its name, not {name!r}")


def _line_of(fn):
    """The line of the declaration: of the function's first decorator, else of the statement that registers it."""
    code = getattr(fn, "__code__", None)
    if code is not None:
        return code.co_firstlineno
    frame = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == "interlace":
        frame = frame.f_back
    return frame.f_lineno if frame is not None else 0
