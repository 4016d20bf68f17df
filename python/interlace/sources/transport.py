"""One HTTP request and its answer, without redirects, retries or credentials of its own.

With httpx installed an answer is an httpx.Response and a failure one of its exceptions, so that user code may catch
those. Without it the classes below have the same names and attributes.
"""

import io
import json

try:
    import httpx
except ImportError:
    httpx = None

_CHUNK = 1 << 18

if httpx is not None:
    HTTPStatusError, TransportError, ConnectError = httpx.HTTPStatusError, httpx.TransportError, httpx.ConnectError
else:

    class TransportError(Exception):
        """No answer was had: the network failed, or what came is no HTTP."""

        def __init__(self, message, *, request=None):
            super().__init__(message)
            self.request = request

    class ConnectError(TransportError):
        """The server was not reached: nothing was sent."""

    class HTTPStatusError(Exception):
        """The server refused: its answer has a status from 400 on."""

        def __init__(self, message, *, request, response):
            super().__init__(message)
            self.request = request
            self.response = response


class Request:
    """What is sent."""

    def __init__(self, method, url, headers, content=None):
        self.method = method
        self.url = url
        self.headers = headers
        self.content = content


class Headers(dict):
    """Headers by lower-case name."""

    def __init__(self, pairs):
        super().__init__((name.lower(), value) for name, value in pairs)

    def __getitem__(self, name):
        return super().__getitem__(name.lower())

    def get(self, name, default=None):
        return super().get(name.lower(), default)

    def __contains__(self, name):
        return super().__contains__(name.lower())


class Response:
    """What came back, whole."""

    def __init__(self, request, status_code, headers, content):
        self.request = request
        self.url = request.url
        self.status_code = status_code
        self.headers = Headers(headers)
        self.content = content

    @property
    def text(self):
        """The body as text."""
        return self.content.decode("utf-8", "replace")

    def json(self):
        """The body as JSON."""
        return json.loads(self.content)


def open_transport(timeout, verify, transport):
    """The transport to be used; `transport` is one of httpx, such as httpx.MockTransport."""
    if httpx is not None:
        return _Httpx(timeout, verify, transport)
    if transport is not None:
        raise ValueError("`transport` is a transport of httpx, which is not installed")
    return _Standard(timeout, verify)


def status_error(response):
    """The exception for an answer from 400 on. The address is told without its query, which may hold a key."""
    where = str(response.url).partition("?")[0]
    message = f"{response.request.method} {where}: the server answered {response.status_code}"
    return HTTPStatusError(message, request=response.request, response=response)


class _Httpx:
    def __init__(self, timeout, verify, transport):
        self.client = httpx.Client(timeout=timeout, verify=verify, transport=transport, follow_redirects=False)

    def send(self, request, size_max):
        sent = self.client.build_request(request.method, request.url, headers=request.headers, content=request.content)
        response = self.client.send(sent, stream=True)
        try:
            content = _whole(response.iter_bytes(), size_max, request.url)
        finally:
            response.close()
        encoded = ("content-encoding", "content-length", "transfer-encoding")
        headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in encoded]
        return httpx.Response(response.status_code, headers=headers, content=content, request=sent)

    def close(self):
        self.client.close()


class _Standard:
    def __init__(self, timeout, verify):
        import ssl
        import urllib.request

        class NoRedirects(urllib.request.HTTPRedirectHandler):
            def redirect_request(self, *arguments):
                return None

        context = ssl.create_default_context()
        if not verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        self.timeout = timeout
        self.opener = urllib.request.build_opener(NoRedirects, urllib.request.HTTPSHandler(context=context))

    def send(self, request, size_max):
        import http.client
        import urllib.error
        import urllib.request

        sent = urllib.request.Request(request.url, request.content, request.headers, method=request.method)
        try:
            with self._open(sent) as answer:
                content = _whole(iter(lambda: answer.read(_CHUNK), b""), size_max, request.url)
                return Response(request, answer.status, answer.headers.items(), content)
        except urllib.error.URLError as failure:
            raise _failure_of(failure.reason, request) from failure
        except (OSError, http.client.HTTPException) as failure:
            raise TransportError(f"{type(failure).__name__}: {failure}", request=request) from failure

    def _open(self, sent):
        import urllib.error

        try:
            return self.opener.open(sent, timeout=self.timeout)
        except urllib.error.HTTPError as answer:  # any status that is no success
            return answer

    def close(self):
        pass


def _failure_of(reason, request):
    """Whether the server was reached is known of some reasons alone."""
    import socket

    is_unreached = isinstance(reason, (ConnectionRefusedError, socket.gaierror))
    return (ConnectError if is_unreached else TransportError)(str(reason), request=request)


def _whole(chunks, size_max, url):
    content = io.BytesIO()
    for chunk in chunks:
        content.write(chunk)
        if content.tell() > size_max:
            raise ValueError(
                f"{url.partition('?')[0]}: the answer is larger than {size_max >> 20} MiB; ask for smaller pages"
            )
    return content.getvalue()
