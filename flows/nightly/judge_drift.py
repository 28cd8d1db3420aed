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
from flows.durable.lease import check_lease
from flows.durable.shard_results import records_of
from flows.evaluate.judge import judge_work
from flows.nightly.anchors import (
    AnswerKey,
    Cases,
    OutputKey,
    anchors_of,
    choose_anchors,
    draw,
    known_answers,
    outputs_at,
)
from flows.nightly.staleness import EntryOnBoard
from flows.publish.exam_sitting import sit_exam
from flows.publish.freeze import freeze
from flows.publish.seal_chain import PUBLICATION, seal_board
from flows.publish.sight import renew_boards_of
from flows.run.case import EvaluationCase
from flows.run.questions import questioned_files
from flows.workers.executor import cut
from flows.workers.judging import ask_again
from infra.db import put, session, transaction_lock
from infra.settings import Settings
from infra.tables.operations import Drift

FEWEST_ANSWERS = 0.5
"""A judge that answers less than this share of what it is asked again has changed too."""


@dataclass(frozen=True, slots=True)
class RepeatedAnswers:
    """The answers to questions that were repeated, and their cost."""

    answers: Mapping[AnswerKey, str | None]
    calls: int
    cost: float


@dataclass(frozen=True, slots=True)
class DriftComparison:
    """How far two sets of answers agree, over the questions that both answer."""

    agreed: int
    answered: int
    questions: int
    kappa: float | None

    @property
    def agreement(self) -> float | None:
        """The share of equal answers; none of nothing."""
        return self.agreed / self.answered if self.answered else None

    def is_under(self, bound: float) -> bool:
        """Say that the judge is not what it was: too few answers, or too few of them the same."""
        return self.answered < FEWEST_ANSWERS * self.questions or (self.agreement or 0.0) < bound


def compare(
    stored: Mapping[AnswerKey, str], fresh: Mapping[AnswerKey, str | None]
) -> DriftComparison:
    """Compare answers as votes are compared, after normalisation.

    >>> first, second = (AnswerKey(OutputKey("s", name), "q") for name in "ab")
    >>> compare({first: "Yes", second: "no"}, {first: "yes", second: None})
    DriftComparison(agreed=1, answered=1, questions=2, kappa=None)
    """
    pairs = [
        (normalise(value), normalise(fresh[key] or ""))
        for key, value in sorted(stored.items())
        if fresh.get(key)
    ]
    menu = sorted({value for pair in pairs for value in pair})
    kappa = (
        cohen_kappa([before for before, _ in pairs], [after for _, after in pairs], menu).value
        if len(menu) > 1
        else None
    )
    return DriftComparison(
        sum(before == after for before, after in pairs), len(pairs), len(stored), kappa
    )


def watch_judge(
    settings: Settings, night: date, board_entries: Sequence[EntryOnBoard]
) -> tuple[list[Drift], int]:
    """Ask one judge of one suite again about its anchors and a drawn sample; freeze its boards if
    it has changed."""
    cases = {entry.submission.id: _case(settings, entry) for entry in board_entries}
    case = cases[board_entries[0].submission.id]
    with session(settings.database) as db:
        choose_anchors(db, cases, settings.anchors)
        anchors = anchors_of(db, case, cases)
        drawn = draw(cases, settings.drift_outputs, f"{night} {case.suite.name} {case.run.judge}")
        sample = known_answers(db, cases, drawn)
    rows, calls = [], 0
    for source, stored in (("anchors", anchors), ("sample", sample)):
        if stored:
            repeated = _ask(f"{night}-{source}", cases, stored)
            rows.append(
                _row(
                    settings,
                    night,
                    case,
                    source,
                    compare(stored, repeated.answers),
                    repeated.cost,
                    stored,
                )
            )
            calls += repeated.calls
    _store(settings, rows)
    return rows, calls


def examine(settings: Settings, night: date, entry: EntryOnBoard) -> int:
    """Let a judge sit its suite's exam again and give its boards their verdict anew; return how
    many items it was asked."""
    case = _case(settings, entry)
    if case.suite.exam is None or settings.exam == "off":
        return 0
    calls = sit_exam(case.settings, case.suite, case.run.judge, case.place, night)
    with session(settings.database) as db:
        transaction_lock(db, PUBLICATION)
        boards = renew_boards_of(db, case.suite.name, case.run.judge, settings.exam)
        for board in boards:
            seal_board(db, board)
    return calls


def _case(settings: Settings, entry: EntryOnBoard) -> EvaluationCase:
    chosen = settings.model_copy(update={"judge": entry.judge_setting})
    return EvaluationCase(chosen, entry.submission, suite_named(entry.submission.suite), entry.run)


def _ask(night: str, cases: Cases, stored: Mapping[AnswerKey, str]) -> RepeatedAnswers:
    """One shard a submission and at most a shard's size of outputs; a shard that was answered is
    not asked again."""
    samples_by_submission: dict[str, set[str]] = defaultdict(set)
    for key in stored:
        samples_by_submission[key.output.submission_id].add(key.output.sample_id)
    answers: dict[AnswerKey, str | None] = {}
    calls, cost = 0, 0.0
    for submission, samples in sorted(samples_by_submission.items()):
        case = cases[submission]
        with session(case.settings.database) as db:
            outputs = outputs_at(db, [OutputKey(submission, sample) for sample in sorted(samples)])
        rows = {key.sample_id: row for key, row in outputs.items()}
        chosen = sorted(
            (sample for sample in case.samples if sample.id in rows), key=lambda sample: sample.id
        )
        files_by_sample = questioned_files(case.suite, chosen, rows, case.requests)
        for piece in cut(
            [file for files in files_by_sample.values() for file in files], case.settings.shard_size
        ):
            check_lease()
            result = ask_again(judge_work(case, piece), case.place, night)
            calls += result.items * result.fresh
            for record in records_of(case.store, result):
                cost += record["cost"]
                output = OutputKey(submission, record["sample_id"])
                for answer in record["answers"]:
                    answers[AnswerKey(output, answer["question_id"])] = answer["value"]
    return RepeatedAnswers(answers, calls, cost)


def _row(
    settings: Settings,
    night: date,
    case: EvaluationCase,
    source: str,
    comparison: DriftComparison,
    cost: float,
    stored: Mapping[AnswerKey, str],
) -> Drift:
    interval = wilson(comparison.agreed, comparison.answered)
    alarm = source == "anchors" and comparison.is_under(settings.drift_bound)
    agreement = "none" if comparison.agreement is None else f"{comparison.agreement:.1%}"
    text = (
        f"{agreement} of {comparison.answered} answers are as they were "
        f"({comparison.questions} asked again, {source})."
    )
    if alarm:
        text += f" The bound is {settings.drift_bound:.1%}: an operator has to look at this judge."
    return Drift(
        night=night,
        suite=case.suite.name,
        judge=case.run.judge,
        what=source,
        outputs=len({key.output for key in stored}),
        questions=comparison.questions,
        agreement=comparison.agreement,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        kappa=comparison.kappa,
        bound=settings.drift_bound if source == "anchors" else None,
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
