"""A suite: a benchmark as data and a few functions, with traits that are whole or absent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from evaluators.contracts.generation import Generation, Pieces, Replay
from evaluators.contracts.judging import JudgeCard, SecondLook
from evaluators.contracts.outcomes import Facets
from evaluators.contracts.rating import Rating
from evaluators.contracts.samples import Sample
from evaluators.contracts.scores import Derive, Metric, Scoring, Tabulate

if TYPE_CHECKING:
    from evaluators.judges.exam.exam import Exam


@dataclass(frozen=True, slots=True)
class Yardstick:
    """A row that is made rather than handed in and stands beside the ranking, never in it.

    `make` writes one file a sample into a folder; where `spoils` is true it changes the outputs of
    an entry, which it is given by sample. `statement` says what made it, if that was a model.
    """

    title: str
    role: Literal["sanity", "ceiling", "baseline"]
    modality: str
    make: Callable[[Sequence[Sample], Mapping[str, Path], Path], Mapping[str, Path]]
    spoils: bool = False
    statement: str = ""


@dataclass(frozen=True, slots=True)
class Published:
    """A figure printed in a paper. It has an address like ours, a source, and no samples of ours
    behind it."""

    model: str
    metric: str
    facets: Facets
    evaluator: Literal["auto", "human"]
    value: float
    spread: float | None
    source: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """A quantity a paper states about itself, as text: some are ranges or names rather than
    numbers."""

    quantity: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Paper:
    """The paper behind a suite: its address, the figures printed in it, and its own quantities."""

    link: str
    published: Callable[[], tuple[Published, ...]]
    facts: Callable[[], tuple[Fact, ...]]


@dataclass(frozen=True, slots=True)
class BankCard:
    """A bank of samples that an operator mounts for a suite: a folder with a name, a version and a
    title of its own."""

    suite: str
    name: str
    version: str
    title: str
    folder: Path

    @property
    def suite_name(self) -> str:
        """What the suite of this bank is called.

        >>> BankCard("liva", "our_kitchens", "1.0", "Our kitchens", Path("kitchens")).suite_name
        'liva.our_kitchens'
        """
        return f"{self.suite}.{self.name}"


@dataclass(frozen=True, slots=True)
class Suite:
    """A benchmark: who it is, what it asks, and the traits that it has.

    A new suite is one folder that exports one of these. `accepts` are the kinds of bundles that it
    takes; a suite that takes none yet has no samples and no `scoring`. Each trait is whole or
    absent. `own_judge` is the card of a suite that is scored by rule: no judge is asked then.
    `private` reads an operator's own samples from a folder; their ids begin with `private.` and
    stay on the server. `mount` makes a suite of a bank that an operator keeps in a folder: the same
    rules, other samples, boards of its own. `exam` is what a judge is asked before it ranks anybody
    here. `hand_out` writes what a sample shows into a folder, for who answers elsewhere, and
    returns its name there. `judging` is the instruction for judges behind an endpoint where the
    general one does not fit the questions: a template in which $reply stands for the form of the
    reply; it is part of their cards.
    """

    name: str
    version: str
    scorer_version: str
    title: str
    sentence: str
    ranked: str
    facet_titles: Mapping[str, str]
    metrics: tuple[Metric, ...]
    samples: Callable[[], tuple[Sample, ...]]
    subsets: Mapping[str, Callable[[Sample], bool]] = field(default_factory=dict)
    accepts: tuple[str, ...] = ()
    paper: Paper | None = None
    scoring: Scoring | None = None
    generation: Generation | None = None
    own_judge: JudgeCard | None = None
    second_look: SecondLook | None = None
    pieces: Pieces | None = None
    replay: Replay | None = None
    yardsticks: tuple[Yardstick, ...] = ()
    private: Callable[[Path], tuple[Sample, ...]] | None = None
    mount: Callable[[BankCard], Suite] | None = None
    hand_out: Callable[[Sample, Path], str] | None = None
    rating: Rating | None = None
    exam: Exam | None = None
    judging: str = ""

    @property
    def tabulate(self) -> Tabulate | None:
        """The suite's own table; None where cells are means over samples."""
        return self.scoring.tabulate if self.scoring else None

    @property
    def derive(self) -> Derive | None:
        """The cells that follow from others; None where there are no such cells."""
        return self.scoring.derive if self.scoring else None
