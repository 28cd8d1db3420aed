"""Errors that a person can do something about, and the words for them."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from evaluators.judges.chat import Unavailable
from evaluators.suites.liva.cases import Unsound
from evaluators.suites.liva.drafting import CannotDraft
from evaluators.suites.tailor.curation import CannotCurate
from evaluators.suites.tailor.graph import NoGraph
from evaluators.suites.universe.segments import BadData
from flows.adapt import CannotAdapt
from flows.agents import UnknownAgent
from flows.backups import CannotRestore
from flows.case import NoSuchSubmission, Stopped
from flows.cluster import NoCluster
from flows.holding import Busy, LeaseLost
from flows.judges import UnknownJudge
from flows.receipt_files import NoReceipt
from flows.sc3 import CannotRollOut
from flows.sc3_training import CannotTrain
from flows.turns import Waits
from flows.universe import NoClip
from infra.db import DatabaseUnavailable
from infra.store import StoreError
from leaderboard.queries import NotOnBoard
from leaderboard.reviewing import NotDecided
from leaderboard.studies.states import StudyError
from submissions.errors import IntakeError, shown

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
    CannotRollOut,
    BadData,
    Unsound,
    NoGraph,
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
        whose = (
            "This is our fault, it costs you nothing." if error.fault == "ours" else "This is for the submitter to fix."
        )
        return f"{error.code}: {error.text} {whose}"
    if isinstance(error, IntakeError):
        return " ".join(f"{problem.where}: {problem.message} {problem.hint}" for problem in error.problems)
    return str(error)


def explain_settings(error: ValidationError) -> str:
    """Which variables are wrong, and why."""
    wrong = [(f"ARMILLARY_{str(one['loc'][0]).upper()}", one["input"], one["msg"]) for one in error.errors()]
    sentences = [f"The setting {name} is {shown(value)}: {message}." for name, value, message in wrong]
    return f"{' '.join(sentences)} Correct it in the environment; infra/settings.py lists them all."


def explain_disk(error: OSError) -> str:
    """What is wrong with a place on the disk."""
    where = shown(str(error.filename)) if error.filename else "The disk"
    return f"{where} cannot be used: {error.strerror}. Choose another place, or make room and permit it."
