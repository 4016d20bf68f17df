"""Runs one model: its parameters, the call, its output."""

import time

from interlace.discovery.loading import active
from interlace.runtime.context import Context
from interlace.worker.arrow import need_pyarrow
from interlace.worker.calling import Call


def run_model(worker, frame):
    """Answers the frame `run_model`; gives the fields of its `result`."""
    need_pyarrow()
    from interlace.runtime.output import Output

    started = time.monotonic()
    loaded, definition = worker.files.model(frame["module_path"], frame["model"])
    output = Output(lambda fd: worker.channel.send({"t": "output", "task": frame["task"]}, fd))
    try:
        with active(loaded):
            _run(worker, frame, definition, output)
    except BaseException:
        output.abandon()
        raise
    seconds = round(time.monotonic() - started, 6)
    return {"rows": output.rows, "batches": output.batches, "seconds": seconds}


def _run(worker, frame, definition, output):
    inputs = worker.inputs(frame["task"])
    try:
        arguments = {parameter["name"]: _argument(worker, frame, inputs, parameter) for parameter in frame["params"]}
        call = Call(definition.fn, arguments)
        try:
            output.write_all(call.result, definition.keys.get("columns"))
        finally:
            call.close()
    finally:
        inputs.close()


def _argument(worker, frame, inputs, parameter):
    return _ARGUMENTS[parameter["kind"]](worker, frame, inputs, parameter["name"])


# One entry for each kind of parameter.
_ARGUMENTS = {
    "upstream": lambda worker, frame, inputs, name: inputs.handle(name),
    "this": lambda worker, frame, inputs, name: inputs.this(name),
    "cursor": lambda worker, frame, inputs, name: inputs.value(name),
    "window": lambda worker, frame, inputs, name: _window(name),
    "ctx": lambda worker, frame, inputs, name: Context(frame, worker.cancellation),
}


def _window(name):
    from interlace._later import later

    raise later(f"parameter '{name}' (the window being built)")
