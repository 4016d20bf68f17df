"""What comparing two tables costs beside the best hand-written SQL for the same report: counts, and rows of each kind."""

import shutil

from measure import write
from strategies import DIFFERS, ITEMS, VALUES, Prepared, ratio_at_most

# Rows that differ go to a table once, and are counted and shown from there.
PAIRS = ", ".join(f"t.{name} AS left_{name}, s.{name} AS right_{name}" for name in ("id", *VALUES))
KIND = "CASE WHEN s.here IS NULL THEN 1 WHEN t.here IS NULL THEN 2 ELSE 3 END AS kind"
SIDES = "(SELECT *, true AS here FROM src.l) AS t FULL JOIN (SELECT *, true AS here FROM src.r) AS s"
HAND = """\
    CREATE TEMP TABLE differing AS SELECT {kind}, {pairs} FROM {sides} ON {match}
    WHERE t.here IS NULL OR s.here IS NULL OR {differs};
    SELECT count(*) FROM src.l;
    SELECT count(*) FROM src.r;
    SELECT kind, count(*) FROM differing GROUP BY kind;
    SELECT * FROM differing WHERE kind = 1 ORDER BY left_id LIMIT 20;
    SELECT * FROM differing WHERE kind = 2 ORDER BY right_id LIMIT 20;
    SELECT * FROM differing WHERE kind = 3 ORDER BY left_id LIMIT 20;"""
WHOLE = " AND ".join(f"t.{name} IS NOT DISTINCT FROM s.{name}" for name in ("id", *VALUES))


def bench_diff(bench):
    rows = bench.options.diff_rows
    prepared = Prepared(bench, "diff")
    write(prepared.project / "interlace.yaml", "attach: {src: source.duckdb}\ntimezone: UTC\n")
    write(prepared.project / "models/m.sql", "SELECT 1 AS x\n")
    left = ITEMS.format(start=0, stop=rows)
    right = (
        f"SELECT * REPLACE (CASE WHEN id % 1000 = 5 THEN v + 1 ELSE v END AS v) FROM ({left}) WHERE id % 100000 <> 7"
    )
    extra = ITEMS.format(start=rows, stop=rows + 50)
    prepared.sql("source.duckdb", f"CREATE TABLE l AS {left}; CREATE TABLE r AS {right} UNION ALL {extra};")
    prepared.run("apply")
    sides = ("--source", "src.l", "--target", "src.r")
    for what, args, match, differs in (
        ("by key", ("--on", "id"), "t.id = s.id", DIFFERS),
        ("by whole row", (), WHOLE, "false"),
    ):
        prepared.hand(HAND.format(kind=KIND, pairs=PAIRS, sides=SIDES, match=match, differs=differs))
        shutil.copy(prepared.kept / "hand.sql", prepared.project)
        bench.rounds(
            f"diff {what}, {rows:,} rows with {rows:,}",
            "1.3 × by hand",
            lambda args=args: bench.run("diff", *sides, *args, "--json", cwd=prepared.project, code=1),
            prepared.floor,
            judge=ratio_at_most(1.3),
        )
    shutil.rmtree(prepared.project)
    shutil.rmtree(prepared.kept)
