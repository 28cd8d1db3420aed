"""Whether words alone tell the scenario: a naive Bayes rule learns from some tasks and guesses the
others, against what chance allows."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evaluators.suites.tailor.bank import MODALITIES, Bank

FOLDS = 10
WINDOW = 1.645
"""One-sided 95 %: a rule that guesses is above this in one bank of twenty."""
SHOWN = 12


@dataclass(frozen=True, slots=True)
class TextUnit:
    """One text with the task it belongs to and the scenario that is to be guessed."""

    task: str
    scenario: str
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class TextRule:
    """How often the rule was right, what guessing gets, the most that chance allows, and the words
    that told most."""

    n: int
    accuracy: float
    guessing: float
    allowed: float
    telling: tuple[str, ...]

    @property
    def tells(self) -> bool:
        return self.accuracy > self.allowed


def predictive_prompts(bank: Bank) -> list[TextUnit]:
    """The prompts that must not give their outcome away, fit against impossible tools; their
    tools' names are left out."""
    return [
        TextUnit(row["task_id"], _fitness(row["tool_type"]), words - _words(row["tool"]))
        for row in bank.instances
        for modality in MODALITIES
        for words in [_words(row[f"predictive_{modality}_prompt"])]
    ]


def adherence_questions(bank: Bank) -> list[TextUnit]:
    """What is asked about things, looks and place: the same whether the tool fits or not."""
    return _question_units(bank, ("entity", "attribute", "scene"))


def interaction_questions(bank: Bank) -> list[TextUnit]:
    """What is asked about change, use and movement, all of an instance as one text."""
    return _question_units(bank, ("state_change", "affordance", "motion"))


def _question_units(bank: Bank, parts: Sequence[str]) -> list[TextUnit]:
    return [
        TextUnit(
            row["task_id"],
            _fitness(row["tool_type"]),
            _words(" ".join(q["text"] for q in row["questions"] if q["part"] in parts))
            - _words(row["tool"]),
        )
        for row in bank.instances
    ]


def rule(units: Sequence[TextUnit]) -> TextRule:
    """Guess each tenth of the tasks by what the other nine tenths teach."""
    fold_of = {task: n % FOLDS for n, task in enumerate(sorted({unit.task for unit in units}))}
    hits = 0
    for fold in range(FOLDS):
        learned = _learn(unit for unit in units if fold_of[unit.task] != fold)
        for unit in (unit for unit in units if fold_of[unit.task] == fold):
            hits += _guess(learned, unit.words) == unit.scenario
    counts = Counter(unit.scenario for unit in units)
    guessing = max(counts.values()) / len(units)
    clusters = max(len(fold_of), 1)
    allowed = guessing + WINDOW * math.sqrt(guessing * (1 - guessing) / clusters)
    return TextRule(len(units), hits / len(units), guessing, allowed, _telling(units))


@dataclass(frozen=True, slots=True)
class LearnedWords:
    """How often each word stands in the texts of each scenario."""

    texts: Mapping[str, int]
    words: Mapping[str, Counter[str]]


def _learn(units: Iterable[TextUnit]) -> LearnedWords:
    texts: Counter[str] = Counter()
    words: dict[str, Counter[str]] = defaultdict(Counter)
    for unit in units:
        texts[unit.scenario] += 1
        words[unit.scenario].update(unit.words)
    return LearnedWords(texts, words)


def _guess(learned: LearnedWords, words: frozenset[str]) -> str:
    total = sum(learned.texts.values())

    def likelihood(scenario: str) -> float:
        count = learned.texts[scenario]
        shares = (math.log((learned.words[scenario][w] + 0.5) / (count + 1)) for w in sorted(words))
        return math.log(count / total) + sum(shares)

    return max(sorted(learned.texts), key=likelihood)


def _telling(units: Sequence[TextUnit]) -> tuple[str, ...]:
    """The words whose share differs most between scenarios, in standard errors."""
    learned = _learn(units)
    low, high = sorted(learned.texts)[0], sorted(learned.texts)[-1]
    n = {name: learned.texts[name] for name in (low, high)}

    def distance(word: str) -> float:
        a, b = learned.words[low][word] / n[low], learned.words[high][word] / n[high]
        pooled = (learned.words[low][word] + learned.words[high][word]) / (n[low] + n[high])
        return abs(a - b) / math.sqrt(max(pooled * (1 - pooled), 1e-9) * (1 / n[low] + 1 / n[high]))

    vocabulary = sorted({word for unit in units for word in unit.words})
    return tuple(sorted(vocabulary, key=distance, reverse=True)[:SHOWN])


def _fitness(tool_type: str) -> str:
    return "impossible" if tool_type == "impossible" else "fit"


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z]+", text.lower()))


TEXTS = {
    "predictive prompts": predictive_prompts,
    "questions on things, looks and place": adherence_questions,
    "questions on change, use and movement": interaction_questions,
}
