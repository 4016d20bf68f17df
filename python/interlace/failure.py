"""Exceptions as the core is told of them: type, text, place in the project, and the frames of user code."""

import os

from interlace.discovery.places import is_project_file, relative
from interlace.exceptions import Cancelled, InterlaceError

_TEXT_MAX = 8192
_FRAMES_MAX = 40
_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def describe_failure(failure, root):
    """{kind, type, message, file?, line?, code?, hint?, traceback, cause?} of an exception."""
    frames = _user_frames(failure, root)
    described = {
        "kind": failure.kind if isinstance(failure, InterlaceError) else "ExecutionError",
        "type": type(failure).__name__,
        "message": _shortened(_text_of(failure)),
        "traceback": frames,
    }
    described.update(_place(failure, frames, root))
    if isinstance(failure, InterlaceError):
        described.update(code=failure.code, hint=failure.hint)
    cause = failure.__cause__ or (None if failure.__suppress_context__ else failure.__context__)
    if cause is not None:
        described["cause"] = f"{type(cause).__name__}: {_shortened(_text_of(cause))}"
    return described


def _text_of(failure):
    if isinstance(failure, SystemExit):
        return f"sys.exit({failure.code!r}) was called"
    if isinstance(failure, Cancelled):
        return "the run was cancelled"
    if isinstance(failure, SyntaxError):
        return str(failure.msg)
    try:
        return str(failure)
    except Exception as second:
        return f"(its text could not be had: {type(second).__name__})"


def _shortened(text):
    return text if len(text) <= _TEXT_MAX else text[:_TEXT_MAX] + " …"


def _place(failure, frames, root):
    """The file and line to show: of the innermost frame in the project, or of the text that is no Python."""
    if isinstance(failure, SyntaxError) and failure.filename and is_project_file(failure.filename, root):
        return {"file": relative(failure.filename, root), "line": failure.lineno or 0}
    for frame in reversed(frames):
        if frame["is_project"]:
            return {"file": frame["file"], "line": frame["line"]}
    return {}


def _user_frames(failure, root):
    """Frames from the first one of the project on, without those of this package and of the import machinery."""
    import linecache  # costs more than all the rest; only when something failed

    frames = []
    trace = failure.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if not code.co_filename.startswith((_PACKAGE, "<frozen importlib")):
            frames.append(
                {
                    "file": relative(code.co_filename, root),
                    "line": trace.tb_lineno,
                    "function": code.co_name,
                    "text": linecache.getline(code.co_filename, trace.tb_lineno, trace.tb_frame.f_globals).strip(),
                    "is_project": is_project_file(code.co_filename, root),
                }
            )
        trace = trace.tb_next
    return frames if len(frames) <= _FRAMES_MAX else frames[: _FRAMES_MAX // 2] + frames[-_FRAMES_MAX // 2 :]
