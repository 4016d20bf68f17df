"""Python models end to end: spec 01 §8, spec 03 §1, spec 10. Names carry the number of the line they show."""

import http.server
import json
import threading
import urllib.parse

import pytest

IMPORTS = "from interlace import model\nimport pyarrow as pa\n\n\n"


def changed(project):
    return [change["name"] for change in project.json("plan")["changes"]]


def test_01_8_1_the_quickstart_chain_has_its_figures(quickstart):
    rows = quickstart.query(
        "SELECT count(*), sum(conversions)::INT, round(sum(revenue), 2)::VARCHAR FROM event_summary"
    )
    assert rows == [[3, 4, "273.39"]]


def test_01_8_3_a_generator_may_read_its_upstreams_one_after_the_other(project):
    project.write(
        {
            "models/base.sql": "SELECT i AS v FROM range(10000) t(i)",
            "models/other.sql": "SELECT i + 10000 AS v FROM range(5000) t(i)",
            "models/m.py": IMPORTS
            + "@model()\ndef m(base, other):\n    yield from base.reader()\n    for batch in other.reader():\n        yield batch\n",
            "models/s.sql": "SELECT count(*)::INT AS n, sum(v)::BIGINT AS s FROM m",
        }
    )
    project.ok("apply")
    assert project.query("SELECT * FROM s") == [[15000, sum(range(15000))]]


def test_01_8_7_an_unknown_parameter_lists_what_is_possible(project):
    project.write(
        {
            "models/raw/orders.sql": "SELECT 1 AS id",
            "models/m.py": IMPORTS + "@model()\ndef m(nosuch):\n    return nosuch.table()\n",
        }
    )
    result = project.fails("plan")
    assert "nosuch" in result.stderr
    assert "raw_orders" in result.stderr or "raw.orders" in result.stderr


def test_dotted_upstreams_are_spelt_with_underscores_and_defaults_are_left_alone(project):
    project.write(
        {
            "models/raw/orders.sql": "SELECT 1 AS id",
            "models/m.py": IMPORTS
            + "TENANTS = ['acme', 'globex']\n\n\ndef make(tenant):\n    @model(name=f'orders_{tenant}')\n"
            "    def orders(raw_orders, tenant=tenant):\n        t = raw_orders.table()\n"
            "        return t.append_column('tenant', pa.array([tenant] * t.num_rows))\n\n\n"
            "for name in TENANTS:\n    make(name)\n",
        }
    )
    project.ok("apply")
    assert project.query("SELECT tenant FROM orders_acme UNION ALL SELECT tenant FROM orders_globex ORDER BY 1") == [
        ["acme"],
        ["globex"],
    ]


def test_03_1_4_models_of_one_factory_move_alone(project):
    body = (
        IMPORTS
        + "def make(tenant, label):\n    @model(name=f'm_{tenant}')\n    def m():\n        return pa.table({'x': [label]})\n\n\n"
        "make('a', 'one')\nmake('b', '%s')\n"
    )
    project.write({"models/m.py": body % "two"})
    project.ok("apply")
    project.write({"models/m.py": body % "three"})
    assert changed(project) == ["m_b"]


def test_03_1_3_helpers_count_and_comments_do_not(project):
    project.write(
        {
            "models/_helper.py": "RATE = 2\n\n\ndef f(x):\n    return x * RATE\n\n\ndef unused():\n    return 1\n",
            "models/p.py": "from _helper import f\n"
            + IMPORTS
            + "@model()\ndef p():\n    return pa.table({'v': [f(1)]})\n",
            "models/other.py": IMPORTS + "@model()\ndef other():\n    return pa.table({'v': [1]})\n",
            "models/q.sql": "SELECT * FROM p",
        }
    )
    project.ok("apply")
    helper = project.read("models/_helper.py")
    project.write({"models/_helper.py": helper.replace("def f(x):", "def f(x):\n    '''Said.'''\n    # why")})
    assert changed(project) == []
    project.write({"models/_helper.py": helper.replace("return 1", "return 2")})
    assert changed(project) == []
    project.write({"models/_helper.py": helper.replace("RATE = 2", "RATE = 3")})
    assert changed(project) == ["p", "q"]
    project.write({"models/_helper.py": helper.replace("x * RATE", "x + RATE")})
    assert changed(project) == ["p", "q"]


def test_10_4_a_second_plan_starts_no_python(project, tmp_path):
    project.write({"models/p.py": IMPORTS + "@model()\ndef p():\n    return pa.table({'v': [1]})\n"})
    project.ok("plan")
    assert changed(project) == ["p"]
    never = {"INTERLACE_PYTHON": str(tmp_path / "no-python-here")}
    cached = project.run("plan", "--json", env=never)
    if cached.code == 0:
        assert [c["name"] for c in cached.json["changes"]] == ["p"]
    else:
        # The interpreter is part of the cache's key: another one is asked for, and named when it is not there.
        assert "no-python-here" in cached.stderr


RETURNS = {
    "table": "return pa.table({'a': [1, 2, 3]})",
    "batch": "return pa.RecordBatch.from_pydict({'a': [1, 2, 3]})",
    "reader": "return pa.table({'a': [1, 2, 3]}).to_reader()",
    "generator": "yield pa.RecordBatch.from_pydict({'a': [1]})\n    yield pa.table({'a': [2, 3]})",
    "list_of_batches": "return [pa.RecordBatch.from_pydict({'a': [1, 2, 3]})]",
    "pandas": "import pandas\n    return pandas.DataFrame({'a': [1, 2, 3]})",
    "polars": "import polars\n    return polars.DataFrame({'a': [1, 2, 3]})",
}


@pytest.mark.parametrize("name", RETURNS)
def test_01_8_4_what_a_model_may_return_lands(project, name):
    project.write({"models/p.py": IMPORTS + f"@model()\ndef p():\n    {RETURNS[name]}\n"})
    project.ok("apply")
    assert project.query("SELECT count(*), sum(a)::INT FROM p") == [[3, 6]]


@pytest.mark.parametrize(
    "body",
    [
        "async def p():\n    return pa.table({'a': [1, 2, 3]})",
        "async def p():\n    yield pa.table({'a': [1, 2]})\n    yield pa.table({'a': [3]})",
    ],
)
def test_01_8_4_async_functions_are_awaited(project, body):
    project.write({"models/p.py": IMPORTS + "@model()\n" + body + "\n"})
    project.ok("apply")
    assert project.query("SELECT count(*), sum(a)::INT FROM p") == [[3, 6]]


def test_01_8_4_a_list_of_dicts_needs_declared_types(project):
    project.write(
        {
            "models/p.py": IMPORTS
            + "@model(columns={'a': 'BIGINT', 'b': 'VARCHAR'})\ndef p():\n    return [{'a': 1, 'b': 'x'}, {'a': 2}]\n"
        }
    )
    project.ok("apply")
    assert project.query("SELECT a, b FROM p ORDER BY a") == [[1, "x"], [2, None]]
    project.write({"models/p.py": IMPORTS + "@model()\ndef p():\n    return [{'a': 1}]\n"})
    assert "columns" in project.fails("apply", "--force").stderr


def test_a_handle_is_read_once(project):
    project.write(
        {
            "models/a.sql": "SELECT 1 AS id",
            "models/p.py": IMPORTS + "@model()\ndef p(a):\n    a.table()\n    return a.table()\n",
        }
    )
    result = project.fails("apply")
    assert "'a'" in result.stderr


TYPES = """SELECT true AS b, 1::TINYINT AS i8, 2::SMALLINT AS i16, 3::INTEGER AS i32, 4::BIGINT AS i64,
  5::UTINYINT AS u8, 6::USMALLINT AS u16, 7::UINTEGER AS u32, 8::UBIGINT AS u64,
  170141183460469231731687303715884105727::HUGEINT AS huge, 1.5::FLOAT AS f, 'nan'::DOUBLE AS d, 12.34::DECIMAL(10,2) AS dec,
  'tëxt' AS s, '\\xAA\\x00'::BLOB AS bin, DATE '2026-02-03' AS day, TIME '01:02:03.000004' AS t,
  TIMESTAMP '2026-02-03 04:05:06.000007' AS ts, TIMESTAMPTZ '2026-02-03 04:05:06+00' AS tz,
  TIMESTAMP_NS '2026-02-03 04:05:06.000000007' AS ns, INTERVAL '1 month 2 days' AS iv, [1, NULL, 3] AS list,
  {'x': 1, 'y': 'z'} AS st, MAP {'k': 1} AS mp, uuid '00000000-0000-0000-0000-000000000001' AS u, NULL::VARCHAR AS n"""


def test_10_types_go_through_python_and_back_unchanged(project):
    project.write(
        {
            "models/a.sql": TYPES,
            "models/p.py": IMPORTS + "@model()\ndef p(a):\n    yield from a.reader()\n",
        }
    )
    project.ok("apply")
    difference = project.query("SELECT * EXCLUDE (u, huge) FROM a EXCEPT SELECT * EXCLUDE (u, huge) FROM p")
    assert difference == []
    assert project.query("SELECT u::VARCHAR, huge::VARCHAR FROM p") == [
        ["00000000-0000-0000-0000-000000000001", "170141183460469231731687303715884105727"]
    ]


def test_an_enum_column_reaches_python_as_text(project):
    project.write(
        {
            "models/a.sql": "SELECT 'x'::ENUM('x', 'y') AS e, 1 AS id",
            "models/p.py": IMPORTS + "@model()\ndef p(a):\n    return a.table()\n",
        }
    )
    project.ok("apply")
    assert project.query("SELECT e, id FROM p") == [["x", 1]]


def test_ephemeral_and_view_upstreams_are_read_too(project):
    project.write(
        {
            "models/e.sql": "/* interlace: {materialise: ephemeral} */ SELECT i AS v FROM range(3) t(i)",
            "models/v.sql": "/* interlace: {materialise: view} */ SELECT v + 1 AS v FROM e",
            "models/p.py": IMPORTS
            + "@model()\ndef p(e, v):\n    return pa.table({'e': [e.table().num_rows], 'v': [v.table()['v'].to_pylist()[-1]]})\n",
        }
    )
    project.ok("apply")
    assert project.query("SELECT e, v FROM p") == [[3, 3]]


def test_python_models_run_side_by_side(project):
    wait = (
        "    import os, time\n    open('{mine}', 'w').close()\n    end = time.monotonic() + 60\n"
        "    while not os.path.exists('{theirs}'):\n        assert time.monotonic() < end\n        time.sleep(0.01)\n"
        "    return pa.table({{'a': [1]}})\n"
    )
    for mine, theirs in (("x", "y"), ("y", "x")):
        project.write(
            {
                f"models/{mine}.py": IMPORTS
                + f"@model()\ndef {mine}():\n"
                + wait.format(mine=f"seen_{mine}", theirs=f"seen_{theirs}")
            }
        )
    project.ok("apply", "--parallelism", "2")


CONNECTIONS = """
name: shop
connections:
  api: {type: http, base_url: "${API_URL}", headers: {Authorization: "Bearer ${API_TOKEN}"}}
"""


@pytest.fixture
def api():
    """A server of three pages, which wants a token."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            number = int(urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query).get("after", ["1"])[0])
            is_known = self.headers.get("Authorization") == "Bearer sesame-17"
            page = {
                "rows": [{"id": number, "user": {"login": f"u{number}"}}],
                "next": number + 1 if number < 3 else None,
            }
            self.send_response(200 if is_known else 403)
            self.end_headers()
            self.wfile.write(json.dumps(page).encode())

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_01_8_6_a_model_pulls_from_a_named_connection(project, api):
    project.write(
        {
            "interlace.yaml": CONNECTIONS,
            ".env": f"API_URL={api}\nAPI_TOKEN=sesame-17\n",
            "models/users.py": IMPORTS
            + "from interlace.sources import Cursor, RestClient, batches\n\n\n@model()\ndef users():\n"
            "    with RestClient.from_connection('api') as client:\n"
            "        pages = client.paginate('users', paginator=Cursor('after', 'next'), data_key='rows')\n"
            "        yield from batches(pages, flatten=True)\n",
        }
    )
    project.ok("apply")
    assert project.query("SELECT id::INT, user_login FROM users ORDER BY id") == [[1, "u1"], [2, "u2"], [3, "u3"]]


def test_10_3_secrets_of_connections_are_in_no_output(project, api):
    project.write(
        {
            "interlace.yaml": CONNECTIONS,
            ".env": f"API_URL={api}\nAPI_TOKEN=sesame-17\n",
            "models/users.py": IMPORTS + "from interlace.connections import connection\n\n\n@model()\ndef users():\n"
            "    print(connection('api').headers)\n    raise ValueError(connection('api').headers['Authorization'])\n",
        }
    )
    result = project.fails("apply", "--debug")
    assert "users" in result.stderr and "ValueError: …" in result.stderr
    assert "sesame" not in result.stdout + result.stderr
    kept = [path for path in project.root.rglob("*") if path.is_file() and path.name != ".env"]
    assert [path for path in kept if b"sesame-17" in path.read_bytes()] == []


def test_01_8_6_a_connection_outside_a_run_is_refused_at_load(project, api):
    project.write(
        {
            "interlace.yaml": CONNECTIONS,
            ".env": f"API_URL={api}\nAPI_TOKEN=sesame-17\n",
            "models/users.py": IMPORTS + "from interlace.connections import connection\n\nconnection('api')\n",
        }
    )
    assert "only while a model runs" in project.fails("plan").stderr


def test_01_8_6_files_are_read_through_the_scratch_database(project):
    project.write(
        {
            "data/rates.csv": "code,rate\nEUR,2\nUSD,3\n",
            "models/orders.sql": "SELECT 'EUR' AS code, 5 AS amount UNION ALL SELECT 'USD', 7",
            "models/valued.py": IMPORTS + "from interlace.runtime import session\n\n\n@model()\ndef valued(orders):\n"
            "    rows = orders.table()\n"
            "    with session() as db:\n"
            "        query = \"SELECT code, amount * rate AS value FROM rows JOIN 'data/rates.csv' USING (code)\"\n"
            "        return db.execute(query).to_arrow_table()\n",
        }
    )
    project.ok("apply")
    assert project.query("SELECT code, value::INT FROM valued ORDER BY code") == [["EUR", 10], ["USD", 21]]


def test_10_3_a_handle_gives_columns_and_queries(project):
    project.write(
        {
            "models/base.sql": "SELECT i AS id, i % 3 AS r, 'x' AS filler FROM range(30000) t(i)",
            "models/m.py": IMPORTS
            + "@model()\ndef m(base):\n    return base.select('id', 'r').where('r = 1').sql('SELECT count(*) AS n FROM this')\n",
        }
    )
    project.ok("apply")
    assert project.query("SELECT n::INT FROM m") == [[10000]]


def test_10_3_a_part_of_an_upstream_is_all_that_crosses_the_pipe(project):
    part = "base.select('id', 'r').where('r = 1 -- one')"
    project.write(
        {
            "models/base.sql": "SELECT i AS id, i % 3 AS r, CASE WHEN i % 3 = 1 THEN 1 ELSE error('read') END AS filler"
            " FROM range(300) t(i)",
            "models/m.py": IMPORTS + f"@model()\ndef m(base):\n    return {part}.reader()\n",
            "models/checked.py": IMPORTS
            + "from interlace import check\n\n@model()\ndef checked(m):\n    return m.table()\n\n"
            "@check(model='checked', severity='warn')\ndef few(rows):\n    return rows.where('id > 290').select('id').table()\n",
        }
    )
    # A view is run by whoever reads it: rows and columns that are not asked for are not even computed.
    project.write({"models/base.sql": "/* interlace: {materialise: view} */\n" + project.read("models/base.sql")})
    project.ok("apply")
    assert project.query("SELECT count(*), min(id), max(id) FROM m") == [[100, 1, 298]]
    [few] = project.json("checks", "list")
    assert (few["check_name"], few["failures"]) == ("few", 3)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ("select('id', 'nope')", "upstream 'base' has no column 'nope'; it has id, v"),
        ("where('nope > 1')", "upstream 'base': where(\"nope > 1\"): "),
        ("where('id >')", "upstream 'base': where(\"id >\"): "),
        ("where('true) UNION ALL (SELECT 1, 2')", "UNION ALL"),
        ("where('true); DROP VIEW base; --')", "it is not one expression"),
    ],
)
def test_10_3_a_part_that_is_none_says_why(project, part, message):
    project.write(
        {
            "models/base.sql": "SELECT 1 AS id, 2 AS v",
            "models/m.py": IMPORTS + f"@model()\ndef m(base):\n    return base.{part}.table()\n",
        }
    )
    result = project.fails("apply")
    assert message in result.stderr
    assert len(result.error_lines) == 1


def test_10_3_ctx_names_run_and_model(project):
    project.write(
        {
            "models/m.py": IMPORTS
            + "@model()\ndef m(*, ctx):\n    return pa.table({'v': [f'{ctx.model} {ctx.environment} {ctx.attempt}']})\n",
        }
    )
    project.ok("apply")
    assert project.query("SELECT v FROM m") == [["m prod 1"]]
