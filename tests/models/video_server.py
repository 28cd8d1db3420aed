"""An endpoint that speaks two documented protocols of video jobs and misbehaves by a script, prompt
by prompt; it bills each job it begins, and knows a repeated purchase by its Idempotency-Key."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import av
import numpy as np

from evaluators.media import write_mp4

REFUSALS: dict[str, tuple[int, dict[str, Any]]] = {
    "busy": (429, {"message": "Rate limit reached.", "type": "rate_limit_exceeded"}),
    "broken": (500, {"message": "The server had an error.", "type": "server_error"}),
    "blocked": (400, {"message": "Your request was blocked.", "code": "moderation_blocked"}),
    "wrong": (400, {"message": "Invalid value for size.", "code": "invalid_value"}),
    "key": (401, {"message": "Incorrect API key provided: sk-film."}),
    "money": (402, {"message": "Insufficient credit."}),
}


@dataclass
class VideoJob:
    """A job that was begun and billed."""

    number: str
    prompt: str
    end: str = ""
    looks: int = 0


@dataclass
class VideoServer:
    """`faults` maps a prompt to what its calls meet in turn: a refusal of REFUSALS, `lost` (the job
    is begun and the answer never comes), or the end of its job: `job blocked`, `job failed`, `job
    error`, `elsewhere`, `redirected`; a fault that ends with ! is for ever."""

    url: str = ""
    clip: bytes = b""
    faults: dict[str, list[str]] = field(default_factory=dict)
    jobs: dict[str, VideoJob] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    posts: list[dict[str, Any]] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    def begin(self, wanted: dict[str, Any], key: str) -> tuple[int, dict[str, Any]] | None:
        """The answer to a post; None where it is lost."""
        prompt = str(wanted["prompt"])
        with self.lock:
            self.posts.append({**wanted, "key": key})
            fault = self._next(prompt)
            if fault in REFUSALS:
                status, error = REFUSALS[fault]
                return status, {"error": error}
            if key and key in self.keys:
                job = self.jobs[self.keys[key]]
            else:
                end = fault if fault not in ("", "lost") else ""
                job = VideoJob(f"job_{len(self.jobs)}", prompt, end)
                self.jobs[job.number] = job
                self.keys[key] = job.number
        return None if fault == "lost" else (200, {"id": job.number, "status": "queued"})

    def look(self, number: str) -> VideoJob:
        job = self.jobs[number]
        job.looks += 1
        return job

    def _next(self, prompt: str) -> str:
        waiting = self.faults.get(prompt, [])
        if not waiting:
            return ""
        return waiting[0].rstrip("!") if waiting[0].endswith("!") else waiting.pop(0)


ERRORS = {
    "job blocked": {"code": "moderation_blocked", "message": "Blocked by our safety system."},
    "job failed": {"code": "bad_prompt", "message": "The model could not follow this prompt."},
    "job error": {"code": "internal_error", "message": "Video generation failed."},
}


def as_openai(server: VideoServer, job: VideoJob) -> dict[str, Any]:
    page: dict[str, Any] = {"id": job.number, "object": "video", "status": "in_progress"}
    if job.looks > 1:
        failed = job.end in ERRORS
        page |= (
            {"status": "failed", "error": ERRORS[job.end]} if failed else {"status": "completed"}
        )
    return page


def as_prediction(server: VideoServer, job: VideoJob) -> dict[str, Any]:
    page: dict[str, Any] = {"id": job.number, "status": "processing", "output": None}
    if job.looks > 1 and job.end in ERRORS:
        return page | {"status": "failed", "error": " ".join(ERRORS[job.end].values())}
    if job.looks > 1:
        own = server.url.removesuffix("/v1")
        address = f"{own}/files/{job.number}.mp4"
        if job.end == "elsewhere":
            address = f"http://files.invalid/{job.number}.mp4"
        if job.end == "redirected":
            address = f"{own}/moved/{job.number}.mp4"
        page |= {"status": "succeeded", "output": [address]}
    return page


@contextmanager
def serve(folder: Path, sound: bool = True) -> Iterator[VideoServer]:
    """Listen on a free port of this machine; clips come with a sound track."""
    server = VideoServer(clip=clip_with_sound(folder / "served.mp4", sound))
    http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(server))
    server.url = f"http://127.0.0.1:{http.server_port}/v1"
    thread = Thread(target=http.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


def _handler(server: VideoServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            wanted = _form(self.headers["Content-Type"], data)
            answer = server.begin(wanted, self.headers.get("Idempotency-Key", ""))
            if answer is None:
                self.close_connection = True
                self.connection.shutdown(2)
                return
            self._send(answer[0], json.dumps(answer[1]).encode())

        def do_GET(self) -> None:
            if found := re.fullmatch(r"/v1/videos/(\w+)", self.path):
                page = as_openai(server, server.look(found[1]))
                self._send(200, json.dumps(page).encode())
            elif found := re.fullmatch(r"/v1/predictions/(\w+)", self.path):
                page = as_prediction(server, server.look(found[1]))
                self._send(200, json.dumps(page).encode())
            elif self.path.startswith("/moved/"):
                self._send(302, b"", "http://files.invalid/x.mp4")
            else:
                self._send(200, server.clip)

        def _send(self, status: int, data: bytes, to: str = "") -> None:
            self.send_response(status)
            if status == 429:
                self.send_header("Retry-After", "0.01")
            if to:
                self.send_header("Location", to)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    return Handler


def _form(kind: str, data: bytes) -> dict[str, Any]:
    """The fields of a posted form, or what stands under `input` in posted JSON."""
    if kind.startswith("application/json"):
        return dict(json.loads(data)["input"])
    message = BytesParser().parsebytes(f"Content-Type: {kind}\r\n\r\n".encode() + data)
    fields = {}
    for part in message.get_payload():
        name = part.get_param("name", header="content-disposition")  # type: ignore[union-attr]
        fields[str(name)] = part.get_payload(decode=True).decode("utf-8", "replace")  # type: ignore
    return fields


def clip_with_sound(path: Path, sound: bool = True) -> bytes:
    """Moving noise, and a track of silence beside it."""
    frames = np.random.default_rng(0).integers(0, 256, (8, 32, 32, 3), dtype=np.uint8)
    write_mp4(frames, path, 8)
    if not sound:
        return path.read_bytes()
    heard = path.with_name("heard.mp4")
    with av.open(path) as film, av.open(heard, "w", format="mp4") as both:
        picture = both.add_stream_from_template(film.streams.video[0])
        track = both.add_stream("aac", rate=8000)
        for packet in film.demux(film.streams.video[0]):
            if packet.dts is not None:
                packet.stream = picture
                both.mux(packet)
        quiet = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), "fltp", "mono")
        quiet.sample_rate = 8000
        both.mux(track.encode(quiet))
        both.mux(track.encode(None))
    return heard.read_bytes()
