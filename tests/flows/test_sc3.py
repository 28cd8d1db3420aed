"""A lab rolls policies out inside its own dynamics model: kept, resumed, bundled, and every mistake
told in words."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluators.suites.sc3.reading import read
from evaluators.suites.sc3.samples import policies, samples
from evaluators.worlds.policies.http import serve_policy
from flows.suites.sc3_rollouts import CannotRollOut, RolloutRequest, pack, read_servers, roll_out
from flows.suites.sc3_train import CannotTrain, DynamicsTrainingPlan, train_here
from tests.command import Machine
from tests.suites.sc3.rolled import model_folder, said


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return model_folder(tmp_path_factory.mktemp("lab") / "small")


@pytest.fixture
def server() -> Iterator[str]:
    made = serve_policy(policies()[1])
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{made.server_address[1]}"
    made.shutdown()
    made.server_close()


def wish(model: Path, to: Path, **servers: str) -> RolloutRequest:
    return RolloutRequest(
        model,
        to,
        1,
        ("online",),
        {int(name[1:]): url for name, url in servers.items()},
        clips=False,
    )


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
    roll_out(RolloutRequest(model, to, 1, ("offline",), {}, clips=True), lambda _done: None)
    machine.run(
        "sc3", "pack", str(to), "--to", str(tmp_path / "bundle.zip"), "--manifest", str(manifest)
    )

    assert "14 rollouts are in" in told and len(list(to.glob("*.mp4"))) == 3 * 14
    assert {path.name: path.stat().st_mtime_ns for path in to.glob("*.npz")} == before
    assert len((to / "trajectories.jsonl").read_text().splitlines()) == len(before) == 14
    known = {sample.id: sample for sample in samples()}
    assert all(read(known[name.removesuffix(".npz")], to / name)["steps"] == 56 for name in before)
    assert "14 files for 42 samples of sc3" in machine.run("check", str(tmp_path / "bundle.zip"))


@pytest.mark.xdist_group("embedded")
def test_mistakes_end_in_words_by_the_command_line(model: Path, tmp_path: Path) -> None:
    machine, to = Machine(tmp_path / "home"), str(tmp_path / "made")
    other = ("sc3", "rollout", to, "--world", str(model), "--policy-url", "no=http://localhost")

    assert "names no policy" in machine.run(*other, status=2)
    assert "names no world" in machine.run(
        "sc3", "rollout", to, "--world", str(tmp_path / "nothing"), status=2
    )


def test_a_policy_of_the_lab_s_own_is_asked_at_its_server_and_not_handed_in(
    model: Path, server: str, tmp_path: Path
) -> None:
    counted: list[int] = []

    ours = roll_out(wish(model, tmp_path / "ours"), counted.append)
    theirs = roll_out(wish(model, tmp_path / "theirs", _1=server), counted.append)

    assert sum(counted) == len(ours) + len(theirs) == 14
    assert [path.read_bytes() for path in ours] == [path.read_bytes() for path in theirs]
    with pytest.raises(CannotRollOut, match="policies of your own"):
        pack(tmp_path / "theirs", tmp_path / "bundle.zip", said())


def test_what_is_wrong_with_model_folder_or_server_is_told(model: Path, tmp_path: Path) -> None:
    def heard(asked: RolloutRequest) -> str:
        with pytest.raises(CannotRollOut) as error:
            roll_out(asked, lambda _done: None)
        return str(error.value)

    (tmp_path / "empty").mkdir()
    roll_out(wish(model, tmp_path / "made"), lambda _done: None)
    far = model_folder(tmp_path / "far" / "small", horizon=32)

    assert "cannot be opened" in heard(wish(tmp_path / "empty", tmp_path / "made"))
    assert "other settings or weights" in heard(wish(far, tmp_path / "made"))
    assert "did not answer" in heard(wish(model, tmp_path / "theirs", _2="http://127.0.0.1:9"))
    with pytest.raises(CannotRollOut, match="holds no rollout"):
        pack(tmp_path / "empty", tmp_path / "bundle.zip", said())
    with pytest.raises(CannotRollOut, match="1 to 7"):
        read_servers(["two=http://localhost"])


@pytest.mark.xdist_group("embedded")
def test_a_model_of_any_size_is_trained_by_the_command_line_and_has_its_tau(tmp_path: Path) -> None:
    sizes = tmp_path / "sizes.json"
    sizes.write_text(
        json.dumps(
            {"dynamics": {"width": 16, "depth": 1, "heads": 2, "horizon": 16, "strides": [1]}}
        )
    )
    few = ("--steps", "2", "--sight-steps", "2", "--batch", "4", "--episodes", "6")

    told = Machine(tmp_path / "home").run(
        "sc3", "train", str(tmp_path / "made"), "--config", str(sizes), *few
    )

    made = json.loads((tmp_path / "made" / "config.json").read_text())
    assert "Hand it in" in told and (made["width"], made["horizon"]) == (16, 16)
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == [
        "config.json",
        "model.safetensors",
    ]
    assert (made["tau"] is None) == ("never stops" in told)


@pytest.mark.parametrize(
    ("sizes", "without", "words"),
    [
        ("{", (), "cannot be read as JSON"),
        ("[1]", (), "must hold an object"),
        ('{"dynamics": {"wide": 3}}', (), "no size 'wide' in dynamics"),
        ('{"dynamics": {"horizon": 25}}', (), "horizon is 25"),
        ("{}", ("forward",), "no mode that can be left out"),
    ],
)
def test_what_cannot_be_trained_is_refused_in_words(
    tmp_path: Path, sizes: str, without: tuple[str, ...], words: str
) -> None:
    path = tmp_path / "sizes.json"
    path.write_text(sizes)

    with pytest.raises(CannotTrain, match=words):
        train_here(
            DynamicsTrainingPlan(tmp_path / "made", path, 1, 1, 1, 1e-3, 1, without, 0),
            lambda *_told: None,
        )
