"""Two protocols of video jobs behind one small contract: begin a job, look how it stands, fetch its
clip."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from typing import Any, Literal, Protocol
from urllib.parse import quote

from evaluators.models.generate.endpoints.connection import (
    EndpointDown,
    MediaConnection,
    error_words,
    is_blocked,
)

MOST_CLIP_BYTES = 1 << 30
PROVIDERS_FAULT = re.compile(
    r"server|internal|timeout|timed out|overload|capacity|unavailable|unknown|interrupted",
    re.IGNORECASE,
)
"""How a failed job names a fault of the endpoint itself; such a job is begun anew."""
State = Literal["running", "finished", "failed", "blocked", "lost"]


@dataclass(frozen=True, slots=True)
class ClipRequest:
    """A clip to be made. `size` is WIDTHxHEIGHT, empty for the model's own; `frame` is a PNG to
    begin with; `seed` is sent where it is known."""

    prompt: str
    seconds: int
    size: str = ""
    seed: int | None = None
    frame: bytes | None = None


@dataclass(frozen=True, slots=True)
class JobState:
    """How a job stands; `clip` is where its clip is when it is finished."""

    state: State
    clip: str = ""
    why: str = ""


class VideoProtocol(Protocol):
    """What is asked of an endpoint that makes clips."""

    def begin(
        self, connection: MediaConnection, model: str, clip: ClipRequest, key: str
    ) -> str: ...

    def look(self, connection: MediaConnection, job: str) -> JobState: ...


class OpenAiVideos:
    """`POST /videos`, `GET /videos/ID`, `GET /videos/ID/content`."""

    def begin(self, connection: MediaConnection, model: str, clip: ClipRequest, key: str) -> str:
        """Post a form, with the frame as its reference."""
        fields = {"model": model, "prompt": clip.prompt, "seconds": str(clip.seconds)}
        if clip.size:
            fields["size"] = clip.size
        if clip.seed is not None:
            fields["seed"] = str(clip.seed)
        files: Any = {name: (None, value) for name, value in fields.items()}
        if clip.frame is not None:
            files["input_reference"] = ("frame.png", clip.frame, "image/png")
        return _number(connection.page("POST", "/videos", key, files=files))

    def look(self, connection: MediaConnection, job: str) -> JobState:
        """`queued` and `in_progress` are running."""
        page = connection.page("GET", f"/videos/{quote(job, safe='')}")
        status = page.get("status")
        if status == "completed":
            return JobState(
                "finished", f"{connection.place.base_url.rstrip('/')}/videos/{job}/content"
            )
        if status in ("cancelled", "expired"):
            return JobState("lost", why=str(status))
        return _failed(connection, page) if status == "failed" else JobState("running")


class Predictions:
    """`POST /models/OWNER/NAME/predictions` or, with a version of 64 hex digits as snapshot,
    `POST /predictions`; then `GET /predictions/ID`, whose `output` is the clip's address."""

    def __init__(self, version: str = "") -> None:
        self.version = version if re.fullmatch(r"[0-9a-f]{64}", version) else ""

    def begin(self, connection: MediaConnection, model: str, clip: ClipRequest, key: str) -> str:
        """Post JSON; what the model takes stands under `input`."""
        wanted: dict[str, Any] = {"prompt": clip.prompt, "duration": clip.seconds}
        if clip.size:
            width, _, height = clip.size.partition("x")
            wanted |= {"width": int(width), "height": int(height)}
        if clip.seed is not None:
            wanted["seed"] = clip.seed & 0x7FFFFFFF
        if clip.frame is not None:
            wanted["image"] = "data:image/png;base64," + base64.b64encode(clip.frame).decode()
        if self.version:
            body = {"version": self.version, "input": wanted}
            return _number(connection.page("POST", "/predictions", key, json=body))
        path = f"/models/{quote(model, safe='/')}/predictions"
        return _number(connection.page("POST", path, key, json={"input": wanted}))

    def look(self, connection: MediaConnection, job: str) -> JobState:
        """`starting` and `processing` are running."""
        page = connection.page("GET", f"/predictions/{quote(job, safe='')}")
        status, output = page.get("status"), page.get("output")
        if status == "succeeded":
            address = output[0] if isinstance(output, list) and output else output
            if not isinstance(address, str) or not address:
                return JobState("failed", why="It succeeded without a clip.")
            return JobState("finished", address)
        if status in ("canceled", "aborted"):
            return JobState("lost", why=str(status))
        return _failed(connection, page) if status == "failed" else JobState("running")


def protocol_of(name: str, snapshot: str) -> VideoProtocol:
    """The protocol that a setting names."""
    return Predictions(snapshot) if name == "predictions" else OpenAiVideos()


def _failed(connection: MediaConnection, page: dict[str, Any]) -> JobState:
    why = connection.without_key(error_words({"error": page.get("error")})) or "no reason given"
    if is_blocked(why):
        return JobState("blocked", why=why)
    return JobState("lost" if PROVIDERS_FAULT.search(why) else "failed", why=why)


def _number(page: dict[str, Any]) -> str:
    job = page.get("id")
    if not isinstance(job, str) or not re.fullmatch(r"[\w.:-]{1,200}", job):
        raise EndpointDown("The video endpoint took the job without giving it a number.")
    return job
