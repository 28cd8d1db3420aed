"""What broke on our side, in a code and in words: a submitter reads it, and the watchdog knows what
to try again."""

from __future__ import annotations

import errno

from sqlalchemy.exc import SQLAlchemyError

from flows.durable.gpu_time import OverGpuTime
from flows.run.case import Stopped
from infra.store import Corrupt, Missing, StoreError

RETRIED = ("E_STORE", "E_DATABASE", "E_NO_SPACE", "E_INTERNAL", "E_JUDGE")
"""These may pass by themselves: they are tried again until the attempts or the deadline run out."""

FULL = ("no space left", "disk is full", "disk full", "quota exceeded")


def stopped_by(error: Exception) -> Stopped:
    """The foreseen end for an unforeseen error; nothing is lost by any of them."""
    if isinstance(error, Stopped):
        return error
    if isinstance(error, OverGpuTime):
        return Stopped("E_GPU_TIME", "submitter", str(error))
    chain = list(_chain(error))
    if any(_is_full(cause) for cause in chain):
        text = "A disk of ours is full. Nothing is lost: it goes on when there is space again."
        return Stopped("E_NO_SPACE", "ours", text)
    if lost := next((cause for cause in chain if isinstance(cause, Missing | Corrupt)), None):
        text = f"{lost} An operator has to put it back from the backup; then it is evaluated again."
        return Stopped("E_STORE", "ours", text)
    if failure := next((cause for cause in chain if isinstance(cause, StoreError)), None):
        return Stopped(
            "E_STORE",
            "ours",
            f"The object store failed ({failure}) Nothing is lost: evaluate it again.",
        )
    if any(isinstance(cause, SQLAlchemyError) for cause in chain):
        text = "Our database did not answer. Nothing is lost: evaluate it again."
        return Stopped("E_DATABASE", "ours", text)
    text = (
        f"Something broke on our side ({type(error).__name__}). Nothing is lost: evaluate it again."
    )
    return Stopped("E_INTERNAL", "ours", text)


def _is_full(error: BaseException) -> bool:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return True
    return isinstance(error, SQLAlchemyError) and any(words in str(error).lower() for words in FULL)


def _chain(error: BaseException) -> list[BaseException]:
    """The error and all that led to it."""
    chain: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in chain:
        chain.append(current)
        current = current.__cause__ or current.__context__
    return chain
