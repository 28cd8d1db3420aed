"""Filming behind an HTTP endpoint: a job is posted once, waited for, fetched; whose fault a failure
is, is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from evaluators.agents.video_model import GeneratorFailed
from evaluators.media import probe, write_mp4
from evaluators.models.generate.video_api import EndpointDown, HttpVideo, VideoEndpoint


@dataclass
class Studio:
    """What the endpoint answers: statuses for posting, states of the job in turn, and the clip."""

    clip: bytes = b""
    posting: list[int] = field(default_factory=list)
    states: list[str] = field(default_factory=lambda: ["queued", "in_progress", "completed"])
    posts: list[bytes] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)

    def get(self, path: str) -> tuple[int, bytes]:
        if path.endswith("/content"):
            return 200, self.clip
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        return 200, json.dumps(
            {"id": "job-7", "status": state, "error": {"message": "too dark"}}
        ).encode()

    def post(self, body: bytes) -> tuple[int, bytes]:
        self.posts.append(body)
        status = self.posting.pop(0) if self.posting else 200
        return status, json.dumps({"id": "job-7", "status": "queued"}).encode()


@dataclass
class Memo:
    data: bytes | None = None

    def get(self) -> bytes | None:
        return self.data

    def put(self, data: bytes) -> None:
        self.data = data


@contextmanager
def served(studio: Studio) -> Iterator[HttpVideo]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            studio.keys.add(self.headers.get("authorization", ""))
            self._send(*studio.post(self.rfile.read(int(self.headers["content-length"]))))

        def do_GET(self) -> None:
            self._send(*studio.get(self.path))

        def _send(self, status: int, data: bytes) -> None:
            self.send_response(status)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    place = VideoEndpoint(
        f"http://127.0.0.1:{server.server_address[1]}/v1",
        "filmer",
        "2026-11",
        "sk-secret",
        pause=0.01,
    )
    try:
        yield HttpVideo(place)
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def frame(tmp_path: Path) -> Path:
    Image.new("RGB", (64, 64), (1, 2, 3)).save(tmp_path / "frame.png")
    return tmp_path / "frame.png"


@pytest.fixture
def clip(tmp_path: Path) -> bytes:
    return write_mp4(
        np.zeros((4, 32, 32, 3), dtype=np.uint8), tmp_path / "clip.mp4", 8
    ).read_bytes()


def test_a_job_is_posted_with_frame_caption_and_seed_and_its_clip_fetched(
    frame: Path, clip: bytes, tmp_path: Path
) -> None:
    studio = Studio(clip)

    with served(studio) as video:
        made = video.make(frame, "The person pours.", 5, tmp_path / "out.mp4", Memo())

    assert probe(made.path).frames == 4 and made.last_frame is None
    assert made.fitted == "64x64 padded to 832x480"
    assert probe(tmp_path / "frame-sent.png").width == 832
    assert studio.keys == {"Bearer sk-secret"} and "sk-secret" not in repr(video)
    assert (
        b"The person pours." in studio.posts[0]
        and (tmp_path / "frame-sent.png").read_bytes() in studio.posts[0]
        and b"seed" in studio.posts[0]
    )


def test_after_a_kill_the_same_job_is_waited_for_and_none_is_posted(
    frame: Path, clip: bytes, tmp_path: Path
) -> None:
    studio, memo = Studio(clip), Memo()

    with served(studio) as video:
        video.make(frame, "x", 1, tmp_path / "a.mp4", memo)
        video.make(frame, "x", 1, tmp_path / "b.mp4", memo)

    assert memo.data == b"job-7" and len(studio.posts) == 1


def test_a_busy_endpoint_is_asked_again_and_a_dead_one_is_nobodys_failure(
    frame: Path, clip: bytes, tmp_path: Path
) -> None:
    busy, dead = Studio(clip, posting=[503, 429]), Studio(clip, posting=[500] * 5)

    with served(busy) as video:
        video.make(frame, "x", 1, tmp_path / "a.mp4", Memo())
    with served(dead) as video, pytest.raises(EndpointDown, match="HTTP 500"):
        video.make(frame, "x", 1, tmp_path / "a.mp4", Memo())

    assert len(busy.posts) == 3


def test_a_refused_or_failed_job_is_the_video_models_failure(
    frame: Path, clip: bytes, tmp_path: Path
) -> None:
    for studio, words in (
        (Studio(clip, posting=[400]), "HTTP 400"),
        (Studio(clip, states=["failed"]), "too dark"),
    ):
        with served(studio) as video, pytest.raises(GeneratorFailed, match=words):
            video.make(frame, "x", 1, tmp_path / "a.mp4", Memo())
