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
from evaluators.statistics.raters import Shared, shared
from evaluators.suites import suite_named
from flows.run.questions import output_of
from flows.run.tables_io import outputs_of
from flows.studies.ratings import About
from infra import tables
from infra.tables.study import Study, StudyItem


@dataclass(frozen=True, slots=True)
class People:
    """One submission as people see it: the samples of the study that it answered, its files, and
    people's scores.

    `noise` is what each metric's mean would move by with other raters.
    """

    submission: tables.Submission
    samples: tuple[Sample, ...]
    files: Mapping[str, str]
    scores: tuple[Score, ...]
    noise: Mapping[str, Shared]


def people_of(db: Session, study: Study, said: Sequence[About]) -> list[People]:
    """Every submission of a study; items from a file have no submission of ours behind them."""
    suite = suite_named(study.suite)
    shown, asked = _shown(db, study)
    samples = [sample for sample in suite.samples() if sample.id in asked]
    return [
        _people(db, suite, row, samples, [one for one in said if one.method == row.id])
        for name in shown
        if (row := db.get(tables.Submission, name)) and row.suite == study.suite
    ]


def _shown(db: Session, study: Study) -> tuple[list[str], set[str]]:
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
    said: Sequence[About],
) -> People:
    found = outputs_of(db, row.id)
    mine = tuple(sample for sample in samples if sample.id in found)
    heard: dict[str, list[Opinion]] = {}
    for one in said:
        heard.setdefault(one.sample, []).append(one.opinion)
    outputs = {sample.id: output_of(sample, found[sample.id]) for sample in mine}
    scores = [
        s for one in mine for s in people_scores(suite, one, outputs[one.id], heard.get(one.id, []))
    ]
    single = [by_rater(suite, one, outputs[one.id], heard.get(one.id, [])) for one in mine]
    files = {sample.id: found[sample.id].media_sha256 for sample in mine}
    return People(row, mine, files, tuple(scores), rater_noise(single))


def people_scores(
    suite: Suite, sample: Sample, output: Output, said: Sequence[Opinion]
) -> tuple[Score, ...]:
    """A sample's scores by people: by the suite's rule for them, or each rater's by the judge's
    rule and their mean.

    An output that failed is scored as such; one that nobody rated has no score and is counted as
    missing.
    """
    assert suite.score is not None and suite.rating is not None
    if output.outcome not in SUBMITTER_FAILURES and not said:
        return ()
    if suite.rating.score:
        return suite.rating.score(sample, output, said)
    if output.outcome in SUBMITTER_FAILURES:
        return suite.score(sample, output, {})
    single = [suite.score(sample, output, _answers(one)) for one in said]
    return tuple(
        mean_of_raters([scores[number] for scores in single]) for number in range(len(single[0]))
    )


def by_rater(
    suite: Suite, sample: Sample, output: Output, said: Sequence[Opinion]
) -> dict[str, tuple[Score, ...]]:
    """A sample's scores by each rater alone."""
    return {
        one.rater: people_scores(suite, sample, output, [one]) for one in said if not one.settles
    }


def rater_noise(single: Sequence[Mapping[str, Sequence[Score]]]) -> dict[str, Shared]:
    """What each metric's mean would move by with other raters, where two of them rated the same
    outputs."""
    raters = sorted({rater for one in single for rater in one})
    by_metric: dict[str, list[list[float]]] = {}
    for one in single:
        rows = {score.metric: [np.nan] * len(raters) for scores in one.values() for score in scores}
        for rater, scores in one.items():
            for score in scores:
                if score.value is not None:
                    rows[score.metric][raters.index(rater)] = score.value
        for metric, row in rows.items():
            by_metric.setdefault(metric, []).append(row)
    found = {
        metric: shared(np.array(rows, np.float64), used=None) for metric, rows in by_metric.items()
    }
    return {metric: one for metric, one in found.items() if one}


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
