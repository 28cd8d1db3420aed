"""A lab's own policy server behind the same protocol: observations go out as JSON, chunks of
actions come back."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import numpy as np
from PIL import Image

from evaluators.worlds.actions import Actions, BadActions, check_actions
from evaluators.worlds.bussing.views import VIEWS, Frames
from evaluators.worlds.policies.plans import CHUNK, Observation

MOST_BYTES = 64 << 20


class PolicyServerError(RuntimeError):
    """The policy server did not answer with actions; the message says what it did."""


@dataclass(frozen=True, slots=True)
class HttpPolicy:
    """Asks a server at `url` by POST: {"observations": [...]} is answered by {"actions": [[[7
    numbers] x 25] ...]}."""

    url: str
    seconds: float = 60.0

    def propose(self, observations: Sequence[Observation]) -> Actions:
        """One request for all observations."""
        if not self.url.startswith(("http://", "https://")):
            raise PolicyServerError(
                f"The address {self.url!r} is not one of http. Write http://host:port/path."
            )
        body = json.dumps(
            {"observations": [encode(observation) for observation in observations]}
        ).encode()
        return self._actions(self._ask(body), len(observations))

    def _ask(self, body: bytes) -> bytes:
        request = Request(self.url, body, {"Content-Type": "application/json"})  # noqa: S310 (checked above)
        try:
            with urlopen(request, timeout=self.seconds) as answer:  # noqa: S310
                return bytes(answer.read(MOST_BYTES))
        except (URLError, OSError) as error:
            raise PolicyServerError(
                f"The policy server at {self.url} did not answer ({error}). Is it running?"
            ) from None

    def _actions(self, answer: bytes, count: int) -> Actions:
        try:
            actions = np.array(json.loads(answer)["actions"], np.float32)
            if len(actions) != count:
                raise BadActions(f"{len(actions)} chunks for {count} observations.")
            return check_actions(actions, CHUNK)
        except (ValueError, KeyError, TypeError) as error:
            raise PolicyServerError(
                f"The policy server at {self.url} answered with something else than {count} chunks "
                f"of {CHUNK} "
                f"actions of 7 finite numbers ({error})."
            ) from None


def serve_policy(policy: Any, port: int = 0) -> ThreadingHTTPServer:
    """A server around a policy of ours, on this machine only: the other end of HttpPolicy, and a
    pattern for labs."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            actions = policy.propose(
                [decode(observation) for observation in payload["observations"]]
            )
            body = json.dumps({"actions": np.asarray(actions).tolist()}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """A policy server is quiet."""

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


def encode(observation: Observation) -> dict[str, Any]:
    """An observation as JSON, its frames as PNG in base64."""
    return {
        "frames": {
            view: _png(frame) for view, frame in zip(VIEWS, observation.frames, strict=False)
        },
        "arm": [float(number) for number in observation.arm],
        "instruction": observation.instruction,
        "step": observation.step,
        "seed": str(observation.seed),
    }


def decode(payload: Mapping[str, Any]) -> Observation:
    """The observation that `encode` wrote."""
    frames = np.stack(
        [_pixels(payload["frames"][view]) for view in VIEWS if view in payload["frames"]]
    )
    return Observation(
        frames,
        np.array(payload["arm"]),
        payload["instruction"],
        payload["step"],
        int(payload["seed"]),
    )


def _png(frame: Frames) -> str:
    buffer = io.BytesIO()
    Image.fromarray(frame).save(buffer, "PNG")
    return base64.b64encode(buffer.getvalue()).decode()


def _pixels(text: str) -> Frames:
    with Image.open(io.BytesIO(base64.b64decode(text))) as image:
        return np.asarray(image.convert("RGB"), np.uint8)
