"""A server of an HTTP API in this process."""

import contextlib
import http.server
import json
import threading
import time
import urllib.parse


class Seen:
    """One request as it arrived."""

    def __init__(self, handler, body):
        parts = urllib.parse.urlsplit(handler.path)
        self.method = handler.command
        self.path = parts.path
        self.params = dict(urllib.parse.parse_qsl(parts.query))
        self.headers = {name.lower(): value for name, value in handler.headers.items()}
        self.body = body
        self.at = time.monotonic()


class Server:
    """Answers each request with what `answer(seen)` gives: a body, or (status, headers, body)."""

    def __init__(self):
        self.seen = []
        self.answer = None
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                seen = Seen(self, body)
                owner.seen.append(seen)
                answer = owner.answer(seen)
                status, headers, content = answer if isinstance(answer, tuple) else (200, {}, answer)
                if status is None:  # hangs up
                    return
                content = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                with contextlib.suppress(OSError):
                    self.wfile.write(content)

            do_POST = do_PUT = do_DELETE = do_GET

            def log_message(self, *arguments):
                pass

        self.httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.httpd.server_address[1]}"
        self.thread = threading.Thread(target=self.httpd.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    def close(self):
        self.httpd.shutdown()
        self.httpd.server_close()
        self.thread.join()
