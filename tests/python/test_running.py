"""What a running model gets besides rows: window and context, connections, the scratch database, a cursor's value."""

import datetime
import sys
import threading

import pyarrow as pa
import pytest
from interlace import connections, ctx
from interlace._running import set_context
from interlace.exceptions import ConfigurationError
from interlace.runtime import scratch
from interlace.runtime.context import Context, Window, window_of
from interlace.worker.inputs import _python_value

DAY = 86_400_000_000


def test_a_window_is_naive_and_half_open():
    window = window_of({"window": {"start_us": DAY, "end_us": 2 * DAY, "grain": "1d"}})
    assert window == Window(datetime.datetime(1970, 1, 2), datetime.datetime(1970, 1, 3), "1d")
    assert window.start.tzinfo is None
    assert window_of({}) is None
    assert window_of({"window": {"start_us": 0, "end_us": 10**19, "grain": "1y"}}).end == datetime.datetime.max


def test_a_context_tells_about_the_run():
    context = Context({"run": "r", "environment": "dev", "model": "m", "attempt": 3, "now_us": DAY}, None)
    assert (context.run_id, context.run, context.environment, context.model, context.attempt) == (
        "r",
        "r",
        "dev",
        "m",
        3,
    )
    assert context.now == datetime.datetime(1970, 1, 2, tzinfo=datetime.timezone.utc)
    with pytest.raises(ConfigurationError, match="ctx.run_id: there is a context only while a model runs"):
        _ = ctx.run_id
    set_context(context)
    try:
        assert ctx.run_id == "r"
    finally:
        set_context(None)


def test_connections_have_the_fields_of_their_type_and_do_not_print_them():
    declared = {"api": {"type": "http", "base_url": "http://h"}, "pg": {"type": "postgres", "dsn": "password=hush"}}
    with connections.available(declared):
        api, pg = connections.connection("api"), connections.connection("pg")
        assert (api.type, api.base_url, api.headers) == ("http", "http://h", {})
        assert (pg.type, pg.dsn) == ("postgres", "password=hush")
        assert "hush" not in repr(pg)
        assert sorted(connections.all_connections()) == ["api", "pg"]
    assert connections.all_connections() == {}
    with pytest.raises(ConfigurationError, match="only while a model runs"):
        connections.connection("api")


@pytest.mark.parametrize(
    "array, expected",
    [
        (pa.array([5], pa.int8()), 5),
        (pa.array([1_500_000_001], pa.timestamp("ns")), datetime.datetime(1970, 1, 1, 0, 0, 1, 500000)),
        (pa.array([-1], pa.timestamp("ns")), datetime.datetime(1969, 12, 31, 23, 59, 59, 999999)),
        (pa.array([None], pa.timestamp("ns")), None),
        (pa.array([-1], pa.timestamp("us")), datetime.datetime(1969, 12, 31, 23, 59, 59, 999999)),
    ],
    ids=str,
)
def test_a_cursor_is_a_value_of_python(array, expected):
    assert _python_value(array) == expected
    assert type(_python_value(array)) is type(expected)


def test_a_cursor_keeps_its_zone():
    value = _python_value(pa.array([1001], pa.timestamp("ns", "Europe/Berlin")))
    assert (value.microsecond, value.utcoffset()) == (1, datetime.timedelta(hours=1))


# --- The scratch database


@pytest.fixture
def database(monkeypatch):
    pytest.importorskip("duckdb")
    monkeypatch.setattr(scratch, "_database", None)
    scratch.set_limits(None)
    yield
    scratch.set_limits(None)


def setting(db, name):
    return db.execute(f"SELECT current_setting('{name}')").fetchone()[0]


def test_01_8_6_the_scratch_database_is_shared_and_capped(database):
    with scratch.session() as db:
        db.execute("CREATE TABLE t AS SELECT 42 AS x")
        assert (setting(db, "threads"), setting(db, "memory_limit")) == (2, "953.6 MiB")
        db.close()
    with scratch.session() as db:
        rows = pa.table({"x": [42, 43]})
        assert db.execute("SELECT count(*) FROM t JOIN rows USING (x)").fetchone() == (1,)
        assert rows.num_rows == 2
        relation = db.sql("SELECT x FROM t")
    assert relation.fetchall() == [(42,)]


@pytest.mark.parametrize("threads, expected", [("1", 1), ("8", 2), ("", 2), ("auto", 2)])
def test_its_limits_are_those_of_the_engine(database, threads, expected, tmp_path):
    scratch.set_limits({"memory_limit": "64MiB", "threads": threads, "folder": str(tmp_path)})
    (tmp_path / "scratch" / "999999999").mkdir(parents=True)
    with scratch.session() as db:
        assert (setting(db, "threads"), setting(db, "memory_limit")) == (expected, "64.0 MiB")
        assert setting(db, "temp_directory").startswith(str(tmp_path))
    assert not (tmp_path / "scratch" / "999999999").exists()


def test_one_thread_has_it_at_a_time(database):
    inside, most = [], []

    def use():
        with scratch.session() as db:
            inside.append(1)
            db.execute("SELECT sum(range) FROM range(10000)").fetchall()
            most.append(len(inside))
            inside.pop()

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 8
    with pytest.raises(ZeroDivisionError), scratch.session():
        raise ZeroDivisionError
    with scratch.session(), scratch.session():
        pass


def test_without_duckdb_one_line_names_it(database, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(ConfigurationError, match="needs the package duckdb") as caught, scratch.session():
        pass
    assert "-m pip install duckdb" in caught.value.hint
    assert scratch._lock.acquire(blocking=False)
    scratch._lock.release()
