"""Random campaigns: what is published equals what the models give over the corrected source, in the windows of the campaign and
nowhere else, whatever the batches, their order, how many run at once, where the process died, and which models were edited
before; in prod, or in an environment that shows prod's tables, which then stay as they are (spec 04 §10, §2)."""

import itertools
import shutil
import signal

import duckdb
from chance import Chance, examples
from hypothesis import given, note
from hypothesis import strategies as st

DAYS = 12  # of June 2026
HOOKS = [
    "campaign.created",
    "campaign.area",
    "campaign.batch",
    "build.statement",
    "build.written",
    "build.committed",
    "build.ledger",
    "campaign.batch_done",
    "campaign.seal",
    "campaign.publishing",
    "campaign.replaced",
    "promotion.view",
    "campaign.committed",
    "state.commit",
]
CONFIG = "database: data/wh.duckdb\nattach: {src: data/src.duckdb}\ntimezone: UTC\n"
# Each model: how it is declared, its query, and its key among the rows of a window ("": its windows replace each other).
FACTS = "SELECT CAST(ts AS DATE) AS day, k, count(*) AS n, sum(v) AS v FROM {source} GROUP BY ALL"
NEWEST = "SELECT CAST(max(ts) AS DATE) AS day, k, count(*) AS n, max(v) AS v FROM {source} GROUP BY k, CAST(ts AS DATE)"
TOTALS = "SELECT day, sum(n) AS n, sum(v) AS v FROM {facts} GROUP BY ALL"
SHOPS = "SELECT k, sum(v) AS v FROM {facts} GROUP BY ALL"
SHOWN = "SELECT day, k, v FROM {facts} WHERE v IS NOT NULL"
# What an edit makes of a model's query.
EDITS = {
    "facts": ("(v)", "(2 * v)"),
    "totals": ("sum(v)", "sum(v + 1)"),
    "shown": ("IS NOT NULL", "IS NOT NULL AND k > 1"),
    "shops": ("sum(v)", "max(v)"),
}
serial = itertools.count()


class Scene:
    def __init__(self, make_project, chance):
        self.chance = chance
        self.is_keyed = chance.one_in(3)
        self.by_view = chance.one_in(2)
        self.environment = chance.one(["prod", "prod", "dev"])
        self.queries = {
            "facts": NEWEST if self.is_keyed else FACTS,
            "totals": TOTALS,
            "shown": SHOWN,
            "shops": SHOPS,
        }
        self.project = make_project(
            {"interlace.yaml": CONFIG, **self.models(), "data/.keep": ""},
            name=f"scene{next(serial)}",
            env={"INTERLACE_NOW": "2026-07-01T00:00:00Z"},
        )

    def header(self, time_column, key):
        keyed = f", key: [{key}]" if key else ""
        return f"/* interlace: {{strategy: incremental, time_column: {time_column}, interval: 1d{keyed}}} */\n"

    def models(self):
        return {
            "models/facts.sql": self.header("day", "day, k" if self.is_keyed else "")
            + self.queries["facts"].format(source="src.items"),
            "models/totals.sql": self.header("day", "") + self.queries["totals"].format(facts="facts"),
            "models/shown.sql": "/* interlace: {materialise: view} */ " + self.queries["shown"].format(facts="facts"),
            "models/shops.sql": self.queries["shops"].format(facts="shown" if self.by_view else "facts"),
        }

    def edit(self):
        """Gives the queries as they were."""
        before = dict(self.queries)
        for name, (old, new) in EDITS.items():
            if self.chance.one_in(3):
                self.queries[name] = self.queries[name].replace(old, new)
        note(f"edited: {[name for name in EDITS if self.queries[name] != before[name]]}")
        self.project.write(self.models())
        return before

    def items(self):
        chance = self.chance
        return [
            (chance.number(1, DAYS), chance.number(0, 23), chance.number(1, 3), chance.one([1, 2, 5, None]))
            for _ in range(chance.number(1, 25))
        ]

    def set_source(self, items):
        with duckdb.connect(str(self.project.root / "data/src.duckdb")) as connection:
            connection.execute("CREATE OR REPLACE TABLE items (ts TIMESTAMP, k INTEGER, v INTEGER)")
            for day, hour, k, v in items:
                connection.execute(
                    "INSERT INTO items VALUES (TIMESTAMP '2026-06-01' + to_days(?) + to_hours(?), ?, ?)",
                    [day - 1, hour, k, v],
                )

    def apply(self):
        for environment in sorted({"prod", self.environment}, reverse=True):
            self.project.ok("apply", "-e", environment)

    def rows(self, environment=None):
        of = environment or self.environment
        with duckdb.connect(str(self.project.root / "data/wh.duckdb"), read_only=True) as connection:
            connection.execute(f"USE {'main' if of == 'prod' else of + '__main'}")
            return {
                name: sorted(connection.execute(f"SELECT * FROM {name}").fetchall(), key=repr)
                for name in ("facts", "totals", "shown", "shops")
            }


def expected(scene, before, old, new, first, last):
    """By plain SQL over both sources: rows of the range by the queries of now from the new one, all others by those of
    before from the old one."""
    connection = duckdb.connect()
    window = f"day >= DATE '2026-06-{first:02}' AND day < DATE '2026-06-{last:02}'"
    for name, items in (("old_items", old), ("new_items", new)):
        connection.execute(f"CREATE TABLE {name} (ts TIMESTAMP, k INTEGER, v INTEGER)")
        for day, hour, k, v in items:
            connection.execute(
                f"INSERT INTO {name} VALUES (TIMESTAMP '2026-06-01' + to_days({day - 1}) + to_hours({hour}), ?, ?)",
                [k, v],
            )
    queries = scene.queries
    connection.execute(f"CREATE TABLE old_facts AS {before['facts'].format(source='old_items')}")
    connection.execute(
        f"CREATE TABLE new_facts AS SELECT * FROM ({queries['facts'].format(source='new_items')}) WHERE {window}"
    )
    kept = f"NOT ({window})"
    if scene.is_keyed:  # a key that is not given again stays
        kept = "NOT EXISTS (SELECT 1 FROM new_facts AS n WHERE n.day = o.day AND n.k = o.k)"
    connection.execute(
        f"CREATE TABLE facts AS SELECT * FROM old_facts AS o WHERE {kept} UNION ALL SELECT * FROM new_facts"
    )
    connection.execute(f"CREATE TABLE old_totals AS {before['totals'].format(facts='old_facts')}")
    connection.execute(
        f"CREATE TABLE totals AS SELECT * FROM old_totals WHERE NOT ({window})"
        f" UNION ALL SELECT * FROM ({queries['totals'].format(facts='facts')}) WHERE {window}"
    )
    connection.execute(f"CREATE VIEW shown AS {queries['shown'].format(facts='facts')}")
    connection.execute(f"CREATE TABLE shops AS {queries['shops'].format(facts='shown' if scene.by_view else 'facts')}")
    return {
        name: sorted(connection.execute(f"SELECT * FROM {name}").fetchall(), key=repr)
        for name in ("facts", "totals", "shown", "shops")
    }


def carry_on(scene, args, old, new):
    """The command, killed now and then, until the campaign is published; readers see all old or all new meanwhile."""
    for _ in range(8):
        is_killed = scene.chance.one_in(2)
        env = {}
        if is_killed:
            env["INTERLACE_HOOK"] = f"{scene.chance.one(HOOKS)}=kill@{scene.chance.number(1, 4)}"
        note(f"{args} {env}")
        result = scene.project.run("backfill", *args, env=env)
        assert result.code in (0, -signal.SIGKILL), result
        if is_killed:
            scene.project.ok("plan")  # which finishes or undoes half a publication
        assert scene.rows() in (old, new)
        assert scene.environment == "prod" or scene.rows("prod") == old
        campaigns = scene.project.ok("backfill", "list", "--json").json
        if not campaigns:
            continue  # it died before there was one
        state = campaigns[0]["state"]
        if state == "published":
            return
        args = ["publish", "1"] if state == "audited" else ["resume", "1"]
    # Enough of it.
    if args[0] != "publish":
        scene.project.ok("backfill", *args)
    if scene.project.ok("backfill", "status", "1", "--json").json["state"] == "audited":
        scene.project.ok("backfill", "publish", "1")


def play(make_project, chance):
    scene = Scene(make_project, chance)
    try:
        items, corrected = scene.items(), scene.items()
        scene.set_source(items)
        scene.apply()
        old = scene.rows()
        scene.set_source(corrected)
        before = scene.edit()
        first = chance.number(1, DAYS)
        last = chance.number(first + 1, DAYS + 1)
        args = ["start", "-e", scene.environment, "-s", "facts+", "--note", "x"]
        args += ["--start", f"2026-06-{first:02}", "--end", f"2026-06-{last:02}"]
        args += ["--batch", chance.one(["auto", "1", "2", "5"]), "--order", chance.one(["oldest", "newest"])]
        args += ["--concurrency", str(chance.number(1, 4)), "--publish", chance.one(["auto", "manual"])]
        new = expected(scene, before, items, corrected, first, last)
        carry_on(scene, args, old, new)
        assert scene.rows() == new
        plan = scene.project.ok("plan", "-e", scene.environment).stdout
        assert plan.strip() == f"No changes for {scene.environment}."
        scene.project.ok("backfill", "revert", "1")
        assert scene.rows() == scene.rows("prod") == old
    finally:
        shutil.rmtree(scene.project.root)


@examples(8)
@given(data=st.data())
def test_04_10_12_what_is_published_is_what_a_fresh_build_gives_in_its_windows(make_project, data):
    play(make_project, Chance(data))
