"""The demo: the real path, end to end, with what each suite's module in `demos` makes on the
spot."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from evaluators.suites.universe.producing import PACKAGED_JUDGE
from flows.cli.demos import liva, sc3, tailor, universe, universe_worlds
from flows.evaluate.door import receive
from flows.publish.seal_chain import seal_catalogue
from flows.run.catalogue import load
from flows.workers.executor import prepare
from infra.db import migrate, session
from infra.settings import Settings
from infra.tables import Submission

Say = Callable[[str], None]
DEMOS: tuple[Callable[[Settings], tuple[Path, ...]], ...] = (
    tailor.bundles,
    liva.bundles,
    universe.bundles,
    universe_worlds.bundles,
    sc3.bundles,
)
"""One function a suite: what it hands in."""


def run(settings: Settings, say: Say) -> None:
    """Create the database, hand in a model and a bundle of outputs, evaluate both, publish."""
    prepare(settings)
    say("[bold]1/6[/bold] Database and catalogue: six boards and the figures their papers print.")
    migrate(settings.database)
    with session(settings.database) as db:
        load(db)
        seal_catalogue(db)
    say(
        "[bold]2/6[/bold] Small random models: a text-to-image pipeline to be ranked, a "
        "vision-language model to judge."
    )
    judge = f"vlm:{judge_folder(settings)}"
    say(
        "[bold]3/6[/bold] Handing in models (we generate), drawn pictures, panned clips and "
        "rollouts (they generated)."
    )
    bundles = [bundle for make in DEMOS for bundle in make(settings)]
    ids = [receive(settings, str(bundle), None, None).submission_id for bundle in bundles]
    say("[bold]4/6[/bold] Evaluating: outputs, validation, verdicts, scores.")
    for submission_id in ids:
        _evaluate(settings, submission_id, judge_for(settings, submission_id, judge), say)
    say(
        "[bold]5/6[/bold] Sanity rows beside the ranking: black, noise, the prompt as text, "
        "another prompt's output."
    )
    _stand(settings, judge, say)
    _say_notices(settings, say)
    say(
        "[bold]6/6[/bold] Published. `armillary board tailor` prints the board, `armillary "
        "status` the submissions."
    )


def judge_for(settings: Settings, submission_id: str, usual: str) -> str:
    """The demo's judge; rollouts of the game are judged by the reader that was adapted on it."""
    with session(settings.database) as db:
        suite = db.get_one(Submission, submission_id).suite
    return f"vlm:{_adapted_judge(settings)}" if suite == "universe_worlds" else usual


def _adapted_judge(settings: Settings) -> Path:
    """The packaged adapter under a name that boards can show."""
    folder = settings.home.resolve() / "models" / "small-adapted-reader"
    if not folder.exists():
        shutil.copytree(PACKAGED_JUDGE, folder)
    return folder


def _evaluate(settings: Settings, submission_id: str, judge: str, say: Say) -> None:
    from flows.evaluate.flow import run_here

    result = run_here(submission_id, settings, judge)
    say(
        f"      {submission_id} is {result.state}: {result.made} outputs made, {result.judged} "
        "judged in this run."
    )


def _stand(settings: Settings, judge: str, say: Say) -> None:
    from flows.suites.yardsticks import stand

    for result in stand(settings, judge):
        if result.stopped:
            raise result.stopped
        say(f"      {result}")


def _say_notices(settings: Settings, say: Say) -> None:
    """Why nobody is ranked: the judge has random weights, and its exam shows it."""
    from sqlmodel import select

    from infra.tables.standing import BoardSight
    from leaderboard.queries.trust import notices

    with session(settings.database) as db:
        for notice in notices(db, db.exec(select(BoardSight.board))).values():
            if notice.text:
                say(f"      {notice.text}")


def judge_folder(settings: Settings) -> Path:
    """The demo's judge, of random weights, made once."""
    folder = settings.home.resolve() / "models" / "small-random-paligemma"
    if not (folder / "config.json").exists():
        from evaluators.models.small import make_paligemma

        make_paligemma(folder)
    return folder
