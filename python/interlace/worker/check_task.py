"""Runs one check: the function over a handle on the written rows, and its verdict."""

import json

from interlace.discovery.loading import active
from interlace.discovery.parameters import describe
from interlace.exceptions import Cancelled
from interlace.failure import describe_failure
from interlace.worker.arrow import need_pyarrow
from interlace.worker.calling import Call
from interlace.worker.files import StaleFile

_SAMPLE_ROWS = 100
_SAMPLE_SIZE_MAX = 1 << 20
_COUNT_MAX = 2**63 - 1


def run_check(worker, frame):
    """Answers the frame `run_check`; gives the fields of its `result`. A function that raises has the verdict `error`."""
    inputs = worker.inputs(frame["task"])
    try:
        need_pyarrow()
        loaded, definition = worker.files.check(frame["module_path"], frame["model"], frame["check"])
        with active(loaded):
            return _verdict_of(definition, inputs.handle("table"))
    except (Cancelled, StaleFile):
        raise
    except BaseException as failure:
        return {"verdict": "error", "error": describe_failure(failure, worker.root)}
    finally:
        inputs.close()


def _verdict_of(definition, handle):
    parameter = describe(definition.fn)[0]["name"]
    call = Call(definition.fn, {parameter: handle})
    try:
        return verdict(call.result)
    finally:
        call.close()


def verdict(value):
    """What a check's return value says: {verdict, failures, message?, sample?}."""
    table = _as_table(value)
    if table is not None:
        return _failures(table.num_rows, _sample(table))
    value = value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value
    if value is None or value is True:
        return _failures(0)
    if value is False:
        return _failures(1)
    if isinstance(value, int) and value >= 0:
        return _failures(min(value, _COUNT_MAX))
    what = f"the number {value}" if isinstance(value, int) else f"a {type(value).__qualname__}"
    return {
        "verdict": "error",
        "failures": 0,
        "message": f"it returned {what}; wanted is True, False, None, a number of failures from 0, or a table of them",
    }


def _failures(count, sample=None):
    result = {"verdict": "failed" if count else "passed", "failures": count}
    if sample:
        result["sample"] = sample
    return result


def _as_table(value):
    import pyarrow as pa

    from interlace.runtime.pieces import piece_of

    piece = None if isinstance(value, list) else piece_of(value, None)
    return None if piece is None else pa.Table.from_batches(list(piece.batches), piece.schema)


def _sample(table):
    """The first failing rows as JSON; fewer of them when they are large."""
    rows = [json.dumps(row, default=str) for row in table.slice(0, _SAMPLE_ROWS).to_pylist()]
    while rows and sum(map(len, rows)) > _SAMPLE_SIZE_MAX:
        rows.pop()
    return f"[{','.join(rows)}]" if rows else ""
