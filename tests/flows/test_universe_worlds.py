"""World models of the game through the door: the game itself ranks them by rule, whatever the
judge."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evaluators.contracts import Question, Request
from evaluators.judges.scripted import ScriptedJudge
from evaluators.suites import suite_named
from evaluators.suites.universe.boards.worlds.rolling import frozen_world, noise_world, roll_out
from evaluators.suites.universe.boards.worlds.yardsticks import GAME, yardsticks
from flows.cli.game.worlds import pack_game
from flows.evaluate.door import receive
from flows.evaluate.flow import run_here
from flows.workers.judges import open_judge
from infra.db import session
from infra.settings import Settings
from leaderboard.queries.ranking import BoardAddress, ranking
from tests.bundles import declaration

SUITE = suite_named("universe_worlds")
DEMO = [sample for sample in SUITE.samples() if SUITE.subsets["demo"](sample)]
Rule = Callable[[Request, Question], str]


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


def publish(folder: Path, suite: str, bundle: Path) -> str:
    """Hand a folder of rollouts in and evaluate it."""
    about = declaration(
        suite=suite,
        suite_version=suite_named(suite).version,
        subset="demo",
        modalities=["video"],
    )
    pack_game(folder, bundle, about)
    submission = receive(Settings(), str(bundle), None, None).submission_id
    return run_here(submission, Settings(), "").state


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
        publish(folder, "universe_truth", tmp_path / f"{folder.name}.zip")
        for folder in (game, frozen, tmp_path / "noise")
    ]
    with session(Settings().database) as db:
        rows = [r for r in ranking(db, "universe_truth", None, BoardAddress()) if r.trust != "C"]

    assert states == ["published"] * 3
    assert rows[0].rank == 1 and float(rows[0].value or 0) >= 60
    assert all(row.value == 0 for row in rows[1:])
