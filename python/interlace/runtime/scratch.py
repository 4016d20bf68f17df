"""The scratch database: a DuckDB in the memory of this process, for reading files or joining outside the warehouse.

It is the `duckdb` package of the user's interpreter, opened on first use and shared by all models that run here.
"""

import os
import re
import threading

from interlace.exceptions import ConfigurationError

_MEMORY_DEFAULT = "1GB"
_THREADS_MAX = 2

_limits = {}  # memory_limit, threads and folder, as the core sends them
_database = None
_lock = threading.RLock()


class session:
    """`with session() as db:` gives a connection of the duckdb package; whoever else wants one waits.

    What is created in it stays until the worker ends. It need not be closed; closing it harms nobody.
    """

    def __enter__(self):
        _lock.acquire()
        try:
            return _opened().cursor()
        except BaseException:
            _lock.release()
            raise

    def __exit__(self, *failure):
        _lock.release()


def connect():
    """A connection of its own to the scratch database, for rows that are read while others use it."""
    with _lock:
        return _opened().cursor()


def set_limits(limits):
    """Said by the worker before a model runs; they hold for a database that is opened from then on."""
    global _limits
    _limits = dict(limits or {})


def _opened():
    global _database
    if _database is None:
        _database = _need_duckdb().connect(":memory:", config=_configuration())
    return _database


def _need_duckdb():
    try:
        import duckdb
    except ImportError as failure:
        import sys

        raise ConfigurationError(
            f"the scratch database needs the package duckdb, which cannot be imported by {sys.executable}: {failure}",
            code="python.duckdb",
            hint="install it there: python -m pip install duckdb",
        ) from failure
    return duckdb


def _configuration():
    threads = _limits.get("threads") or ""
    configuration = {
        "memory_limit": _limits.get("memory_limit") or _MEMORY_DEFAULT,
        "threads": min(_THREADS_MAX, int(threads)) if re.fullmatch("[1-9][0-9]{0,4}", threads) else _THREADS_MAX,
    }
    if _limits.get("folder"):
        configuration["temp_directory"] = _own_folder(os.path.join(_limits["folder"], "scratch"))
    return configuration


def _own_folder(parent):
    """A folder of this process for what does not fit into memory. Those of processes that were killed go."""
    import atexit
    import shutil

    os.makedirs(parent, exist_ok=True)
    for name in os.listdir(parent):
        if name.isdigit() and not os.path.exists(f"/proc/{name}"):
            shutil.rmtree(os.path.join(parent, name), ignore_errors=True)
    folder = os.path.join(parent, str(os.getpid()))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
