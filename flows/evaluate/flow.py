"""The flow for one submission, from the door to the board. Run it as often as you like: what is
done stays done."""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from prefect import flow
from sqlalchemy.exc import SQLAlchemyError

from evaluators.contracts import CannotProduce
from flows.durable.lease import LeaseLost, holding
from flows.evaluate import stages
from flows.evaluate.blocked import replace_blocked
from flows.evaluate.failure_modes import look_again
from flows.evaluate.flags import flag
from flows.evaluate.notify import tell
from flows.evaluate.private_bank import make_and_judge, private_scores
from flows.run.case import EvaluationCase, Stopped, known, open_case
from flows.run.errors import stopped_by
from flows.run.quota_turn import Waits, take_turn
from infra.db import session
from infra.settings import Settings
from submissions.teams.lifecycle import State, advance, state_of

log = logging.getLogger("armillary")
OBJECTS = 100_000
"""So many are made before the collector looks at them: rows come in tens of thousands and are in no
circles."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What one run of the flow did; zeros when there was nothing left to do."""

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
    known(settings, submission_id)
    with holding(settings, submission_id, "evaluate", {"judge": judge}, patient=Waits), _settled():
        return _evaluate(settings, submission_id)


@contextmanager
def _settled() -> Iterator[None]:
    """What is loaded stays loaded: while answers come and go, the collector looks through nothing
    time and again."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def _evaluate(settings: Settings, submission_id: str) -> Evaluated:
    try:
        case = _start(settings, submission_id)
        made = stages.outputs(case)
        case = replace_blocked(case)
        stages.validate(case)
        flag(case)
        judged = stages.judge(case)
        columns = stages.score(case)
        look_again(case)
        make_and_judge(case)
        stages.publish(case, partial(private_scores, case), columns)
    except (LeaseLost, Waits):
        raise
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
        tell(settings)
    with session(settings.database) as db:
        return Evaluated(submission_id, case.run.id, state_of(db, submission_id), made, judged)


def run_here(submission_id: str, settings: Settings, judge: str = "") -> Evaluated:
    """Run the flow in this process, with the judge of the settings unless another is named."""
    if settings.engine == "here":
        bare: Evaluated = evaluate.fn(submission_id, judge)
        return bare
    done: Evaluated = evaluate(submission_id, judge)
    return done


def _start(settings: Settings, submission_id: str) -> EvaluationCase:
    """Open the case; one that failed before begins again."""
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
