"""What each strategy leaves in a table, said with dicts and lists: an oracle that shares nothing with the SQL.

A row is a dict of column to value; None is NULL. A table is a list of rows. Every function takes the table as it is and
the source's rows, changes nothing of them, and gives the new table and its counts (inserted, updated, deleted)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

Row = dict[str, Any]
Table = list[Row]


class Counts(NamedTuple):
    inserted: int = 0
    updated: int = 0
    deleted: int = 0


class Refused(Exception):
    """The source breaks a promise; `code` is that of the error."""

    def __init__(self, code: str):
        super().__init__(code)
        self.code = code


def key_of(row: Row, key: Sequence[str]) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in key)


def check_keys(source: Table, key: Sequence[str]) -> None:
    if any(None in key_of(row, key) for row in source):
        raise Refused("null_key")
    if len({key_of(row, key) for row in source}) < len(source):
        raise Refused("duplicate_key")


def collapse(source: Table) -> Table:
    """Rows that are equal in all columns become one."""
    return list({tuple(row.items()): row for row in source}.values())


def with_columns(table: Table, source: Table) -> Table:
    """The table after new columns of the source were added to it."""
    names = {name: None for row in [*table, *source] for name in row}
    return [{**names, **row} for row in table]


def replace(table: Table, source: Table, external: bool = False) -> tuple[Table, Counts]:
    return list(source), Counts(inserted=len(source), deleted=len(table) if external else 0)


def append(table: Table, source: Table) -> tuple[Table, Counts]:
    return [*table, *source], Counts(inserted=len(source))


def merge(table: Table, source: Table, key: Sequence[str]) -> tuple[Table, Counts]:
    return _upsert(table, source, key, lambda old, new: True)


def hash_of(row: Row, key: Sequence[str]) -> str:
    """Of the produced columns that are no key, by name: `n;` for NULL, else length and text (spec 02 §4.5)."""
    parts = []
    for name in sorted(row, key=str.casefold):
        if name not in key:
            text = None if row[name] is None else str(row[name])
            parts.append("n;" if text is None else f"{len(text)}:{text};")
    return hashlib.md5("".join(parts).encode()).hexdigest()


def hash_merge(table: Table, source: Table, key: Sequence[str]) -> tuple[Table, Counts]:
    hashed = [{**row, "_hash": hash_of(row, key)} for row in source]
    return _upsert(table, hashed, key, lambda old, new: old["_hash"] != new["_hash"])


def _upsert(
    table: Table, source: Table, key: Sequence[str], is_written: Callable[[Row, Row], bool]
) -> tuple[Table, Counts]:
    check_keys(source, key)
    if not table:
        return list(source), Counts(inserted=len(source))
    arriving = {key_of(row, key): row for row in source}
    stored = {key_of(row, key) for row in table}
    result, updated = [], 0
    for row in with_columns(table, source):
        new = arriving.get(key_of(row, key))
        if new is not None and set(new) - set(key) and is_written(row, new):
            result.append({**row, **new})
            updated += 1
        else:
            result.append(row)
    inserted = [row for row in source if key_of(row, key) not in stored]
    return [*result, *inserted], Counts(inserted=len(inserted), updated=updated)


def full_merge(table: Table, source: Table, key: Sequence[str]) -> tuple[Table, Counts]:
    source = collapse(source)
    check_keys(source, key)
    arriving = {key_of(row, key) for row in source}
    kept = [row for row in table if key_of(row, key) in arriving]
    result, counts = _upsert(kept, source, key, lambda old, new: any(old.get(name) != new[name] for name in new))
    return result, Counts(counts.inserted, counts.updated, len(table) - len(kept))


def incremental(
    table: Table, source: Table, time: str, window: tuple[Any, Any], key: Sequence[str] = ()
) -> tuple[Table, Counts]:
    def lies_in_window(row: Row) -> bool:
        return row[time] is not None and window[0] <= row[time] < window[1]

    arriving = [row for row in source if lies_in_window(row)]
    if key:
        return merge(table, arriving, key)
    kept = [row for row in table if not lies_in_window(row)]
    return [*kept, *arriving], Counts(inserted=len(arriving), deleted=len(table) - len(kept))
