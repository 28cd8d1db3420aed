"""Whether prompts and questions are worded right: no outcome given away, no label, no copy, one
plain question."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from evaluators.suites.tailor.bank import MODALITIES, SETTINGS, Bank, Row

LEAK = re.compile(
    r"\b(succe\w+|fail\w*|cannot|can't|unable|easily|cleanly|neatly|useless\w*|manag\w+|finally"
    r"|intact|unchanged|unharmed"
    r"|untouched|barely|in vain|no effect|without effect|won't|doesn't|does not|didn't|perfectly"
    r"|flimsy|sturdy"
    r"|effective\w*|ineffective\w*|hopeless\w*|merely|instead|outcome)\b",
    re.IGNORECASE,
)
LABEL = re.compile(
    r"\b(regular|unconventional|impossible|predictive|descriptive|rubric|tool type)\b",
    re.IGNORECASE,
)
YES_NO = re.compile(r"(Is|Are|Does|Do|Has|Have|Can)\b")
TWO_CHECKS = re.compile(r"\b(and|but) (is|are|does|do|has|have|can)\b|[.;:!]|\?.", re.IGNORECASE)
DOUBT = re.compile(
    r"\b(try|tries|trying|intend\w*|want\w*|smell\w*|sounds?|loud\w*)\b", re.IGNORECASE
)
STOP = frozenset(
    re.findall(
        r"\w+",
        "the a an of in on at to and or with by from its it is are as for into onto that this",
    )
)
SHARED_RUN = 5
"""So many content words in a row from the expected outcome are the outcome."""
NEAR = 0.8
"""Two prompts of different instances that share more of their words than this are one prompt."""
NEAR_TASK = 0.24
"""The same for two tasks, by goal, usual tool and outcome."""
FEWEST_WORDS, MOST_WORDS = 12, 70
QUESTION_WORDS = (4, 25)


@dataclass(frozen=True, slots=True)
class BankFinding:
    """One thing that is wrong with a bank: where, and what."""

    where: str
    problem: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt with its place: the instance it belongs to, and which of its four it is."""

    instance: str
    field: str
    text: str
    row: Row

    @property
    def where(self) -> str:
        return f"{self.instance} {self.field}"


def prompts(bank: Bank) -> tuple[Prompt, ...]:
    """All prompts, four an instance."""
    fields = [f"{setting}_{modality}_prompt" for setting in SETTINGS for modality in MODALITIES]
    return tuple(
        Prompt(f"{row['task_id']}.{row['index']}", field, row[field], row)
        for row in bank.instances
        for field in fields
    )


def questions(bank: Bank) -> Iterator[tuple[str, str]]:
    """All questions as they stand in the rows, with where."""
    for row in bank.tasks:
        for question in row["questions"]:
            yield f"{row['task_id']} {question['id']}", question["text"]
    for row in bank.instances:
        for question in row["questions"]:
            yield f"{row['task_id']}.{row['index']} {question['id']}", question["text"]


def leaks(bank: Bank) -> Iterator[BankFinding]:
    """Predictive prompts that give their outcome away, by a telling word or by the outcome's own
    words."""
    for prompt in prompts(bank):
        if not prompt.field.startswith("predictive"):
            continue
        if match := LEAK.search(prompt.text):
            yield BankFinding(prompt.where, f"the word {match.group()!r} gives the outcome away")
        for run in sorted(_runs(prompt.text) & _runs(prompt.row["expected_outcome"])):
            yield BankFinding(prompt.where, f"it says the expected outcome: {' '.join(run)!r}")


def labels(bank: Bank) -> Iterator[BankFinding]:
    """Prompts and questions that name their scenario, setting or rubric."""
    texts = [(prompt.where, prompt.text) for prompt in prompts(bank)] + list(questions(bank))
    for where, text in texts:
        if match := LABEL.search(text):
            yield BankFinding(where, f"it names the label {match.group()!r}")


def lengths(bank: Bank) -> Iterator[BankFinding]:
    """Prompts that are too short to be concrete or too long to be natural."""
    for prompt in prompts(bank):
        count = len(prompt.text.split())
        if not FEWEST_WORDS <= count <= MOST_WORDS:
            yield BankFinding(
                prompt.where, f"{count} words; {FEWEST_WORDS} to {MOST_WORDS} are right"
            )


def duplicates(bank: Bank) -> Iterator[BankFinding]:
    """Prompts that are the same, or nearly, as one of another instance."""
    all_prompts = prompts(bank)
    first: dict[str, Prompt] = {}
    for prompt in all_prompts:
        if prompt.text in first:
            yield BankFinding(prompt.where, f"the same text as {first[prompt.text].where}")
        first.setdefault(prompt.text, prompt)
    for a, b, share in _near([prompt.text for prompt in all_prompts], NEAR):
        if (
            all_prompts[a].instance != all_prompts[b].instance
            and all_prompts[a].text != all_prompts[b].text
        ):
            yield BankFinding(
                all_prompts[b].where, f"shares {share:.0%} of its words with {all_prompts[a].where}"
            )


def repeated_tasks(bank: Bank) -> Iterator[BankFinding]:
    """Tasks that ask for the same thing in other words."""
    texts = [
        f"{task['task_goal']} {task['original_tool']} {task['expected_outcome']}"
        for task in bank.tasks
    ]
    for a, b, share in _near(texts, NEAR_TASK):
        where, earlier = bank.tasks[b]["task_id"], bank.tasks[a]["task_id"]
        yield BankFinding(
            where,
            f"goal, tool and outcome share {share:.0%} of their words with those of {earlier}",
        )


def question_form(bank: Bank) -> Iterator[BankFinding]:
    """Questions that are not one plain yes/no question about what can be seen."""
    for where, text in questions(bank):
        yield from (BankFinding(where, f"{problem}: {text!r}") for problem in _faults(text))


def _faults(text: str) -> Iterator[str]:
    low, high = QUESTION_WORDS
    if not text.endswith("?"):
        yield "no question mark at its end"
    if not YES_NO.match(text):
        yield "not a yes/no question"
    if TWO_CHECKS.search(text):
        yield "two checks in one"
    if DOUBT.search(text):
        yield "asks for what cannot be seen"
    if not low <= len(text.split()) <= high:
        yield f"{len(text.split())} words, not {low} to {high}"


def _words(text: str) -> list[str]:
    return [word for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in STOP]


def _runs(text: str) -> set[tuple[str, ...]]:
    words = _words(text)
    return {tuple(words[at : at + SHARED_RUN]) for at in range(len(words) - SHARED_RUN + 1)}


def _near(texts: Sequence[str], above: float) -> Iterator[tuple[int, int, float]]:
    """Pairs whose sets of words overlap by more than that share (intersection over union)."""
    sets = [set(_words(text)) for text in texts]
    column = {word: number for number, word in enumerate(sorted(set().union(*sets)))}
    occurrence = np.zeros((len(sets), len(column)), np.float32)
    for row, words in enumerate(sets):
        occurrence[row, [column[word] for word in words]] = 1
    sizes = occurrence.sum(axis=1)
    common = occurrence @ occurrence.T
    share = common / np.maximum(sizes[:, None] + sizes[None, :] - common, 1)
    for a, b in np.argwhere(np.triu(share > above, 1)):
        yield int(a), int(b), float(share[a, b])
