"""What stands beside any world model on the simulated table: a second real run, worlds that know
too little, fakes that look at nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.suites.sc3.agreement import Match, agree
from evaluators.suites.sc3.fakes import criterion_mean, shuffled_policies
from evaluators.suites.sc3.resampling import draw, ends_around
from evaluators.suites.sc3.rollouts.trajectories import CRITERIA
from evaluators.suites.sc3.table.confusion import confusion
from evaluators.suites.sc3.table.trials import BLIND, TableTrial
from evaluators.worlds.tabletop.cards import CARDS

RESAMPLES = 400
RUNS = (
    "again online",
    "again offline",
    "real as annotated",
    "noisy",
    "never grasps",
    "frozen",
    "grey",
    "noise",
)


@dataclass(frozen=True, slots=True)
class ControlRow:
    """One evaluator's numbers with their intervals, ready to print."""

    name: str
    cells: tuple[str, ...]


def matches(trials: Sequence[TableTrial], run: str) -> list[Match]:
    """What held in some run beside what really did."""
    return [
        Match(t.start, t.policy, t.split, (t.outcomes["real"],), (t.outcomes[run],)) for t in trials
    ]


def faked(trials: Sequence[TableTrial], outcomes: Sequence[ObjectOutcome]) -> list[Match]:
    """What a fake says beside what really held."""
    return [
        Match(t.start, t.policy, t.split, (t.outcomes["real"],), (outcome,))
        for t, outcome in zip(trials, outcomes, strict=True)
    ]


def control_row(name: str, matched: Sequence[Match]) -> ControlRow:
    """Pooled r, r within criterion, MMRV, reproduction and error of rates."""
    agreed, draws = agree(matched), draw(matched, RESAMPLES)
    drawn = draws.agreement(CRITERIA)
    names = ("pearson_r", "pearson_r_within", "mmrv", "rate_error")
    values = {metric: getattr(agreed, metric) for metric in names}
    cells = [
        _cell(value, ends_around(getattr(drawn, metric), value, metric))
        for metric, value in values.items()
    ]
    average = agreed.reproduction.average
    reproduced = _cell(average, ends_around(draws.reproduction(), average))
    return ControlRow(name, (*cells[:3], reproduced, cells[3]))


def rows(trials: Sequence[TableTrial]) -> list[ControlRow]:
    """Every control row."""
    real = matches(trials, "real")
    fakes = {"criterion mean": criterion_mean, "shuffled policies": shuffled_policies}
    return [
        *(control_row(run, matches(trials, run)) for run in RUNS),
        *(control_row(name, faked(trials, fake(real))) for name, fake in fakes.items()),
    ]


def show(trials: Sequence[TableTrial]) -> str:
    """The tables as text."""
    lines = [f"{len(trials)} starts of {len(CARDS)} policies; intervals: starts drawn again.", ""]
    lines += ["| policy | language | lifting | placing | again |", "|---|---|---|---|---|"]
    for card in CARDS:
        mine = [trial for trial in trials if trial.policy == card.id]
        lines.append(
            f"| {card.id} {card.title} | {_rates(mine, 'real')} | {_rates(mine, 'again online')} |"
        )
    header = "| evaluator | r | r within | MMRV | reproduction | error of rates |"
    lines += ["", header, "|---|---|---|---|---|---|"]
    lines += [f"| {entry.name} | {' | '.join(entry.cells)} |" for entry in rows(trials)]
    for name in BLIND:
        share = np.mean([trial.differ[name] for trial in trials])
        lines.append(f"{name}: {share:.1%} of the chunks after the first differ from the real ones")
    return "\n".join([*lines, "", *_confusion(trials)])


def _confusion(trials: Sequence[TableTrial]) -> list[str]:
    lines = ["annotator against the truth (yes as yes, yes as no, no as yes, no as no):"]
    for row in confusion(trials):
        counts = [row.hits, row.misses, row.inventions, row.rejections]
        lines.append(f"{row.criterion}: {counts}")
    return lines


def _rates(trials: Sequence[TableTrial], run: str) -> str:
    separator = " | " if run == "real" else " / "
    return separator.join(
        f"{np.mean([getattr(trial.outcomes[run], name) for trial in trials]):.2f}"
        for name in CRITERIA
    )


def _cell(value: float | None, sure: tuple[float, float] | None) -> str:
    if value is None:
        return "none"
    return f"{value:.3f}" + (f" [{sure[0]:.2f}, {sure[1]:.2f}]" if sure else "")
