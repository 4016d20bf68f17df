"""What a query that reads the clock gets in a windowed run (spec 04 §2–3)."""

import pytest

CONFIG = "database: data/wh.duckdb\nattach: {src: data/src.duckdb}\ntimezone: UTC\n"
AUGUST = {"INTERLACE_NOW": "2026-08-11T06:00:00"}
NOVEMBER = {"INTERLACE_NOW": "2026-11-20T15:30:00"}
WEEK = "--start", "2026-08-01", "--end", "2026-08-08"
RECENT = """SELECT d, n,
  current_date AS seen,
  n > 0 AND d >= now() - INTERVAL 3 DAY AS is_recent
FROM src.days"""
ALL_READS = """SELECT d, now() AS a, current_timestamp AS b, get_current_timestamp() AS c,
  transaction_timestamp() AS e, localtimestamp AS f, current_date AS g, today() AS h, localtime AS i,
  current_time AS j, age(d) AS k, today(), current_date
FROM src.days"""


def daily(extra, query):
    return f"/* interlace: {{strategy: incremental, time_column: d, backfill: none{extra}}} */\n{query}"


@pytest.fixture
def days(project):
    project.write({"interlace.yaml": CONFIG})
    project.env.update(AUGUST)
    project.load(
        "CREATE TABLE days AS SELECT TIMESTAMP '2026-08-01' + INTERVAL (range * 12) HOUR AS d, range::INTEGER AS n"
        " FROM range(20)"
    )
    return project


def notes(result):
    return [line for line in result.stderr.splitlines() if line.startswith("note: ") and "clock" in line]


def test_04_5_a_read_of_the_clock_is_noted_at_its_place(days):
    days.write({"models/m.sql": daily("", RECENT)})
    assert notes(days.ok("apply")) == []
    for verb in ("run", "restate"):
        [note] = notes(days.ok(verb, *WEEK))
        assert "models/m.sql:3:3" in note
        assert "current_date" in note


def test_04_5_a_read_in_an_inlined_model_is_noted_there(days):
    days.write(
        {
            "models/e.sql": "/* interlace: {materialise: ephemeral} */\nSELECT *,\n   now() AS seen FROM src.days",
            "models/m.sql": daily("", "SELECT d, seen FROM e"),
        }
    )
    days.ok("apply")
    [note] = notes(days.ok("run", *WEEK))
    assert "models/e.sql:3:4" in note


@pytest.mark.parametrize("extra", [", clock: wall", ", clock: window", ", clock_columns: [loaded_at]"])
def test_04_5_no_note_once_the_model_says_what_it_wants(days, extra):
    days.write({"models/m.sql": daily(extra, "SELECT d, now() AS loaded_at FROM src.days")})
    days.ok("apply")
    assert notes(days.ok("run", *WEEK)) == []


def test_04_5_a_run_of_august_in_november_equals_the_one_made_in_august(days):
    days.write({"models/m.sql": daily(", clock: window", RECENT), "models/w.sql": daily(", clock: wall", RECENT)})
    days.ok("apply")
    days.ok("run", *WEEK)
    august = days.query("SELECT * FROM m ORDER BY n")
    days.ok("restate", *WEEK, env=NOVEMBER)
    assert days.query("SELECT * FROM m ORDER BY n") == august
    assert days.query("SELECT count(*) FROM m WHERE seen <> d::DATE AND d < '2026-08-08'") == [[0]]
    assert days.query("SELECT count(*) FROM w WHERE seen = d::DATE AND d < '2026-08-08'") == [[0]]


def test_04_5_each_window_has_its_own_clock_whatever_the_batch(days):
    days.write({"models/m.sql": daily(", clock: window, batch: 7", RECENT)})
    days.ok("apply")
    for extra in ((), ("--batch", "7"), ("--batch", "auto")):
        days.ok("restate", *WEEK, *extra)
        assert days.query("SELECT DISTINCT seen FROM m WHERE d < '2026-08-08' ORDER BY 1") == [
            [f"2026-08-0{day}"] for day in range(1, 8)
        ]


def test_04_5_every_read_gets_the_last_microsecond_in_its_own_type(days):
    config = CONFIG.replace("UTC", "Asia/Kolkata")
    days.write({"interlace.yaml": config, "models/m.sql": daily(", clock: window", ALL_READS)})
    days.write({"models/w.sql": daily(", clock: wall", ALL_READS)})
    days.ok("apply")
    days.ok("run", "--start", "2026-08-02", "--end", "2026-08-03")
    with days.warehouse("data/wh.duckdb") as connection:
        columns = [connection.execute(f"DESCRIBE {name}").fetchall() for name in ("m", "w")]
    assert [column[:2] for column in columns[0]] == [column[:2] for column in columns[1]]
    [row] = days.query(
        "SELECT DISTINCT a = b AND b = c AND c = e, a = TIMESTAMPTZ '2026-08-02 18:29:59.999999+00',"
        ' f = TIMESTAMP \'2026-08-02 23:59:59.999999\', g, h, i::VARCHAR, j::VARCHAR, "today()", "current_date"'
        " FROM m WHERE d >= '2026-08-02' AND d < '2026-08-03'"
    )
    assert row == [
        True,
        True,
        True,
        "2026-08-02",
        "2026-08-02",
        "23:59:59.999999",
        "23:59:59.999999+05:30",
        "2026-08-02",
        "2026-08-02",
    ]
    assert days.query("SELECT k::VARCHAR FROM m WHERE d = '2026-08-02 12:00:00'") == [["-12:00:00"]]


def test_04_5_reads_in_an_inlined_model_are_bound(days):
    days.write(
        {
            "models/e.sql": "/* interlace: {materialise: ephemeral} */\nSELECT d, current_date AS seen FROM src.days",
            "models/m.sql": daily(", clock: window", "SELECT * FROM e"),
        }
    )
    days.ok("apply")
    days.ok("run", *WEEK)
    assert days.query("SELECT count(*) FROM m WHERE seen <> d::DATE AND d < '2026-08-08'") == [[0]]


def test_04_5_listed_columns_keep_the_wall_clock(days):
    days.write(
        {
            "models/m.sql": daily(
                ", clock: window, clock_columns: [loaded_at]",
                "SELECT d, today() AS seen, now() AS loaded_at FROM src.days",
            )
        }
    )
    days.ok("apply")
    days.ok("run", *WEEK)
    assert days.query(
        "SELECT count(*) FROM m WHERE d < '2026-08-08' AND (seen <> d::DATE OR loaded_at < '2026-08-09')"
    ) == [[0]]


def test_04_5_a_first_build_gets_the_moment_of_the_command(days):
    query = "SELECT d, current_date AS seen FROM src.days"
    days.write({"models/m.sql": daily(", clock: window", query).replace("none", "auto")})
    days.ok("apply")
    assert days.query("SELECT DISTINCT seen FROM m") == [["2026-08-11"]]


@pytest.mark.parametrize("verb", ["plan", "apply", "run"])
def test_04_5_forbidden_reads_are_refused_with_their_place(days, verb):
    days.write({"models/m.sql": daily(", clock: forbid", RECENT)})
    result = days.fails(verb)
    assert "models/m.sql:3:3" in result.stderr
    document = days.json("plan", code=1)
    assert document["error"]["kind"] == "CompilationError"
    details = document["error"]["details"]
    assert details["code"] == "clock.read"
    assert (details["file"], details["line"], details["column"]) == ("models/m.sql", 3, 3)


def test_04_5_columns_and_quoted_names_are_no_reads(days):
    days.write(
        {
            "models/m.sql": daily(
                ", clock: forbid",
                'SELECT d, c.current_date, c."now" FROM (SELECT d, 1 AS "current_date", 2 AS now FROM src.days) c',
            )
        }
    )
    days.ok("apply")
