"""What a command costs: --version, plans, and what apply adds to the statements."""

import shutil
import sys

import make_project
from measure import cpu_at_most, least, measured, write


def bench_version(bench):
    bench.rounds(
        "--version",
        "5 ms cpu",
        lambda: bench.run("--version"),
        lambda: measured(["/bin/true"]),
        count=4 * bench.options.rounds,
        judge=cpu_at_most(5),
    )


def bench_unchanged_plan(bench):
    for models, limit_ms in ((12, 10), (bench.options.models, 60)):
        project = bench.folder / f"plan-{models}"
        make_project.make_project(models, project, headers=0.25, seed=1)
        applied = bench.run("apply", "--quiet", cwd=project)
        print(f"applied {models:,} models: {applied.cpu_ms / models:.1f} ms cpu a model", file=sys.stderr)
        bench.run("plan", cwd=project)
        bench.rounds(
            f"plan, unchanged, {models:,} models",
            f"{limit_ms} ms cpu",
            lambda project=project: bench.run("plan", cwd=project),
            lambda project=project: bench.floor("floor_read", project / "models"),
            count=2 * bench.options.rounds,
            judge=cpu_at_most(limit_ms),
        )


def bench_edited_plan(bench):
    """One leaf has another column: its text is compared with what is live, and nothing else is read."""
    models = bench.options.models
    project = bench.folder / f"edited-{models}"
    make_project.make_project(models, project, headers=0.25, seed=1)
    bench.run("apply", "--quiet", cwd=project)
    leaf = max((project / "models").rglob("*.sql"), key=lambda path: int("".join(filter(str.isdigit, path.stem)) or 0))
    text = leaf.read_text()

    def edit(round_number):
        leaf.write_text(text.replace("    id,\n", f"    id,\n    {round_number} AS edit,\n", 1))

    bench.rounds(
        f"plan, one leaf edited, {models:,} models",
        "120 ms cpu",
        lambda: bench.run("plan", cwd=project),
        lambda: bench.floor("floor_read", project / "models"),
        judge=cpu_at_most(120),
        before=edit,
    )


def bench_first_plan(bench):
    for models, limit_ms in ((12, None), (bench.options.models, 2000)):
        project = bench.fresh(f"first-{models}")
        make_project.make_project(models, project, headers=0.25, seed=1)

        def forget(_, project=project):
            shutil.rmtree(project / ".interlace", ignore_errors=True)

        bench.rounds(
            f"plan, the first, {models:,} models",
            f"{limit_ms:,} ms cpu" if limit_ms else "",
            lambda project=project: bench.run("plan", cwd=project),
            lambda project=project: bench.floor("floor", "parse", project / "models"),
            judge=cpu_at_most(limit_ms) if limit_ms else None,
            before=forget,
        )


HEAVY = {
    "events": "SELECT i AS id, i % 50021 AS customer, hash(i) % 1000 AS amount, (i % 365)::SMALLINT AS day FROM range({rows}) AS t(i)",
    "sales": "SELECT id, customer, amount / 100.0 AS amount, day FROM events WHERE amount > 50",
    "refunds": "SELECT id, customer, amount / 100.0 AS amount, day FROM events WHERE amount <= 50",
    "customers": "SELECT customer, count(*) AS n, sum(amount) AS total, max(day) AS last_day FROM sales GROUP BY customer",
    "refunded": "SELECT customer, count(*) AS n, sum(amount) AS total FROM refunds GROUP BY customer",
    "ranked": "SELECT s.id, s.customer, s.amount, s.day, c.total FROM sales AS s JOIN customers AS c USING (customer)",
    "days": "SELECT day, count(*) AS n, sum(amount) AS total, count(DISTINCT customer) AS customers FROM sales GROUP BY day",
    "large": "SELECT * FROM ranked WHERE amount > 9",
    "balances": "SELECT c.customer, c.total - coalesce(r.total, 0) AS balance FROM customers AS c LEFT JOIN refunded AS r USING (customer)",
    "segments": "SELECT ntile(10) OVER (ORDER BY balance, customer) AS segment, customer, balance FROM balances",
    "by_segment": "SELECT g.segment, count(*) AS n, sum(l.amount) AS amount FROM large AS l JOIN segments AS g USING (customer) GROUP BY g.segment",
    "report": "SELECT d.day, d.n, d.total, d.total / nullif(d.customers, 0) AS per_customer FROM days AS d ORDER BY d.day",
}


def light_models(count):
    """A chain that hardly computes: what is left is the overhead."""
    models = {"m_000": "SELECT i AS id, i * 2 AS v FROM range(100) AS t(i)"}
    for n in range(1, count):
        models[f"m_{n:03}"] = f"SELECT id, v + {n} AS v FROM m_{n - 1:03}"
    return models


def bench_apply(bench):
    """The same statements by hand: one transaction a table, then the views in one."""
    heavy = {name: sql.format(rows=bench.options.rows) for name, sql in HEAVY.items()}
    for what, models in (
        (f"apply, 12 models over {bench.options.rows:,} rows", heavy),
        ("apply, 100 small models", light_models(100)),
    ):
        project = bench.fresh("apply")
        for name, sql in models.items():
            write(project / f"models/{name}.sql", sql + "\n")
        statements = [f"BEGIN; CREATE TABLE {name} AS {sql}; COMMIT;" for name, sql in models.items()]
        views = "".join(f"CREATE VIEW env.{name} AS FROM main.{name}; " for name in models)
        script = write(
            bench.folder / "apply.sql", "\n".join([*statements, f"CREATE SCHEMA env; BEGIN; {views} COMMIT;", ""])
        )
        database = bench.folder / "floor.duckdb"

        def forget(_, project=project, database=database):
            shutil.rmtree(project / ".interlace", ignore_errors=True)
            for path in (database, database.with_suffix(".duckdb.wal")):
                path.unlink(missing_ok=True)

        def judge(runs, floors, models=models):
            allowed = 1.05 * least(floors) + 5 * len(models)
            each = (least(runs) - least(floors)) / len(models)
            return f"{each:+.1f} ms cpu a model", least(runs) <= allowed

        bench.rounds(
            what,
            "floor + 5 % + 5 ms a model",
            lambda project=project: bench.run("apply", "--parallelism", "1", "--quiet", cwd=project),
            lambda script=script, database=database: bench.floor("floor", "run", database, script),
            judge=judge,
            before=forget,
        )
