"""A lab's own robots: real episodes in LeRobot's format become a bench with a board of its own, and
a world written by somebody else goes from the kit to that board."""

from __future__ import annotations

import ast
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluators.contracts import BankCard, Cell, Json, Opinion, Outcome, Output
from evaluators.suites.sc3 import SUITE
from evaluators.suites.sc3.own.bench import BadBench, open_bench
from evaluators.suites.sc3.rollouts import replay
from evaluators.suites.sc3.rollouts.replay import ContradictedRollout
from evaluators.suites.sc3.rollouts.trajectories import CRITERIA, from_bytes, to_bytes
from evaluators.worlds.lerobot.reading import open_dataset
from tests.command import Machine
from tests.suites.sc3 import stranger
from tests.suites.sc3.labs import (
    ARM,
    HAND,
    WORLD,
    InventedRobot,
    handed_in,
    labelled,
    rolled_out,
)
from tests.suites.sc3.robots import arm_bench, hand_bench


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return arm_bench(tmp_path_factory.mktemp("lab") / "arm")


@pytest.fixture(scope="module")
def hand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hand_bench(tmp_path_factory.mktemp("lab") / "hand")


@pytest.fixture(scope="module")
def machine(arm: Path, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """One home with both robots mounted, whose labels are trusted."""
    trusted = hand_bench(tmp_path_factory.mktemp("lab") / "trusted", "trusted")
    banks = os.pathsep.join((str(arm), str(trusted)))
    home = tmp_path_factory.mktemp("board") / "home"
    machine = Machine(home, {"ARMILLARY_BANKS_PATH": banks, "ARMILLARY_ENGINE": "here"})
    machine.run("init")
    return machine


def test_the_stranger_imports_nothing_of_ours_but_the_contract() -> None:
    source = (Path(str(stranger.__file__)).parent / "world.py").read_text("utf-8")
    names = {n.module for n in ast.walk(ast.parse(source)) if isinstance(n, ast.ImportFrom)}

    ours = {name for name in names if name and name.startswith(("evaluators", "flows", "tests"))}

    assert ours == {"evaluators.contracts.world_model"}


@pytest.mark.xdist_group("embedded")
@pytest.mark.parametrize("robot", [ARM, HAND], ids=lambda robot: robot.suite)
def test_a_stranger_s_world_goes_from_kit_to_a_rank_on_the_board_of_a_lab_s_own_robot(
    machine: Machine, robot: InventedRobot, tmp_path: Path
) -> None:
    kit = tmp_path / "kit"

    machine.run("sc3", "kit", str(kit), "--suite", robot.suite, "--practice", "2")
    rollouts = rolled_out(machine, robot, tmp_path / "out")
    submission = handed_in(machine, robot, rollouts, labelled(robot, rollouts))

    assert len(list(rollouts.glob("*.npz"))) == 36
    said = json.loads((kit / "kit.json").read_text())
    assert said["practice_episodes"] == 2 and len(said["starts"]) == 18
    assert len(open_dataset(kit / "practice")) == 2
    assert (kit / f"starts/p1-0/{robot.views[-1]}.png").is_file()
    assert np.load(kit / "recorded/p1-0.npy").shape == (40, robot.width)
    (entry,) = online(machine, robot, "--metric", "reproduction_average")
    assert (entry["rank"], entry["submission_id"]) == (1, submission)
    assert entry["value"] > 0.9 and entry["low"] is not None
    (r,) = online(machine, robot, "--metric", "pearson_r", "--task", "pooled")
    assert (r["rank"], r["n_scored"], r["n_expected"]) == (1, 18, 18) and r["value"] > 0.95
    assert "All agree with the board" in machine.run("verify", submission)


def online(machine: Machine, robot: InventedRobot, *metric: str) -> list[dict[str, Any]]:
    """The robot's own board, of policies that acted on generated frames."""
    address = ("--setting", "online", "--modality", "video", "--format", "json")
    entries: list[dict[str, Any]] = json.loads(machine.run("board", robot.suite, *metric, *address))
    return entries


@pytest.mark.xdist_group("embedded")
def test_the_hand_has_one_view_two_numbers_an_action_and_two_objects_a_start(
    hand: Path, tmp_path: Path
) -> None:
    machine = Machine(tmp_path / "home", {"ARMILLARY_BANKS_PATH": str(hand)})
    out = tmp_path / "out"

    machine.run(
        *("sc3", "rollout", str(out), "--suite", "sc3.our_hand", "--mode", "offline"),
        *("--world", f"{WORLD}:one_view"),
    )

    suite = SUITE.mount(BankCard("sc3", "our_hand", "1.0", "Hand", hand))  # type: ignore[misc]
    sample = next(s for s in suite.samples() if s.id == "p1-0.offline")
    value = suite.replay.read(sample, out / f"{sample.id}.npz")  # type: ignore[union-attr]
    assert sample.reference["objects"] == ["dot", "shadow"]
    assert value["steps"] == 40 and float(str(value["psnr"])) > 20 and "criteria" not in value
    output = Output(sample.id, Outcome.SCORED, record={"value": dict(value)})
    scores = {s.metric: s for s in suite.scoring.score(sample, output, {})}  # type: ignore[union-attr]
    assert scores["psnr"].value is not None
    assert scores["reproduction_average"].outcome is Outcome.NOT_APPLICABLE
    answers = {f"dot.{name}": "yes" for name in CRITERIA}
    answers |= {f"shadow.{name}": "no" for name in CRITERIA}
    people = Opinion("item", "ann", 0, answers)
    rated = {s.metric: s for s in suite.rating.score(sample, output, [people])}  # type: ignore[misc, union-attr]
    assert rated["rate_error"].value == 0.0 and rated["reproduction_average"].value == 1.0
    clip = suite.rating.show(sample, out / f"{sample.id}.npz", tmp_path)  # type: ignore[misc, union-attr]
    assert clip.is_file()


def test_what_nobody_has_labelled_has_no_reproduction_and_what_failed_reproduces_nothing(
    hand: Path,
) -> None:
    suite = SUITE.mount(BankCard("sc3", "our_hand", "1.0", "Hand", hand))  # type: ignore[misc]
    samples = [sample for sample in suite.samples() if sample.facets.setting == "online"]
    read: dict[str, Json] = {"psnr": None, "ssim": None, "terminated_at": None}

    def cells(outcome: Outcome) -> dict[str, Cell]:
        outputs = [Output(sample.id, outcome, record={"value": read}) for sample in samples]
        pairs = zip(samples, outputs, strict=True)
        scores = [s for pair in pairs for s in suite.scoring.score(*pair, {})]  # type: ignore[union-attr]
        return {cell.metric: cell for cell in suite.scoring.tabulate(samples, scores)}  # type: ignore[misc, union-attr]

    unlabelled, failed = cells(Outcome.SCORED), cells(Outcome.OUTPUT_INVALID)
    empty = {name for name, cell in unlabelled.items() if cell.why_empty.startswith("nobody has")}
    assert empty > {"reproduction_average", "rate_error", "predicted_rate"}
    assert {name for name, cell in unlabelled.items() if cell.value is not None} == {
        "real_rate",
        "termination_rate",
    }
    assert failed["reproduction_average"].value == 0.0


def test_without_a_policy_of_the_lab_s_own_the_command_says_how_to_name_it(
    arm: Path, tmp_path: Path
) -> None:
    machine = Machine(tmp_path / "home", {"ARMILLARY_BANKS_PATH": str(arm)})

    told = machine.run(
        *("sc3", "rollout", str(tmp_path / "out"), "--suite", "sc3.our_arm", "--mode", "online"),
        *("--world", f"{WORLD}:three_views"),
        status=2,
    )

    assert "Policy 1 is not at hand" in told and "--policy-url 1=ws://" in told


def test_rollouts_on_a_lab_s_bench_are_checked_as_ours_are(arm: Path, tmp_path: Path) -> None:
    suite = SUITE.mount(BankCard("sc3", "our_arm", "1.0", "Arm", arm))  # type: ignore[misc]
    sample = next(s for s in suite.samples() if s.id == "p1-0.offline")
    assert suite.replay is not None
    real = replace(from_bytes(suite.replay.real(sample)), source="offline", evaluator="copy")
    path = tmp_path / "one.npz"

    def read(changed: object) -> object:
        path.write_bytes(to_bytes(changed))  # type: ignore[arg-type]
        assert suite.replay is not None
        return suite.replay.read(sample, path)

    assert read(real)["psnr"] == 100.0  # type: ignore[index]
    for changed, name in (
        (replace(real, actions=real.actions * 0), replay.OTHER_RECORDING),
        (replace(real, frames=np.full_like(real.frames, 90)), replay.BLANK_FIRST_FRAME),
        (replace(real, frames=real.frames[:, ::-1].copy()), replay.OTHER_FIRST_FRAME),
    ):
        with pytest.raises(ContradictedRollout) as error:
            read(changed)
        assert error.value.name == name


def test_a_bench_that_lacks_something_says_what(arm: Path, tmp_path: Path) -> None:
    with pytest.raises(BadBench, match=r"neither outcomes\.csv nor episodes/"):
        open_bench(tmp_path)
    (tmp_path / "outcomes.csv").write_text("start,policy\na,1\n")
    with pytest.raises(BadBench, match="no column split"):
        open_bench(tmp_path)
    header = "start,policy,split,instruction,object," + ",".join(CRITERIA)
    (tmp_path / "outcomes.csv").write_text(f"{header}\na,1,,go,dot,1,0,maybe\n")
    with pytest.raises(BadBench, match="'maybe' is neither"):
        open_bench(tmp_path)
    (tmp_path / "outcomes.csv").write_text(f"{header}\na,1,,go,dot,1,0,no\n")
    with pytest.raises(BadBench, match="one policy"):
        open_bench(tmp_path)
    assert open_bench(arm).views == ("agent", "front", "wrist")
