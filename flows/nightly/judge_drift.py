"""Does the judge still say what it said? A fixed anchor set and a drawn sample are asked again,
word for word."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from evaluators.judges.repeats import wilson
from evaluators.metrics.text import normalise
from evaluators.statistics.agreement import cohen_kappa
from evaluators.suites import suite_named
from flows.durable.lease import still_ours
from flows.durable.shard_results import pieces, records_of
from flows.evaluate.stages import judge_work
from flows.nightly.anchors import (
    Cases,
    Key,
    anchors_of,
    choose_anchors,
    draw,
    known_answers,
    outputs_at,
)
from flows.nightly.staleness import EntryOnBoard
from flows.publish.freeze import freeze
from flows.run.case import EvaluationCase
from flows.run.questions import all_asked
from flows.workers.work import ask_again
from infra.db import put, session
from infra.settings import Settings
from infra.tables.operations import Drift

FEWEST_ANSWERS = 0.5
"""A judge that answers less than this share of what it is asked again has changed too."""


@dataclass(frozen=True, slots=True)
class RepeatedAnswers:
    """What came back for the outputs asked about again."""

    answers: Mapping[Key, str | None]
    calls: int
    cost: float


@dataclass(frozen=True, slots=True)
class DriftComparison:
    """How far two sets of answers agree, over the questions that both answer."""

    agreed: int
    answered: int
    asked: int
    kappa: float | None

    @property
    def agreement(self) -> float | None:
        """The share of equal answers; none of nothing."""
        return self.agreed / self.answered if self.answered else None

    def is_under(self, bound: float) -> bool:
        """Say that the judge is not what it was: too few answers, or too few of them the same."""
        return self.answered < FEWEST_ANSWERS * self.asked or (self.agreement or 0.0) < bound


def compare(known: Mapping[Key, str], fresh: Mapping[Key, str | None]) -> DriftComparison:
    """Compare answers as votes are compared, after normalisation.

    >>> compare({("s", "a", "q"): "Yes", ("s", "b", "q"): "no"}, {("s", "a", "q"): "yes", ("s", "b", "q"): None})
    Comparison(agreed=1, answered=1, asked=2, kappa=None)
    """
    pairs = [
        (normalise(value), normalise(fresh[key] or ""))
        for key, value in sorted(known.items())
        if fresh.get(key)
    ]
    menu = sorted({value for pair in pairs for value in pair})
    kappa = (
        cohen_kappa([one for one, _ in pairs], [two for _, two in pairs], menu).value
        if len(menu) > 1
        else None
    )
    return DriftComparison(sum(one == two for one, two in pairs), len(pairs), len(known), kappa)


def watch_judge(
    settings: Settings, night: date, found: Sequence[EntryOnBoard]
) -> tuple[list[Drift], int]:
    """Ask one judge of one suite again about its anchors and a drawn sample; freeze its boards if
    it has changed."""
    cases = {entry.submission.id: _case(settings, entry) for entry in found}
    case = cases[found[0].submission.id]
    with session(settings.database) as db:
        choose_anchors(db, cases, settings.anchors)
        anchors = anchors_of(db, case, cases)
        drawn = draw(cases, settings.drift_outputs, f"{night} {case.suite.name} {case.run.judge}")
        sample = known_answers(db, cases, drawn)
    rows, calls = [], 0
    for what, known in (("anchors", anchors), ("sample", sample)):
        if known:
            asked = _ask(f"{night}-{what}", cases, known)
            rows.append(
                _row(settings, night, case, what, compare(known, asked.answers), asked.cost, known)
            )
            calls += asked.calls
    _store(settings, rows)
    return rows, calls


def _case(settings: Settings, entry: EntryOnBoard) -> EvaluationCase:
    chosen = settings.model_copy(update={"judge": entry.judge_setting})
    return EvaluationCase(chosen, entry.submission, suite_named(entry.submission.suite), entry.run)


def _ask(night: str, cases: Cases, known: Mapping[Key, str]) -> RepeatedAnswers:
    """One shard a submission and at most a shard's size of outputs; a shard that was answered is
    not asked again."""
    wanted: dict[str, set[str]] = defaultdict(set)
    for submission, sample, _ in known:
        wanted[submission].add(sample)
    answers: dict[Key, str | None] = {}
    calls, cost = 0, 0.0
    for submission, samples in sorted(wanted.items()):
        case = cases[submission]
        with session(case.settings.database) as db:
            found = outputs_at(db, [(submission, sample) for sample in sorted(samples)])
        rows = {sample: row for (_, sample), row in found.items()}
        chosen = sorted(
            (sample for sample in case.samples if sample.id in rows), key=lambda sample: sample.id
        )
        asked = all_asked(case.suite, chosen, rows, case.requests)
        for piece in pieces(
            [one for every in asked.values() for one in every], case.settings.shard_size
        ):
            still_ours()
            done = ask_again(judge_work(case, piece), case.place, night)
            calls += done.items * done.fresh
            for record in records_of(case.store, done):
                cost += record["cost"]
                for answer in record["answers"]:
                    answers[submission, record["sample_id"], answer["question_id"]] = answer[
                        "value"
                    ]
    return RepeatedAnswers(answers, calls, cost)


def _row(
    settings: Settings,
    night: date,
    case: EvaluationCase,
    what: str,
    found: DriftComparison,
    cost: float,
    known: Mapping[Key, str],
) -> Drift:
    interval = wilson(found.agreed, found.answered)
    alarm = what == "anchors" and found.is_under(settings.drift_bound)
    agreement = "none" if found.agreement is None else f"{found.agreement:.1%}"
    text = (
        f"{agreement} of {found.answered} answers are as they were ({found.asked} asked again, "
        f"{what})."
    )
    if alarm:
        text += f" The bound is {settings.drift_bound:.1%}: an operator has to look at this judge."
    return Drift(
        night=night,
        suite=case.suite.name,
        judge=case.run.judge,
        what=what,
        outputs=len({key[:2] for key in known}),
        questions=found.asked,
        agreement=found.agreement,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        kappa=found.kappa,
        bound=settings.drift_bound if what == "anchors" else None,
        alarm=alarm,
        cost=cost,
        text=text,
    )


def _store(settings: Settings, rows: Sequence[Drift]) -> None:
    with session(settings.database) as db:
        put(db, Drift, [row.model_dump() for row in rows])
        for row in rows:
            if row.alarm:
                freeze(db, row.suite, row.judge, row.text)
