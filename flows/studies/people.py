"""From people's opinions to scores of the entries they rated: what a study brings to the board."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

import numpy as np
from sqlmodel import Session, select

from evaluators.contracts import (
    SUBMITTER_FAILURES,
    Answer,
    Opinion,
    Outcome,
    Output,
    Sample,
    Score,
    Suite,
)
from evaluators.statistics.opinions import RatedOutput
from evaluators.statistics.raters import Shared, shared
from evaluators.suites import suite_named
from flows.run.output_rows import outputs_of
from flows.run.questions import output_of
from infra import tables
from infra.tables.study import Study, StudyItem


@dataclass(frozen=True, slots=True)
class People:
    """One submission as people see it: the samples of the study that it answered, its files, and
    people's scores.

    `outputs` are by sample. `noise` is what each metric's mean would move by with other raters.
    """

    submission: tables.Submission
    samples: tuple[Sample, ...]
    files: Mapping[str, str]
    outputs: Mapping[str, Output]
    scores: tuple[Score, ...]
    noise: Mapping[str, Shared]


def people_of(db: Session, study: Study, rated_outputs: Sequence[RatedOutput]) -> list[People]:
    """Every submission of a study; items from a file have no submission of ours behind them."""
    suite = suite_named(study.suite)
    methods, sample_ids = _methods_and_samples(db, study)
    samples = [sample for sample in suite.samples() if sample.id in sample_ids]
    return [
        _people(
            db,
            suite,
            row,
            samples,
            [rated_output for rated_output in rated_outputs if rated_output.method == row.id],
        )
        for name in methods
        if (row := db.get(tables.Submission, name)) and row.suite == study.suite
    ]


def _methods_and_samples(db: Session, study: Study) -> tuple[list[str], set[str]]:
    """The methods and the samples of all real items."""
    rows = db.exec(
        select(StudyItem.behind).where(StudyItem.study_id == study.id, StudyItem.kind == "real")
    ).all()
    methods = dict.fromkeys(name for behind in rows for name in behind.get("methods", {}).values())
    return sorted(methods), {name for behind in rows for name in behind.get("samples", {}).values()}


def _people(
    db: Session,
    suite: Suite,
    row: tables.Submission,
    samples: Sequence[Sample],
    rated_outputs: Sequence[RatedOutput],
) -> People:
    rows = outputs_of(db, row.id)
    mine = tuple(sample for sample in samples if sample.id in rows)
    heard: dict[str, list[Opinion]] = {}
    for rated in rated_outputs:
        heard.setdefault(rated.sample, []).append(rated.opinion)
    outputs = {sample.id: output_of(sample, rows[sample.id]) for sample in mine}
    scores = [
        score
        for sample in mine
        for score in people_scores(suite, sample, outputs[sample.id], heard.get(sample.id, []))
    ]
    single = [
        by_rater(suite, sample, outputs[sample.id], heard.get(sample.id, [])) for sample in mine
    ]
    files = {sample.id: rows[sample.id].media_sha256 for sample in mine}
    return People(row, mine, files, outputs, tuple(scores), rater_noise(single))


def people_scores(
    suite: Suite, sample: Sample, output: Output, opinions: Sequence[Opinion]
) -> tuple[Score, ...]:
    """A sample's scores by people: by the suite's rule for them, or each rater's by the judge's
    rule and their mean.

    An output that failed is scored as such; one that nobody rated has no score and is counted as
    missing.
    """
    assert suite.scoring is not None and suite.rating is not None
    if output.outcome not in SUBMITTER_FAILURES and not opinions:
        return ()
    if suite.rating.score:
        return suite.rating.score(sample, output, opinions)
    if output.outcome in SUBMITTER_FAILURES:
        return suite.scoring.score(sample, output, {})
    single = [suite.scoring.score(sample, output, _answers(opinion)) for opinion in opinions]
    return tuple(
        mean_of_raters([scores[number] for scores in single]) for number in range(len(single[0]))
    )


def by_rater(
    suite: Suite, sample: Sample, output: Output, opinions: Sequence[Opinion]
) -> dict[str, tuple[Score, ...]]:
    """A sample's scores by each rater alone."""
    return {
        opinion.rater: people_scores(suite, sample, output, [opinion])
        for opinion in opinions
        if not opinion.settles
    }


def rater_noise(single: Sequence[Mapping[str, Sequence[Score]]]) -> dict[str, Shared]:
    """What each metric's mean would move by with other raters, where two of them rated the same
    outputs."""
    raters = sorted({rater for scores_by_rater in single for rater in scores_by_rater})
    by_metric: dict[str, list[list[float]]] = {}
    for scores_by_rater in single:
        rows = {
            score.metric: [np.nan] * len(raters)
            for scores in scores_by_rater.values()
            for score in scores
        }
        for rater, scores in scores_by_rater.items():
            for score in scores:
                if score.value is not None:
                    rows[score.metric][raters.index(rater)] = score.value
        for metric, row in rows.items():
            by_metric.setdefault(metric, []).append(row)
    noise_by_metric = {
        metric: shared(np.array(rows, np.float64), used=None) for metric, rows in by_metric.items()
    }
    return {metric: noise for metric, noise in noise_by_metric.items() if noise}


def _answers(opinion: Opinion) -> dict[str, Answer]:
    return {
        name: Answer(name, Outcome.SCORED, str(value)) for name, value in opinion.answers.items()
    }


def mean_of_raters(scores: Sequence[Score]) -> Score:
    """One sample's score of one metric from each rater's; those without a value leave the mean."""
    values = [score.value for score in scores if score.value is not None]
    first = scores[0]
    if not values:
        return Score(first.sample_id, first.metric, first.outcome)
    spread = stdev(values) if len(values) > 1 else None
    return Score(
        first.sample_id,
        first.metric,
        Outcome.SCORED,
        fmean(values),
        {"raters": len(values), "spread": spread},
    )
