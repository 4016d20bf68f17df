"""Tables that are delivered into PostgreSQL (spec 02 §4, §6, §14; 01 §12): the shared scenario, what is physically left
alone, and what a server that is away or dies leaves."""

import itertools
import os
import signal

import pytest
from postgres_server import PostgresServer, binary_folder
from test_apply import wait_for_file
from test_strategies import FIRST, HASH_OF_A, NINE, NINE_CHANGED, P0, SECOND, WINDOW, P, set_source

MERGED = ["1|A", "2|b", "3|c", "4|d"]
# header → rows (id|v), counts of the second run, ids whose rows keep ctid and xmin
PANELS = {
    "1'": ("strategy: replace", ["1|A", "2|b", "4|d"], (3, 0, 3), ""),
    "2": ("strategy: append", ["1|A", "1|a", "2|b", "2|b", "3|c", "4|d"], (3, 0, 0), "3"),
    "3": ("strategy: merge, key: id", MERGED, (1, 2, 0), "3"),
    "4": ("strategy: full_merge, key: id", ["1|A", "2|b", "4|d"], (1, 1, 1), "2"),
    "5": ("strategy: hash_merge, key: id", MERGED, (1, 1, 0), "2,3"),
    "6": ("strategy: scd, key: id", ["1|A", "1|a", "2|b", "3|c", "4|d"], (2, 2, 0), "2"),
    "7": ("strategy: scd, key: id, time_column: ts", ["1|A", "1|a", "2|b", "3|c", "4|d"], (2, 2, 0), "2"),
    "8": ("strategy: incremental, time_column: ts", ["1|A", "2|b", "4|d", "9|z"], (3, 0, 3), "9"),
    "9": ("strategy: incremental, time_column: ts, key: id", [*MERGED, "9|z"], (1, 2, 0), "3,9"),
}
names = (f"s{os.getpid()}_{number}" for number in itertools.count())


class Target:
    """A schema of its own on the server, and a project that delivers into its table t."""

    def __init__(self, project, server):
        self.project, self.server, self.schema = project, server, next(names)

    def write(self, header, query="SELECT * FROM src.items", dsn=None):
        keys = f"materialise: table, target: pg.{self.schema}.t, {header}"
        config = f"attach: {{src: data/src.duckdb, pg: '{dsn or self.server.dsn}'}}\ntimezone: UTC\n"
        self.project.write({"interlace.yaml": config, "models/t.sql": f"/* interlace: {{{keys}}} */\n{query}"})

    def source(self, rows, columns="id, v, ts"):
        set_source(self.project, rows, columns)

    def start(self, header, rows=FIRST, columns="id, v, ts"):
        self.write(header)
        self.source(rows, columns)
        self.project.ok("apply", env={"INTERLACE_NOW": P0})

    def sql(self, text):
        return self.server.sql(f"SET search_path TO {self.schema}; {text}")

    def rows(self, columns="id, v"):
        return self.sql(f'SELECT {columns} FROM t ORDER BY id, v COLLATE "C"')

    def places(self, ids):
        return self.sql(f"SELECT id, ctid, xmin FROM t WHERE id IN ({ids}) ORDER BY id") if ids else None


@pytest.fixture
def target(project, postgres):
    return Target(project, postgres)


def counts(result):
    rows = result["rows"]["t"]
    return rows["inserted"], rows["updated"], rows["deleted"]


def second_run(target, header):
    verb = ("restate", *WINDOW) if "incremental" in header else ("run",)
    return target.project.json(*verb, env={"INTERLACE_NOW": P})


@pytest.mark.parametrize("panel", PANELS)
def test_02_6_1_each_panel_gives_its_rows_and_counts(target, panel):
    header, rows, expected, untouched = PANELS[panel]
    by_window = "incremental" in header
    target.start(header, (NINE if by_window else "") + FIRST)
    before = target.places(untouched)
    target.source((NINE_CHANGED if by_window else "") + SECOND)
    result = second_run(target, header)
    assert counts(result) == expected
    assert target.rows() == rows
    assert target.places(untouched) == before


def test_02_6_versions_have_their_times(target):
    target.start("strategy: scd, key: id")
    target.source(SECOND)
    second_run(target, "scd")
    assert target.rows("id, v, _valid_from, _valid_to") == [
        "1|A|2026-07-02 12:00:00|",
        "1|a|2026-07-02 08:30:00|2026-07-02 12:00:00",
        "2|b|2026-07-02 08:30:00|",
        "3|c|2026-07-02 08:30:00|2026-07-02 12:00:00",
        "4|d|2026-07-02 12:00:00|",
    ]


def test_02_6_the_hash_of_a_changed_row(target):
    target.start("strategy: hash_merge, key: id", "(1,'a')", "id, v")
    target.source("(1,'A')", "id, v")
    second_run(target, "hash_merge")
    assert target.rows("_hash") == [HASH_OF_A]


def test_02_4_2_merge_leaves_what_it_does_not_produce(target):
    """An extra column stays, the UPDATE trigger fires for matched rows alone, an untouched row keeps its place."""
    target.start("strategy: merge, key: id", "(1,'a'), (2,'b')", "id, v")
    target.sql("ALTER TABLE t ADD COLUMN note text")
    target.sql("UPDATE t SET note = 'mine'")
    target.sql("CREATE TABLE fired (id int)")
    target.sql(
        "CREATE FUNCTION fire() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN INSERT INTO {target.schema}.fired VALUES (NEW.id); RETURN NEW; END $$"
    )
    target.sql("CREATE TRIGGER on_update AFTER UPDATE ON t FOR EACH ROW EXECUTE FUNCTION fire()")
    before = target.places("2")
    target.source("(1,'A'), (4,'d')", "id, v")
    assert counts(target.project.json("run")) == (1, 1, 0)
    assert target.rows("id, v, note") == ["1|A|mine", "2|b|mine", "4|d|"]
    assert target.sql("SELECT id FROM fired") == ["1"]
    assert target.places("2") == before


def test_01_12_6_a_grant_and_an_index_survive_replace(target):
    target.start("strategy: replace", "(1,'a')", "id, v")
    target.server.sql(f"CREATE ROLE reader_{target.schema}")
    target.sql(f"GRANT SELECT ON t TO reader_{target.schema}")
    target.sql("CREATE INDEX theirs ON t (v)")
    target.source("(2,'b')", "id, v")
    assert counts(target.project.json("run")) == (1, 0, 1)
    assert target.rows() == ["2|b"]
    assert target.sql("SELECT indexname FROM pg_indexes WHERE tablename = 't' AND schemaname = current_schema()") == [
        "theirs"
    ]
    grants = f"SELECT privilege_type FROM information_schema.role_table_grants WHERE grantee = 'reader_{target.schema}'"
    assert target.sql(grants) == ["SELECT"]


DRIFT = {
    "strategy: merge, key: id": (["1|a|7", "2|b|", "4|d|8"], ["1|B|7", "2|b|", "4|d|8", "5|e|"]),
    "strategy: full_merge, key: id": (["1|a|7", "4|d|8"], ["1|B|7", "5|e|"]),
    "strategy: scd, key: id": (
        ["1|a|", "1|a|7", "2|b|", "4|d|8"],
        ["1|B|", "1|a|", "1|a|7", "2|b|", "4|d|8", "5|e|"],
    ),
}


@pytest.mark.parametrize("header", DRIFT)
def test_02_14_1_a_column_arrives_and_stops_arriving(target, header):
    grown, shrunk = DRIFT[header]
    target.start(header, "(1,'a'), (2,'b')", "id, v")
    target.source("(1,'a',7), (4,'d',8)", "id, v, w")
    target.project.ok("run")
    assert sorted(target.rows("id, v, w")) == grown
    target.source("(1,'B'), (5,'e')", "id, v")
    target.project.ok("run")
    assert sorted(target.rows("id, v, w")) == shrunk


def test_01_12_4_a_text_is_cast_or_refused(target):
    target.start("strategy: merge, key: id", "(1, 10)", "id, b")
    target.source("(1, '7')", "id, b")
    target.project.ok("run")
    assert target.sql("SELECT id, b FROM t") == ["1|7"]
    target.source("(1, 'junk')", "id, b")
    result = target.project.fails("run")
    assert "junk" in result.stderr
    assert target.sql("SELECT id, b FROM t") == ["1|7"]


def test_01_12_4_a_number_that_grew_is_told_before_a_row_is_written(target):
    target.start("strategy: merge, key: id", "(1, 1)", "id, n")
    target.source("(1, 5000000000)", "id, n")
    error = target.project.json("run", code=1)["error"]
    assert error["kind"] == "PlanError"
    assert "column 'n' is INTEGER in the target and BIGINT in the query" in error["message"]
    assert "ALTER COLUMN n TYPE" in error["details"]["hint"]
    assert target.sql("SELECT id, n FROM t") == ["1|1"]
    target.sql("ALTER TABLE t ALTER COLUMN n TYPE bigint")
    target.project.ok("run")
    assert target.sql("SELECT id, n FROM t") == ["1|5000000000"]


def test_02_4_5_a_repeated_run_appends_once(target):
    target.start("strategy: append", "(1,'a')", "id, v")
    again = {"INTERLACE_RUN_ID": "run-7"}
    killed = target.project.run("run", env={**again, "INTERLACE_HOOK": "build.committed=kill"})
    assert killed.code == -signal.SIGKILL
    assert counts(target.project.json("run", env=again)) == (0, 0, 0)
    assert target.rows() == ["1|a", "1|a"]
    assert target.sql("SELECT model, rows FROM interlace__delivery WHERE run = 'run-7'") == ["t|1"]


def test_01_12_2_a_failing_check_takes_the_delivery_back(target):
    target.start("strategy: append, checks: [{unique: id}]", "(1,'a')", "id, v")
    target.project.fails("run")
    assert target.rows() == ["1|a"]


def test_09_6_a_schema_that_may_not_be_made_is_named(target):
    role = f"weak_{target.schema}"
    target.server.sql(f"CREATE ROLE {role} LOGIN")
    target.write("strategy: replace", dsn=target.server.dsn.replace("tester:not-asked-for", role))
    target.source("(1,'a')", "id, v")
    result = target.project.fails("apply")
    assert f"schema '{target.schema}' in 'pg'" in result.stderr
    assert target.server.sql(f"SELECT count(*) FROM pg_namespace WHERE nspname = '{target.schema}'") == ["0"]


def test_09_6_a_server_that_cannot_be_reached_is_named_without_its_password(target):
    target.write("strategy: replace", dsn="postgresql://tester:secret@127.0.0.1:1/none?connect_timeout=2")
    target.source("(1,'a')", "id, v")
    result = target.project.fails("apply")
    assert "pg" in result.stderr
    assert "secret" not in result.stderr + result.stdout


def test_09_6_a_server_that_dies_in_mid_delivery_leaves_nothing_half_written(project):
    if binary_folder() is None:
        pytest.skip("no PostgreSQL server is installed")
    with PostgresServer() as server:
        target = Target(project, server)
        target.start("strategy: replace", "(1,'a')", "id, v")
        target.source("(2,'b'), (3,'c')", "id, v")
        mark = project.root / "written"
        hook = f"build.written=touch:{mark},build.checked=wait:4000"
        process = project.spawn("run", "--json", env={"INTERLACE_HOOK": hook})
        wait_for_file(mark, process)
        data = server.folder / "data"
        server.run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
        stdout, stderr = process.communicate(timeout=60)
        assert process.returncode == 1, stdout + stderr
        assert '"kind": "ExecutionError"' in stdout
        assert "model 't' failed" in stdout
        assert "not-asked-for" not in stdout + stderr
        server.start()
        assert target.rows() == ["1|a"]
        target.write("strategy: replace")
        assert counts(project.json("run")) == (2, 0, 1)
        assert target.rows() == ["2|b", "3|c"]
