"""Rows to a Python model and back."""

from measure import PYTHON, least, measured, write

ARROW_BYTES = 8 + 4 + 8 + 4 + 18  # a row of `source`: three numbers, a text of 18 bytes with its offset
SOURCE = "SELECT i AS id, (i % 1000)::INTEGER AS k, i * 0.5::DOUBLE AS v, 'text ' || lpad(i::VARCHAR, 13, '0') AS t FROM range({rows}) AS r(i)"
PASS_THROUGH = """\
    from interlace import model

    @model
    def passed(source):
        seen = {n}
        for batch in source.reader():
            seen += batch.num_rows
            yield batch
    """
CONSUME = """\
    import pyarrow as pa
    from interlace import model

    @model
    def passed({upstream}):
        rows = sum(batch.num_rows for batch in {upstream}.reader())
        return pa.table({{"rows": [rows + {n}]}})
    """


def bench_python(bench):
    """Each round changes the Python model, so that discovery and the start of a worker are in it. The first line is that
    alone; the others are judged by what they take beyond it."""
    rows = bench.options.python_rows
    project = bench.fresh("python")
    write(project / "models/source.sql", SOURCE.format(rows=rows) + "\n")
    write(project / "models/nothing.sql", SOURCE.format(rows=1) + "\n")
    bench.run("apply", "--quiet", cwd=project)
    database = bench.folder / "append.duckdb"
    script = write(bench.folder / "source.sql", f"CREATE TABLE source AS {SOURCE.format(rows=rows)};\n")
    bench.floor("floor", "run", database, script)

    def changed(text, **names):
        def before(n):
            write(project / "models/passed.py", text.format(n=n, **names))

        return before

    def apply():
        return bench.run("apply", "--force", "--quiet", cwd=project)

    starts, _ = bench.rounds(
        "Python model of one row",
        "",
        apply,
        lambda: measured([PYTHON, "-c", "import pyarrow"], env=bench.env),
        before=changed(CONSUME, upstream="nothing"),
    )

    def beyond_start_s(usages):
        return max(least(usages, "wall_ms") - least(starts, "wall_ms"), 1) / 1000

    def is_noise(runs):
        return beyond_start_s(runs) * 1000 < 0.3 * least(starts, "wall_ms")

    def judge_reading(runs, floors):
        """The engine's scan is not transport; where both overlap, less than their sum is left."""
        if is_noise(runs):
            return "too few rows to tell", None
        transport_s = max(beyond_start_s(runs) - least(floors, "wall_ms") / 1000, 0.001)
        rate = ARROW_BYTES * rows / 1e9 / transport_s
        return f"{min(rate, 99):.2f} GB/s beyond start and scan", rate >= 1

    def judge_passing(runs, floors):
        if is_noise(runs):
            return "too few rows to tell", None
        ratio = 1000 * beyond_start_s(runs) / least(floors, "wall_ms")
        return f"{ratio:.2f} × its wall, {rows / 1e6 / beyond_start_s(runs):.2f} M rows/s", ratio <= 1.2

    bench.rounds(
        f"Python reads {rows:,} rows",
        "1 GB/s of Arrow",
        apply,
        lambda: bench.floor("floor", "stream", database, "SELECT * FROM source"),
        judge=judge_reading,
        before=changed(CONSUME, upstream="source"),
    )
    runs, _ = bench.rounds(
        f"Python passes {rows:,} rows through",
        "1.2 × the appender",
        apply,
        lambda: bench.floor("floor", "append", database, "SELECT * FROM source", "passed"),
        judge=judge_passing,
        before=changed(PASS_THROUGH),
    )
    bench.peak_mb = (least(starts, "peak_mb"), max(usage.peak_mb for usage in runs))
