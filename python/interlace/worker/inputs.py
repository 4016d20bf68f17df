"""The rows of upstreams, asked for from the core."""

import socket

from interlace.exceptions import Cancelled
from interlace.runtime.handles import RelationHandle
from interlace.worker.channel import ProtocolError


class Inputs:
    """The inputs of one task, by parameter."""

    def __init__(self, channel, task):
        self.channel = channel
        self.task = task
        self.handles = []

    def handle(self, name):
        """A handle on an upstream; nothing is asked for yet."""
        handle = RelationHandle(name, self._ask, self._ask)
        self.handles.append(handle)
        return handle

    def this(self, name):
        """A handle on the previous table; None when there is none. That is known only by asking."""
        opened = self._ask_for_something(name)
        if opened is None:
            return None
        handle = RelationHandle(name, lambda _: opened)
        self.handles.append(handle)
        return handle

    def value(self, name):
        """The single value that the core gives for a parameter, exact in its type; None when there is none."""
        opened = self._ask_for_something(name)
        if opened is None:
            return None
        table = RelationHandle(name, lambda _: opened).table()
        return _python_value(table.column(0)) if table.num_rows else None

    def close(self):
        """Gives all of them up."""
        for handle in self.handles:
            handle.close()

    def _ask_for_something(self, name):
        """The socket, or None when it ends without a byte: there is nothing by that name yet."""
        opened = self._ask(name)
        if opened.recv(1, socket.MSG_PEEK):
            return opened
        opened.close()
        return None

    def _ask(self, name, columns=None, filter=None):
        """The socket that carries the rows of parameter `name`, or a part of them. Threads of the model may ask at the
        same time."""
        part = {key: value for key, value in (("columns", columns), ("filter", filter)) if value is not None}
        with self.channel.asking:
            return self._exchange(name, part)

    def _exchange(self, name, part):
        self.channel.send({"t": "open_input", "task": self.task, "param": name, **part})
        reply = self.channel.receive()
        if reply is None:
            raise Cancelled
        if reply["t"] != "input" or reply.get("param") != name:
            raise ProtocolError(f"'{reply['t']}' came in place of the input '{name}'")
        return socket.socket(fileno=self.channel.take_fd())


def _python_value(column):
    """The column's first value. Python knows no nanoseconds: they are rounded down, so that a cursor skips no row."""
    import pyarrow.types

    if pyarrow.types.is_timestamp(column.type) and column.type.unit == "ns":
        import pyarrow.compute

        floored = pyarrow.compute.floor_temporal(column, unit="microsecond")
        column = floored.cast(pyarrow.timestamp("us", column.type.tz))
    return column[0].as_py()
