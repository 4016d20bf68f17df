"""Webhooks that are told of changes (spec 04 §8): signed, at least once, never in the way of the command."""

import contextlib
import hashlib
import hmac
import http.server
import json
import shutil
import socket
import threading
import time

import pytest

SECRET = "s3cr3t-of-the-desk"
CONFIG = """name: shop
notify:
  desk: {{url: "http://127.0.0.1:{port}/hook/{path}", secret: "${{DESK_SECRET}}"{more}}}
"""
PATH = "a-token-in-the-address"


class Receiver:
    """A receiver of webhooks on a free port. `answers` are the next statuses; then 200."""

    def __init__(self):
        self.messages = []
        self.answers = []
        self.may_answer = threading.Event()
        self.may_answer.set()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.may_answer.wait()
                status = receiver.answers.pop(0) if receiver.answers else 200
                receiver.messages.append((status, self.path, dict(self.headers), body))
                with contextlib.suppress(OSError):
                    self.send_response(status)
                    if status == 302:
                        self.send_header("Location", "/elsewhere")
                    self.end_headers()

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def delivered(self):
        return [json.loads(body) for status, _, _, body in self.messages if status == 200]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def receiver():
    receiver = Receiver()
    yield receiver
    receiver.close()


@pytest.fixture(scope="module")
def applied(project_class, tmp_path_factory):
    master = project_class(tmp_path_factory.mktemp("notify") / "shop")
    master.write(
        {
            "models/sales.sql": "/* interlace: {tags: [finance], owner: ada} */ SELECT 1 AS v",
            "models/visits.sql": "/* interlace: {owner: bob} */ SELECT 2 AS v",
        }
    )
    master.ok("apply")
    return master


@pytest.fixture
def shop(applied, project_class, tmp_path, receiver):
    shutil.copytree(applied.root, tmp_path / "shop")
    shop = project_class(tmp_path / "shop", env={"DESK_SECRET": SECRET, "INTERLACE_WHO": "ada@desk"})
    configure(shop, receiver)
    return shop


def configure(shop, receiver, more=""):
    shop.write({"interlace.yaml": CONFIG.format(port=receiver.port, path=PATH, more=more)})


def undelivered(shop, *args):
    return shop.json("changes", "--undelivered", *args)


def later(minutes):
    return {"INTERLACE_NOW": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() + 60 * minutes))}


def test_one_signed_message_tells_all_changes_of_a_command(shop, receiver):
    shop.ok("restate", "--note", "discount bug")
    ((_, path, headers, body),) = receiver.messages
    assert path == f"/hook/{PATH}"
    signature = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    assert headers["X-Interlace-Signature"] == f"sha256={signature}"
    assert headers["Content-Type"] == "application/json"
    document = json.loads(body)
    assert (headers["X-Interlace-Event"], headers["X-Interlace-Delivery"]) == (document["event"], document["id"])
    assert (document["event"], document["project"]) == ("periods.changed", "shop")
    assert document["changes"] == shop.json("changes")[::-1]
    assert {change["model"] for change in document["changes"]} == {"sales", "visits"}
    assert undelivered(shop) == []
    shop.ok("run")
    assert len(receiver.messages) == 1


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (", models: [SALES]", ["sales"]),
        (', models: ["v*"]', ["visits"]),
        (", tags: [finance]", ["sales"]),
        (", owners: [bob], tags: finance", ["sales", "visits"]),
        (", models: [nothing]", []),
        (", environments: [dev]", []),
    ],
)
def test_models_tags_owners_and_environments_choose(shop, receiver, more, told):
    configure(shop, receiver, more)
    shop.ok("restate")
    assert sorted(change["model"] for message in receiver.delivered for change in message["changes"]) == told


def test_a_failed_message_is_sent_again_with_growing_waits_and_kept_when_given_up(shop, receiver):
    configure(shop, receiver, ", attempts: 3")
    receiver.answers = [500, 503, 302]
    result = shop.ok("restate", "-s", "sales")
    assert "webhook 'desk' was not told: it answered 500 (attempt 1)" in result.stderr
    (notice,) = undelivered(shop)
    assert (notice["state"], notice["attempts"], notice["last_error"]) == ("pending", 1, "it answered 500")

    shop.ok("run", env=later(0))
    assert len(receiver.messages) == 1  # its time has not come
    shop.ok("run", env=later(1))
    shop.ok("run", env=later(1.5))
    assert len(receiver.messages) == 2
    result = shop.ok("run", env=later(3))
    assert "given up" in result.stderr
    (notice,) = undelivered(shop)
    assert (notice["state"], notice["attempts"], notice["next_try_at"]) == ("dead", 3, None)
    shop.ok("run", env=later(600))
    assert [status for status, *_ in receiver.messages] == [500, 503, 302]
    ids = {headers["X-Interlace-Delivery"] for _, _, headers, _ in receiver.messages}
    assert ids == {notice["id"]}

    assert shop.json("changes", "--redeliver", notice["id"]) == []
    assert receiver.delivered[0]["id"] == notice["id"]
    assert shop.fails("changes", "--redeliver", notice["id"]).stderr.startswith("error: no undelivered message")
    assert shop.json("changes", "--redeliver", "all") == []
    assert len(receiver.delivered) == 1


def test_a_receiver_that_is_down_or_slow_fails_no_command(shop, receiver):
    receiver.may_answer.clear()  # for as long as the commands work
    shop.ok("restate", "-s", "sales")
    shop.ok("restate", "-s", "visits", "--lock-timeout", "0")
    receiver.may_answer.set()
    receiver.close()
    result = shop.ok("restate", "-s", "sales")
    assert "was not told" in result.stderr
    assert len(undelivered(shop)) == 3
    assert len(shop.json("changes")) == 3


@pytest.mark.parametrize(
    ("hook", "received"),
    [
        ("state.intent_commit=kill", 0),
        ("state.intent_committed=kill", 0),
        ("notify.taken=kill", 0),
        ("notify.sent=kill", 1),
    ],
)
def test_a_kill_between_commit_and_delivery_loses_and_doubles_nothing(shop, receiver, hook, received):
    assert shop.run("restate", "-s", "sales", env={"INTERLACE_HOOK": hook}).code == -9
    assert len(receiver.messages) == received
    shop.ok("run", "-s", "visits", env=later(1))
    assert len({message["id"] for message in receiver.delivered}) == 1
    assert len(receiver.delivered) == received + 1
    assert [change["model"] for change in receiver.delivered[-1]["changes"]] == ["sales"]
    assert len(shop.json("changes")) == 1


def test_secrets_are_never_shown(shop, receiver):
    receiver.answers = [500] * 9
    texts = [shop.ok("restate", "-s", "sales", "--verbose", "--verbose")]
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        config = CONFIG.format(port=closed.getsockname()[1], path=PATH, more="")
    shop.write({"interlace.yaml": config})
    texts.append(shop.ok("restate", "-s", "sales", "--json"))
    texts.append(shop.ok("changes", "--undelivered", "--json"))
    texts.append(shop.run("doctor", "--json"))
    texts.append(shop.ok("restate", "-s", "sales", env={"DESK_SECRET": None}))
    assert "${DESK_SECRET} is not set" in texts[-1].stderr
    for result in texts:
        assert SECRET not in result.stdout + result.stderr
        assert PATH not in result.stdout + result.stderr
    assert SECRET.encode() not in (shop.root / ".interlace/state.db").read_bytes()


@pytest.mark.parametrize(
    ("config", "what"),
    [
        ('{url: "ftp://h/", secret: s}', "notify.desk: 'url' is no http:// or https:// address"),
        ("{secret: s}", "url"),
        ('{url: "http://h/"}', "secret"),
        ('{url: "http://h/", secret: ""}', "'secret' is empty"),
        ('{url: "http://h/", secret: s, attempts: 0}', "attempts"),
        ('{url: "http://h/", secret: s, tag: [x]}', "tags"),
    ],
)
def test_a_wrong_webhook_is_refused_with_its_place(shop, config, what):
    shop.write({"interlace.yaml": f"name: shop\nnotify:\n  desk: {config}\n"})
    result = shop.fails("plan")
    assert what in result.stderr
    assert "interlace.yaml:3" in result.stderr
