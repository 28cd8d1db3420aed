"""What went wrong in detail, for the operator: a file under home, never the user's terminal."""

from __future__ import annotations

import logging
from pathlib import Path


def log_to(folder: Path) -> Path:
    """Send the project's own log to a file and return its path; calling it again changes nothing."""
    path = folder / "logs" / "armillary.log"
    logger = logging.getLogger("armillary")
    if not any(isinstance(handler, logging.FileHandler) for handler in logger.handlers):
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = logging.FileHandler(path, encoding="utf-8", delay=True)
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        logger.addHandler(handler)
        logger.propagate = False
    return path
