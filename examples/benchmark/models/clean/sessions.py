import pyarrow as pa
import pyarrow.compute as pc
from interlace import model


@model(name="clean.sessions", depends_on=["raw.events"])
def sessions(raw_events):
    """Passes every event through and gives it the hour-long session that it falls into."""
    for batch in raw_events.reader():
        hour = pc.floor_temporal(batch["ts"], unit="hour")
        session = pc.add(pc.multiply(pc.cast(batch["user_id"], pa.int64()), 1000), pc.hour(batch["ts"]))
        yield pa.RecordBatch.from_arrays(
            [batch["event_id"], batch["user_id"], hour, session, batch["amount"]],
            names=["event_id", "user_id", "hour", "session_id", "amount"],
        )
