"""Lines of spec 02 that need the whole program and one small project each."""

import pytest

CONFIG = "database: data/wh.duckdb\nattach: {src: data/src.duckdb}\ntimezone: UTC\n"
AFTER = {"INTERLACE_NOW": "2026-07-05T12:00:00"}


def daily(extra="", query="SELECT d, n FROM src.days"):
    return f"/* interlace: {{strategy: incremental, time_column: d{extra}}} */\n{query}"


def load_days(project, days=30):
    project.load(
        "CREATE OR REPLACE TABLE days AS SELECT DATE '2026-06-01' + range::INTEGER AS d, range::INTEGER AS n"
        f" FROM range({days})"
    )


def test_02_3_3_a_cell_is_the_sum_of_its_windows_and_a_skip_shows_a_dash(project):
    project.env.update(AFTER)
    project.write({"interlace.yaml": CONFIG, "models/m.sql": daily(", backfill: none")})
    load_days(project)
    project.ok("apply")
    span = ("--start", "2026-06-01", "--end", "2026-06-11", "--batch", "1")
    document = project.json("run", *span)
    assert document["rows"]["m"] == {"inserted": 10, "updated": 0, "deleted": 0}
    again = project.ok("run", *span)
    assert "Ran 0 model(s) (0 task(s))" in again.stdout
    assert "m" not in project.json("run", *span)["rows"]


def test_02_3_3_large_counts_have_separators(project):
    project.write({"models/m.sql": "SELECT range AS i FROM range(1234567)"})
    assert "+1,234,567" in project.ok("apply").stdout


def test_02_4_3_full_merge_again_writes_nothing_into_a_lake(project):
    project.write(
        {
            "interlace.yaml": "database: 'ducklake:data/lake.ducklake'\nattach: {src: data/src.duckdb}\n",
            "models/m.sql": "/* interlace: {strategy: full_merge, key: id} */ SELECT * FROM src.items",
        }
    )
    project.load("CREATE TABLE items AS SELECT range AS id, 'v' || range AS v FROM range(500)")
    project.ok("apply")
    files = [name for name in project.files() if name.endswith(".parquet")]
    assert files
    document = project.json("run")
    assert document["rows"]["m"] == {"inserted": 0, "updated": 0, "deleted": 0}
    assert [name for name in project.files() if name.endswith(".parquet")] == files


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/Los_Angeles"])
def test_02_9_5_the_session_zone_of_the_engine_changes_nothing(project, zone):
    project.env.update(AFTER)
    project.write(
        {
            "interlace.yaml": CONFIG + f"settings: {{TimeZone: '{zone}'}}\n",
            "models/m.sql": daily(),
            "models/s.sql": "/* interlace: {strategy: scd, key: n} */ SELECT d, n FROM src.days",
        }
    )
    project.load(
        "SET TimeZone = 'UTC'; CREATE TABLE days AS SELECT TIMESTAMPTZ '2026-06-01 00:30:00+00' + INTERVAL (range) DAY AS d,"
        " range::INTEGER AS n FROM range(3)"
    )
    project.ok("apply")
    assert project.json("intervals", "m")["intervals"] == [["2026-06-01T00:00:00", "2026-06-04T00:00:00"]]
    project.ok("restate", "-s", "m", "--start", "2026-06-02", "--end", "2026-06-03")
    assert project.query("SELECT n FROM m ORDER BY n") == [[0], [1], [2]]
    assert project.query("SELECT DISTINCT _valid_from::VARCHAR FROM s") == [["2026-07-05 12:00:00"]]


def test_02_4_5_a_hash_over_nested_times_is_the_same_in_every_zone(project):
    query = "SELECT 1 AS id, {'at': [TIMESTAMPTZ '2026-06-01 00:30:00+00']} AS v"
    project.write({"models/m.sql": f"/* interlace: {{strategy: hash_merge, key: id}} */ {query}"})
    for zone, rows in (("Asia/Tokyo", 1), ("America/Los_Angeles", 0)):
        project.write({"interlace.yaml": f"timezone: UTC\nsettings: {{TimeZone: '{zone}'}}\n"})
        counts = project.json("run" if rows == 0 else "apply")["rows"]["m"]
        assert counts == {"inserted": rows, "updated": 0, "deleted": 0}
    text = "{'at': ['2026-06-01 00:30:00+00']}"
    assert project.query("SELECT _hash FROM m") == project.query(f"SELECT md5('{len(text)}:' || $${text}$$ || ';')")


def test_02_11_5_a_changed_definition_has_a_ledger_of_its_own(project):
    project.env.update(AFTER)
    project.write({"interlace.yaml": CONFIG, "models/m.sql": daily()})
    load_days(project)
    project.ok("apply")
    project.ok("run")
    before = project.json("intervals", "m")["intervals"]
    project.write({"models/m.sql": daily(query="SELECT d, n * 2 AS n FROM src.days")})
    project.ok("apply", "--force")
    assert project.json("intervals", "m")["intervals"] == [["2026-06-01T00:00:00", "2026-07-01T00:00:00"]]
    # The old version's ledger is still there: going back to it needs no window again.
    project.write({"models/m.sql": daily()})
    project.ok("apply", "--force")
    assert project.json("intervals", "m")["intervals"] == before
    document = project.json("run", "--start", "2026-06-01", "--end", "2026-07-01")
    assert document["tasks"]["models"][0]["action"] == "skip"


def test_02_12_6_restate_gives_a_cursor_model_none(project):
    project.write(
        {
            "models/m.py": "from interlace import model\nimport pyarrow as pa\n"
            '@model(strategy="merge", key="id", cursor="ts")\ndef m(cursor):\n'
            '    print("cursor is", cursor)\n'
            '    yield pa.record_batch({"id": [1], "ts": [20]})\n'
        }
    )
    said = [project.ok(verb, "--verbose").stderr for verb in ("apply", "run", "restate")]
    assert "cursor is None" in said[0]
    assert "cursor is 20" in said[1]
    assert "cursor is None" in said[2]


def test_03_6_3_a_run_whose_rows_fail_a_check_changes_nothing_for_readers(project):
    project.write(
        {"interlace.yaml": CONFIG, "models/m.sql": "/* interlace: {checks: [{not_null: n}]} */ FROM src.days"}
    )
    load_days(project, days=3)
    project.ok("apply")
    before = project.query("SELECT * FROM m ORDER BY ALL")
    project.load("UPDATE days SET n = NULL")
    project.fails("run")
    assert project.query("SELECT * FROM m ORDER BY ALL") == before


def test_03_1_5_a_watched_file_a_macro_and_a_var_move_their_readers_only(project):
    project.write(
        {
            "interlace.yaml": "vars: {rate: {type: int, value: 2}}\n"
            "inputs: {prices: {format: csv, path: seeds/prices.csv, watch: true}}\n",
            "seeds/prices.csv": "id,price\n1,10\n",
            "macros/m.sql": "CREATE MACRO twice(x) AS x * 2;",
            "models/a.sql": "SELECT * FROM prices",
            "models/b.sql": "SELECT twice(1) AS x",
            "models/c.sql": "SELECT var('rate') AS x",
            "models/d.sql": "SELECT 1 AS x",
        }
    )
    project.ok("apply")

    def changed():
        return [change["name"] for change in project.json("plan")["changes"]]

    assert changed() == []
    project.write({"seeds/prices.csv": "id,price\n1,11\n"})
    assert changed() == ["a"]
    project.write({"macros/m.sql": "CREATE MACRO twice(x) AS x * 3;"})
    assert changed() == ["a", "b"]
    project.write({"interlace.yaml": project.read("interlace.yaml").replace("value: 2", "value: 3")})
    assert changed() == ["a", "b", "c"]
