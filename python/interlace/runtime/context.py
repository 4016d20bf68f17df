"""What a model can be told besides its upstreams: `ctx`."""

from interlace import _variables, log


class Context:
    """The run that the model is part of. Given to a function that declares `ctx` keyword-only."""

    def __init__(self, frame, cancellation):
        self.run = frame.get("run", "")
        self.environment = frame.get("environment", "")
        self.model = frame.get("model", "")
        self.logger = log
        self._cancellation = cancellation

    @property
    def vars(self):
        """The project's variables, by name."""
        return _variables.all_values()

    def is_cancelled(self):
        """True once the run is being cancelled: for threads that the model started."""
        return self._cancellation.is_requested
