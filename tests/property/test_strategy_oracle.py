"""Random sources through every strategy: changes, NULLs, repeats, late and vanished rows, columns that come and go, windows,
kills. After each command the table, the counts and the ledger are those of the oracle (spec 02 §4–§8, §10–§12, §14)."""

import copy
import datetime
import itertools
import shutil

import pytest
from chance import Chance, examples
from hypothesis import given, note
from hypothesis import strategies as st
from scd_model import faults
from strategy_world import HEADERS, TODAY, StrategyOracle, World, day

# Where a process may die, and which moments of the oracle that leaves possible.
HOOKS = {
    "build.begun": "begun",
    "build.statement": "begun",
    "build.written": "begun",
    "build.checked": "begun",
    "build.committed": "committed",
    "build.ledger": "ledger",
    "build.recorded": "recorded",
    "apply.before_promotion": "before_promotion",
    "promotion.intended": "promotion",
    "promotion.view": "promotion",
    "promotion.moved": "promotion",
}
# What the engine may have to do without.
WITHOUT = ["", "merge_actions", "merge,create_or_replace,except_in_delete"]
OWNED = [kind for kind in HEADERS if kind != "append"]
serial = itertools.count()


class Source:
    """The table of the outside world."""

    def __init__(self, chance, kind):
        self.chance, self.kind = chance, kind
        self.columns = ["id", "v", "ts"]
        self.rows = [self.row(key) for key in range(1, 4)]

    def row(self, key):
        chance = self.chance
        time = day(chance.number(1, TODAY)) + datetime.timedelta(hours=chance.one([0, 8, 12]))
        return {"id": key, "v": chance.one(["a", "b", "", None]), "ts": time, **self.more()}

    def more(self):
        values = {"w": [1, 2, None], "x": ["y", "", None]}
        return {name: self.chance.one(values[name]) for name in self.columns if name in values}

    def change(self):
        chance = self.chance
        if chance.one_in(5):
            self.change_columns()
        kept = []
        for row in self.rows:
            fate = chance.number(0, 5)
            if fate == 1:
                row = {**row, "v": chance.one(["a", "b", "", None]), **self.more()}
            elif fate == 2:
                row = self.row(row["id"])
            if fate != 3:
                kept.append(row)
            if fate == 4 and self.kind in ("scd_event", "incremental", "replace", "append"):
                kept.append(self.row(row["id"]))
        taken = {row["id"] for row in kept}
        self.rows = kept + [self.row(key) for key in range(1, 7) if key not in taken and chance.one_in(4)]
        self.rows = self.rows[:8]

    def change_columns(self):
        name = self.chance.one(["w", "x"])
        if name in self.columns:
            self.columns.remove(name)
            self.rows = [{n: row[n] for n in row if n != name} for row in self.rows]
        else:
            self.columns.insert(self.chance.number(0, len(self.columns)), name)
            self.rows = [{**row, **{n: v for n, v in self.more().items() if n == name}} for row in self.rows]

    def delivered(self):
        """The rows of this run: mostly the state, now and then with a fault of the day. One fault at a time, so that the
        code of the refusal is known; repeated rows break a promise only where the strategy says so."""
        rows = [dict(row) for row in self.rows]
        if rows and self.chance.one_in(4):
            row = self.chance.one(rows)
            rows.append(self.chance.one([dict(row), {**row, "v": "other"}]))
        elif self.chance.one_in(8):
            rows.append({**self.row(9), "id": None})
        elif self.chance.one_in(8):
            rows.append({**self.row(9), "ts": None})
        return [{name: row[name] for name in self.columns} for row in rows]


class Play:
    def __init__(self, make_project, chance, kind, external):
        self.chance, self.kind = chance, kind
        self.folder = make_project({}, name=f"world{next(serial)}")
        self.folder.env["INTERLACE_WITHOUT"] = chance.one(WITHOUT)
        self.world = World(self.folder, kind, external)
        self.oracle = StrategyOracle(kind, external)
        self.source = Source(chance, kind)
        self.delivered = None
        self.now = day(TODAY) + datetime.timedelta(hours=13)

    def step(self, index):
        if self.delivered is None or not self.chance.one_in(4):
            self.source.change()
            self.delivered = (list(self.source.columns), self.source.delivered())
            self.world.set_source(*self.delivered)
        self.now += datetime.timedelta(minutes=self.chance.number(0, 2))
        verb = "apply" if index == 0 else self.chance.one(["run", "run", "restate", "apply"])
        bounds, batch, at_once = None, 0, 0
        if self.oracle.windowed and verb != "apply" and not self.chance.one_in(3):
            first = self.chance.number(1, TODAY)
            bounds = (first, first + self.chance.number(1, 6))
            batch = self.chance.one([0, 1, 2, 3])
            at_once = self.chance.one([0, 2, 3])
        hook = None
        if self.chance.one_in(3):
            hook = self.chance.one(HOOKS), self.chance.number(1, 1 if bounds is None else 3)
            if hook[0] == "build.statement":
                hook = hook[0], self.chance.number(1, 12)
        self.command(verb, bounds, batch, at_once, hook)

    def command(self, verb, bounds, batch, at_once, hook):
        columns, rows = self.delivered
        outcome = self.oracle.run(verb, rows, columns, self.now, bounds, batch)
        args = [verb, "--json"]
        if bounds is not None:
            args += ["--start", day(bounds[0]).date(), "--end", day(bounds[1]).date()]
            args += ["--batch", batch] if batch else []
            args += ["--concurrency", at_once] if at_once else []
        env = {"INTERLACE_NOW": self.now.isoformat()}
        if hook is not None:
            env["INTERLACE_HOOK"] = f"{hook[0]}=kill@{hook[1]}"
        note(f"{columns}\n" + "\n".join(map(str, rows)) + f"\n$ {' '.join(map(str, args))} {env}")
        result = self.folder.run(*args, env=env)
        if result.code == -9:
            self.take_killed(outcome, HOOKS[hook[0]])
        elif outcome.refused:
            assert result.code == 1, result
            assert result.json["error"]["details"]["code"] == outcome.refused, result
            self.take(outcome.moments[-1][1])
        else:
            assert result.code == 0, result
            self.take(outcome.moments[-1][1])
            counts = result.json["rows"].get("m") or {}
            found = tuple(counts.get(name, 0) for name in ("inserted", "updated", "deleted"))
            assert found == tuple(outcome.counts), result

    def take(self, state):
        """The world must be in `state`, and is from now on."""
        assert self.world.table() == self.oracle.expected(state)
        if self.oracle.windowed:
            assert self.world.ledger() == state.ledger
        if state.promoted and not self.oracle.external:
            assert self.world.view() == self.oracle.expected(state)
        assert faults(state.history, ["id"]) == []
        self.oracle.state = copy.deepcopy(state)

    def take_killed(self, outcome, point):
        table, ledger = self.world.table(), self.world.ledger()
        allowed = [state for at, state in outcome.moments if at == point]
        # Before anything began; a promotion that an earlier command left is finished first, and may be killed again.
        is_left_over = point == "promotion" and self.oracle.state.promoted is None
        allowed += [self.oracle.state] if point == "begun" or is_left_over else []
        fitting = [state for state in allowed if self.fits(state, table, ledger)]
        assert fitting, (point, table, ledger, [(self.oracle.expected(s), s.ledger) for s in allowed])
        self.take(fitting[0])

    def fits(self, state, table, ledger):
        return self.oracle.expected(state) == table and (not self.oracle.windowed or state.ledger == ledger)


def play(make_project, chance, kind, external, steps):
    game = Play(make_project, chance, kind, external)
    try:
        for index in range(steps):
            game.step(index)
    finally:
        shutil.rmtree(game.folder.root)


@pytest.mark.parametrize("kind", OWNED)
@examples(16)
@given(data=st.data())
def test_02_4_1_a_table_of_ours_is_what_the_oracle_says(make_project, kind, data):
    play(make_project, Chance(data), kind, external=False, steps=5)


@pytest.mark.parametrize("kind", list(HEADERS))
@examples(9)
@given(data=st.data())
def test_02_4_1_an_external_table_is_what_the_oracle_says(make_project, kind, data):
    play(make_project, Chance(data), kind, external=True, steps=5)
