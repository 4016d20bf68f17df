"""pyarrow, which only running models and checks need."""

import sys

from interlace.exceptions import ConfigurationError


def need_pyarrow():
    """Imports it; ConfigurationError saying how to get it."""
    try:
        import pyarrow  # noqa: F401
        import pyarrow.ipc  # noqa: F401
    except ImportError as failure:
        raise ConfigurationError(
            f"pyarrow is needed to run Python models and cannot be imported by {sys.executable}: {failure}",
            code="python.pyarrow",
            hint="install it there: python -m pip install pyarrow",
        ) from failure
