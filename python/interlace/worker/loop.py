"""The worker's main loop: frames of the core in, one task at a time, its outcome out."""

import os
import socket
import sys

from interlace import _variables, log
from interlace._version import PROTOCOL, __version__
from interlace.failure import describe_failure
from interlace.worker.cancellation import Cancellation
from interlace.worker.channel import Channel
from interlace.worker.files import ProjectFiles, StaleFile

_CONTROL_FD = 3


class Worker:
    """State of this process."""

    def __init__(self, channel):
        self.channel = channel
        self.cancellation = Cancellation()
        self.root = ""
        self.files = None

    def run(self):
        """Until the core says `shutdown` or closes the socket."""
        while True:
            frame = self.channel.receive()
            if frame is None or frame["t"] == "shutdown":
                return
            _HANDLERS[frame["t"]](self, frame)

    def hello(self, frame):
        """Answers with what this process is; the core decides whether they understand each other."""
        self.root = frame["root"]
        _enter_project(self.root)
        self.files = ProjectFiles(self.root)
        _variables.set_values(frame.get("vars") or {})
        self.channel.send(
            {
                "t": "ready",
                "protocol": PROTOCOL,
                "sdk_version": __version__,
                "python": ".".join(map(str, sys.version_info[:3])),
                "executable": sys.executable,
                "pid": os.getpid(),
            }
        )

    def task(self, frame):
        """Runs a task; whatever user code does, one frame ends it: `result`, `error` or `stale`."""
        task = frame["task"]
        _restore_output()
        log.set_sender(lambda level, text: self.channel.send(_log_frame(task, level, text)))
        try:
            with self.cancellation:
                ending = {"t": "result", **_runner(frame["t"])(self, frame)}
        except StaleFile:
            ending = {"t": "stale"}
        except BaseException as failure:
            ending = {"t": "error", **describe_failure(failure, self.root)}
        log.set_sender(None)
        _flush_output()
        self.channel.send({**ending, "task": task})

    def inputs(self, task):
        """The inputs of a task."""
        from interlace.worker.inputs import Inputs

        return Inputs(self.channel, task)


def _runner(kind):
    """The function of a task; its module is imported only now, since most commands need but one."""
    if kind == "discover":
        from interlace.worker.discover_task import discover as runner
    elif kind == "run_model":
        from interlace.worker.model_task import run_model as runner
    else:
        from interlace.worker.check_task import run_check as runner
    return runner


_HANDLERS = {
    "hello": Worker.hello,
    "ping": lambda worker, frame: worker.channel.send({"t": "pong"}),
    "discover": Worker.task,
    "run_model": Worker.task,
    "run_check": Worker.task,
}


def _log_frame(task, level, text):
    return {"t": "log", "task": task, "level": level, "message": text[:_LOG_TEXT_MAX]}


_LOG_TEXT_MAX = 8192


def _restore_output():
    """Files for print, whatever the task before did to them."""
    for name, fd in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is not _output.get(name) or _output[name].closed:
            _output[name] = open(fd, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)
            setattr(sys, name, _output[name])


_output = {}


def _flush_output():
    """What was printed comes before the outcome. User code may have closed or replaced the files."""
    for file in (sys.stdout, sys.stderr):
        try:
            file.flush()
        except Exception:
            pass


def _enter_project(root):
    """Its folder is the current one, and the last place to import from: its files do not hide modules of Python."""
    os.chdir(root)
    sys.path.append(root)


def _tidy_process():
    """The environment and path of user code are those it would have without us."""
    inherited = os.environ.pop("INTERLACE_PYTHONPATH", None)
    os.environ.pop("PYTHONPATH", None)
    if inherited is not None:
        os.environ["PYTHONPATH"] = inherited
    sys.path[:] = [entry for entry in sys.path if entry not in ("", os.getcwd())]


def main():
    """Runs the worker until the core is done with it, then leaves without waiting for threads of user code."""
    import faulthandler

    faulthandler.enable()  # a crash in native code leaves its stack in the log
    os.set_inheritable(_CONTROL_FD, False)
    _restore_output()
    _tidy_process()
    _unpack_once()
    worker = Worker(Channel(socket.socket(fileno=_CONTROL_FD)))
    worker.cancellation.install()
    exit_code = 0
    try:
        worker.run()
    except BaseException:
        sys.excepthook(*sys.exc_info())
        exit_code = 1
    _leave(exit_code)


def _unpack_once():
    from interlace.worker.unpack import package_zip, unpack_beside

    path = package_zip()
    if path is not None:
        unpack_beside(path)


def _leave(exit_code):
    """Ends the process: functions registered with atexit run, but threads that user code left are not waited for."""
    import atexit

    atexit._run_exitfuncs()
    _flush_output()
    os._exit(exit_code)
