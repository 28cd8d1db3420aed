"""World models of the game through the door: a judge that sees ranks them, a blind one ranks
nobody, and the game itself ranks them by rule."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluators.contracts import Outcome, Output, Question, Request, Sample
from evaluators.judges.scripted import ScriptedJudge
from evaluators.media import read_frames
from evaluators.suites import suite_named
from evaluators.suites.universe.boards.worlds.bank import CHOICE, start_of
from evaluators.suites.universe.boards.worlds.looking import parts, show_eight
from evaluators.suites.universe.boards.worlds.rolling import frozen_world, noise_world, roll_out
from evaluators.suites.universe.boards.worlds.scoring import score
from evaluators.suites.universe.boards.worlds.showings import SHOWINGS
from evaluators.suites.universe.boards.worlds.yardsticks import GAME, yardsticks
from evaluators.suites.universe.producing import PACKAGED_JUDGE
from flows.cli.game.worlds import pack_game
from flows.evaluate.door import receive
from flows.evaluate.flow import run_here
from flows.suites.yardsticks import stand
from flows.workers.judges import JudgeOptions, open_judge
from infra.db import session
from infra.settings import Settings
from leaderboard.queries.ranking import BoardAddress, RankedEntry, ranking
from tests.bundles import declaration
from tests.command import Machine

SUITE = suite_named("universe_worlds")
DEMO = [sample for sample in SUITE.samples() if SUITE.subsets["demo"](sample)]
BY_ID = {sample.id: sample for sample in DEMO}
assert SUITE.exam is not None
ITEMS = {item.id: item for item in SUITE.exam.items()}
Rule = Callable[[Request, Question], str]


def looks(request: Request, question: Question) -> str:
    """Knows the exam; of a rollout it says what was given if it looks like the game, else the
    last of the menu."""
    if request.sample_id in ITEMS:
        return ITEMS[request.sample_id].answers[question.id]
    sample = BY_ID[request.sample_id.partition("#")[0]]
    showing = SHOWINGS[question.id.partition("/")[0]]
    shown, real = read_frames(request.media), showing(start_of(sample).truth)
    alike = np.abs(shown.astype(int) - real.astype(int)).mean() < 8
    return true_answer(sample, question) if alike else question.options[-1]


def true_answer(sample: Sample, question: Question) -> str:
    labels = sample.reference["labels"]
    assert isinstance(labels, dict)
    label = str(labels["action" if "/action" in question.id else "character"])
    if question.kind == "choice":
        return label
    return "yes" if label in question.text else "no"


def always_yes(_request: Request, question: Question) -> str:
    return question.options[0]


@pytest.fixture
def judged_by(ready: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Rule], None]]:
    """A machine whose judge has to sit the exam and answers by a rule."""
    monkeypatch.setenv("ARMILLARY_EXAM", "required")
    monkeypatch.setenv("ARMILLARY_ENGINE", "here")
    monkeypatch.delenv("PREFECT_API_URL", raising=False)

    def answer_by(rule: Rule) -> None:
        monkeypatch.setattr("flows.workers.judges.ScriptedJudge", lambda: ScriptedJudge(rule))
        open_judge.cache_clear()

    yield answer_by
    open_judge.cache_clear()


def manifest(suite: str, name: str) -> dict[str, Any]:
    """What is said of rollouts of the demo's starts."""
    about = declaration(
        suite=suite,
        suite_version=suite_named(suite).version,
        subset="demo",
        modalities=["video"],
    )
    return {**about, "model": {**about["model"], "name": name}}


def publish(folder: Path, suite: str, bundle: Path, name: str) -> str:
    """Hand a folder of rollouts in and evaluate it."""
    about = manifest(suite, name)
    pack_game(folder, bundle, about)
    submission = receive(Settings(), str(bundle), None, None).submission_id
    return run_here(submission, Settings(), "").state


def board(suite: str, settings: Settings) -> dict[str, RankedEntry]:
    """The entries of a suite by the names of their models; no figures of papers."""
    with session(settings.database) as db:
        rows = ranking(db, suite, None, BoardAddress())
    return {row.model: row for row in rows if row.trust != "C"}


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The game's own frames as rollouts."""
    folder = tmp_path_factory.mktemp("game")
    next(row for row in yardsticks() if row.title == GAME).make(DEMO, {}, folder)
    return folder


def test_the_game_itself_ranks_without_a_judge(
    judged_by: Callable[[Rule], None], game: Path, tmp_path: Path
) -> None:
    judged_by(always_yes)
    frozen = tmp_path / "frozen"
    roll_out(frozen_world(), DEMO, frozen)
    roll_out(noise_world(), DEMO, tmp_path / "noise")

    states = [
        publish(folder, "universe_truth", tmp_path / f"{name}.zip", name)
        for name, folder in (("game", game), ("frozen", frozen), ("noise", tmp_path / "noise"))
    ]
    rows = board("universe_truth", Settings())

    assert states == ["published"] * 3
    assert rows["game"].rank == 1 and float(rows["game"].value or 0) >= 60
    assert rows["frozen"].value == rows["noise"].value == 0


@pytest.mark.long
@pytest.mark.parametrize(("rule", "ranks"), [(looks, [1, 2]), (always_yes, [None, None])])
def test_a_judge_that_sees_ranks_worlds_and_a_blind_one_ranks_nobody(
    rule: Rule,
    ranks: list[int | None],
    judged_by: Callable[[Rule], None],
    game: Path,
    tmp_path: Path,
) -> None:
    judged_by(rule)
    roll_out(frozen_world(), DEMO, tmp_path / "frozen")

    publish(game, SUITE.name, tmp_path / "game.zip", "The game")
    publish(tmp_path / "frozen", SUITE.name, tmp_path / "frozen.zip", "A frozen frame")
    list(stand(Settings()))
    rows = board(SUITE.name, Settings())

    assert [rows["The game"].rank, rows["A frozen frame"].rank] == ranks
    scores = {name: float(row.value or 0) for name, row in rows.items()}
    if rule is looks:
        assert scores["The game"] > 90 and scores["A frozen frame"] < 20
    else:
        assert abs(scores["The game"] - scores["A frozen frame"]) < 20


def test_a_world_trained_on_recorded_play_is_ranked_by_commands_alone(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "home", {"ARMILLARY_ENGINE": "here"})
    kit, world, out = (str(tmp_path / name) for name in ("kit", "world", "rollouts"))
    bundle, about = str(tmp_path / "bundle.zip"), tmp_path / "manifest.json"
    about.write_text(json.dumps(manifest("universe_truth", "Eight steps")))
    rollouts = ("universe", "rollouts")
    machine.run("init")

    machine.run(*rollouts, "kit", kit, "--subset", "demo", "--height", "24", "--practice", "2")
    machine.run(*rollouts, "train", world, "--kit", kit, "--steps", "8")
    machine.run(*rollouts, "rollout", out, "--world", world, "--subset", "demo")
    machine.run(*rollouts, "pack", out, "--to", bundle, "--manifest", str(about))
    machine.run("evaluate", machine.submit(Path(bundle)))
    row = board("universe_truth", Settings(home=machine.home))["Eight steps"]

    assert (row.rank, row.trust) == (1, "B") and row.n_scored == row.n_expected == len(DEMO)


def test_an_adapted_judge_votes_over_eight_showings_of_a_rollout(
    home: Settings, tmp_path: Path
) -> None:
    sample = next(one for one in DEMO if one.facets.setting == CHOICE)
    rollout = roll_out(frozen_world(), [sample], tmp_path / "frozen")[sample.id]
    kept: dict[str, Path] = {}

    def keep(path: Path) -> str:
        kept[path.name] = path
        return path.name

    record = show_eight(sample, rollout, (), tmp_path, keep)
    output = Output(sample.id, Outcome.SCORED, rollout, record)
    asked = [
        Request(
            f"{sample.id}#{part.id}",
            kept[part.media_sha256],
            part.media_sha256,
            "video",
            part.prompt,
            part.questions,
        )
        for part in parts(sample, output)
    ]
    judge = open_judge(f"vlm:{PACKAGED_JUDGE}", "cpu", JudgeOptions.of(home))
    answers = {a.question_id: a for reply in judge.judge(asked) for a in reply.answers}
    found = {one.metric: one for one in score(sample, output, answers)}

    assert len(asked) == 8 and len(answers) == 16
    menus = {question.id: question.options for part in asked for question in part.questions}
    assert all(a.value in menus[name] for name, a in answers.items() if a.value)
    assert found["score"].outcome == Outcome.SCORED and found["score"].value in (0.0, 50.0, 100.0)
    assert found["vote_agreement"].value is not None
