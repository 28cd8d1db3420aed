"""A lab's own robots: real episodes in LeRobot's format become a bench with a board of its own, and
a world written by somebody else goes from the kit to that board."""

from __future__ import annotations

import ast
import csv
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evaluators.contracts import BankCard, Opinion, Outcome, Output
from evaluators.suites.sc3 import SUITE
from evaluators.suites.sc3.own.bench import BadBench, open_bench
from evaluators.suites.sc3.rollouts import replay
from evaluators.suites.sc3.rollouts.replay import ContradictedRollout
from evaluators.suites.sc3.rollouts.trajectories import CRITERIA, from_bytes, to_bytes
from evaluators.worlds.lerobot.reading import open_dataset
from evaluators.worlds.wire.policy_server import serve_openpi
from tests.bundles import declaration
from tests.command import Machine
from tests.suites.sc3 import stranger
from tests.suites.sc3.dots import Seeker
from tests.suites.sc3.robots import CORNERS, arm_bench, hand_bench, outcome

WORLD = "tests.suites.sc3.stranger.world"


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return arm_bench(tmp_path_factory.mktemp("lab") / "arm")


@pytest.fixture(scope="module")
def hand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hand_bench(tmp_path_factory.mktemp("lab") / "hand")


@pytest.fixture(scope="module")
def servers() -> Iterator[list[str]]:
    """The lab's three policies, each behind openpi's websocket."""
    running = [serve_openpi(Seeker(corner), {}) for corner in CORNERS.values()]
    for server in running:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    yield [
        word
        for number, server in zip(CORNERS, running, strict=True)
        for word in ("--policy-url", f"{number}=ws://127.0.0.1:{server.socket.getsockname()[1]}")
    ]
    for server in running:
        server.shutdown()


def test_the_stranger_imports_nothing_of_ours_but_the_contract() -> None:
    source = (Path(str(stranger.__file__)).parent / "world.py").read_text("utf-8")
    names = {n.module for n in ast.walk(ast.parse(source)) if isinstance(n, ast.ImportFrom)}

    ours = {name for name in names if name and name.startswith(("evaluators", "flows", "tests"))}

    assert ours == {"evaluators.contracts.world_model"}


@pytest.mark.xdist_group("embedded")
def test_a_stranger_s_world_goes_from_kit_to_the_board_of_a_lab_s_own_arm(
    arm: Path, servers: list[str], tmp_path: Path
) -> None:
    machine = Machine(
        tmp_path / "home", {"ARMILLARY_BANKS_PATH": str(arm), "ARMILLARY_ENGINE": "here"}
    )
    machine.run("init")
    out, suite = tmp_path / "out", ("--suite", "sc3.our_arm")
    manifest, labels = tmp_path / "manifest.json", tmp_path / "labels.csv"
    manifest.write_text(
        json.dumps(
            declaration(
                suite="sc3.our_arm",
                suite_version="1.0",
                subset="full",
                modalities=["trajectory"],
            )
        )
    )

    machine.run("sc3", "kit", str(tmp_path / "kit"), *suite, "--practice", "2")
    world = ("--world", f"{WORLD}:three_views", "--no-clips")
    told = machine.run("sc3", "rollout", str(out), *suite, *world, *servers)
    _label(out, labels)
    bundle = tmp_path / "bundle.zip"
    machine.run(
        *("sc3", "pack", str(out), "--to", str(bundle), "--manifest", str(manifest)),
        *("--labels", str(labels)),
    )
    submission = machine.submit(bundle)
    machine.run("evaluate", submission)

    kit = json.loads((tmp_path / "kit/kit.json").read_text())
    assert kit["practice_episodes"] == 2 and len(kit["starts"]) == 18
    assert len(open_dataset(tmp_path / "kit/practice")) == 2
    assert (tmp_path / "kit/starts/p1-0/wrist.png").is_file()
    assert np.load(tmp_path / "kit/recorded/p1-0.npy").shape == (40, 7)
    assert "36 rollouts are in" in told
    address = ("--setting", "online", "--modality", "video", "--format", "json")
    entries = json.loads(
        machine.run("board", "sc3.our_arm", "--metric", "reproduction_average", *address)
    )
    assert entries[0]["value"] > 0.9 and entries[0]["low"] is not None
    r = json.loads(
        machine.run("board", "sc3.our_arm", "--metric", "pearson_r", "--task", "pooled", *address)
    )
    assert r[0]["value"] > 0.95
    assert "All agree with the board" in machine.run("verify", submission)


def _label(rollouts: Path, table: Path) -> None:
    """What the lab's annotators see."""
    with table.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, ("sample", "annotator", "object", *CRITERIA))
        writer.writeheader()
        for path in sorted(rollouts.glob("*.npz")):
            frames = from_bytes(path.read_bytes()).frames
            row = {"sample": path.stem, "annotator": "ann", "object": "dot"}
            writer.writerow({**row, **outcome(frames)})


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
