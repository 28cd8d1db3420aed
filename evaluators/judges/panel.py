"""Several judges on one board, as a judge of its own: each is asked, and all give one answer."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import fsum
from statistics import median
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evaluators.contracts import Answer, Judge, JudgeCard, Outcome, Question, Reply, Request
from evaluators.judges.card import fingerprint

CODE = "panel-1"
"""Raise the number when answers are put together differently."""

UNSURE = "unclear"
VOTES = "votes"
PanelRule = Literal["majority", "mean"]


class PanelFile(BaseModel):
    """The file of a panel: an odd number of judges, so that yes against no is always decided, and
    what becomes of ratings: the middle one (majority) or their mean."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    judges: list[str] = Field(min_length=3, max_length=15)
    rule: PanelRule = "majority"


@dataclass(frozen=True, slots=True)
class Split:
    """How many of a panel's answers were not given by all of its judges."""

    questions: int
    split: int

    def __add__(self, other: Split) -> Split:
        return Split(self.questions + other.questions, self.split + other.split)


@dataclass(frozen=True)
class PanelJudge:
    """Judges that answer together; the first named decides where votes are equal and nothing on the
    menu says so."""

    members: tuple[Judge, ...]
    rule: PanelRule = "majority"

    @property
    def card(self) -> JudgeCard:
        """The cards of all members make this one; another member is another judge."""
        cards = [member.card for member in self.members]
        members = "; ".join(f"{card.name} ({fingerprint(card)})" for card in cards)
        prompts = "\n".join(card.prompt_sha256 for card in cards)
        return JudgeCard(
            name=f"Panel of {len(cards)} by {self.rule}: {', '.join(card.name for card in cards)}",
            kind="auto",
            model=members,
            revision=" ".join(map(fingerprint, cards)),
            prompt_sha256=hashlib.sha256(prompts.encode()).hexdigest(),
            decoding=f"ratings by {'mean' if self.rule == 'mean' else 'median'}, all else by "
            f"majority, a tie is {UNSURE!r} where that is on the menu, else as the first says",
            frames="; ".join(card.frames for card in cards),
            precision="; ".join(card.precision for card in cards),
            code=CODE,
            note=" ".join(f"{card.name}: {card.note}" for card in cards if card.note),
        )

    def judge(self, requests: Sequence[Request]) -> Iterator[Reply]:
        """Ask every member about all, then put their answers together."""
        replies = [list(member.judge(requests)) for member in self.members]
        for request, *of_members in zip(requests, *replies, strict=True):
            yield together(request, of_members, self.rule)


def read_panel(text: str) -> PanelFile:
    """The panel in the text of a file; a ValueError says what is wrong with it."""
    try:
        panel = PanelFile.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"It is no TOML: {error}.") from None
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise ValueError(f"{where}: {first['msg']}. Its keys are judges and rule.") from None
    if len(panel.judges) % 2 == 0 or len({*panel.judges}) < len(panel.judges):
        raise ValueError("judges must be an odd number of names, each once.")
    return panel


def together(request: Request, replies: Sequence[Reply], rule: PanelRule) -> Reply:
    """One reply of all; its raw text keeps every vote and every member's words."""
    by_question = [
        tuple(reply.answers[place] for reply in replies)
        for place, _ in enumerate(request.questions)
    ]
    answers = tuple(
        _ruling(question, votes, rule)
        for question, votes in zip(request.questions, by_question, strict=True)
    )
    votes = {
        question.id: [answer.value for answer in of_question]
        for question, of_question in zip(request.questions, by_question, strict=True)
    }
    raw = json.dumps({VOTES: votes, "raw": [reply.raw for reply in replies]}, ensure_ascii=False)
    return Reply(
        request.sample_id,
        answers,
        raw,
        sum(reply.tokens_in for reply in replies),
        sum(reply.tokens_out for reply in replies),
        fsum(reply.cost for reply in replies),
    )


def split_of(raw: str) -> Split:
    """How a panel's reply was divided, over the questions that all members answered.

    >>> split_of('{"votes": {"a": ["yes", "yes"], "b": ["yes", "no"], "c": ["no", null]}}')
    Split(questions=2, split=1)
    """
    try:
        reply: Any = json.loads(raw)
    except ValueError:
        return Split(0, 0)
    votes = reply.get(VOTES) if isinstance(reply, dict) else None
    whole = [given for given in (votes or {}).values() if None not in given]
    return Split(len(whole), sum(len(set(given)) > 1 for given in whole))


def _ruling(question: Question, votes: Sequence[Answer], rule: PanelRule) -> Answer:
    values = [answer.value for answer in votes if answer.value is not None]
    if question.kind == "rating":
        return _rating(question, values, votes, rule)
    tally = Counter(values).most_common()
    if tally and tally[0][1] * 2 > len(votes):
        return Answer(question.id, Outcome.SCORED, tally[0][0])
    if len(values) < len(votes):
        return _undecided(question, votes)
    leading = [value for value, count in tally if count == tally[0][1]]
    value = leading[0] if len(leading) == 1 else _tie(question, values, leading)
    return Answer(question.id, Outcome.SCORED, value)


def _tie(question: Question, values: Sequence[str], leading: Sequence[str]) -> str:
    if UNSURE in question.options:
        return UNSURE
    return next(value for value in values if value in leading)


def _rating(
    question: Question, values: Sequence[str], votes: Sequence[Answer], rule: PanelRule
) -> Answer:
    if len(values) < len(votes):
        return _undecided(question, votes)
    numbers = [float(value) for value in values]
    value = fsum(numbers) / len(numbers) if rule == "mean" else median(numbers)
    return Answer(question.id, Outcome.SCORED, f"{value:.6g}")


def _undecided(question: Question, votes: Sequence[Answer]) -> Answer:
    """A member that gave no answer could have decided, so there is none; it is asked again."""
    failed = next(answer for answer in votes if answer.value is None)
    reason = f"a judge of the panel gave no answer that could decide: {failed.reason}"
    return Answer(question.id, failed.outcome, reason=reason[:200])
