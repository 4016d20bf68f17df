"""Project variables (`vars:` of interlace.yaml) for Python models."""

from interlace.exceptions import ConfigurationError, DefinitionError

_values = None  # name → value; None outside a worker


def _date(text):
    import datetime  # most projects have no need of it

    return datetime.date.fromisoformat(text)


def _timestamp(text):
    import datetime

    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


_READERS = {
    "string": str,
    "int": int,
    "float": float,
    "bool": lambda text: text == "true",
    "date": _date,
    "timestamp": _timestamp,
}


def var(name):
    """The value of a project variable, with the type declared for it.

    Names written as a literal belong to the model's fingerprint: a changed value rebuilds exactly its users.
    """
    if _values is None:
        raise ConfigurationError(
            f"var({name!r}): project variables are known only while interlace loads or runs models"
        )
    check_known(name)
    return _values[name]


def check_known(name):
    """Refuses a name that `vars:` does not declare."""
    if name not in (_values or {}):
        known = ", ".join(sorted(_values or {})) or "none"
        raise DefinitionError(f"var({name!r}): no such variable; declared under vars: {known}", code="var.unknown")


def set_values(declared):
    """Takes the variables as the core sends them: name → {"type": …, "value": canonical text}."""
    global _values
    _values = {name: _READERS[entry["type"]](entry["value"]) for name, entry in declared.items()}


def all_values():
    """All variables, by name."""
    return dict(_values or {})
