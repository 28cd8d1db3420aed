"""Whether the experiment's best judge would be let onto the board of world models: it is adapted
once more, saved, and sits the exam of `universe_worlds`.

`python -m tests.bench.universe_exam` prints it for a judge of the experiment's lessons, in two CPU
minutes, `--board-words` for one whose lessons are asked as that board asks, in four; it needs the
experiment's clips and records them if they are not there. Constant answers sit the same exam.
`--keep FOLDER` only adapts the judge and keeps it: the demo's was made so.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from evaluators.contracts import Question, Request
from evaluators.judges.exam.competence import Mark, Measured, competence
from evaluators.judges.exam.sitting import sit
from evaluators.judges.scripted import ScriptedJudge
from evaluators.models.adapt.folder import save_adapted
from evaluators.models.adapt.train import adapt
from evaluators.models.vlm.adapter import PACKAGED, Base, packaged_base
from evaluators.models.vlm.judge import VlmJudge, read_folder, revision
from evaluators.models.vlm.paligemma import PROMPT
from evaluators.suites.universe.boards.worlds.exam import EXAM
from evaluators.suites.universe.questions import NO, TASKS, YES
from tests.bench.report import FOLDER
from tests.bench.universe import best
from tests.bench.universe_runs import Size, make, plan_of

FRAMES = "uniform-8"
BOARD, LESSONS = "in the board's words", "in the words of its lessons"


def main(arguments: Sequence[str]) -> int:
    """Print agreement and kappa with their intervals, of all questions and of each task's."""
    torch.set_num_threads(1)
    in_board_words = "--board-words" in arguments
    if "--keep" in arguments:
        _adapted(Path(arguments[arguments.index("--keep") + 1]), in_board_words)
        return 0
    with TemporaryDirectory(prefix="judge-") as folder:
        _adapted(Path(folder), in_board_words)
        for words, prompt in {BOARD: "", **({} if in_board_words else {LESSONS: PROMPT})}.items():
            _told(words, sit(EXAM, VlmJudge(Path(folder), frames=FRAMES, prompt=prompt)))
    for name, rule in {"always yes": always_yes, "always no": always_no}.items():
        _told(name, sit(EXAM, ScriptedJudge(rule)))
    print(f"To pass, the lower end of kappa over all has to reach {EXAM.bounds.kappa}.")
    return 0


def always_yes(_request: Request, _question: Question) -> str:
    """A judge that does not look."""
    return YES


def always_no(_request: Request, _question: Question) -> str:
    """Another one."""
    return NO


def _adapted(folder: Path, in_board_words: bool) -> None:
    size = Size()
    bench = make(size, FOLDER)
    job = replace(best(size, 0), mask="own", in_board_words=in_board_words)
    model, processor = read_folder(packaged_base(), "cpu", "fp32")
    plan = plan_of(size, job)
    made = adapt(model, processor, bench.lessons(job), plan)
    base = Base(PACKAGED, revision(packaged_base())[:40])
    save_adapted(folder, made, base, plan, FRAMES)


def _told(name: str, marked: Sequence[Mark]) -> None:
    _print(f"{name}, all", marked)
    for number, task in enumerate(TASKS):
        _print(f"{name}, {task}", marked[number :: len(TASKS)])


def _print(name: str, marked: Sequence[Mark]) -> None:
    found = competence(marked, EXAM.menu)
    told = f"agreement {_words(found.agreement)}, kappa {_words(found.kappa)}"
    print(f"{name}: {told}, yes-bias {_words(found.yes_bias)}, {found.n} questions", flush=True)


def _words(measured: Measured) -> str:
    ends = (measured.value, measured.low, measured.high)
    value, low, high = ("none" if end is None else f"{end:.2f}" for end in ends)
    return f"{value} ({low} to {high})"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
