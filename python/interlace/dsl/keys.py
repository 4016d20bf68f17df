"""The keys that a declaration may carry, and their values as plain JSON.

Only names and JSON-ness are looked at here. What a value means, and which keys go together, is judged by the core with
the same rules and words as for SQL models.
"""

from interlace.exceptions import DefinitionError

# All keys of a Python model besides name, fn and sql.
MODEL_KEYS = frozenset(
    (
        *("materialise", "strategy", "key", "time_column", "interval", "backfill", "lookback", "cursor", "depends_on"),
        *("engine", "dialect", "columns", "checks", "schedule", "tags", "owner", "description"),
        *("target", "path", "format", "options", "environments", "indexes", "constraints", "schema"),
        *("batch", "batch_rows", "concurrency", "audit", "reads", "lineage"),
        *("timeout", "retries", "memory_limit", "pool", "env", "requires", "enabled", "commit_every"),
    )
)

CHECK_KEYS = frozenset(("description",))

_NUMBER_MAX = 2**63 - 1


def check_keys(what, keys, known):
    """Refuses a key that is not in `known`, naming the nearest one."""
    if "export" in keys:
        raise DefinitionError(
            f"{what}: 'export' was removed",
            code="key.removed",
            hint="use `materialise='table'` with `target`, or `materialise='file'` with `path` and `format`",
        )
    for key in keys:
        if key in known:
            continue
        import difflib  # only for the message

        near = difflib.get_close_matches(key, known, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"known keys: {', '.join(sorted(known))}"
        raise DefinitionError(f"{what}: unknown key '{key}'", code="key.unknown", hint=hint)


def plain_keys(what, keys):
    """The keys that were given, with plain values. None stands for "not given", as in a signature."""
    return {key: plain(value, f"{what}: key '{key}'") for key, value in keys.items() if value is not None}


def plain(value, where):
    """`value` as JSON: text, numbers, booleans, None, lists and maps of them."""
    if isinstance(value, int) and abs(value) > _NUMBER_MAX:
        raise DefinitionError(f"{where} holds {value}, which is beyond 64 bits", code="value.not_plain")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "isoformat"):  # dates and timestamps
        return value.isoformat()
    if isinstance(value, (list, tuple)):
        return [plain(item, where) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item, where) for item in value), key=repr)
    if isinstance(value, dict):
        return {_plain_key(key, where): plain(item, where) for key, item in value.items()}
    if hasattr(value, "as_config"):
        return plain(value.as_config(), where)
    raise DefinitionError(f"{where} holds a {type(value).__name__}, which is no plain value", code="value.not_plain")


def _plain_key(key, where):
    if isinstance(key, str):
        return key
    raise DefinitionError(f"{where} holds the key {key!r}, which is no text", code="value.not_plain")


class CheckSpec:
    """One entry of `checks`, as an object: CheckSpec("range", "amount", severity="warn", params={"min": 0})."""

    def __init__(self, type, columns=None, severity="error", params=None):
        self.type = type
        self.columns = [columns] if isinstance(columns, str) else list(columns or ())
        self.severity = severity
        self.params = dict(params or {})

    def __repr__(self):
        return f"CheckSpec({self.type!r}, {self.columns!r}, {self.severity!r}, {self.params!r})"

    def __eq__(self, other):
        return isinstance(other, CheckSpec) and vars(self) == vars(other)

    def as_config(self):
        """The same as a long form of `checks:`."""
        config = {"type": self.type, **self.params}
        if self.columns:
            config["columns"] = self.columns
        if self.severity != "error":
            config["severity"] = self.severity
        return config
