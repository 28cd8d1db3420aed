"""Checks of outputs that are no media: answers in words, rows of actions, outcomes of policies,
whole trajectories."""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from submissions.format import strict_json
from submissions.format.pickles import is_pickle
from submissions.format.strict_json import BadJson
from submissions.media.facts import NOTHING, MediaFacts, MediaRequirements, Refused
from submissions.media.trajectories import trajectory_facts

SUFFIXES = {"text": ".txt", "actions": ".json", "outcome": ".json", "trajectory": ".npz"}
MOST_BYTES = {"text": 16_384, "actions": 16 << 20, "outcome": 4_096, "trajectory": 256 << 20}
MOST_ANSWER = 4_000


@dataclass(frozen=True, slots=True)
class AnswerRule:
    """What a suite asks of one sample's output; empty and None ask nothing."""

    scenario: str = ""
    task: str = ""
    setting: str = ""
    modality: str = ""
    requirements: MediaRequirements = NOTHING
    options: tuple[str, ...] = ()
    action_width: int | None = None
    action_length: int | None = None
    low: float = 0.0
    high: float = 1.0


def value_facts(data: bytes, name: str, modality: str, rule: AnswerRule) -> MediaFacts:
    """What an answer, a list of actions or an outcome is; Refused says what is wrong with it."""
    if PurePosixPath(name).suffix.lower() != SUFFIXES[modality]:
        raise Refused(
            "E_MEDIA_KIND", f"This is no {modality} we take.", f"Use {SUFFIXES[modality]}."
        )
    if modality == "text":
        _check_answer(data, rule)
        return MediaFacts("text/plain", 1, 1, 1, None, False, "text")
    if modality == "trajectory":
        return trajectory_facts(data)
    if modality == "actions":
        rows = _check_actions(_json(data, "E_ACTIONS"), rule)
        return MediaFacts("application/json", len(rows[0]), len(rows), 1, None, False, "actions")
    _check_outcome(_json(data, "E_VALUE_RANGE"), rule)
    return MediaFacts("application/json", 1, 1, 1, None, False, "outcome")


def _check_answer(data: bytes, rule: AnswerRule) -> None:
    try:
        text = data.decode("utf-8").strip()
    except UnicodeDecodeError:
        raise _answer("It is not text in UTF-8.") from None
    if not text or len(text) > MOST_ANSWER:
        raise _answer(f"It has {len(text)} characters; 1 to {MOST_ANSWER} are taken.")
    if is_pickle(data) or any(
        unicodedata.category(letter) == "Cc" and letter not in "\t\n\r" for letter in text
    ):
        raise _answer("It holds other things than text.")
    if rule.options and text not in rule.options:
        raise _answer(f"It is none of {', '.join(rule.options)}.")


def _check_actions(value: Any, rule: AnswerRule) -> list[list[float]]:
    rows = value.get("actions") if isinstance(value, dict) else None
    if (
        not isinstance(rows, list)
        or not rows
        or not all(isinstance(row, list) and row for row in rows)
    ):
        raise _actions('It is no object {"actions": [[...], ...]} with a row a step.')
    widths = {len(row) for row in rows}
    if len(widths) > 1 or (rule.action_width and widths != {rule.action_width}):
        raise _actions(
            f"Rows have {sorted(widths)[:5]} numbers; asked: {rule.action_width or 'one width'}."
        )
    if rule.action_length and len(rows) != rule.action_length:
        raise _actions(f"{len(rows)} rows; asked: {rule.action_length}.")
    if not all(_is_number(number) for row in rows for number in row):
        raise _actions("A row holds something that is no finite number.")
    return rows


def _check_outcome(value: Any, rule: AnswerRule) -> None:
    hint = f'Write {{"outcome": 0 or 1, "score": {rule.low:g} to {rule.high:g}}}.'
    if not isinstance(value, dict) or value.keys() - {"outcome", "score"} or "outcome" not in value:
        raise Refused("E_VALUE_RANGE", "It is no object with outcome and score.", hint)
    if type(value["outcome"]) is not int or value["outcome"] not in (0, 1):
        raise Refused("E_VALUE_RANGE", "The outcome is not 0 or 1.", hint)
    score = value.get("score", rule.low)
    if not _is_number(score) or not rule.low <= score <= rule.high:
        raise Refused("E_VALUE_RANGE", "The score is out of range.", hint)


def _json(data: bytes, code: str) -> Any:
    try:
        return strict_json.read(data)
    except BadJson as bad:
        raise Refused(code, bad.message, bad.hint) from None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _answer(message: str) -> Refused:
    return Refused("E_ANSWER", message, "Write the answer alone, as plain text.")


def _actions(message: str) -> Refused:
    return Refused("E_ACTIONS", message, "Write one list of finite numbers a step.")
