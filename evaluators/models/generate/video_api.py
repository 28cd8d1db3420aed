"""A video model behind an HTTP endpoint of the `/videos` kind: a job is posted, waited for, and its
clip fetched."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from evaluators.agents.film import fit_frame
from evaluators.agents.video_model import FilmedClip, GeneratorFailed, Notes, profile_of
from evaluators.contracts import CannotProduce
from evaluators.media import read_image, write_png

GONE = frozenset({"failed", "cancelled", "expired"})
MOST_BYTES = 1 << 30


class EndpointDown(CannotProduce):
    """The endpoint does not answer as it should: not the video model's fault. Try again later."""


@dataclass(frozen=True, slots=True)
class VideoEndpoint:
    """Where the model is and how it films; `deadline` is for one clip in seconds."""

    base_url: str
    model: str
    revision: str
    api_key: str = field(default="", repr=False)
    seconds: int = 4
    size: str = "832x480"
    languages: str = "English"
    deadline: float = 1800.0
    pause: float = 2.0
    tries: int = 5


@dataclass(frozen=True)
class HttpVideo:
    """Films behind an endpoint. The job's number is noted, so that after a kill the same job is
    waited for."""

    endpoint: VideoEndpoint
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    @property
    def name(self) -> str:
        """Model and snapshot; where it is served does not matter."""
        place = self.endpoint
        return f"{place.model}@{place.revision}, {place.seconds} seconds, {place.size}"

    @property
    def profile(self) -> str:
        """What a caption writer has to know."""
        place = self.endpoint
        return profile_of(place.model, place.seconds, place.size, place.languages)

    def make(self, frame: Path, caption: str, seed: int, to: Path, notes: Notes) -> FilmedClip:
        """Film one clip, from the frame in the size of the clip."""
        width, height = map(int, self.endpoint.size.split("x"))
        fitted = fit_frame(read_image(frame), width, height)
        sent = write_png(fitted.pixels, to.with_name("frame-sent.png"))
        headers = (
            {"authorization": f"Bearer {self.endpoint.api_key}"} if self.endpoint.api_key else {}
        )
        base = self.endpoint.base_url.rstrip("/")
        with httpx.Client(base_url=base, headers=headers, timeout=120.0, trust_env=False) as client:
            job = (notes.get() or b"").decode() or self._post(client, sent, caption, seed, notes)
            self._wait(client, job)
            return FilmedClip(self._fetch(client, job, to), fitted=fitted.rule)

    def _post(
        self, client: httpx.Client, frame: Path, caption: str, seed: int, notes: Notes
    ) -> str:
        place = self.endpoint
        fields = {
            "model": place.model,
            "prompt": caption,
            "seconds": str(place.seconds),
            "size": place.size,
        }
        picture = {"input_reference": ("frame.png", frame.read_bytes(), "image/png")}
        answer = self._call(
            client, "POST", "/videos", data={**fields, "seed": str(seed)}, files=picture
        )
        job = _page(answer).get("id")
        if not isinstance(job, str) or not job:
            raise EndpointDown("The video endpoint took the job without giving it a number.")
        notes.put(job.encode())
        return job

    def _wait(self, client: httpx.Client, job: str) -> None:
        until = self.clock() + self.endpoint.deadline
        while self.clock() < until:
            page = _page(self._call(client, "GET", f"/videos/{job}"))
            if page.get("status") == "completed":
                return
            if page.get("status") in GONE:
                raise GeneratorFailed(f"The video endpoint says {page['status']}: {_why(page)}")
            self.sleep(self.endpoint.pause)
        raise GeneratorFailed(f"No clip within {self.endpoint.deadline:g} seconds.")

    def _fetch(self, client: httpx.Client, job: str, to: Path) -> Path:
        data = self._call(client, "GET", f"/videos/{job}/content").content
        if len(data) > MOST_BYTES:
            raise GeneratorFailed(f"The clip has {len(data)} bytes; {MOST_BYTES} are the most.")
        to.write_bytes(data)
        return to

    def _call(self, client: httpx.Client, method: str, path: str, **body: Any) -> httpx.Response:
        """A call that is answered; a wrong request is the caption's fault, a busy or broken server
        is not."""
        problem = ""
        for attempt in range(self.endpoint.tries):
            try:
                answer = client.request(method, path, **body)
            except httpx.HTTPError as error:
                problem = type(error).__name__
            else:
                if answer.is_success:
                    return answer
                if answer.status_code < 500 and answer.status_code not in (408, 409, 425, 429):
                    raise GeneratorFailed(
                        f"The video endpoint refused this with HTTP {answer.status_code}."
                    )
                problem = f"HTTP {answer.status_code}"
            self.sleep(min(30.0, self.endpoint.pause * 2**attempt))
        raise EndpointDown(
            f"The video endpoint does not answer ({problem}). Evaluate it again later."
        )


def _page(answer: httpx.Response) -> dict[str, Any]:
    try:
        page = json.loads(answer.content)
    except ValueError:
        page = None
    if not isinstance(page, dict):
        raise EndpointDown("The video endpoint sent something else than a JSON object.")
    return page


def _why(page: dict[str, Any]) -> str:
    error = page.get("error")
    message = error.get("message") if isinstance(error, dict) else error
    return str(message or "no reason given")[:300]
