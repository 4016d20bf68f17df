"""spec 06 §6: the MCP server, over the pipes that a client holds."""

import json
import subprocess
import threading

import pytest

LINES, HEADERS = "lines", "headers"
TABLE = {"models/t.sql": "SELECT * FROM (VALUES (1, 'a'), (2, 'b')) s(id, name)"}
TWO = {**TABLE, "models/u.sql": "SELECT id FROM t"}


class Client:
    """A client of one server. `frames` are all messages that came; whatever is no frame fails at once."""

    def __init__(self, project, *args, framing=LINES, env=None):
        self.process = project.spawn("mcp", *args, env=env, stdin=subprocess.PIPE)
        self.framing = framing
        self.number = 0
        self.frames = []
        self.deadline = threading.Timer(120, self.process.kill)
        self.deadline.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.deadline.cancel()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()

    def send_text(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def send(self, message):
        text = json.dumps(message)
        self.send_text(f"{text}\n" if self.framing == LINES else f"Content-Length: {len(text)}\r\n\r\n{text}")

    def read(self):
        line = self.process.stdout.readline()
        if self.framing == HEADERS and line.startswith("Content-Length: "):
            assert self.process.stdout.readline() in ("\n", "\r\n")
            line = self.process.stdout.read(int(line.split()[1]))
        assert line, self.process.stderr.read()
        frame = json.loads(line)
        self.frames.append(frame)
        return frame

    def request(self, method, params=None, id=None):
        self.number += 1
        wanted = self.number if id is None else id
        self.send({"jsonrpc": "2.0", "id": wanted, "method": method} | ({} if params is None else {"params": params}))
        frame = self.read()
        while "id" not in frame:
            frame = self.read()
        assert frame["jsonrpc"] == "2.0"
        assert frame["id"] == wanted
        return frame

    def call(self, tool, **arguments):
        """The tool's document."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})["result"]
        assert not result.get("isError"), result
        return json.loads(result["content"][0]["text"])

    def refused(self, tool, **arguments):
        """The message of a call that fails."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})["result"]
        assert result["isError"] is True
        assert [content["type"] for content in result["content"]] == ["text"]
        return result["content"][0]["text"]

    def end(self):
        self.process.stdin.close()
        code = self.process.wait(timeout=60)
        assert self.process.stdout.read() == ""
        return code


def code_of(frame):
    assert "result" not in frame
    return frame["error"]["code"]


@pytest.mark.parametrize("framing", [LINES, HEADERS])
def test_06_6_1_round_trip_in_both_framings_with_ids_echoed(make_project, framing):
    with Client(make_project(TWO), framing=framing) as client:
        result = client.request("initialize", {"protocolVersion": "2025-06-18"}, id="first")["result"]
        assert result["protocolVersion"] == "2025-06-18"
        assert result["capabilities"]["tools"] == {}
        assert result["serverInfo"]["name"] == "interlace"
        client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        tools = client.request("tools/list", id=7.5)["result"]["tools"]
        assert {"list_models", "plan", "apply", "query"} <= {tool["name"] for tool in tools}
        assert all(tool["inputSchema"]["additionalProperties"] is False for tool in tools)
        assert client.call("list_models") == [
            {"name": "t", "materialise": "virtual", "strategy": "replace", "engine": "default", "depends_on": []},
            {"name": "u", "materialise": "virtual", "strategy": "replace", "engine": "default", "depends_on": ["t"]},
        ]
        assert client.request("ping", id='a "quoted" id\n')["result"] == {}


@pytest.mark.parametrize(
    ("asked", "answered"),
    [("2024-11-05", "2024-11-05"), ("2025-03-26", "2025-03-26"), ("1999-01-01", "2024-11-05"), (None, "2024-11-05")],
)
def test_versions_of_the_protocol(project, asked, answered):
    with Client(project.write(TABLE)) as client:
        params = None if asked is None else {"protocolVersion": asked}
        assert client.request("initialize", params)["result"]["protocolVersion"] == answered


def test_diff_is_a_result_whether_rows_differ_or_not(make_project):
    project = make_project(TABLE)
    project.ok("apply")
    project.write({"models/t.sql": TABLE["models/t.sql"].replace("(2, 'b')", "(2, 'c')")})
    project.ok("apply", "-e", "dev", "--force")
    with Client(project, "--read-only") as client:
        (item,) = client.call("diff", against="dev", on=["id"], limit=1)
        assert item["differs"] is True
        assert item["rows"]["changed_sample"] == [{"id": 2, "left_name": "b", "right_name": "c"}]
        (item,) = client.call("diff", against="prod", environment="prod", schema=True)
        assert (item["differs"], item["rows"]) == (False, None)
        assert "No environment 'stage'" in client.refused("diff", against="stage")
        assert code_of(client.request("tools/call", {"name": "diff", "arguments": {}})) == -32602


def test_06_6_2_apply_needs_confirm_and_force(make_project):
    project = make_project(TWO)
    with Client(project) as client:
        assert "confirm" in client.refused("apply")
        assert "confirm" in client.refused("apply", confirm=False)
        assert not project.exists(".interlace/warehouse.duckdb")
        result = client.call("apply", confirm=True)
        assert (result["environment"], result["built"], result["reused"]) == ("prod", ["t", "u"], [])
        assert result["promoted"] == 2
        project.write({"models/t.sql": "SELECT 3 AS id"})
        message = client.refused("apply", confirm=True)
        assert "t" in message
        assert "breaking" in message
        assert client.call("query", sql="SELECT count(*) FROM t")["rows"] == [[2]]
        assert client.call("apply", confirm=True, force=True)["built"] == ["t", "u"]
        assert client.call("query", sql="SELECT id FROM u")["rows"] == [[3]]


def test_06_6_3_query_has_the_same_fence(make_project):
    project = make_project({**TABLE, "secret.csv": "a,b\n1,2\n"})
    project.ok("apply")
    with Client(project) as client:
        for sql in ("SELECT * FROM read_csv('secret.csv')", "DROP TABLE t", "-", "", "SELECT 1; SELECT 2"):
            assert client.refused("query", sql=sql)
        result = client.call("query", sql="SELECT id FROM t ORDER BY id", limit=1)
        assert (result["columns"], result["rows"], result["truncated"]) == (["id"], [[1]], True)


@pytest.mark.parametrize("framing", [LINES, HEADERS])
def test_06_6_4_a_garbage_line_leaves_the_server_alive(make_project, framing):
    with Client(make_project(TABLE), framing=framing) as client:
        client.send_text("garbage\n" if framing == LINES else "Content-Length: 7\r\n\r\ngarbage")
        frame = client.read()
        assert (code_of(frame), frame["id"]) == (-32700, None)
        assert client.request("ping")["result"] == {}


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ([{"jsonrpc": "2.0", "id": 1, "method": "ping"}], -32600),
        (5, -32600),
        ({"id": 1, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": 1}, -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": 5}, -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": "nosuch"}, -32601),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}, -32602),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 1}}, -32602),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "plan", "arguments": []}}, -32602),
        *[
            ({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": given}}, -32602)
            for name, given in [
                ("query", {}),
                ("query", {"sql": 1}),
                ("query", {"sql": "SELECT 1", "limit": 0}),
                ("query", {"sql": "SELECT 1", "limit": "1"}),
                ("plan", {"nosuch": 1}),
                ("plan", {"selectors": "t"}),
                ("plan", {"selectors": [1]}),
                ("apply", {"confirm": "true"}),
            ]
        ],
    ],
)
def test_requests_that_mean_nothing(project, message, code):
    with Client(project.write(TABLE)) as client:
        client.send(message)
        assert code_of(client.read()) == code
        assert client.request("ping")["result"] == {}


def test_notifications_and_answers_get_no_answer(make_project):
    with Client(make_project(TABLE)) as client:
        client.send({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "nosuch"}})
        client.send({"jsonrpc": "2.0", "method": "nosuch"})
        client.send({"jsonrpc": "2.0", "id": 1, "result": {}})
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}})
        client.request("ping")
        assert len(client.frames) == 1


def test_06_6_5_stdout_has_only_frames_while_a_python_model_prints(make_project):
    source = (
        "import os, sys\nfrom interlace import model\n\n\n@model(columns={'id': 'BIGINT'})\ndef loud():\n"
        "    print('from print', flush=True)\n    os.write(1, b'from the descriptor\\n')\n    os.system('echo a child')\n"
        "    return [{'id': 1}]\n"
    )
    with Client(make_project({"models/loud.py": source})) as client:
        assert client.call("apply", confirm=True)["built"] == ["loud"]
        assert client.call("query", sql="SELECT * FROM loud")["rows"] == [[1]]
        assert client.end() == 0


def test_06_6_6_the_end_of_input_is_exit_0_and_the_lock_is_free(make_project):
    project = make_project(TABLE)
    with Client(project) as client:
        client.call("apply", confirm=True)
        client.process.stdin.close()
        assert client.process.wait(timeout=60) == 0
    project.write({"models/v.sql": "SELECT 1 AS x"})
    project.ok("apply", "--lock-timeout", "0")


def test_what_was_asked_before_the_end_of_input_is_answered(make_project):
    requests = [{"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": "list_models"}} for n in (1, 2)]
    result = make_project(TABLE).ok("mcp", input="".join(json.dumps(request) + "\n" for request in requests))
    assert [json.loads(line)["id"] for line in result.stdout.splitlines()] == [1, 2]


def test_the_tools_give_what_the_commands_print(make_project):
    project = make_project(TWO)
    project.ok("apply")
    project.write({"models/u.sql": "SELECT id + 1 AS id FROM t"})
    with Client(project) as client:
        assert client.call("plan") == project.json("plan")
        assert client.call("plan", environment="dev", selectors=["t"]) == project.json("plan", "-e", "dev", "-s", "t")
        assert client.call("lineage") == project.json("lineage")
        assert client.call("env_list") == project.json("env", "list")
        assert "nosuch" in client.refused("plan", selectors=["nosuch"])
        assert "nosuch" in client.refused("get_model", name="nosuch")
        assert "nosuch" in client.refused("nosuch")


def test_tools_for_columns_tests_and_the_way_back(make_project):
    project = make_project({**TWO, "tests/fixtures/t.csv": "id\n7\n", "tests/golden/u.csv": "id:int64\n7\n"})
    project.ok("apply")
    project.write({"models/u.sql": "SELECT id, 1 AS one FROM t"})
    project.ok("apply")
    with Client(project) as client:
        assert client.call("lineage", model="u", columns=True) == project.json("lineage", "u", "-c")
        assert client.call("impact", column="t.id") == project.json("impact", "t.id")
        assert client.call("render", model="u") == project.json("render", "u")
        assert client.call("test") == project.json("test", code=1)
        assert "confirm" in client.refused("rollback")
        assert client.call("rollback", confirm=True)["repointed"] == ["u"]
    assert project.json("env", "diff", "prod", "prod") == []


def test_each_call_reads_the_project_afresh(make_project):
    project = make_project(TABLE)
    with Client(project) as client:
        assert [model["name"] for model in client.call("list_models")] == ["t"]
        project.write({"models/t.sql": "SELEC 1"})
        assert "models/t.sql" in client.refused("list_models")
        project.write(TWO)
        assert client.call("get_model", name="u")["sql"] == "SELECT id FROM t"


def test_preview_and_failing_rows(make_project):
    checked = "/* interlace: {checks: [{type: not_null, column: name, severity: warn}, {not_null: id}]} */ "
    query = "SELECT * FROM (VALUES (1, 'a'), (2, NULL), (3, NULL)) s(id, name)"
    project = make_project({"models/gold/t.sql": checked + query})
    with Client(project) as client:
        assert client.call("preview_model", name="gold.t")["available"] is False
        client.call("apply", confirm=True)
        preview = client.call("preview_model", name="gold.t", limit=1)
        assert (preview["available"], preview["columns"], preview["truncated"]) == (True, ["id", "name"], True)
        assert preview["profile"] == [
            {"column": "id", "nulls": 0, "distinct": 3, "min": 1, "max": 3},
            {"column": "name", "nulls": 2, "distinct": 1, "min": "a", "max": "a"},
        ]
        failed, passed = client.call("list_checks", model="gold.t")
        if failed["status"] == "passed":
            failed, passed = passed, failed
        found = client.call("failing_rows", model="gold.t", check=failed["check_name"], limit=1)
        assert (found["available"], found["columns"], len(found["rows"])) == (True, ["id", "name"], 1)
        assert found["rows"][0] in ([2, None], [3, None])
        assert found["truncated"] is True
        assert client.call("failing_rows", model="gold.t", check=passed["check_name"])["available"] is False
        assert "nosuch" in client.refused("failing_rows", model="gold.t", check="nosuch")


def test_read_only_offers_no_tool_that_writes(make_project):
    with Client(make_project(TABLE), "--read-only") as client:
        names = {tool["name"] for tool in client.request("tools/list")["result"]["tools"]}
        assert names.isdisjoint({"apply", "run", "checks_run", "rollback"})
        assert "only reads" in client.refused("apply", confirm=True)


def test_resources_are_the_sql_files_and_nothing_else(make_project):
    with Client(make_project({**TABLE, "secret.txt": "x"})) as client:
        resources = client.request("resources/list")["result"]["resources"]
        assert [(one["uri"], one["name"]) for one in resources] == [("interlace:///models/t.sql", "t")]
        read = client.request("resources/read", {"uri": resources[0]["uri"]})["result"]["contents"]
        assert read[0]["text"] == TABLE["models/t.sql"]
        for uri in ("interlace:///secret.txt", "interlace:///models/../secret.txt", "file:///etc/passwd"):
            assert code_of(client.request("resources/read", {"uri": uri})) == -32002


def test_progress_of_an_apply(make_project):
    with Client(make_project(TWO)) as client:
        params = {"name": "apply", "arguments": {"confirm": True}, "_meta": {"progressToken": "p"}}
        client.request("tools/call", params)
        told = [frame["params"] for frame in client.frames if frame.get("method") == "notifications/progress"]
        assert [(one["progressToken"], one["progress"], one["total"]) for one in told] == [("p", 1, 2), ("p", 2, 2)]


SLOW = (
    "import pathlib, time\nfrom interlace import model\n\n\n@model(columns={'id': 'BIGINT'})\ndef slow():\n"
    "    pathlib.Path('started').touch()\n    while not pathlib.Path('go').exists():\n        time.sleep(0.01)\n"
    "    return [{'id': 1}]\n"
)


def wait_for(path):
    done = threading.Event()
    for _ in range(6000):
        if path.exists():
            return
        done.wait(0.01)
    pytest.fail(f"{path} did not come")


def test_a_cancelled_apply_stops_and_the_server_goes_on(make_project):
    project = make_project({"models/slow.py": SLOW})
    with Client(project) as client:
        params = {"name": "apply", "arguments": {"confirm": True}}
        client.send({"jsonrpc": "2.0", "id": "long", "method": "tools/call", "params": params})
        wait_for(project.root / "started")
        client.send(
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "long", "reason": "no"}}
        )
        assert client.request("ping")["result"] == {}
        assert [frame["id"] for frame in client.frames] == [1]
        assert client.call("env_list") == []
        project.write({"go": ""})
        assert client.call("apply", confirm=True)["built"] == ["slow"]


def test_a_client_that_went_away_stops_the_apply(make_project):
    project = make_project({"models/slow.py": SLOW})
    with Client(project) as client:
        params = {"name": "apply", "arguments": {"confirm": True}}
        client.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        wait_for(project.root / "started")
        client.process.stdin.close()
        client.process.stdout.close()
        client.process.wait(timeout=60)
    project.write({"go": ""})
    project.ok("apply", "--lock-timeout", "0")
