"""Control frames over the socket to the core: u32 little-endian length, then one JSON object; a file descriptor rides
on the first byte of its frame."""

import _thread
import json
import os
import socket
import struct

FRAME_SIZE_MAX = 16 << 20
_LENGTH = struct.Struct("<I")
_RECEIVE_SIZE = 1 << 16
_FDS_MAX = 4


class ProtocolError(Exception):
    """The core sent what is no frame, or went away."""


class Channel:
    """Both directions of the control socket. Frames may be sent from any thread; one asks at a time (`asking`)."""

    def __init__(self, sock):
        self.socket = sock
        self.sending = _thread.allocate_lock()
        self.asking = _thread.allocate_lock()
        self.received = bytearray()
        self.fds = []

    def send(self, frame, fd=None):
        """Sends a frame whole."""
        payload = encode(frame)
        if len(payload) > FRAME_SIZE_MAX:
            raise ProtocolError(f"a frame of type '{frame['t']}' has {len(payload)} bytes, more than {FRAME_SIZE_MAX}")
        data = _LENGTH.pack(len(payload)) + payload
        with self.sending:
            sent = socket.send_fds(self.socket, [data], [fd]) if fd is not None else 0
            self.socket.sendall(memoryview(data)[sent:])

    def receive(self):
        """The next frame; None when the core closed the socket."""
        while True:
            frame = self._take()
            if frame is not None:
                return frame
            data, fds, _, _ = socket.recv_fds(self.socket, _RECEIVE_SIZE, _FDS_MAX)
            self.fds.extend(fds)
            if not data:
                return None
            self.received += data

    def take_fd(self):
        """The file descriptor that came with a frame; it is the caller's then."""
        if not self.fds:
            raise ProtocolError("a frame came without its file descriptor")
        fd = self.fds.pop(0)
        os.set_inheritable(fd, False)
        return fd

    def _take(self):
        if len(self.received) < _LENGTH.size:
            return None
        (size,) = _LENGTH.unpack_from(self.received)
        if size > FRAME_SIZE_MAX:
            raise ProtocolError(f"a frame of {size} bytes")
        end = _LENGTH.size + size
        if len(self.received) < end:
            return None
        payload = bytes(self.received[_LENGTH.size : end])
        del self.received[:end]
        return json.loads(payload)


def encode(frame):
    """JSON that any reader takes: no lone surrogates, no NUL, no NaN."""
    text = json.dumps(frame, ensure_ascii=False, separators=(",", ":"))
    if "\\u0000" in text or not text.isascii() or "NaN" in text or "Infinity" in text:
        text = json.dumps(_clean(frame), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8")


def _clean(value):
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\x00")
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(item) for item in value]
    return value
