"""A program on a pseudo-terminal, as a person would see it."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time


class Terminal:
    """Its stdin, stdout and stderr are the terminal (`stdout`: a file instead). Waiting is for text, with a deadline."""

    def __init__(self, command, cwd, env, rows, columns, stdout, deadline_s):
        self.deadline_s = deadline_s
        self.output = ""
        self._bytes = b""
        self._master, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.modes_before = termios.tcgetattr(terminal)
        self._terminal = terminal
        target = os.open(stdout, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644) if stdout else terminal
        self.process = subprocess.Popen(
            command,
            cwd=cwd,
            env=env,
            stdin=terminal,
            stdout=target,
            stderr=terminal,
            preexec_fn=os.setpgrp,  # in a session of its own it could not be stopped
        )
        if target != terminal:
            os.close(target)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for descriptor in (self._terminal, self._master):
            if descriptor is not None:
                os.close(descriptor)
        self._terminal = self._master = None

    @property
    def text(self):
        """The output without colours and cursor movements."""
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.output)

    @property
    def modes(self):
        return termios.tcgetattr(self._terminal)

    def resize(self, rows, columns):
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.signal(signal.SIGWINCH)

    def signal(self, number):
        self.process.send_signal(number)

    def _read(self, wait_s):
        ready, _, _ = select.select([self._master], [], [], wait_s)
        if ready:
            self._bytes += os.read(self._master, 65536)
            self.output = self._bytes.decode("utf-8", "replace")
        return bool(ready)

    def wait_for(self, wanted):
        """Reads until `wanted` (a text, or a function of the output so far) is there."""
        is_there = wanted if callable(wanted) else lambda output: wanted in output
        end = time.monotonic() + self.deadline_s
        while not is_there(self.output):
            left = end - time.monotonic()
            ended = self.process.poll() is not None
            if not self._read(0 if ended else max(0, min(left, 0.2))) and (ended or left <= 0):
                why = f"exit {self.process.returncode}" if ended else "deadline"
                raise AssertionError(f"{wanted!r} did not come ({why}):\n{self.output}")
        return self.output

    def finish(self):
        """Reads to the end of the program and gives its exit code."""
        end = time.monotonic() + self.deadline_s
        while self.process.poll() is None:
            assert time.monotonic() < end, f"still running:\n{self.output}"
            self._read(0.05)
        while self._read(0):
            pass
        return self.process.returncode
