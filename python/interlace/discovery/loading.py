"""Imports project files, each on its own: what one registers, imports or breaks does not touch the others."""

import hashlib
import os
import sys
import types
import zlib

from interlace.discovery.places import is_project_file
from interlace.dsl.decorators import REGISTRY


class LoadedFile:
    """One imported file: its text, its module, the project's helper modules that it pulled in, and its declarations."""

    def __init__(self, path, root):
        self.path = path  # relative to the root
        self.root = root
        self.absolute = os.path.join(root, path)
        self.stamp = _stamp(self.absolute)
        self.content = b""
        self.module = None
        self.helpers = {}  # module name → module
        self.models, self.checks, self.streams = [], [], []
        self.failure = None  # what the import raised

    @property
    def sha256(self):
        """Digest of the file as it was read."""
        return hashlib.sha256(self.content).hexdigest()

    def helper_files(self):
        """Absolute paths of the project files that were imported with it, sorted."""
        return sorted({_module_file(module) for module in self.helpers.values()} - {None})

    def is_stale(self):
        """True when it or one of its helpers changed on disk since."""
        return self.stamp != _stamp(self.absolute) or any(
            module.__interlace_stamp__ != _stamp(_module_place(module)) for module in self.helpers.values()
        )


def load_file(path, root):
    """Imports the file `path` (relative to `root`). Whatever it raises ends up in `failure`."""
    loaded = LoadedFile(path, root)
    REGISTRY.begin()
    saved_path = list(sys.path)
    saved_modules = dict(sys.modules)
    saved_bytecode = sys.dont_write_bytecode
    sys.path.insert(0, os.path.dirname(loaded.absolute))
    sys.dont_write_bytecode = True  # a load writes nothing into the project
    try:
        _execute(loaded)
    except BaseException as failure:
        loaded.failure = failure
    finally:
        sys.dont_write_bytecode = saved_bytecode
        sys.path[:] = saved_path
        loaded.helpers = _take_helpers(root, saved_modules)
    loaded.models, loaded.checks, loaded.streams = REGISTRY.models, REGISTRY.checks, REGISTRY.streams
    return loaded


class active:
    """Around the run of a function of `loaded`: its folder can be imported from, its helpers are the loaded ones, and
    what only a running model may do is allowed."""

    def __init__(self, loaded):
        self.loaded = loaded

    def __enter__(self):
        self.saved_path = list(sys.path)
        self.saved_modules = dict(sys.modules)
        self.saved_bytecode = sys.dont_write_bytecode
        sys.path.insert(0, os.path.dirname(self.loaded.absolute))
        sys.dont_write_bytecode = True
        sys.modules.update(self.loaded.helpers)
        self._set_running(True)

    def __exit__(self, *failure):
        self._set_running(False)
        sys.dont_write_bytecode = self.saved_bytecode
        sys.path[:] = self.saved_path
        self.loaded.helpers.update(_take_helpers(self.loaded.root, self.saved_modules))

    def _set_running(self, is_running):
        REGISTRY.is_running = is_running


def module_name(path):
    """The module name of a model file: from its path, and no other file's."""
    letters = "".join(letter if letter.isalnum() and letter.isascii() else "_" for letter in path[: -len(".py")])
    return f"interlace_project__{letters}_{zlib.crc32(path.encode()):08x}"


def _execute(loaded):
    with open(loaded.absolute, "rb") as file:
        loaded.content = file.read()
    code = compile(loaded.content, loaded.absolute, "exec", dont_inherit=True)
    module = types.ModuleType(module_name(loaded.path))
    module.__file__ = loaded.absolute
    loaded.module = module
    sys.modules[module.__name__] = module  # dataclasses and pickle look for it there
    exec(code, module.__dict__)


def _take_helpers(root, saved_modules):
    """Takes the project's modules out of the module cache again: a neighbour may have one of the same name."""
    helpers = {}
    for name, module in [item for item in sys.modules.items() if saved_modules.get(item[0]) is not item[1]]:
        place = None if name.startswith("interlace_project__") else _module_place(module)
        if place is not None and is_project_file(place, root):
            module.__interlace_stamp__ = _stamp(place)
            helpers[name] = module
            del sys.modules[name]
    return helpers


def _module_file(module):
    path = getattr(module, "__file__", None)
    return path if isinstance(path, str) else None


def _module_place(module):
    """Its file; for a folder without `__init__.py` that folder."""
    folders = getattr(module, "__path__", None)
    return _module_file(module) or next((folder for folder in folders or () if isinstance(folder, str)), None)


def _stamp(path):
    try:
        status = os.stat(path)
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_size, status.st_ino)
