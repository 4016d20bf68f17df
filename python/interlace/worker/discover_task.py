"""Imports all files and describes what they declare: the frames of the manifest."""

import sys

from interlace.discovery import recording
from interlace.discovery.loading import load_file
from interlace.discovery.manifest import ManifestWriter
from interlace.fingerprint.canonical import Identifier
from interlace.worker.channel import FRAME_SIZE_MAX, encode

_RECURSION_LIMIT = 20_000  # of long expressions
_KINDS = ("files", "models", "checks", "streams")


def discover(worker, frame):
    """Answers the frame `discover` with `loading` before each file, and with `manifest` frames; then there is nothing
    left to say."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _RECURSION_LIMIT))
    writer = ManifestWriter(worker.root, Identifier(worker.root))
    chunk = _Chunk(worker.channel, frame["task"])
    for path in frame["files"]:
        worker.channel.send({"t": "loading", "task": frame["task"], "path": path})
        record = recording.start(worker.root)
        try:
            loaded = load_file(path, worker.root)
        finally:
            recording.stop()
        chunk.add(writer.describe(loaded, record))
    chunk.send()
    return {}


class _Chunk:
    """Entries of the manifest until there are enough for a frame."""

    def __init__(self, channel, task):
        self.channel = channel
        self.task = task
        self._begin()

    def _begin(self):
        self.entries = {kind: [] for kind in _KINDS}
        self.size = 0

    def add(self, entries):
        size = len(encode(entries))
        if self.size and self.size + size > FRAME_SIZE_MAX // 4:
            self.send()
        self.size += size
        for kind in _KINDS:
            self.entries[kind] += entries[kind]

    def send(self):
        self.channel.send({"t": "manifest", "task": self.task, **self.entries})
        self._begin()
