"""A lab rolls policies out inside its own world model: kept, resumed, bundled, and every mistake
told in words."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from evaluators.contracts.world_model import ForwardRequest, WorldFault, imagine
from evaluators.models.cosmos.embodiment import CosmosSettings, write_settings
from evaluators.models.cosmos.world import CosmosWorld
from evaluators.models.video_world import training
from evaluators.suites.sc3.kit import KIT, PRACTICE
from evaluators.suites.sc3.reading import read
from evaluators.suites.sc3.samples import samples
from evaluators.worlds.lerobot.layout import RobotEpisode
from evaluators.worlds.lerobot.writing import DatasetCard, write_dataset
from flows.suites.sc3_rollouts import CannotRollOut, pack, read_servers
from flows.suites.sc3_train import CannotTrain, WorldTrainingPlan, train_here
from flows.suites.sc3_worlds import (
    CosmosTuning,
    WorldRollouts,
    check_world,
    open_world,
    roll_out_in,
    serve_policy,
    tune_cosmos,
)
from tests.command import Machine
from tests.models.small_cosmos import small_cosmos
from tests.suites.sc3.rolled import model_folder, said


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return model_folder(tmp_path_factory.mktemp("lab") / "small")


@pytest.fixture
def server() -> Iterator[str]:
    made = serve_policy(1, 0)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield f"ws://127.0.0.1:{made.socket.getsockname()[1]}"
    made.shutdown()


def wish(model: Path, to: Path, mode: str = "offline", **servers: str) -> WorldRollouts:
    urls = {int(name[1:]): url for name, url in servers.items()}
    return WorldRollouts("sc3", str(model), "cpu", to, 1, (mode,), urls, clips=False)


@pytest.mark.xdist_group("embedded")
def test_rollouts_by_the_command_line_are_kept_and_can_be_handed_in_as_a_bundle(
    model: Path, tmp_path: Path
) -> None:
    machine, to, manifest = (
        Machine(tmp_path / "home"),
        tmp_path / "made",
        tmp_path / "manifest.json",
    )
    manifest.write_text(json.dumps(said(partial=True)))

    told = machine.run("sc3", "rollout", str(to), "--world", str(model), "--starts", "1")
    before = {path.name: path.stat().st_mtime_ns for path in to.glob("*.npz")}
    roll_out_in(wish(model, to), lambda _done: None)
    machine.run(
        "sc3", "pack", str(to), "--to", str(tmp_path / "bundle.zip"), "--manifest", str(manifest)
    )

    assert "14 rollouts are in" in told and len(list(to.glob("*.mp4"))) == 3 * 14
    assert {path.name: path.stat().st_mtime_ns for path in to.glob("*.npz")} == before
    assert len((to / "trajectories.jsonl").read_text().splitlines()) == len(before) == 14
    known = {sample.id: sample for sample in samples()}
    for name in list(before)[:2]:
        assert read(known[name.removesuffix(".npz")], to / name)["steps"] == 200
    assert "14 files for 42 samples of sc3" in machine.run("check", str(tmp_path / "bundle.zip"))


@pytest.mark.xdist_group("embedded")
def test_mistakes_end_in_words_by_the_command_line(model: Path, tmp_path: Path) -> None:
    machine, to = Machine(tmp_path / "home"), str(tmp_path / "made")
    other = ("sc3", "rollout", to, "--world", str(model), "--policy-url", "no=ws://localhost")

    assert "names no policy" in machine.run(*other, status=2)
    assert "names no world" in machine.run(
        "sc3", "rollout", to, "--world", str(tmp_path / "nothing"), status=2
    )


def test_a_policy_of_the_lab_s_own_is_asked_at_its_server_and_not_handed_in(
    model: Path, server: str, tmp_path: Path
) -> None:
    counted: list[int] = []
    servers = {f"_{number}": server for number in range(1, 8)}

    theirs = roll_out_in(wish(model, tmp_path / "theirs", "online", **servers), counted.append)

    assert sum(counted) == len(theirs) == 7
    with pytest.raises(CannotRollOut, match="policies of your own"):
        pack(tmp_path / "theirs", tmp_path / "bundle.zip", said())


def test_what_is_wrong_with_model_folder_or_server_is_told(model: Path, tmp_path: Path) -> None:
    def heard(asked: WorldRollouts) -> str:
        with pytest.raises(CannotRollOut) as error:
            roll_out_in(asked, lambda _done: None)
        return str(error.value)

    (tmp_path / "empty").mkdir()
    (tmp_path / "strange").mkdir()
    (tmp_path / "strange" / "config.json").write_text("{}")

    assert "model_type" in heard(wish(tmp_path / "strange", tmp_path / "made"))
    assert "did not answer" in heard(
        wish(model, tmp_path / "theirs", "online", _2="ws://127.0.0.1:9")
    )
    with pytest.raises(CannotRollOut, match="holds no rollout"):
        pack(tmp_path / "empty", tmp_path / "bundle.zip", said())
    with pytest.raises(CannotRollOut, match="1 to 7"):
        read_servers(["two=ws://localhost"])


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A kit with practice of noise, which is enough to learn nothing from."""
    folder = tmp_path_factory.mktemp("kit")
    dice = np.random.default_rng(0)
    card = DatasetCard("sc3", 10, tuple("abcdefg"), ("x",))

    def episode() -> RobotEpisode:
        views = {
            name: dice.integers(0, 255, (31, 32, 32, 3), dtype=np.uint8)
            for name in ("agent", "wrist")
        }
        actions = dice.normal(size=(30, 7)).astype(np.float32)
        return RobotEpisode(views, actions, np.zeros((31, 1), np.float32), "do it")

    write_dataset(folder / PRACTICE, card, (episode() for _ in range(2)))
    content = {"views": ["agent", "wrist"], "size": [32, 32], "rate": 10.0}
    (folder / KIT).write_text(json.dumps(content))
    return folder


def test_a_model_of_any_size_is_trained_on_a_kit(
    kit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes, steps = tmp_path / "sizes.json", list[int]()
    sizes.write_text(json.dumps({"hidden": 16, "depth": 1, "heads": 2, "horizon": 24}))
    # The codec learns for minutes; here it stays as it begins.
    monkeypatch.setattr(training, "teach_codec", lambda *_codec, **_how: None, raising=False)

    plan = WorldTrainingPlan(kit, tmp_path / "made", sizes, 2, 2, ("cross_view",), 0)
    train_here(plan, lambda step, _loss: steps.append(step))

    made = json.loads((tmp_path / "made" / "config.json").read_text())
    assert steps == [1, 2] and (made["hidden"], made["height"]) == (16, 32)
    assert made["modes"] == ["forward", "inverse"]


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ("{", "cannot be read as JSON"),
        ("[1]", "must hold an object"),
        ('{"wide": 3}', "no size 'wide'"),
        ('{"horizon": 25}', "horizon is 25"),
    ],
)
def test_what_cannot_be_trained_is_refused_in_words(
    kit: Path, tmp_path: Path, sizes: str, words: str
) -> None:
    path = tmp_path / "sizes.json"
    path.write_text(sizes)

    with pytest.raises(CannotTrain, match=words):
        train_here(
            WorldTrainingPlan(kit, tmp_path / "made", path, 1, 1, (), 0), lambda *_told: None
        )


def test_a_folder_that_is_no_kit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotTrain, match="is no kit with practice"):
        train_here(
            WorldTrainingPlan(tmp_path, tmp_path / "made", None, 1, 1, (), 0), lambda *_told: None
        )


@pytest.fixture(scope="module")
def cosmos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Cosmos 3 pipeline with sizes reduced, as it is published."""
    folder = tmp_path_factory.mktemp("published") / "cosmos"
    small_cosmos().save_pretrained(folder)
    return folder


def test_the_folder_of_a_cosmos_pipeline_is_opened_as_a_world(cosmos: Path) -> None:
    check_world(str(cosmos))

    world = open_world(str(cosmos), "cpu")

    assert isinstance(world, CosmosWorld)
    assert (world.card.chunk, world.card.modes) == (24, ("forward", "inverse"))
    assert world.card.views == ("agent", "front", "wrist")


@pytest.mark.parametrize("rank", [0, 2])
def test_cosmos_is_tuned_on_a_kit_and_opened_as_a_world_of_its_robot(
    cosmos: Path, kit: Path, tmp_path: Path, rank: int
) -> None:
    told, to = list[int](), tmp_path / "tuned"
    plan = CosmosTuning(steps=2, batch=1, rate=1e-3, rank=rank, seed=0, device="cpu")

    losses = tune_cosmos(cosmos, kit, to, plan, lambda step, _loss: told.append(step))
    check_world(str(to))
    world = open_world(str(to), "cpu")

    assert len(losses) == 2 and told == [1, 2] and isinstance(world, CosmosWorld)
    card = world.card
    assert (card.views, card.height, card.width) == (("agent", "wrist"), 32, 32)
    assert len(card.action_scale) == 7
    assert card.revision != open_world(str(cosmos), "cpu").card.revision
    first, none = np.zeros((2, 1, 32, 32, 3), np.uint8), np.zeros((0, 7), np.float32)
    request = ForwardRequest("start", 1, "do it", first, none, np.ones((4, 7), np.float32))
    assert imagine(world, [request])[0].shape == (2, 4, 32, 32, 3)


def test_what_cannot_be_tuned_or_opened_as_cosmos_is_refused_in_words(
    cosmos: Path, kit: Path, tmp_path: Path
) -> None:
    def heard(base: Path, learned: Path, to: Path) -> str:
        with pytest.raises(CannotRollOut) as error:
            tune_cosmos(base, learned, to, plan, lambda *_told: None)
        return str(error.value)

    plan = CosmosTuning(steps=1, batch=1, rate=1e-3, rank=2, seed=0, device="cpu")
    begun = tmp_path / "begun" / "checkpoint"
    begun.mkdir(parents=True)
    (begun / "run.json").write_text(json.dumps({"run": "{}", "losses": []}))
    write_settings(CosmosSettings(base=str(tmp_path / "gone")), tmp_path / "lora")

    assert "is no Cosmos 3 pipeline" in heard(kit, kit, tmp_path / "to")
    assert "is no kit with practice" in heard(cosmos, tmp_path, tmp_path / "to")
    assert "run with other settings" in heard(cosmos, kit, tmp_path / "begun")
    with pytest.raises(WorldFault, match="cannot be opened as a Cosmos 3 pipeline"):
        open_world(str(tmp_path / "lora"), "cpu")
