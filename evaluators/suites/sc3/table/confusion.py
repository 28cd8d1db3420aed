"""How far the annotator is off: what it read in the real runs against the simulator's own truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.suites.sc3.rollouts.trajectories import CRITERIA
from evaluators.suites.sc3.table.trials import TableTrial


@dataclass(frozen=True, slots=True)
class CriterionConfusion:
    """Of one criterion: how often it held and was seen, held and was missed, did not hold and was
    seen, did not hold and was not seen."""

    criterion: str
    hits: int
    misses: int
    inventions: int
    rejections: int

    @property
    def words(self) -> str:
        """In a sentence."""
        name = self.criterion.replace("_", " ")
        held, absent = self.hits + self.misses, self.inventions + self.rejections
        return f"{name} missed {self.misses} of {held}, invented {self.inventions} of {absent}"


def confusion(trials: Sequence[TableTrial]) -> tuple[CriterionConfusion, ...]:
    """Each criterion over the real runs."""
    return tuple(_counted(name, trials) for name in CRITERIA)


def confusion_words(trials: Sequence[TableTrial]) -> str:
    """All criteria in a sentence."""
    listed = "; ".join(row.words for row in confusion(trials))
    return f"of {len(trials)} runs {listed}"


def _counted(name: str, trials: Sequence[TableTrial]) -> CriterionConfusion:
    pairs = [
        (getattr(trial.outcomes["real"], name), getattr(trial.outcomes["real as annotated"], name))
        for trial in trials
    ]
    cells = ((True, True), (True, False), (False, True), (False, False))
    return CriterionConfusion(name, *(pairs.count(cell) for cell in cells))
