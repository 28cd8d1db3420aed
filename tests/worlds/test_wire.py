"""Worlds and policies over a wire: openpi's own client is the foreign side, and the example server
runs as somebody else would start it."""

from __future__ import annotations

import importlib
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluators.contracts.robot_policy import PolicyView
from evaluators.contracts.world_model import (
    ForwardRequest,
    FunctionWorld,
    InpaintRequest,
    WorldFault,
    fill_in,
    imagine,
)
from evaluators.suites.sc3.rollouts.driving import WorldBroke, drive
from evaluators.worlds.wire import example_world_server, world_client
from evaluators.worlds.wire.arrays import BadMessage, pack, unpack
from evaluators.worlds.wire.opening import open_world_at
from evaluators.worlds.wire.policy_client import OpenpiPolicy, PolicyServerFault, observe
from evaluators.worlds.wire.policy_server import serve_openpi
from evaluators.worlds.wire.world_client import connect, read_card
from evaluators.worlds.wire.world_server import serve_world
from tests.servers.process import free_ports
from tests.servers.tools import package_alone
from tests.servers.unavailable import needs
from tests.suites.sc3.dots import CONFIG, Seeker, dot_world, start, summed

VIEW = PolicyView(start().first, np.arange(8, dtype=np.float32), "to the corner", 3, 16)


@contextmanager
def openpi_client() -> Iterator[Any]:
    """The registry's client, which pins an older numpy than ours and works with this one."""
    folder = str(package_alone("openpi-client==0.1.2"))
    sys.path.insert(0, folder)
    try:
        yield importlib.import_module("openpi_client")
    finally:
        sys.path.remove(folder)


@pytest.fixture
def openpi() -> Iterator[Any]:
    with needs(openpi_client()):
        yield importlib.import_module


def served(world: FunctionWorld) -> Iterator[str]:
    server = serve_world(world)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def address() -> Iterator[str]:
    world = dot_world(tau=9.0)
    yield from served(replace(world, card=replace(world.card, modes=("forward", "inverse"))))


@pytest.fixture
def policy_port() -> Iterator[int]:
    server = serve_openpi(Seeker(), {"policy": "seeker"})
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield int(server.socket.getsockname()[1])
    server.shutdown()


def test_rollouts_in_a_world_behind_a_url_are_those_of_the_world_itself(address: str) -> None:
    episodes = [start(), start("start-2", (0.6, 0.9))]

    here = drive(dot_world(tau=9.0), {1: Seeker()}, episodes, summed, CONFIG)
    there = drive(connect(address), {1: Seeker()}, episodes, summed, CONFIG)

    for near, far in zip(here, there, strict=True):
        assert (near.frames == far.frames).all() and (near.actions == far.actions).all()
        assert (near.u_chunk == far.u_chunk).all() and far.evaluator == "dots"


def test_the_example_server_runs_by_itself_and_has_at_most_sixty_lines() -> None:
    path, port = Path(str(example_world_server.__file__)), free_ports(1)[0]
    request = ForwardRequest(
        "s", 1, "the can", np.full((3, 1, 128, 128, 3), 7, np.uint8), np.zeros((0, 7), np.float32),
        np.zeros((24, 7), np.float32),
    )  # fmt: skip

    process = subprocess.Popen([sys.executable, "-I", str(path), str(port)])
    try:
        frames = imagine(connect(f"http://127.0.0.1:{port}"), [request, request])
    finally:
        process.kill()
        process.wait()

    assert len(path.read_text("utf-8").splitlines()) <= 60
    assert "evaluators" not in path.read_text("utf-8")
    assert [frame.shape for frame in frames] == [(3, 24, 128, 128, 3)] * 2 and (
        frames[0] == 7
    ).all()


def test_what_a_server_says_no_to_is_told_with_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(_requests: object) -> list[np.ndarray]:
        raise KeyError("layer 3")

    monkeypatch.setattr(world_client, "WAITS", ())
    for url in served(FunctionWorld(dot_world().card, breaks)):
        with pytest.raises(WorldBroke, match="500: KeyError: 'layer 3'"):
            drive(connect(url), {1: Seeker()}, [start()], summed, CONFIG)
        request = InpaintRequest(
            "s", 1, "", start().first[:, None], np.zeros((0, 7), np.float32),
            np.zeros((2, 7), np.float32), 0, start().first[:2, :, :, :],
        )  # fmt: skip
        with pytest.raises(WorldFault, match="no inpainting"):
            fill_in(connect(url), [request])
    with pytest.raises(WorldFault, match="Is it running"):
        connect(f"http://127.0.0.1:{free_ports(1)[0]}")


@pytest.mark.parametrize(
    ("card", "words"),
    [
        ({}, "does not fit"),
        ({"name": "w", "revision": "", "views": [], "height": 1, "width": 1}, "name its views"),
        ({"name": "w", "revision": "", "views": ["a"], "height": 0, "width": 1}, "at least"),
        (
            {"name": "w", "revision": "", "views": ["a"], "height": 9, "width": 9, "modes": ["x"]},
            "modes out of",
        ),
    ],
)
def test_a_card_that_does_not_fit_is_refused(card: dict[str, object], words: str) -> None:
    with pytest.raises(WorldFault, match=words):
        read_card(card)


def test_a_world_is_opened_from_somebody_s_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "somebody.py").write_text(
        "from tests.suites.sc3.dots import dot_world\n"
        "def on(device):\n    return dot_world(name=f'dots on {device}')\n"
        "def wrong():\n    return 3\n"
        "def breaks():\n    raise RuntimeError('no weights')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))

    assert open_world_at("somebody:on", "cuda:1").card.name == "dots on cuda:1"
    for where, words in (
        ("somebody:wrong", "gave a int"),
        ("somebody:breaks", "no weights"),
        ("somebody:nothing", "no factory that is found"),
        ("nobody:on", "no factory that is found"),
        ("somebody", "names no world"),
    ):
        with pytest.raises(WorldFault, match=words):
            open_world_at(where)


def test_messages_hold_arrays_and_never_objects() -> None:
    message = unpack(pack({"a": np.arange(6).reshape(2, 3), "b": np.float32(0.5), "c": "text"}))

    assert (message["a"] == np.arange(6).reshape(2, 3)).all() and message["b"] == np.float32(0.5)
    with pytest.raises(BadMessage, match="Send numbers"):
        pack(np.array([object()]))
    with pytest.raises(BadMessage, match="no msgpack"):
        unpack(b"\xc1")
    evil = pack({b"__ndarray__": True, b"data": b"12345678", b"dtype": "|O", b"shape": [1]})
    with pytest.raises(BadMessage, match="Send numbers"):
        unpack(evil)


def test_openpi_s_own_client_asks_a_policy_of_ours(policy_port: int, openpi: Any) -> None:
    client_module = openpi("openpi_client.websocket_client_policy")
    client = client_module.WebsocketClientPolicy("127.0.0.1", policy_port)

    answer = client.infer(observe(VIEW, {}))

    assert client.get_server_metadata() == {"policy": "seeker"}
    assert (answer["actions"] == Seeker().act(VIEW)).all()
    with pytest.raises(RuntimeError, match="observation/state"):
        client.infer({k: v for k, v in observe(VIEW, {}).items() if k != "observation/state"})


def test_openpi_s_own_layout_of_arrays_is_ours(openpi: Any) -> None:
    theirs = openpi("openpi_client.msgpack_numpy")
    message = {"image": np.ones((4, 4, 3), np.uint8), "x": np.float32(2), "prompt": "p"}

    assert theirs.packb(message) == pack(message)
    assert (theirs.unpackb(pack(message))["image"] == 1).all()


def test_a_policy_behind_the_websocket_drives_the_same_rollout(policy_port: int) -> None:
    policy = OpenpiPolicy(f"ws://127.0.0.1:{policy_port}")

    (here,) = drive(dot_world(), {1: Seeker()}, [start()], summed, CONFIG)
    (there,) = drive(dot_world(), {1: policy}, [start()], summed, CONFIG)
    policy.close()

    assert (here.actions == there.actions).all() and policy.metadata == {"policy": "seeker"}


def test_a_server_that_wants_another_size_gets_it_and_a_short_chunk_is_refused() -> None:
    class Short:
        def act(self, view: PolicyView) -> np.ndarray:
            return np.full((view.frames.shape[1], 7), 0.5, np.float32)

    def ask(resolution: int) -> np.ndarray:
        server = serve_openpi(Short(), {"image_resolution": (resolution, resolution)})
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            return OpenpiPolicy(f"ws://127.0.0.1:{server.socket.getsockname()[1]}").act(VIEW)
        finally:
            server.shutdown()

    assert ask(32).shape == (25, 7) and ask(18).shape == (25, 7)
    with pytest.raises(PolicyServerFault, match="at least 16"):
        ask(8)
    with pytest.raises(PolicyServerFault, match="Is it running"):
        OpenpiPolicy(f"ws://127.0.0.1:{free_ports(1)[0]}").act(VIEW)
