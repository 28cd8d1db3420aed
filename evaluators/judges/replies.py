"""Strict reading of a judge's reply: one JSON object with every answer on its menu, or a reason why
not.

The rule. After optional reasoning comes exactly one JSON object, bare or in one code fence, and
nothing after it. Its keys are q1 to qN, the questions by position, each once. A choice is a string
that equals an option after trimming and case folding; a rating is a number (no string, no boolean)
from low to high in steps of 0.5; an open answer is a string that is not blank. The object begins at
the first brace that opens one: before a quote, a closing brace or a bare key. So a draft in the
reasoning is a second object, while a brace in a formula is not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import NoReturn, cast

from evaluators.contracts import Answer, Json, Outcome, Question
from evaluators.judges.completions import Completion
from evaluators.judges.menus import STEP, describe, fold

REASONING = "reasoning"
"""The key in front of the answers where the endpoint allows only JSON, so that the judge still
reasons first."""

NOT_JSON = (
    "the JSON object is not valid; use double quotes, no comments and no comma before a closing "
    "brace"
)
SHOWN = 40
NAMED = 3
FINISHED = frozenset({"stop", ""})
OPENING = re.compile(r"\{\s*(?:[\"'“”‘’}]|\w+\s*[:=])")
FENCE = re.compile(r"(?<!`)```(?:json)?\s*$", re.IGNORECASE)
PAGE = re.compile(r"<!doctype\b|<html\b|<\?xml\b", re.IGNORECASE)


class BadReply(ValueError):
    """The reply cannot be used; the message is one line that can be sent back to the judge."""


def read_completion(
    completion: Completion, questions: Sequence[Question], *, structured: bool = False
) -> tuple[Answer, ...]:
    """The answers in a completion; one that was refused or cut off has none, whatever its text
    says."""
    if completion.refusal:
        raise BadReply(f"the reply is a refusal: {_short(completion.refusal)}")
    if completion.finish == "length":
        raise BadReply("the reply was cut off by the token limit; reason more briefly")
    if completion.finish not in FINISHED:
        raise BadReply(
            f"the reply ended by {_short(completion.finish)} instead of stopping by itself"
        )
    return parse_reply(completion.text, questions, structured=structured)


def usable_part(
    completion: Completion, questions: Sequence[Question], *, structured: bool = False
) -> dict[str, Answer]:
    """The answers on their menus in a reply that is not usable as a whole: it must be one whole
    object with known keys only."""
    if completion.refusal or completion.finish not in FINISHED:
        return {}
    try:
        reply = find_object(completion.text)
        if structured:
            _drop_reasoning(reply)
    except BadReply:
        return {}
    by_key = {f"q{number}": question for number, question in enumerate(questions, 1)}
    if reply.keys() - by_key.keys():
        return {}
    good = {key: value for key, value in reply.items() if _fits(by_key[key], value)}
    return {
        by_key[key].id: Answer(by_key[key].id, Outcome.SCORED, _on_menu(by_key[key], good[key]))
        for key in good
    }


def _fits(question: Question, value: Json) -> bool:
    try:
        _on_menu(question, value)
    except BadReply:
        return False
    return True


def parse_reply(
    text: str, questions: Sequence[Question], *, structured: bool = False
) -> tuple[Answer, ...]:
    """The answers in a reply, one a question and all on their menus.

    >>> ask = Question("safe", "Is it safe?", "yes_no", options=("yes", "no"))
    >>> parse_reply('It holds. {"q1": "Yes"}', [ask])[0].value
    'yes'
    """
    reply = find_object(text)
    if structured:
        _drop_reasoning(reply)
    keys = [f"q{number}" for number in range(1, len(questions) + 1)]
    _check_keys(reply, keys)
    values, problems = [], []
    for key, question in zip(keys, questions, strict=True):
        try:
            values.append(_on_menu(question, reply[key]))
        except BadReply as problem:
            problems.append(f"{key} {problem}")
    if problems:
        raise BadReply(_list(problems))
    return tuple(
        Answer(question.id, Outcome.SCORED, value)
        for question, value in zip(questions, values, strict=True)
    )


def find_object(text: str) -> dict[str, Json]:
    """The one JSON object that a reply ends with."""
    text = text.strip().removeprefix("\ufeff").strip()
    if not text:
        raise BadReply("the reply is empty")
    if PAGE.match(text):
        raise BadReply("the reply is a web page, not an answer")
    start = OPENING.search(text)
    if start is None:
        raise BadReply("there is no JSON object in the reply")
    before, json_text = text[: start.start()], text[start.start() :]
    if before.count("<think>") > before.count("</think>"):
        raise BadReply("the JSON object stands inside reasoning that was never closed")
    decoded, end = _decode(json_text)
    _check_surroundings(before, json_text[end:].strip())
    return decoded


def _decode(text: str) -> tuple[dict[str, Json], int]:
    decoder = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_constant)
    try:
        decoded, end = decoder.raw_decode(text)
    except BadReply:
        raise
    except json.JSONDecodeError as error:
        cut = not text[error.pos :].strip() or error.msg.startswith("Unterminated string")
        raise BadReply("the JSON object is cut off" if cut else NOT_JSON) from None
    except (ValueError, RecursionError):
        raise BadReply(
            "the JSON object holds a number that is too long or is nested too deeply"
        ) from None
    return cast(dict[str, Json], decoded), end


def _once(pairs: Sequence[tuple[str, Json]]) -> dict[str, Json]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        keys = [key for key, _ in pairs]
        raise BadReply(
            f"the key {_short(next(key for key in keys if keys.count(key) > 1))} is there twice"
        )
    return mapping


def _no_constant(name: str) -> NoReturn:
    raise BadReply(f"{name} is not a number in JSON")


def _check_surroundings(before: str, after: str) -> None:
    """Bare, or in one fence: nothing else may stand around the object but the reasoning before
    it."""
    fenced = before.count("```") == 1 and FENCE.search(before)
    if OPENING.search(after):
        raise BadReply("there is more than one JSON object; give exactly one")
    if before.count("```") + after.count("```") > 2:
        raise BadReply("there is more than one code fence; use one or none")
    if fenced and not after:
        raise BadReply("the code fence around the JSON object is not closed")
    if after != ("```" if fenced else ""):
        raise BadReply(f"there is text after the JSON object: {_short(after)}; end with the object")
    if not fenced and "```" in before:
        raise BadReply("there is a code fence that does not hold the JSON object")


def _drop_reasoning(reply: dict[str, Json]) -> None:
    if not isinstance(reply.get(REASONING), str):
        raise BadReply(f'the key "{REASONING}" is missing or not a string')
    del reply[REASONING]


def _check_keys(reply: Mapping[str, Json], keys: Sequence[str]) -> None:
    missing = [key for key in keys if key not in reply]
    extra = [_short(key) for key in reply if key not in keys]
    problems = [f"{_list(missing, ', ')} missing"] if missing else []
    problems += [f"{_list(extra, ', ')} not asked for"] if extra else []
    if problems:
        raise BadReply(f"the keys must be {keys[0]} to {keys[-1]}: " + "; ".join(problems))


def _on_menu(question: Question, value: Json) -> str:
    match question.kind:
        case "rating":
            return _rating(question, value)
        case "open":
            return _open(question, value)
        case _:
            return _option(question, value)


def _option(question: Question, value: Json) -> str:
    menu = {fold(option): option for option in question.options}
    if not isinstance(value, str) or fold(value) not in menu:
        raise BadReply(f"is {_short(value)} but must be {describe(question)}")
    return menu[fold(value)]


def _rating(question: Question, value: Json) -> str:
    low, high = question.low, question.high
    if low is None or high is None or isinstance(value, bool) or not isinstance(value, int | float):
        raise BadReply(f"is {_short(value)} but must be {describe(question)}")
    if not low <= value <= high or value % STEP:
        raise BadReply(f"is {_short(value)} but must be {describe(question)}")
    return f"{value + 0.0:.1f}".removesuffix(".0")


def _open(question: Question, value: Json) -> str:
    words = value.strip() if isinstance(value, str) else ""
    if not words or "\x00" in words or any("\ud800" <= letter <= "\udfff" for letter in words):
        raise BadReply(f"is {_short(value)} but must be {describe(question)}")
    return words


def _short(value: Json) -> str:
    """A value as JSON in one printable line, with its middle left out when it is long."""
    try:
        words = json.dumps(value)
    except (ValueError, RecursionError):
        return "a number that is too long"
    return words if len(words) <= SHOWN else f"{words[: SHOWN // 2]} ... {words[-SHOWN // 4 :]}"


def _list(texts: Sequence[str], joint: str = "; ") -> str:
    remainder = f" and {len(texts) - NAMED} more" if len(texts) > NAMED else ""
    return joint.join(texts[:NAMED]) + remainder
