"""Asking the database for a page: answers are kept a moment, and stand when the database is gone."""

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

from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError
from sqlmodel import Session

from infra.db import session
from infra.tables import now

P = ParamSpec("P")
T = TypeVar("T")
KEEP_SECONDS = 5.0
MOST_ANSWERS = 2000


class NoBoard(Exception):
    """There is no database, or it holds no tables, and no earlier answer either; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer and when it was given."""

    value: Any
    at: datetime
    clock: float


class Reader:
    """Asks questions of one database. Safe to share between the threads of a page server."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.stale_since: datetime | None = None
        self._kept: OrderedDict[Any, Kept] = OrderedDict()
        self._lock = threading.Lock()

    def ask(self, question: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Answer from memory if the answer is young, else from the database, else from memory after all."""
        key = (question, args, tuple(sorted(kwargs.items())))
        kept = self._kept.get(key)
        if kept and time.monotonic() - kept.clock < KEEP_SECONDS:
            return kept.value  # type: ignore[no-any-return]
        try:
            value = self.ask_now(question, *args, **kwargs)
        except NoBoard:
            if kept is None:
                raise
            self.stale_since = self.stale_since or kept.at
            return kept.value  # type: ignore[no-any-return]
        self.stale_since = None
        self._keep(key, value)
        return value

    def ask_now(self, question: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Answer from the database, or raise NoBoard."""
        if not _is_there(self.url):
            raise NoBoard("There is no database yet.")
        try:
            with session(self.url) as db:
                return question(db, *args, **kwargs)
        except DBAPIError as error:
            raise NoBoard("The database does not answer, or has no tables.") from error

    def _keep(self, key: Any, value: Any) -> None:
        with self._lock:
            self._kept[key] = Kept(value, now(), time.monotonic())
            self._kept.move_to_end(key)
            while len(self._kept) > MOST_ANSWERS:
                self._kept.popitem(last=False)


@lru_cache(maxsize=8)
def reader(url: str) -> Reader:
    """The reader for a database, one a process."""
    return Reader(url)


def _is_there(url: str) -> bool:
    """Opening a SQLite file that is missing would make an empty one."""
    parsed = make_url(url)
    return parsed.get_backend_name() != "sqlite" or Path(parsed.database or "").is_file()
