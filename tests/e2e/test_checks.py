"""Checks and contracts: spec 05 §1–6, spec 01 §11. Names carry the number of the line they show."""

import datetime
import os
import signal
import time

import pytest

SANITIZED = os.environ.get("INTERLACE_SANITIZED") == "1"

ROWS = """SELECT * FROM (VALUES (1,'open',10,'a@x',1), (2,'closed',20,'b@x',2), (3,'open',-5,'nope',9), (3,'weird',NULL,NULL,1))
t(order_id, status, amount, email, customer_id)"""


def orders(checks, extra=""):
    return f"/* interlace: {{checks: [{checks}]{extra}}} */\n{ROWS}"


def results(project, model="orders", code=1):
    """The outcomes of an apply as {check name: (status, failures)}."""
    project.run("apply")
    return {r["check_name"]: (r["status"], r["failures"]) for r in project.json("checks", "list", "--model", model)}


@pytest.fixture
def shop(project):
    return project.write({"models/customers.sql": "SELECT * FROM (VALUES (1), (2), (3)) t(id)"})


# --- 05 §1: declaring -----------------------------------------------------------------------------------------------


def test_05_1_1_all_forms_mean_the_same_in_sql_and_python(project):
    project.write(
        {
            "models/a.sql": "/* interlace: {checks: [{not_null: id}, {not_null: {column: id}}, {type: not_null, column: id}]} */"
            " SELECT 1 AS id",
            "models/b.py": "from interlace import model, CheckSpec\nimport pyarrow as pa\n\n\n"
            "@model(checks=[{'not_null': 'id'}, {'type': 'unique', 'columns': ['id']}])\n"
            "def b():\n    return pa.table({'id': [1]})\n",
        }
    )
    project.ok("apply")
    listed = [(r["model"], r["check_name"], r["status"]) for r in project.json("checks", "list")]
    assert sorted(listed) == [
        ("a", "not_null_id", "passed"),
        ("a", "not_null_id_2", "passed"),
        ("a", "not_null_id_3", "passed"),
        ("b", "not_null_id", "passed"),
        ("b", "unique_id", "passed"),
    ]


@pytest.mark.parametrize(
    ("check", "word"),
    [
        ("not_null", "not_null"),
        ("{not_null: id, unique: id}", "ambiguous"),
        ("{nonsense: id}", "nonsense"),
        ("{type: not_null, column: id, severity: bad}", "bad"),
        ("{type: range, column: id}", "range"),
        ("{pattern: {column: id, regex: '('}}", "("),
        ("{expression: {expression: 'id >'}}", "expression"),
        ("{expression: {expression: 'id > 0) OR (true'}}", "bracket"),
        ("{not_null: {column: id, where: '(id > 0'}}", "bracket"),
        ("{not_null: {column: id, columns: [id]}}", "columns"),
        ("{freshness: {column: id, max_age: soon}}", "soon"),
        ("{accepted_values: {column: id}}", "values"),
        ("{relationships: {column: id, to: nowhere, field: id}}", "nowhere"),
        ("{not_null: {columns: []}}", "column"),
        ("{sql: {query: 'DELETE FROM {table}'}}", "query"),
    ],
)
def test_05_1_2_and_3_a_bad_check_is_refused_by_plan(project, check, word):
    project.write({"models/orders.sql": f"/* interlace: {{checks: [{check}]}} */ SELECT 1 AS id"})
    result = project.fails("plan")
    assert "orders" in result.stderr
    assert word in result.stderr
    assert not project.exists(".interlace/warehouse.duckdb")


def test_checks_of_an_ephemeral_model_are_refused(project):
    project.write(
        {"models/e.sql": "/* interlace: {materialise: ephemeral, checks: [{not_null: id}]} */ SELECT 1 AS id"}
    )
    assert "'e'" in project.fails("plan").stderr


def test_05_1_4_two_expressions_have_two_names(shop):
    shop.write(
        {
            "models/orders.sql": orders(
                "{expression: {expression: 'order_id > 0'}}, {expression: {expression: 'order_id < 9'}}"
            )
        }
    )
    assert results(shop) == {"expression": ("passed", 0), "expression_2": ("passed", 0)}


def test_05_1_5_a_tightened_check_runs_once_against_the_promoted_rows(project):
    project.write({"models/a.sql": "/* interlace: {checks: [{row_count: {min: 1}}]} */ SELECT 1 AS id"})
    project.ok("apply")
    table = project.sql("SELECT table_oid FROM duckdb_tables()")
    project.write({"models/a.sql": "/* interlace: {checks: [{row_count: {min: 2}}]} */ SELECT 1 AS id"})
    plan = project.json("plan")
    assert plan["changes"] == []
    assert plan["metadata"] == ["a"]
    result = project.fails("apply")
    assert "a.row_count" in result.stderr
    assert project.sql("SELECT table_oid FROM duckdb_tables()") == table
    assert project.query("SELECT * FROM a") == [[1]]


# --- 05 §2: built-in checks -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("check", "failures"),
    [
        ("{unique: order_id}", 1),
        ("{unique: [order_id, status]}", 0),
        ("{not_null: amount}", 1),
        ("{not_null: [amount, email]}", 1),
        ("{range: {column: amount, min: 0}}", 1),
        ("{range: {column: amount, min: -5, max: 20}}", 0),
        ("{range: {column: amount, max: 10}}", 1),
        ("{pattern: {column: email, regex: '.+@.+'}}", 1),
        ("{accepted_values: {column: status, values: [open, closed]}}", 1),
        ("{accepted_values: {column: amount, values: [10, 20, -5]}}", 0),
        ("{accepted_values: {column: status, values: []}}", 4),
        ("{relationships: {column: customer_id, to: customers, field: id}}", 1),
        ("{row_count: {min: 5}}", 1),
        ("{row_count: {min: 1, max: 100}}", 0),
        ("{expression: {expression: 'amount >= 0'}}", 1),
        ("{sql: {query: 'SELECT * FROM {table} WHERE amount < 0'}}", 1),
        ("{sql: {query: 'SELECT * FROM customers WHERE id NOT IN (SELECT customer_id FROM {table})'}}", 1),
        ("{not_null: {column: amount, where: \"status = 'open'\"}}", 0),
        ("{range: {column: amount, min: 0, where: 'amount IS NOT NULL AND order_id < 3'}}", 0),
    ],
)
def test_05_2_1_to_3_each_built_in_check_counts_its_failures(shop, check, failures):
    shop.write({"models/orders.sql": orders(check)})
    [(status, count)] = results(shop).values()
    assert (status, count) == ("failed" if failures else "passed", failures)


def test_05_2_2_a_null_parent_hides_no_orphan(shop):
    shop.write(
        {
            "models/customers.sql": "SELECT * FROM (VALUES (1), (2), (3), (NULL)) t(id)",
            "models/orders.sql": orders("{relationships: {column: customer_id, to: customers, field: id}}"),
        }
    )
    assert list(results(shop).values()) == [("failed", 1)]


PARENT = "SELECT unnest([{}]) AS id"
READERS = {
    "relationships": "type: relationships, column: customer_id, to: ref.customers, field: id",
    "sql": 'type: sql, query: "SELECT 1 FROM {table} o LEFT JOIN ref.customers c ON c.id = customer_id WHERE c.id IS NULL"',
    "expression": 'type: expression, expression: "customer_id IN (FROM ref.customers)"',
    "own name": 'type: sql, query: "SELECT 1 FROM orders JOIN ref.names n ON n.id = customer_id WHERE n.id = 9"',
}


@pytest.mark.parametrize("check", READERS)
@pytest.mark.parametrize("bad", ["dev", "prod"])
def test_05_2_a_check_reads_the_models_of_its_own_environment(project, check, bad):
    """Two environments have different versions of what the check reads: it fails in the one whose rows are bad."""
    broken = {"ref/customers": PARENT.format("1, 2, 3"), "ref/names": "SELECT id FROM ref.customers"}
    sound = {**broken, "ref/customers": PARENT.format("1, 2, 3, 9")}
    if check == "own name":
        broken, sound = sound, broken

    def write(models):
        project.write({f"models/{name}.sql": text for name, text in models.items()})

    project.write({"models/orders.sql": orders(f"{{{READERS[check]}, severity: warn}}")})
    write(broken if bad == "prod" else sound)
    project.ok("apply")
    write(broken if bad == "dev" else sound)
    project.ok("apply", "-e", "dev", "--force")
    for env in ("prod", "dev"):
        applied = project.json("checks", "list", "--env", env)[0]
        [run] = project.json("checks", "run", "-e", env)
        expected = "failed" if env == bad else "passed"
        assert (applied["status"], run["status"]) == (expected, expected), env


def test_05_2_a_check_never_reads_a_model_that_its_environment_does_not_have(project):
    project.write({"models/ref/customers.sql": PARENT.format("1, 9"), "models/ref/names.sql": "SELECT 1 AS id"})
    project.ok("apply")
    project.write({"models/orders.sql": orders(f"{{{READERS['sql']}}}")})
    result = project.fails("apply", "-e", "dev", "-s", "orders")
    assert "'ref.customers' is not built in this environment" in result.stderr


def test_a_check_that_reads_a_later_model_waits_for_it(project):
    project.write(
        {
            "models/a.sql": "/* interlace: {checks: [{relationships: {column: id, to: z3, field: id}}]} */ SELECT 1 AS id",
            "models/z1.sql": "SELECT 1 AS id",
            "models/z2.sql": "SELECT * FROM z1",
            "models/z3.sql": "SELECT * FROM z2",
        }
    )
    project.ok("apply", "--parallelism", "4")


@pytest.mark.parametrize(
    ("source", "max_age", "expected"),
    [
        ("SELECT NULL::TIMESTAMP AS ts WHERE false", "2h", ("failed", 1)),
        ("SELECT TIMESTAMP '2026-01-02 11:00:00' AS ts", "2h", ("passed", 0)),
        ("SELECT TIMESTAMP '2026-01-02 11:00:00' AS ts", "30m", ("failed", 1)),
        ("SELECT TIMESTAMPTZ '2026-01-02 11:00:00+00' AS ts", "2h", ("passed", 0)),
        ("SELECT DATE '2026-01-02' AS ts", "13h", ("passed", 0)),
        ("SELECT DATE '2026-01-02' AS ts", "11h", ("failed", 1)),
    ],
)
def test_05_2_4_freshness_looks_at_the_newest_value(project, source, max_age, expected):
    project.write(
        {
            "interlace.yaml": "timezone: UTC\n",
            "models/m.sql": f"/* interlace: {{checks: [{{freshness: {{column: ts, max_age: {max_age}}}}}]}} */ {source}",
        }
    )
    project.run("apply", env={"INTERLACE_NOW": "2026-01-02T12:00:00Z"})
    [result] = project.json("checks", "list", "--model", "m")
    assert (result["status"], result["failures"]) == expected


@pytest.mark.parametrize(("severity", "code"), [("error", 1), ("warn", 0)])
def test_05_2_5_a_check_on_a_missing_column_is_an_error_of_the_check(shop, severity, code):
    shop.write({"models/orders.sql": orders(f"{{type: not_null, column: nosuch, severity: {severity}}}")})
    result = shop.run("apply")
    assert result.code == code, result
    [record] = shop.json("checks", "list", "--model", "orders")
    assert record["status"] == "error"
    assert "nosuch" in record["message"]


@pytest.mark.parametrize(("severity", "code"), [("error", 1), ("warn", 0)])
def test_a_check_that_fails_while_it_runs_spoils_nothing(shop, severity, code):
    shop.write(
        {
            "models/orders.sql": orders(
                f"{{type: expression, expression: 'status::INT > 0', severity: {severity}}}, {{not_null: order_id}}"
            )
        }
    )
    result = shop.run("apply")
    assert result.code == code, result
    listed = {r["check_name"]: r["status"] for r in shop.json("checks", "list", "--model", "orders")}
    assert listed == {"expression": "error", "not_null_order_id": "passed"}
    if code == 0:
        assert shop.query("SELECT count(*) FROM orders") == [[4]]


# --- 05 §3: severity ------------------------------------------------------------------------------------------------


def test_05_3_1_and_4_a_warning_is_shown_and_promoted_unless_strict(shop):
    shop.write({"models/orders.sql": orders("{type: unique, column: order_id, severity: warn}")})
    result = shop.ok("apply")
    assert "orders.unique_order_id failed (warn)" in result.stdout
    assert shop.query("SELECT count(*) FROM orders") == [[4]]
    assert shop.run("apply", "-e", "dev", "--strict").code == 1


def test_05_3_2_an_error_blocks_and_is_recorded(shop):
    shop.write({"models/orders.sql": "SELECT 1 AS order_id"})
    shop.ok("apply")
    shop.write({"models/orders.sql": orders("{unique: order_id}")})
    result = shop.fails("apply", "--force")
    assert "checks failed — promotion blocked: orders.unique_order_id (1 failing)" in result.stderr
    assert shop.query("SELECT * FROM orders") == [[1]]
    assert shop.json("checks", "list", "--model", "orders")[0]["status"] == "failed"


def test_05_3_3_all_failing_checks_are_in_the_message_and_in_the_history(shop):
    shop.write({"models/orders.sql": orders("{unique: order_id}, {not_null: amount}, {row_count: {min: 1}}")})
    result = shop.fails("apply")
    assert "orders.unique_order_id (1 failing); orders.not_null_amount (1 failing)" in result.stderr
    assert len(shop.json("checks", "list", "--model", "orders")) == 3


def test_reused_tables_are_checked_again_for_the_new_environment(shop):
    shop.write({"models/orders.sql": orders("{type: unique, column: order_id, severity: warn}")})
    shop.ok("apply")
    shop.ok("apply", "-e", "dev")
    assert {r["environment"] for r in shop.json("checks", "list", "--model", "orders")} == {"prod", "dev"}


def days(checks, seventeenth=17):
    """Ten days of four rows, in a file that a model cuts into days."""
    start = datetime.datetime(2026, 1, 1)
    ids = [seventeenth if i == 17 else i for i in range(40)]
    rows = "".join(f"{number},{start + datetime.timedelta(hours=6 * i)}\n" for i, number in enumerate(ids))
    header = f"/* interlace: {{strategy: incremental, interval: 1d, time_column: ts, checks: [{checks}]}} */"
    return {
        "data/events.csv": "id,ts\n" + rows,
        "models/daily.sql": header + "\nSELECT id, ts FROM read_csv('data/events.csv')",
    }


RESTATE = ("restate", "--start", "2026-01-01", "--end", "2026-01-11", "--batch", "1")


def test_05_3_a_row_check_that_passed_looks_at_the_windows_that_follow_only(project):
    """A sequence counts the rows that are looked at: all with the first batch, four with each of the nine others."""
    seen = "SELECT last_value FROM duckdb_sequences()"
    project.write(days("")).ok("apply")
    with project.warehouse(read_only=False) as warehouse:
        warehouse.execute("CREATE SEQUENCE main.seen")
    project.write(days("{type: expression, expression: \"nextval('main.seen') > 0\"}, {unique: id}")).ok("apply")
    before = project.sql(seen)[0][0]
    project.ok(*RESTATE)
    assert project.sql(seen)[0][0] - before == 40 + 9 * 4


def test_05_3_a_row_check_that_failed_looks_at_the_whole_table_again(project):
    project.write(days("{type: range, column: id, min: 3, severity: warn}")).ok("apply")
    project.ok(*RESTATE)
    outcomes = project.json("checks", "list", "--model", "daily")
    assert [outcome["failures"] for outcome in outcomes] == [3] * 11


def test_05_3_a_row_check_of_a_window_blocks_that_window(project):
    check = "{type: range, column: id, max: 40}"
    project.write(days(check)).ok("apply")
    project.write(days(check, seventeenth=117))
    result = project.fails(*RESTATE)
    assert "daily.range_id (1 failing) (window 2026-01-05)" in result.stderr
    assert "4 of 10 windows are filled" in result.stderr


# --- 05 §4: Python checks -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "status", "failures"),
    [
        ("return True", "passed", 0),
        ("return None", "passed", 0),
        ("return 0", "passed", 0),
        ("return table.table().slice(0, 0)", "passed", 0),
        ("return 3", "failed", 3),
        ("return table.table().slice(0, 2)", "failed", 2),
        ("return False", "failed", 1),
        ("return -1", "error", 0),
        ("return 'yes'", "error", 0),
        ("raise ValueError('no good')", "error", 0),
        ("return sum(batch.num_rows for batch in table.reader()) - 3", "failed", 1),
    ],
)
def test_05_4_what_a_python_check_returns_is_its_verdict(shop, body, status, failures):
    shop.write(
        {
            "models/orders.sql": ROWS,
            "models/checks.py": f"from interlace import check\n\n\n@check(model='orders')\ndef looks_good(table):\n    {body}\n",
        }
    )
    result = shop.run("apply")
    assert result.code == (0 if status == "passed" else 1), result
    [record] = shop.json("checks", "list", "--model", "orders")
    assert (record["check_name"], record["check_type"]) == ("looks_good", "python")
    assert (record["status"], record["failures"] or 0) == (status, failures)
    if "no good" in body:
        assert "no good" in record["message"]


def test_05_4_a_python_check_on_an_unknown_model_is_refused_at_load(shop):
    shop.write(
        {
            "models/checks.py": "from interlace import check\n\n\n@check(model='nosuch')\ndef c(table):\n    return True\n"
        }
    )
    assert "nosuch" in shop.fails("plan").stderr


def test_05_4_an_exception_at_warn_severity_is_no_failure(shop):
    shop.write(
        {
            "models/checks.py": "from interlace import check\n\n\n@check(model='customers', severity='warn')\ndef c(table):\n    1 / 0\n"
        }
    )
    shop.ok("apply")
    assert shop.json("checks", "list")[0]["status"] == "error"


READS_ALL = """import pathlib

from interlace import check


def peak_kb():
    return next(int(line.split()[1]) for line in open('/proc/self/status') if line.startswith('VmHWM'))


@check(model='wide')
def reads_all(table):
    before, rows, names = peak_kb(), 0, 0
    for batch in table.reader():
        rows += batch.num_rows
        names += batch.column('name').null_count
    pathlib.Path('measured').write_text(f'{rows} {before} {peak_kb()}')
    return names
"""


def test_05_4_a_python_check_reads_ten_million_rows_in_bounded_memory(project):
    """The worker that runs it: as a whole, with Python and pyarrow, and how much of that the rows are. All ten million when
    INTERLACE_PROPERTY_EXAMPLES asks for more than usual: two million would already be 60 MB of Arrow."""
    rows = 10_000_000 if os.environ.get("INTERLACE_PROPERTY_EXAMPLES") else 300_000 if SANITIZED else 2_000_000
    project.write(
        {
            "models/wide.sql": f"SELECT range AS id, range * 0.5 AS x, 'row ' || range AS name FROM range({rows})",
            "models/checks.py": READS_ALL,
        }
    )
    assert project.json("apply")["checks"][0]["status"] == "passed"
    seen, before, peak = map(int, project.read("measured").split())
    print(f"{rows} rows: worker {before // 1000} MB before, {peak // 1000} MB at its peak")
    assert seen == rows
    assert peak < 200_000
    assert peak - before < 40_000, f"{(peak - before) // 1000} MB for the rows"


# --- 05 §5: results -------------------------------------------------------------------------------------------------


def test_05_5_1_a_blocked_apply_records_the_new_version_and_checks_run_the_old(shop):
    shop.write({"models/orders.sql": "/* interlace: {checks: [{unique: order_id}]} */ SELECT 1 AS order_id"})
    shop.ok("apply")
    old = shop.json("models", "-s", "orders")[0]["fingerprint"]
    shop.write({"models/orders.sql": orders("{unique: order_id}")})
    shop.fails("apply", "--force")
    blocked = shop.json("checks", "list", "--model", "orders")[0]
    assert blocked["status"] == "failed"
    assert blocked["fingerprint"] != old
    [ran] = shop.json("checks", "run", "-s", "orders")
    assert ran["status"] == "passed"
    assert shop.json("checks", "list", "--model", "orders")[0]["fingerprint"] == old


def test_05_5_2_checks_run_uses_the_current_definitions_and_builds_nothing(project):
    project.write({"models/a.sql": "SELECT 1 AS id"})
    project.ok("apply")
    table = project.sql("SELECT table_oid FROM duckdb_tables()")
    project.write({"models/a.sql": "/* interlace: {checks: [{row_count: {min: 2}}]} */ SELECT 1 AS id"})
    [ran] = project.json("checks", "run", code=1)
    assert set(ran) >= {"model", "name", "type", "severity", "status", "failures", "message"}
    assert (ran["name"], ran["status"]) == ("row_count", "failed")
    assert project.sql("SELECT table_oid FROM duckdb_tables()") == table


def test_05_5_3_checks_run_needs_an_environment(project):
    project.write({"models/a.sql": "SELECT 1 AS id"})
    project.ok("apply")
    assert "dev" in project.fails("checks", "run", "-e", "dev").stderr


def test_05_5_5_json_is_one_document_also_on_failure(shop):
    shop.write({"models/orders.sql": orders("{unique: order_id}")})
    shop.fails("apply")
    result = shop.run("apply", "--json")
    assert result.code == 1
    assert result.json["error"]["kind"] == "CheckError"


@pytest.mark.parametrize(
    ("check", "ids"),
    [
        ("{unique: order_id}", [3, 3]),
        ("{not_null: amount}", [3]),
        ("{accepted_values: {column: status, values: [open, closed]}}", [3]),
        ("{range: {column: amount, min: 11}}", [1, 3]),
        ("{pattern: {column: email, regex: '.+@.+'}}", [3]),
        ("{relationships: {column: customer_id, to: customers, field: id}}", [3]),
        ("{expression: {expression: 'amount > 11'}}", [1, 3]),
        ("{sql: {query: 'SELECT * FROM {table} WHERE order_id < 3'}}", [1, 2]),
    ],
)
def test_05_5_4_the_failing_rows_are_exactly_the_bad_ones(shop, check, ids):
    shop.write({"models/orders.sql": orders(check)})
    shop.fails("apply")
    name = shop.json("checks", "list", "--model", "orders")[0]["check_name"]
    found = shop.json("checks", "rows", "orders", name)
    assert found["columns"][0] == "order_id"
    assert sorted(row[0] for row in found["rows"]) == ids
    assert len(shop.json("checks", "rows", "orders", name, "--limit", "1")["rows"]) == 1


def test_05_5_4_at_most_100_rows_are_kept_also_of_a_write_that_was_rolled_back(project):
    project.write({"models/a.sql": "SELECT 1 AS id"})
    project.ok("apply")
    project.write(
        {
            "models/a.sql": "/* interlace: {checks: [{range: {column: id, max: 0}}]} */ SELECT range AS id FROM range(1, 301)"
        }
    )
    project.fails("apply", "--force")
    assert len(project.json("checks", "rows", "a", "range_id", "--limit", "1000")["rows"]) == 100
    assert "25 of 300 failure(s) of a.range_id in 'prod'" in project.ok("checks", "rows", "a", "range_id").stdout
    project.write({"models/a.sql": "/* interlace: {checks: [{range: {column: id, max: 0}}]} */ SELECT 1 AS id"})
    [ran] = project.json("checks", "run", code=1)
    assert ran["failures"] == 1
    assert project.json("checks", "rows", "a", "range_id")["rows"] == [[1]]


def test_a_check_without_rows_says_why(shop):
    shop.write({"models/orders.sql": orders("{row_count: {min: 9}}, {not_null: order_id}, {not_null: nosuch}")})
    assert "has not run in 'prod'" in shop.fails("checks", "rows", "orders", "row_count").stderr
    shop.fails("apply")
    assert "judges the table" in shop.fails("checks", "rows", "orders", "row_count").stderr
    assert "could not run" in shop.fails("checks", "rows", "orders", "not_null_nosuch").stderr
    assert "row_count, not_null_order_id" in shop.fails("checks", "rows", "orders", "other").stderr
    assert "0 of 0 failure(s)" in shop.ok("checks", "rows", "orders", "not_null_order_id").stdout


def test_checks_run_can_stop_early_and_tells_what_was_skipped(project):
    bad = "/* interlace: {checks: [{row_count: {min: 2}}]} */ SELECT 1 AS id"
    project.write({"models/a.sql": "SELECT 1 AS id", "models/b.sql": "SELECT 1 AS id"})
    project.ok("apply")
    project.write({"models/a.sql": bad, "models/b.sql": bad, "models/c.sql": bad})
    result = project.run("checks", "run", "--json=full", "--fail-fast", "--parallelism", "1")
    assert result.code == 1
    full = result.json
    assert [outcome["model"] for outcome in full["outcomes"]] == ["a"]
    assert full["skipped"] == ["b", "c"]
    assert (full["passed"], full["total"], full["blocked"]) == (0, 1, True)
    assert len(project.json("checks", "run", code=1)) == 2


def test_05_5_checks_run_leaves_out_what_is_not_delivered_in_that_environment(project):
    checked = (
        "/* interlace: {materialise: table, target: out.main.t, checks: [{row_count: {min: 1}}]} */ SELECT 1 AS id"
    )
    project.write({"interlace.yaml": "attach: {out: out.duckdb}\n", "models/t.sql": checked})
    project.ok("apply")
    project.ok("apply", "-e", "dev")
    assert project.ok("checks", "run").stdout == "passed t.row_count\nChecks: 1/1 passed against 'prod'.\n"
    told = project.ok("checks", "run", "-e", "dev").stdout
    assert told == "skip   t — not delivered in 'dev'\nChecks: 0/0 passed against 'dev'.\n"


MEETS_ANOTHER = """import pathlib
import time

from interlace import check


@check(model='{own}')
def meets(rows):
    pathlib.Path('{own}_is_here').touch()
    until = time.monotonic() + {seconds}
    while time.monotonic() < until:
        if pathlib.Path('{other}_is_here').exists():
            return True
        time.sleep(0.01)
    return False
"""


def test_05_5_checks_run_looks_at_as_many_models_at_once_as_it_is_told(project):
    """Each check passes only when the other one runs beside it; what is told stays in the order of the models."""
    project.write({"models/a.sql": "SELECT 1 AS id", "models/b.sql": "SELECT 1 AS id"})
    project.ok("apply")
    for own, other in ("ab", "ba"):
        project.write({f"models/{own}_checks.py": MEETS_ANOTHER.format(own=own, other=other, seconds=30)})
    outcomes = project.json("checks", "run", "--parallelism", "2")
    assert [(o["model"], o["status"]) for o in outcomes] == [("a", "passed"), ("b", "passed")]


def test_05_5_checks_run_ends_at_once_when_it_is_interrupted(project):
    project.write({"models/a.sql": "SELECT 1 AS id", "models/b.sql": "SELECT 1 AS id"})
    project.ok("apply")
    slow = (
        "/* interlace: {checks: [{sql: {query: 'SELECT 1 FROM range(100000000000) r, {table} WHERE r.range < 0'}}]} */"
    )
    here = "import pathlib\n\nfrom interlace import check\n\n\n@check(model='b')\ndef begun(rows):\n    pathlib.Path('begun').touch()\n"
    project.write({"models/a.sql": f"{slow} SELECT 1 AS id", "models/checks.py": here})
    run = project.spawn("checks", "run", "--parallelism", "2")
    while not project.exists("begun"):
        assert run.poll() is None
        time.sleep(0.01)
    run.send_signal(signal.SIGINT)
    assert run.wait(timeout=60) == 130
    assert project.json("checks", "list") == []


def test_the_history_tells_the_command_and_its_kind(project):
    project.write({"models/a.sql": "/* interlace: {checks: [{not_null: id}]} */ SELECT 1 AS id"})
    project.ok("apply", env={"INTERLACE_RUN_ID": "first"})
    project.ok("checks", "run", env={"INTERLACE_RUN_ID": "second"})
    found = [(r["trigger"], r["run_id"], r["seconds"] >= 0) for r in project.json("checks", "list")]
    assert found == [("adhoc", "second", True), ("apply", "first", True)]


# --- 05 §6 and 01 §11: contracts ------------------------------------------------------------------------------------


def test_01_11_1_a_missing_column_leaves_everything_as_it_was(project):
    project.write({"models/m.sql": "SELECT 1 AS a, 2 AS b"})
    project.ok("apply")
    before = project.json("env", "list")
    project.write({"models/m.sql": "/* interlace: {columns: [a, b]} */ SELECT 1 AS a"})
    result = project.fails("apply", "--force")
    assert "missing contracted column(s): b" in result.stderr
    assert project.json("apply", "--force", code=1)["error"]["kind"] == "SchemaError"
    assert project.query("SELECT * FROM m") == [[1, 2]]
    assert [e["generation"] for e in project.json("env", "list")] == [e["generation"] for e in before]


@pytest.mark.parametrize(
    ("contract", "query", "passes"),
    [
        ("{id: int}", "SELECT 1::BIGINT AS id", False),
        ("{id: int}", "SELECT 1::INTEGER AS id, 2 AS extra", True),
        ("{t: text}", "SELECT 'x' AS t", True),
        ("{d: 'decimal(10,2)'}", "SELECT 1::DECIMAL(10,2) AS d", True),
        ("{d: 'decimal(10,2)'}", "SELECT 1::DECIMAL(12,2) AS d", False),
        ("{z: timestamptz}", "SELECT now() AS z", True),
    ],
)
def test_01_11_2_types_compare_after_their_synonyms(project, contract, query, passes):
    project.write({"models/m.sql": f"/* interlace: {{columns: {contract}}} */ {query}"})
    assert project.run("apply").code == (0 if passes else 1)


def test_05_6_a_tightened_contract_is_checked_without_a_rebuild(project):
    project.write({"models/m.sql": "SELECT 1::BIGINT AS id"})
    project.ok("apply")
    project.write({"models/m.sql": "/* interlace: {columns: {id: varchar}} */ SELECT 1::BIGINT AS id"})
    assert project.json("plan")["changes"] == []
    result = project.fails("apply")
    assert "id is BIGINT, expected varchar" in result.stderr


def test_a_contract_of_a_python_model_is_checked_before_its_rows_are_kept(project):
    project.write(
        {
            "models/p.py": "from interlace import model\nimport pyarrow as pa\n\n\n@model(columns={'a': 'BIGINT', 'b': None})\n"
            "def p():\n    return pa.table({'a': [1]})\n"
        }
    )
    assert "missing contracted column(s): b" in project.fails("apply").stderr
