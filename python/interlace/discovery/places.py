"""Which files belong to the project, and which only lie inside its folder."""

import functools
import os
import sys

_FOREIGN_PARTS = ("site-packages", "dist-packages", ".interlace", ".venv", "node_modules")


@functools.lru_cache(maxsize=4096)
def is_project_file(path, root):
    """True for a file below the root that is not part of an interpreter, an environment or a cache."""
    prefix = root.rstrip(os.sep) + os.sep
    if not path.startswith(prefix):
        return False
    if any(part in _FOREIGN_PARTS for part in path[len(prefix) :].split(os.sep)):
        return False
    return not any(_is_below(path, place) for place in _interpreter_places() if _is_below(place, root))


def _is_below(path, place):
    return path.startswith(place.rstrip(os.sep) + os.sep)


@functools.lru_cache(maxsize=1)
def _interpreter_places():
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return {os.path.abspath(place) for place in (sys.prefix, sys.base_prefix, sys.exec_prefix, package)}


def relative(path, root):
    """`path` relative to the root, with `/`; as it is when it lies elsewhere."""
    prefix = root.rstrip(os.sep) + os.sep
    return path[len(prefix) :].replace(os.sep, "/") if path.startswith(prefix) else path
