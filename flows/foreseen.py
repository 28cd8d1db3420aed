"""Errors that a person can do something about, and the words for them."""

from __future__ import annotations

from evaluators.suites.tailor.curation import CannotCurate
from evaluators.suites.tailor.graph import NoGraph
from evaluators.suites.universe.segments import BadData
from flows.adapt import CannotAdapt
from flows.backups import CannotRestore
from flows.case import NoSuchSubmission, Stopped
from flows.cluster import NoCluster
from flows.holding import Busy, LeaseLost
from flows.judges import UnknownJudge
from flows.receipt_files import NoReceipt
from flows.turns import Waits
from infra.db import DatabaseUnavailable
from infra.store import StoreError
from leaderboard.queries import NotOnBoard
from leaderboard.reviewing import NotDecided
from leaderboard.studies.states import StudyError

FORESEEN = (
    Stopped,
    NoSuchSubmission,
    Busy,
    LeaseLost,
    CannotRestore,
    NoCluster,
    UnknownJudge,
    DatabaseUnavailable,
    StoreError,
    NotOnBoard,
    CannotCurate,
    CannotAdapt,
    BadData,
    NoGraph,
    NoReceipt,
    NotDecided,
    StudyError,
    Waits,
)


def explain(error: Exception) -> str:
    """One paragraph: what, whose fault, next step."""
    if isinstance(error, Stopped):
        whose = (
            "This is our fault, it costs you nothing." if error.fault == "ours" else "This is for the submitter to fix."
        )
        return f"{error.code}: {error.text} {whose}"
    return str(error)
