"""A judge that answers by a fixed rule: no model, no opinion, the same answer every time. For tests
and first steps."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from evaluators.contracts import Answer, JudgeCard, Outcome, Question, Reply, Request

Rule = Callable[[Request, Question], str]


def by_hash(request: Request, question: Question) -> str:
    """Pick from the menu by the hash of the file and the question: arbitrary, and always the
    same."""
    digest = hashlib.sha256(
        f"{request.media_sha256} {request.repeat} {question.text}".encode()
    ).digest()
    return question.options[digest[0] % len(question.options)]


@dataclass(frozen=True)
class ScriptedJudge:
    """Answers every closed question by its rule."""

    rule: Rule = by_hash
    name: str = "scripted judge (a fixed rule, not a model)"

    @property
    def card(self) -> JudgeCard:
        """The rule's name stands for its code."""
        return JudgeCard(
            name=self.name,
            kind="auto",
            model="none",
            revision=self.rule.__name__,
            prompt_sha256="",
            decoding="none",
            frames="none",
            precision="none",
            code="scripted-1",
            note="Follows a fixed rule; its scores say nothing about a model.",
        )

    def judge(self, requests: Sequence[Request]) -> Iterator[Reply]:
        """One reply a request, in order."""
        for request in requests:
            answers = tuple(
                Answer(question.id, Outcome.SCORED, self.rule(request, question))
                for question in request.questions
            )
            yield Reply(
                request.sample_id, answers, raw=" ".join(answer.value or "" for answer in answers)
            )
