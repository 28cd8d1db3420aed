"""Errors that a person can do something about, and the words for them."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from evaluators.judges.http.chat import Unavailable
from evaluators.suites.liva.cases.drafting import CannotDraft
from evaluators.suites.liva.cases.folder import UnsoundCases
from evaluators.suites.tailor.bank import NotABank
from evaluators.suites.tailor.curation.steps import CannotCurate
from evaluators.suites.tailor.graph import NoGraph
from evaluators.suites.tailor.upkeep.records import BadRecord
from evaluators.suites.universe.segments import BadData
from flows.audit.receipt_files import NoReceipt
from flows.durable.lease import Busy, LeaseLost
from flows.operate.backups import CannotRestore
from flows.run.case import NoSuchSubmission, Stopped
from flows.run.quota_turn import Waits
from flows.suites.judges.baselines import NoClip
from flows.suites.judges.bases import CannotAdapt
from flows.suites.sc3_rollouts import CannotRollOut
from flows.suites.sc3_train import CannotTeach, CannotTrain
from flows.workers.agents import UnknownAgent
from flows.workers.dask_cluster import NoCluster
from flows.workers.judges import UnknownJudge
from infra.db import DatabaseUnavailable
from infra.store import StoreError
from leaderboard.queries.ranking import NotOnBoard
from leaderboard.queries.review_queue import NotDecided
from leaderboard.studies.states import StudyError
from submissions.format.errors import IntakeError, shown

if TYPE_CHECKING:
    from pydantic import ValidationError

FORESEEN = (
    Stopped,
    NoSuchSubmission,
    Busy,
    LeaseLost,
    CannotRestore,
    NoCluster,
    UnknownJudge,
    UnknownAgent,
    Unavailable,
    DatabaseUnavailable,
    StoreError,
    NotOnBoard,
    CannotCurate,
    CannotDraft,
    CannotAdapt,
    CannotTrain,
    CannotTeach,
    CannotRollOut,
    BadData,
    UnsoundCases,
    BadRecord,
    NoGraph,
    NotABank,
    NoClip,
    NoReceipt,
    NotDecided,
    StudyError,
    Waits,
    IntakeError,
)

OF_THE_DISK = (
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.EEXIST,
    errno.EISDIR,
    errno.ENOTDIR,
    errno.ENAMETOOLONG,
    errno.ENOSPC,
    errno.EDQUOT,
)
"""What a place on the disk may be unfit for, whoever wrote the program."""


def explain(error: Exception) -> str:
    """One paragraph: what, whose fault, next step."""
    if isinstance(error, Stopped):
        return error.explain()
    if isinstance(error, IntakeError):
        return " ".join(
            f"{problem.where}: {problem.message} {problem.hint}" for problem in error.problems
        )
    return str(error)


def explain_settings(error: ValidationError) -> str:
    """Which variables are wrong, and why."""
    wrong = [
        (f"ARMILLARY_{str(detail['loc'][0]).upper()}", detail["input"], detail["msg"])
        for detail in error.errors()
    ]
    sentences = [
        f"The setting {name} is {shown(value)}: {message}." for name, value, message in wrong
    ]
    return f"{' '.join(sentences)} Correct it in the environment; infra/settings.py lists them all."


def explain_disk(error: OSError) -> str:
    """What is wrong with a place on the disk."""
    where = shown(str(error.filename)) if error.filename else "The disk"
    return (
        f"{where} cannot be used: {error.strerror}. Choose another place, or make room and permit "
        "it."
    )
