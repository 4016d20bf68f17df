"""Named connections of interlace.yaml, for models that talk to outside systems."""

from interlace._later import later
from interlace.exceptions import ConfigurationError

_running = False


def connection(name):
    """The connection called `name`: only while a model runs."""
    if not _running:
        raise ConfigurationError(f"connection({name!r}): connections are available only while a model runs")
    raise later(f"connection({name!r})")


def set_running(running):
    """Said by the worker around each task."""
    global _running
    _running = running
