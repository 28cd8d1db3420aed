"""The operator's log: one JSON object a line, in a file under home or on standard error.

Every line carries what it is about (submission, stage, shard), wherever in the code it is written.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

Ids = Mapping[str, str]
_subject: ContextVar[Ids] = ContextVar("what log lines are about", default=MappingProxyType({}))


@contextmanager
def about(**ids: str) -> Iterator[None]:
    """Lines written inside are about these things too."""
    token = _subject.set({**_subject.get(), **ids})
    try:
        yield
    finally:
        _subject.reset(token)


def log_to(folder: Path, where: str = "file") -> Path:
    """Send the project's own log to a file under this folder or to standard error; calling it again
    changes nothing."""
    path = folder / "logs" / "armillary.log"
    logger = logging.getLogger("armillary")
    if not any(isinstance(handler.formatter, Lines) for handler in logger.handlers):
        handler = _file(path) if where == "file" else logging.StreamHandler()
        handler.setFormatter(Lines())
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False
    return path


def _file(path: Path) -> logging.Handler:
    path.parent.mkdir(parents=True, exist_ok=True)
    return logging.FileHandler(path, encoding="utf-8", delay=True)


class Lines(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Time, level, what it is about, the words, and the traceback if there is one."""
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            **_subject.get(),
            "text": record.getMessage(),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)
