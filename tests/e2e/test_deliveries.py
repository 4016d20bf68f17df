"""Terminal models (spec 01 §12, 02 §2–4, §14): files and tables of other databases; what is delivered, what is left alone,
what is refused before a row leaves."""

import datetime
import resource
import signal

import pytest
from test_strategies import FIRST, SECOND, WINDOW, python_arguments

WITHOUT_CRM = "attach: {src: data/src.duckdb}\ntimezone: UTC\n"
CONFIG = "attach: {src: data/src.duckdb, crm: data/crm.duckdb}\ntimezone: UTC\n"
CRM = "data/crm.duckdb"


def table(header, query="SELECT * FROM src.items"):
    return {"models/t.sql": f"/* interlace: {{materialise: table, target: crm.t, {header}}} */\n{query}"}


def file(header, query="SELECT * FROM src.items"):
    return {"models/f.sql": f"/* interlace: {{materialise: file, {header}}} */\n{query}"}


def set_source(project, rows, columns="id, v"):
    project.load(f"CREATE OR REPLACE TABLE items AS SELECT * FROM (VALUES {rows}) t({columns})")


def prepare(project, files, rows, columns="id, v"):
    delivers = any("crm.t" in text for text in files.values())
    project.write({"interlace.yaml": CONFIG if delivers else WITHOUT_CRM, **files})
    set_source(project, rows, columns)


def start(project, files, rows="(1,'a'), (2,'b'), (3,'c')", columns="id, v"):
    prepare(project, files, rows, columns)
    project.ok("apply")
    return project


def delivered(project, columns="*", name="t"):
    return [list(row) for row in project.sql(f"SELECT {columns} FROM {name} ORDER BY ALL", CRM)]


def on_target(project, sql):
    project.load(sql, CRM)


def counts(result, model="t"):
    rows = result["rows"][model]
    return rows["inserted"], rows["updated"], rows["deleted"]


def temporaries(project):
    return [name for name in project.files() if name.endswith(".tmp")]


# --- Files ----------------------------------------------------------------------------------------------------------------


def test_01_12_1_formats(project):
    """CSV quotes only where needed, NULL is an empty field; JSON is one object a line; Parquet reads back."""
    rows = "(2, 'x,y', NULL), (1, 'p\"q', 'z')"
    query = "SELECT * FROM src.items"
    project.write(
        {
            "interlace.yaml": WITHOUT_CRM,
            "models/c.sql": f"/* interlace: {{materialise: file, path: out/a/b/c.csv}} */ {query}",
            "models/j.sql": f"/* interlace: {{materialise: file, path: out/j.ndjson}} */ {query}",
            "models/p.sql": f"/* interlace: {{materialise: file, path: out/p.parquet}} */ {query}",
        }
    )
    set_source(project, rows, "id, v, w")
    result = project.json("apply")
    assert [counts(result, name) for name in "cjp"] == [(2, 0, 0)] * 3
    assert project.read("out/a/b/c.csv") == 'id,v,w\n2,"x,y",\n1,"p""q",z\n'
    assert project.read("out/j.ndjson").splitlines() == [
        '{"id":2,"v":"x,y","w":null}',
        '{"id":1,"v":"p\\"q","w":"z"}',
    ]
    assert project.sql(f"SELECT * FROM '{project.root}/out/p.parquet'", "data/src.duckdb") == [
        (2, "x,y", None),
        (1, 'p"q', "z"),
    ]
    assert not temporaries(project)


def test_01_12_1_tokens(project):
    start(project, file("path: 'out/${workspace}-${date}-${datetime}.csv'"))
    (name,) = [path for path in project.files() if path.startswith("out/")]
    workspace, rest = name.removeprefix("out/").split("-", 1)
    assert workspace == project.root.name
    today = datetime.datetime.now(datetime.UTC)
    stamp = datetime.datetime.strptime(rest[11:], "%Y%m%dT%H%M%SZ.csv").replace(tzinfo=datetime.UTC)
    assert rest[:10] == stamp.date().isoformat()
    assert abs((today - stamp).total_seconds()) < 300


def test_01_12_1_csv_options(project):
    start(project, file("path: f.csv, options: {delimiter: ';', header: false, 'null': NA}"), "(1,'a;b'), (2,NULL)")
    assert project.read("f.csv") == '1;"a;b"\n2;NA\n'


def test_01_12_1_parquet_options(project):
    options = "{compression: zstd, row_group_size: 2048}"
    start(
        project,
        file(f"path: f.parquet, options: {options}", "SELECT range AS id FROM range(5000)"),
    )
    groups = project.sql(
        f"SELECT compression, row_group_num_rows FROM parquet_metadata('{project.root}/f.parquet')", "data/src.duckdb"
    )
    assert {group[0] for group in groups} == {"ZSTD"}
    assert [group[1] for group in groups] == [2048, 2048, 904]


@pytest.mark.parametrize(
    ("header", "fault"),
    [
        ("path: f.csv, options: {delimiter: ';;'}", "option 'delimiter' must be one ASCII character"),
        ("path: f.csv, options: {delimiter: '\"'}", "option 'delimiter' must be one ASCII character"),
        ("path: f.csv, options: {header: maybe}", "option 'header' must be true or false"),
        ("path: f.csv, options: {'null': [a]}", "option 'null' must be a text"),
        ("path: f.csv, options: {compression: zstd}", "unknown option 'compression' for format csv"),
        ("path: f.json, options: {header: true}", "unknown option 'header' for format json"),
        ("path: f.parquet, options: {compression: lzo}", "option 'compression' must be snappy, zstd, gzip or none"),
        ("path: f.parquet, options: {row_group_size: 0}", "option 'row_group_size' must be a number of rows"),
        ("path: f.parquet, options: {row_group_size: many}", "option 'row_group_size' must be a number of rows"),
        ("path: f.parquet, options: {partition_by: 'a b'}", "option 'partition_by' must be a column"),
        ("path: f.parquet, options: {partition_by: []}", "option 'partition_by' must be a column"),
    ],
)
def test_01_12_1_values_of_options_are_checked_at_load(project, header, fault):
    project.write(file(header, "SELECT 1 AS id"))
    document = project.json("plan", code=1)
    assert document["error"]["kind"] == "DefinitionError"
    assert fault in document["error"]["message"]


def test_01_12_1_a_partitioned_folder_is_exchanged_whole(project):
    start(project, file("path: parts, format: parquet, options: {partition_by: v}"))
    assert [name.split("/")[1] for name in project.files() if name.startswith("parts/")] == ["v=a", "v=b", "v=c"]
    set_source(project, "(9,'z')")
    project.ok("run")
    assert [name.split("/")[1] for name in project.files() if name.startswith("parts/")] == ["v=z"]
    project.load("DELETE FROM items")
    project.ok("run")
    assert not [name for name in project.files() if name.startswith("parts/")]
    assert project.exists("parts")
    assert not temporaries(project)


def test_01_12_1_a_folder_of_somebody_else_is_not_exchanged(project):
    project.write({"parts/letter.txt": "dear all"})
    prepare(project, file("path: parts, format: parquet, options: {partition_by: v}"), "(1,'a')")
    result = project.fails("apply")
    assert "the folder holds 'letter.txt'" in result.stderr
    assert project.read("parts/letter.txt") == "dear all"


def test_01_12_1_a_file_does_not_replace_a_folder(project):
    project.write({"out.csv/letter.txt": "dear all"})
    prepare(project, file("path: out.csv"), "(1,'a')")
    result = project.fails("apply")
    assert "cannot write" in result.stderr
    assert "it is a folder" in result.stderr
    assert project.read("out.csv/letter.txt") == "dear all"


def test_01_12_1_a_parent_that_is_a_file_is_named(project):
    project.write({"out": "a file"})
    prepare(project, file("path: out/f.csv"), "(1,'a')")
    result = project.fails("apply")
    assert f"{project.root}/out" in result.stderr
    assert project.read("out") == "a file"


def limit_file_size():
    """As a full disk: writing fails at 4 MB."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_000_000, 4_000_000))


def test_01_12_1_a_full_disk_leaves_the_old_file(project):
    start(project, file("path: f.csv"))
    before = project.read("f.csv")
    project.write(file("path: f.csv", "SELECT range AS id, repeat('x', 40) AS v FROM range(400000)"))
    process = project.spawn("apply", preexec_fn=limit_file_size)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "f.csv" in stderr
    assert project.read("f.csv") == before
    assert not temporaries(project)


@pytest.mark.parametrize("hook", ["build.file=fail", "build.file_written=fail", "build.file_written=kill"])
def test_01_12_2_a_failed_write_leaves_the_old_file(project, hook):
    start(project, file("path: f.csv"))
    before = project.read("f.csv")
    set_source(project, "(7,'g')")
    result = project.run("run", env={"INTERLACE_HOOK": hook})
    assert result.code != 0
    assert project.read("f.csv") == before
    assert hook.endswith("kill") == bool(temporaries(project))
    project.ok("run")
    assert project.read("f.csv") == "id,v\n7,g\n"
    assert not temporaries(project)


def test_03_6_6_only_in_the_allowed_environment(project):
    project.write({"interlace.yaml": "timezone: UTC\n", **file("path: f.csv", "SELECT 1 AS id")})
    result = project.json("apply", "-e", "dev")
    assert result["gated"] == ["f"]
    assert result["built"] == []
    assert not project.exists("f.csv")
    assert project.json("plan", "-e", "dev")["empty"]
    assert "No changes" in project.ok("apply", "-e", "dev").stdout
    assert "Gated in 'dev', nothing delivered: f" in project.ok("run", "-e", "dev").stdout
    project.ok("apply")
    assert project.read("f.csv") == "id\n1\n"


def test_01_12_5_a_gated_table_needs_no_destination(project):
    """Its database is not even opened: here it cannot be."""
    unreachable = "postgresql://nobody@127.0.0.1:1/none?connect_timeout=2"
    files = {
        "interlace.yaml": f"attach: {{crm: '{unreachable}'}}\n",
        "models/t.sql": "/* interlace: {materialise: table, target: crm.public.t} */ SELECT * FROM k",
        "models/k.sql": "SELECT 1 AS id",
    }
    project.write(files)
    result = project.json("apply", "-e", "dev")
    assert (result["built"], result["gated"]) == (["k"], ["t"])
    assert project.json("run", "-e", "dev")["gated"] == ["t"]
    failed = project.fails("apply")
    assert "crm" in failed.stderr
    assert "nobody@" not in failed.stderr


def test_01_12_5_reading_does_without_a_destination_that_is_not_there_yet(project):
    project.write({"interlace.yaml": "attach: {crm: data/crm.duckdb}\n", "models/k.sql": "SELECT 1 AS id"})
    project.write(table("strategy: replace", "SELECT * FROM k"))
    project.ok("apply", "-e", "dev")
    assert project.query("SELECT id FROM k", env="dev") == [[1]]
    assert not project.exists(CRM)


# --- Contracts ------------------------------------------------------------------------------------------------------------


def test_01_11_1_a_missing_column_leaves_everything(project):
    start(project, {**table("columns: [id, v]"), **file("path: f.csv, columns: [id, v]")})
    before = delivered(project), project.read("f.csv"), project.json("env", "list")
    project.load("ALTER TABLE items DROP v")
    faults = project.json("run", "--keep-going", code=1)["errors"]
    assert [fault["kind"] for fault in faults] == ["SchemaError", "SchemaError"]
    assert all("is missing contracted column(s): v" in fault["message"] for fault in faults)
    assert (delivered(project), project.read("f.csv"), project.json("env", "list")) == before


def test_01_11_2_types_of_a_contract(project):
    start(project, table("columns: {id: int}"))
    assert delivered(project) == [[1, "a"], [2, "b"], [3, "c"]]
    project.load("ALTER TABLE items ALTER id TYPE BIGINT")
    document = project.json("run", code=1)
    assert document["error"]["kind"] == "SchemaError"
    assert "id is BIGINT, expected int" in document["error"]["message"]
    assert project.sql("SELECT DISTINCT typeof(id) FROM t", CRM) == [("INTEGER",)]


@pytest.mark.parametrize("kind", ["sql", "python"])
def test_01_11_3_a_violated_contract_leaves_the_file_byte_identical(project, kind):
    files = file("path: f.csv, columns: [id, v]")
    if kind == "python":
        files = {
            "models/stg.sql": "/* interlace: {materialise: view} */ SELECT * FROM src.items",
            "models/f.py": "from interlace import model\n"
            '@model(materialise="file", path="f.csv", columns=["id", "v"])\ndef f(stg):\n    return stg.reader()\n',
        }
    start(project, files)
    before = (project.root / "f.csv").read_bytes()
    assert before == b"id,v\n1,a\n2,b\n3,c\n"
    set_source(project, "(1, 5)", "id, w")
    document = project.json("run", "-s", "+f", code=1)
    assert document["error"]["kind"] == "SchemaError"
    assert (project.root / "f.csv").read_bytes() == before
    assert not temporaries(project)


# --- Tables ---------------------------------------------------------------------------------------------------------------

MERGED = [[1, "A"], [2, "b"], [3, "c"], [4, "d"]]
# header → rows (id, v), counts of the second run, the row that keeps what others noted in row 1
PANELS = {
    "1'": ("strategy: replace", [[1, "A"], [2, "b"], [4, "d"]], (3, 0, 3), []),
    "2": ("strategy: append", [[1, "A"], [1, "a"], [2, "b"], [2, "b"], [3, "c"], [4, "d"]], (3, 0, 0), [[1, "a"]]),
    "3": ("strategy: merge, key: id", MERGED, (1, 2, 0), [[1, "A"]]),
    "4": ("strategy: full_merge, key: id", [[1, "A"], [2, "b"], [4, "d"]], (1, 1, 1), [[1, "A"]]),
    "5": ("strategy: hash_merge, key: id", MERGED, (1, 1, 0), [[1, "A"]]),
    "6": ("strategy: scd, key: id", [[1, "A"], [1, "a"], [2, "b"], [3, "c"], [4, "d"]], (2, 2, 0), [[1, "a"]]),
    "8": ("strategy: incremental, time_column: ts", [[1, "A"], [2, "b"], [4, "d"]], (3, 0, 3), []),
    "9": ("strategy: incremental, time_column: ts, key: id", MERGED, (1, 2, 0), [[1, "A"]]),
}
# A Python model is incremental only with a key.
KINDS = [(panel, kind) for panel in PANELS for kind in ("sql", "python") if (panel, kind) != ("8", "python")]


def python_table(header):
    return {
        "models/stg.sql": "/* interlace: {materialise: view} */ SELECT * FROM src.items",
        "models/t.py": "from interlace import model\n"
        f'@model(materialise="table", target="crm.t", {python_arguments(header)})\ndef t(stg):\n    return stg.reader()\n',
    }


@pytest.mark.parametrize(("panel", "kind"), KINDS)
def test_02_6_1_each_panel_into_another_database(project, panel, kind):
    header, rows, expected, noted = PANELS[panel]
    start(project, table(header) if kind == "sql" else python_table(header), FIRST, "id, v, ts")
    on_target(project, "ALTER TABLE t ADD COLUMN note VARCHAR")
    on_target(project, "UPDATE t SET note = 'mine' WHERE id = 1")
    set_source(project, SECOND, "id, v, ts")
    verb = ("restate", *WINDOW) if "incremental" in header else ("run",)
    result = project.json(*verb, "-s", "+t")
    assert counts(result) == expected
    assert delivered(project, "id, v") == rows
    assert delivered(project, "id, v", "t WHERE note = 'mine'") == noted


def test_01_12_2_the_schema_is_made_too_and_a_reader_sees_the_target(project):
    project.write(
        {
            "interlace.yaml": CONFIG,
            "models/t.sql": "/* interlace: {materialise: table, target: crm.deep.t} */ SELECT * FROM src.items",
            "models/after.sql": "SELECT count(*) AS n FROM t",
        }
    )
    set_source(project, "(1,'a'), (2,'b')")
    project.ok("apply")
    assert delivered(project, name="deep.t") == [[1, "a"], [2, "b"]]
    assert project.query("SELECT n FROM after") == [[2]]


def test_01_12_3_merge_keeps_a_foreign_column_and_replace_resets_it(project):
    start(project, table("strategy: merge, key: id"))
    on_target(project, "ALTER TABLE t ADD COLUMN note VARCHAR")
    on_target(project, "UPDATE t SET note = 'mine'")
    set_source(project, "(1,'A'), (4,'d')")
    project.ok("run")
    assert delivered(project) == [[1, "A", "mine"], [2, "b", "mine"], [3, "c", "mine"], [4, "d", None]]
    project.write(table("strategy: replace"))
    result = project.ok("apply")
    assert "column 'note' of the target is not in the query: what it holds is reset" in result.stderr
    assert delivered(project) == [[1, "A", None], [4, "d", None]]


def test_01_12_4_columns_are_added_bound_widened_cast_and_refused(project):
    start(project, table("strategy: merge, key: id", "SELECT * FROM src.items"), "(1, 1, 10)", "id, n, b")
    project.load("CREATE OR REPLACE TABLE items AS SELECT 5000000000 AS n, 1 AS id, 'x' AS extra, '7' AS b")
    project.ok("run")
    assert delivered(project, "id, n, b, extra") == [[1, 5000000000, 7, "x"]]
    types = project.sql("SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = 't'", CRM)
    assert dict(types) == {"id": "INTEGER", "n": "BIGINT", "b": "INTEGER", "extra": "VARCHAR"}
    project.load("CREATE OR REPLACE TABLE items AS SELECT 2 AS n, 1 AS id, 'y' AS extra, 'junk' AS b")
    result = project.fails("run")
    assert "value 'junk' of column 'b' does not convert" in result.stderr
    assert delivered(project, "id, n, b, extra") == [[1, 5000000000, 7, "x"]]


def test_01_12_5_reject_refuses_a_column_that_the_target_lacks(project):
    start(project, table("strategy: merge, key: id, schema: {columns: reject}"))
    project.load("ALTER TABLE items ADD COLUMN w INTEGER")
    document = project.json("run", code=1)
    assert document["error"]["kind"] == "PlanError"
    assert "'w' is not in the target" in document["error"]["message"]
    assert delivered(project) == [[1, "a"], [2, "b"], [3, "c"]]


def test_03_5_4_plan_shows_what_reject_blocks(project):
    header = "strategy: merge, key: id, schema: {columns: reject}"
    start(project, table(header, "SELECT id, v FROM src.items"))
    project.write(table(header, "SELECT id, v, 1 AS w FROM src.items"))
    plan = project.json("plan", code=1)
    assert plan["blocking"] == ["t: column 'w' is not in the target, and its schema policy is reject"]
    assert project.json("apply", "--force", code=1)["error"]["kind"] == "PlanError"
    assert delivered(project) == [[1, "a"], [2, "b"], [3, "c"]]


def test_01_12_3_ignore_alters_nothing(project):
    start(project, table("strategy: merge, key: id, schema: {columns: ignore}"))
    project.load("ALTER TABLE items ADD COLUMN w INTEGER")
    project.fails("run")
    assert delivered(project) == [[1, "a"], [2, "b"], [3, "c"]]


def test_01_12_6_an_index_survives_replace(project):
    start(project, table("strategy: replace"))
    on_target(project, "CREATE INDEX theirs ON t (v)")
    set_source(project, "(5,'e')")
    project.ok("run")
    assert delivered(project) == [[5, "e"]]
    assert project.sql("SELECT index_name FROM duckdb_indexes()", CRM) == [("theirs",)]


@pytest.mark.parametrize("strategy", ["merge", "hash_merge", "full_merge"])
def test_02_2_4_a_null_key_in_the_target_hides_nothing(project, strategy):
    start(project, table(f"strategy: {strategy}, key: id"), "(1,'a')")
    on_target(project, "INSERT INTO t (id, v) VALUES (NULL, 'theirs')")
    set_source(project, "(1,'a'), (2,'b')")
    project.ok("run")
    kept = [] if strategy == "full_merge" else [[None, "theirs"]]  # the whole desired state has no such row
    assert delivered(project, "id, v") == [[1, "a"], [2, "b"], *kept]


def test_02_3_2_merge_tells_new_from_matched_keys_on_an_external_table(project):
    start(project, table("strategy: merge, key: id", "SELECT * FROM src.items"), "(0,'a')")
    project.load("CREATE OR REPLACE TABLE items AS SELECT range::INTEGER AS id, 'a' AS v FROM range(600)")
    assert counts(project.json("run")) == (599, 1, 0)
    project.load("CREATE OR REPLACE TABLE items AS SELECT range::INTEGER AS id, 'b' AS v FROM range(1000)")
    assert counts(project.json("run")) == (400, 600, 0)


# Spec 02 §14: strategy → rows (id, v, w) after a column w arrives, and rows (id, v, w) after it stops arriving again.
GROWN = "(1,'a',7), (4,'d',8)"
SHRUNK = "(1,'B'), (5,'e')"
DRIFT = {
    "strategy: replace": ([[1, "a", 7], [4, "d", 8]], [[1, "B", None], [5, "e", None]]),
    "strategy: append": (
        [[1, "a", 7], [1, "a", None], [2, "b", None], [4, "d", 8]],
        [[1, "B", None], [1, "a", 7], [1, "a", None], [2, "b", None], [4, "d", 8], [5, "e", None]],
    ),
    "strategy: merge, key: id": (
        [[1, "a", 7], [2, "b", None], [4, "d", 8]],
        [[1, "B", 7], [2, "b", None], [4, "d", 8], [5, "e", None]],
    ),
    "strategy: full_merge, key: id": ([[1, "a", 7], [4, "d", 8]], [[1, "B", 7], [5, "e", None]]),
    "strategy: hash_merge, key: id": (
        [[1, "a", 7], [2, "b", None], [4, "d", 8]],
        [[1, "B", 7], [2, "b", None], [4, "d", 8], [5, "e", None]],
    ),
    "strategy: scd, key: id": (
        [[1, "a", 7], [1, "a", None], [2, "b", None], [4, "d", 8]],
        [[1, "B", None], [1, "a", 7], [1, "a", None], [2, "b", None], [4, "d", 8], [5, "e", None]],
    ),
    "strategy: incremental, time_column: ts": ([[1, "a", 7], [4, "d", 8]], [[1, "B", None], [5, "e", None]]),
    "strategy: incremental, time_column: ts, key: id": (
        [[1, "a", 7], [2, "b", None], [4, "d", 8]],
        [[1, "B", 7], [2, "b", None], [4, "d", 8], [5, "e", None]],
    ),
}


@pytest.mark.parametrize("header", DRIFT)
def test_02_14_1_a_column_arrives_and_stops_arriving(project, header):
    grown, shrunk = DRIFT[header]
    query = "SELECT *, TIMESTAMP '2026-07-02 08:00' AS ts FROM src.items"
    start(project, table(header, query), "(1,'a'), (2,'b')")
    verb = ("restate", *WINDOW) if "incremental" in header else ("run",)
    set_source(project, GROWN, "id, v, w")
    project.ok(*verb)
    assert delivered(project, "id, v, w") == grown
    set_source(project, SHRUNK)
    project.ok(*verb)
    assert delivered(project, "id, v, w") == shrunk


# --- Changes of the definition (spec 03 §6, Terminals) --------------------------------------------------------------------


def test_03_6_what_does_not_fit_is_refused_before_any_row(project):
    start(project, table("strategy: merge, key: id", "SELECT id, v FROM src.items"))
    changes = {
        "column 'v' is gone": table("strategy: merge, key: id", "SELECT id, v AS name FROM src.items"),
        "column 'id' is SMALLINT instead of INTEGER": table(
            "strategy: merge, key: id", "SELECT id::SMALLINT AS id, v FROM src.items"
        ),
        "its key is (v) instead of (id)": table("strategy: merge, key: v", "SELECT id, v FROM src.items"),
        "strategy hash_merge needs the column _hash": table(
            "strategy: hash_merge, key: id", "SELECT id, v FROM src.items"
        ),
        "strategy scd needs the column _valid_from": table("strategy: scd, key: id", "SELECT id, v FROM src.items"),
    }
    set_source(project, "(9,'z')")
    before = delivered(project)
    for reason, files in changes.items():
        project.write(files)
        for verb in (("apply",), ("apply", "--force"), ("run",)):
            document = project.json(*verb, code=1)
            assert document["error"]["kind"] == "PlanError", verb
            assert reason in document["error"]["message"]
            assert delivered(project) == before


def test_03_6_plan_shows_what_blocks(project):
    start(project, table("strategy: merge, key: id", "SELECT id, v FROM src.items"))
    project.write(table("strategy: merge, key: id", "SELECT id FROM src.items"))
    plan = project.json("plan", code=1)
    assert plan["blocking"] == ["t: column 'v' is gone"]
    assert plan["changes"][0]["category"] == "breaking"
    assert "blocking: t: column 'v' is gone" in project.run("plan").stdout
    # Another target is always allowed, and leaves the old one as it is.
    project.write(
        {
            "models/t.sql": "/* interlace: {materialise: table, target: crm.t2, strategy: merge, key: id} */\n"
            "SELECT id FROM src.items"
        }
    )
    project.ok("apply")
    assert delivered(project, name="t2") == [[1], [2], [3]]
    assert delivered(project) == [[1, "a"], [2, "b"], [3, "c"]]


def test_03_6_additive_and_other_changes_go_on(project):
    start(project, table("strategy: merge, key: id", "SELECT id, v FROM src.items"))
    project.write(table("strategy: merge, key: id", "SELECT id, upper(v) AS v FROM src.items"))
    assert project.json("plan")["changes"][0]["category"] == "forward_only"
    project.ok("apply")
    project.write(table("strategy: merge, key: id", "SELECT id, upper(v) AS v, 1 AS n FROM src.items"))
    assert project.json("plan")["changes"][0]["category"] == "non_breaking"
    project.ok("apply")
    assert delivered(project) == [[1, "A", 1], [2, "B", 1], [3, "C", 1]]


def test_03_6_a_file_that_loses_a_column_needs_another_path(project):
    start(project, file("path: f.csv", "SELECT id, v FROM src.items"))
    before = project.read("f.csv")
    project.write(file("path: f.csv", "SELECT id FROM src.items"))
    assert project.json("apply", "--force", code=1)["error"]["kind"] == "PlanError"
    assert project.read("f.csv") == before
    project.write(file("path: g.csv", "SELECT id FROM src.items"))
    project.ok("apply")
    assert project.read("g.csv") == "id\n1\n2\n3\n"
    assert project.read("f.csv") == before


# --- append ---------------------------------------------------------------------------------------------------------------


def test_02_4_5_append_doubles_but_a_repeated_run_does_not(project):
    start(project, table("strategy: append"), "(1,'a')")
    project.ok("run")
    assert delivered(project) == [[1, "a"], [1, "a"]]
    again = {"INTERLACE_RUN_ID": "run-7"}
    # Killed after its commit, before anybody knows: the retry of the same run finds its record.
    killed = project.run("run", env={**again, "INTERLACE_HOOK": "build.committed=kill"})
    assert killed.code == -signal.SIGKILL
    assert len(delivered(project)) == 3
    result = project.json("run", env=again)
    assert counts(result) == (0, 0, 0)
    assert len(delivered(project)) == 3
    records = project.sql("SELECT run, model, target, rows FROM interlace__delivery WHERE run = 'run-7'", CRM)
    assert records == [("run-7", "t", "crm.t", 1)]
    project.ok("run", env={"INTERLACE_RUN_ID": "run-8"})
    assert len(delivered(project)) == 4


@pytest.mark.parametrize("point", ["build.committed", "build.recorded", "apply.before_promotion"])
def test_02_4_5_an_apply_after_one_that_died_delivers_its_change_once(project, point):
    start(project, table("strategy: append"), "(1,'a')")
    project.write(
        {"models/t.sql": table("strategy: append", "SELECT id, upper(v) AS v FROM src.items")["models/t.sql"]}
    )
    assert project.run("apply", env={"INTERLACE_HOOK": f"{point}=kill"}).code == -signal.SIGKILL
    assert delivered(project) == [[1, "A"], [1, "a"]]
    result = project.ok("apply")
    assert delivered(project) == [[1, "A"], [1, "a"]]
    assert "its rows were delivered already" in result.stderr + result.stdout
    assert project.json("plan")["empty"]
    # The same version again, later: a change of its own.
    for text in ("v", "upper(v) AS v"):
        query = f"SELECT id, {text} FROM src.items"
        project.write({"models/t.sql": table("strategy: append", query)["models/t.sql"]})
        project.ok("apply")
    assert delivered(project) == [[1, "A"], [1, "A"], [1, "a"], [1, "a"]]


def test_02_4_5_killed_before_its_commit_the_retry_delivers(project):
    start(project, table("strategy: append"), "(1,'a')")
    again = {"INTERLACE_RUN_ID": "run-7"}
    project.run("run", env={**again, "INTERLACE_HOOK": "build.written=kill"})
    assert len(delivered(project)) == 1
    assert counts(project.json("run", env=again)) == (1, 0, 0)
    assert len(delivered(project)) == 2


def test_01_12_2_models_may_share_a_target_they_add_to(project):
    project.write({"interlace.yaml": CONFIG})
    for name in ("t", "u", "w"):
        header = "materialise: table, target: crm.t, strategy: append"
        project.write({f"models/{name}.sql": f"/* interlace: {{{header}}} */ SELECT '{name}' AS who"})
    set_source(project, "(1,'a')")
    project.ok("apply")
    assert delivered(project) == [["t"], ["u"], ["w"]]


def test_01_12_2_a_failing_check_takes_the_delivery_back(project):
    start(project, table("strategy: append, checks: [{unique: id}]"), "(1,'a')")
    project.fails("run")
    assert delivered(project) == [[1, "a"]]
    assert len(project.sql("FROM interlace__delivery", CRM)) == 1


def test_a_first_delivery_of_windows_leaves_the_rows_of_others_outside_of_them(project):
    project.write(
        {
            "interlace.yaml": CONFIG,
            "models/m.sql": "/* interlace: {materialise: table, target: crm.days, strategy: incremental, time_column: d} */\n"
            "SELECT d, n FROM src.days",
        }
    )
    project.load("CREATE TABLE days AS SELECT DATE '2026-06-02' AS d, 1 AS n")
    project.load(
        "CREATE TABLE days AS SELECT * FROM (VALUES (DATE '2020-01-01', 7), (DATE '2026-06-02', 8)) t(d, n)",
        name="data/crm.duckdb",
    )
    project.ok("apply", env={"INTERLACE_NOW": "2026-07-01T00:00:00"})
    rows = project.sql("SELECT d::VARCHAR, n FROM days ORDER BY d", name="data/crm.duckdb")
    assert rows == [("2020-01-01", 7), ("2026-06-02", 1)]
    assert project.json("intervals", "m")["intervals"] == [["2026-06-02T00:00:00", "2026-06-03T00:00:00"]]
    project.load("DELETE FROM days")
    project.ok("restate", "-s", "m", "--start", "2026-06-02", "--end", "2026-06-03")
    rows = project.sql("SELECT d::VARCHAR, n FROM days ORDER BY d", name="data/crm.duckdb")
    assert rows == [("2020-01-01", 7)]
