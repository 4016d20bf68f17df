"""Two processes at once do apply, run, gc, rollback, promote and drop at random, and die at random, on one project. After each
round: no lost table, no view without a table, no mixed promotion, and each environment shows the rows of a version that the
commands could have left, in some order (spec 03 §6, §7, §9, §10, §11).

Each player has model files of its own, as two working copies of one project have, and shares state and warehouse with the
other. INTERLACE_GAME_SECONDS asks for a long game (other moves each time, and on a lake too), INTERLACE_GAME_SEED for the
moves of one that was played.
"""

import contextlib
import os
import random
import sqlite3
import threading
import time

import duckdb
import pytest
from chance import SANITIZED
from game_model import (
    FAILURES,
    NOW,
    Command,
    Done,
    Shown,
    Version,
    explore,
    poll_answer,
    poll_sql,
    summary,
    summary_sql,
)
from test_property_apply import HOOKS

SECONDS = float(os.environ.get("INTERLACE_GAME_SECONDS", "0"))
SEED = int(os.environ.get("INTERLACE_GAME_SEED", "0")) or (time.time_ns() if SECONDS else 7)
ROUNDS = 3 if SANITIZED else 8
ENVIRONMENTS = ("prod", "dev")
TRAPS = [*HOOKS, "gc.taken", "gc.drop"]
ACTIONS = ["apply", "apply", "apply", "run", "run", "gc", "rollback", "rollback", "drop", "promote", "plan"]


def schema_of(environment):
    return "main" if environment == "prod" else f"{environment}__main"


class Native:
    """A DuckDB file: the players' own processes poll prod while they hold it."""

    config = "database: .interlace/warehouse.duckdb\n"

    def __init__(self, root):
        self.root = root
        self.answers = root / "polled"

    def player_environment(self):
        return {"INTERLACE_POLL_SQL": poll_sql("main"), "INTERLACE_POLL_FILE": self.answers}

    @contextlib.contextmanager
    def polling(self):
        """Gives {environment: what was seen} when it is left."""
        self.answers.unlink(missing_ok=True)
        seen = {}
        yield seen
        if self.answers.exists():
            # Who is killed may leave half a line.
            seen["prod"] = {line[:-1] for line in self.answers.open(encoding="utf-8") if line.endswith("\n")}

    def connect(self):
        return duckdb.connect(str(self.root / ".interlace/warehouse.duckdb"), read_only=True)


class Lake:
    """A DuckLake with a SQLite catalog: a third process polls all environments."""

    def __init__(self, root):
        self.root = root
        self.config = f"database: ducklake:sqlite:{root}/lake.sqlite\nalias: warehouse\ndata_path: {root}/parquet\n"

    def player_environment(self):
        return {}

    def connect(self):
        extensions = os.path.join(
            os.path.dirname(os.environ.get("INTERLACE_BIN", "build-test/interlace")), "extensions"
        )
        connection = duckdb.connect(":memory:", config={"extension_directory": extensions})
        for name in ("sqlite_scanner", "ducklake"):
            connection.execute(f"LOAD {name}")
        connection.execute(
            f"ATTACH 'ducklake:sqlite:{self.root}/lake.sqlite' AS warehouse"
            " (READ_ONLY, META_JOURNAL_MODE 'WAL', META_BUSY_TIMEOUT 30000)"
        )
        connection.execute("USE warehouse")
        return connection

    @contextlib.contextmanager
    def polling(self):
        seen, stop = {name: set() for name in ENVIRONMENTS}, threading.Event()

        def poll():
            with self.connect() as connection:
                while not stop.is_set():
                    for name, answers in seen.items():
                        try:
                            answers.add(",".join(connection.execute(poll_sql(schema_of(name))).fetchone()))
                        except duckdb.Error as error:
                            answers.add(f"error: {error}")

        poller = threading.Thread(target=poll)
        poller.start()
        yield seen
        stop.set()
        poller.join()


class Player:
    def __init__(self, game, number):
        self.game = game
        self.folder = game.make_project(
            {"interlace.yaml": "name: shop\n" + game.warehouse.config}, name=f"player{number}"
        )
        self.folder.env.update({"INTERLACE_NOW": NOW, **game.warehouse.player_environment()})
        (self.folder.root / ".interlace").symlink_to(game.shared)
        self.written = set()

    def checkout(self, version):
        files = version.files()
        self.folder.write({**{name: None for name in self.written - set(files)}, **files})
        self.written = set(files)

    def do(self, command):
        if command.version:
            self.checkout(command.version)
        process = self.folder.spawn(*command.args(), env={"INTERLACE_HOOK": command.trap} if command.trap else None)
        killer = threading.Timer(command.kill_after_s, process.kill) if command.kill_after_s else None
        if killer:
            killer.start()
        stdout, stderr = process.communicate(timeout=300)
        if killer:
            killer.cancel()
        return Done(command, process.returncode, stdout, stderr)

    def play(self, commands, done):
        done += [self.do(command) for command in commands]


class Game:
    def __init__(self, make_project, tmp_path, warehouse, seed):
        self.make_project = make_project
        self.chance = random.Random(seed)
        self.shared = tmp_path / "shared"
        self.shared.mkdir()
        self.warehouse = warehouse(tmp_path)
        if isinstance(self.warehouse, Native):
            (tmp_path / ".interlace").symlink_to(self.shared)
        self.players = [Player(self, number) for number in (1, 2)]
        self.versions = [Version(), Version()]
        self.stamp = 1
        self.world = {name: Shown() for name in ENVIRONMENTS}
        self.usual_s = 1.0
        self.log = []

    # --- Moves

    def edited(self, version):
        changes = {"failure": self.chance.choice(FAILURES) if self.chance.random() < 0.25 else None}
        for _ in range(self.chance.choice([0, 1, 1, 2])):
            model = self.chance.choice("abecmwd")
            if model == "d":
                changes[model] = self.chance.choice([None, "view", "virtual"])
                continue
            self.stamp += 1
            changes[model] = self.chance.choice([self.stamp, self.stamp, self.chance.randint(1, self.stamp)])
        return Version(**{**vars(version), **changes})

    def command(self, player):
        name = self.chance.choice(ACTIONS)
        environment = "dev" if name == "drop" else self.chance.choice(ENVIRONMENTS)
        self.versions[player] = version = self.edited(self.versions[player])
        trap = kill = None
        match self.chance.randint(0, 9):
            case 0 | 1:
                kill = self.chance.random() * self.usual_s
            case 2 | 3:
                action = self.chance.choice(["kill", "kill", "fail", "wait:100"])
                trap = f"{self.chance.choice(TRAPS)}={action}@{self.chance.randint(1, 6)}"
        source = None
        if name == "promote":
            source = "dev" if environment == "prod" else "prod"
        return Command(name, environment, source, version, trap, kill)

    # --- What must hold

    def state(self, sql):
        with contextlib.closing(sqlite3.connect(self.shared / "state.db")) as store:
            return store.execute(sql).fetchall()

    def check_state(self, killed):
        assert self.state("SELECT * FROM intents") == []
        assert killed or self.state("SELECT * FROM locks") == []
        for [pid] in self.state("SELECT pid FROM locks"):
            assert not os.path.exists(f"/proc/{pid}")
        lost = self.state(
            "SELECT * FROM pointers WHERE (model, fingerprint, revision) NOT IN (SELECT name, fingerprint, revision"
            " FROM snapshots) AND model <> 'e'"
        )
        assert lost == []

    def state_of_pointer(self, model, schema):
        environment = "prod" if schema == "main" else schema.split("__")[0]
        return self.state(
            "SELECT is_view, physical_name FROM pointers JOIN snapshots ON name = model"
            " AND snapshots.fingerprint = pointers.fingerprint AND snapshots.revision = pointers.revision"
            f" WHERE model = '{model}' AND environment = '{environment}'"
        )

    def relations(self, connection):
        """{(schema, name): its text when it is a view}"""
        return {
            (schema, name): sql
            for schema, name, sql in connection.execute(
                "SELECT schema_name, table_name, NULL FROM duckdb_tables() WHERE database_name = 'warehouse' AND schema_name <> 'interlace'"
                " UNION ALL SELECT schema_name, view_name, sql FROM duckdb_views()"
                " WHERE database_name = 'warehouse' AND NOT internal"
            ).fetchall()
        }

    def check_relations(self, relations):
        """No snapshot without its relation, and each pointer has the view that it should have, and no other."""
        recorded = set(self.state("SELECT physical_schema, physical_name FROM snapshots"))
        assert recorded <= set(relations), "a table is lost"
        wanted = {
            (schema_of(environment), model): relation
            for environment, model, relation in self.state(
                "SELECT environment, model, physical_name FROM pointers JOIN snapshots"
                " ON name = model AND snapshots.fingerprint = pointers.fingerprint AND snapshots.revision = pointers.revision"
            )
        }
        views = {place: sql for place, sql in relations.items() if not place[0].startswith("interlace__")}
        assert set(views) == set(wanted)
        for place, sql in views.items():
            assert wanted[place] in sql, (place, sql)

    def check_view_models(self, connection, relations):
        """A model that is a view shows the very rows that its environment shows of what it reads."""
        for reader, read in (("b", "a"), ("d", "c")):
            for schema in map(schema_of, ENVIRONMENTS):
                if (schema, reader) not in relations:
                    continue
                [[is_view, text]] = self.state_of_pointer(reader, schema)
                if not is_view:
                    continue
                ticks = [
                    connection.execute(f"SELECT DISTINCT tick FROM {schema}.{model}").fetchall()
                    for model in (reader, read)
                ]
                assert ticks[0] == ticks[1], (schema, reader, text)

    def shown(self, connection, relations, environment):
        """What the views of an environment say, a text for each."""
        schema = schema_of(environment)
        models = sorted(name for place, name in relations if place == schema)
        return {model: connection.execute(f"SELECT {summary_sql(model, schema)}").fetchone()[0] for model in models}

    def numbers_of_generations(self):
        return dict(self.state("SELECT environment, max(generation) FROM generations GROUP BY 1"))

    def check_world(self, worlds):
        """One of the worlds is what is there; that one is gone on with."""
        with self.warehouse.connect() as connection:
            relations = self.relations(connection)
            self.check_relations(relations)
            self.check_view_models(connection, relations)
            found = {name: self.shown(connection, relations, name) for name in ENVIRONMENTS}
        counts = self.numbers_of_generations()
        for world in worlds:
            wanted = {
                name: {m: summary(m, stamps) for m, stamps in shown.now.stamps().items()} if shown.now else {}
                for name, shown in world.items()
            }
            if wanted == found and all(len(shown.generations) == counts.get(name, 0) for name, shown in world.items()):
                self.world = world
                return
        pytest.fail(f"no order of the commands leaves this: {found} {counts}\nallowed: {worlds}")

    def check_polled(self, seen, worlds):
        for environment, answers in seen.items():
            versions = {world[environment].now for world in worlds}
            allowed = {poll_answer(version) for version in versions if version}
            for answer in answers - allowed:
                is_absent = None in versions and "does not exist" in answer
                assert is_absent, f"a reader of {environment} saw {answer!r}; allowed: {allowed}"

    # --- Rounds

    def start(self):
        for player in self.players:
            player.checkout(Version())
        begun = time.monotonic()
        done = self.players[0].do(Command("apply"))
        assert done.code == 0, done
        self.usual_s = time.monotonic() - begun
        self.world["prod"] = Shown(Version(), (Version(),))

    def round(self):
        counts = [self.chance.randint(1, 2), self.chance.choice([0, 1, 1, 2])]
        commands = [[self.command(player) for _ in range(count)] for player, count in enumerate(counts)]
        results = [[], []]
        with self.warehouse.polling() as seen:
            threads = [
                threading.Thread(target=player.play, args=(commands[i], results[i]))
                for i, player in enumerate(self.players)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.log.append(results)
        assert [len(result) for result in results] == counts, "a player did not finish"
        self.players[0].folder.ok("env", "list")  # any command finishes what a dead one left
        everything = [done for result in results for done in result]
        assert not [done for done in everything if "cannot be finished" in done.stderr]
        self.check_state(any(done.code == -9 for done in everything))
        ends, worlds = explore(self.world, results)
        assert ends, "a command ended as it should not have in any order"
        self.check_polled(seen, worlds)
        self.check_world(ends)

    def finish(self):
        """The lock is free, nothing is left over, and both environments can be brought to one version."""
        folder = self.players[0].folder
        folder.ok("gc", "--grace", "0d", "--lock-timeout", "0s")
        recorded = self.state("SELECT DISTINCT physical_schema, physical_name FROM snapshots")
        pointed = self.state(
            "SELECT DISTINCT physical_schema, physical_name FROM snapshots JOIN pointers ON name = model"
            " AND snapshots.fingerprint = pointers.fingerprint AND snapshots.revision = pointers.revision"
        )
        with self.warehouse.connect() as connection:
            own = {place for place in self.relations(connection) if place[0].startswith("interlace__")}
        assert own == set(recorded) == set(pointed)
        self.players[0].checkout(Version(c=self.stamp + 1))
        for environment in ENVIRONMENTS:
            folder.ok("apply", "--force", "-e", environment)
            assert folder.json("plan", "-e", environment)["changes"] == []

    def tell(self):
        lines = [f"INTERLACE_GAME_SEED={SEED}, round {len(self.log)}, before it {self.world}"]
        for number, results in enumerate(self.log[-1] if self.log else []):
            for done in results:
                lines.append(f"--- player {number}: {done.command}\nexit {done.code}\n{done.stdout}{done.stderr}")
        return "\n".join(lines)


@pytest.mark.timeout(int(max(300, 2 * SECONDS + 120)))
@pytest.mark.parametrize("warehouse", [Native, Lake] if SECONDS else [Native])
def test_03_11_two_processes_at_random(make_project, tmp_path, warehouse):
    game = Game(make_project, tmp_path, warehouse, SEED)
    until = time.monotonic() + SECONDS
    game.start()
    try:
        while time.monotonic() < until if SECONDS else len(game.log) < ROUNDS:
            game.round()
        game.finish()
    finally:
        print(game.tell())
    if SECONDS:
        print(f"{len(game.log)} rounds")
