"""The pure part of the two-process game: versions of its project, the rows that each must have, and what a sequence of
commands may leave behind.

Every model stamps its rows with its own number and carries the stamps of what it reads, so that rows of two versions in
one environment cannot be mistaken for rows of one.
"""

import dataclasses

ROWS = 19  # one a day from 2026-01-01; the clock stands at 2026-01-20
NOW = "2026-01-20T12:00:00"
FAILURES = ("check of a", "check of c", "statement of c")


@dataclasses.dataclass(frozen=True)
class Version:
    """One state of the model files. `d` is how model d is materialised; None: there is no model d."""

    a: int = 1
    b: int = 1
    e: int = 1
    c: int = 1
    m: int = 1
    w: int = 1
    d: str | None = None
    failure: str | None = None

    def files(self):
        stamp_a = -self.a if self.failure == "check of a" else self.a
        stamp_c = -self.c if self.failure == "check of c" else self.c
        where = " WHERE ('x' || id)::INTEGER > 0" if self.failure == "statement of c" else ""
        files = {
            "a": "/* interlace: {checks: [{not_null: [a, id]}, {range: {column: a, min: 0}}, {unique: id}]} */\n"
            f"SELECT {stamp_a} AS a, range AS id, epoch_us(now()) AS tick FROM range({ROWS})",
            "b": f"/* interlace: {{materialise: view}} */\nSELECT a, {self.b} AS b, id, tick FROM a",
            "e": f"/* interlace: {{materialise: ephemeral}} */\nSELECT {self.e} AS e, id FROM a",
            "c": "/* interlace: {checks: [{type: expression, expression: c > 0}, {type: relationships, column: id, to: a, field: id}]} */\n"
            f"SELECT a, b, e, {stamp_c} AS c, id, tick FROM b JOIN e USING (id){where}",
            "m": f"/* interlace: {{strategy: merge, key: id}} */\nSELECT a, {self.m} AS m, id, tick FROM a",
            "w": "/* interlace: {strategy: incremental, time_column: ts, checks: [{not_null: w}]} */\n"
            f"SELECT a, {self.w} AS w, id, TIMESTAMP '2026-01-01' + to_days(id::INTEGER) AS ts FROM a",
        }
        if self.d:
            files["d"] = f"/* interlace: {{materialise: {self.d}}} */\nSELECT c, id, tick FROM c"
        return {f"models/{name}.sql": text for name, text in files.items()}

    def stamps(self):
        """{model with a view: the stamps that all of its rows have}, in the order of STAMPS."""
        stamps = {
            "a": (self.a,),
            "b": (self.a, self.b),
            "c": (self.a, self.b, self.e, self.c),
            "m": (self.a, self.m),
            "w": (self.a, self.w),
        }
        if self.d:
            stamps["d"] = (self.c,)
        return stamps


STAMPS = {"a": "a", "b": "a, b", "c": "a, b, e, c", "m": "a, m", "w": "a, w", "d": "c"}
ALWAYS = ("a", "b", "c", "m", "w")


def summary_sql(model, schema):
    """One text: each stamp's smallest and greatest value, how many rows and ids, and from how many builds. Rows of one
    relation come from one build, except those of w, whose windows do not."""
    builds = "1" if model == "w" else "count(DISTINCT tick)"
    parts = [f"{end}({stamp.strip()})" for stamp in STAMPS[model].split(",") for end in ("min", "max")]
    parts += ["count(*)", "count(DISTINCT id)", builds]
    return f"(SELECT concat_ws(' ', {', '.join(parts)}) FROM {schema}.{model})"


def summary(model, stamps):
    return " ".join(map(str, [*(value for stamp in stamps for value in (stamp, stamp)), ROWS, ROWS, 1]))


def poll_sql(schema):
    """All models that every version has, of one environment, in one statement."""
    return "SELECT " + ", ".join(summary_sql(model, schema) for model in ALWAYS)


def poll_answer(version):
    return ",".join(summary(model, version.stamps()[model]) for model in ALWAYS)


# --- Commands, and what they may leave


@dataclasses.dataclass(frozen=True)
class Shown:
    """An environment: the version it shows (None: it was dropped, or never was), and those of its generations."""

    now: Version | None = None
    generations: tuple = ()

    def to(self, version):
        """After a promotion. What is equal here may be another revision of the same version: then it is a new
        generation."""
        grown = Shown(version, (*self.generations, version))
        if self.generations and self.generations[-1] == version:
            return [Shown(version, self.generations), grown]
        return [grown]


@dataclasses.dataclass(frozen=True)
class Command:
    name: str  # apply, run, gc, rollback, drop, promote, plan
    environment: str = "prod"
    source: str | None = None  # of promote
    version: Version | None = None  # in the player's checkout
    trap: str | None = None  # an INTERLACE_HOOK
    kill_after_s: float | None = None

    def args(self):
        match self.name:
            case "apply":
                return ["apply", "--force", "-e", self.environment]
            case "run":
                return ["run", "-e", self.environment]
            case "gc":
                return ["gc", "--grace", "0d"]
            case "rollback":
                return ["env", "rollback", self.environment]
            case "drop":
                return ["env", "drop", self.environment]
            case "promote":
                return ["env", "promote", self.source, self.environment]
            case "plan":
                return ["plan", "-e", self.environment]

    def effects(self, world):
        """What it can make of the environment when nothing stops it; none: it must be refused."""
        shown = world[self.environment]
        match self.name:
            case "apply" | "run":
                return [] if self.version.failure else shown.to(self.version)
            case "gc" | "plan":
                return [shown]
            case "rollback":
                earlier = shown.generations[:-1] if shown.now else shown.generations
                # A revision of the same version that is not a generation of its own may have come in between.
                targets = {earlier[-1]} if earlier else set()
                return [after for target in targets for after in shown.to(target)]
            case "drop":
                return [Shown(None, shown.generations)] if shown.now else []
            case "promote":
                source = world[self.source]
                return shown.to(source.now) if source.now else []


@dataclasses.dataclass
class Done:
    """A command that was run."""

    command: Command
    code: int
    stdout: str
    stderr: str

    def outcomes(self, world):
        """Worlds that it may have left, `world` being what it found; none: it should not have ended like this."""
        name = self.command.environment
        changed = [{**world, name: shown} for shown in self.command.effects(world)]
        if self.code == 0:
            return changed
        if self.code == -9 or "test hook" in self.stderr:
            return [world, *changed]
        if self.code == 1 and self.command.name == "rollback" and "gc has reclaimed" in self.stderr:
            return [world]
        return [world] if self.code == 1 and not changed else []


def frozen(world):
    return tuple(sorted(world.items()))


def explore(world, sequences):
    """(worlds in the end, all worlds on the way) of commands of several players, in whatever order they came to turn."""
    ends, seen = [], set()

    def go(world, positions):
        key = (frozenset(world.items()), positions)
        if key in seen:
            return
        seen.add(key)
        if all(position == len(sequence) for position, sequence in zip(positions, sequences, strict=True)):
            ends.append(world)
        for i, sequence in enumerate(sequences):
            if positions[i] < len(sequence):
                after = tuple(position + (j == i) for j, position in enumerate(positions))
                for outcome in sequence[positions[i]].outcomes(world):
                    go(outcome, after)

    go(world, (0,) * len(sequences))
    return ends, [dict(world) for world, _ in seen]
