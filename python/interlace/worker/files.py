"""The project files that this worker has imported."""

from interlace.discovery.loading import load_file
from interlace.exceptions import DefinitionError


class StaleFile(Exception):
    """A file changed on disk since this worker imported it: a fresh worker has to do the task."""


class ProjectFiles:
    """Imported files by path; each is imported once."""

    def __init__(self, root):
        self.root = root
        self._loaded = {}

    def get(self, path):
        """The imported file. What its import raised is raised again."""
        loaded = self._loaded.get(path)
        if loaded is None:
            loaded = self._loaded[path] = load_file(path, self.root)
        elif loaded.is_stale():
            raise StaleFile(path)
        if loaded.failure is not None:
            raise loaded.failure
        return loaded

    def model(self, path, name):
        """(file, definition) of a model."""
        loaded = self.get(path)
        found = [definition for definition in loaded.models if definition.name == name and definition.fn is not None]
        if not found:
            raise DefinitionError(f"{path} does not declare model '{name}' any more")
        return loaded, found[-1]

    def check(self, path, model, name):
        """(file, definition) of a check of a model."""
        loaded = self.get(path)
        found = [check for check in loaded.checks if (check.model, check.name) == (model, name)]
        if not found:
            raise DefinitionError(f"{path} does not declare check '{name}' of model '{model}' any more")
        return loaded, found[-1]
