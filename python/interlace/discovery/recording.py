"""What a project file looks at while it is imported, besides Python code.

Its declarations may depend on that, so it is part of the cache key of the discovery: environment variables by name,
files of the project by path. What has no lasting value (the network, other processes, listings of folders, files
elsewhere) makes the file volatile: its declarations are not cached.

Only what project code does counts, not what a library does for itself while it is being imported.
"""

import os
import sys

from interlace.discovery.places import is_project_file

_IMPORT_MACHINERY = "<frozen importlib._bootstrap>"
_VOLATILE_EVENTS = frozenset(
    (
        *("glob.glob", "os.listdir", "os.scandir"),
        *(
            "os.exec",
            "os.fork",
            "os.forkpty",
            "os.posix_spawn",
            "os.spawn",
            "os.system",
            "pty.spawn",
            "subprocess.Popen",
        ),
        *("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "urllib.Request"),
        "sqlite3.connect",
    )
)


class Recording:
    """Facts about the import of one file."""

    def __init__(self):
        self.env_read = set()
        self.data_read = set()  # absolute paths inside the project
        self.is_volatile = False


_recording = None  # of the import that goes on
_root = None
_is_installed = False


def volatile():
    """Called by a model file whose declarations depend on more than code: it is imported anew for each command."""
    if _recording is not None:
        _recording.is_volatile = True


def start(root):
    """Begins a recording for the file that is about to be imported."""
    global _recording, _root
    _install()
    _root = root
    _recording = Recording()
    return _recording


def stop():
    """Ends the recording."""
    global _recording
    _recording = None


def _install():
    """Watches the environment and the interpreter's audit events. Neither can be undone: only for the process of a
    discovery."""
    global _is_installed
    if not _is_installed:
        _is_installed = True
        os.environ.__class__ = _recorded_class(type(os.environ))
        sys.addaudithook(_on_audit)


def _recorded_class(base):
    """A class of the environment that notes the names asked for. Without slots of its own it has the layout of `base`,
    so that the environment everyone has a reference to can become one."""

    def getitem(self, name):
        if _recording is not None and isinstance(name, str):
            _recording.env_read.add(name)
        return base.__getitem__(self, name)

    def iterate(self):
        if _recording is not None and _caller_is_project(sys._getframe(1)):
            _recording.is_volatile = True
        return base.__iter__(self)

    return type(base.__name__, (base,), {"__slots__": (), "__getitem__": getitem, "__iter__": iterate})


def _on_audit(event, arguments):
    if _recording is None:
        return
    if event == "open":
        _on_open(*arguments)
    elif event in _VOLATILE_EVENTS and _caller_is_project(sys._getframe(1)):
        _recording.is_volatile = True


def _on_open(path, mode, flags):
    if not isinstance(path, str) or path.endswith((".py", ".pyc")) or not _caller_is_project(sys._getframe(2)):
        return
    path = os.path.abspath(path)
    is_written = bool(flags & (os.O_WRONLY | os.O_RDWR)) if isinstance(flags, int) else False
    if is_written or not is_project_file(path, _root):
        _recording.is_volatile = True
    else:
        _recording.data_read.add(path)


def _caller_is_project(frame):
    """True when project code is nearer on the stack than an import that it started."""
    while frame is not None:
        name = frame.f_code.co_filename
        if name == _IMPORT_MACHINERY:
            return False
        if is_project_file(name, _root):
            return True
        frame = frame.f_back
    return False
