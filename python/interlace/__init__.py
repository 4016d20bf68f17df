"""Models, checks and streams of an Interlace project, declared in Python.

    from interlace import model

    @model(description="Orders with their country")
    def enriched_orders(orders, customers):
        ...

A decorator only registers its function and gives it back unchanged, so that a plain test can call it. Nothing outside
the standard library is imported before a model runs.
"""

import sys

# Before anything that an older Python could not even read.
if sys.version_info < (3, 10):  # noqa: UP036
    _version = ".".join(map(str, sys.version_info[:2]))
    raise ImportError("interlace needs Python 3.10 or newer, but " + sys.executable + " is " + _version)

from interlace import log
from interlace._running import ctx
from interlace._variables import var
from interlace._version import __version__
from interlace.discovery.recording import volatile
from interlace.dsl.decorators import CheckSpec, check, model, stream
from interlace.exceptions import Cancelled

__all__ = ["Cancelled", "CheckSpec", "__version__", "check", "ctx", "log", "model", "stream", "var", "volatile"]
