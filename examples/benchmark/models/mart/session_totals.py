import pyarrow as pa
from interlace import model


@model(name="mart.session_totals", depends_on=["clean.sessions"], strategy="merge", key="session_id")
def session_totals(clean_sessions):
    """Totals of sessions, gathered in batches and added up at the end."""
    parts = [batch.select(["session_id", "amount"]) for batch in clean_sessions.reader()]
    table = pa.Table.from_batches(parts)
    return table.group_by("session_id").aggregate([("amount", "sum"), ("amount", "count")])
