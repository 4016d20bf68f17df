"""`interlace.ctx`: the context of the model that runs in this process."""

from interlace.exceptions import ConfigurationError


class Running:
    """Stands for the context, whatever it is at the moment."""

    def __init__(self):
        self._context = None

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if self._context is None:
            raise ConfigurationError(f"ctx.{name}: there is a context only while a model runs")
        return getattr(self._context, name)

    def __repr__(self):
        return "<interlace.ctx>"


ctx = Running()


def set_context(context):
    """Said by the worker around each run; None: nothing runs."""
    ctx._context = context
