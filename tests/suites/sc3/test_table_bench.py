"""The suite's own table for anybody's world: the same rollout in any size, policies behind a wire,
and a kit that tells nothing of how a start went."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import numpy as np
import pytest

from evaluators.media import read_image
from evaluators.suites.sc3 import SUITE
from evaluators.suites.sc3.kit import KitPlan, write_kit
from evaluators.suites.sc3.reading import read
from evaluators.suites.sc3.rollouts.driving import DrivenEpisode, drive, view_at
from evaluators.suites.sc3.rollouts.trajectories import to_bytes
from evaluators.suites.sc3.table_bench import BadSize, TableBench
from evaluators.worlds.lerobot.reading import open_dataset
from evaluators.worlds.tabletop.blind import frozen
from evaluators.worlds.tabletop.episodes import LIMIT
from evaluators.worlds.wire.policy_client import OpenpiPolicy
from flows.suites.sc3_rollouts import CannotRollOut
from flows.suites.sc3_worlds import serve_policy
from tests.suites.sc3.rolled import DEMO
from tests.worlds.stages import open_stage

TABLE = TableBench()
SAMPLES = [DEMO[0], next(sample for sample in DEMO if sample.facets.setting == "online")]


def test_a_world_of_any_whole_multiple_gives_the_same_rollout_as_one_of_64_pixels(
    tmp_path: Path,
) -> None:
    open_stage()
    sizes = (64, 64), TABLE.native
    small, native = (
        drive(frozen(size[0]), TABLE.policies(), [driven(size)], TABLE.arm, TABLE.config)[0]
        for size in sizes
    )

    assert native.frames.shape[2:4] == (128, 128)
    assert np.allclose(small.actions, native.actions, atol=1e-5)
    (tmp_path / "one.npz").write_bytes(to_bytes(native))
    assert read(SAMPLES[1], tmp_path / "one.npz")["evaluator"] == "frozen"


def driven(size: tuple[int, int]) -> DrivenEpisode:
    return TABLE.driven(SAMPLES[1].cluster, "online", size)


def test_a_size_that_the_table_is_not_shown_in_is_refused() -> None:
    with pytest.raises(BadSize, match="squares of 64, 128 or 256"):
        driven((48, 64))


def test_a_policy_of_the_suite_is_served_in_openpi_s_protocol() -> None:
    server = serve_policy(3, 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    start = driven((64, 64))
    view = view_at(start, start.first, np.zeros((0, 7), np.float32), TABLE.arm)

    answer = OpenpiPolicy(f"ws://127.0.0.1:{server.socket.getsockname()[1]}").act(view)
    server.shutdown()

    assert (answer == TABLE.policies()[3].act(view)).all()
    with pytest.raises(CannotRollOut, match="There is no policy 9"):
        serve_policy(9, 0)


def test_a_kit_of_the_table_has_starts_recorded_actions_and_practice(tmp_path: Path) -> None:
    open_stage()
    plan = KitPlan("sc3", SUITE.title, SAMPLES, (64, 64), 2)

    kit = write_kit(tmp_path / "kit", TABLE, plan)

    said = json.loads((kit / "kit.json").read_text())
    start = SAMPLES[0].cluster
    assert said["size"] == [64, 64] and said["practice_episodes"] == 2
    assert read_image(kit / "starts" / start / "wrist.png").shape == (64, 64, 3)
    assert np.load(kit / "recorded" / f"{start}.npy").shape == (LIMIT, 7)
    (first, second) = open_dataset(kit / "practice")
    assert first.cameras["agent"].shape == (len(first.actions) + 1, 64, 64, 3)
    assert first.actions.shape != second.actions.shape or (first.actions != second.actions).any()
    assert first.state.shape[1] == 8
    assert "outcome" not in (kit / "kit.json").read_text()
    assert (kit / "world_model.py").is_file() and (kit / "example_world_server.py").is_file()


@pytest.mark.long
def test_a_kit_of_256_pixels_is_drawn_by_the_simulator(tmp_path: Path) -> None:
    open_stage()
    plan = KitPlan("sc3", SUITE.title, SAMPLES, (256, 256), 1)

    kit = write_kit(tmp_path / "kit", TABLE, plan)

    pictures = [read_image(path) for path in sorted((kit / "starts").glob("*/*.png"))]
    (practised,) = open_dataset(kit / "practice")
    assert {picture.shape for picture in pictures} == {(256, 256, 3)} and len(pictures) % 3 == 0
    assert min(picture.std() for picture in pictures) > 10
    assert practised.cameras["wrist"].shape == (len(practised.actions) + 1, 256, 256, 3)
