"""What a campaign costs beside plain restates and hand-written SQL; its audit, its publication, its estimate."""

import contextlib
import json
import shutil
import sqlite3

from measure import wall_at_most, write
from strategies import EVENTS, YEAR, Prepared, ratio_at_most

# --- A year of three models ------------------------------------------------------------------------------------------------

MODELS = {
    "daily": "SELECT CAST(ts AS DATE) AS day, shop, count(*) AS n, sum(amount) AS amount FROM src.events GROUP BY ALL",
    "classes": "SELECT day, shop % 10 AS class, sum(n) AS n, sum(amount) AS amount FROM daily GROUP BY ALL",
    "totals": "SELECT day, sum(n) AS n, sum(amount) AS amount FROM classes GROUP BY ALL",
}
HEADER = "/* interlace: {strategy: incremental, time_column: day, interval: 1d, backfill: none} */\n"
CORRECTION = "UPDATE events SET amount = amount * 0.9 WHERE shop % 7 = 0;"
NOTE = ("--note", "bench")


def by_hand(models, start, end):
    window = f"day >= DATE '{start}' AND day < DATE '{end}'"
    lines = []
    for name, query in models.items():
        time = "ts" if "src.events" in query else "day"
        cut = f"WHERE {time} >= TIMESTAMP '{start}' AND {time} < TIMESTAMP '{end}' GROUP BY"
        lines += [f"DELETE FROM {name} WHERE {window};", f"INSERT INTO {name} {query.replace('GROUP BY', cut)};"]
    return "\n".join(lines)


def filled(bench, name, rows, span=YEAR):
    """Project and floor, filled over the span; then the source is corrected."""
    prepared = Prepared(bench, name)
    write(prepared.project / "interlace.yaml", "attach: {src: source.duckdb}\ntimezone: UTC\n")
    for model, query in MODELS.items():
        write(prepared.project / f"models/{model}.sql", HEADER + query + "\n")
    prepared.sql("source.duckdb", f"CREATE TABLE events AS {EVENTS.format(rows=rows)};")
    prepared.run("apply")
    prepared.run("run", *span)
    attach = f"ATTACH '{prepared.project}/source.duckdb' AS src (READ_ONLY);"
    tables = "\n".join(f"CREATE TABLE {model} AS {query};" for model, query in MODELS.items())
    prepared.sql("floor.duckdb", f"{attach}\n{tables}")
    prepared.sql("source.duckdb", CORRECTION)
    return prepared


def bench_year(bench):
    rows = bench.options.window_rows
    prepared = filled(bench, "campaign", rows)
    prepared.hand(by_hand(MODELS, YEAR[1], YEAR[3]))
    prepared.keep()
    for what, args in (
        ("backfill with audit and publication", ("backfill", "start", *YEAR, *NOTE, "--publish", "auto")),
        ("restate", ("restate", *YEAR)),
    ):
        bench.rounds(
            f"{what}, 365 days × 3 models over {rows:,} rows",
            "",
            lambda args=args: prepared.bench.run(*args, cwd=prepared.project),
            prepared.floor,
            before=prepared.restore,
        )
    return prepared


# --- The estimate ----------------------------------------------------------------------------------------------------------


def bench_estimate(bench, prepared):
    """The probe's seconds beside those that the campaign's batches then took."""
    expected, took = [], []

    def start():
        usage = bench.run("backfill", "start", *YEAR, *NOTE, "--quiet", cwd=prepared.project)
        with contextlib.closing(sqlite3.connect(prepared.project / ".interlace/state.db")) as state:
            took.append(state.execute("SELECT sum(seconds) FROM campaign_batches").fetchone()[0])
        return usage

    def probe(n):
        prepared.restore(n)
        plan = bench.run("backfill", "plan", *YEAR, "--probe", "--json", cwd=prepared.project)
        expected.append(json.loads(plan.stdout)["estimate"]["seconds"])

    def judge(runs, floors):
        ratio = max(max(a / b, b / a) for a, b in zip(expected, took, strict=True))
        return f"{expected[-1]:.2f} s expected, {took[-1]:.2f} s taken: {ratio:.2f} ×", ratio <= 2

    bench.rounds(
        "  what a probe expects of it",
        "2 ×",
        start,
        judge=judge,
        before=probe,
    )


# --- The publication -------------------------------------------------------------------------------------------------------

QUARTER = ("--start", "2025-08-01", "--end", "2025-10-29")


def bench_publication(bench):
    """89 days of three models, with a year of history and with nothing but these days."""
    rows = bench.options.window_rows
    for what, span in (("a year of history", YEAR), ("no other rows", QUARTER)):
        prepared = filled(bench, "publication", rows, span)
        prepared.run("backfill", "start", *QUARTER, *NOTE)
        prepared.keep()
        bench.rounds(
            f"backfill publish, 89 days × 3 models beside {what}",
            "2 s",
            lambda prepared=prepared: prepared.run("backfill", "publish", "1"),
            judge=wall_at_most(2000),
            before=prepared.restore,
        )
        shutil.rmtree(prepared.project)
        shutil.rmtree(prepared.kept)


# --- The audit -------------------------------------------------------------------------------------------------------------

LINES = "/* interlace: {strategy: incremental, time_column: day, key: id, interval: 1mo, backfill: none} */\n"
LINES_OF = """\
    SELECT id, CAST(ts AS DATE) AS day, shop, amount, CASE WHEN id % 3 = 0 THEN 'web' ELSE 'shop' END AS channel
    FROM src.events"""
MEASURES = ("shop", "amount")
COLUMNS = ("day", *MEASURES, "channel")


def audit_by_hand(old, new):
    """The same figures: windows with sums and NULLs of both sides, keys, changed values, what moved most."""
    figures = ", ".join(
        [f"count({name}) AS p_{name}" for name in COLUMNS] + [f"sum({name}) AS s_{name}" for name in MEASURES]
    )
    sides = "\n".join(
        f"CREATE TEMP TABLE {side} AS SELECT date_trunc('month', day) AS w, count(*) AS n, {figures} FROM {table}"
        " GROUP BY 1;"
        for side, table in (("a", old), ("b", new))
    )
    differs = ", ".join(f"coalesce(l.{name} IS DISTINCT FROM r.{name}, false) AS d_{name}" for name in COLUMNS)
    both = ", ".join(f"l.{name} AS l_{name}, r.{name} AS r_{name}" for name in ("id", *COLUMNS))
    changed = " OR ".join(f"l.{name} IS DISTINCT FROM r.{name}" for name in COLUMNS)
    counts = ", ".join(f"count(*) FILTER (d_{name} AND l_id IS NOT NULL AND r_id IS NOT NULL)" for name in COLUMNS)
    return f"""\
{sides}
SELECT * FROM a FULL JOIN b ON a.w = b.w ORDER BY abs(coalesce(a.s_amount, 0) - coalesce(b.s_amount, 0)) DESC LIMIT 10;
SELECT sum(n), sum(s_amount) FROM a;
SELECT sum(n), sum(s_amount) FROM b;
CREATE TEMP TABLE pairs AS SELECT {both}, {differs} FROM {old} AS l FULL JOIN {new} AS r ON l.id = r.id
WHERE l.id IS NULL OR r.id IS NULL OR {changed};
SELECT count(*) FILTER (l_id IS NULL), count(*) FILTER (r_id IS NULL), {counts} FROM pairs;
SELECT * FROM pairs ORDER BY abs(coalesce(l_amount, 0) - coalesce(r_amount, 0)) DESC LIMIT 10;"""


def bench_audit(bench):
    rows = bench.options.diff_rows
    prepared = Prepared(bench, "audit")
    write(prepared.project / "interlace.yaml", "attach: {src: source.duckdb}\ntimezone: UTC\n")
    write(prepared.project / "models/lines.sql", LINES + LINES_OF + "\n")
    prepared.sql("source.duckdb", f"CREATE TABLE events AS {EVENTS.format(rows=rows)};")
    prepared.run("apply")
    prepared.run("run", *YEAR)
    query = f"SELECT * FROM ({LINES_OF})"
    attach = f"ATTACH '{prepared.project}/source.duckdb' AS src (READ_ONLY);"
    prepared.sql("floor.duckdb", f"{attach}\nCREATE TABLE old AS {query};")
    prepared.sql("source.duckdb", CORRECTION)
    prepared.sql("floor.duckdb", f"{attach}\nCREATE TABLE new AS {query};")
    prepared.run("backfill", "start", *YEAR, *NOTE)
    write(prepared.project / "hand.sql", audit_by_hand("old", "new") + "\n")
    bench.rounds(
        f"backfill audit, {rows:,} rows with {rows:,}",
        "1.3 × by hand",
        lambda: prepared.run("backfill", "audit", "1", "--again"),
        prepared.floor,
        judge=ratio_at_most(1.3),
    )
    shutil.rmtree(prepared.project)
    shutil.rmtree(prepared.kept)


def bench_campaigns(bench):
    prepared = bench_year(bench)
    bench_estimate(bench, prepared)
    shutil.rmtree(prepared.project)
    shutil.rmtree(prepared.kept)
    bench_publication(bench)
    bench_audit(bench)
