"""What the core is told about one imported file: the file, its models, checks and streams, and its faults."""

import functools
import hashlib

from interlace.discovery import parameters
from interlace.discovery.places import relative
from interlace.exceptions import DefinitionError
from interlace.failure import describe_failure


class ManifestWriter:
    """Describes the files of one project."""

    def __init__(self, root, identifier):
        self.root = root
        self.identifier = identifier

    def describe(self, loaded, recording):
        """The entries of one file: {"files": [one], "models": […], "checks": […], "streams": […]}."""
        file = {
            "path": loaded.path,
            "sha256": loaded.sha256,
            "imports": [relative(path, self.root) for path in loaded.helper_files()],
            "env_read": sorted(recording.env_read),
            "data_read": self._data_files(recording),
            "is_volatile": recording.is_volatile,
            "errors": [],
        }
        entries = {"files": [file], "models": [], "checks": [], "streams": []}
        if loaded.failure is not None:
            file["errors"].append(describe_failure(loaded.failure, self.root))
            return entries
        for kind, describe in (("models", self._model), ("checks", self._check), ("streams", self._stream)):
            for definition in getattr(loaded, kind):
                self._describe_one(loaded, definition, describe, entries[kind], file["errors"])
        file["env_read"] = sorted({*recording.env_read, *_declared_environment(loaded.models)})
        return entries

    def _describe_one(self, loaded, definition, describe, entries, errors):
        """Adds a definition, or its fault: one of them does not hide the others of its file."""
        try:
            entries.append(describe(loaded, definition))
        except DefinitionError as failure:
            error = describe_failure(failure, self.root)
            message = f"{definition.what}: {error['message']}"
            error.update(message=message, file=loaded.path, line=definition.line)
            errors.append(error)

    def _data_files(self, recording):
        return [{"path": relative(path, self.root), "sha256": _sha256(path)} for path in sorted(recording.data_read)]

    def _entry(self, loaded, definition):
        return {"name": definition.name, "file": loaded.path, "line": definition.line, **definition.keys}

    def _function(self, loaded, definition):
        is_async, is_generator = parameters.kinds(definition.fn)
        return {
            "module": loaded.module.__name__,
            "function": getattr(definition.fn, "__qualname__", definition.name),
            "params": parameters.describe(definition.fn),
            "is_async": is_async,
            "is_generator": is_generator,
        }

    def _model(self, loaded, definition):
        entry = self._entry(loaded, definition)
        if definition.sql is not None:
            return {**entry, "sql": definition.sql}
        entry.update(self._function(loaded, definition))
        identity = self.identifier.identify(definition.fn, _as_list(definition.keys.get("env")))
        entry.update(source=identity.source, canonical=identity.canonical, captured=identity.captured)
        entry["helpers"] = [self._helper(name, path) for name, path in identity.helpers]
        return entry

    def _helper(self, name, path):
        return {"name": name, "file": relative(path, self.root), "sha256": _sha256(path)}

    def _check(self, loaded, definition):
        entry = {**self._entry(loaded, definition), **self._function(loaded, definition), "model": definition.model}
        required = [parameter for parameter in entry["params"] if not parameter["has_default"]]
        if len(entry["params"]) == 0 or len(required) > 1:
            raise DefinitionError(f"a check takes one parameter, the handle; this has {len(required)}")
        return entry

    def _stream(self, loaded, definition):
        return self._entry(loaded, definition)


def _declared_environment(models):
    return {name for model in models for name in _as_list(model.keys.get("env"))}


def _as_list(value):
    return [value] if isinstance(value, str) else list(value or ())


@functools.lru_cache(maxsize=4096)
def _sha256(path):
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return ""
