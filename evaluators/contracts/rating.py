"""How people rate outputs in a study: what they are asked, and what their answers are worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from evaluators.contracts.outcomes import Json
from evaluators.contracts.samples import Output, Sample
from evaluators.contracts.scores import Score

if TYPE_CHECKING:
    from evaluators.contracts.suite import Published

AskKind = Literal["choice", "scale", "tick", "letter", "watched"]


@dataclass(frozen=True, slots=True)
class FormAsk:
    """A question to a rater.

    `about` is the letter of the medium it is asked of, empty for the whole item. A `letter` is
    answered with one of the media; `watched` is answered by playing a clip to its end. `anchors`
    are the words at a scale's ends. With `after`, the id of another question, it is asked only
    where that one is answered with yes.
    """

    id: str
    text: str
    kind: AskKind
    about: str = ""
    options: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    required: bool = True
    after: str = ""


@dataclass(frozen=True, slots=True)
class RatingForm:
    """What a rater reads and answers beside the media; the answers to a pair in `differ` differ.

    `heading` names the item, `legend` says what the points of a scale mean, `warning` stands beside
    the things to tick.
    """

    text: str
    asks: tuple[FormAsk, ...]
    differ: tuple[tuple[str, str], ...] = ()
    heading: str = ""
    legend: tuple[str, ...] = ()
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one rater said of one output, in one item of a study; an adjudicator's opinion `settles`
    what others say."""

    item: str
    rater: str
    place: int
    answers: Mapping[str, Json]
    settles: bool = False


@dataclass(frozen=True, slots=True)
class RatedItem:
    """One rater's answers to one item; an adjudicator's settle what the others say.

    `behind` is what no rater sees: the methods and samples by letter, the parts of the questions.
    """

    item: str
    kind: str
    rater: str
    slot: int
    answers: Mapping[str, Any]
    behind: Mapping[str, Any]
    seconds: float
    settles: bool = False


WordsOf: TypeAlias = Callable[[Sample, Output], Mapping[str, Json]]
FormOf: TypeAlias = Callable[[Mapping[str, Any], Sequence[str]], RatingForm]
StudyTable: TypeAlias = Callable[[Sequence[RatedItem], int], Mapping[str, Mapping[str, Any]]]
ScoreOpinions: TypeAlias = Callable[[Sample, Output, Sequence[Opinion]], tuple[Score, ...]]


@dataclass(frozen=True, slots=True)
class OtherMetric:
    """A number of outputs that neither judges nor people gave, to hold people's marks against.

    `single` is one output's, `together` that of an entry's outputs, the mean of the single ones
    unless told; None where it is not known, and `absent` says why. `weights` names what an output's
    was computed with: several are not comparable.
    """

    name: str
    title: str
    direction: Literal["higher", "lower"]
    single: Callable[[Output], float | None]
    together: Callable[[Sequence[Output]], float | None] | None = None
    weights: Callable[[Output], str] | None = None
    absent: str = ""


@dataclass(frozen=True, slots=True)
class OtherMetrics:
    """The metrics that people's marks are held against, and what a paper printed of the same, about
    its own data."""

    metrics: tuple[OtherMetric, ...]
    printed: Callable[[], Sequence[Published]]


@dataclass(frozen=True, slots=True)
class Rating:
    """How people rate a suite's outputs: the protocol of its studies.

    `words` are the facts of an item, and `form` makes of them and of the letters of its media what
    a rater fills in; a KeyError names a fact that an item lacks. `table` gives a study's figures by
    method, from its ratings and its seed. `guide` is the instruction, `examples` are right answers
    in doubtful cases. `show` writes what people look at into a folder, given an output's file or,
    for the real thing that is rated among the outputs where `real` is true, None; without it they
    look at the output itself. `side_by_side`: the outputs of a cluster are compared. `score` makes
    scores of opinions; without it each rater's answers are scored like a judge's and averaged.
    `beside` names, for people's metrics that no judge gives, the automatic one that speaks of the
    same. `adjudicated`: two raters give one answer together, and where they differ, an adjudicator
    decides. After `attention_each` items one checks attention. `parts` are the parts of the
    checklist that have an agreement of their own. `native`: raters see clips in their own size and
    rate, where the outputs that are compared have the same. `begins` names the first picture of an
    item in the store, which raters see beside the task. `repair` names what so many raters could
    not label that somebody should mend it. `others` are metrics that people's marks are held
    against.
    """

    words: WordsOf
    form: FormOf
    table: StudyTable
    guide: str
    examples: tuple[str, ...] = ()
    show: Callable[[Sample, Path | None, Path], Path] | None = None
    real: bool = False
    side_by_side: bool = False
    score: ScoreOpinions | None = None
    beside: Mapping[str, str] = field(default_factory=dict)
    adjudicated: bool = False
    attention_each: int = 6
    parts: tuple[str, ...] = ()
    native: bool = False
    begins: Callable[[Output], str] | None = None
    repair: Callable[[Sequence[RatedItem]], tuple[str, ...]] | None = None
    agree: Callable[[Sequence[tuple[float, float]]], Mapping[str, float | None]] | None = None
    others: OtherMetrics | None = None
