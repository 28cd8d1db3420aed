"""A policy of ours behind openpi's websocket, so that a lab's own loop can ask it."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from typing import Any

import numpy as np
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import Server, ServerConnection, serve

from evaluators.contracts.robot_policy import PolicyView, RobotPolicy
from evaluators.worlds.wire.arrays import pack, unpack

VIEW_KEYS = (
    "observation/exterior_image_0_left",
    "observation/exterior_image_1_left",
    "observation/wrist_image",
)


def serve_openpi(policy: RobotPolicy, metadata: Mapping[str, Any], port: int = 0) -> Server:
    """A server around a policy, on this machine only; call its `serve_forever`.

    What goes wrong is sent as a text, which openpi's clients raise, and ends the connection.
    """

    def talk(line: ServerConnection) -> None:
        line.send(pack(dict(metadata)))
        try:
            for message in line:
                line.send(_answer(policy, message))
        except ConnectionClosed:
            return
        except Exception:  # the client is told, whatever it was
            line.send(traceback.format_exc(limit=1))
            line.close(1011, "Internal server error. Traceback included in previous frame.")

    return serve(talk, "127.0.0.1", port, compression=None, max_size=None)


def view_of(observation: Mapping[str, Any]) -> PolicyView:
    """What a policy of ours reads out of an observation; a KeyError names what is missing."""
    frames = [np.asarray(observation[key], np.uint8) for key in VIEW_KEYS]
    return PolicyView(
        np.stack(frames),
        np.asarray(observation["observation/state"], np.float32),
        str(observation["prompt"]),
        int(observation.get("seed", 0)),
        int(observation.get("step", 0)),
    )


def _answer(policy: RobotPolicy, message: str | bytes) -> bytes:
    view = view_of(unpack(message.encode() if isinstance(message, str) else message))
    return pack({"actions": np.asarray(policy.act(view), np.float32)})
