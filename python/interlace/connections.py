"""Named connections of interlace.yaml, for models that talk to outside systems."""

from interlace.exceptions import ConfigurationError

_declared = None  # name → fields, as the core sends them; None: no model runs


class Connection:
    """One entry of `connections:`: `type` and, by type, `base_url` and `headers`, or `dsn`."""

    def __init__(self, name, fields):
        self.name = name
        self.type = fields["type"]
        if self.type == "http":
            self.base_url = fields["base_url"]
            self.headers = dict(fields.get("headers") or {})
        else:
            self.dsn = fields["dsn"]

    def __repr__(self):
        return f"<Connection '{self.name}' ({self.type})>"  # no secrets: this ends up in logs


def connection(name):
    """The connection called `name`: only while a model runs."""
    if _declared is None:
        raise ConfigurationError(
            f"connection({name!r}): connections are available only while a model runs",
            code="connection.not_running",
            hint="call it inside the model's function, not while its file is imported",
        )
    if name not in _declared:
        known = ", ".join(sorted(_declared)) or "none"
        raise ConfigurationError(
            f"connection({name!r}): no such connection; declared under connections: {known}", code="connection.unknown"
        )
    return Connection(name, _declared[name])


def all_connections():
    """All connections by name; empty when no model runs."""
    return {name: Connection(name, fields) for name, fields in (_declared or {}).items()}


class available:
    """Around the run of a model: its connections, name → fields."""

    def __init__(self, declared):
        self.declared = declared

    def __enter__(self):
        global _declared
        _declared = self.declared

    def __exit__(self, *failure):
        global _declared
        _declared = None
