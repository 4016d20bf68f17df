"""Going back, and cleaning up: a rollback of 200 views, a gc of 5,000 tables, beside the bare statements."""

from measure import wall_at_most, write

VIEWS = 200
TABLES, VERSIONS = 500, 10


def small_models(project, count, version):
    for n in range(count):
        write(project / f"models/m_{n:03}.sql", f"SELECT {n} AS id, {version} AS version\n")


def script(bench, name, statements):
    return write(bench.folder / name, "\n".join(statements) + "\n")


def bench_rollback(bench):
    """Each round goes back, and so forward again in the next."""
    project = bench.fresh("rollback")
    for version in (1, 2):
        small_models(project, VIEWS, version)
        bench.run("apply", "--quiet", "--force", cwd=project)
    tables = [f"CREATE TABLE t_{n} AS SELECT {n} AS id, 1 AS version;" for n in range(VIEWS)]
    views = [f"CREATE OR REPLACE VIEW v_{n} AS SELECT * FROM t_{n};" for n in range(VIEWS)]
    database = bench.folder / "views.duckdb"
    database.unlink(missing_ok=True)
    bench.floor("floor", "run", database, script(bench, "tables.sql", tables))
    moved = script(bench, "views.sql", ["BEGIN;", *views, "COMMIT;"])
    bench.rounds(
        f"env rollback, {VIEWS} views",
        "1 s",
        lambda: bench.run("env", "rollback", cwd=project),
        lambda: bench.floor("floor", "run", database, moved),
        judge=wall_at_most(1000),
    )


def bench_gc(bench):
    """Once: what was dropped is gone."""
    project = bench.fresh("gc")
    for version in range(VERSIONS + 1):
        small_models(project, TABLES, version)
        bench.run("apply", "--quiet", "--force", cwd=project)
    count = TABLES * VERSIONS
    database = bench.folder / "drops.duckdb"
    database.unlink(missing_ok=True)
    tables = [f"CREATE TABLE t_{n} AS SELECT {n} AS id, 1 AS version;" for n in range(count)]
    bench.floor("floor", "run", database, script(bench, "tables.sql", ["BEGIN;", *tables, "COMMIT;"]))
    drops = script(bench, "drops.sql", [f"DROP TABLE t_{n};" for n in range(count)])
    bench.rounds(
        f"gc, {count:,} tables",
        "5 s",
        lambda: bench.run("gc", "--grace", "0", "--quiet", cwd=project),
        lambda: bench.floor("floor", "run", database, drops),
        count=1,
        judge=wall_at_most(5000),
    )
