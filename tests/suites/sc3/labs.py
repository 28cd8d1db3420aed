"""A lab with one of the invented robots: its policies behind servers of its own, its annotators,
and a stranger's world on its way from the kit to the door."""

from __future__ import annotations

import csv
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import Server, ServerConnection, serve

from evaluators.contracts.robot_policy import PolicyView
from evaluators.suites.sc3.rollouts.trajectories import CRITERIA, from_bytes
from evaluators.worlds.wire.arrays import pack, unpack
from tests.bundles import declaration
from tests.command import Machine
from tests.suites.sc3.dots import Seeker
from tests.suites.sc3.robots import CORNERS, outcome

WORLD = "tests.suites.sc3.stranger.world"


@dataclass(frozen=True, slots=True)
class InventedRobot:
    """A bench and what differs between the two: the stranger's world for it, its cameras, numbers
    an action, and the objects that are labelled."""

    suite: str
    world: str
    views: tuple[str, ...]
    width: int
    objects: tuple[str, ...]


ARM = InventedRobot("sc3.our_arm", "three_views", ("agent", "front", "wrist"), 7, ("dot",))
HAND = InventedRobot("sc3.our_hand", "one_view", ("top",), 2, ("dot", "shadow"))


@contextmanager
def policies_of(robot: InventedRobot) -> Iterator[list[str]]:
    """The lab's three policies, each behind openpi's websocket, as the command line names them."""
    running = [_policy_server(Seeker(corner), robot.width) for corner in CORNERS.values()]
    for server in running:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    yield [
        word
        for number, server in zip(CORNERS, running, strict=True)
        for word in ("--policy-url", f"{number}=ws://127.0.0.1:{server.socket.getsockname()[1]}")
    ]
    for server in running:
        server.shutdown()


def rolled_out(machine: Machine, robot: InventedRobot, folder: Path) -> Path:
    """All rollouts of the lab's policies in the stranger's world."""
    world = ("--world", f"{WORLD}:{robot.world}", "--no-clips")
    with policies_of(robot) as servers:
        machine.run("sc3", "rollout", str(folder), "--suite", robot.suite, *world, *servers)
    return folder


def handed_in(
    machine: Machine, robot: InventedRobot, rollouts: Path, labels: Path | None = None
) -> str:
    """The rollouts through the door, with the labels of a table, and evaluated; the submission."""
    bundle, manifest = rollouts.with_suffix(".zip"), rollouts.with_suffix(".json")
    said = declaration(
        suite=robot.suite, suite_version="1.0", subset="full", modalities=["trajectory"]
    )
    manifest.write_text(json.dumps(said))
    named = ("--to", str(bundle), "--manifest", str(manifest))
    table = ("--labels", str(labels)) if labels else ()
    machine.run("sc3", "pack", str(rollouts), *named, *table)
    submission = machine.submit(bundle)
    machine.run("evaluate", submission)
    return submission


def labelled(robot: InventedRobot, rollouts: Path) -> Path:
    """The table of what the lab's annotators see; the shadow is never taken anywhere."""
    path = rollouts.with_suffix(".csv")
    nothing = dict.fromkeys(CRITERIA, False)
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, ("sample", "annotator", "object", *CRITERIA))
        writer.writeheader()
        for rollout in sorted(rollouts.glob("*.npz")):
            seen = outcome(from_bytes(rollout.read_bytes(), None, None).frames)
            for name in robot.objects:
                row = {"sample": rollout.stem, "annotator": "ann", "object": name}
                writer.writerow({**row, **(seen if name == "dot" else nothing)})
    return path


def _policy_server(policy: Seeker, width: int) -> Server:
    """The lab's own server: it reads the first view and answers with its robot's numbers."""

    def talk(line: ServerConnection) -> None:
        with suppress(ConnectionClosed):
            line.send(pack({}))
            for message in line:
                assert isinstance(message, bytes)
                line.send(pack({"actions": policy.act(_view(message))[:, :width]}))

    return serve(talk, "127.0.0.1", 0, compression=None, max_size=None)


def _view(message: bytes) -> PolicyView:
    seen = unpack(message)
    return PolicyView(
        np.asarray(seen["observation/image"])[None],
        np.asarray(seen["observation/state"]),
        str(seen["prompt"]),
        int(seen["seed"]),
        int(seen["step"]),
    )
