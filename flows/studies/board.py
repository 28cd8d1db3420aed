"""A closed study on the board: people's verdicts beside the judge's, ranked among those whom the
same people rated."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import delete, update
from sqlmodel import Session, col, select

from evaluators.aggregate.columns import tabulate
from evaluators.aggregate.summaries import summaries
from evaluators.contracts import Cell, JudgeCard, Outcome, RatedItem, Sample, Score, Suite
from evaluators.judges.card import fingerprint, request_key
from evaluators.statistics.opinions import RatedOutput, opinions
from evaluators.suites import suite_named
from flows.evaluate.score import RunScores
from flows.publish import publish as publication_flow
from flows.publish.seal_chain import PUBLICATION, seal_board, seal_run
from flows.run.board_keys import board_key
from flows.run.catalogue import judge_row
from flows.run.score_rows import store_results
from flows.run.verdict_rows import reply_key
from flows.studies.against_people.judges import judges_and_people
from flows.studies.against_people.other_metrics import others_and_people
from flows.studies.agreement import agreement
from flows.studies.create import move
from flows.studies.people import People, people_of
from flows.studies.protocols import rating_of
from flows.studies.ratings import care, ratings
from flows.studies.tables import table_of
from infra import tables
from infra.db import add_new, put, session, transaction_lock
from infra.settings import Settings
from infra.tables import standing
from infra.tables.results import question_key
from infra.tables.standing import Noise
from infra.tables.study import Rater, Study
from leaderboard.cache import on_publish
from leaderboard.studies.states import StudyError
from submissions.teams.roles import WHY_UNRANKED


def publish(settings: Settings, study_id: str) -> dict[str, Any]:
    """Compute a closed study's results and put people's scores on the board; publishing again
    replaces them."""
    with session(settings.database) as db:
        study = db.get(Study, study_id)
        if study is None or study.state not in ("closed", "published"):
            raise StudyError(
                f"{study_id} is {study.state if study else 'not there'}: close it, then publish it."
            )
        study_ratings = _collected(db, study)
        result = _result(db, study, study_ratings)
        db.connection().execute(
            update(Study).where(col(Study.id) == study_id).values(result=result)
        )
        _to_board(db, study, study_ratings)
        state = study.state
    if state == "closed":
        move(settings, study_id, "published")
    return result


@dataclass(frozen=True, slots=True)
class CollectedRatings:
    """A study's ratings: all of them, how carefully each rater rated, and without the raters whom
    the rule leaves out, also output by output."""

    collected: list[RatedItem]
    raters: list[dict[str, Any]]
    usable: list[RatedItem]
    rated_outputs: list[RatedOutput]
    people: list[People]


def _collected(db: Session, study: Study) -> CollectedRatings:
    collected = ratings(db, study)
    raters = [asdict(rater_quality) for rater_quality in care(db, study, collected)]
    usable = _without_left_out(collected, raters)
    rated_outputs = opinions(usable)
    return CollectedRatings(
        collected, raters, usable, rated_outputs, people_of(db, study, rated_outputs)
    )


def compute(db: Session, study: Study) -> dict[str, Any]:
    """All figures of a study: everybody's, and without those whom the rule leaves out."""
    return _result(db, study, _collected(db, study))


def _result(db: Session, study: Study, study_ratings: CollectedRatings) -> dict[str, Any]:
    collected, usable, raters = (
        study_ratings.collected,
        study_ratings.usable,
        study_ratings.raters,
    )
    rating = rating_of(study.protocol)
    parts = rating.parts
    without = {
        quality["rater"]: table_of(
            study, [rated for rated in collected if rated.rater != quality["rater"]]
        )
        for quality in raters
        if len(raters) > 1
    }
    return {
        "all": {
            "table": table_of(study, collected),
            "agreement": agreement(collected, study.seed, parts),
        },
        "kept": {
            "table": table_of(study, usable),
            "agreement": agreement(usable, study.seed, parts),
        },
        "raters": raters,
        "leave_one_out": without,
        "judges": judges_and_people(db, study_ratings.people),
        "others": others_and_people(study_ratings.people, study.seed),
        "repair": list(rating.repair(usable)) if rating.repair else [],
    }


def _without_left_out(
    collected: Sequence[RatedItem], raters: Sequence[Mapping[str, Any]]
) -> list[RatedItem]:
    left_out = {quality["rater"] for quality in raters if quality["left_out"]}
    return [rated for rated in collected if rated.rater not in left_out]


def human_card(study: Study) -> JudgeCard:
    """Who judged: the people of one study, by its instructions."""
    return JudgeCard(
        name=f"People: {study.title}",
        kind="human",
        model="people",
        revision=study.id,
        prompt_sha256=hashlib.sha256(study.instructions.encode()).hexdigest(),
        decoding=f"{study.raters_per_item} raters an item",
        frames="whole",
        precision="",
        code="study-1",
    )


@dataclass(frozen=True, slots=True)
class Entered:
    """A submission's run under the people of a study."""

    submission: tables.Submission
    run: tables.Run
    samples: tuple[Sample, ...]
    scores: tuple[Score, ...]


def _to_board(db: Session, study: Study, study_ratings: CollectedRatings) -> None:
    """Verdicts, and one run a submission; all of them are ranked anew together, and with nobody
    else."""
    suite, card = suite_named(study.suite), human_card(study)
    judge = fingerprint(card)
    add_new(db, tables.Judge, [judge_row(card)])
    transaction_lock(db, PUBLICATION)
    entries = [entry for entry in study_ratings.people if entry.scores]
    numbers = {
        rater.id: rater.number for rater in db.exec(select(Rater).where(Rater.study_id == study.id))
    }
    _store_verdicts(db, suite, judge, entries, study_ratings.rated_outputs, numbers)
    with on_publish.kept_up(db, col(tables.Run.judge) == judge):
        _forget_runs(db, judge)
        entered = [_store_run(db, suite, study, judge, entry) for entry in entries]
    _rank(db, suite, entered)


def recomputed(db: Session, run: tables.Run) -> RunScores | None:
    """A run's scores and cells from the ratings as they are stored; None if it is not people's."""
    judge = db.get_one(tables.Judge, run.judge)
    study = db.get(Study, judge.card.get("revision", "")) if judge.kind == "human" else None
    if study is None:
        return None
    usable = _without_left_out(ratings(db, study), study.result["raters"])
    mine = next(
        people
        for people in people_of(db, study, opinions(usable))
        if people.submission.id == run.submission_id
    )
    return RunScores(mine.scores, _cells(suite_named(study.suite), mine), ())


def _store_verdicts(
    db: Session,
    suite: Suite,
    judge: str,
    entries: Sequence[People],
    rated_outputs: Sequence[RatedOutput],
    numbers: Mapping[str, int],
) -> None:
    for table in (tables.Verdict, tables.Reply):
        db.connection().execute(delete(table).where(col(table.judge) == judge))
    sample_files = {
        (entry.submission.id, sample.id): (sample, entry.files[sample.id])
        for entry in entries
        for sample in entry.samples
    }
    for about in rated_outputs:
        if (about.method, about.sample) in sample_files:
            sample, file = sample_files[about.method, about.sample]
            _store_reply(
                db, judge, file, _request(suite, sample), about, numbers[about.opinion.rater]
            )


def _request(suite: Suite, sample: Sample) -> str:
    """The judge's own key where people answer the judge's questions; elsewhere one of the sample's
    own."""
    if suite.pieces or suite.own_judge:
        return hashlib.sha256(f"people {sample.id}".encode()).hexdigest()
    return request_key(sample.prompt, sample.facets.modality, sample.questions)


def _store_reply(
    db: Session, judge: str, file: str, request: str, about: RatedOutput, number: int
) -> None:
    answers, rater = about.opinion.answers, about.opinion.rater
    reply = reply_key(judge, file, request, number)
    raw = json.dumps({"rater": rater, "answers": dict(answers)}, sort_keys=True)
    row = tables.Reply(id=reply, judge=judge, media_sha256=file, raw=raw, at=tables.now())
    put(db, tables.Reply, [row.model_dump()])
    verdicts = [
        tables.Verdict(
            judge=judge,
            media_sha256=file,
            question_sha256=question_key(request, name),
            repeat=number,
            outcome=Outcome.SCORED.value,
            value=str(value),
            reason="",
            reply_id=reply,
        )
        for name, value in answers.items()
    ]
    add_new(db, tables.Verdict, [verdict.model_dump() for verdict in verdicts])


def _forget_runs(db: Session, judge: str) -> None:
    """Nothing stays of what an earlier publication of the same study computed."""
    run = tables.Run
    old = db.execute(select(run.id, run.board).where(run.judge == judge)).all()
    names, boards = [name for name, _ in old], {board for _, board in old}
    for table in (tables.Score, tables.Cell, Noise, standing.Summary, standing.AttemptRow):
        db.connection().execute(delete(table).where(col(table.run_id).in_(names)))
    for ranks in (standing.Roster, standing.Standing):
        db.connection().execute(delete(ranks).where(col(ranks.board).in_(boards)))
    db.connection().execute(update(run).where(col(run.id).in_(names)).values(state="scored"))


def _store_run(db: Session, suite: Suite, study: Study, judge: str, people: People) -> Entered:
    submission, scores = people.submission, people.scores
    run_id = f"run-{hashlib.sha256(f'{submission.id} {judge}'.encode()).hexdigest()[:12]}"
    rated = {score.sample_id for score in scores if score.outcome is Outcome.SCORED}
    run = tables.Run(
        id=run_id,
        submission_id=submission.id,
        board=board_key(suite, f"study {study.id}", judge),
        suite=suite.name,
        suite_version=suite.version,
        scorer_version=suite.scorer_version,
        subset=submission.subset,
        judge=judge,
        state="published",
        eligible=submission.role == "entry",
        why_not=WHY_UNRANKED[submission.role],
        n_scored=len(rated),
        n_expected=len(people.samples),
        published_at=tables.now(),
    )
    put(db, tables.Run, [run.model_dump()])
    store_results(db, run_id, scores, _cells(suite, people))
    noise_source = {"run_id": run_id, "source": "raters", "at": tables.now()}
    put(
        db,
        Noise,
        [
            {**noise_source, "metric": metric, **asdict(shared)}
            for metric, shared in people.noise.items()
        ],
    )
    return Entered(submission, run, people.samples, scores)


def _cells(suite: Suite, people: People) -> tuple[Cell, ...]:
    """With what other raters would have changed in the intervals."""
    return tabulate(
        suite,
        people.samples,
        people.scores,
        {name: shared.error for name, shared in people.noise.items()},
    )


def _rank(db: Session, suite: Suite, entered: Sequence[Entered]) -> None:
    for entry in entered:
        publication_flow.rank(
            db, suite, entry.submission, entry.run, summaries(suite, entry.samples, entry.scores)
        )
    for entry in entered:
        seal_run(db, db.get_one(tables.Run, entry.run.id, populate_existing=True))
        seal_board(db, entry.run.board)
