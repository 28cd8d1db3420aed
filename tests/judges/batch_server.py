"""An endpoint with files and batch jobs, in a thread: each job takes some looks to end, and its
calls end as a script says, by how often each was put in."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from evaluators.judges.http.judge import HttpJudgeConfig

ITEM = re.compile(r"item (\d+)")
Fate = Callable[[int, int], str]
"""What becomes of a call about an item the first, second … time: answered, error, missing, cut off
or nonsense."""


@dataclass
class BatchServer:
    """What the server knows; `looks` is how often a job is looked at before it has ended."""

    fate: Fate = lambda _item, _turn: "answered"
    looks: int = 2
    ends: str = "completed"
    takes_jobs: bool = True
    files: dict[str, str] = field(default_factory=dict)
    jobs: dict[str, dict[str, Any]] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)
    put_in: Counter[int] = field(default_factory=Counter)
    answered: Counter[int] = field(default_factory=Counter)
    live: Counter[int] = field(default_factory=Counter)
    limits: dict[int, list[int]] = field(default_factory=dict)
    port: int = 0

    def config(self, **fields: Any) -> HttpJudgeConfig:
        """Settings for it, quick to look."""
        quick = {"batch": True, "batch_poll": 0.01, "backoff": 0.01, "max_tokens": 100}
        address = f"http://127.0.0.1:{self.port}/v1"
        return HttpJudgeConfig(
            **{"base_url": address, "model": "m", "revision": "r1", **quick, **fields}
        )

    def create(self, asked: dict[str, Any]) -> dict[str, Any]:
        """A new job; its results are decided at once and shown at its end."""
        name = f"job-{len(self.jobs)}"
        results = [self._result(line) for line in self.files[asked["input_file_id"]].splitlines()]
        good = [line for line in results if line and "response" in line]
        bad = [line for line in results if line and "error" in line]
        self.files |= {f"{name}-out": _lines(good), f"{name}-err": _lines(bad)}
        self.jobs[name] = {
            **asked,
            "id": name,
            "object": "batch",
            "created_at": 0,
            "status": "in_progress",
        }
        return self.jobs[name]

    def look(self, name: str) -> dict[str, Any]:
        """A job as it stands now."""
        self.seen[name] += 1
        if self.seen[name] < self.looks:
            return self.jobs[name]
        done = {"status": self.ends, "output_file_id": f"{name}-out"}
        self.jobs[name] |= {**done, "error_file_id": f"{name}-err"}
        return self.jobs[name]

    def _result(self, line: str) -> dict[str, Any] | None:
        call = json.loads(line)
        item = item_of(call["body"])
        turn = self.put_in[item]
        self.put_in[item] += 1
        self.limits.setdefault(item, []).append(call["body"]["max_tokens"])
        fate = self.fate(item, turn)
        self.answered[item] += fate == "answered"
        if fate == "missing":
            return None
        if fate == "error":
            return {"custom_id": call["custom_id"], "error": {"message": "overloaded"}}
        body = completion(fate)
        return {"custom_id": call["custom_id"], "response": {"status_code": 200, "body": body}}


def completion(fate: str) -> dict[str, Any]:
    """A chat completion."""
    words = {"answered": '{"q1": "yes"}', "nonsense": "I think it may be yes."}.get(fate)
    choice = {
        "message": {"content": words},
        "finish_reason": "length" if fate == "cut off" else "stop",
    }
    return {"choices": [choice], "usage": {"prompt_tokens": 100, "completion_tokens": 20}}


def item_of(body: dict[str, Any]) -> int:
    """Which item a call is about."""
    found = ITEM.search(json.dumps(body["messages"]))
    return int(found[1]) if found else 0


def _lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@contextmanager
def batch_serving(server: BatchServer) -> Iterator[BatchServer]:
    """Serve on a free port until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0].removeprefix("/v1")
            if not server.takes_jobs:
                self._send({"error": {"message": "no such page"}}, 404)
            elif path == "/batches":
                self._send({"object": "list", "data": list(server.jobs.values())})
            elif path.startswith("/batches/"):
                self._send(server.look(path.removeprefix("/batches/")))
            else:
                self._send(server.files[path.split("/")[2]])

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.path == "/v1/chat/completions":
                call = json.loads(body)
                server.live[item_of(call)] += 1
                self._send(completion("answered"))
            elif self.path == "/v1/files":
                name = f"file-{len(server.files)}"
                server.files[name] = body.split(b"\r\n\r\n")[-1].rpartition(b"\r\n--")[0].decode()
                if not server.files[name].startswith("{"):
                    parts = [part for part in body.split(b"\r\n\r\n") if part.startswith(b"{")]
                    server.files[name] = parts[0].partition(b"\r\n--")[0].decode()
                facts = {"object": "file", "bytes": 1, "created_at": 0, "filename": "calls.jsonl"}
                self._send({"id": name, "purpose": "batch", "status": "processed", **facts})
            else:
                self._send(server.create(json.loads(body)))

        def _send(self, page: Any, status: int = 200) -> None:
            text = page if isinstance(page, str) else json.dumps(page)
            self.send_response(status)
            self.send_header(
                "content-type", "text/plain" if isinstance(page, str) else "application/json"
            )
            self.send_header("content-length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.port = listening.server_address[1]
    thread = Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()
