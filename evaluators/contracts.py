"""The words that suites, models and judges share: what is asked, what came back, and what it is
worth."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from evaluators.agents.agent import Agent
    from evaluators.agents.video_model import VideoModel

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


class Outcome(StrEnum):
    """What became of one thing that was expected; exactly one of these, never a silent gap."""

    SCORED = "scored"
    MODEL_FAILED = "model_failed"
    OUTPUT_MISSING = "output_missing"
    OUTPUT_INVALID = "output_invalid"
    BLOCKED = "blocked"
    JUDGE_UNPARSABLE = "judge_unparsable"
    JUDGE_ERROR = "judge_error"
    NOT_APPLICABLE = "not_applicable"
    EXCLUDED = "excluded"


SUBMITTER_FAILURES = frozenset(
    {Outcome.MODEL_FAILED, Outcome.OUTPUT_MISSING, Outcome.OUTPUT_INVALID, Outcome.BLOCKED}
)
"""These count as the worst value of a metric."""

OUR_FAILURES = frozenset({Outcome.JUDGE_UNPARSABLE, Outcome.JUDGE_ERROR})
"""These are judged again, leave the mean, and block publication when there are too many."""


@dataclass(frozen=True, slots=True)
class Facets:
    """The address of a result: one vocabulary for all suites."""

    scenario: str
    task: str
    setting: str
    modality: str


FACETS = ("scenario", "task", "setting", "modality")
ALL = "*"
"""In a cell's address: over all values of this facet."""

QuestionKind = Literal["yes_no", "rating", "choice", "open"]


@dataclass(frozen=True, slots=True)
class Question:
    """One thing asked about one output; `options` is the whole menu of a closed question."""

    id: str
    text: str
    kind: QuestionKind
    part: str = ""
    options: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Sample:
    """One item of a suite: what the model is given, and what will be asked about its answer."""

    id: str
    facets: Facets
    cluster: str
    prompt: str
    questions: tuple[Question, ...] = ()
    reference: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Output:
    """What came back for a sample. `file` is set when the outcome is scored.

    Where the suite wants no media but an answer, actions or an outcome, `record["value"]` holds
    what the file says. Files in `beside` go into the store too, and `record["files"]` then holds
    their hashes by name: for the panel.
    """

    sample_id: str
    outcome: Outcome
    file: Path | None = None
    record: Mapping[str, Json] = field(default_factory=dict)
    reason: str = ""
    beside: Mapping[str, Path] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of an output that is judged by itself, a clip of a longer video say; it lies in the
    store by its hash."""

    id: str
    media_sha256: str
    media_type: str
    prompt: str
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """All questions about one output, asked of a judge together."""

    sample_id: str
    media: Path
    media_sha256: str
    modality: str
    prompt: str
    questions: tuple[Question, ...]
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """A judge's answer to one question: on the menu, or no value and an outcome that says why."""

    question_id: str
    outcome: Outcome
    value: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a judge gave back for one request, its raw words kept."""

    sample_id: str
    answers: tuple[Answer, ...]
    raw: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class Score:
    """One metric of one sample. No value is no value; the outcome says why."""

    sample_id: str
    metric: str
    outcome: Outcome
    value: float | None = None
    detail: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cell:
    """A metric over all samples at one address, how many there are and should be, its 95 % interval
    if known.

    `note` is what a reader has to know of it; the board shows it beside the entry.
    """

    metric: str
    facets: Facets
    value: float | None
    n_scored: int
    n_expected: int
    why_empty: str = ""
    low: float | None = None
    high: float | None = None
    note: str = ""


Direction = Literal["higher", "lower"]
Pool = Callable[[Sequence[Score]], float | None]


@dataclass(frozen=True, slots=True)
class Metric:
    """What a number means: its range, its direction, and how samples make a cell.

    `macro` names facets whose values weigh alike when a cell spans them; `pool` replaces the mean
    where a cell is not one (a correlation, say).
    """

    name: str
    title: str
    unit: str
    direction: Direction
    worst: float
    best: float
    explain: str
    headline: bool = False
    macro: tuple[str, ...] = ()
    pool: Pool | None = None


class Judge(Protocol):
    """Answers requests in their order; one reply a request, never an exception for a bad reply."""

    @property
    def card(self) -> JudgeCard: ...

    def judge(self, requests: Sequence[Request]) -> Iterator[Reply]: ...


class Generator(Protocol):
    """Makes one output a sample into a folder; a failed item is an output with its outcome, not an
    exception."""

    def generate(self, samples: Sequence[Sample], folder: Path) -> Iterator[Output]: ...


class CannotProduce(Exception):
    """Nothing can be made on this machine, whatever is tried again; the message says what an
    operator has to do."""


@dataclass(frozen=True, slots=True)
class Production:
    """What a suite makes outputs with: the handed-in model's folder, how to sample, and where to
    compute.

    `revision` tells one handed-in model from another. On the `shelf` lie base models for adapters,
    as `<organisation>--<name>/<revision>`, and `base` is the one that the manifest names, as
    `org/name@revision`. In `private` lie the banks that an operator mounted. `agent` is there for a
    suite that runs one around the model, and with it `video`, the model itself: as the suite's
    `film` opened it elsewhere, or behind an API, and then nothing of it is in the folder.
    """

    folder: Path
    sampling: Mapping[str, Json]
    device: str
    shelf: Path | None = None
    private: Path | None = None
    revision: str = ""
    agent: Agent | None = None
    video: VideoModel | None = None
    base: str = ""


TakeOver = Callable[
    [Sample, Path, Sequence[Mapping[str, Json]], Path, Callable[[Path], str]], Mapping[str, Json]
]
"""From a sample, its handed-in file, the steps declared in it, a folder for files in work, and a
function that keeps a file and returns its SHA-256, to what is recorded with the output; a
ValueError refuses the file."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The failure modes of one output, and the one that counts in the charts; None if the judge
    named none."""

    primary: str | None
    modes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SecondLook:
    """A few more questions about outputs that did badly; what they bring explains scores and moves
    none.

    `needs` decides by one sample's values in `metrics`; `questions` and `read` go by the modality.
    """

    metrics: tuple[str, ...]
    needs: Callable[[Mapping[str, float | None]], bool]
    questions: Callable[[str], tuple[Question, ...]]
    read: Callable[[str, Mapping[str, Answer]], Failure]


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
class Opinion:
    """What one rater said of one output, in one item of a study; an adjudicator's opinion `settles`
    what others say."""

    item: str
    rater: str
    place: int
    answers: Mapping[str, Json]
    settles: bool = False


@dataclass(frozen=True, slots=True)
class Rating:
    """How people rate a suite's outputs.

    `words` is what a form says beside the media. `show` writes what people look at into a folder,
    given an output's file or, for the real thing that is rated among the outputs where `real` is
    true, None; without it they look at the output itself. `side_by_side`: the outputs of a cluster
    are compared. `score` makes scores of opinions; without it each rater's answers are scored like
    a judge's and averaged. `beside` names, for people's metrics that no judge gives, the automatic
    one that speaks of the same.
    """

    words: Callable[[Sample, Output], Mapping[str, Json]]
    show: Callable[[Sample, Path | None, Path], Path] | None = None
    real: bool = False
    side_by_side: bool = False
    score: Callable[[Sample, Output, Sequence[Opinion]], tuple[Score, ...]] | None = None
    beside: Mapping[str, str] = field(default_factory=dict)


JudgeKind = Literal["auto", "human", "paper"]


@dataclass(frozen=True, slots=True)
class JudgeCard:
    """Everything that can change a verdict. Two judges with one fingerprint give the same
    answers."""

    name: str
    kind: JudgeKind
    model: str
    revision: str
    prompt_sha256: str
    decoding: str
    frames: str
    precision: str
    code: str
    note: str = ""


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
class Suite:
    """A benchmark as data and a few functions. A new suite is one folder that exports one of these.

    A suite that takes no submissions yet has no samples, no `score`, and accepts nothing. `produce`
    makes a generator around a handed-in model, inside an `agent` where the suite runs one: there
    `film` opens the model, in a process of its own, and only that. `take_over` looks into a
    handed-in file. `parts` are what is judged of an output where that is not the whole of it; the
    ids of their questions are unique. `own_judge` is the card of a suite that is scored by rule: no
    judge is asked then. `tabulate` replaces the mean of `evaluators.aggregate.cells` where a
    suite's cells are something else (a correlation over policies, say); `derive` adds cells that
    follow from the others by arithmetic alone: it is given arrays for values too. `private` reads
    an operator's own samples from a folder; their ids begin with `private.` and stay on the server.
    `read` says what scoring needs to know of a trajectory's file; a ValueError is its refusal.
    `real` is a file of what really happens from the same start; it is kept, and its hash stands in
    `record["real"]`. `rating` is how people rate its outputs in a study.
    """

    name: str
    version: str
    scorer_version: str
    title: str
    sentence: str
    paper: str
    ranked: str
    facet_titles: Mapping[str, str]
    metrics: tuple[Metric, ...]
    samples: Callable[[], tuple[Sample, ...]]
    published: Callable[[], tuple[Published, ...]]
    facts: Callable[[], tuple[Fact, ...]]
    score: Callable[[Sample, Output, Mapping[str, Answer]], tuple[Score, ...]] | None = None
    subsets: Mapping[str, Callable[[Sample], bool]] = field(default_factory=dict)
    derive: Callable[[Sequence[Cell]], tuple[Cell, ...]] | None = None
    accepts: tuple[str, ...] = ()
    produce: Callable[[Production], Generator] | None = None
    own_judge: JudgeCard | None = None
    tabulate: Callable[[Sequence[Sample], Sequence[Score]], tuple[Cell, ...]] | None = None
    yardsticks: tuple[Yardstick, ...] = ()
    second_look: SecondLook | None = None
    private: Callable[[Path], tuple[Sample, ...]] | None = None
    agent: bool = False
    film: Callable[[Production], VideoModel] | None = None
    take_over: TakeOver | None = None
    parts: Callable[[Sample, Output], tuple[Part, ...]] | None = None
    read: Callable[[Sample, Path], Mapping[str, Json]] | None = None
    real: Callable[[Sample], bytes] | None = None
    rating: Rating | None = None
