"""The suite's own table for anybody's world: the same rollouts by the contract as by our own loop,
and a kit that tells nothing of how a start went."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import numpy as np
import pytest

from evaluators.contracts.world_model import FunctionWorld, WorldCard
from evaluators.media import read_image
from evaluators.suites.sc3 import SUITE
from evaluators.suites.sc3.kit import KitPlan, write_kit
from evaluators.suites.sc3.reading import read
from evaluators.suites.sc3.rollouts.driving import drive, view_at
from evaluators.suites.sc3.rollouts.loops import BENCH, roll_out
from evaluators.suites.sc3.rollouts.trajectories import to_bytes
from evaluators.suites.sc3.samples import episodes, policies
from evaluators.suites.sc3.table_bench import TableBench
from evaluators.worlds.bussing.world_models import copy_last_frame
from evaluators.worlds.lerobot.reading import open_dataset
from evaluators.worlds.wire.policy_client import OpenpiPolicy
from flows.suites.sc3_rollouts import CannotRollOut
from flows.suites.sc3_worlds import serve_policy
from tests.suites.sc3.rolled import DEMO

TABLE = TableBench()
CARD = WorldCard("still", "1", TABLE.views, *TABLE.native)
STILL = FunctionWorld(
    CARD,
    lambda requests: [np.repeat(r.context[:, -1:], len(r.actions), axis=1) for r in requests],
)
SAMPLES = [DEMO[0], next(sample for sample in DEMO if sample.facets.setting == "online")]


def test_a_world_behind_the_contract_gives_the_rollouts_of_our_own_loop(tmp_path: Path) -> None:
    driven = [TABLE.driven(s.cluster, s.facets.setting, TABLE.native) for s in SAMPLES]

    theirs = drive(STILL, TABLE.policies(), driven, TABLE.arm, TABLE.config)
    ours = roll_out(copy_last_frame(), policies(), episodes(SAMPLES), BENCH)

    for sample, one, other in zip(SAMPLES, theirs, ours, strict=True):
        assert (one.frames == other.frames).all()
        assert np.allclose(one.actions, other.actions, atol=1e-5)
        (tmp_path / "one.npz").write_bytes(to_bytes(one))
        assert read(sample, tmp_path / "one.npz")["evaluator"] == "still"


def test_a_policy_of_the_suite_is_served_in_openpi_s_protocol() -> None:
    server = serve_policy(3, 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    start = TABLE.driven(SAMPLES[1].cluster, "online", TABLE.native)
    view = view_at(start, start.first, np.zeros((0, 7), np.float32), TABLE.arm)

    answer = OpenpiPolicy(f"ws://127.0.0.1:{server.socket.getsockname()[1]}").act(view)
    server.shutdown()

    assert (answer == TABLE.policies()[3].act(view)).all()
    with pytest.raises(CannotRollOut, match="There is no policy 9"):
        serve_policy(9, 0)


def test_a_kit_of_the_table_has_starts_recorded_actions_and_practice(tmp_path: Path) -> None:
    plan = KitPlan("sc3", SUITE.title, SAMPLES, (32, 32), 2)

    kit = write_kit(tmp_path / "kit", TABLE, plan)

    said = json.loads((kit / "kit.json").read_text())
    start = SAMPLES[0].cluster
    assert said["size"] == [32, 32] and said["practice_episodes"] == 2
    assert read_image(kit / "starts" / start / "wrist.png").shape == (32, 32, 3)
    assert np.load(kit / "recorded" / f"{start}.npy").shape == (BENCH.limit, 7)
    (first, second) = open_dataset(kit / "practice")
    assert first.cameras["top"].shape == (BENCH.limit + 1, 32, 32, 3)
    assert (first.actions != second.actions).any() and first.state.shape[1] == 5
    assert "outcome" not in (kit / "kit.json").read_text()
    assert (kit / "world_model.py").is_file() and (kit / "example_world_server.py").is_file()
