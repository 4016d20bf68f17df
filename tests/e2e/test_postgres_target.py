"""Tables that are delivered into PostgreSQL (spec 02 §4, §6, §14; 01 §12): the shared scenario, what is physically left
alone, and what a server that is away or dies leaves."""

import itertools
import os
import signal

import pytest
from postgres_server import PostgresServer, binary_folder
from scenario import FIRST, HASH_OF_A, NINE, NINE_CHANGED, P0, SECOND, WINDOW, P, set_source
from test_apply import wait_for_file
from test_strategies import python_model, sql_model

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

    def write(self, header, dsn=None, kind="sql"):
        keys = f"materialise: table, target: pg.{self.schema}.t, {header}"
        config = f"attach: {{src: data/src.duckdb, pg: '{dsn or self.server.dsn}'}}\ntimezone: UTC\n"
        build = sql_model if kind == "sql" else python_model
        self.project.write({"interlace.yaml": config, **build(keys, "src.items", "t")})

    def source(self, rows, columns="id, v, ts"):
        set_source(self.project, rows, columns)

    def start(self, header, rows=FIRST, columns="id, v, ts", kind="sql"):
        self.write(header, kind=kind)
        self.source(rows, columns)
        self.project.ok("apply", env={"INTERLACE_NOW": P0})

    def sql(self, text):
        return self.server.sql(f"SET search_path TO {self.schema}; {text}")

    def annotate(self, default=""):
        """Gives the delivered rows a column of somebody else."""
        self.sql(f"ALTER TABLE t ADD COLUMN note text {default}")
        self.sql("UPDATE t SET note = 'mine'")

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
    return target.project.json(*verb, "-s", "+t", env={"INTERLACE_NOW": P})


# A Python model is incremental only with a key (spec 01 §5).
@pytest.mark.parametrize(
    ("panel", "kind"),
    [(panel, kind) for panel in PANELS for kind in ("sql", "python") if (panel, kind) != ("8", "python")],
)
def test_02_6_1_each_panel_gives_its_rows_and_counts(target, panel, kind):
    header, rows, expected, untouched = PANELS[panel]
    by_window = "incremental" in header
    target.start(header, (NINE if by_window else "") + FIRST, kind=kind)
    before = target.places(untouched)
    target.source((NINE_CHANGED if by_window else "") + SECOND)
    result = second_run(target, header)
    assert counts(result) == expected
    assert target.rows() == rows
    assert target.places(untouched) == before


def test_02_3_2_matched_and_new_keys_of_a_merge(target):
    target.write("strategy: merge, key: id")
    target.project.load("CREATE TABLE items AS SELECT range AS id, 'a' AS v FROM range(400, 1000)")
    target.project.ok("apply")
    target.project.load("CREATE OR REPLACE TABLE items AS SELECT range AS id, 'b' AS v FROM range(1000)")
    assert counts(target.project.json("run")) == (400, 600, 0)


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


def record_updates(target):
    target.sql("CREATE TABLE fired (id int)")
    target.sql(
        "CREATE FUNCTION fire() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN INSERT INTO {target.schema}.fired VALUES (NEW.id); RETURN NEW; END $$"
    )
    target.sql("CREATE TRIGGER on_update AFTER UPDATE ON t FOR EACH ROW EXECUTE FUNCTION fire()")


def test_02_4_2_merge_leaves_what_it_does_not_produce(target):
    """An extra column stays, the UPDATE trigger fires for matched rows alone, an untouched row keeps its place."""
    target.start("strategy: merge, key: id", "(1,'a'), (2,'b')", "id, v")
    target.annotate()
    record_updates(target)
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


# The cells of spec 02 §14. header → rows (id|v|w) after a column came, after it stopped coming. Row 1 is supplied each
# time, row 2 at first only; row 4 comes with the column, row 5 without it.
DRIFT = {
    "strategy: merge, key: id": (["1|a|7", "2|b|", "4|d|8"], ["1|B|7", "2|b|", "4|d|8", "5|e|"]),
    "strategy: hash_merge, key: id": (["1|a|7", "2|b|", "4|d|8"], ["1|B|7", "2|b|", "4|d|8", "5|e|"]),
    "strategy: full_merge, key: id": (["1|a|7", "4|d|8"], ["1|B|7", "5|e|"]),
    "strategy: scd, key: id": (
        ["1|a|", "1|a|7", "2|b|", "4|d|8"],
        ["1|B|", "1|a|", "1|a|7", "2|b|", "4|d|8", "5|e|"],
    ),
    "strategy: replace": (["1|a|7", "4|d|8"], ["1|B|", "5|e|"]),
    "strategy: append": (["1|a|", "1|a|7", "2|b|", "4|d|8"], ["1|B|", "1|a|", "1|a|7", "2|b|", "4|d|8", "5|e|"]),
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


def test_02_14_3_an_added_column_stands_behind_the_times_of_versions(target):
    target.start("strategy: scd, key: id", "(1,'a')", "id, v")
    target.source("(1,'a',7)", "id, v, w")
    target.project.ok("run", env={"INTERLACE_NOW": P})
    assert target.rows("*") == [
        "1|a|2026-07-02 08:30:00|2026-07-02 12:00:00|",
        "1|a|2026-07-02 12:00:00||7",
    ]


@pytest.mark.parametrize("header", [header for header in DRIFT if header != "strategy: append"])
def test_02_14_5_a_reordered_projection_keeps_values_in_their_columns(target, header):
    target.start(header, "(1,'a')", "id, v")
    target.source("('B',1)", "v, id")
    target.project.ok("run")
    assert "1|B" in target.rows()


TYPES = {
    "1::TINYINT": "smallint",
    "1.5::FLOAT": "real",
    "1.5::DOUBLE": "double precision",
    "[1.5::DOUBLE]": "double precision[]",
    "'x'::BLOB": "bytea",
    "1::UBIGINT": "numeric(20,0)",
    "1::UINTEGER": "bigint",
    "1.25::DECIMAL(9,2)": "numeric(9,2)",
    "TIMESTAMPTZ '2026-01-01 00:00:00+00'": "timestamp with time zone",
    "TIMESTAMP_S '2026-01-01 00:00:00'": "timestamp without time zone",
    "[DATE '2026-01-01']": "date[]",
    "MAP {'a': 1}": "character varying",
}


def test_01_12_3_added_columns_have_the_types_of_a_first_delivery(target):
    columns = ", ".join(f"c{i}" for i in range(len(TYPES)))
    types = (
        "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 't'::regclass AND attname ~ '^c\\d'"
        " ORDER BY attnum"
    )
    target.start("strategy: merge, key: id", f"(1, {', '.join(TYPES)})", f"id, {columns}")
    first = target.sql(types)
    target.sql("DROP TABLE t")
    target.sql("CREATE TABLE t (id integer)")
    target.project.ok("run")
    assert target.sql(types) == first == list(TYPES.values())


# Stored type, stored value, type that arrives → type and value afterwards. All pairs of spec 01 §12.3 that PostgreSQL has.
WIDENED = [
    ("smallint", "INTEGER", "100000", "integer"),
    ("smallint", "BIGINT", "5000000000", "bigint"),
    ("smallint", "FLOAT", "1.5", "real"),
    ("smallint", "DOUBLE", "1.25", "double precision"),
    ("integer", "BIGINT", "5000000000", "bigint"),
    ("integer", "DOUBLE", "1.25", "double precision"),
    ("bigint", "DOUBLE", "1.25", "double precision"),
    ("real", "DOUBLE", "1.25", "double precision"),
]
TYPE_OF_N = "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 't'::regclass AND attname = 'n'"


@pytest.mark.parametrize(("stored", "arriving", "value", "widened"), WIDENED, ids=lambda value: value)
def test_01_12_3_a_wider_number_widens_the_column(target, stored, arriving, value, widened):
    target.write("strategy: merge, key: id")
    target.server.sql(f"CREATE SCHEMA {target.schema}")
    target.sql(f"CREATE TABLE t (id integer, n {stored} DEFAULT 3)")
    target.sql("INSERT INTO t VALUES (1, 1), (2, 2)")
    target.source(f"(1, {value}::{arriving})", "id, n")
    result = target.project.json("apply")
    assert counts(result) == (0, 1, 0)
    assert target.sql(TYPE_OF_N) == [widened]
    assert target.sql("SELECT id, n FROM t ORDER BY id") == [f"1|{value}", "2|2"]


@pytest.mark.parametrize("header", DRIFT)
def test_01_12_3_every_strategy_widens(target, header):
    target.start(header, "(1, 1), (2, 2)", "id, v")
    target.source("(1, 5000000000)", "id, v")
    target.project.ok("run")
    assert "1|5000000000" in target.sql("SELECT id, v FROM t")


def test_01_12_3_a_key_is_widened(target):
    target.start("strategy: full_merge, key: id", "(1,'a'), (2,'b')", "id, v")
    target.source("(1,'a'), (5000000000,'c')", "id, v")
    assert counts(target.project.json("run")) == (1, 0, 1)
    assert target.rows() == ["1|a", "5000000000|c"]


def test_01_12_3_a_column_widens_while_others_are_delivered_beside_it(target):
    """What other sessions read of the table meanwhile must not become what the delivery knows of it."""
    others = {
        f"models/o{i}.sql": f"/* interlace: {{materialise: table, target: pg.{target.schema}.o{i}, strategy: merge,"
        " key: id} */\nSELECT range AS id, 1 AS v FROM range(20000)"
        for i in range(4)
    }
    target.project.write(others)
    target.start("strategy: merge, key: id", "(1, 1), (2, 2)", "id, n")
    target.source("(1, 5000000000), (3, 3)", "id, n")
    result = target.project.json("run", "--parallelism", "4")
    assert counts(result) == (1, 1, 0)
    assert target.sql("SELECT id, n FROM t ORDER BY id") == ["1|5000000000", "2|2", "3|3"]


@pytest.mark.parametrize("key", ["", ", key: id"])
def test_01_12_3_windows_widen_too(target, key):
    day = "TIMESTAMP '2026-07-0{} 08:00'"
    target.start(f"strategy: incremental, time_column: ts{key}", f"(1, 1, {day.format(1)}), (2, 2, {day.format(2)})")
    target.source(f"(1, 5000000000, {day.format(1)}), (2, 2, {day.format(2)}), (3, 3, {day.format(3)})")
    bounds = ("--start", "2026-07-01", "--end", "2026-07-04")
    result = target.project.ok("restate", *bounds, "--batch", "1", env={"INTERLACE_NOW": "2026-07-05T00:00:00"})
    assert "failed" not in result.stdout + result.stderr
    assert target.sql("SELECT id, v FROM t ORDER BY id") == ["1|5000000000", "2|2", "3|3"]


def test_01_12_3_a_python_model_widens_too(target):
    target.start("strategy: merge, key: id", "(1, 1), (2, 2)", "id, n", kind="python")
    target.source("(1, 5000000000, 'x')", "id, n, extra")
    assert counts(target.project.json("run", "-s", "+t")) == (0, 1, 0)
    assert target.sql("SELECT id, n, extra FROM t ORDER BY id") == ["1|5000000000|x", "2|2|"]


def test_01_12_3_a_process_that_dies_leaves_the_column_as_it_was(target):
    target.start("strategy: merge, key: id", "(1, 1)", "id, n")
    target.source("(1, 5000000000)", "id, n")
    assert target.project.run("run", env={"INTERLACE_HOOK": "build.written=kill"}).code == -signal.SIGKILL
    assert target.sql(TYPE_OF_N) == ["integer"]
    target.project.ok("run")
    assert target.sql("SELECT * FROM t") == ["1|5000000000"]


def test_01_12_3_an_integer_that_double_would_round_stops_the_delivery(target):
    target.start("strategy: merge, key: id", "(1, 9007199254740993)", "id, n")
    target.source("(2, 1.5::DOUBLE)", "id, n")
    result = target.project.fails("run")
    assert "9007199254740993" in result.stderr
    assert target.sql(TYPE_OF_N) == ["bigint"]
    assert target.sql("SELECT id, n FROM t") == ["1|9007199254740993"]


def test_01_12_3_a_view_on_the_column_is_named_and_nothing_is_written(target):
    target.start("strategy: merge, key: id", "(1, 1)", "id, n")
    target.sql("CREATE VIEW report AS SELECT n FROM t")
    target.source("(1, 5000000000, 'x'), (2, 2, 'y')", "id, n, extra")
    error = target.project.json("run", code=1)["error"]
    assert "cannot alter type of a column used by a view" in error["message"]
    assert f'view {target.schema}.report depends on column "n": drop it' in error["details"]["hint"]
    assert target.sql("SELECT * FROM t") == ["1|1"]
    target.sql("DROP VIEW report")
    target.project.ok("run")
    assert target.sql("SELECT id, n, extra FROM t ORDER BY id") == ["1|5000000000|x", "2|2|y"]


def test_01_12_3_a_policy_of_reject_or_ignore_changes_no_column(target):
    target.start("strategy: merge, key: id, schema: {columns: reject}", "(1, 1)", "id, n")
    target.source("(1, 2, 'x')", "id, n, extra")
    assert "reject" in target.project.fails("run").stderr
    target.write("strategy: merge, key: id, schema: {columns: ignore}")
    target.source("(1, 5000000000)", "id, n")
    assert "5000000000" in target.project.fails("run").stderr
    assert target.sql("SELECT * FROM t") == ["1|1"]


def test_01_12_4_a_text_is_cast_or_refused(target):
    target.start("strategy: merge, key: id", "(1, 10)", "id, b")
    target.source("(1, '7')", "id, b")
    target.project.ok("run")
    assert target.sql("SELECT id, b FROM t") == ["1|7"]
    target.source("(1, 'junk')", "id, b")
    result = target.project.fails("run")
    assert "junk" in result.stderr
    assert target.sql("SELECT id, b FROM t") == ["1|7"]


# --- Tables of others ----------------------------------------------------------------------------------------------------

THEIRS = (
    "id integer, v text, note text DEFAULT 'theirs', serial_no serial, row_no integer GENERATED ALWAYS AS IDENTITY,"
    " twice integer GENERATED ALWAYS AS (id * 2) STORED, needed text NOT NULL DEFAULT 'n'"
)
# header → rows afterwards: theirs had (1, 'a') and (2, 'b') with note 'mine'; 1, 'A' and 3, 'c' come.
DEFAULTS = {
    "strategy: append": ["1|A|theirs|3|3|2|n", "1|a|mine|1|1|2|n", "2|b|mine|2|2|4|n", "3|c|theirs|4|4|6|n"],
    "strategy: merge, key: id": ["1|A|mine|1|1|2|n", "2|b|mine|2|2|4|n", "3|c|theirs|3|3|6|n"],
    "strategy: full_merge, key: id": ["1|A|mine|1|1|2|n", "3|c|theirs|3|3|6|n"],
    "strategy: replace": ["1|A|theirs|3|3|2|n", "3|c|theirs|4|4|6|n"],
}


def make_theirs(target, header, columns, source, source_columns="id, v"):
    target.write(header)
    target.server.sql(f"CREATE SCHEMA {target.schema}")
    target.sql(f"CREATE TABLE t ({columns})")
    target.source(source, source_columns)


@pytest.mark.parametrize("header", DEFAULTS)
def test_02_4_2_new_rows_take_the_defaults_of_columns_that_are_not_produced(target, header):
    make_theirs(target, header, THEIRS, "(1,'A'), (3,'c')")
    target.sql("INSERT INTO t (id, v, note) VALUES (1, 'a', 'mine'), (2, 'b', 'mine')")
    target.project.ok("apply")
    assert target.rows("id, v, note, serial_no, row_no, twice, needed") == DEFAULTS[header]


def test_02_4_3_a_keyed_window_takes_the_defaults_too(target):
    make_theirs(
        target, "strategy: incremental, time_column: ts, key: id", THEIRS + ", ts timestamp", SECOND, "id, v, ts"
    )
    target.sql("INSERT INTO t (id, v, note) VALUES (1, 'a', 'mine')")
    target.project.ok("apply")
    assert target.rows("id, v, note, serial_no") == ["1|A|mine|1", "2|b|theirs|2", "4|d|theirs|3"]


def test_02_4_5_a_hash_merge_takes_the_defaults_too(target):
    target.start("strategy: hash_merge, key: id", "(1,'a'), (2,'b')", "id, v")
    target.annotate("DEFAULT 'theirs'")
    target.source("(1,'A'), (3,'c')", "id, v")
    target.project.ok("run")
    assert target.rows("id, v, note") == ["1|A|mine", "2|b|mine", "3|c|theirs"]


def test_02_4_4_full_merge_leaves_unchanged_rows_and_columns_of_others(target):
    """No trigger fires for them and they keep their place; a changed row keeps what others wrote beside it."""
    target.start("strategy: full_merge, key: id", "(1,'a'), (2,'b'), (3,'c')", "id, v")
    target.annotate()
    record_updates(target)
    before = target.places("2")
    target.source("(1,'A'), (2,'b')", "id, v")
    assert counts(target.project.json("run")) == (0, 1, 1)
    assert target.rows("id, v, note") == ["1|A|mine", "2|b|mine"]
    assert target.sql("SELECT id FROM fired") == ["1"]
    assert target.places("2") == before


def test_02_2_4_a_null_key_of_others_stops_no_row(target):
    make_theirs(target, "strategy: merge, key: id", "id integer, v text", "(1,'a')")
    target.sql("INSERT INTO t VALUES (NULL, 'theirs')")
    target.project.ok("apply")
    assert target.rows() == ["1|a", "|theirs"]


def test_02_4_3_a_column_that_needs_a_value_stops_the_delivery(target):
    make_theirs(target, "strategy: merge, key: id", "id integer, v text, needed text NOT NULL", "(1,'A'), (3,'c')")
    target.sql("INSERT INTO t VALUES (1, 'a', 'x')")
    result = target.project.fails("apply")
    assert '"needed" of relation "t" violates not-null' in result.stderr
    assert target.rows() == ["1|a"]


def test_01_12_3_values_become_the_types_that_are_there(target):
    source = "1, 1.239::DOUBLE, '2026-07-01', '6f9619ff-8b86-d011-b42d-00c04fc964ff'"
    columns = "id, amount, day, ref"
    make_theirs(
        target, "strategy: merge, key: id", "id bigint, amount numeric(9,2), day date, ref uuid", f"({source})", columns
    )
    target.project.ok("apply")
    target.project.ok("run")
    assert target.sql("SELECT * FROM t") == ["1|1.24|2026-07-01|6f9619ff-8b86-d011-b42d-00c04fc964ff"]
    target.source("(2, 1::DOUBLE, 'soon', NULL)", columns)
    assert "'soon' of column 'day'" in target.project.fails("run").stderr


@pytest.mark.parametrize(("type", "value"), [("jsonb", '{"a": 1}'), ("public.mood", "glad"), ("inet", "10.0.0.1")])
def test_01_12_3_types_of_theirs_alone_take_new_rows_but_no_changed_ones(target, type, value):
    target.server.sql("DROP TYPE IF EXISTS public.mood CASCADE; CREATE TYPE public.mood AS ENUM ('glad')")
    make_theirs(target, "strategy: append", f"id integer, v {type}", f"(1, '{value}')")
    target.project.ok("apply")
    assert target.sql("SELECT * FROM t") == [f"1|{value}"]
    target.write("strategy: merge, key: id")
    assert "types that only PostgreSQL has" in target.project.fails("apply").stderr
    assert target.sql("SELECT * FROM t") == [f"1|{value}"]


def test_01_12_3_a_value_that_is_too_long_there_leaves_nothing(target):
    make_theirs(target, "strategy: merge, key: id", "id integer, v varchar(3)", "(1,'ab'), (2,'much too long')")
    assert "too long" in target.project.fails("apply").stderr
    assert target.rows() == []


def test_02_2_names_keep_their_case(target):
    target.start("strategy: merge, key: ID", "(1, 1, 2)", 'id, "Unit Price", "order"')
    target.source("(1, 5000000000, 3, 4), (2, 1, 1, 1)", 'Id, "unit price", "Order", "New One"')
    assert counts(target.project.json("run")) == (1, 1, 0)
    assert target.sql('SELECT id, "Unit Price", "order", "New One" FROM t ORDER BY id') == [
        "1|5000000000|3|4",
        "2|1|1|1",
    ]


def test_01_12_3_names_that_the_server_would_cut_are_refused(target):
    long_name = "ü" * 31 + "xx"
    target.start("strategy: merge, key: id", "(1, 1)", f"id, {'x' * 63}")
    target.source("(1, 1)", f"id, {long_name}")
    error = target.project.json("run", code=1)["error"]
    assert error["kind"] == "PlanError"
    assert f"'{long_name}' has 64 bytes" in error["message"]
    assert target.sql("SELECT count(*) FROM information_schema.columns WHERE table_schema = current_schema()") == ["2"]


PARTITIONED = (
    "CREATE TABLE t (id integer, v text) PARTITION BY LIST (id); CREATE TABLE t1 PARTITION OF t FOR VALUES IN (1);"
    " CREATE TABLE t2 PARTITION OF t DEFAULT; INSERT INTO t VALUES (1, 'a'), (2, 'b')"
)


@pytest.mark.parametrize("header", ["strategy: merge, key: id", "strategy: full_merge, key: id"])
def test_02_4_3_a_table_of_parts_is_refused_where_rows_are_matched(target, header):
    """The extension would find them by a place that each part has."""
    target.write(header)
    target.server.sql(f"CREATE SCHEMA {target.schema}")
    target.sql(PARTITIONED)
    target.source("(1,'A')", "id, v")
    error = target.project.json("apply", code=1)["error"]
    assert error["kind"] == "PlanError"
    assert "partitions" in error["message"]
    assert target.rows() == ["1|a", "2|b"]


@pytest.mark.parametrize(
    ("header", "rows"), [("strategy: append", ["1|A", "1|a", "2|b"]), ("strategy: replace", ["1|A"])]
)
def test_02_4_2_a_table_of_parts_is_filled(target, header, rows):
    target.write(header)
    target.server.sql(f"CREATE SCHEMA {target.schema}")
    target.sql(PARTITIONED)
    target.source("(1,'A')", "id, v")
    target.project.ok("apply")
    assert target.rows() == rows


@pytest.mark.parametrize(("point", "again_counts"), [("build.checked", (1, 0, 0)), ("build.committed", (0, 0, 0))])
def test_02_4_5_a_repeated_run_appends_once(target, point, again_counts):
    target.start("strategy: append", "(1,'a')", "id, v")
    again = {"INTERLACE_RUN_ID": "run-7"}
    killed = target.project.run("run", env={**again, "INTERLACE_HOOK": f"{point}=kill"})
    assert killed.code == -signal.SIGKILL
    assert counts(target.project.json("run", env=again)) == again_counts
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
