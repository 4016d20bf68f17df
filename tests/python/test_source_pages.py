"""Walks over the pages of an API, to their end and no further."""

import pytest
from interlace.exceptions import ExecutionError
from interlace.sources import Cursor, HTTPStatusError, LinkHeader, NextUrl, Offset, PageNumber, Paginator, RestClient


def numbered(rows, size_max, default=10, param="page", size_param="per_page"):
    """A server of pages whose size is at most `size_max`."""

    def answer(seen):
        size = min(int(seen.params.get(size_param, default)), size_max)
        start = (int(seen.params.get(param, 1)) - 1) * size if param == "page" else int(seen.params.get(param, 0))
        return list(range(rows))[start : start + size]

    return answer


@pytest.mark.parametrize("rows", [0, 1, 29, 30, 31, 60, 99, 100, 101, 250])
@pytest.mark.parametrize("size_max", [30, 1000])
def test_10_6_all_rows_come_whatever_size_the_server_allows(server, rows, size_max):
    server.answer = numbered(rows, size_max)
    with RestClient(server.url) as api:
        assert list(api.records("x", paginator=PageNumber(size=100))) == list(range(rows))
        assert server.seen[0].params == {"page": "1", "per_page": "100"}
        server.seen.clear()
        server.answer = numbered(rows, size_max, param="offset", size_param="limit")
        assert list(api.records("x", paginator=Offset())) == list(range(rows))
        assert server.seen[0].params == {"offset": "0", "limit": "100"}


def test_a_short_page_ends_the_walk(server):
    server.answer = numbered(250, 1000)
    with RestClient(server.url) as api:
        assert [len(page) for page in api.paginate("x", paginator=PageNumber(size=100))] == [100, 100, 50]
    assert len(server.seen) == 3


@pytest.mark.parametrize("beyond", [(404, {}, {}), (422, {}, {}), [0, 1, 2]], ids=str)
def test_a_server_without_further_pages_may_say_so_in_its_own_way(server, beyond):
    server.answer = lambda seen: [0, 1, 2] if seen.params["page"] == "1" else beyond
    with RestClient(server.url) as api:
        assert list(api.records("x", paginator=PageNumber())) == [0, 1, 2]


def test_a_page_in_the_middle_that_fails_is_no_end(server):
    server.answer = lambda seen: list(range(100)) if seen.params["page"] == "1" else (404, {}, {})
    with RestClient(server.url) as api, pytest.raises(HTTPStatusError):
        list(api.records("x", paginator=PageNumber()))


def test_cursors_lead_on_until_there_is_none(server):
    pages = {None: ([1, 2], "b"), "b": ([], "c"), "c": ([3], "")}

    def answer(seen):
        rows, following = pages[seen.params.get("after")]
        return {"data": {"items": rows}, "meta": {"next": following}}

    server.answer = answer
    with RestClient(server.url) as api:
        walk = api.paginate("x", {"q": 1}, Cursor("after", "meta.next"), data_key="data.items")
        assert list(walk) == [[1, 2], [], [3]]
    assert [seen.params.get("after") for seen in server.seen] == [None, "b", "c"]
    assert all(seen.params["q"] == "1" for seen in server.seen)


def test_10_6_a_cursor_that_repeats_is_an_error(server):
    server.answer = lambda seen: {"data": [1], "next_cursor": "same"}
    with RestClient(server.url) as api, pytest.raises(ExecutionError, match="a next page that was read already"):
        list(api.records("x", paginator=Cursor(), data_key="data"))
    assert len(server.seen) == 2


def test_links_and_addresses_lead_on(server):
    def answer(seen):
        number = int(seen.params.get("p", 1))
        link = f'<{server.url}/x?p=0>; rel="prev", </x?p={number + 1}>; title="a, b"; rel="last next"'
        return (
            200,
            {"Link": link} if number < 3 else {},
            {"rows": [number], "next": f"/x?p={number + 1}" if number < 3 else None},
        )

    server.answer = answer
    for paginator in (LinkHeader(), NextUrl("next")):
        server.seen.clear()
        with RestClient(server.url) as api:
            assert list(api.records("x", {"a": 1}, paginator, data_key="rows")) == [1, 2, 3]
        assert [seen.params for seen in server.seen] == [{"a": "1"}, {"p": "2"}, {"p": "3"}]


def test_a_walk_holds_one_page_and_may_be_left(server):
    server.answer = numbered(1000, 10)
    with RestClient(server.url) as api:
        assert next(api.records("x", paginator=PageNumber(size=10))) == 0
        assert len(server.seen) == 1
        assert len(list(api.paginate("x", paginator=PageNumber(size=10), max_pages=3))) == 3
        assert len(server.seen) == 4


def test_a_paginator_of_ones_own(server):
    class Backwards(Paginator):
        def next(self, response, body, records, url, params):
            assert response.status_code == 200 and records == body
            return (url, {"p": records[0] - 1}) if records[0] else None

    server.answer = lambda seen: [int(seen.params["p"])]
    with RestClient(server.url) as api:
        assert list(api.records("x", {"p": 2}, Backwards())) == [2, 1, 0]


@pytest.mark.parametrize(
    "body, data_key, message",
    [
        ({"rows": []}, None, "the answer is a dict, not a list; name its list with data_key"),
        ({"rows": []}, "row", "no list at data_key 'row' of the answer; it has rows"),
        ({"rows": {}}, "rows", "no list at data_key 'rows'"),
        (b"<html>", None, "the answer is no JSON"),
    ],
)
def test_an_answer_without_a_list_is_refused(server, body, data_key, message):
    server.answer = lambda seen: body
    with RestClient(server.url) as api, pytest.raises(ValueError, match=message):
        list(api.records("x", data_key=data_key))
