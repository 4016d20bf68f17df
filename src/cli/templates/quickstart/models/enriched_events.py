"""A Python model: takes its upstream as Arrow batches and gives Arrow batches back, so memory stays bounded."""

import pyarrow as pa
import pyarrow.compute as pc
from interlace import model


@model(description="Events, with the money they brought in.")
def enriched_events(raw_events):
    for batch in raw_events.reader():
        added = {
            "revenue": pc.fill_null(batch["amount"], 0),
            "is_conversion": pc.equal(batch["kind"], "purchase"),
        }
        yield pa.RecordBatch.from_arrays(
            [*batch.columns, *added.values()],
            names=[*batch.schema.names, *added],
        )
