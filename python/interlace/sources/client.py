"""RestClient: requests with retries, a rate limit, and pages.

Credentials stay with the API's own origin: to another scheme, host or port (a next page, a redirect) go neither the
client's headers and parameters nor what `auth` adds, unless its host is in `allow_hosts`.
"""

import copy
import email.utils
import json as json_module
import random
import threading
import time
import urllib.parse

from interlace.exceptions import ExecutionError
from interlace.sources.auth import NoAuth
from interlace.sources.paginators import SinglePage, select
from interlace.sources.transport import (
    ConnectError,
    HTTPStatusError,
    Request,
    TransportError,
    open_transport,
    status_error,
)

_REDIRECTS = (301, 302, 303, 307, 308)
_REDIRECTS_MAX = 10
_BACK_OFF_MAX_S = 30.0
_RETRY_AFTER_MAX_S = 300.0
_SIZE_MAX = 256 << 20
_REPEATABLE = frozenset(("GET", "HEAD", "OPTIONS", "PUT", "DELETE"))
_NO_SUCH_PAGE = (400, 404, 416, 422)


class RestClient:
    """A client of one API; to be used as a context, or closed. May be shared by threads.

    `rate_limit` is in requests per second, `timeout` in seconds for each step of a request, `deadline` in seconds for a
    request with all its retries. `verify=False` turns the verification of certificates off.
    """

    def __init__(
        self,
        base_url,
        *,
        auth=None,
        headers=None,
        params=None,
        rate_limit=None,
        timeout=30.0,
        max_retries=4,
        user_agent="interlace-source/2",
        transport=None,
        deadline=None,
        retry_unsafe=False,
        allow_hosts=(),
        verify=True,
    ):
        self.base_url = base_url
        self.auth = auth or NoAuth()
        self.headers = dict(headers or {})
        self.params = dict(params or {})
        self.max_retries = max_retries
        self.user_agent = user_agent
        self.deadline = deadline
        self.retry_unsafe = retry_unsafe
        self.allow_hosts = frozenset(allow_hosts)
        self._origin = _origin_of(base_url)
        self._rate = _Rate(rate_limit)
        self._transport = open_transport(timeout, verify, transport)

    @classmethod
    def from_connection(cls, name, **options):
        """A client of the `http` connection called `name`: only while a model runs."""
        from interlace.connections import connection

        found = connection(name)
        if found.type != "http":
            raise ValueError(f"connection '{name}' is of type {found.type}, not http")
        return cls(found.base_url, headers={**found.headers, **options.pop("headers", {})}, **options)

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.close()

    def close(self):
        """Gives the connections back."""
        self._transport.close()

    # ---- One request

    def request(self, method, url, params=None, json=None, form=None):
        """The answer, after redirects and retries. A status from 400 on raises HTTPStatusError."""
        method = method.upper()
        url = self._absolute(url)
        content, content_type = _body_of(json, form)
        for _ in range(_REDIRECTS_MAX + 1):
            response = self._with_retries(method, url, dict(params or {}), content, content_type)
            location = response.headers.get("Location") if response.status_code in _REDIRECTS else None
            if location is None:
                return response
            url, params = urllib.parse.urljoin(str(response.url), location), None
            if response.status_code == 303 or (response.status_code in (301, 302) and method == "POST"):
                method, content, content_type = "GET", None, None
        raise ExecutionError(f"{_shown(url)}: more than {_REDIRECTS_MAX} redirects")

    def get_json(self, url, params=None):
        """The JSON that a GET gives."""
        return _json_of(self.request("GET", url, params))

    def _with_retries(self, method, url, params, content, content_type):
        started = time.monotonic()
        may_refresh = True
        attempt = 0
        while True:
            self._rate.wait()
            failure, wait_s = self._try(method, url, params, content, content_type)
            if failure is None:
                return wait_s
            is_unauthorized = isinstance(failure, HTTPStatusError) and failure.response.status_code == 401
            if is_unauthorized and may_refresh and self.auth.refresh():
                may_refresh = False
                continue
            if attempt >= self.max_retries or not self._may_repeat(method, failure):
                raise failure
            wait_s = _back_off(attempt) if wait_s is None else wait_s
            if self.deadline is not None and time.monotonic() - started + wait_s > self.deadline:
                raise failure
            time.sleep(wait_s)
            attempt += 1

    def _try(self, method, url, params, content, content_type):
        """(None, response), or (failure, seconds that the server wants us to wait or None)."""
        try:
            response = self._transport.send(self._built(method, url, params, content, content_type), _SIZE_MAX)
        except TransportError as failure:
            return failure, None
        if response.status_code < 400:
            return None, response
        return status_error(response), _retry_after(response)

    def _may_repeat(self, method, failure):
        if isinstance(failure, HTTPStatusError):
            status = failure.response.status_code
            if status != 429 and status < 500:
                return False
        return method in _REPEATABLE or self.retry_unsafe or isinstance(failure, ConnectError)

    def _built(self, method, url, params, content, content_type):
        headers = {"User-Agent": self.user_agent, "Accept": "application/json"}
        if content_type is not None:
            headers["Content-Type"] = content_type
        if self._is_trusted(url):
            headers.update(self.headers)
            params = {**self.params, **params}
            self.auth.apply(headers, params)
        return Request(method, _with_params(url, params), _each_once(headers), content)

    def _is_trusted(self, url):
        return _origin_of(url) == self._origin or urllib.parse.urlsplit(url).hostname in self.allow_hosts

    def _absolute(self, url):
        if urllib.parse.urlsplit(url).scheme:
            return url
        return f"{self.base_url.rstrip('/')}/{url.lstrip('/')}" if url else self.base_url

    # ---- Pages

    def paginate(self, url, params=None, paginator=None, data_key=None, max_pages=None):
        """The pages as lists, one held at a time. `data_key` is the dotted path of the list in the answer."""
        paginator = copy.copy(paginator or SinglePage())
        step = paginator.first(self._absolute(url), dict(params or {}))
        asked, body, count = set(), None, 0
        while step is not None and count != max_pages:
            _refuse_circle(asked, *step)
            response, last_body = self._page(paginator, *step), body
            if response is None:
                return
            body = _json_of(response)
            if paginator.is_probing and body == last_body:
                return
            records = _records_of(body, data_key, response)
            yield records
            count += 1
            step = paginator.next(response, body, records, *step)

    def records(self, url, params=None, paginator=None, data_key=None, max_pages=None):
        """The records of all pages, one by one."""
        for page in self.paginate(url, params, paginator, data_key, max_pages):
            yield from page

    def _page(self, paginator, url, params):
        """None: there is no such page, which was only guessed at."""
        try:
            return self.request("GET", url, params)
        except HTTPStatusError as failure:
            if paginator.is_probing and failure.response.status_code in _NO_SUCH_PAGE:
                return None
            raise


class _Rate:
    """At most so many requests a second, by all threads together; the first ones of a second may come at once."""

    def __init__(self, per_second):
        if per_second is not None and per_second <= 0:
            raise ValueError(f"rate_limit is {per_second}; wanted are requests per second, more than 0")
        self._lock = threading.Lock()
        self._per_second = per_second
        self._size = max(1.0, per_second or 1.0)
        self._tokens = self._size
        self._at = time.monotonic()

    def wait(self):
        if self._per_second is None:
            return
        with self._lock:
            now = time.monotonic()
            self._tokens = min(self._size, self._tokens + (now - self._at) * self._per_second) - 1
            self._at = now
            wait_s = max(0.0, -self._tokens / self._per_second)
        time.sleep(wait_s)


def _origin_of(url):
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{_shown(url)!r} is no http or https address")
    return parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)


def _shown(url):
    """Without its query, which may hold a key."""
    return url.partition("?")[0]


def _with_params(url, params):
    """The address with parameters; those that it has already stay as they are."""
    parts = urllib.parse.urlsplit(url)
    present = {name for name, _ in urllib.parse.parse_qsl(parts.query, keep_blank_values=True)}
    added = {name: _plain(value) for name, value in params.items() if value is not None and name not in present}
    query = "&".join(filter(None, (parts.query, urllib.parse.urlencode(added, doseq=True))))
    return urllib.parse.urlunsplit((parts.scheme, parts.netloc, parts.path, query, ""))


def _each_once(headers):
    """Names of headers have no case: of two that are one the later counts."""
    return dict({name.lower(): (name, value) for name, value in headers.items()}.values())


def _plain(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value.isoformat() if hasattr(value, "isoformat") else value


def _body_of(json, form):
    if json is not None:
        return json_module.dumps(json).encode(), "application/json"
    if form is not None:
        return urllib.parse.urlencode(form, doseq=True).encode(), "application/x-www-form-urlencoded"
    return None, None


def _json_of(response):
    try:
        return response.json()
    except ValueError as failure:
        raise ValueError(f"{_shown(str(response.url))}: the answer is no JSON: {failure}") from failure


def _records_of(body, data_key, response):
    records = body if data_key is None else select(body, data_key)
    if isinstance(records, list):
        return records
    where = _shown(str(response.url))
    if data_key is None:
        raise ValueError(f"{where}: the answer is a {type(body).__name__}, not a list; name its list with data_key")
    keys = f"; it has {', '.join(map(str, body))}" if isinstance(body, dict) else ""
    raise ValueError(f"{where}: there is no list at data_key '{data_key}' of the answer{keys}")


def _refuse_circle(asked, url, params):
    step = (url, json_module.dumps(params, sort_keys=True, default=str))
    if step in asked:
        raise ExecutionError(f"{_shown(url)}: the server names a next page that was read already", code="source.circle")
    asked.add(step)


def _back_off(attempt):
    return random.uniform(0, min(_BACK_OFF_MAX_S, 0.5 * 2**attempt))


def _retry_after(response):
    """Seconds, from a number or a date; None when the server does not say."""
    text = (response.headers.get("Retry-After") or "").strip()
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(text).timestamp() - time.time()
        except (TypeError, ValueError):
            return None
    return max(0.0, min(seconds, _RETRY_AFTER_MAX_S)) if seconds == seconds else None
