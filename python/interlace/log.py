"""Lines for the log of the run: `interlace.log.info("read %d pages", n)`. Outside a worker they go to stderr."""

import sys

_send = None  # function of (level, text) while a worker runs a task


def _log(level, message, arguments):
    text = message % arguments if arguments else str(message)
    if _send is None:
        print(f"{level}: {text}", file=sys.stderr)
    else:
        _send(level, text)


def debug(message, *arguments):
    """A detail for whoever looks for a fault."""
    _log("debug", message, arguments)


def info(message, *arguments):
    """Something a person would want to know."""
    _log("info", message, arguments)


def warning(message, *arguments):
    """Something is off, and the model goes on."""
    _log("warning", message, arguments)


def error(message, *arguments):
    """Something failed."""
    _log("error", message, arguments)


def set_sender(send):
    """Where lines go while a worker runs a task; None: back to stderr."""
    global _send
    _send = send
