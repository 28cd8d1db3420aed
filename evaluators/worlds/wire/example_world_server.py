"""A world model behind a URL, with numpy and msgpack alone: copy this file, put your model into
`forward`, start it with `python example_world_server.py 8000` and give `--world` that address."""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

import msgpack
import numpy as np

CARD = {
    "name": "my world model",
    "revision": "the hash of its weights",
    "views": ["agent", "front", "wrist"],
    "height": 128,
    "width": 128,
    "context": 1,  # frames of the past that it wants to see
    "chunk": 24,  # frames ahead that it makes at a time, one an action
    "modes": ["forward"],
}


def forward(request: dict) -> np.ndarray:  # type: ignore[type-arg]
    """YOUR MODEL: `context` uint8 [views, T, H, W, 3], `actions` float32 [n, 7] and `instruction`
    in, uint8 [views, n, H, W, 3] out; chance only from `seed`. This one keeps the last frame."""
    return np.repeat(request["context"][:, -1:], len(request["actions"]), axis=1)


def to_map(array: np.ndarray) -> dict:  # type: ignore[type-arg]
    kind = {b"dtype": array.dtype.str, b"shape": list(array.shape)}
    return {b"__ndarray__": True, b"data": np.ascontiguousarray(array).tobytes(), **kind}


def from_map(entry: dict) -> object:  # type: ignore[type-arg]
    if b"__ndarray__" not in entry:
        return entry
    return np.frombuffer(entry[b"data"], entry[b"dtype"]).reshape(entry[b"shape"])


class ExampleWorld(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.reply(json.dumps(CARD).encode())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        requests = msgpack.unpackb(body, object_hook=from_map)["requests"]
        self.reply(msgpack.packb({"answers": [to_map(forward(request)) for request in requests]}))

    def reply(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    HTTPServer(("127.0.0.1", int(sys.argv[1])), ExampleWorld).serve_forever()
