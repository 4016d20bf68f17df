"""A window reads only its own rows where that is provably harmless (spec 02 §5, 04 §9)."""

import random
import shutil

import pytest

CONFIG = "database: data/wh.duckdb\nattach: {src: data/src.duckdb}\ntimezone: UTC\n"
AFTER = {"INTERLACE_NOW": "2026-07-05T12:00:00"}
ROLLUP = "SELECT CAST(ts AS DATE) AS d, count(*) AS n, sum(v) AS v FROM events GROUP BY 1"


def daily(query, extra=", backfill: none"):
    return f"/* interlace: {{strategy: incremental, time_column: d{extra}}} */\n{query}"


def write_events(project, rows, days, row_group):
    """One Parquet file, ordered by time."""
    import duckdb

    path = project.root / "data/events.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    duckdb.sql(
        f"COPY (SELECT TIMESTAMP '2026-06-01' + to_microseconds(range * ({days} * 86400000000 // {rows})) AS ts,"
        f" (hash(range) % 1000)::INTEGER AS v FROM range({rows})) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE {row_group})"
    )
    project.write(
        {"models/events.sql": "/* interlace: {materialise: view} */\nSELECT * FROM read_parquet('data/events.parquet')"}
    )
    return path


def spoil_other_row_groups(path, start, end):
    """Makes every row group unreadable that holds no row in [start, end); gives the share of rows that is left."""
    import duckdb

    groups = duckdb.sql(
        "SELECT min(row_group_num_rows), bool_or(path_in_schema = 'ts'"
        " AND try_cast(stats_max_value AS TIMESTAMP) >= $1::TIMESTAMP"
        " AND try_cast(stats_min_value AS TIMESTAMP) < $2::TIMESTAMP),"
        " min(least(dictionary_page_offset, data_page_offset)), sum(total_compressed_size)"
        " FROM parquet_metadata($3) GROUP BY row_group_id",
        params=[start, end, str(path)],
    ).fetchall()
    left = 0
    with path.open("r+b") as file:
        for rows, is_kept, offset, size in groups:
            if is_kept:
                left += rows
            else:
                file.seek(offset)
                file.write(b"\xff" * int(size))
    return left / sum(group[0] for group in groups)


@pytest.fixture
def shop(project):
    project.env.update(AFTER)
    project.write({"interlace.yaml": CONFIG})
    project.load("CREATE TABLE names AS SELECT 1 AS v, 'one' AS name")
    return project


@pytest.mark.parametrize(
    "query",
    [
        ROLLUP,
        "SELECT date_trunc('day', e.ts) AS d, count(*) AS n, sum(v) AS v FROM events AS e LEFT JOIN src.names USING (v)"
        " GROUP BY ALL",
        "WITH c AS (SELECT ts::DATE AS day, v FROM events WHERE v >= 0) SELECT day AS d, count(*) AS n, sum(v) AS v FROM c"
        " GROUP BY d",
    ],
)
def test_02_5_3_a_daily_rollup_reads_its_day_alone(shop, query):
    path = write_events(shop, 600_000, 30, 2048)
    shop.write({"models/m.sql": daily(query), "models/all_days.sql": query})
    shop.ok("apply")
    share = spoil_other_row_groups(path, "2026-06-15", "2026-06-16")
    assert share <= 2 / 30
    shop.ok("run", "-s", "m", "--start", "2026-06-15", "--end", "2026-06-16")
    rows = shop.query("SELECT d::DATE, n, v FROM m")
    assert rows == shop.query("SELECT d::DATE, n, v FROM all_days WHERE d = DATE '2026-06-15'")
    assert len(rows) == 1
    shop.fails("run", "-s", "m", "--start", "2026-06-16", "--end", "2026-06-20")


def test_04_10_10_one_day_of_a_year_reads_a_fiftieth_of_its_source_at_most(shop):
    path = write_events(shop, 600_000, 365, 2048)
    shop.write({"models/m.sql": daily(ROLLUP), "models/all_days.sql": ROLLUP})
    shop.ok("apply")
    assert spoil_other_row_groups(path, "2026-06-15", "2026-06-16") <= 1 / 50
    shop.ok("restate", "-s", "m", "--start", "2026-06-15", "--end", "2026-06-16")
    day = shop.query("SELECT * FROM m WHERE d = DATE '2026-06-15'")
    assert len(day) == 1
    assert day == shop.query("SELECT * FROM all_days WHERE d = DATE '2026-06-15'")


def test_04_9_buckets_are_cut_like_truncations(shop):
    query = "SELECT time_bucket(INTERVAL 15 MINUTE, ts) AS d, count(*) AS n, sum(v) AS v FROM events GROUP BY 1"
    path = write_events(shop, 600_000, 30, 2048)
    shop.write({"models/m.sql": daily(query), "models/whole.sql": query})
    shop.ok("apply")
    assert spoil_other_row_groups(path, "2026-06-15", "2026-06-16") <= 2 / 30
    shop.ok("run", "-s", "m", "--start", "2026-06-15", "--end", "2026-06-16")
    day = "d >= '2026-06-15' AND d < '2026-06-16' ORDER BY d"
    assert len(shop.query("SELECT * FROM m")) == 96
    assert shop.query("SELECT * FROM m ORDER BY d") == shop.query(f"SELECT * FROM whole WHERE {day}")


def test_04_9_a_first_build_from_a_pinned_start_reads_from_there_on(shop):
    path = write_events(shop, 600_000, 30, 2048)
    shop.write({"models/whole.sql": ROLLUP})
    shop.ok("apply")
    assert spoil_other_row_groups(path, "2026-06-25", "2026-07-01") <= 7 / 30
    shop.write({"models/m.sql": daily(ROLLUP, ", backfill: 2026-06-25")})
    shop.ok("apply", "-s", "m")
    rows = shop.query("SELECT * FROM m ORDER BY d")
    assert len(rows) == 6
    assert rows == shop.query("SELECT * FROM whole WHERE d >= '2026-06-25' ORDER BY d")
    shop.write({"models/earlier.sql": daily(ROLLUP, ", backfill: 2026-06-20")})
    shop.fails("apply", "-s", "earlier")


def test_04_9_a_pinned_start_still_counts_rows_without_a_time(shop):
    shop.load(
        "CREATE TABLE t AS SELECT CASE WHEN range > 2 THEN DATE '2026-06-01' + range::INT END AS ts FROM range(30)"
    )
    shop.write({"models/m.sql": daily("SELECT ts AS d FROM src.t", ", backfill: 2026-06-25")})
    assert "3 source rows have no d" in shop.ok("apply").stderr
    assert shop.query("SELECT min(d)::TEXT, count(*), count(d) FROM m") == [["2026-06-25", 6, 6]]


def test_04_10_one_day_of_365_over_ten_million_rows_reads_two_percent(shop):
    path = write_events(shop, 10_000_000, 365, 20480)
    shop.write({"models/m.sql": daily(ROLLUP)})
    shop.env["INTERLACE_NOW"] = "2027-06-01T00:00:00"
    shop.ok("apply")
    shop.ok("run", "--start", "2026-12-24", "--end", "2026-12-25")
    whole = shop.query("SELECT * FROM m WHERE d = DATE '2026-12-24'")
    share = spoil_other_row_groups(path, "2026-12-24", "2026-12-25")
    assert share <= 0.02
    shop.ok("restate", "--start", "2026-12-24", "--end", "2026-12-25")
    assert shop.query("SELECT * FROM m WHERE d = DATE '2026-12-24'") == whole
    assert whole[0][1] > 27_000


def test_04_11_a_year_in_batches_equals_a_year_of_days(shop, make_project):
    write_events(shop, 200_000, 365, 2048)
    shop.write({"models/m.sql": daily(ROLLUP)})
    shop.env["INTERLACE_NOW"] = "2027-06-01T00:00:00"
    shop.ok("apply")
    days = ("run", "--start", "2026-06-01", "--end", "2027-06-01")
    seen = []
    for batch in ("auto", "1"):
        twin = make_project(name=f"batch-{batch}")
        twin.env.update(shop.env)
        shutil.copytree(shop.root, twin.root, dirs_exist_ok=True)
        result = twin.json(*days, "--batch", batch)
        seen.append((result["rows"], twin.query("FROM m ORDER BY ALL"), twin.json("intervals", "m")["intervals"]))
    assert seen[0] == seen[1]
    assert len(seen[0][1]) == 365
    assert seen[0][2] == [["2026-06-01T00:00:00", "2027-06-01T00:00:00"]]


def write_partitions(project, broken):
    import duckdb

    for day in range(1, 11):
        folder = project.root / f"data/days/d=2026-06-{day:02}"
        folder.mkdir(parents=True, exist_ok=True)
        duckdb.sql(f"COPY (SELECT {day} AS n) TO '{folder}/rows.parquet' (FORMAT parquet)")
        if day == broken:
            (folder / "rows.parquet").write_bytes(b"PAR1 this is no data PAR1")


@pytest.mark.parametrize("column", ["d", "date_trunc('day', d)::DATE AS d"])
def test_02_5_2_a_corrupt_partition_matters_inside_the_window_only(shop, column):
    write_partitions(shop, broken=None)
    shop.write(
        {
            "models/days.sql": "/* interlace: {materialise: view} */\nSELECT * FROM"
            " read_parquet('data/days/*/*.parquet', hive_partitioning = true)",
            "models/m.sql": daily(f"SELECT {column}, n FROM days"),
        }
    )
    shop.ok("apply")
    write_partitions(shop, broken=7)
    shop.ok("run", "--start", "2026-06-02", "--end", "2026-06-05")
    assert shop.query("SELECT n FROM m ORDER BY n") == [[2], [3], [4]]
    before = shop.json("intervals", "m")["intervals"]
    shop.fails("run", "--start", "2026-06-07", "--end", "2026-06-08")
    assert shop.json("intervals", "m")["intervals"] == before


def test_04_9_a_declared_read_is_cut_with_its_reach(shop):
    shop.load("CREATE TABLE t AS SELECT DATE '2026-06-01' + range::INTEGER AS d, range::INTEGER AS n FROM range(30)")
    query = "SELECT d, n, sum(n) OVER (ORDER BY d) AS seen FROM src.t"
    shop.write({"models/m.sql": daily(query, ", backfill: none, reads: {src.t: {time_column: d, before: 2d}}")})
    shop.ok("apply")
    shop.ok("run", "--start", "2026-06-10", "--end", "2026-06-11")
    assert shop.query("SELECT n, seen FROM m") == [[9, 7 + 8 + 9]]
    shop.write({"models/m.sql": daily(query, ", backfill: none, reads: {src.t: {time_column: at}}")})
    assert "no column at" in shop.fails("run", "--start", "2026-06-10", "--end", "2026-06-11").stderr


def test_04_9_a_python_model_gets_what_its_reads_declare(shop):
    shop.load("CREATE TABLE t AS SELECT DATE '2026-06-01' + range::INTEGER AS d, range::INTEGER AS n FROM range(40)")
    header = "strategy='incremental', time_column='d', key='d', backfill='none', columns={'d': 'DATE', 'n': 'INTEGER', 'seen': 'BIGINT'}, reads={'days': %s}"
    text = (
        "from interlace import model\n\n\n@model(" + header + ")\ndef m(days):\n"
        "    rows = sorted((row['d'], row['n']) for row in days.table().to_pylist())\n"
        "    return [{'d': d, 'n': n, 'seen': len(rows)} for d, n in rows]\n"
    )
    shop.write({"models/days.sql": "SELECT * FROM src.t"})
    shop.write({"models/m.py": text % "{'time_column': 'd', 'before': '2d', 'after': '1d'}"})
    shop.ok("apply")
    shop.ok("run", "-s", "m", "--start", "2026-06-10", "--end", "2026-06-11")
    assert shop.query("SELECT n, seen FROM m WHERE d < '2026-07-01'") == [[9, 4]]
    shop.write({"models/m.py": text % "{'time_column': 'at'}"})
    assert "no column at" in shop.fails("run", "-s", "m", "--start", "2026-06-10", "--end", "2026-06-11").stderr


@pytest.mark.parametrize("kind", ["TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP", "TIMESTAMP_NS"])
def test_02_5_times_before_1970_are_cut_like_others(shop, kind):
    shop.load(
        "CREATE TABLE t AS SELECT CAST(TIMESTAMP '1959-12-30' + INTERVAL (range * 6) HOUR AS " + kind + ") AS ts,"
        " range::INTEGER AS n FROM range(20) UNION ALL"
        f" SELECT CAST(TIMESTAMP{'_NS' if kind.endswith('NS') else ''} '1959-12-31 23:59:59.9999999' AS {kind}), 99"
    )
    shop.write({"models/m.sql": daily("SELECT date_trunc('day', ts)::DATE AS d, n FROM src.t")})
    shop.write({"models/whole.sql": "SELECT date_trunc('day', ts)::DATE AS d, n FROM src.t"})
    shop.ok("apply")
    for start, end in ("1960-01-01", "1960-01-02"), ("1959-12-31", "1960-01-01"):
        shop.ok("run", "-s", "m", "--start", start, "--end", end)
    expected = "SELECT n FROM whole WHERE d >= DATE '1959-12-31' AND d < DATE '1960-01-02' ORDER BY n"
    assert shop.query("SELECT n FROM m ORDER BY n") == shop.query(expected)


def test_04_9_an_input_is_cut_like_a_table(shop):
    path = write_events(shop, 60_000, 30, 2048)
    shop.write({"models/events.sql": None})
    shop.write({"interlace.yaml": CONFIG + "inputs: {events: {format: parquet, path: data/events.parquet}}\n"})
    shop.write({"models/m.sql": daily(ROLLUP)})
    shop.ok("apply")
    spoil_other_row_groups(path, "2026-06-15", "2026-06-16")
    shop.ok("run", "--start", "2026-06-15", "--end", "2026-06-16")
    assert shop.query("SELECT n FROM m") == [[2000]]


def test_04_9_explain_says_what_is_read_and_why(shop):
    shop.write(
        {
            "models/cut.sql": daily("SELECT e.ts::DATE AS d, n.name FROM raw.events e JOIN src.names n USING (v)"),
            "models/whole.sql": daily("SELECT ts AS d FROM raw.events LIMIT 3"),
            "models/plain.sql": "SELECT 1 AS a",
        }
    )
    lines = shop.ok("plan", "--explain").stdout.splitlines()
    about = {
        name: lines[i + 1]
        for i, line in enumerate(lines[:-1])
        for name in ("cut", "whole")
        if line.startswith(f"{name}: ")
    }
    assert about["cut"] == "  a window reads only its rows of raw.events, by ts"
    assert about["whole"].startswith("  no pruning: ")
    assert "LIMIT" in about["whole"]


def test_02_5_a_truncation_of_ones_own_is_not_taken_for_the_engines(shop):
    shop.load("CREATE TABLE t AS SELECT TIMESTAMP '2026-06-10' + INTERVAL (range) DAY AS ts FROM range(5)")
    query = "SELECT date_trunc('day', ts) AS d, ts FROM src.t"
    shop.write({"models/a.sql": "SELECT 1 AS a", "models/m.sql": daily(query)})
    shop.ok("apply", "-s", "a")
    with shop.warehouse("data/wh.duckdb", read_only=False) as connection:
        connection.execute("CREATE MACRO date_trunc(unit, ts) AS ts + INTERVAL 2 DAY")
    shop.ok("apply")
    shop.ok("run", "--start", "2026-06-12", "--end", "2026-06-13")
    assert shop.query("SELECT ts FROM m") == [["2026-06-10 00:00:00"]]


# --- Cut or not, the result is that of the wrapped query. Most of these must not be cut.

SHAPES = {
    "plain": "SELECT ts AS d, id, v FROM src.e",
    "rollup": "SELECT date_trunc('day', ts) AS d, count(*) AS n, sum(v) AS v FROM src.e GROUP BY 1",
    "hidden_alias": "SELECT date_trunc('day', ts) AS ts_day, ts AS d, count(*) AS n FROM src.e GROUP BY ALL",
    "month": "SELECT date_trunc('month', ts)::DATE AS d, count(*) AS n FROM src.e GROUP BY ALL",
    "week": "SELECT date_trunc('week', ts) AS d, max(v) AS v FROM src.e GROUP BY 1 HAVING count(*) > 3",
    "star_first": "SELECT *, ts::DATE AS d FROM src.e",
    "limit": "SELECT ts AS d, id FROM src.e ORDER BY v, id LIMIT 10",
    "row_number": "SELECT ts AS d, id, row_number() OVER (ORDER BY id) AS r FROM src.e",
    "latest": "SELECT ts::DATE AS d, id % 7 AS k, v FROM src.e QUALIFY row_number() OVER (PARTITION BY k ORDER BY id) = 1",
    "lag": "SELECT ts AS d, id, lag(v) OVER (PARTITION BY id % 3 ORDER BY id) AS p FROM src.e",
    "per_day": "SELECT ts::DATE AS d, id, row_number() OVER (PARTITION BY ts::DATE ORDER BY id) AS r FROM src.e",
    "running": "SELECT ts::DATE AS d, sum(count(*)) OVER (ORDER BY ts::DATE) AS n FROM src.e GROUP BY 1",
    "distinct": "SELECT DISTINCT ts::DATE AS d, v % 3 AS k FROM src.e",
    "distinct_on": "SELECT DISTINCT ON (id % 5) ts AS d, id FROM src.e ORDER BY id % 5, id",
    "union": "SELECT ts AS d, id FROM src.e UNION SELECT ts + INTERVAL 1 DAY, id FROM src.e",
    "except": "SELECT ts::DATE AS d, id FROM src.e EXCEPT SELECT ts::DATE + 1, id + 1 FROM src.e",
    "preserved": "SELECT e.ts AS d, e.id, o.v AS w FROM src.e e LEFT JOIN src.e o ON o.id = e.id + 1",
    "not_preserved": "SELECT o.ts AS d, e.id FROM src.e e LEFT JOIN src.e o ON o.id = e.id + 1",
    "full": "SELECT coalesce(o.ts, e.ts) AS d, e.id, o.id AS j FROM src.e e FULL JOIN src.e o ON o.id = e.id + 1",
    "outer_other": "SELECT o.ts AS d, e.id FROM src.e o RIGHT JOIN src.e e ON o.id = e.id + 1",
    "asof": "SELECT e.ts AS d, e.id, o.id AS j FROM src.e e ASOF JOIN src.shifted o ON e.ts >= o.ts",
    "self": "SELECT e.ts AS d, e.id, o.ts AS t FROM src.e e JOIN src.e o ON o.id = e.id + 1",
    "shared": "WITH c AS (SELECT ts, v FROM src.e) SELECT ts AS d, v, (SELECT max(v) FROM c) AS m FROM c",
    "share": "WITH c AS (FROM src.e) SELECT ts::DATE AS d, count(*) / (SELECT count(*) FROM c) AS s FROM c GROUP BY 1",
    "subquery": "SELECT ts AS d, id FROM src.e WHERE v > (SELECT avg(v) FROM src.e)",
    "correlated": "SELECT ts AS d, id, (SELECT count(*) FROM src.e o WHERE o.ts < e.ts) AS n FROM src.e e",
    "rowid": "SELECT ts AS d, rowid AS r FROM src.e",
    "sets": "SELECT ts::DATE AS d, v % 2 AS k, count(*) AS n FROM src.e GROUP BY GROUPING SETS ((1, 2), (2), (1))",
    "shift": "SELECT ts + INTERVAL 1 DAY AS d, id FROM src.e",
    "alias_chain": "SELECT id, ts AS u, u AS d FROM src.e",
    "ephemeral": "SELECT day AS d, count(*) AS n FROM eph GROUP BY 1",
    "ephemeral_twice": "SELECT day AS d, count(*) / (SELECT count(*) FROM eph) AS n FROM eph GROUP BY 1",
    "zoned": "SELECT z::DATE AS d, count(*) AS n FROM src.e GROUP BY 1",
    "zoned_hours": "SELECT date_trunc('hour', z) AS d, count(*) AS n FROM src.e GROUP BY 1",
    "bucket": "SELECT time_bucket(INTERVAL '7 hours', ts) AS d, count(*) AS n FROM src.e GROUP BY 1",
    "bucket_days": "SELECT time_bucket(INTERVAL 5 DAY, ts)::DATE AS d, count(*) AS n FROM src.e GROUP BY 1",
    "bucket_months": "SELECT time_bucket(INTERVAL '1 quarter', ts::DATE) AS d, count(*) AS n FROM src.e GROUP BY 1",
    "bucket_zoned": "SELECT time_bucket(INTERVAL '1 day', z) AS d, count(*) AS n FROM src.e GROUP BY 1",
    "bucket_origin": "SELECT time_bucket(INTERVAL '1 day', ts, INTERVAL '9 hours') AS d, id FROM src.e",
}
EPHEMERAL = "SELECT date_trunc('hour', ts)::DATE AS day, id FROM src.e"


def load_rows(project, rng):
    project.load("DROP TABLE IF EXISTS e; DROP TABLE IF EXISTS shifted")
    values = ", ".join(
        f"({i}, TIMESTAMP '2026-10-15' + INTERVAL ({rng.randrange(24 * 60 * 24)}) MINUTE, {rng.randrange(10)})"
        for i in range(300)
    )
    project.load(
        f"CREATE TABLE e AS SELECT *, ts AT TIME ZONE 'UTC' AS z FROM (VALUES {values}) AS v(id, ts, v);"
        "CREATE TABLE shifted AS SELECT id, ts, (ts + INTERVAL 2 DAY)::DATE AS d FROM e"
    )


def expected_rows(project, query, windows):
    import duckdb

    inside = " OR ".join(f"(d >= '{start}' AND d < '{end}')" for start, end in windows)
    query = query.replace("eph", f"({EPHEMERAL})")
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'Europe/Berlin'")
        connection.execute(f"ATTACH '{project.root}/data/src.duckdb' AS src (READ_ONLY)")
        connection.execute(f"CREATE TABLE r AS SELECT * FROM (SELECT * FROM ({query}) WHERE {inside})")
        return connection.execute("SELECT coalesce(list(r::VARCHAR ORDER BY r::VARCHAR), []) FROM r").fetchone()[0]


def stored_rows(project, name):
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'Europe/Berlin'")
        connection.execute(f"ATTACH '{project.root}/data/wh.duckdb' AS wh (READ_ONLY)")
        connection.execute("USE wh")
        return connection.execute(
            f'SELECT coalesce(list(r::VARCHAR ORDER BY r::VARCHAR), []) FROM "{name}" AS r'
        ).fetchone()[0]


@pytest.mark.parametrize("seed", range(3))
def test_02_5_6_windows_in_any_order_equal_the_wrapped_query(project, seed):
    rng = random.Random(seed)
    project.env["INTERLACE_NOW"] = "2027-01-01T00:00:00"
    project.write({"interlace.yaml": CONFIG.replace("UTC", "Europe/Berlin")})
    project.write({"models/eph.sql": f"/* interlace: {{materialise: ephemeral}} */\n{EPHEMERAL}"})
    project.write({f"models/{name}.sql": daily(query) for name, query in SHAPES.items()})
    load_rows(project, rng)
    project.ok("apply")
    days = [f"2026-10-{day:02}" for day in range(14, 32)]
    edges = sorted(rng.sample(range(len(days)), 6))
    windows = [(days[edges[i]], days[edges[i + 1]]) for i in range(0, 6, 2)]
    rng.shuffle(windows)
    for start, end in windows:
        project.ok("restate", "--start", start, "--end", end, "--batch", str(rng.randrange(1, 4)))
    for name, query in SHAPES.items():
        assert stored_rows(project, name) == expected_rows(project, query, windows), name


def test_02_5_4_limit_and_row_number_give_the_wrapped_result(shop):
    shop.load(
        "CREATE TABLE t AS SELECT DATE '2026-06-01' + (range % 30)::INTEGER AS d, range::INTEGER AS n FROM range(90)"
    )
    shop.write(
        {
            "models/top.sql": daily("SELECT d, n FROM src.t ORDER BY n LIMIT 10"),
            "models/numbered.sql": daily("SELECT d, n, row_number() OVER (ORDER BY n) AS r FROM src.t"),
        }
    )
    shop.ok("apply")
    shop.ok("run", "--start", "2026-06-10", "--end", "2026-06-12")
    assert shop.query("SELECT n FROM top") == [[9]]
    assert shop.query("SELECT n, r FROM numbered ORDER BY n") == [[n, n + 1] for n in (9, 10, 39, 40, 69, 70)]
