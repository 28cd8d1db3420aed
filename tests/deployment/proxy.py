"""A small proxy before replicas, as an ingress is: each request to the next of them, or each reader
to the same one by a cookie."""

from __future__ import annotations

import http.client
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from threading import Thread
from typing import Any

COOKIE = "replica"
OF_THE_LINE = {"connection", "transfer-encoding", "keep-alive", "content-length"}


@contextmanager
def proxy(ports: Sequence[int], sticky: bool = False) -> Iterator[int]:
    """The port of a proxy before these."""
    turns = count()

    class Forward(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def forward(self) -> None:
            chosen = self.chosen()
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            line = http.client.HTTPConnection("127.0.0.1", ports[chosen], timeout=120)
            line.request(self.command, self.path, body or None, dict(self.headers))
            answer = line.getresponse()
            data = answer.read()
            self.send_response_only(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in OF_THE_LINE:
                    self.send_header(name, value)
            if sticky:
                self.send_header("Set-Cookie", f"{COOKIE}={chosen}; Path=/")
            self.send_header("X-Replica", str(chosen))
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)
            line.close()

        def chosen(self) -> int:
            told = self.headers.get("Cookie", "").partition(f"{COOKIE}=")[2][:1]
            return int(told) if sticky and told.isdigit() else next(turns) % len(ports)

        do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = forward

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Forward)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
