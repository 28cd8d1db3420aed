"""A closed study on the board: people's verdicts beside the judge's, scores per rater and then their mean."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from statistics import fmean, stdev
from typing import Any

import numpy as np
from sqlalchemy import delete, update
from sqlmodel import Session, col, select

from evaluators.columns import tabulate
from evaluators.contracts import Answer, JudgeCard, Outcome, Output, Sample, Score, Suite
from evaluators.judges.card import fingerprint, question_key, request_key
from evaluators.metrics.raters import Shared, shared
from evaluators.suites import suite_named
from flows.board_keys import board_key
from flows.catalogue import judge_row
from flows.rows import outputs_of, store_results
from flows.seals import seal_run
from flows.studies import move
from flows.study_scores import Rated, agreement, care, judge_and_people, ratings, table_of
from infra import tables
from infra.db import add_new, put, session
from infra.settings import Settings
from infra.tables_standing import Noise
from infra.tables_study import Rater, Study
from leaderboard import publication
from leaderboard.studies.states import StudyError

WHY_NOT = "rated by people in a study: shown beside the judge's, ranked with nobody"


def publish(settings: Settings, study_id: str) -> dict[str, Any]:
    """Compute a closed study's results and, where the suite scores by questions, put people's scores on the board."""
    with session(settings.database) as db:
        study = db.get(Study, study_id)
        if study is None or study.state not in ("closed", "published"):
            raise StudyError(f"{study_id} is {study.state if study else 'not there'}: close it, then publish it.")
        result = compute(db, study)
        db.connection().execute(update(Study).where(col(Study.id) == study_id).values(result=result))
        if study.protocol == "tailor":
            _to_board(db, study, result)
        state = study.state
    if state == "closed":
        move(settings, study_id, "published")
    return result


def compute(db: Session, study: Study) -> dict[str, Any]:
    """All figures of a study: everybody's, and without those whom the rule leaves out."""
    given = ratings(db, study.id)
    raters = care(db, study, given)
    out = {one.rater for one in raters if one.left_out}
    kept = [one for one in given if one.rater not in out]
    without = {
        one.rater: table_of(study, [rated for rated in given if rated.rater != one.rater])
        for one in raters
        if len(raters) > 1
    }
    return {
        "all": {"table": table_of(study, given), "agreement": agreement(given, study.seed)},
        "kept": {"table": table_of(study, kept), "agreement": agreement(kept, study.seed)},
        "raters": [asdict(one) for one in raters],
        "leave_one_out": without,
        "judges": _judges(db, study, kept) if study.protocol == "tailor" else {},
    }


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


def _to_board(db: Session, study: Study, result: Mapping[str, Any]) -> None:
    """Verdicts and one run a submission, from the raters that are kept; publishing again replaces them."""
    suite, card = suite_named(study.suite), human_card(study)
    out = {one["rater"] for one in result["raters"] if one["left_out"]}
    given = [one for one in ratings(db, study.id) if _is_on_board(one) and one.rater not in out]
    add_new(db, tables.Judge, [judge_row(card)])
    samples = {sample.id: sample for sample in suite.samples()}
    numbers = {rater.id: rater.number for rater in db.exec(select(Rater).where(Rater.study_id == study.id))}
    _store_verdicts(db, fingerprint(card), samples, given, numbers)
    for submission in dict.fromkeys(one.behind["methods"]["A"] for one in given):
        mine = [one for one in given if one.behind["methods"]["A"] == submission]
        _store_run(db, suite, fingerprint(card), submission, samples, mine)


def _is_on_board(one: Rated) -> bool:
    """Items from a file have no output of ours behind them."""
    return one.kind == "real" and "media_sha256" in one.behind


def _store_verdicts(
    db: Session, judge: str, samples: Mapping[str, Sample], given: Sequence[Rated], numbers: Mapping[str, int]
) -> None:
    for table in (tables.Verdict, tables.Reply):
        db.connection().execute(delete(table).where(col(table.judge) == judge))
    for one in given:
        sample, file = samples[one.behind["sample"]], one.behind["media_sha256"]
        request = request_key(sample.prompt, sample.facets.modality, sample.questions)
        reply = hashlib.sha256(f"{judge} {file} {request} {numbers[one.rater]}".encode()).hexdigest()
        raw = json.dumps({"rater": one.rater, "answers": dict(one.answers)}, sort_keys=True)
        put(db, tables.Reply, [_reply_row(reply, judge, file, raw)])
        add_new(db, tables.Verdict, [
            {"judge": judge, "media_sha256": file, "question_sha256": question_key(request, name),
             "repeat": numbers[one.rater], "outcome": Outcome.SCORED.value, "value": str(value), "reason": "",
             "reply_id": reply}
            for name, value in one.answers.items()
        ])  # fmt: skip


def _reply_row(reply: str, judge: str, file: str, raw: str) -> dict[str, Any]:
    cost = {"tokens_in": 0, "tokens_out": 0, "cost": 0.0}
    return {"id": reply, "judge": judge, "media_sha256": file, "raw": raw, "at": tables.now(), **cost}


def _store_run(
    db: Session,
    suite: Suite,
    judge: str,
    submission: str,
    samples: Mapping[str, Sample],
    given: Sequence[Rated],
) -> None:
    row = db.get(tables.Submission, submission)
    assert row is not None
    covered = [samples[name] for name in dict.fromkeys(one.behind["sample"] for one in given)]
    outputs = outputs_of(db, submission)
    single = {sample.id: by_rater(suite, sample, outputs[sample.id].record, given) for sample in covered}
    scores = [score for one in single.values() for score in _means(list(one.values()))]
    noise = rater_noise(list(single.values()))
    made = tabulate(suite, covered, scores, {metric: found.error for metric, found in noise.items()})
    run_id = f"run-{hashlib.sha256(f'{submission} {judge}'.encode()).hexdigest()[:12]}"
    for table in (tables.Score, tables.Cell, Noise):
        db.connection().execute(delete(table).where(col(table.run_id) == run_id))
    run = tables.Run(
        id=run_id, submission_id=submission, board=board_key(suite, row.subset, judge), suite=suite.name,
        suite_version=suite.version, scorer_version=suite.scorer_version, subset=row.subset, judge=judge,
        state="published", eligible=False, why_not=WHY_NOT, n_scored=len(covered), n_expected=len(covered),
        published_at=tables.now(),
    )  # fmt: skip
    put(db, tables.Run, [run.model_dump()])
    store_results(db, run_id, scores, made)
    shown = {"run_id": run_id, "source": "raters", "at": tables.now()}
    put(db, Noise, [{**shown, "metric": metric, **asdict(found)} for metric, found in noise.items()])
    publication.keep_up(db, run_id)
    seal_run(db, db.get_one(tables.Run, run_id, populate_existing=True))


def human_scores(suite: Suite, sample: Sample, record: Mapping[str, Any], given: Sequence[Rated]) -> list[Score]:
    """A sample's scores by people: each rater's by the suite's own rule, then the mean over raters."""
    return _means(list(by_rater(suite, sample, record, given).values()))


def by_rater(
    suite: Suite, sample: Sample, record: Mapping[str, Any], given: Sequence[Rated]
) -> dict[str, tuple[Score, ...]]:
    """A sample's scores by each rater who rated it, by the suite's own rule."""
    assert suite.score is not None
    output = Output(sample.id, Outcome.SCORED, record=record)
    return {
        one.rater: suite.score(
            sample, output, {name: Answer(name, Outcome.SCORED, str(value)) for name, value in one.answers.items()}
        )
        for one in given
        if one.behind["sample"] == sample.id
    }


def rater_noise(single: Sequence[Mapping[str, Sequence[Score]]]) -> dict[str, Shared]:
    """What each metric's mean would move by with other raters, where two of them rated the same outputs."""
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
    found = {metric: shared(np.array(rows, np.float64), used=None) for metric, rows in by_metric.items()}
    return {metric: one for metric, one in found.items() if one}


def _means(single: Sequence[Sequence[Score]]) -> list[Score]:
    return [_mean([scores[number] for scores in single]) for number in range(len(single[0]))] if single else []


def _mean(scores: Sequence[Score]) -> Score:
    values = [score.value for score in scores if score.value is not None]
    first = scores[0]
    if not values:
        return Score(first.sample_id, first.metric, first.outcome)
    spread = stdev(values) if len(values) > 1 else None
    return Score(
        first.sample_id, first.metric, Outcome.SCORED, fmean(values), {"raters": len(values), "spread": spread}
    )


def _judges(db: Session, study: Study, kept: Sequence[Rated]) -> dict[str, Any]:
    """Each automatic judge's scores against people's, sample by sample, for every metric."""
    suite = suite_named(study.suite)
    samples = {sample.id: sample for sample in suite.samples()}
    real = [one for one in kept if _is_on_board(one)]
    people: dict[tuple[str, str, str], float] = {}
    outputs = {name: outputs_of(db, name) for name in {one.behind["methods"]["A"] for one in real}}
    for submission, name in dict.fromkeys((one.behind["methods"]["A"], one.behind["sample"]) for one in real):
        mine = [one for one in real if one.behind["methods"]["A"] == submission and one.behind["sample"] == name]
        for score in human_scores(suite, samples[name], outputs[submission][name].record, mine):
            if score.value is not None:
                people[submission, name, score.metric] = score.value
    return _against(db, people)


def _against(db: Session, people: Mapping[tuple[str, str, str], float]) -> dict[str, Any]:
    score, run = tables.Score, tables.Run
    query = (
        select(tables.Judge.name, run.submission_id, score.sample_id, score.metric, score.value)  # type: ignore[call-overload]
        .join(tables.Run, col(tables.Run.id) == col(tables.Score.run_id))
        .join(tables.Judge, col(tables.Judge.fingerprint) == col(tables.Run.judge))
        .where(tables.Judge.kind == "auto", col(tables.Score.value).is_not(None))
        .where(col(tables.Run.submission_id).in_({submission for submission, _, _ in people}))
    )
    pairs: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for judge, submission, sample, metric, value in db.execute(query):
        theirs = people.get((submission, sample, metric))
        if theirs is not None:
            pairs.setdefault(judge, {}).setdefault(metric, []).append((value, theirs))
    return {
        judge: {metric: judge_and_people(found) for metric, found in kinds.items()} for judge, kinds in pairs.items()
    }
