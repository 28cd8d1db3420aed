"""Whether a board may rank: its judge's newest exam and the sanity rows give one verdict; and how
far the judges of a panel were apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from sqlmodel import Session, col, select

from evaluators.contracts import SUBMITTER_FAILURES, Metric, Suite
from evaluators.judges.exam.competence import Competence, Measured
from evaluators.judges.exam.exam import items_sha256
from evaluators.judges.exam.sight import ExamVerdict, SanityRow, sanity_row, verdict
from evaluators.judges.panel import CODE, Split, split_of
from evaluators.statistics.intervals import Floats
from evaluators.suites import suite_named
from flows.publish.seal_chain import judged_files
from flows.run.verdict_rows import OUTCOMES
from infra.db import put
from infra.tables import Cell, Judge, Reply, Run, Score, Submission, Verdict, now
from infra.tables.standing import BoardSight, JudgeExam, PanelSplit

SPANS = ("agreement", "kappa", "yes_bias", "in_order")
MOST_ENTRIES = 10
"""Entries that are held against each sanity row: the best of the board. If none of these is surely
above a row, those below them are not either."""
AT_ONCE = 500
SWITCHED_OFF = "An operator switched the exam off: nobody knows whether this judge looks."


def renew_sight(
    db: Session, suite: Suite, board: str, exam: Literal["required", "off"]
) -> BoardSight | None:
    """Give a board its verdict anew; None where no exam is for its judge: people, or a rule."""
    judge = db.exec(
        select(Judge)
        .join(Run, col(Run.judge) == col(Judge.fingerprint))
        .where(Run.board == board, Run.state == "published")
        .limit(1)
    ).first()
    if judge is None or judge.kind != "auto" or suite.exam is None or suite.own_judge is not None:
        return None
    outcome = _verdict(db, suite, board, judge.fingerprint, exam)
    row = BoardSight(
        board=board,
        suite=suite.name,
        judge=judge.fingerprint,
        verdict=outcome.sight,
        ranked=outcome.sight == "sees" or (exam == "off" and outcome.sight == "not examined"),
        reasons=list(outcome.reasons),
        at=now(),
    )
    put(db, BoardSight, [row.model_dump()])
    return row


def renew_boards_of(
    db: Session, suite_name: str, judge: str, exam: Literal["required", "off"]
) -> list[str]:
    """Give all boards of one judge in one suite their verdict anew, and name them."""
    query = select(Run.board).where(Run.suite == suite_name, Run.judge == judge).distinct()
    boards = sorted(db.exec(query))
    for board in boards:
        renew_sight(db, suite_named(suite_name), board, exam)
    return boards


def newest_sitting(db: Session, suite: Suite, judge: str) -> JudgeExam | None:
    """The sitting that counts: the newest of today's exam; None if there is no such."""
    if suite.exam is None:
        return None
    query = select(JudgeExam).where(
        JudgeExam.judge == judge,
        JudgeExam.suite == suite.name,
        JudgeExam.version == suite.exam.version,
        JudgeExam.items_sha256 == items_sha256(suite.exam.items()),
    )
    return db.exec(query.order_by(col(JudgeExam.at).desc()).limit(1)).first()


def competence_of(row: JudgeExam) -> Competence:
    """What a stored sitting says of its judge."""
    spans = {
        name: Measured(
            getattr(row, name), getattr(row, f"{name}_low"), getattr(row, f"{name}_high")
        )
        for name in SPANS
    }
    return Competence(
        n=row.n,
        n_answered=row.n_answered,
        answer_rate=row.answer_rate,
        agreement=spans["agreement"],
        chance=row.chance,
        kappa=spans["kappa"],
        yes_bias=spans["yes_bias"],
        n_pairs=row.n_pairs,
        order=spans["in_order"],
    )


def _verdict(
    db: Session, suite: Suite, board: str, judge: str, exam: Literal["required", "off"]
) -> ExamVerdict:
    assert suite.exam is not None
    sitting = newest_sitting(db, suite, judge)
    if sitting is None and exam == "off":
        return ExamVerdict("not examined", (SWITCHED_OFF,))
    reached = competence_of(sitting) if sitting else None
    return verdict(reached, suite.exam.bounds, _sanity_rows(db, suite, board))


def _sanity_rows(db: Session, suite: Suite, board: str) -> list[SanityRow]:
    """Each sanity row of the board that must lose, with the leads of the best entries over it."""
    assert suite.exam is not None
    metric = suite.metrics[0]
    best = _best_entries(db, board, metric)
    rows = _sanity_runs(db, board, suite.exam.must_lose)
    if not best or not rows:
        return []
    place = {sample.id: number for number, sample in enumerate(suite.samples())}
    names: dict[str, int] = {}
    clusters = np.array([names.setdefault(s.cluster, len(names)) for s in suite.samples()])
    entries = [_values(db, run, metric, place) for run in best]
    return [
        sanity_row(
            title,
            [entry for entry in entries if bool((~np.isnan(entry - values)).any())],
            values,
            clusters,
            higher=metric.direction == "higher",
        )
        for title, values in (
            (title, _values(db, run, metric, place)) for title, run in sorted(rows.items())
        )
    ]


def _best_entries(db: Session, board: str, metric: Metric) -> Sequence[str]:
    """The runs of the best entries by the suite's first metric over all that they answer."""
    whole = (Cell.scenario, Cell.task, Cell.setting, Cell.modality)
    value = col(Cell.value)
    query = (
        select(Run.id)
        .join(Submission, col(Submission.id) == col(Run.submission_id))
        .join(Cell, col(Cell.run_id) == col(Run.id))
        .where(Run.board == board, Run.state == "published", col(Run.eligible).is_(True))
        .where(Submission.state == "published", Cell.metric == metric.name, value.is_not(None))
        .where(*(column == "*" for column in whole))
        .order_by(value.desc() if metric.direction == "higher" else value, Run.id)
    )
    return db.exec(query.limit(MOST_ENTRIES)).all()


def _sanity_runs(db: Session, board: str, titles: Sequence[str]) -> dict[str, str]:
    query = (
        select(Submission.model, Run.id)
        .join(Run, col(Run.submission_id) == col(Submission.id))
        .where(Run.board == board, Run.state == "published", Submission.role == "sanity")
        .where(col(Submission.model).in_(titles))
    )
    return {title: run for title, run in db.exec(query)}


def _values(db: Session, run: str, metric: Metric, place: Mapping[str, int]) -> Floats:
    """A run's score for each sample of the suite; a submitter's failure is the worst value."""
    values = np.full(len(place), np.nan)
    query = select(Score.sample_id, Score.outcome, Score.value)
    for sample, outcome, value in db.exec(
        query.where(Score.run_id == run, Score.metric == metric.name)
    ):
        if sample in place:
            failed = OUTCOMES[outcome] in SUBMITTER_FAILURES
            values[place[sample]] = metric.worst if failed else np.nan if value is None else value
    return values


def renew_split(db: Session, run: Run) -> PanelSplit | None:
    """Count a run's divided answers anew; None where its judge is no panel."""
    if db.get_one(Judge, run.judge).card.get("code") != CODE:
        return None
    counted = sum(map(split_of, _words_of_replies(db, run)), Split(0, 0))
    row = PanelSplit(
        run_id=run.id, board=run.board, questions=counted.questions, split=counted.split
    )
    put(db, PanelSplit, [row.model_dump()])
    return row


def _words_of_replies(db: Session, run: Run) -> list[str]:
    """The replies that the run's answers come from: no repeats, no earlier wordings."""
    media = judged_files(db, run)
    words: list[str] = []
    for start in range(0, len(media), AT_ONCE):
        used = (
            select(Verdict.reply_id)
            .where(Verdict.judge == run.judge, Verdict.repeat == 0)
            .where(col(Verdict.media_sha256).in_(media[start : start + AT_ONCE]))
            .distinct()
        )
        query = select(Reply.raw).where(col(Reply.id).in_(used))
        words += db.exec(query).all()
    return words
