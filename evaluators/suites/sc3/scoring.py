"""From what was read off rollouts to scores, and from scores to the cells of the board."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from evaluators.contracts import (
    ALL,
    SUBMITTER_FAILURES,
    Answer,
    Cell,
    Facets,
    Outcome,
    Output,
    Sample,
    Score,
    Scoring,
)
from evaluators.metrics.means import mean
from evaluators.metrics.outcomes import ObjectOutcome, categorise
from evaluators.suites.likeness import FILMS, LPIPS, NO_WEIGHTS, fvd
from evaluators.suites.sc3.agreement import EvaluatorAgreement, Match, agree
from evaluators.suites.sc3.reading import ANNOTATED, MADE_UP, OWN, SIMULATED
from evaluators.suites.sc3.resampling import Draws, draw, ends, ends_around
from evaluators.suites.sc3.rollouts.trajectories import CRITERIA
from evaluators.suites.sc3.samples import MODES, criteria_of, truth_of

POOLED = "pooled"
RESAMPLES = 200
WHOSE = {OWN: "the submitter's own", **{name: name for name in (MADE_UP, SIMULATED, ANNOTATED)}}
FAILED = {"psnr": 0.0, "ssim": 0.0, "lpips": 1.0}
"""What a rollout that is missing or unreadable counts as."""

UNLABELLED = "nobody has labelled these rollouts yet"
LIKENESS = tuple(FAILED)
REAL_RATE = "real_rate"
PER_SAMPLE = ("reproduction_average", "rate_error", *LIKENESS, "termination_rate")
RATES = ("pearson_r", "mmrv", "pearson_r_within", "rate_error")

Truth = Callable[[Sample], tuple[ObjectOutcome, ...]]
"""What really held at a sample's start, for each of its objects."""


def table_truth(sample: Sample) -> tuple[ObjectOutcome, ...]:
    """What really held on our own table."""
    return (truth_of(sample),)


def scoring_against(real: Truth) -> Scoring:
    """Scores and cells of rollouts against somebody's real outcomes."""
    return Scoring(partial(score, real=real), tabulate=partial(tabulate, real=real))


def score(
    sample: Sample, output: Output, _answers: Mapping[str, Answer], real: Truth = table_truth
) -> tuple[Score, ...]:
    """A rollout against the real one from the same start: same ending, criteria off, PSNR and SSIM
    offline, stopped online. Without anybody's labels there is neither ending nor criterion; without
    frames, no likeness."""
    if output.outcome in SUBMITTER_FAILURES:
        return tuple(
            Score(sample.id, name, _applies(name, sample, output.outcome)) for name in PER_SAMPLE
        )
    read = output.record.get("value")
    if not isinstance(read, Mapping):
        return tuple(
            Score(sample.id, name, _applies(name, sample, Outcome.JUDGE_ERROR))
            for name in PER_SAMPLE
        )
    values: dict[str, float | None] = {
        **{name: _number(read.get(name)) for name in LIKENESS},
        "termination_rate": float(read.get("terminated_at") is not None),
    }
    detail: dict[str, object] = {
        name: read.get(name) for name in ("annotator", "labels", "own_labels")
    }
    detail |= {name: read[name] for name in ("lpips_by", FILMS) if name in read}
    if predicted := outcomes_of(read):
        true = real(sample)
        off = [
            getattr(was, name) != getattr(now, name)
            for was, now in zip(true, predicted, strict=True)
            for name in CRITERIA
        ]
        values["reproduction_average"] = float(categorise(true) == categorise(predicted))
        values["rate_error"] = sum(off) / len(off)
        detail["objects"] = [criteria_of(outcome) for outcome in predicted]
    return tuple(
        _sample_score(sample, name, values.get(name), detail)
        for name in PER_SAMPLE
        if name in read or name not in LIKENESS
    ) + tuple(
        Score(sample.id, name, Outcome.NOT_APPLICABLE) for name in LIKENESS if name not in read
    )


def outcomes_of(read: Mapping[str, object]) -> tuple[ObjectOutcome, ...]:
    """What held for each object in what was read; nothing where nobody labelled it."""
    criteria, objects = read.get("criteria"), read.get("objects")
    rows = objects if isinstance(objects, list) else [criteria]
    return tuple(
        ObjectOutcome(*(bool(row[name]) for name in CRITERIA))
        for row in rows
        if isinstance(row, Mapping)
    )


def tabulate(
    samples: Sequence[Sample], scores: Sequence[Score], real: Truth = table_truth
) -> tuple[Cell, ...]:
    """Correlations over policies per split, mode and criterion, reproduction, PSNR, stops, and the
    rates themselves."""
    score_by_key = {(score.sample_id, score.metric): score for score in scores}
    cells: list[Cell] = []
    for mode in MODES:
        for split in (ALL, *dict.fromkeys(sample.facets.scenario for sample in samples)):
            chosen = [
                s for s in samples if s.facets.setting == mode and split in (ALL, s.facets.scenario)
            ]
            if chosen:
                cells += _cells(ModeScores(split, mode, tuple(chosen), score_by_key, real))
    return tuple(cells)


@dataclass(frozen=True, slots=True)
class ModeScores:
    """The samples of one mode and split, with all scores."""

    split: str
    mode: str
    samples: tuple[Sample, ...]
    scores: Mapping[tuple[str, str], Score]
    real: Truth

    def score(self, sample: Sample, metric: str) -> Score | None:
        return self.scores.get((sample.id, metric))

    def matches(self) -> list[Match]:
        return [
            _match(sample, self.score(sample, PER_SAMPLE[0]), self.real) for sample in self.samples
        ]

    def unlabelled(self) -> bool:
        """Whether there are rollouts, and nobody has said of any what holds in it."""
        scores = [self.score(sample, PER_SAMPLE[0]) for sample in self.samples]
        outcomes = {score.outcome for score in scores if score}
        return Outcome.NOT_APPLICABLE in outcomes and Outcome.SCORED not in outcomes

    def whose(self) -> str:
        """A note where submitters labelled rollouts themselves; empty where none did."""
        scores = [score for sample in self.samples if (score := self.score(sample, PER_SAMPLE[0]))]
        for whose, words in WHOSE.items():
            if count := sum(score.detail.get("labels") == whose for score in scores):
                return f"labels of {count} of {len(self.samples)} rollouts are {words}"
        beside = [score for score in scores if isinstance(score.detail.get("own_labels"), list)]
        if not beside:
            return ""
        same = sum(score.detail["own_labels"] == score.detail.get("objects") for score in beside)
        return (
            f"the submitter labelled {len(beside)} of {len(self.samples)} rollouts; those labels "
            f"do not count here, and {same} say the same"
        )

    def facets(self, task: str) -> Facets:
        return Facets(self.split, task, self.mode, "video")


def _cells(part: ModeScores) -> Iterator[Cell]:
    matches, whose = part.matches(), part.whose()
    draws, unlabelled = draw(matches, RESAMPLES), part.unlabelled()
    for cell in _judged(part, matches, draws):
        told = _empty(cell, UNLABELLED) if unlabelled and cell.metric != REAL_RATE else cell
        yield replace(told, note=whose)
    yield from _means(part, draws)
    if part.mode == "offline":
        yield _fvd(part)


def _judged(part: ModeScores, matches: Sequence[Match], draws: Draws) -> Iterator[Cell]:
    """The cells that depend on criteria, and so on who labelled them."""
    present, expected = sum(match.rollout is not None for match in matches), len(matches)
    agreed = agree(matches)
    for task, criteria in ((POOLED, CRITERIA), *((name, (name,)) for name in CRITERIA)):
        task_agreement, drawn = (
            agreed if task == POOLED else agree(matches, criteria),
            draws.agreement(criteria),
        )
        for metric in RATES:
            if task == POOLED or metric in ("pearson_r", "mmrv", "rate_error"):
                value = getattr(task_agreement, metric)
                sure = ends_around(getattr(drawn, metric), value, metric)
                whole = _cell(metric, part.facets(task), value, present, expected, sure)
                yield whole if present == expected else _steerable(whole)
    yield from _reproduction(part, agreed, draws, present)
    yield from _rates(part, matches, agreed, draws)


def _steerable(cell: Cell) -> Cell:
    """Leaving rollouts out can raise agreement, so an incomplete set of rollouts has none."""
    why = (
        f"{cell.n_expected - cell.n_scored} of {cell.n_expected} rollouts are missing: leaving "
        "some out could steer it"
    )
    return _empty(cell, why)


def _reproduction(
    part: ModeScores, agreed: EvaluatorAgreement, draws: Draws, present: int
) -> Iterator[Cell]:
    average = agreed.reproduction.average
    sure = ends_around(draws.reproduction(), average)
    yield _cell("reproduction_average", part.facets(ALL), average, present, len(part.samples), sure)
    for number, rate in enumerate(agreed.reproduction.rates):
        name, sure = f"reproduction_{rate.category}", ends(draws.endings[:, number])
        yield _cell(name, part.facets(ALL), rate.value, rate.n_real, rate.n_real, sure)


def _rates(
    part: ModeScores, matches: Sequence[Match], agreed: EvaluatorAgreement, draws: Draws
) -> Iterator[Cell]:
    """Both sides of every point, for the scatter."""
    if part.split == ALL:
        return
    for number, point in enumerate(agreed.points):
        mine = [match for match in matches if match.policy == point.policy]
        present = sum(match.rollout is not None for match in mine)
        place = (slice(None), *divmod(number, len(CRITERIA)))
        facets = part.facets(f"policy_{point.policy} {point.criterion}")
        yield _cell(
            "predicted_rate",
            facets,
            point.predicted,
            present,
            len(mine),
            ends(draws.predicted[place]),
        )
        yield _cell(REAL_RATE, facets, point.real, present, len(mine), ends(draws.real[place]))


def _means(part: ModeScores, draws: Draws) -> Iterator[Cell]:
    for metric, mode in (*((name, "offline") for name in LIKENESS), ("termination_rate", "online")):
        if part.mode == mode:
            scores = [part.score(sample, metric) for sample in part.samples]
            values = [None if score is None else _mean_value(metric, score) for score in scores]
            present = [value for value in values if value is not None]
            scored = sum(score is not None and score.outcome is Outcome.SCORED for score in scores)
            cell = _cell(
                metric,
                part.facets(ALL),
                mean(present),
                scored,
                len(scores),
                ends(draws.mean(values)),
            )
            yield cell if metric != LPIPS or scored else _unweighed(cell)


def _mean_value(metric: str, score: Score) -> float | None:
    """A rollout that is missing or unreadable is like nothing; it was not stopped, so it leaves the
    termination rate."""
    return FAILED.get(metric) if score.outcome in SUBMITTER_FAILURES else score.value


def _fvd(part: ModeScores) -> Cell:
    """Over all rollouts together, by the features that were read off them."""
    scores = [part.score(sample, PER_SAMPLE[0]) for sample in part.samples]
    films = [score.detail[FILMS] for score in scores if score and FILMS in score.detail]
    whole = len(films) == len(scores)
    value = fvd([film for film in films if isinstance(film, Mapping)]) if whole else None
    cell = _cell("fvd", part.facets(ALL), value, len(films), len(scores), None)
    if not films:
        return _unweighed(cell)
    return cell if whole else _steerable(cell)


def _unweighed(cell: Cell) -> Cell:
    """Without weights there is no such number, whatever failed."""
    return _empty(cell, NO_WEIGHTS)


def _empty(cell: Cell, why: str) -> Cell:
    return replace(cell, value=None, low=None, high=None, why_empty=why)


def _cell(
    metric: str,
    facets: Facets,
    value: float | None,
    scored: int,
    expected: int,
    sure: tuple[float, float] | None,
) -> Cell:
    why = "" if value is not None else "fewer than two points, or one side does not vary"
    low, high = sure if sure and value is not None else (None, None)
    return Cell(metric, facets, value, scored, expected, why, low, high)


def _match(sample: Sample, score: Score | None, real: Truth = table_truth) -> Match:
    predicted = outcomes_of(score.detail) if score and score.outcome is Outcome.SCORED else ()
    return Match(
        sample.cluster, _policy(sample), sample.facets.scenario, real(sample), predicted or None
    )


def _policy(sample: Sample) -> int:
    policy = sample.reference["policy"]
    assert isinstance(policy, int)
    return policy


def _applies(metric: str, sample: Sample, outcome: Outcome) -> Outcome:
    """Offline rollouts are never stopped; online ones have no real frames to be compared with."""
    idle = {"offline": ("termination_rate",), "online": LIKENESS}[sample.facets.setting]
    return Outcome.NOT_APPLICABLE if metric in idle else outcome


def _sample_score(
    sample: Sample, metric: str, value: float | None, detail: Mapping[str, object]
) -> Score:
    labelled = metric in (*LIKENESS, "termination_rate") or "objects" in detail
    unscored = Outcome.OUTPUT_INVALID if labelled else Outcome.NOT_APPLICABLE
    outcome = _applies(metric, sample, Outcome.SCORED if value is not None else unscored)
    scored = value if outcome is Outcome.SCORED else None
    kept_detail = detail if metric == PER_SAMPLE[0] else {}
    return Score(sample.id, metric, outcome, scored, kept_detail)  # type: ignore[arg-type]


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
