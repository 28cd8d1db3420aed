"""A process-local endpoint that speaks the image API and misbehaves by a script, prompt by
prompt."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

from tests.bundles import picture

FAULTS: dict[str, tuple[int, dict[str, Any]]] = {
    "busy": (429, {"message": "Slow down."}),
    "broken": (500, {"message": "Oh no."}),
    "blocked": (400, {"message": "Rejected by our safety system.", "code": "moderation_blocked"}),
    "wrong": (400, {"message": "No such size.", "code": "invalid_value"}),
    "key": (401, {"message": "Wrong key sk-very-secret."}),
}


@dataclass
class ImageServer:
    """What it does: `faults` maps a prompt to the names of faults that its calls meet in turn; "!"
    is for ever."""

    url: str = ""
    faults: dict[str, list[str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    """The Idempotency-Key of each call."""
    by_url: str = ""
    """Where pictures are served from instead of standing in the answer."""
    lock: Lock = field(default_factory=Lock)

    def answer(self, prompt: str) -> tuple[int, dict[str, Any]]:
        """One call's status and body."""
        with self.lock:
            self.asked.append(prompt)
            waiting = self.faults.get(prompt, [])
            fault = (waiting[0] if waiting[0].endswith("!") else waiting.pop(0)) if waiting else ""
        if fault:
            status, error = FAULTS[fault.rstrip("!")]
            return status, {"error": error}
        if self.by_url:
            return 200, {"created": 0, "data": [{"url": f"{self.by_url}/{len(prompt)}.png"}]}
        data = base64.b64encode(picture(sum(prompt.encode()) % 1000)).decode()
        return 200, {"created": 0, "data": [{"b64_json": data}]}


@contextmanager
def serve() -> Iterator[ImageServer]:
    """Listen on a free port of this machine."""
    server = ImageServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.keys.append(self.headers.get("Idempotency-Key", ""))
            status, body = server.answer(asked["prompt"])
            data = json.dumps(body).encode()
            self.send_response(status)
            for name, value in (("Content-Type", "application/json"), ("Retry-After", "0.01")):
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            data = picture(7)
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.url = f"http://127.0.0.1:{http.server_port}/v1"
    thread = Thread(target=http.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()
