"""Whether the experiment's best judge would be let onto the board of world models: it is adapted
once more, saved, and sits the exam of `universe_worlds`.

`python -m tests.bench.universe_exam` prints it, in two CPU minutes; it needs the experiment's clips
and records them if they are not there.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from evaluators.judges.exam.competence import Mark, Measured, competence
from evaluators.judges.exam.sitting import sit
from evaluators.models.adapt.folder import save_adapted
from evaluators.models.adapt.train import adapt
from evaluators.models.vlm.adapter import PACKAGED, Base, packaged_base
from evaluators.models.vlm.judge import VlmJudge, read_folder, revision
from evaluators.models.vlm.paligemma import PROMPT
from evaluators.suites.universe.boards.worlds.exam import EXAM
from evaluators.suites.universe.questions import TASKS
from tests.bench.report import FOLDER
from tests.bench.universe import best
from tests.bench.universe_runs import Size, make, plan_of

FRAMES = "uniform-8"
WORDS = {"in the board's words": "", "in the words of its lessons": PROMPT}


def main() -> int:
    """Print agreement and kappa with their intervals, of all questions and of each task's."""
    torch.set_num_threads(1)
    with TemporaryDirectory(prefix="judge-") as folder:
        _adapted(Path(folder))
        for words, prompt in WORDS.items():
            marked = sit(EXAM, VlmJudge(Path(folder), frames=FRAMES, prompt=prompt))
            _print(f"{words}, all", marked)
            for number, task in enumerate(TASKS):
                _print(f"{words}, {task}", marked[number :: len(TASKS)])
    print(f"To pass, the lower end of kappa over all has to reach {EXAM.bounds.kappa}.")
    return 0


def _adapted(folder: Path) -> None:
    size = Size()
    bench, job = make(size, FOLDER), replace(best(size, 0), mask="own")
    model, processor = read_folder(packaged_base(), "cpu", "fp32")
    plan = plan_of(size, job)
    made = adapt(model, processor, bench.lessons(job), plan)
    base = Base(PACKAGED, revision(packaged_base())[:40])
    save_adapted(folder, made, base, plan, FRAMES)


def _print(name: str, marked: Sequence[Mark]) -> None:
    found = competence(marked, EXAM.menu)
    told = f"agreement {_words(found.agreement)}, kappa {_words(found.kappa)}"
    print(f"{name}: {told}, yes-bias {_words(found.yes_bias)}, {found.n} questions", flush=True)


def _words(measured: Measured) -> str:
    ends = (measured.value, measured.low, measured.high)
    value, low, high = ("none" if end is None else f"{end:.2f}" for end in ends)
    return f"{value} ({low} to {high})"


if __name__ == "__main__":
    sys.exit(main())
