"""The flow for one submission, from the door to the board, step by step. Run it as often as you
like: what is stored is not done again."""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from prefect import flow
from sqlalchemy.exc import SQLAlchemyError

from evaluators.contracts import CannotProduce
from flows.durable.lease import LeaseLost, hold_lease
from flows.evaluate.blocked import replace_blocked
from flows.evaluate.failure_modes import take_second_look
from flows.evaluate.flags import flag
from flows.evaluate.judge import ask, plan_judging
from flows.evaluate.notify import send_notices
from flows.evaluate.outputs import OutputRows, ProducedOutputs, plan_outputs, produce_outputs
from flows.evaluate.private_bank import private_case, private_scores
from flows.evaluate.score import score_run
from flows.evaluate.validate import validate_bundle, validate_outputs, validate_scores
from flows.publish.publish import PublishedNumbers, publish, stored_scores
from flows.run.answers import Files, answers_about
from flows.run.board_keys import scoring_version
from flows.run.case import EvaluationCase, Stopped, Withdrawn, find_submission, open_case
from flows.run.errors import stopped_by
from flows.run.output_rows import outputs_of
from flows.run.quota_turn import Waits, stopped_too_slow, take_turn
from flows.run.score_rows import noise_of
from flows.workers.confined.fault_rules import TooSlow
from infra.db import session
from infra.settings import Settings
from submissions.teams.lifecycle import State, advance, state_of

log = logging.getLogger("armillary")
GC_OBJECTS = 100_000
"""New objects before a garbage collection, while rows are built: they come in tens of thousands
and hold no reference cycles."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What one run of the flow did; zeros when everything was stored already."""

    submission_id: str
    run_id: str
    state: str
    made: int
    judged: int


@flow(name="evaluate", retries=0, persist_result=False, validate_parameters=False)
def evaluate(submission_id: str, judge: str = "") -> Evaluated:
    """Bring one submission to the board: outputs, validation, verdicts, scores, publication."""
    settings = Settings()
    settings = settings.model_copy(update={"judge": judge or settings.judge})
    find_submission(settings, submission_id)
    lease = hold_lease(settings, submission_id, "evaluate", {"judge": judge}, patient=Waits)
    with lease, _fewer_collections():
        return _evaluate(settings, submission_id)


@contextmanager
def _fewer_collections() -> Iterator[None]:
    """gc thresholds are raised while rows are built, and what is loaded already is left out of
    collections."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(GC_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def _evaluate(settings: Settings, submission_id: str) -> Evaluated:
    try:
        case = _start(settings, submission_id)
        counts = run_steps(case)
    except (LeaseLost, Waits):
        raise
    except TooSlow as error:
        slow = stopped_too_slow(settings, submission_id, str(error))
        _end(settings, submission_id, slow)
        raise slow from None
    except CannotProduce as error:
        cannot = Stopped("E_CANNOT_PRODUCE", "ours", str(error))
        _end(settings, submission_id, cannot)
        raise cannot from None
    except Exception as error:
        stopped = stopped_by(error)
        _end(settings, submission_id, stopped)
        if stopped is error:
            raise
        log.exception("evaluate %s", submission_id)
        raise stopped from error
    finally:
        send_notices(settings)
    with session(settings.database) as db:
        state = state_of(db, submission_id)
    return Evaluated(submission_id, case.run.id, state, counts.generated, counts.judged)


@dataclass(frozen=True, slots=True)
class StepCounts:
    """How many outputs this run of the flow generated or took over, and how many it judged."""

    generated: int
    judged: int


def run_steps(case: EvaluationCase) -> StepCounts:
    """The eight steps in their order: outputs, validation, flags, verdicts, scores, the second
    look, private samples, publication."""
    produced = _produce(case)
    replaced = replace_blocked(case, produced.rows, _produce)
    case, outputs = replaced.case, replaced.outputs
    if case.run.state == "open":
        _enter(case, State.VALIDATING, "Checking the outputs as a whole.")
        validate_outputs(case, outputs)
    flag(case, outputs)
    files, judged = _judge(case, outputs)
    if case.run.state == "published":
        take_second_look(case, outputs)
        _judge_private(case)
    else:
        _score_and_publish(case, outputs, files)
    return StepCounts(produced.generated, judged)


def _produce(case: EvaluationCase) -> ProducedOutputs:
    planned = plan_outputs(case)
    if not planned.rows and case.submission.kind != "api":
        validate_bundle(case)
    text = f"Preparing {len(case.samples)} outputs."
    _enter(case, State.GENERATING, text, needed=bool(planned.shards))
    return produce_outputs(case, planned)


def _judge(case: EvaluationCase, outputs: OutputRows) -> tuple[Files, int]:
    planned = plan_judging(case, outputs)
    _enter(case, State.JUDGING, "Asking the judge.", needed=bool(planned.shards))
    return planned.files, ask(case, planned)


def _score_and_publish(case: EvaluationCase, outputs: OutputRows, files: Files) -> None:
    with session(case.settings.database) as db:
        answered = answers_about(db, case.run.judge, case.samples, outputs, files)
        noise = noise_of(db, case.run.id)
    version = scoring_version(case.suite)
    columns = None
    if case.run.state == "open":
        _enter(case, State.SCORING, "Computing the scores.")
        columns = score_run(case, answered, noise, version)
    take_second_look(case, outputs)
    _judge_private(case)
    scores = stored_scores(case)
    validate_scores(case, scores)
    numbers = PublishedNumbers(answered, scores, noise, private_scores(case), version, columns)
    publish(case, numbers)


def _judge_private(case: EvaluationCase) -> None:
    private = private_case(case)
    if private is not None:
        _judge(private, _produce(private).rows)


def _enter(case: EvaluationCase, state: State, text: str, *, needed: bool = True) -> None:
    """Move the submission to a state, if a step has something to do; stop if it was withdrawn."""
    with session(case.settings.database) as db:
        if state_of(db, case.submission.id) is State.WITHDRAWN:
            raise Withdrawn
        if needed:
            advance(db, case.submission.id, state, text)


def run_here(submission_id: str, settings: Settings, judge: str = "") -> Evaluated:
    """Run the flow in this process, with the judge of the settings unless another is named."""
    if settings.engine == "here":
        direct: Evaluated = evaluate.fn(submission_id, judge)
        return direct
    evaluated: Evaluated = evaluate(submission_id, judge)
    return evaluated


def judge_missing(case: EvaluationCase) -> int:
    """Ask the judge about stored outputs that it has no answer for; return how many were judged."""
    with session(case.settings.database) as db:
        outputs = outputs_of(db, case.submission.id)
    return _judge(case, outputs)[1]


def _start(settings: Settings, submission_id: str) -> EvaluationCase:
    """Open the case; one that failed before starts again."""
    case = open_case(settings, submission_id)
    with session(settings.database) as db:
        if state_of(db, submission_id) is State.FAILED:
            advance(db, submission_id, State.RECEIVED, "Taken up again after a failure.")
        if state_of(db, submission_id) in (State.REJECTED, State.WITHDRAWN):
            raise Stopped("E_CLOSED", "submitter", "This submission is closed. Hand in a new one.")
    take_turn(settings, submission_id)
    return case


def _end(settings: Settings, submission_id: str, stopped: Stopped) -> None:
    """Write the failure down; where even that fails, the lease runs out and the watchdog takes the
    run up again."""
    try:
        with session(settings.database) as db:
            advance(
                db,
                submission_id,
                State.FAILED,
                stopped.text,
                fault=stopped.fault,
                code=stopped.code,
            )
    except SQLAlchemyError:
        log.exception("the failure of %s could not be written down", submission_id)
