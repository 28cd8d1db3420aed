"""What is behind a number: the SELECTs from a run to its samples, files, questions and answers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import func
from sqlalchemy.orm import aliased
from sqlmodel import Session, and_, col, select

from infra.tables import Judge, Output, Reply, Run, Sample, Score, Submission, Verdict
from infra.tables.findings import WHOLE_ENTRY, Flag
from infra.tables.results import question_key
from leaderboard.queries.paired import SampleValue
from leaderboard.queries.ranking import ALL, FACETS, BoardAddress
from submissions.intake.intake import PRIVATE

PAGE = 24
MOST_PAGES = 1_000_000_000
Show = Literal["all", "failures", "lowest", "highest", "disagreements", "flagged"]
SHOWS: tuple[Show, ...] = ("all", "lowest", "highest", "failures", "disagreements", "flagged")


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A published run, in one row."""

    run_id: str
    suite: str
    version: str
    subset: str
    board: str
    judge: str
    judge_name: str
    judge_kind: str
    submission_id: str
    model: str
    organisation: str
    team: str
    trust: str
    eligible: bool
    why_not: str
    n_scored: int | None
    n_expected: int | None
    published_at: datetime | None


@dataclass(frozen=True, slots=True)
class ScoredSample:
    """One sample of a run with its output and its score in one metric."""

    sample_id: str
    scenario: str
    task: str
    setting: str
    modality: str
    prompt: str
    outcome: str
    reason: str
    media_sha256: str
    media_type: str
    value: float | None
    scored: str


@dataclass(frozen=True, slots=True)
class Items:
    """One page of items, and how many there are in all."""

    total: int
    page: tuple[ScoredSample, ...]


@dataclass(frozen=True, slots=True)
class JudgeAnswer:
    """One judge's answer to one question, in its own words where they are kept."""

    question_id: str
    question: str
    part: str
    judge: str
    judge_kind: str
    outcome: str
    value: str | None
    reason: str
    raw: str


def runs(db: Session, suite: str | None = None, submission: str | None = None) -> list[RunFacts]:
    """Published runs that we judged, newest first."""
    query = _runs().where(col(Submission.trust) != "C")
    query = query.where(Run.suite == suite) if suite else query
    query = query.where(Run.submission_id == submission) if submission else query
    return [
        RunFacts(*row)
        for row in db.execute(query.order_by(col(Run.published_at).desc(), col(Run.id)))
    ]


def run_facts(db: Session, run_id: str) -> RunFacts | None:
    """One published run, or None."""
    row = db.execute(_runs().where(Run.id == run_id)).first()
    return RunFacts(*row) if row else None


def _runs() -> Any:
    run = (
        Run.id,
        Run.suite,
        Run.suite_version,
        Run.subset,
        Run.board,
        Run.judge,
        Judge.name,
        Judge.kind,
    )
    submission = (
        Submission.id,
        Submission.model,
        Submission.organisation,
        Submission.team,
        Submission.trust,
    )
    outcome = (Run.eligible, Run.why_not, Run.n_scored, Run.n_expected, Run.published_at)
    return (
        select(*run, *submission, *outcome)  # type: ignore[call-overload]
        .join(Submission, col(Submission.id) == col(Run.submission_id))
        .join(Judge, col(Judge.fingerprint) == col(Run.judge))
        .where(Run.state == "published")
    )


def items(
    db: Session,
    run: RunFacts,
    metric: str,
    at: BoardAddress,
    show: Show,
    page: int,
    size: int = PAGE,
) -> Items:
    """One page of the samples behind a cell."""
    query = _items(run, metric, at)
    if show == "failures":
        query = query.where((col(Score.outcome) != "scored") | (col(Output.outcome) != "scored"))
    elif show == "disagreements":
        query = query.where(col(Sample.id).in_(_disagreeing(db, run)))
    elif show == "flagged":
        query = query.where(
            col(Sample.id).in_(
                select(Flag.sample_id).where(Flag.submission_id == run.submission_id)
            )
        )
    total = int(db.execute(select(func.count()).select_from(query.subquery())).scalar_one())
    order = {"lowest": [col(Score.value).asc()], "highest": [col(Score.value).desc()]}.get(show, [])
    rows = db.execute(
        query.order_by(*order, col(Sample.position))
        .limit(size)
        .offset(size * min(max(page - 1, 0), MOST_PAGES))
    )
    return Items(total, tuple(ScoredSample(*row) for row in rows))


def scored_metrics(db: Session, run_id: str) -> set[str]:
    """The metrics that a run has sample by sample; a correlation, say, is one figure over all of
    them."""
    first = (
        select(Score.sample_id)
        .where(Score.run_id == run_id)
        .order_by(Score.sample_id)
        .limit(1)
        .scalar_subquery()
    )
    return set(
        db.exec(select(Score.metric).where(Score.run_id == run_id, Score.sample_id == first))
    )


def item(db: Session, run: RunFacts, metric: str, sample_id: str) -> ScoredSample | None:
    """One sample of a run, or None."""
    row = db.execute(_items(run, metric, BoardAddress()).where(Sample.id == sample_id)).first()
    return ScoredSample(*row) if row else None


def _items(run: RunFacts, metric: str, at: BoardAddress) -> Any:
    sample = (
        Sample.id,
        Sample.scenario,
        Sample.task,
        Sample.setting,
        Sample.modality,
        Sample.prompt,
    )
    output = (Output.outcome, Output.reason, Output.media_sha256, Output.media_type)
    where = [
        getattr(Sample, facet) == getattr(at, facet)
        for facet in FACETS
        if getattr(at, facet) != ALL
    ]
    return (
        select(*sample, *output, Score.value, Score.outcome.label("scored"))  # type: ignore
        .join(Score, and_(col(Score.sample_id) == col(Sample.id), col(Score.run_id) == run.run_id))
        .join(
            Output,
            and_(
                col(Output.sample_id) == col(Sample.id),
                col(Output.submission_id) == run.submission_id,
            ),
        )
        .where(
            Sample.suite == run.suite, Sample.version == run.version, Score.metric == metric, *where
        )
    )


def answers(db: Session, run: RunFacts, sample_id: str) -> list[JudgeAnswer]:
    """Every question about one output and what each judge said, this run's judge first, people
    next."""
    sample = db.get(Sample, (run.suite, run.version, sample_id))
    output = db.get(Output, (run.submission_id, sample_id))
    if sample is None or output is None:
        return []
    questions_by_key = question_keys(sample)
    query = (
        select(Verdict, Reply.raw, Judge.name, Judge.kind)
        .join(Reply, col(Reply.id) == col(Verdict.reply_id))
        .join(Judge, col(Judge.fingerprint) == col(Verdict.judge))
        .where(
            Verdict.media_sha256 == output.media_sha256,
            col(Verdict.question_sha256).in_(list(questions_by_key)),
        )
    )
    order = {key: number for number, key in enumerate(questions_by_key)}
    rows = sorted(
        db.exec(query),
        key=lambda row: (
            row[0].judge != run.judge,
            row[3] != "human",
            row[2],
            order[row[0].question_sha256],
        ),
    )
    return [
        _judge_answer(questions_by_key[verdict.question_sha256], verdict, raw, name, kind)
        for verdict, raw, name, kind in rows
    ]


def flags(db: Session, run: RunFacts, sample_id: str) -> list[tuple[str, str]]:
    """What is worth a second look about one output: kind and text."""
    query = select(Flag.kind, Flag.text).where(
        Flag.submission_id == run.submission_id, Flag.sample_id == sample_id
    )
    return [(kind, text) for kind, text in db.execute(query.order_by(Flag.kind))]


def entry_flags(db: Session, submission_id: str) -> list[str]:
    """What is worth a second look about a whole entry."""
    query = select(Flag.text).where(
        Flag.submission_id == submission_id, Flag.sample_id == WHOLE_ENTRY
    )
    return [text for (text,) in db.execute(query.order_by(Flag.kind))]


def stored_details(
    db: Session, run: RunFacts, sample_id: str
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """What was kept with one output, and with its score in each metric."""
    output = db.get(Output, (run.submission_id, sample_id))
    query = select(Score.metric, Score.detail).where(
        Score.run_id == run.run_id, Score.sample_id == sample_id
    )
    return (output.record if output else {}), {
        metric: detail for metric, detail in db.execute(query)
    }


def records(db: Session, run: RunFacts, sample_id: str, limit: int = 20) -> list[dict[str, Any]]:
    """What published entries of the same suite version kept with their outputs for one sample, the
    oldest first."""
    query = (
        select(Output.record)
        .join(Submission, col(Submission.id) == col(Output.submission_id))
        .where(
            Submission.suite == run.suite,
            Submission.suite_version == run.version,
            Submission.state == "published",
        )
        .where(Output.sample_id == sample_id)
        .order_by(col(Submission.created_at), col(Submission.id))
    )
    return [record for (record,) in db.execute(query.limit(limit))]


def _judge_answer(
    question: dict[str, Any], verdict: Verdict, raw: str, name: str, kind: str
) -> JudgeAnswer:
    part = question.get("part", "")
    return JudgeAnswer(
        question["id"],
        question["text"],
        part,
        name,
        kind,
        verdict.outcome,
        verdict.value,
        verdict.reason,
        raw,
    )


def _disagreeing(db: Session, run: RunFacts) -> list[str]:
    """Samples about which this run's judge and people gave a different answer to some question."""
    theirs = aliased(Verdict)
    query = (
        select(Verdict.media_sha256, Verdict.question_sha256)
        .join(
            theirs,
            and_(
                theirs.media_sha256 == Verdict.media_sha256,
                theirs.question_sha256 == Verdict.question_sha256,
            ),
        )
        .join(Judge, col(Judge.fingerprint) == theirs.judge)
        .join(
            Output,
            and_(
                col(Output.media_sha256) == col(Verdict.media_sha256),
                col(Output.submission_id) == run.submission_id,
            ),
        )
        .where(
            Verdict.judge == run.judge,
            Judge.kind == "human",
            Judge.fingerprint != run.judge,
            Verdict.value != theirs.value,
        )
    )
    differing = {(media, question) for media, question in db.execute(query.distinct())}
    files = sorted({media for media, _ in differing})
    same_output = and_(
        col(Output.sample_id) == col(Sample.id), col(Output.submission_id) == run.submission_id
    )
    outputs = (
        select(Sample, Output.media_sha256)
        .join(Output, same_output)
        .where(col(Output.media_sha256).in_(files))
    )
    samples = db.exec(outputs.where(Sample.suite == run.suite, Sample.version == run.version))
    return [
        sample.id
        for sample, media in samples
        if differing & {(media, key) for key in question_keys(sample)}
    ]


def question_keys(sample: Sample) -> dict[str, dict[str, Any]]:
    """A sample's questions by the key that stands beside each verdict."""
    request = sample.request_sha256
    return {question_key(request, question["id"]): question for question in sample.questions}


def scored(db: Session, run_id: str, suite: str, version: str, metric: str) -> list[SampleValue]:
    """One run's values in one metric, sample by sample; what has no value is left out."""
    query = (
        select(Sample.id, Sample.cluster, Sample.scenario, Score.value)
        .join(Score, col(Score.sample_id) == col(Sample.id))
        .where(Score.run_id == run_id, Score.metric == metric, col(Score.value).is_not(None))
        .where(Sample.suite == suite, Sample.version == version)
        .order_by(col(Sample.position))
    )
    return [SampleValue(*row) for row in db.execute(query)]


def answer_pairs(db: Session, judge: str, limit: int = 100_000) -> list[tuple[str, str]]:
    """A judge's and people's answers to the same questions about the same files."""
    theirs = aliased(Verdict)
    same = (
        theirs.media_sha256 == Verdict.media_sha256,
        theirs.question_sha256 == Verdict.question_sha256,
    )
    query = (
        select(Verdict.value, theirs.value)
        .join(theirs, and_(*same))
        .join(Judge, col(Judge.fingerprint) == theirs.judge)
        .where(Verdict.judge == judge, Judge.kind == "human", Judge.fingerprint != judge)
        .where(col(Verdict.value).is_not(None), col(theirs.value).is_not(None))
    )
    return [
        (str(judge_answer), str(human_answer))
        for judge_answer, human_answer in db.execute(query.limit(limit))
    ]


def media_type(db: Session, sha256: str) -> str | None:
    """The type of a file that some entry shows; None for anything else in the store, private
    outputs among it."""
    open_to_all = ~col(Output.sample_id).startswith(PRIVATE, autoescape=True)
    public_types = select(Output.media_type).where(
        Output.media_sha256 == sha256, Output.media_sha256 != "", open_to_all
    )
    return db.exec(public_types.limit(1)).first()
