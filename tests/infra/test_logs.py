"""The log: one JSON object a line, with what it is about."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.durable.lease import hold_lease
from infra.logs import about, log_to
from infra.settings import Settings


@pytest.fixture
def log() -> Iterator[logging.Logger]:
    """The project's logger without what other tests hung on it."""
    logger = logging.getLogger("armillary")
    before = logger.handlers[:]
    logger.handlers.clear()
    yield logger
    for handler in logger.handlers:
        handler.close()
    logger.handlers[:] = before


def lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_line_says_when_how_bad_and_what_it_is_about(tmp_path: Path, log: logging.Logger) -> None:
    path = log_to(tmp_path)

    with about(submission="sub-1"), about(stage="judge", shard="0123"):
        log.info("64 items\nstored")
    try:
        raise ValueError("broken")
    except ValueError:
        log.exception("evaluate")

    first, second = lines(path)
    assert first.pop("at").endswith("+00:00")
    assert first == {
        "level": "info",
        "submission": "sub-1",
        "stage": "judge",
        "shard": "0123",
        "text": "64 items\nstored",
    }
    assert (
        second["level"] == "error"
        and "submission" not in second
        and "ValueError: broken" in second["traceback"]
    )


def test_on_standard_error_for_containers(
    tmp_path: Path, log: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    path = log_to(tmp_path, "stderr")

    log.warning("slow")

    assert json.loads(capsys.readouterr().err)["text"] == "slow" and not path.exists()


def test_whatever_runs_under_a_lease_names_its_submission(
    ready: Settings, log: logging.Logger
) -> None:
    with hold_lease(ready, "sub-7", "evaluate"):
        log.info("inside")

    said = lines(ready.home / "logs" / "armillary.log")
    assert [(line["submission"], line["text"]) for line in said] == [
        ("sub-7", "evaluate begins"),
        ("sub-7", "inside"),
        ("sub-7", "evaluate ends"),
    ]
