"""A project with one model of one strategy, and beside it what its table must hold: the model of strategy_model.py and
scd_model.py, driven by the same commands. A command is simulated as a list of moments, so that a process that was killed at
a named point can be looked for among the states that this point allows."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import datetime
import functools
import sqlite3
from collections import Counter

import duckdb
import scd_model
import strategy_model as model

HEADERS = {
    "replace": "strategy: replace",
    "append": "strategy: append",
    "merge": "strategy: merge, key: id",
    "full_merge": "strategy: full_merge, key: id",
    "hash_merge": "strategy: hash_merge, key: id",
    "scd": "strategy: scd, key: id",
    "scd_event": "strategy: scd, key: id, time_column: ts",
    "incremental": "strategy: incremental, time_column: ts",
    "incremental_keyed": "strategy: incremental, time_column: ts, key: id",
}
CONFIG = "database: data/wh.duckdb\nattach: {src: data/src.duckdb, out: data/out.duckdb}\ntimezone: UTC\n"
TYPES = {"id": "INTEGER", "v": "VARCHAR", "ts": "TIMESTAMP", "w": "INTEGER", "x": "VARCHAR"}
TODAY = 10  # of June 2026: the grain that is running
US_PER_DAY = 86_400_000_000


def day(number):
    return datetime.datetime(2026, 6, 1) + datetime.timedelta(days=number - 1)


def day_of(time):
    return (time - datetime.datetime(2026, 6, 1)).days + 1


@dataclasses.dataclass
class State:
    """What must be there. `columns` is None while there is no table; `history` is scd's, `rows` all others'."""

    columns: list | None = None
    rows: list = dataclasses.field(default_factory=list)
    history: list = dataclasses.field(default_factory=list)
    ledger: set = dataclasses.field(default_factory=set)  # days of June
    recorded: bool = False  # a snapshot that passed stands in the state store
    is_delivered: bool = False  # by any command
    promoted: bool | None = False  # None: a promotion was begun, and the next command finishes it
    is_leftover: bool = False  # a table of ours that no record speaks of: it stays until the next write makes it anew


@dataclasses.dataclass
class Outcome:
    """`moments`: (point, state) in the order in which a command passes them."""

    moments: list
    counts: model.Counts
    refused: str | None = None


class StrategyOracle:
    def __init__(self, kind, external):
        self.kind, self.external = kind, external
        self.state = State()
        self.windowed = kind.startswith("incremental")

    # --- One transaction

    def write(self, state, source, columns, now, window):
        """The state after the strategy's statements over `source`, and the counts. May raise Refused."""
        state = copy.deepcopy(state)
        if state.is_leftover:
            state.columns, state.rows, state.history, state.is_leftover = None, [], [], False
        old = state.columns
        if self.kind.startswith("scd"):
            time = "ts" if self.kind == "scd_event" else None
            state.history, counts = scd_model.scd(state.history, source, ["id"], now, time)
        elif self.windowed:
            key = ["id"] if self.kind == "incremental_keyed" else []
            window = window or (datetime.datetime.min, datetime.datetime.max)
            state.rows, counts = model.incremental(state.rows, source, "ts", window, key)
        elif self.kind == "replace":
            state.rows, counts = model.replace(state.rows, source, self.external)
            old = old if self.external else None
        elif self.kind == "append":
            state.rows, counts = model.append(state.rows, source)
        else:
            state.rows, counts = getattr(model, self.kind)(state.rows, source, ["id"])
        state.columns = list(old or []) + [name for name in columns if name not in (old or [])]
        return state, counts

    # --- A command

    def run(self, verb, source, columns, now, bounds=None, batch=0):
        """`batch` 0 is auto. The outcome's last moment is `done` unless it is refused."""
        outcome = Outcome([], model.Counts())
        state = copy.deepcopy(self.state)
        state.promoted = bool(state.promoted) if state.promoted is not None else True
        # A delivery that was not promoted is made again, but for an append, which is on record beside its rows.
        if verb == "apply" and state.recorded and (state.promoted or not self.external):
            return self.promote(outcome, state)
        state.is_leftover = not state.recorded and not self.external and state.columns is not None
        if not state.recorded and not (self.external and self.windowed):
            state.ledger = set()
        if self.windowed:
            return self.run_windows(outcome, state, verb, source, columns, now, bounds, batch)
        outcome.moments.append(("begun", state))
        if self.kind == "append" and verb == "apply" and state.is_delivered:
            return self.promote(outcome, self.commit(outcome, copy.deepcopy(state), model.Counts(0, 0, 0), []))
        try:
            state, counts = self.write(state, source, columns, now, None)
        except model.Refused as refusal:
            outcome.refused = refusal.code
            return outcome
        return self.promote(outcome, self.commit(outcome, state, counts, []))

    def commit(self, outcome, state, counts, days):
        outcome.counts = model.Counts(*(a + b for a, b in zip(outcome.counts, counts, strict=True)))
        state.is_delivered = True
        outcome.moments.append(("committed", copy.deepcopy(state)))
        state.ledger |= {number for number in days if number < TODAY}
        outcome.moments.append(("ledger", copy.deepcopy(state)))
        state.recorded = True
        outcome.moments.append(("recorded", copy.deepcopy(state)))
        return state

    def promote(self, outcome, state):
        outcome.moments.append(("before_promotion", copy.deepcopy(state)))
        outcome.moments.append(("promotion", dataclasses.replace(copy.deepcopy(state), promoted=None)))
        state.promoted = True
        outcome.moments.append(("done", state))
        return outcome

    # --- Windows

    def run_windows(self, outcome, state, verb, source, columns, now, bounds, batch):
        if bounds is None and not state.ledger:
            return self.first_build(outcome, state, source, columns, now)
        first, end = bounds or (TODAY - 1, TODAY)
        days = [number for number in range(first, end) if number <= TODAY]
        if verb == "run":
            days = [number for number in days if number not in state.ledger]
        elif verb == "restate" and state.columns is not None and not state.is_leftover:
            outcome.moments.append(("begun", copy.deepcopy(state)))
            state.ledger -= set(days)
        batches = []
        for number in days:
            if batches and batches[-1][-1] == number - 1 and (batch == 0 or len(batches[-1]) < batch):
                batches[-1].append(number)
            else:
                batches.append([number])
        for members in batches:
            state = self.batch(outcome, state, source, columns, now, members, batch == 0)
            if outcome.refused:
                outcome.moments.append(("refused", state))
                return outcome
        return self.promote(outcome, state)

    def batch(self, outcome, state, source, columns, now, days, halves):
        if outcome.refused:
            return state
        outcome.moments.append(("begun", copy.deepcopy(state)))
        try:
            window = (day(days[0]), day(days[-1] + 1))
            written, counts = self.write(state, source, columns, now, window)
        except model.Refused as refusal:
            # A key may stand on several days: what one day at a time accepts, a batch of them accepts too.
            if len(days) > 1 and (halves or refusal.code == "duplicate_key"):
                middle = len(days) // 2
                state = self.batch(outcome, state, source, columns, now, days[:middle], halves)
                return self.batch(outcome, state, source, columns, now, days[middle:], halves)
            outcome.refused = refusal.code
            return state
        return self.commit(outcome, written, counts, days)

    def first_build(self, outcome, state, source, columns, now):
        """Everything that the source has. What an external table holds of that time is replaced, not doubled; what it
        holds of other times is not ours."""
        if not self.external:
            state.is_leftover = state.columns is not None
        outcome.moments.append(("begun", copy.deepcopy(state)))
        times = [row["ts"] for row in source if row["ts"] is not None]
        days = range(day_of(min(times)), day_of(max(times)) + 1) if times else []
        if self.external and state.columns is not None and not times:
            return self.promote(outcome, self.commit(outcome, state, model.Counts(0, 0, 0), days))
        window = (day(days[0]), day(days[-1] + 1)) if self.external and times else None
        try:
            state, counts = self.write(state, source, columns, now, window)
        except model.Refused as refusal:
            outcome.refused = refusal.code
            return outcome
        return self.promote(outcome, self.commit(outcome, state, counts, days))

    # --- What it looks like

    def expected(self, state):
        """(column names, rows as a multiset), or None when there is no table."""
        if state.columns is None:
            return None
        rows, extra = state.rows, []
        if self.kind.startswith("scd"):
            extra = ["_valid_from", "_valid_to"]
            rows = [{**v.content(), "_valid_from": v.start, "_valid_to": v.end} for v in state.history]
        if self.kind == "hash_merge":
            extra = ["_hash"]
        names = sorted(state.columns + extra)
        return names, Counter(tuple(row.get(name) for name in names) for row in rows)


@functools.cache
def engine():
    return duckdb.connect(":memory:", config={"threads": 1})


class World:
    """The project folder, and what is in it."""

    def __init__(self, folder, kind, external):
        self.folder, self.kind, self.external = folder, kind, external
        where = ", materialise: table, target: out.main.m" if external else ""
        text = f"/* interlace: {{{HEADERS[kind]}{where}}} */\nSELECT * FROM src.items"
        folder.write({"interlace.yaml": CONFIG, "models/m.sql": text})
        folder.load("SELECT 1", "data/out.duckdb")

    def set_source(self, columns, rows):
        """`rows` are dicts; the table is made anew, as its owner would."""
        declared = ", ".join(f"{name} {TYPES[name]}" for name in columns)
        row = f"({', '.join('?' for _ in columns)})"
        with self.attached("data/src.duckdb", "") as source:
            source.execute(f"CREATE OR REPLACE TABLE items ({declared})")
            if rows:
                values = [values[name] for values in rows for name in columns]
                source.execute(f"INSERT INTO items VALUES {', '.join([row] * len(rows))}", values)

    @contextlib.contextmanager
    def attached(self, name, options="(READ_ONLY)"):
        """One engine for the whole session that attaches files: a new one for each look costs more than the look."""
        client = engine()
        client.execute(f"ATTACH '{self.folder.root / name}' AS seen {options}")
        try:
            client.execute("USE seen")
            yield client
        finally:
            client.execute("USE memory")
            client.execute("DETACH seen")

    @staticmethod
    def read(client, sql):
        answer = client.execute(sql)
        names = [column[0].lower() for column in answer.description]
        order = sorted(range(len(names)), key=lambda i: names[i])
        rows = Counter(tuple(row[i] for i in order) for row in answer.fetchall())
        return sorted(names), rows

    def table(self):
        """The physical table, whether or not anybody reads it."""
        name = "data/out.duckdb" if self.external else "data/wh.duckdb"
        if not self.folder.exists(name):
            return None
        pattern = "m" if self.external else "m__[0-9a-f]{16}"
        tables = (
            "SELECT schema_name, table_name FROM duckdb_tables()"
            f" WHERE database_name = 'seen' AND table_name SIMILAR TO '{pattern}'"
        )
        with self.attached(name) as client:
            found = client.execute(tables).fetchall()
            assert len(found) <= 1, found
            return self.read(client, "SELECT * FROM {}.{}".format(*found[0])) if found else None

    def view(self):
        with self.attached("data/wh.duckdb") as client:
            return self.read(client, "SELECT * FROM m")

    def ledger(self):
        """Filled days, from the state store itself: no process is needed, and none may mend what it finds."""
        path = self.folder.root / ".interlace/state.db"
        if not path.exists():
            return set()
        with sqlite3.connect(path) as store:
            pairs = store.execute("SELECT start_us, end_us FROM ledger").fetchall()
        store.close()
        return {number for start, end in pairs for number in self.days(start, end)}

    @staticmethod
    def days(start_us, end_us):
        first = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=start_us)
        assert (end_us - start_us) % US_PER_DAY == 0
        return range(day_of(first), day_of(first) + (end_us - start_us) // US_PER_DAY)
