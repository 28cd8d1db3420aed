"""A hub of models on this machine: as much of the protocol as fetching one commit takes."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit


@dataclass
class HubServer:
    """A running hub with one model at one commit; `asked` is every path it was asked for, and
    `tokens` what came along.

    A `commit` of its own makes the revision the name of a branch.
    """

    model: str
    revision: str
    files: Mapping[str, bytes]
    endpoint: str = ""
    asked: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    failing: bool = False
    commit: str = ""


@contextmanager
def serve(model: str, revision: str, files: Mapping[str, bytes]) -> Iterator[HubServer]:
    """Serve the files of a model."""
    hub = HubServer(model, revision, files)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            _answer(self, hub)

        do_HEAD = do_GET

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    hub.endpoint = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()


def _answer(request: BaseHTTPRequestHandler, hub: HubServer) -> None:
    path = unquote(urlsplit(request.path).path)
    hub.asked.append(path)
    hub.tokens += request.headers.get_all("Authorization") or []
    tree, resolve = (
        f"/api/models/{hub.model}/tree/{hub.revision}",
        f"/{hub.model}/resolve/{hub.revision}/",
    )
    if hub.failing:
        _send(request, 503, b"{}", {})
    elif path == f"/api/models/{hub.model}/revision/{hub.revision}":
        known = {"id": hub.model, "sha": hub.commit or hub.revision}
        _send(request, 200, json.dumps(known).encode(), {"Content-Type": "application/json"})
    elif path == tree:
        listed = [
            {"type": "file", "path": name, "size": len(data), "oid": _oid(data)}
            for name, data in hub.files.items()
        ]
        _send(request, 200, json.dumps(listed).encode(), {"Content-Type": "application/json"})
    elif path.startswith(resolve) and path.removeprefix(resolve) in hub.files:
        data = hub.files[path.removeprefix(resolve)]
        _send(request, 200, data, {"ETag": f'"{_oid(data)}"', "X-Repo-Commit": hub.revision})
    else:
        kind = "RevisionNotFound" if hub.model in path else "RepoNotFound"
        _send(request, 404, b'{"error":"not found"}', {"X-Error-Code": kind})


def _oid(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def _send(
    request: BaseHTTPRequestHandler, status: int, body: bytes, headers: Mapping[str, str]
) -> None:
    request.send_response(status)
    for name, value in {**headers, "Content-Length": str(len(body))}.items():
        request.send_header(name, value)
    request.end_headers()
    if request.command != "HEAD":
        request.wfile.write(body)
