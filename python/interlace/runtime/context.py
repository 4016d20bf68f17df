"""What a model can be told besides its upstreams: `ctx` and `window`."""

import datetime

from interlace import _variables, connections, log

_EPOCH = datetime.datetime(1970, 1, 1)


class Window:
    """The window being built, half-open. `start` and `end` are naive: wall time of the project's zone."""

    def __init__(self, start, end, grain):
        self.start = start
        self.end = end
        self.grain = grain

    def __repr__(self):
        return f"Window({self.start!r}, {self.end!r}, {self.grain!r})"

    def __eq__(self, other):
        return isinstance(other, Window) and vars(self) == vars(other)


def window_of(frame):
    """The window of a task; None when its model is built whole."""
    fields = frame.get("window")
    if fields is None:
        return None
    return Window(_wall_time(fields["start_us"]), _wall_time(fields["end_us"]), fields["grain"])


def _wall_time(microseconds):
    """As near as datetime comes: the end of the last window there is lies beyond it."""
    try:
        return _EPOCH + datetime.timedelta(microseconds=microseconds)
    except OverflowError:
        return datetime.datetime.max


class Context:
    """The run that the model is part of. Given to a function that declares `ctx` keyword-only."""

    def __init__(self, frame, cancellation):
        self.run_id = self.run = frame.get("run", "")
        self.environment = frame.get("environment", "")
        self.model = frame.get("model", "")
        self.attempt = frame.get("attempt", 1)
        self.now = _EPOCH.replace(tzinfo=datetime.timezone.utc) + datetime.timedelta(
            microseconds=frame.get("now_us", 0)
        )
        self.window = window_of(frame)
        self.logger = self.log = log
        self._cancellation = cancellation

    @property
    def vars(self):
        """The project's variables, by name."""
        return _variables.all_values()

    @property
    def connections(self):
        """The project's connections, by name."""
        return connections.all_connections()

    def is_cancelled(self):
        """True once the run is being cancelled: for threads that the model started."""
        return self._cancellation.is_requested
