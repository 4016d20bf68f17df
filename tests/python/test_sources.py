"""The REST client against a server in this process: pages, retries, credentials that stay at home."""

import email.utils
import json
import threading
import time
import urllib.parse

import pytest
from api_server import Server
from interlace import connections
from interlace.exceptions import ConfigurationError, ExecutionError
from interlace.sources import (
    ApiKeyAuth,
    BasicAuth,
    BearerAuth,
    HTTPStatusError,
    LinkHeader,
    NoAuth,
    OAuth2ClientCredentials,
    RestClient,
    TransportError,
    client,
)


@pytest.fixture
def naps(monkeypatch):
    """The seconds that were slept, in place of sleeping."""
    slept = []
    monkeypatch.setattr(client.time, "sleep", lambda seconds: slept.append(seconds) if seconds else None)
    return slept


def in_turn(*answers):
    left = list(answers)
    return lambda seen: left.pop(0) if len(left) > 1 else left[0]


# --- One request


def test_a_request_has_address_parameters_headers_and_body(server):
    server.answer = lambda seen: {"ok": True}
    with RestClient(server.url + "/v1/", headers={"X-A": "1"}, params={"all": True}, user_agent="me") as api:
        assert api.get_json("orders", params={"since": None, "ids": [1, 2]}) == {"ok": True}
        assert api.request("post", "/orders?x=1", json={"a": "ü"}).status_code == 200
    first, second = server.seen
    assert (first.method, first.path, first.params) == ("GET", "/v1/orders", {"all": "true", "ids": "2"})
    assert (first.headers["x-a"], first.headers["user-agent"]) == ("1", "me")
    assert (second.method, second.path, second.params) == ("POST", "/v1/orders", {"x": "1", "all": "true"})
    assert json.loads(second.body) == {"a": "ü"}
    assert second.headers["content-type"] == "application/json"


def test_names_of_headers_have_no_case(server):
    server.answer = lambda seen: []
    with RestClient(server.url, headers={"accept": "text/csv", "authorization": "old"}, auth=BearerAuth("t")) as api:
        api.get_json("x")
    assert server.seen[0].headers["accept"] == "text/csv"
    assert server.seen[0].headers["authorization"] == "Bearer t"


def test_what_is_no_address_is_refused(server):
    for url in ("file:///etc/passwd", "api.example.com", "ftp://host/x"):
        with pytest.raises(ValueError, match="no http or https address"):
            RestClient(url)
    with RestClient(server.url) as api, pytest.raises(ValueError, match="no http or https address"):
        api.get_json("file:///etc/passwd")


@pytest.mark.parametrize(
    "auth, headers, params",
    [
        (NoAuth(), {}, {}),
        (BearerAuth("t"), {"authorization": "Bearer t"}, {}),
        (BearerAuth(env="TEST_API"), {"authorization": "Bearer from-env"}, {}),
        (ApiKeyAuth("k"), {"x-api-key": "k"}, {}),
        (ApiKeyAuth(env="TEST_API", header="Authorization", scheme="Token"), {"authorization": "Token from-env"}, {}),
        (ApiKeyAuth("k", param="api_key"), {}, {"api_key": "k"}),
        (BasicAuth("u", "p"), {"authorization": "Basic dTpw"}, {}),
        (BasicAuth("u", env_password="TEST_API"), {"authorization": "Basic dTpmcm9tLWVudg=="}, {}),
    ],
)
def test_credentials_are_added(server, monkeypatch, auth, headers, params):
    monkeypatch.setenv("TEST_API", "from-env")
    server.answer = lambda seen: []
    with RestClient(server.url, auth=auth) as api:
        api.get_json("x")
    sent = {name: value for name, value in server.seen[0].headers.items() if name in ("authorization", "x-api-key")}
    assert (sent, server.seen[0].params) == (headers, params)


def test_a_variable_that_is_not_set_is_named_at_the_request(server, monkeypatch):
    monkeypatch.delenv("TEST_API", raising=False)
    with RestClient(server.url, auth=BearerAuth(env="TEST_API")) as api:
        with pytest.raises(ValueError, match="environment variable TEST_API is not set"):
            api.get_json("x")
    with pytest.raises(ValueError, match="give the token itself, or the environment variable"):
        BearerAuth()


def test_a_token_is_fetched_once_and_again_when_it_is_refused(server):
    tokens = []

    def answer(seen):
        if seen.path == "/token":
            tokens.append(f"t{len(tokens)}")
            assert dict(urllib.parse.parse_qsl(seen.body.decode())) == {
                "grant_type": "client_credentials",
                "scope": "s",
            }
            return {"access_token": tokens[-1], "expires_in": 3600}
        return [1] if seen.headers["authorization"] == "Bearer t1" else (401, {}, {})

    server.answer = answer
    auth = OAuth2ClientCredentials(server.url + "/token", "id", "secret", scope="s")
    with RestClient(server.url, auth=auth) as api:
        assert api.get_json("a") == api.get_json("b") == [1]
    assert [seen.path for seen in server.seen] == ["/token", "/a", "/token", "/a", "/b"]
    assert server.seen[0].headers["authorization"] == "Basic aWQ6c2VjcmV0"


def test_a_connection_makes_a_client(server):
    server.answer = lambda seen: []
    declared = {
        "api": {"type": "http", "base_url": server.url, "headers": {"X-Key": "k"}},
        "pg": {"type": "postgres", "dsn": "host=h"},
    }
    with connections.available(declared):
        with RestClient.from_connection("api", params={"a": 1}) as api:
            api.get_json("x")
        with pytest.raises(ValueError, match="of type postgres, not http"):
            RestClient.from_connection("pg")
        with pytest.raises(ConfigurationError, match="declared under connections: api, pg"):
            RestClient.from_connection("crm")
    assert (server.seen[0].headers["x-key"], server.seen[0].params) == ("k", {"a": "1"})
    with pytest.raises(ConfigurationError, match="only while a model runs"):
        RestClient.from_connection("api")


# --- Retries


def test_10_6_retry_after_is_waited_for(server):
    server.answer = in_turn((429, {"Retry-After": "2"}, {}), [1])
    with RestClient(server.url) as api:
        assert api.get_json("x") == [1]
    assert server.seen[1].at - server.seen[0].at >= 1.9


@pytest.mark.parametrize(
    "header, low, high",
    [
        ("3", 3, 3),
        ("1000", 300, 300),
        ("-5", 0, 0),
        (+100, 60, 100),  # a date, so many seconds from now
        (-100, 0, 0),
        ("soon", 0, 0.5),
        ("nan", 0, 0.5),
    ],
)
def test_what_the_server_wants_us_to_wait(server, naps, header, low, high):
    if isinstance(header, int):
        header = email.utils.formatdate(time.time() + header, usegmt=True)
    server.answer = in_turn((503, {"Retry-After": header}, {}), [1])
    with RestClient(server.url) as api:
        assert api.get_json("x") == [1]
    assert low <= sum(naps) <= high


@pytest.mark.parametrize("failure", [(429, {}, {}), (500, {}, {}), (599, {}, {}), (None, {}, b"")], ids=str)
def test_faults_that_pass_are_tried_again_with_growing_pauses(server, naps, monkeypatch, failure):
    monkeypatch.setattr(client.random, "uniform", lambda low, high: high)
    server.answer = lambda seen: failure
    with RestClient(server.url) as api, pytest.raises((HTTPStatusError, TransportError)):
        api.get_json("x")
    assert len(server.seen) == 5
    assert naps == [0.5, 1.0, 2.0, 4.0]


def test_other_refusals_are_told_at_once(server, naps):
    server.answer = lambda seen: (404, {}, {"why": "no such thing"})
    with RestClient(server.url, auth=ApiKeyAuth("hush", param="key")) as api:
        with pytest.raises(HTTPStatusError) as caught:
            api.get_json("x")
    assert caught.value.response.status_code == 404
    assert caught.value.response.json() == {"why": "no such thing"}
    assert "/x" in str(caught.value) and "404" in str(caught.value)
    assert "hush" not in str(caught.value)
    assert (len(server.seen), naps) == (1, [])


def test_what_may_have_had_an_effect_is_not_repeated(server, naps):
    server.answer = lambda seen: (500, {}, {})
    with RestClient(server.url) as api, pytest.raises(HTTPStatusError):
        api.request("POST", "x", json={})
    assert len(server.seen) == 1
    server.seen.clear()
    with RestClient(server.url, retry_unsafe=True, max_retries=1) as api, pytest.raises(HTTPStatusError):
        api.request("POST", "x", json={})
    assert len(server.seen) == 2


def test_a_server_that_is_not_reached_is_tried_again_whatever_the_method(naps):
    closed = Server()
    closed.close()
    with RestClient(closed.url, max_retries=2) as api, pytest.raises(TransportError):
        api.request("POST", "x", json={})
    assert len(naps) == 2


def test_a_deadline_ends_the_retries(server, naps):
    server.answer = lambda seen: (503, {"Retry-After": "60"}, {})
    with RestClient(server.url, deadline=30) as api, pytest.raises(HTTPStatusError):
        api.get_json("x")
    assert (len(server.seen), naps) == (1, [])


def test_a_cut_answer_is_no_answer(server, naps):
    server.answer = lambda seen: (200, {"Content-Encoding": "identity", "Transfer-Encoding": "chunked"}, b"5\r\nhel")
    with RestClient(server.url, max_retries=0) as api, pytest.raises(TransportError):
        api.get_json("x")


def test_an_answer_beyond_the_cap_is_refused(server, monkeypatch):
    monkeypatch.setattr(client, "_SIZE_MAX", 1 << 20)
    server.answer = lambda seen: b"[" + b" " * (1 << 20) + b"]"
    with RestClient(server.url) as api, pytest.raises(ValueError, match="larger than 1 MiB"):
        api.get_json("x?key=hush")


def test_the_rate_is_kept_by_all_threads_together(server):
    server.answer = lambda seen: []
    with RestClient(server.url, rate_limit=10) as api:
        started = time.monotonic()
        threads = [threading.Thread(target=lambda: [api.get_json("x") for _ in range(8)]) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert time.monotonic() - started >= 0.55  # 10 at once, 6 more at 10 a second
    with pytest.raises(ValueError, match="rate_limit is 0"):
        RestClient(server.url, rate_limit=0)


# --- Credentials stay at home


def test_10_6_no_credential_goes_to_another_origin(server, other):
    server.answer = lambda seen: (200, {"Link": f'<{other.url}/p2>; rel="next"'}, [1])
    other.answer = lambda seen: [2]
    with RestClient(server.url, auth=BearerAuth("t"), headers={"X-Key": "k"}, params={"key": "q"}) as api:
        assert list(api.records("p1", paginator=LinkHeader())) == [1, 2]
    assert not {"authorization", "x-key"} & set(other.seen[0].headers)
    assert other.seen[0].params == {}
    assert server.seen[0].headers["authorization"] == "Bearer t"


@pytest.mark.parametrize("auth", [BearerAuth("t"), ApiKeyAuth("t"), ApiKeyAuth("t", param="key"), BasicAuth("t", "t")])
def test_redirects_are_followed_without_credentials_to_elsewhere(server, other, auth):
    server.answer = lambda seen: (302, {"Location": f"{other.url}/b?x=1"}, b"")
    other.answer = lambda seen: [1]
    with RestClient(server.url, auth=auth) as api:
        assert api.get_json("a") == [1]
    assert not {"authorization", "x-api-key"} & set(other.seen[0].headers)
    assert other.seen[0].params == {"x": "1"}


def test_redirects_at_home_and_to_allowed_hosts_keep_credentials(server, other):
    server.answer = lambda seen: (307, {"Location": "/b"}, b"") if seen.path == "/a" else [1]
    other.answer = lambda seen: []
    with RestClient(server.url, auth=BearerAuth("t"), allow_hosts=["127.0.0.1"]) as api:
        assert api.get_json("a") == [1]
        api.get_json(other.url + "/c")
    assert server.seen[1].headers["authorization"] == other.seen[0].headers["authorization"] == "Bearer t"


def test_redirects_without_end_are_refused(server):
    server.answer = lambda seen: (302, {"Location": "/a"}, b"")
    with RestClient(server.url) as api, pytest.raises(ExecutionError, match="more than 10 redirects"):
        api.get_json("a")
