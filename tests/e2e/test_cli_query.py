"""spec 06 §4 query, 07 §6; case 044."""

import time

import pytest

TABLE = {"models/t.sql": "SELECT * FROM (VALUES (1, 'a'), (2, 'b')) s(id, name)"}
SECRET = {"secret.csv": "a,b\n1,2\n"}

REFUSED = [
    "SELECT * FROM read_csv('secret.csv')",
    "SELECT * FROM 'secret.csv'",
    'SELECT * FROM "secret.csv"',
    "SELECT * FROM (FROM read_csv('secret.csv'))",
    "FROM query('SELECT 42')",
    "SELECT * FROM glob('*')",
    "DELETE FROM t",
    "SELECT 1; SELECT 2",
    "WITH d AS (DELETE FROM t RETURNING *) SELECT * FROM d",
    "INSTALL httpfs",
    "SELECT * FROM parquet_scan('x.parquet')",
    "",
    "-- only a comment",
    # spec 06 §4, 6 and 07 §6
    "SELECT * FROM read_text('secret.csv')",
    "SELECT * FROM pragma_database_list",
    "SELECT * FROM pragma_table_info('t')",
    "SELECT * FROM duckdb_tables()",
    "SELECT * FROM duckdb_settings",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM sqlite_master",
    "INSERT INTO t VALUES (3, 'c')",
    "UPDATE t SET id = 2",
    "DROP TABLE x",
    "CREATE TABLE x AS SELECT 1",
    "COPY t TO 'out.csv'",
    "ATTACH 'other.duckdb'",
    "PRAGMA database_list",
    "SET threads = 1",
    "SELECT getenv('HOME')",
    "SELECT current_setting('threads')",
    "SELECT (SELECT count(*) FROM read_csv('secret.csv'))",
    "SELECT * FROM t, LATERAL (SELECT * FROM read_text('secret.csv'))",
    "SELECT * FROM nosuch",
    "SELECT * FROM other_attachment.main.x",
]


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    from conftest import Project

    shop = Project(tmp_path_factory.mktemp("query") / "shop").write({**TABLE, **SECRET})
    shop.ok("apply")
    return shop


@pytest.mark.parametrize("sql", REFUSED)
def test_06_4_6_what_only_looks_like_a_read_is_refused(shop, sql):
    before = shop.files()
    result = shop.fails("query", sql)
    assert len(result.error_lines) == 1
    assert result.stdout == ""
    assert shop.files() == before


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT * FROM t ORDER BY id DESC", [[2, "b"], [1, "a"]]),
        ("SELECT id FROM t EXCEPT SELECT 1", [[2]]),
        ("FROM t ORDER BY id", [[1, "a"], [2, "b"]]),
        ("SELECT count(*) FROM range(5)", [[5]]),
        ("SELECT ';' AS s;", [[";"]]),
        ('SELECT "name" FROM t ORDER BY 1', [["a"], ["b"]]),
        ("WITH x AS (SELECT id FROM t) SELECT max(id) FROM x", [[2]]),
        ("SELECT 1 UNION SELECT 1", [[1]]),
        ("VALUES (1), (2)", [[1], [2]]),
        ("SELECT unnest([1, 2])", [[1], [2]]),
        ("SELECT main.t.id FROM main.t WHERE id = 1 -- done", [[1]]),
        ("SELECT T.ID FROM T AS T WHERE Id = 2", [[2]]),
        ("SELECT * FROM t AS a JOIN t AS b USING (id) WHERE id = 1", [[1, "a", "a"]]),
    ],
)
def test_06_4_6_reads_are_allowed(shop, sql, rows):
    assert shop.query(sql) == rows


def test_06_4_a_refusal_has_its_kind(shop):
    assert shop.json("query", "DELETE FROM t", code=1)["error"]["kind"] == "QueryError"
    assert shop.json("query", "SELECT nmae FROM t", code=1)["error"]["kind"] == "QueryError"


def test_044_the_sandbox_does_not_stop_later_writes(make_project):
    shop = make_project({**TABLE, **SECRET}, name="writes")
    shop.ok("apply")
    shop.fails("query", REFUSED[0])
    shop.ok("query", "SELECT * FROM t")
    shop.write({"models/t.sql": "SELECT 3 AS id, 'c' AS name"}).ok("apply", "--force")
    assert shop.query("SELECT * FROM t") == [[3, "c"]]


def test_06_4_query_prints_a_table(shop):
    lines = shop.ok("query", "SELECT id, name, NULL AS nothing FROM t ORDER BY id").stdout.splitlines()
    assert lines == ["id  name  nothing", "─────────────────", " 1  a        NULL", " 2  b        NULL", "2 row(s)"]


def test_06_4_query_says_when_rows_were_left_out(shop):
    assert "1 row(s) — truncated; raise --limit for more" in shop.ok("query", "SELECT id FROM t", "--limit", "1").stdout
    assert shop.json("query", "SELECT id FROM t", "-n", "1")["truncated"] is True
    assert shop.json("query", "SELECT id FROM t", "-n2")["truncated"] is False
    shop.fails("query", "SELECT 1", "--limit", "0", code=2)


def test_06_4_query_stops_at_ten_thousand_rows(shop):
    document = shop.json("query", "SELECT * FROM range(20000)", "--limit", "50000")
    assert len(document["rows"]) == 10000
    assert document["truncated"] is True


def test_07_6_cells_are_cut_at_eight_million_bytes(shop):
    document = shop.json("query", "SELECT repeat('x', 1000000) FROM range(20)")
    assert len(document["rows"]) == 8
    assert document["truncated"] is True


def test_07_6_a_query_over_the_time_limit_is_stopped(shop):
    endless = "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range + b.range = 7"
    started = time.monotonic()
    result = shop.fails("query", endless, env={"INTERLACE_HOOK": "query.short_limit=fail"})
    assert time.monotonic() - started < 15
    assert result.error_lines == ["error: the query took longer than 30 s and was stopped"]
    assert shop.query("SELECT count(*) FROM t") == [[2]]


def test_07_6_cells_that_json_cannot_carry_are_text(shop):
    sql = """SELECT 9007199254740991 AS safe, 9007199254740993 AS wide, 170141183460469231731687303715884105727 AS huge,
        1.50::DECIMAL(10, 2) AS money, 'NaN'::DOUBLE AS nan, '-Infinity'::DOUBLE AS inf, 0.5::DOUBLE AS half,
        true AS yes, NULL AS nothing, DATE '2026-01-02' AS day, [1, 2] AS list, '\\xab'::BLOB AS raw"""
    document = shop.json("query", sql)
    row = dict(zip(document["columns"], document["rows"][0], strict=True))
    assert row["safe"] == 9007199254740991
    assert row["wide"] == "9007199254740993"
    assert row["huge"] == "170141183460469231731687303715884105727"
    assert row["money"] == "1.50"
    assert row["nan"].lower() == "nan" and row["inf"].lower().startswith("-inf")
    assert row["half"] == 0.5
    assert row["yes"] is True and row["nothing"] is None
    assert row["day"] == "2026-01-02" and row["list"] == "[1, 2]" and row["raw"] == "\\xab"
    types = dict(zip(document["columns"], document["types"], strict=True))
    assert types["safe"] == "int64" and types["huge"] == "decimal128(38, 0)" and types["money"] == "decimal128(10, 2)"
    assert types["half"] == "double" and types["yes"] == "bool" and types["day"] == "date32[day]"
    assert types["list"] == "list<item: int32>" and types["raw"] == "binary"


def test_06_4_query_has_other_formats(shop):
    sql = "SELECT * FROM (VALUES (1, 'a \"b\", c'), (2, NULL)) v(id, name)"
    assert shop.ok("query", sql, "--format", "csv").stdout == 'id,name\n1,"a ""b"", c"\n2,\n'
    assert shop.ok("query", sql, "-f", "lines").stdout == '{"id":1,"name":"a \\"b\\", c"}\n{"id":2,"name":null}\n'
    assert shop.ok("query", sql, "-f", "json").json == shop.json("query", sql)


def test_06_4_a_query_can_come_from_stdin(shop):
    assert "2 row(s)" in shop.ok("query", "-", input="SELECT * FROM t").stdout


def test_06_4_errors_of_the_engine_are_its_own_words(shop):
    result = shop.fails("query", "SELECT nmae FROM t")
    assert "nmae" in result.error_lines[0]
    assert "name" in result.stderr
    assert len(result.stderr.splitlines()) <= 2, result


def test_06_4_names_mean_the_views_of_the_environment(make_project):
    shop = make_project({**TABLE, "models/silver/s.sql": "SELECT id FROM t"}, name="environments")
    shop.ok("apply")
    assert "nothing is built in 'dev'" in shop.fails("query", "-e", "dev", "SELECT * FROM t").stderr
    shop.write({"models/t.sql": "SELECT 9 AS id, 'z' AS name"}).ok("apply", "-e", "dev")
    assert shop.query("SELECT id FROM t", env="dev") == [[9]]
    assert shop.query("SELECT id FROM silver.s", env="dev") == [[9]]
    assert shop.query("SELECT t.id FROM t JOIN silver.s ON silver.s.id = t.id", env="dev") == [[9]]
    assert len(shop.query("SELECT id FROM silver.s")) == 2
    assert len(shop.query("SELECT id FROM main.t", env="dev")) == 2
    assert shop.query("SELECT id FROM dev__main.t") == [[9]]
    assert shop.query("WITH t AS (SELECT 5 AS id) SELECT id FROM t", env="dev") == [[5]]


def test_06_4_nothing_built_is_said_so(project):
    project.write(TABLE)
    result = project.fails("query", "SELECT * FROM t")
    assert "nothing is built in 'prod' yet" in result.error_lines[0]
    assert "interlace apply" in result.stderr
    assert not project.exists(".interlace/warehouse.duckdb")


def test_06_4_a_query_runs_beside_another_reader(make_project):
    shop = make_project(TABLE, name="readers")
    shop.ok("apply")
    with shop.warehouse(read_only=True):
        assert shop.query("SELECT count(*) FROM t") == [[2]]


def test_06_4_attached_databases_can_be_read(project):
    project.load("CREATE TABLE orders AS SELECT 7 AS id; CREATE SCHEMA s; CREATE TABLE s.x AS SELECT 8 AS id")
    project.write({"interlace.yaml": "attach: {src: data/src.duckdb}\n", "models/o.sql": "SELECT * FROM src.orders"})
    project.ok("apply")
    assert project.query("SELECT id FROM src.orders") == [[7]]
    assert project.query("SELECT id FROM src.s.x") == [[8]]
    project.fails("query", "SELECT * FROM src.information_schema.tables")
    project.fails("query", "SELECT * FROM src.duckdb_tables")


def test_06_4_tables_of_others_in_the_warehouse_are_not_shown(make_project):
    shop = make_project(TABLE, name="foreign")
    shop.ok("apply")
    with shop.warehouse(read_only=False) as connection:
        connection.execute("CREATE TABLE main.private AS SELECT 1 AS id")
    assert "private" in shop.fails("query", "SELECT * FROM private").error_lines[0]


def test_06_4_a_view_that_reads_a_file_can_be_asked(project):
    project.write(
        {**SECRET, "models/v.sql": "/* interlace: {materialise: view} */ SELECT * FROM read_csv('secret.csv')"}
    )
    project.ok("apply")
    assert project.query("SELECT * FROM v") == [[1, 2]]
    project.fails("query", "SELECT * FROM 'secret.csv'")


def test_06_4_order_is_kept_over_many_rows(shop):
    rows = shop.json("query", "SELECT i FROM range(300000) r(i) ORDER BY hash(i) % 1000, i DESC", "-n", "10000")["rows"]
    again = shop.json(
        "query", "SELECT i FROM range(300000) r(i) ORDER BY hash(i) % 1000, i DESC LIMIT 10000", "-n", "10000"
    )
    assert rows == again["rows"]


def test_06_4_a_query_can_be_interrupted(shop):
    import signal

    with shop.terminal("query", "SELECT count(*) FROM range(1000000000000) t(i) WHERE i % 7 = 3") as terminal:
        terminal.wait_for(lambda _: any(".duckdb" in path for path in open_files(terminal.process.pid)))
        terminal.signal(signal.SIGINT)
        assert terminal.finish() == 130


def open_files(pid):
    import os

    folder = f"/proc/{pid}/fd"
    try:
        return [os.readlink(f"{folder}/{name}") for name in os.listdir(folder)]
    except OSError:
        return []
