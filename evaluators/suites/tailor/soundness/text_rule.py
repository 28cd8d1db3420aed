"""Whether words alone tell the scenario: a naive Bayes rule learns from some tasks and guesses the
others, against two kinds of chance: the best guess without looking, and labels that are shuffled
among the instances of each task."""

from __future__ import annotations

import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from evaluators.suites.tailor.bank import MODALITIES, SETTINGS, Bank, Row, rubric
from evaluators.suites.tailor.soundness.expanded import ADHERENCE, INTERACTION

FOLDS = 10
WINDOW = 1.645
"""One-sided 95 %: so many standard errors, over tasks, above guessing the commoner scenario always.
What a bank must keep to: a rule that is not above it is no better than one that does not look. It
is the wider of the two: a rule that looks at words without meaning does not reach it, since it does
not guess the commoner scenario always."""
ROUNDS = 100
WITHIN = 0.95
"""The narrower: above this share of rules that learn and guess shuffled labels, words tell. What a
reader should know of a bank."""
SHOWN = 12


@dataclass(frozen=True, slots=True)
class TextUnit:
    """One text with the task and the instance it belongs to and the scenario that is to be
    guessed."""

    task: str
    instance: int
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
        _unit(row, row[f"predictive_{modality}_prompt"])
        for row in bank.instances
        for modality in MODALITIES
    ]


def adherence_questions(bank: Bank) -> list[TextUnit]:
    """What is asked about things, looks and place: the same whether the tool fits or not."""
    return _of_parts(bank, ADHERENCE)


def interaction_questions(bank: Bank) -> list[TextUnit]:
    """What is asked about change, use and movement, all of an instance as one text."""
    return _of_parts(bank, INTERACTION)


def own_questions(bank: Bank) -> list[TextUnit]:
    """All that an instance asks beside its task's questions, as one text."""
    return _of_parts(bank, (*ADHERENCE, *INTERACTION))


def single_questions(bank: Bank) -> list[TextUnit]:
    """Each question that an instance asks beside its task's, by itself."""
    return [_unit(row, question["text"]) for row in bank.instances for question in row["questions"]]


def asked_of_stills(bank: Bank) -> list[TextUnit]:
    """The rubrics of an instance's stills as they are asked, its task's questions too."""
    return _asked(bank, "image")


def asked_of_clips(bank: Bank) -> list[TextUnit]:
    """The same of its clips."""
    return _asked(bank, "video")


def _asked(bank: Bank, modality: str) -> list[TextUnit]:
    tasks = {task["task_id"]: task for task in bank.tasks}
    units = []
    for row in bank.instances:
        rubrics = (rubric(tasks[row["task_id"]], row, setting, modality) for setting in SETTINGS)
        texts = {item.id: item.text for items in rubrics for item in items}
        units.append(_unit(row, " ".join(texts.values())))
    return units


def _of_parts(bank: Bank, parts: Sequence[str]) -> list[TextUnit]:
    return [
        _unit(row, " ".join(q["text"] for q in row["questions"] if q["part"] in parts))
        for row in bank.instances
    ]


def _unit(row: Row, text: str) -> TextUnit:
    scenario = "impossible" if row["tool_type"] == "impossible" else "fit"
    words = _words(text) - _words(row["tool"])
    return TextUnit(row["task_id"], row["index"], scenario, words)


def rule(units: Sequence[TextUnit]) -> TextRule:
    """Guess each tenth of the tasks by what the other nine tenths teach."""
    counts = Counter(unit.scenario for unit in units)
    guessing = max(counts.values()) / len(units)
    tasks = len({unit.task for unit in units})
    allowed = guessing + WINDOW * math.sqrt(guessing * (1 - guessing) / tasks)
    return TextRule(len(units), _accuracy(units), guessing, allowed, _telling(units))


def by_shuffling(units: Sequence[TextUnit], rounds: int = ROUNDS, seed: int = 0) -> float:
    """The accuracy that the same rule stays within, 95 times in 100, where the scenarios are
    shuffled among the instances of each task: what words can tell that mean nothing."""
    dice = random.Random(seed)  # noqa: S311
    reached = sorted(_accuracy(_shuffled(units, dice)) for _ in range(rounds))
    return reached[math.ceil(WITHIN * rounds) - 1]


def _shuffled(units: Sequence[TextUnit], dice: random.Random) -> list[TextUnit]:
    scenarios: dict[str, dict[int, str]] = defaultdict(dict)
    for unit in units:
        scenarios[unit.task][unit.instance] = unit.scenario
    for task, own in scenarios.items():
        dealt = dice.sample(list(own.values()), len(own))
        scenarios[task] = dict(zip(own, dealt, strict=True))
    return [replace(unit, scenario=scenarios[unit.task][unit.instance]) for unit in units]


def _accuracy(units: Sequence[TextUnit]) -> float:
    fold_of = {task: n % FOLDS for n, task in enumerate(sorted({unit.task for unit in units}))}
    hits = 0
    for fold in range(FOLDS):
        learned = _learn(unit for unit in units if fold_of[unit.task] != fold)
        for unit in (unit for unit in units if fold_of[unit.task] == fold):
            hits += _guess(learned, unit.words) == unit.scenario
    return hits / len(units)


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
    total, ordered = sum(learned.texts.values()), sorted(words)

    def likelihood(scenario: str) -> float:
        count, seen = learned.texts[scenario] + 1, learned.words[scenario]
        shares = sum(math.log((seen[word] + 0.5) / count) for word in ordered)
        return math.log(learned.texts[scenario] / total) + shares

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


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z]+", text.lower()))


TEXTS = {
    "predictive prompts": predictive_prompts,
    "questions on things, looks and place": adherence_questions,
    "questions on change, use and movement": interaction_questions,
    "all own questions of an instance": own_questions,
}
"""What must not tell more than the wider chance allows."""
WATCHED = {
    **TEXTS,
    "one own question": single_questions,
    "stills' rubrics as asked": asked_of_stills,
    "clips' rubrics as asked": asked_of_clips,
}
"""What is held against shuffled labels too."""
