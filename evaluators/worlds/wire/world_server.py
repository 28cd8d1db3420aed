"""A world of ours behind a URL: the other end of `world_client`, on this machine only."""

from __future__ import annotations

import json
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any

from evaluators.contracts.world_model import (
    FORWARD,
    INPAINT,
    INVERSE,
    ForwardRequest,
    InpaintRequest,
    InverseRequest,
    World,
)
from evaluators.worlds.wire.arrays import pack, unpack

REQUESTS: dict[str, type[Any]] = {
    FORWARD: ForwardRequest,
    INVERSE: InverseRequest,
    INPAINT: InpaintRequest,
}


def serve_world(world: World, port: int = 0) -> ThreadingHTTPServer:
    """A server around a world; call its `serve_forever`. Batches are answered one after another."""
    lock = Lock()

    class WorldHandler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if self.path == "/card":
                self.reply(200, json.dumps(asdict(world.card)).encode(), "application/json")
            else:
                self.reply(404, b"Ask for /card.", "text/plain")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            try:
                with lock:
                    answers = answer(world, self.path.strip("/"), body)
            except Exception as error:  # whatever breaks in a world is told to who asked
                return self.reply(500, f"{type(error).__name__}: {error}".encode(), "text/plain")
            return self.reply(200, pack({"answers": answers}), "application/msgpack")

        def reply(self, status: int, body: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """A world server is quiet."""

    return ThreadingHTTPServer(("127.0.0.1", port), WorldHandler)


def answer(world: World, mode: str, body: bytes) -> list[Any]:
    """What a world answers to a message."""
    ask = getattr(world, mode) if mode in REQUESTS else None
    if ask is None:
        raise ValueError(f"This world has no {mode}.")
    requests = [REQUESTS[mode](**row) for row in unpack(body)["requests"]]
    return list(ask(requests))
