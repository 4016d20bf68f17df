"""Delay that an aircraft takes along from one departure to the next.

Only departures from New York are known, so that between two of them an aircraft has flown out and back. The time in the
schedule that this does not need is slack. A late departure hands its delay on to the next one, less the slack; what
arrives there is inherited, the rest of that flight's delay is its own. The queue of an aircraft holds where the delay
that it carries came from, oldest first: slack takes from the front, own delay joins at the back. So each minute of
inherited delay can be laid at the door of a flight hours before, which a window over rows cannot say.
"""

from collections import Counter, deque

import pyarrow as pa
from interlace import check, model, var

OUTPUT = pa.schema(
    {
        "flight_id": pa.string(),
        "tailnum": pa.string(),
        "leg": pa.int16(),
        "slack_min": pa.int32(),
        "inherited_min": pa.int16(),
        "own_min": pa.int16(),
        "delay_origin_id": pa.string(),
    }
)
GROUNDED_MIN = 24 * 60  # a longer pause ends the rotation: the next departure starts afresh


class Rotation:
    """One aircraft between two long pauses."""

    def __init__(self, turn_min):
        self.turn_min = turn_min
        self.leg = 0
        self.free_at = None  # minutes: when it could leave again if it had left on time
        self.carried = deque()  # [flight_id, minutes], oldest first
        self.carried_min = 0

    def _drop_oldest(self, minutes):
        while minutes > 0 and self.carried:
            oldest = self.carried[0]
            taken = min(minutes, oldest[1])
            oldest[1] -= taken
            self.carried_min -= taken
            minutes -= taken
            if oldest[1] == 0:
                self.carried.popleft()

    def depart(self, flight_id, scheduled, delay_min, flown_min):
        """Gives (leg, slack, inherited, own, origin) of this departure."""
        late_min = max(delay_min, 0)
        slack_min = None
        if self.leg > 0:
            slack_min = scheduled - self.free_at
            self._drop_oldest(slack_min)
            self._drop_oldest(self.carried_min - late_min)  # made up for on the ground or in the air
        inherited_min = self.carried_min
        own_min = late_min - inherited_min
        origin = self.carried[0][0] if self.carried else None
        if own_min:
            self.carried.append([flight_id, own_min])
            self.carried_min += own_min
        self.leg += 1
        self.free_at = scheduled + 2 * (flown_min + self.turn_min)
        return self.leg, slack_min, inherited_min, own_min, origin


@model(
    name="clean.rotations",
    description="Own and inherited delay of each departure",
    columns={
        "flight_id": "VARCHAR",
        "tailnum": "VARCHAR",
        "leg": "SMALLINT",
        "slack_min": "INTEGER",
        "inherited_min": "SMALLINT",
        "own_min": "SMALLINT",
        "delay_origin_id": "VARCHAR",
    },
    checks=[
        {"unique": "flight_id"},
        {"not_null": ["flight_id", "tailnum", "leg", "inherited_min", "own_min"]},
        {"range": {"column": "leg", "min": 1}},
        {"range": {"column": "inherited_min", "min": 0}},
        {"range": {"column": "own_min", "min": 0}},
        {
            "type": "expression",
            "name": "inherited_delay_has_an_origin",
            "expression": "(inherited_min > 0) = (delay_origin_id IS NOT NULL)",
        },
        {"relationships": {"column": "flight_id", "to": "clean.flights", "field": "flight_id"}},
        {"relationships": {"column": "delay_origin_id", "to": "clean.flights", "field": "flight_id"}},
    ],
)
def rotations(clean_departures):
    turn_min = var("turn_minutes")
    tailnum, last, rotation = None, None, None
    for batch in clean_departures.reader():
        rows = []
        seconds = batch["scheduled_utc"].cast(pa.timestamp("s")).cast(pa.int64()).to_pylist()
        for aircraft, flight_id, second, delay_min, flown_min in zip(
            batch["tailnum"].to_pylist(),
            batch["flight_id"].to_pylist(),
            seconds,
            batch["dep_delay_min"].to_pylist(),
            batch["flown_min"].to_pylist(),
        ):
            scheduled = second // 60
            if last is not None and (aircraft, scheduled) < (tailnum, last):
                raise ValueError(f"{flight_id} is out of order: {aircraft} after {tailnum}")
            if aircraft != tailnum or scheduled - last > GROUNDED_MIN:
                rotation = Rotation(turn_min)
            tailnum, last = aircraft, scheduled
            rows.append((flight_id, aircraft, *rotation.depart(flight_id, scheduled, delay_min, flown_min)))
        if rows:
            yield pa.record_batch(list(zip(*rows)), schema=OUTPUT)


@check(model="clean.rotations", name="legs_count_up")
def legs_count_up(rotations):
    """An aircraft is never at leg n more often than it was at leg n - 1."""
    seen = Counter()
    for batch in rotations.reader():
        seen.update(zip(batch["tailnum"].to_pylist(), batch["leg"].to_pylist()))
    return sum(times > seen[aircraft, leg - 1] for (aircraft, leg), times in seen.items() if leg > 1)
