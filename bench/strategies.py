"""What a strategy costs beside the best hand-written SQL for the same rows, and windows beside one statement."""

import json
import shutil

from measure import TREE, least, measured, write

# --- A change of a large table ---------------------------------------------------------------------------------------------

ITEMS = """\
    SELECT i AS id, (i * 7 % 1000)::INTEGER AS v, 'name ' || (i % 50000) AS name, i / 4.0::DOUBLE AS amount,
        TIMESTAMP '2026-01-01' + to_seconds(i % 1000000) AS ts
    FROM range({start}, {stop}) AS t(i)"""
VALUES = ("v", "name", "amount", "ts")
NAMES = ", ".join(("id", *VALUES))
NEW = ", ".join(f"s.{name}" for name in ("id", *VALUES))
SET = ", ".join(f"{name} = s.{name}" for name in VALUES)
DIFFERS = "(" + " OR ".join(f"t.{name} IS DISTINCT FROM s.{name}" for name in VALUES) + ")"
# As spec 02 §4.5 wants it: an unambiguous text of the values, in the order of their names.
TEXTS = (f"coalesce(length({name}::VARCHAR) || ':' || {name}::VARCHAR || ';', 'n;')" for name in sorted(VALUES))
HASH = f"md5({' || '.join(TEXTS)})"
NOW = "TIMESTAMP '2026-07-01'"
HAND = {
    "merge": f"""\
        MERGE INTO m AS t USING {{source}} AS s ON t.id = s.id
        WHEN MATCHED THEN UPDATE SET {SET} WHEN NOT MATCHED THEN INSERT ({NAMES}) VALUES ({NEW});""",
    "hash_merge": f"""\
        MERGE INTO m AS t USING (SELECT *, {HASH} AS _hash FROM {{source}}) AS s ON t.id = s.id
        WHEN MATCHED AND t._hash <> s._hash THEN UPDATE SET {SET}, _hash = s._hash
        WHEN NOT MATCHED THEN INSERT ({NAMES}, _hash) VALUES ({NEW}, s._hash);""",
    "full_merge": f"""\
        MERGE INTO m AS t USING {{source}} AS s ON t.id = s.id
        WHEN MATCHED AND {DIFFERS} THEN UPDATE SET {SET}
        WHEN NOT MATCHED THEN INSERT ({NAMES}) VALUES ({NEW}) WHEN NOT MATCHED BY SOURCE THEN DELETE;""",
    "scd": f"""\
        CREATE TEMP TABLE fresh AS SELECT s.*, t.id AS stored FROM {{source}} AS s
        FULL JOIN (SELECT * FROM m WHERE _valid_to IS NULL) AS t ON t.id = s.id
        WHERE t.id IS NULL OR s.id IS NULL OR {DIFFERS};
        UPDATE m SET _valid_to = {NOW} FROM fresh WHERE _valid_to IS NULL AND m.id = fresh.stored;
        INSERT INTO m SELECT * EXCLUDE (stored), {NOW}, NULL FROM fresh WHERE id IS NOT NULL;""",
}
# What our promises of a source and its numbers cost by hand: one reading of it, keys that are there and do not repeat,
# rows counted before and after.
CHECKED = """\
    CREATE TEMP TABLE staged AS SELECT * FROM src.items;
    SELECT count(*) FROM staged WHERE id IS NULL;
    SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY id) AS n FROM staged) WHERE n > 1;
    SELECT count(*) FROM m;
    {hand}
    SELECT count(*) FROM m;"""
EXTRA = {"hash_merge": f", {HASH} AS _hash", "scd": f", {NOW} AS _valid_from, NULL::TIMESTAMP AS _valid_to"}


def is_whole_state(strategy):
    """What the source does not give, these take away: it gives all rows, and a part of them is new."""
    return strategy in ("full_merge", "scd")


def sources(strategy, rows):
    """The source before and after: a fifth of the rows changed, and a hundredth new."""
    changed, fresh = rows // 5, rows // 100
    select = ITEMS.format(start=0, stop=rows)
    after = f"SELECT * REPLACE (CASE WHEN id < {changed} THEN v + 1 ELSE v END AS v) FROM ({select})"
    if not is_whole_state(strategy):
        after += f" WHERE id < {changed}"
    return select, f"{after} UNION ALL {ITEMS.format(start=rows, stop=rows + fresh)}"


class Prepared:
    """A folder with a project and a floor's database, put back before each round."""

    def __init__(self, bench, name):
        self.bench = bench
        self.project, self.kept = bench.fresh(name), bench.fresh(f"{name}-kept")

    def sql(self, database, text):
        script = write(self.bench.folder / "prepare.sql", text)
        self.bench.floor("floor", "run", self.project / database, script)

    def keep(self):
        shutil.copytree(self.project, self.kept, dirs_exist_ok=True)

    def restore(self, _round):
        shutil.rmtree(self.project)
        shutil.copytree(self.kept, self.project)

    def hand(self, statements, name="hand"):
        attach = f"ATTACH '{self.project}/source.duckdb' AS src (READ_ONLY);"
        return write(self.kept / f"{name}.sql", f"{attach}\nBEGIN;\n{statements}\nCOMMIT;\n")

    def run(self, *args):
        return self.bench.run(*args, "--quiet", cwd=self.project)

    def floor(self, name="hand", database="floor"):
        return self.bench.floor("floor", "run", self.project / f"{database}.duckdb", self.project / f"{name}.sql")


def ratio_at_most(limit):
    def judge(runs, floors):
        ratio = least(runs) / least(floors)
        return f"{ratio:.2f} × by hand; wall {least(runs, 'wall_ms') / least(floors, 'wall_ms'):.2f} ×", ratio <= limit

    return judge


def bench_strategies(bench):
    rows = bench.options.strategy_rows
    for strategy, hand in HAND.items():
        prepared = Prepared(bench, f"strategy-{strategy}")
        write(prepared.project / "interlace.yaml", "attach: {src: source.duckdb}\ntimezone: UTC\n")
        header = f"/* interlace: {{strategy: {strategy}, key: id}} */\nSELECT * FROM src.items\n"
        write(prepared.project / "models/m.sql", header)
        before, after = sources(strategy, rows)
        prepared.sql("source.duckdb", f"CREATE TABLE items AS {before};")
        prepared.run("apply")
        for database in ("floor.duckdb", "checked.duckdb"):
            prepared.sql(database, f"CREATE TABLE m AS SELECT *{EXTRA.get(strategy, '')} FROM ({before});")
        prepared.sql("source.duckdb", f"CREATE OR REPLACE TABLE items AS {after};")
        prepared.hand(hand.format(source="src.items"))
        prepared.hand(CHECKED.format(hand=hand.format(source="staged")), "checked")
        prepared.keep()
        whole = f"{rows:,}, {rows // 5:,} of them changed," if is_whole_state(strategy) else f"{rows // 5:,}"
        bench.rounds(
            f"{strategy}: {whole} into {rows:,}",
            "1.15 × by hand",
            lambda prepared=prepared: prepared.run("run"),
            prepared.floor,
            judge=ratio_at_most(1.15),
            before=prepared.restore,
        )
        bench.rounds(
            "  by hand, with the source staged, keys checked and rows counted",
            "",
            lambda prepared=prepared: prepared.floor("checked", "checked"),
            prepared.floor,
            before=prepared.restore,
        )
        shutil.rmtree(prepared.project)
        shutil.rmtree(prepared.kept)


# --- Windows ---------------------------------------------------------------------------------------------------------------

EVENTS = """\
    SELECT i AS id, TIMESTAMP '2025-01-01' + to_microseconds(i * (365 * 86400000000 // {rows})) AS ts,
        (i * 2654435761 % 1000)::INTEGER AS shop, (i * 7919 % 10000)::DOUBLE / 100 AS amount
    FROM range({rows}) AS t(i)"""
DAYS = """\
    SELECT CAST(ts AS DATE) AS day, shop, count(*) AS n, sum(amount) AS amount FROM src.events GROUP BY ALL"""
YEAR = ("--start", "2025-01-01", "--end", "2026-01-01")
MONTH = ("--start", "2025-06-01", "--end", "2025-07-01")


def bench_windows(bench):
    rows = bench.options.window_rows
    prepared = Prepared(bench, "windows")
    write(prepared.project / "interlace.yaml", "attach: {src: source.duckdb}\ntimezone: UTC\n")
    header = "/* interlace: {strategy: incremental, time_column: day, backfill: none} */\n"
    write(prepared.project / "models/m.sql", header + DAYS + "\n")
    prepared.sql("source.duckdb", f"CREATE TABLE events AS {EVENTS.format(rows=rows)};")
    prepared.run("apply")
    prepared.sql("floor.duckdb", f"CREATE TABLE m AS {DAYS.replace('src.events', f'({EVENTS.format(rows=0)})')};")
    prepared.hand(f"INSERT INTO m {DAYS};")
    prepared.keep()
    for what, budget, options in (
        ("", "1.3 × one statement", ()),
        (" in 365 statements", "", ("--batch", "1")),
    ):
        bench.rounds(
            f"run, 365 days over {rows:,} rows{what}",
            budget,
            lambda options=options: prepared.run("run", *YEAR, *options),
            prepared.floor,
            judge=ratio_at_most(1.3) if budget else None,
            before=prepared.restore,
        )
    prepared.run("run", *YEAR)
    prepared.floor()
    window = "day >= DATE '2025-06-01' AND day < DATE '2025-07-01'"
    scan = "ts >= TIMESTAMP '2025-06-01' AND ts < TIMESTAMP '2025-07-01'"
    read = DAYS.replace("GROUP BY", f"WHERE {scan} GROUP BY")
    prepared.hand(f"DELETE FROM m WHERE {window};\nINSERT INTO m {read};")
    shutil.copy(prepared.kept / "hand.sql", prepared.project)
    prepared.keep()
    bench.rounds(
        f"restate, 30 of 365 days over {rows:,} rows",
        "",
        lambda: prepared.run("restate", *MONTH),
        prepared.floor,
        before=prepared.restore,
    )


# --- The project of twelve models ------------------------------------------------------------------------------------------


def bench_project(bench):
    """examples/benchmark as it is; beside it the SQL of its models, sent by hand, with what its Python computes as SQL."""
    events = bench.options.events
    bench.env["BENCHMARK_EVENTS"] = str(events)
    project = bench.folder / "project"
    database = bench.folder / "project-floor.duckdb"
    text = (TREE / "bench/benchmark.sql").read_text(encoding="utf-8").replace("{events}", str(events))
    script = write(bench.folder / "benchmark.sql", text)

    def forget(_round):
        shutil.rmtree(project, ignore_errors=True)
        shutil.copytree(TREE / "examples/benchmark", project)
        database.unlink(missing_ok=True)
        database.with_suffix(".duckdb.wal").unlink(missing_ok=True)

    def judge(runs, floors):
        peak = max(usage.peak_mb for usage in runs)
        wall = least(runs, "wall_ms") / least(floors, "wall_ms")
        return f"wall {wall:.2f} ×, peak {peak:,.0f} MB (of one process)", peak < 2000

    count = min(bench.options.rounds, 2)
    bench.rounds(
        f"apply, examples/benchmark, {events:,} events",
        "2 GB",
        lambda: bench.run("apply", "--quiet", cwd=project),
        lambda: bench.floor("floor", "run", database, script),
        count=count,
        judge=judge,
        before=forget,
    )
    peer = bench.options.peer
    if peer:
        bench.rounds(
            f"the Python Interlace, {events:,} events",
            "",
            lambda: measured([peer, "apply"], cwd=project, env=bench.env),
            count=count,
            before=forget,
        )
    document = json.loads(bench.run("models", "--json", cwd=project).stdout)
    assert len(document) == 12, "the example has twelve models"
