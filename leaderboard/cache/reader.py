"""Reading the database for pages: answers are cached for seconds, served from cache or snapshot
while it is away."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy.exc import (
    DataError,
    DBAPIError,
    DisconnectionError,
    InterfaceError,
    OperationalError,
    ProgrammingError,
)
from sqlalchemy.exc import TimeoutError as NoFreeConnection
from sqlmodel import Session

from infra.db import session
from infra.settings import Settings
from infra.tables import now
from leaderboard.cache import snapshot

P = ParamSpec("P")
T = TypeVar("T")
KEEP_SECONDS = 5.0
REST_SECONDS = 2.0
MOST_ANSWERS = 2000
GONE = (OperationalError, InterfaceError, DisconnectionError, NoFreeConnection)
"""What the drivers raise when a database cannot be reached, as against a value that it does not
take."""
UNDEFINED_TABLE = "42P01"


class NoBoard(Exception):
    """There is no database, or it holds no tables, and no earlier answer either; the message says
    why."""


class BadQuestion(Exception):
    """The database answers, and takes no such value; asking again is of no use."""


@dataclass(frozen=True, slots=True)
class RememberedAnswer:
    """An answer and when it was given."""

    value: Any
    at: datetime
    clock: float


class CachedReader:
    """Asks questions of one database. Safe to share between the threads of a page server."""

    def __init__(self, url: str, snapshot: Path) -> None:
        self.url = url
        self.snapshot = snapshot
        self.stale_since: datetime | None = None
        self._kept: OrderedDict[Any, RememberedAnswer] = OrderedDict()
        self._lock = threading.Lock()
        self._gone_until = 0.0

    def ask(
        self, question: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Answer from memory if the answer is young, else from the database, else from memory or
        the file after all."""
        key = (question, args, tuple(sorted(kwargs.items())))
        remembered = self._kept.get(key)
        if remembered and time.monotonic() - remembered.clock < KEEP_SECONDS:
            return remembered.value  # type: ignore[no-any-return]
        try:
            value = self._ask(question, *args, **kwargs)
        except NoBoard as no_board:
            if remembered is None:
                return self._ask_snapshot(no_board, question, *args, **kwargs)
            self._is_stale(remembered.at)
            return remembered.value  # type: ignore[no-any-return]
        self.stale_since = None
        self._keep(key, value)
        return value

    def _ask(
        self, question: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Ask the database; after a failed connection, fail at once for two seconds so that readers
        do not queue up."""
        if time.monotonic() < self._gone_until:
            raise NoBoard("The database does not answer.")
        try:
            return self.ask_now(question, *args, **kwargs)
        except NoBoard as no_board:
            if isinstance(no_board.__cause__, GONE):
                self._gone_until = time.monotonic() + REST_SECONDS
            raise

    def ask_now(
        self, question: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Answer from the database, or raise NoBoard; BadQuestion if the fault lies in what is
        asked."""
        if not snapshot.is_there(self.url):
            raise NoBoard("There is no database yet.")
        try:
            with session(self.url) as db:
                return question(db, *args, **kwargs)
        except (*GONE, ProgrammingError) as error:
            if isinstance(error, ProgrammingError) and not _has_no_tables(error):
                raise
            raise NoBoard("The database does not answer, or has no tables.") from error
        except (DataError, UnicodeEncodeError) as error:
            raise BadQuestion("The board cannot hold such a text or number.") from error

    def _ask_snapshot(
        self,
        no_board: NoBoard,
        question: Callable[Concatenate[Session, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        at = snapshot.taken_at(self.snapshot)
        if at is None:
            raise no_board
        try:
            with snapshot.opened(self.snapshot) as db:
                value = question(db, *args, **kwargs)
        except DBAPIError:
            raise no_board from None
        self._is_stale(at)
        return value

    def _is_stale(self, at: datetime) -> None:
        self.stale_since = min(self.stale_since or at, at)

    def _keep(self, key: Any, value: Any) -> None:
        with self._lock:
            self._kept[key] = RememberedAnswer(value, now(), time.monotonic())
            self._kept.move_to_end(key)
            while len(self._kept) > MOST_ANSWERS:
                self._kept.popitem(last=False)


def _has_no_tables(error: ProgrammingError) -> bool:
    return getattr(error.orig, "sqlstate", None) == UNDEFINED_TABLE


def reader(settings: Settings) -> CachedReader:
    """The reader for a board, one a process."""
    return _reader(settings.database, snapshot.path(settings))


_reader = lru_cache(maxsize=8)(CachedReader)
