"""Item statistics of TailOR from the verdicts that are stored: computed, kept as rows for the page,
and printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import delete
from sqlmodel import Session, col, select

from evaluators.contracts import Sample, Suite
from evaluators.metrics.rubric import fallen
from evaluators.suites import suite_named
from evaluators.suites.tailor.upkeep.items import ItemAnswer, ItemStatistic, statistics
from flows.run.answers import AnsweredSample, load_answers
from infra import tables
from infra.db import add_new, session
from infra.settings import Settings
from infra.tables.findings import ItemStatisticRow


def compute(settings: Settings, suite_name: str = "tailor") -> tuple[ItemStatistic, ...]:
    """The statistics of every question that a judge has answered about a published entry of the
    suite's version, worst first; what the page shows is brought in step."""
    suite = suite_named(suite_name)
    with session(settings.database) as db:
        rows = statistics(list(_answers(db, suite)))
        _store(db, suite, rows)
    return rows


def _answers(db: Session, suite: Suite) -> Iterator[ItemAnswer]:
    query = (
        select(tables.Run, tables.Submission)
        .join(tables.Submission, col(tables.Submission.id) == col(tables.Run.submission_id))
        .join(tables.Judge, col(tables.Judge.fingerprint) == col(tables.Run.judge))
        .where(
            tables.Run.suite == suite.name,
            tables.Run.suite_version == suite.version,
            tables.Run.state == "published",
            tables.Submission.role == "entry",
            tables.Judge.kind == "auto",
        )
    )
    judged: set[tuple[str, str, str]] = set()
    for run, submission in db.exec(query).all():
        in_subset = suite.subsets[run.subset]
        samples = [sample for sample in suite.samples() if in_subset(sample)]
        for entry in load_answers(db, suite, run, samples):
            key = (submission.id, run.judge, entry.sample.id)
            if key not in judged:
                judged.add(key)
                yield from _of_output(entry, submission.id, run.judge)


def _of_output(entry: AnsweredSample, submission: str, judge: str) -> Iterator[ItemAnswer]:
    checks = [question for question in entry.sample.questions if question.kind == "yes_no"]
    values = {
        question.id: entry.answers[question.id].value
        for question in checks
        if question.id in entry.answers
    }
    down = fallen(values, {question.id: question.parent for question in checks})
    for name, value in values.items():
        if value is not None:
            met = value == "yes" and name not in down
            place = (_instance(entry.sample), name, submission, entry.sample.id, judge)
            yield ItemAnswer(*place, met, name in down)


def _instance(sample: Sample) -> str:
    return sample.id.removesuffix(f".{sample.facets.setting}.{sample.facets.modality}")


def _store(db: Session, suite: Suite, ordered: tuple[ItemStatistic, ...]) -> None:
    texts = _texts(suite)
    db.connection().execute(
        delete(ItemStatisticRow).where(col(ItemStatisticRow.suite) == suite.name)
    )
    rows = [
        {**_row(statistic), "suite": suite.name, "version": suite.version, "position": position}
        for position, statistic in enumerate(ordered)
    ]
    for row in rows:
        row["text"] = texts.get((row["instance"], row["question"]), "")
        row["at"] = tables.now()
    add_new(db, ItemStatisticRow, rows)


def _row(statistic: ItemStatistic) -> dict[str, Any]:
    names = (
        *("instance", "question", "n", "entries", "difficulty", "discrimination"),
        *("disagreement", "fallen"),
    )
    return {name: getattr(statistic, name) for name in names} | {"flags": list(statistic.flags)}


def _texts(suite: Suite) -> Mapping[tuple[str, str], str]:
    return {
        (_instance(sample), question.id): question.text
        for sample in suite.samples()
        for question in sample.questions
    }
