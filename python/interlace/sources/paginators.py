"""How one page leads to the next. A paginator is copied for each walk, so it may keep what it needs to remember."""

import re
import urllib.parse


class Paginator:
    """Base of all, also of your own: give `next`, and `first` when the first request needs parameters too."""

    # The page that comes may be none: a refusal of it, or the same page again, is the end and no fault.
    is_probing = False

    def first(self, url, params):
        """(url, params) of the first request."""
        return url, params

    def next(self, response, body, records, url, params):
        """(url, params) of the next request; None at the end."""
        raise NotImplementedError


class SinglePage(Paginator):
    """There is one page."""

    def next(self, response, body, records, url, params):
        return None


class _Counted(Paginator):
    """Pages of a size that is asked for. A page with fewer rows is the last one. When already the first is short, the
    server may cap the size instead; then the page after it tells."""

    _full = None  # rows of a full page, as the first one shows

    def _is_last(self, records, size):
        if not records:
            return True
        is_first = self._full is None
        if is_first:
            self._full = min(size, len(records))
        self.is_probing = is_first and len(records) < size
        return len(records) < self._full


class PageNumber(_Counted):
    """`?page=1&per_page=100`, then page 2, …"""

    def __init__(self, page_param="page", size_param="per_page", size=100, first_page=1):
        self.page_param = page_param
        self.size_param = size_param
        self.size = size
        self.first_page = first_page

    def first(self, url, params):
        size = {self.size_param: self.size} if self.size_param else {}
        return url, {self.page_param: self.first_page, **size, **params}

    def next(self, response, body, records, url, params):
        if self._is_last(records, self.size):
            return None
        return url, {**params, self.page_param: int(params[self.page_param]) + 1}


class Offset(_Counted):
    """`?offset=0&limit=100`, then from as many rows on as came."""

    def __init__(self, offset_param="offset", limit_param="limit", limit=100):
        self.offset_param = offset_param
        self.limit_param = limit_param
        self.limit = limit

    def first(self, url, params):
        return url, {self.offset_param: 0, self.limit_param: self.limit, **params}

    def next(self, response, body, records, url, params):
        if self._is_last(records, self.limit):
            return None
        return url, {**params, self.offset_param: int(params[self.offset_param]) + len(records)}


class Cursor(Paginator):
    """Each page holds, at the dotted path `next_selector`, the value of the parameter that asks for the next one."""

    def __init__(self, cursor_param="cursor", next_selector="next_cursor"):
        self.cursor_param = cursor_param
        self.next_selector = next_selector

    def next(self, response, body, records, url, params):
        value = select(body, self.next_selector)
        return (url, {**params, self.cursor_param: value}) if value not in (None, "", False) else None


class NextUrl(Paginator):
    """Each page holds the address of the next one at the dotted path `selector`."""

    def __init__(self, selector="next"):
        self.selector = selector

    def next(self, response, body, records, url, params):
        address = select(body, self.selector)
        return (urllib.parse.urljoin(str(response.url), address), {}) if address else None


class LinkHeader(Paginator):
    """The header `Link: <…>; rel="next"` names the next page."""

    def next(self, response, body, records, url, params):
        for address, attributes in re.findall(r"<([^>]*)>([^<]*)", response.headers.get("Link") or ""):
            if re.search(r"""\brel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next\b)""", attributes, re.IGNORECASE):
                return urllib.parse.urljoin(str(response.url), address), {}
        return None


def select(body, path):
    """The value at a dotted path; None when there is none."""
    for part in path.split("."):
        if isinstance(body, dict):
            body = body.get(part)
        elif isinstance(body, list) and part.isdigit() and int(part) < len(body):
            body = body[int(part)]
        else:
            return None
    return body
