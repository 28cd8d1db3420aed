"""A proxy before an HTTP server that spoils the answers it is told to spoil."""

from __future__ import annotations

import http.client
import socket
import struct
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


class Fault(Enum):
    """What happens to one answer."""

    NONE = "none"
    BUSY = "503 in place of the answer"
    RESET = "the connection is reset"
    LOST = "the request is carried out, but its answer is lost"
    HALF = "the body stops halfway"
    FLIPPED = "one bit of the body is wrong"


@contextmanager
def flaky(endpoint: str, faults: Iterable[Fault]) -> Iterator[str]:
    """Give the address of a proxy that spends one fault on each request, and passes the rest
    unspoilt."""
    target, coming, lock = urlsplit(endpoint).netloc, iter(faults), threading.Lock()

    class Proxy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def pass_on(self) -> None:
            with lock:
                fault = next(coming, Fault.NONE)
            _answer(self, fault, target)

        do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = pass_on

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def _answer(request: BaseHTTPRequestHandler, fault: Fault, target: str) -> None:
    sent = request.rfile.read(int(request.headers.get("Content-Length", 0)))
    if fault is Fault.RESET:
        _reset(request)
        return
    if fault is Fault.BUSY:
        request.send_response(503)
        request.send_header("Content-Length", "0")
        request.end_headers()
        return
    # The host stays as the client wrote it, for its signature covers it.
    headers = {name: value for name, value in request.headers.items() if name.lower() != "expect"}
    connection = http.client.HTTPConnection(target, timeout=60)
    connection.request(request.command, request.path, sent, headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    if fault is Fault.LOST:
        _reset(request)
        return
    request.send_response(answer.status)
    for name, value in answer.getheaders():
        if name.lower() not in {"transfer-encoding", "connection", "content-length"}:
            request.send_header(name, value)
    request.send_header("Content-Length", answer.getheader("Content-Length") or str(len(body)))
    request.end_headers()
    _send_body(request, fault, body)


def _send_body(request: BaseHTTPRequestHandler, fault: Fault, body: bytes) -> None:
    if fault is Fault.FLIPPED and body:
        body = body[:-1] + bytes([body[-1] ^ 1])
    if fault is Fault.HALF:
        body = body[: len(body) // 2]
        request.close_connection = True
    request.wfile.write(body)


def _reset(request: BaseHTTPRequestHandler) -> None:
    request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    request.close_connection = True
