"""Judges: what they are asked, what they answer, and the card that identifies them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from evaluators.contracts.outcomes import Json, Outcome
from evaluators.contracts.samples import Question

JudgeKind = Literal["auto", "human", "paper"]


@dataclass(frozen=True, slots=True)
class Request:
    """All questions about one output, asked of a judge together."""

    sample_id: str
    media: Path
    media_sha256: str
    modality: str
    prompt: str
    questions: tuple[Question, ...]
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """A judge's answer to one question: on the menu, or no value and an outcome that says why."""

    question_id: str
    outcome: Outcome
    value: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a judge gave back for one request, its raw words kept."""

    sample_id: str
    answers: tuple[Answer, ...]
    raw: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class JudgeCard:
    """Everything that can change a verdict. Two judges with one fingerprint give the same
    answers."""

    name: str
    kind: JudgeKind
    model: str
    revision: str
    prompt_sha256: str
    decoding: str
    frames: str
    precision: str
    code: str
    note: str = ""


class Judge(Protocol):
    """Answers requests in their order; one reply a request, never an exception for a bad reply."""

    @property
    def card(self) -> JudgeCard: ...

    def judge(self, requests: Sequence[Request]) -> Iterator[Reply]: ...


@dataclass(frozen=True, slots=True)
class Failure:
    """The failure modes of one output, and the one that counts in the charts; None if the judge
    named none."""

    primary: str | None
    modes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SecondLook:
    """A few more questions about outputs that did badly; what they bring explains scores and moves
    none.

    `needs` decides by one sample's values in `metrics`; `questions` and `read` go by the modality,
    the former also by the sample's reference, so that the judge can be told what is right.
    """

    metrics: tuple[str, ...]
    needs: Callable[[Mapping[str, float | None]], bool]
    questions: Callable[[str, Mapping[str, Json]], tuple[Question, ...]]
    read: Callable[[str, Mapping[str, Answer]], Failure]
