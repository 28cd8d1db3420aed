"""From what was read off rollouts to scores, and from scores to the cells of the board."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

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
)
from evaluators.metrics.means import mean
from evaluators.metrics.outcomes import ObjectOutcome, categorise
from evaluators.suites.sc3.agreement import EvaluatorAgreement, Match, agree
from evaluators.suites.sc3.reading import OWN
from evaluators.suites.sc3.resampling import Draws, draw, ends
from evaluators.suites.sc3.rollouts.trajectories import CRITERIA
from evaluators.suites.sc3.samples import MODES, criteria_of, truth

POOLED = "pooled"
RESAMPLES = 200
PER_SAMPLE = ("reproduction_average", "rate_error", "psnr", "termination_rate")
RATES = ("pearson_r", "mmrv", "pearson_r_within", "rate_error")


def score(sample: Sample, output: Output, _answers: Mapping[str, Answer]) -> tuple[Score, ...]:
    """A rollout against the real one from the same start: same ending, criteria off, PSNR offline,
    stopped online."""
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
    real, predicted = _truth(sample), outcome_of(read)
    off = [getattr(real, name) != getattr(predicted, name) for name in CRITERIA]
    values: dict[str, float | None] = {
        "reproduction_average": float(categorise([real]) == categorise([predicted])),
        "rate_error": sum(off) / len(off),
        "psnr": _number(read.get("psnr")),
        "termination_rate": float(read.get("terminated_at") is not None),
    }
    detail = {name: read.get(name) for name in ("annotator", "labels")} | {
        "criteria": dict(criteria_of(predicted))
    }
    return tuple(_sample_score(sample, name, values[name], detail) for name in PER_SAMPLE)


def outcome_of(read: Mapping[str, object]) -> ObjectOutcome:
    """The criteria in what was read."""
    criteria = read["criteria"]
    assert isinstance(criteria, Mapping)
    return ObjectOutcome(*(bool(criteria[name]) for name in CRITERIA))


def tabulate(samples: Sequence[Sample], scores: Sequence[Score]) -> tuple[Cell, ...]:
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
                cells += _cells(ModeScores(split, mode, tuple(chosen), score_by_key))
    return tuple(cells)


@dataclass(frozen=True, slots=True)
class ModeScores:
    """The samples of one mode and split, with all scores."""

    split: str
    mode: str
    samples: tuple[Sample, ...]
    scores: Mapping[tuple[str, str], Score]

    def score(self, sample: Sample, metric: str) -> Score | None:
        return self.scores.get((sample.id, metric))

    def matches(self) -> list[Match]:
        return [_match(sample, self.score(sample, PER_SAMPLE[0])) for sample in self.samples]

    def whose(self) -> str:
        """A note where criteria rest on the submitter's own labels; empty where none do."""
        scores = [score for sample in self.samples if (score := self.score(sample, PER_SAMPLE[0]))]
        own = sum(score.detail.get("labels") == OWN for score in scores)
        return (
            f"labels of {own} of {len(self.samples)} rollouts are the submitter's own"
            if own
            else ""
        )

    def facets(self, task: str) -> Facets:
        return Facets(self.split, task, self.mode, "video")


def _cells(part: ModeScores) -> Iterator[Cell]:
    matches, whose = part.matches(), part.whose()
    draws = draw(matches, RESAMPLES)
    yield from (replace(cell, note=whose) for cell in _judged(part, matches, draws))
    yield from _means(part, draws)


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
                sure = ends(getattr(drawn, metric))
                whole = _cell(
                    metric,
                    part.facets(task),
                    getattr(task_agreement, metric),
                    present,
                    expected,
                    sure,
                )
                yield whole if present == expected else _steerable(whole)
    yield from _reproduction(part, agreed, draws, present)
    yield from _rates(part, matches, agreed, draws)


def _steerable(cell: Cell) -> Cell:
    """Leaving rollouts out can raise agreement, so an incomplete set of rollouts has none."""
    why = (
        f"{cell.n_expected - cell.n_scored} of {cell.n_expected} rollouts are missing: leaving "
        "some out could steer it"
    )
    return replace(cell, value=None, low=None, high=None, why_empty=why)


def _reproduction(
    part: ModeScores, agreed: EvaluatorAgreement, draws: Draws, present: int
) -> Iterator[Cell]:
    average, sure = agreed.reproduction.average, ends(draws.reproduction())
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
        yield _cell("real_rate", facets, point.real, present, len(mine), ends(draws.real[place]))


def _means(part: ModeScores, draws: Draws) -> Iterator[Cell]:
    for metric, mode in (("psnr", "offline"), ("termination_rate", "online")):
        if part.mode == mode:
            scores = [part.score(sample, metric) for sample in part.samples]
            values = [None if score is None else _mean_value(metric, score) for score in scores]
            present = [value for value in values if value is not None]
            scored = sum(score is not None and score.outcome is Outcome.SCORED for score in scores)
            yield _cell(
                metric,
                part.facets(ALL),
                mean(present),
                scored,
                len(scores),
                ends(draws.mean(values)),
            )


def _mean_value(metric: str, score: Score) -> float | None:
    """A rollout that is missing or unreadable counts 0 dB; it was not stopped, so it leaves the
    termination rate."""
    if score.outcome in SUBMITTER_FAILURES:
        return 0.0 if metric == "psnr" else None
    return score.value


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


def _match(sample: Sample, score: Score | None) -> Match:
    predicted = None
    if score and score.outcome is Outcome.SCORED:
        criteria = score.detail["criteria"]
        assert isinstance(criteria, Mapping)
        predicted = (ObjectOutcome(*(bool(criteria[name]) for name in CRITERIA)),)
    policy = sample.reference["policy"]
    assert isinstance(policy, int)
    return Match(sample.cluster, policy, sample.facets.scenario, (_truth(sample),), predicted)


def _truth(sample: Sample) -> ObjectOutcome:
    policy = sample.reference["policy"]
    assert isinstance(policy, int)
    return truth(policy)[sample.cluster]


def _applies(metric: str, sample: Sample, outcome: Outcome) -> Outcome:
    """Offline rollouts are never stopped; online ones have no real frames to be compared with."""
    idle = {"offline": "termination_rate", "online": "psnr"}[sample.facets.setting]
    return Outcome.NOT_APPLICABLE if metric == idle else outcome


def _sample_score(
    sample: Sample, metric: str, value: float | None, detail: Mapping[str, object]
) -> Score:
    outcome = _applies(
        metric, sample, Outcome.SCORED if value is not None else Outcome.OUTPUT_INVALID
    )
    scored = value if outcome is Outcome.SCORED else None
    kept_detail = detail if metric == PER_SAMPLE[0] else {}
    return Score(sample.id, metric, outcome, scored, kept_detail)  # type: ignore[arg-type]


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
