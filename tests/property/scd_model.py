"""scd, rule by rule (spec 02 §8): one row after another, as the rules are told. No SQL, no sets: an oracle.

A version is a Version; a history is the list of all versions of all keys. Rows are dicts; times are anything that
compares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from strategy_model import Counts, Refused, Row, Table, collapse, key_of


@dataclass(frozen=True)
class Version:
    row: tuple[tuple[str, Any], ...]
    start: Any
    end: Any = None  # None: open

    def content(self) -> Row:
        return dict(self.row)

    def is_open(self) -> bool:
        return self.end is None

    def holds(self, row: Row) -> bool:
        """Only produced columns are compared; a version from before a column came holds NULL in it."""
        content = self.content()
        return all(content.get(name) == value for name, value in row.items())


def version(row: Row, start: Any, end: Any = None) -> Version:
    return Version(tuple(sorted(row.items())), start, end)


def by_key(history: list[Version], key: Sequence[str]) -> dict[tuple[Any, ...], list[Version]]:
    grouped: dict[tuple[Any, ...], list[Version]] = {}
    for v in history:
        grouped.setdefault(key_of(v.content(), key), []).append(v)
    return grouped


class Key:
    """The versions of one key while a batch is written."""

    def __init__(self, versions: list[Version], now: Any, time: str | None):
        self.versions = versions
        self.stored_count = len(versions)
        self.touched: set[int] = set()  # stored versions that were closed or cut, by position
        self.inserted = 0
        self.now = now
        self.time = time

    def open_index(self) -> int | None:
        found = [i for i, v in enumerate(self.versions) if v.is_open()]
        assert len(found) <= 1, "two open versions"
        return found[0] if found else None

    def close(self, index: int, end: Any) -> None:
        if index < self.stored_count:
            self.touched.add(index)
        self.versions[index] = replace(self.versions[index], end=end)

    def insert(self, row: Row, start: Any, end: Any = None) -> None:
        self.versions.append(version(row, start, end))
        self.inserted += 1

    def is_known(self, row: Row) -> bool:
        return any(v.holds(row) for v in self.versions)

    def last_end(self) -> Any:
        return max(v.end for v in self.versions)

    def vanish(self) -> None:
        index = self.open_index()
        if index is not None:
            self.close(index, max(self.now, self.versions[index].start))

    # Processing time

    def set(self, row: Row) -> None:
        index = self.open_index()
        if index is None:
            ends = [v.end for v in self.versions]
            self.insert(row, max([self.now, *ends]))
        elif not self.versions[index].holds(row):
            moment = max(self.now, self.versions[index].start)
            self.close(index, moment)
            self.insert(row, moment)

    # Event time: the first rule that fits

    def place(self, row: Row, is_latest: bool) -> None:
        assert self.time is not None
        event = row[self.time]
        index = self.open_index()
        if not self.versions:  # rule 2, last sentence
            self.insert(row, event)
            return
        if index is None:  # rule 0
            last = self.last_end()
            if event >= last:
                self.insert(row, event)
                return
            if is_latest:
                self.insert(row, max(self.now, last))
                return
            if not self.is_known(row):
                self.place_late(row, event)
            return
        current = self.versions[index]
        current_event = current.content()[self.time]
        corrects = is_latest and event == current_event and not current.holds(row)
        if self.is_known(row) and not corrects:  # rule 1
            return
        if event > current_event:  # rule 2
            start = max(event, current.start)
            self.close(index, start)
            self.insert(row, start)
        elif event == current_event:  # rule 3
            self.close(index, current.start)
            self.insert(row, current.start)
        else:  # rule 4
            self.place_late(row, event)

    def place_late(self, row: Row, event: Any) -> None:
        for i, v in enumerate(self.versions):
            if v.start <= event and (v.is_open() or event < v.end):
                end = v.end
                self.close(i, event)
                self.insert(row, event, end)
                return
        self.insert(row, event, min(v.start for v in self.versions if v.start > event))


def scd(
    history: list[Version], source: Table, key: Sequence[str], now: Any, time: str | None = None
) -> tuple[list[Version], Counts]:
    source = collapse(source)
    if any(None in key_of(row, key) for row in source):
        raise Refused("null_key")
    if time is not None and any(row[time] is None for row in source):
        raise Refused("null_time")
    unit = [*key, time] if time is not None else list(key)
    if len({key_of(row, unit) for row in source}) < len(source):
        raise Refused("duplicate_key")

    keys = {at: Key(versions, now, time) for at, versions in by_key(history, key).items()}
    arriving: dict[tuple[Any, ...], Table] = {}
    for row in source:
        arriving.setdefault(key_of(row, key), []).append(row)
    for at, state in keys.items():
        if at not in arriving:
            state.vanish()
    for at, rows in arriving.items():
        state = keys.setdefault(at, Key([], now, time))
        if time is None:
            state.set(rows[0])
            continue
        rows = sorted(rows, key=lambda row: row[time])
        for row in rows:
            state.place(row, row is rows[-1])
    versions = [v for state in keys.values() for v in state.versions]
    return versions, Counts(
        sum(state.inserted for state in keys.values()), sum(len(state.touched) for state in keys.values())
    )


def faults(history: list[Version], key: Sequence[str]) -> list[str]:
    """Breaches of what always holds: at most one open version, start <= end, no overlap."""
    found = []
    for at, versions in by_key(history, key).items():
        if sum(v.is_open() for v in versions) > 1:
            found.append(f"{at}: two open versions")
        found += [f"{at}: {v} ends before it starts" for v in versions if not v.is_open() and v.end < v.start]
        lasting = sorted((v for v in versions if v.is_open() or v.end > v.start), key=lambda v: v.start)
        for before, after in zip(lasting, lasting[1:], strict=False):
            if before.is_open() or before.end > after.start:
                found.append(f"{at}: {before} overlaps {after}")
    return found
