"""Calls a user's function, and waits for it when it is asynchronous."""


class Call:
    """One call. `result` may be iterated until `close`, which also ends what the function left running."""

    def __init__(self, function, arguments):
        self._loop = None
        self._generator = None
        self.result = self._resolve(_called(function, arguments))
        if hasattr(self.result, "close") and hasattr(self.result, "send"):
            self._generator = self.result

    def close(self):
        """Ends a generator, so that its `finally` runs, and the event loop."""
        if self._generator is not None:
            self._generator.close()
        if self._loop is not None:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    def _resolve(self, result):
        if hasattr(result, "__await__"):
            return self._resolve(self._event_loop().run_until_complete(_awaited(result)))
        if hasattr(result, "__aiter__"):
            return self._iterate(result)
        return result

    def _iterate(self, iterable):
        """An asynchronous iterable as an ordinary one."""
        iterator = iterable.__aiter__()
        loop = self._event_loop()
        while True:
            try:
                item = loop.run_until_complete(_awaited(iterator.__anext__()))
            except StopAsyncIteration:
                return
            yield item

    def _event_loop(self):
        if self._loop is None:
            import asyncio

            self._loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self._loop)
        return self._loop


def _called(function, arguments):
    """Arguments go by name, except those before a `/`."""
    code = getattr(function, "__code__", None)
    names = code.co_varnames[: code.co_posonlyargcount] if code is not None else ()
    positional = [arguments[name] for name in names if name in arguments]
    return function(*positional, **{name: value for name, value in arguments.items() if name not in names})


async def _awaited(awaitable):
    """Any awaitable as the coroutine that an event loop wants."""
    return await awaitable
