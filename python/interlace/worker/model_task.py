"""Runs one model: its parameters, the call, its output."""

import time

from interlace import connections
from interlace._running import set_context
from interlace.discovery.loading import active
from interlace.dsl.decorators import REGISTRY
from interlace.runtime import scratch
from interlace.runtime.context import Context, window_of
from interlace.worker.arrow import need_pyarrow
from interlace.worker.calling import Call


def run_model(worker, frame):
    """Answers the frame `run_model`; gives the fields of its `result`."""
    need_pyarrow()
    from interlace.runtime.output import Output

    started = time.monotonic()
    loaded, definition = worker.files.model(frame["module_path"], frame["model"])
    output = Output(lambda fd: worker.channel.send({"t": "output", "task": frame["task"]}, fd))
    scratch.set_limits(frame.get("scratch"))
    try:
        with active(loaded), connections.available(frame.get("connections") or {}):
            REGISTRY.begin_run(loaded.path, may_register=frame.get("may_register", False))
            set_context(Context(frame, worker.cancellation))
            _run(worker, frame, definition, output)
    except BaseException:
        output.abandon()
        raise
    finally:
        set_context(None)
        models = REGISTRY.end_run()
    seconds = round(time.monotonic() - started, 6)
    return {"rows": output.rows, "batches": output.batches, "seconds": seconds, **_besides_rows(output, models)}


def _besides_rows(output, models):
    fields = {"models": models} if models else {}
    return {**fields, "yielded_nothing": True} if output.has_nothing else fields


def _run(worker, frame, definition, output):
    inputs = worker.inputs(frame["task"])
    try:
        arguments = {parameter["name"]: _argument(worker, frame, inputs, parameter) for parameter in frame["params"]}
        call = Call(definition.fn, arguments)
        try:
            output.write_all(call.result, definition.keys.get("columns"), frame.get("may_yield_nothing", False))
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
    "window": lambda worker, frame, inputs, name: window_of(frame),
    "ctx": lambda worker, frame, inputs, name: Context(frame, worker.cancellation),
}
