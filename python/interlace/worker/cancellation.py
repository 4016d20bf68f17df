"""Cancellation of the running task. The core sends SIGINT, which also ends a wait in the operating system; the
exception is raised at the next bytecode, only while a task runs."""

import signal

from interlace.exceptions import Cancelled


class Cancellation:
    """Set once; a worker that was cancelled is not used again."""

    def __init__(self):
        self.is_requested = False
        self._is_armed = False

    def install(self):
        """Takes over SIGINT."""
        signal.signal(signal.SIGINT, self._on_signal)

    def __enter__(self):
        """Around user code."""
        self._is_armed = True
        if self.is_requested:
            raise Cancelled
        return self

    def __exit__(self, *failure):
        self._is_armed = False

    def _on_signal(self, number, frame):
        self.is_requested = True
        if self._is_armed:
            raise Cancelled
