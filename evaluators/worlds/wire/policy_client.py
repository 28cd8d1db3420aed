"""A policy behind openpi's websocket: the server speaks first, with what it needs; then each
observation is answered with a chunk of actions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection
from websockets.sync.client import connect as connect_websocket

from evaluators.contracts.robot_policy import PROPOSED, PolicyView
from evaluators.worlds.wire.arrays import BadMessage, pack, unpack

FEWEST = 16
"""So many of a chunk are executed; a policy that proposes fewer cannot drive the loop."""


class PolicyServerFault(RuntimeError):
    """The policy server did not answer with actions; the message says what it did."""


@dataclass(slots=True)
class OpenpiPolicy:
    """A policy at `url` (ws://host:port); the line is opened when it is first asked and kept.

    It is sent what openpi's LIBERO policies are sent: `observation/image` (the first view),
    `observation/wrist_image` (the last), `observation/state` and `prompt`; beside them every view
    as `observation/exterior_image_N_left` and `observation/wrist_image_left`, as RoboArena's
    servers read them, and `seed` and `step`, from which its chance has to follow.
    """

    url: str
    api_key: str = ""
    seconds: float = 60.0
    metadata: Mapping[str, Any] = field(default_factory=dict)
    _line: ClientConnection | None = None

    def act(self, view: PolicyView) -> npt.NDArray[np.float32]:
        """The next 25 actions; a longer chunk is cut, a shorter one goes on with its last."""
        try:
            line = self._line or self._connect()
            line.send(pack(observe(view, self.metadata)))
            answer = line.recv(self.seconds)
        except (OSError, TimeoutError, WebSocketException) as error:
            self.close()
            raise PolicyServerFault(
                f"The policy server at {self.url} did not answer ({error}). Is it running?"
            ) from None
        if isinstance(answer, str):
            last = answer.strip().splitlines()[-1:] or ["no words"]
            raise PolicyServerFault(f"The policy server at {self.url} broke: {last[0][:300]}")
        return self._actions(answer)

    def close(self) -> None:
        """End the line, if there is one."""
        if self._line is not None:
            self._line.close()
            self._line = None

    def _connect(self) -> ClientConnection:
        headers = {"Authorization": f"Api-Key {self.api_key}"} if self.api_key else None
        line = connect_websocket(
            self.url,
            compression=None,
            max_size=None,
            additional_headers=headers,
            open_timeout=self.seconds,
        )
        greeting = line.recv(self.seconds)
        self.metadata = unpack(greeting) if isinstance(greeting, bytes) else {}
        self._line = line
        return line

    def _actions(self, answer: bytes) -> npt.NDArray[np.float32]:
        try:
            actions = np.asarray(unpack(answer)["actions"], np.float32)
        except (BadMessage, KeyError, TypeError, ValueError) as error:
            raise PolicyServerFault(
                f"The policy server at {self.url} answered without actions ({error})."
            ) from None
        if actions.ndim != 2 or len(actions) < FEWEST:
            raise PolicyServerFault(
                f"The policy server at {self.url} proposed {actions.shape}. Propose at least "
                f"{FEWEST} actions at a time, which are executed before it is asked again."
            )
        missing = max(0, PROPOSED - len(actions))
        return np.concatenate([actions[:PROPOSED], np.repeat(actions[-1:], missing, axis=0)])


def observe(view: PolicyView, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """What a policy server is sent; in the size of pictures that its metadata names, if any."""
    size = metadata.get("image_resolution")
    frames = [_resized(frame, size) for frame in view.frames]
    outside = {
        f"observation/exterior_image_{number}_left": frame
        for number, frame in enumerate(frames[:-1] or frames)
    }
    return {
        "observation/image": frames[0],
        "observation/wrist_image": frames[-1],
        "observation/wrist_image_left": frames[-1],
        **outside,
        "observation/state": view.proprioception,
        "observation/cartesian_position": view.proprioception[:6],
        "observation/gripper_position": view.proprioception[6:7],
        "prompt": view.instruction,
        "seed": view.seed,
        "step": view.step,
    }


def _resized(frame: npt.NDArray[np.uint8], size: object) -> npt.NDArray[np.uint8]:
    if not isinstance(size, list | tuple) or tuple(size) == frame.shape[:2]:
        return frame
    height, width = (int(side) for side in size)
    image = Image.fromarray(frame).resize((width, height), Image.Resampling.BILINEAR)
    return np.asarray(image, np.uint8)
