"""The stages of an evaluation. Each looks at the rows, does what is missing, and writes its own
rows."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prefect import task
from prefect.cache_policies import NO_CACHE
from sqlalchemy import update
from sqlmodel import Session, col, select

from evaluators.aggregate.cells import Bounds, bounds, share_of_our_failures
from evaluators.aggregate.columns import Columns, scored_metrics, tabulated
from evaluators.contracts import OUR_FAILURES, Answer, Cell, Outcome, Score
from evaluators.judges.card import question_key
from flows.durable.progress import begin, reach
from flows.durable.shard_results import ShardResult, pieces, records_of
from flows.evaluate import gates
from flows.publish import publish as publication
from flows.publish.private_gap import PrivateScores
from flows.run.answers import answered
from flows.run.case import EvaluationCase, Stopped
from flows.run.code_version import put_mark
from flows.run.plain_sample import plain
from flows.run.questions import QuestionedFile, all_asked, output_of
from flows.run.quota_turn import stop_if_taken_back
from flows.run.tables_io import (
    noise_of,
    outputs_of,
    store_outputs,
    store_results,
    store_verdicts,
    verdicts_of,
)
from flows.workers import work
from flows.workers.executor import each_done
from flows.workers.retry import note_set_aside
from infra import tables
from infra.db import session
from infra.logs import about
from submissions.intake.intake import PRIVATE
from submissions.teams.lifecycle import State, advance

log = logging.getLogger("armillary")

MOST_OUR_FAILURES = 0.01
MOST_BLOCKED = 0.2
SUFFIXES = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/webp": ".webp",
    "video/mp4": ".mp4",
    "video/webm": ".webm",
    "text/plain": ".txt",
    "application/json": ".json",
    "application/x-npz": ".npz",
}

shard_task = task(
    retries=2,
    retry_delay_seconds=[1, 10],
    cache_policy=NO_CACHE,
    persist_result=False,
    log_prints=False,
)
make_outputs = shard_task(work.make_outputs)
ask_judge = shard_task(work.ask_judge)


@dataclass(frozen=True, slots=True)
class RunScores:
    """A run's numbers, before they are rows."""

    scores: tuple[Score, ...]
    cells: tuple[Cell, ...]
    bounds: tuple[Bounds, ...]
    columns: Columns | None = None


def outputs(case: EvaluationCase) -> int:
    """Generate what the model has to make, or take over what was handed in; return how many were
    made now."""
    with session(case.settings.database) as db:
        there = outputs_of(db, case.submission.id).keys()
    if not there and case.submission.kind != "api":
        gates.hold(case, gates.after_intake(case))
    todo = [piece for piece in _output_works(case) if not there >= set(piece.sample_ids)]
    _advance(case, State.GENERATING, f"Preparing {len(case.samples)} outputs.", bool(todo))
    made = taken = 0
    begin("outputs", sum(len(piece.sample_ids) for piece in todo))
    for done in each_done(make_outputs, todo, case.place):
        with session(case.settings.database) as db:
            records = records_of(case.store, done)
            store_outputs(db, case.submission.id, done, records)
            note_set_aside(db, case.submission.id, records)
        _noted("outputs", done)
        made, taken = made + done.items * done.fresh, taken + done.items
        reach("outputs", taken)
    return made


def _noted(stage: str, done: ShardResult) -> None:
    with about(stage=stage, shard=done.inputs_sha256[:12]):
        log.info("%d items stored; made in %.1f s", done.items, done.seconds)


def _output_works(case: EvaluationCase) -> Iterator[work.OutputsWork]:
    manifest = case.submission.manifest
    files = {file["sample"]: file["path"] for file in manifest["files"] if file["sample"]}
    media = case.report["media"]
    steps = {file["sample"]: file["steps"] for file in manifest["files"] if file.get("steps")}
    for piece in pieces(case.samples, case.settings.shard_size):
        ids = tuple(sample.id for sample in piece)
        yield work.OutputsWork(
            suite=case.suite.name,
            sample_ids=ids,
            kind=manifest["kind"],
            bundle_sha256=case.submission.bundle_sha256,
            sampling=manifest["sampling"],
            files={sample: files[sample] for sample in ids if sample in files},
            media={sample: media[sample] for sample in ids if sample in media},
            endpoint=manifest.get("endpoint", {}),
            steps={sample: steps[sample] for sample in ids if sample in steps},
            agent=_agent(case, manifest["kind"]),
        )


def _agent(case: EvaluationCase, kind: str) -> str:
    """The agent that runs the model, for a suite that has one; handed-in outputs need none."""
    generation = case.suite.generation
    return case.settings.agent if generation and generation.runs_agent and kind != "outputs" else ""


def validate(case: EvaluationCase) -> None:
    """Let only a whole and sound table of outputs through."""
    if case.run.state != "open":
        return
    _advance(case, State.VALIDATING, "Checking the outputs as a whole.")
    gates.hold(case, gates.after_generation(case))


def judge(case: EvaluationCase) -> int:
    """Ask the judge about every output it has not answered for yet; return how many were judged
    now."""
    todo = [piece for piece in _judge_works(case) if piece.media]
    _advance(case, State.JUDGING, "Asking the judge.", bool(todo))
    judged = taken = 0
    begin("judging", sum(len(piece.media) for piece in todo))
    asked = {name: key for piece in todo for name, key in piece.asked.items()}
    for done in each_done(ask_judge, todo, case.place):
        with session(case.settings.database) as db:
            store_verdicts(db, case.run, done, records_of(case.store, done), asked)
        _noted("judge", done)
        judged, taken = judged + done.items * done.fresh, taken + done.items
        reach("judging", taken)
    return judged


def _judge_works(case: EvaluationCase) -> Iterator[work.JudgeWork]:
    with session(case.settings.database) as db:
        found = all_asked(
            case.suite, case.samples, outputs_of(db, case.submission.id), case.requests
        )
        there = verdicts_of(
            db, case.run.judge, [one.media_sha256 for every in found.values() for one in every]
        )
    for piece in pieces(case.samples, case.settings.shard_size):
        asked = [one for sample in piece for one in found[sample.id] if not _is_judged(one, there)]
        yield judge_work(case, asked)


def judge_work(
    case: EvaluationCase, asked: Sequence[QuestionedFile], repeat: int = 0
) -> work.JudgeWork:
    """A shard of judging: these are asked about for the first time or again."""
    return work.JudgeWork(
        suite=case.suite.name,
        judge=case.settings.judge,
        fingerprint=case.run.judge,
        media={one.item.id: one.media_sha256 for one in asked},
        suffixes={one.item.id: SUFFIXES[one.media_type] for one in asked},
        asked={one.item.id: one.key for one in asked},
        repeat=repeat,
        items={one.item.id: plain(one.item) for one in asked} if case.suite.pieces else {},
    )


def _is_judged(asked: QuestionedFile, there: Mapping[tuple[str, str], Answer]) -> bool:
    """An answer to every question that is not a failure of the judge's."""
    found = (
        there.get((asked.media_sha256, question_key(asked.key, q.id))) for q in asked.item.questions
    )
    return all(answer and answer.outcome not in OUR_FAILURES for answer in found)


def score(case: EvaluationCase) -> Columns | None:
    """Turn verdicts into scores and cells, in one transaction; return the columns if that was now
    and made them."""
    if case.run.state != "open":
        return None
    _advance(case, State.SCORING, "Computing the scores.")
    found = compute(case)
    share = share_of_our_failures(found.scores)
    if share > MOST_OUR_FAILURES:
        raise Stopped(
            "E_JUDGE",
            "ours",
            f"The judge gave no usable answer for {share:.1%} of the scores. Evaluate it again.",
        )
    with session(case.settings.database) as db:
        store_results(db, case.run.id, found.scores, found.cells, found.bounds)
        put_mark(db, case)
        warned = _warned(case.run.why_not, _blocked(db, case), len(case.samples))
        scored = n_scored(case, found.scores)
        _set_run(
            db, case, state="scored", n_scored=scored, n_expected=len(case.samples), why_not=warned
        )
    return found.columns


def n_scored(case: EvaluationCase, scores: Sequence[Score]) -> int:
    """How many samples have a value of the first of the suite's metrics that samples are scored
    by."""
    there = {score.metric for score in scores}
    first = next((one.name for one in case.suite.metrics if one.name in there), "")
    return sum(score.metric == first and score.outcome is Outcome.SCORED for score in scores)


def compute(case: EvaluationCase) -> RunScores:
    """A run's scores and cells from its stored outputs and verdicts: pure but for the reading."""
    scores = scores_of(case)
    within = (
        ()
        if case.suite.tabulate
        else bounds(scored_metrics(case.suite, scores), case.samples, scores)
    )
    with session(case.settings.database) as db:
        noise = noise_of(db, case.run.id)
    made = tabulated(case.suite, case.samples, scores, noise)
    return RunScores(scores, made.cells, within, made.columns)


def scores_of(case: EvaluationCase) -> tuple[Score, ...]:
    """Every sample's scores from its stored output and verdicts."""
    scoring = case.suite.scoring
    assert scoring is not None
    with session(case.settings.database) as db:
        found = answered(db, case.suite, case.run, case.samples, case.requests)
        return tuple(
            made
            for one in found
            for made in scoring.score(one.sample, output_of(one.sample, one.row), one.answers)
        )


def publish(
    case: EvaluationCase,
    private_scores: Callable[[], PrivateScores],
    columns: Columns | None = None,
) -> None:
    """Put the run on its board, with its rank; `columns` are those of its scores, where they were
    just made."""
    if case.run.state != "published":
        stored = publication.stored_scores(case)
        gates.hold(case, gates.before_publication(case, stored))
        publication.publish(case, stored, private_scores, columns)


def _blocked(db: Session, case: EvaluationCase) -> int:
    """How many of the samples it was first asked for were blocked, replaced or not."""
    table = tables.Output
    query = select(table.sample_id).where(
        table.submission_id == case.submission.id, table.outcome == Outcome.BLOCKED
    )
    return sum(not name.startswith(PRIVATE) for name in db.exec(query))


def _warned(why_not: str, blocked: int, of: int) -> str:
    share = blocked / max(1, of)
    said = (
        f"warning: a safety filter blocked {blocked} of its prompts ({share:.0%})"
        if share > MOST_BLOCKED
        else ""
    )
    return "; ".join(filter(None, (why_not, said)))


def _set_run(db: Session, case: EvaluationCase, **values: Any) -> None:
    db.connection().execute(
        update(tables.Run).where(col(tables.Run.id) == case.run.id).values(**values)
    )


def _advance(case: EvaluationCase, to: State, text: str, needed: bool = True) -> None:
    with session(case.settings.database) as db:
        stop_if_taken_back(db, case.submission.id)
        if needed:
            advance(db, case.submission.id, to, text)
