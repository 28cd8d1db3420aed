"""Judges whose competence is known: by the key, by one word, by chance."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from evaluators.contracts import Question, Request
from evaluators.judges.exam.competence import Competence, competence, marks
from evaluators.judges.exam.exam import HIGH, Exam, ExamItem
from evaluators.judges.scripted import Rule, ScriptedJudge
from evaluators.suites.liva.exam import EXAM as LIVA
from evaluators.suites.tailor.exam import EXAM as TAILOR

EXAMS = {"tailor": TAILOR, "liva": LIVA}
Answering = Callable[[ExamItem, Question], str]


def by_key(item: ExamItem, question: Question) -> str:
    """The right answer; the sound twin gets a 4, the spoiled one a 1."""
    right = item.answers[question.id]
    return right if question.kind != "rating" else "4" if right == HIGH else "1"


def always(word: str, stars: str = "5") -> Answering:
    """One word for every question, one rating for everything."""
    return lambda _item, question: stars if question.kind == "rating" else word


def by_chance(item: ExamItem, question: Question) -> str:
    """Any answer on the menu, the same each time."""
    digest = hashlib.sha256(f"{item.id} {question.id}".encode()).digest()
    return question.options[digest[0] % len(question.options)]


def rule(exam: Exam, answering: Answering) -> Rule:
    """A scripted judge's rule that knows which item it is asked about."""
    items = {item.id: item for item in exam.items()}

    def answer(request: Request, question: Question) -> str:
        return answering(items[request.sample_id], question)

    return answer


def result(exam: Exam, answering: Answering) -> Competence:
    """What such a judge reaches; it looks at no media, so none are drawn."""
    items = exam.items()
    requests = [
        Request(item.id, Path("none"), item.id, item.modality, item.prompt, item.questions)
        for item in items
    ]
    judge = ScriptedJudge(rule(exam, answering))
    return competence(marks(items, judge.judge(requests)), exam.menu)
