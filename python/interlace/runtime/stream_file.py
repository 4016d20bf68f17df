"""A socket as the file objects that Arrow's stream reader and writer want."""

import io


class SocketReader(io.RawIOBase):
    """The reading side; `at_end` tells that the other side closed it. After an Arrow end marker nothing is read any
    more, so then it stays False: that is how a broken stream is told from a whole one."""

    def __init__(self, sock):
        super().__init__()
        self.socket = sock
        self.at_end = False

    def readable(self):
        """For io.BufferedReader."""
        return True

    def readinto(self, buffer):
        """Fills as much of `buffer` as there is."""
        size = self.socket.recv_into(buffer)
        if size == 0 and len(buffer) > 0:
            self.at_end = True
        return size

    def close(self):
        """Closes the socket too."""
        if not self.closed:
            self.socket.close()
        super().close()


class SocketWriter(io.RawIOBase):
    """The writing side: each write is done whole, and waits while the reader is behind."""

    def __init__(self, sock):
        super().__init__()
        self.socket = sock

    def writable(self):
        """For io.BufferedWriter."""
        return True

    def write(self, data):
        """Sends all of `data`."""
        with memoryview(data) as view:
            self.socket.sendall(view)
            return view.nbytes
