"""Errors of the package. Their names are those of the core's error kinds."""


class InterlaceError(Exception):
    """Base of all of them. `code` is the stable code of a refusal, `hint` says what to do; both may be empty."""

    def __init__(self, message="", *, code="", hint=""):
        super().__init__(message)
        self.code = code
        self.hint = hint

    @property
    def kind(self):
        """The core's name for this kind of error."""
        for cls in type(self).__mro__:
            if cls.__module__ == __name__:
                return cls.__name__
        return "ExecutionError"


class ConfigurationError(InterlaceError):
    """The project's configuration lacks or contradicts what was asked for."""


class DefinitionError(InterlaceError):
    """A model, check or stream is declared wrongly, or a model returned what none may return."""


class CompilationError(InterlaceError):
    """A query cannot be read or bound."""


class DependencyError(InterlaceError):
    """Models depend on each other in a circle, or on one that is missing."""


class SelectionError(InterlaceError):
    """A selection names nothing."""


class PlanError(InterlaceError):
    """A plan cannot be made or is refused."""


class ExecutionError(InterlaceError):
    """A model, or the stream of one of its upstreams, failed while running."""


class QueryError(InterlaceError):
    """A query of the user failed."""


class SchemaError(InterlaceError):
    """Columns are not what a contract or a target demands."""


class StreamError(InterlaceError):
    """A stream refused an event."""


class CheckError(InterlaceError):
    """A check failed."""


class LockError(InterlaceError):
    """Another command holds the lock."""


class Cancelled(BaseException):
    """Raised in a running model when its run is cancelled. No Exception, so that `except Exception` lets it pass."""
