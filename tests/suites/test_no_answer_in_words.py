"""No text that is handed out tells an answer: a rule that reads ids, order, questions, names and
lengths does no better than chance, in every suite that has answers."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from evaluators.contracts import Sample
from evaluators.statistics.clues import CLUES, luck
from evaluators.suites import all_suites, suite_named
from evaluators.suites.sc3.samples import truth_of
from flows.cli.starter import chosen_samples, new_entry
from submissions.tools.starter import EntryFacts

SURELY_LUCK = 0.002
"""Below, a clue tells something; some forty clues and groups are tried."""
ANSWERS: Mapping[str, Callable[[Sample], str]] = {
    "universe": lambda sample: str(sample.reference["answer"]),
    "sc3": lambda sample: str(truth_of(sample).object_placing),
}
"""Suites whose samples have an answer: a label, or how the real trial ended. The others judge what
was made."""
SHOWN_KEYS = {"sample", "modality", "prompt", "media", "output"}


def groups(suite: str) -> dict[tuple[str, str], list[tuple[int, Sample]]]:
    """Samples of one task and format, with their place in the list; SC3's policies together, as
    each has few starts."""
    by_kind: dict[tuple[str, str], list[tuple[int, Sample]]] = defaultdict(list)
    for place, sample in enumerate(suite_named(suite).samples()):
        task = "" if suite == "sc3" else sample.facets.task
        by_kind[task, sample.facets.setting].append((place, sample))
    return by_kind


def told(suite: str, answer: Callable[[Sample], str]) -> list[str]:
    """The clues that tell something of an answer, with the group in which they do."""
    return [
        f"{clue} of {kind}"
        for kind, samples in groups(suite).items()
        for clue, read in CLUES.items()
        if is_told(
            [answer(sample) for _, sample in samples],
            [read(sample, place) for place, sample in samples],
        )
    ]


def is_told(answers: list[str], clues: list[Hashable]) -> bool:
    """A few shuffles clear most clues; those that they do not clear are tried often."""
    return luck(answers, clues, 40) < 0.1 and luck(answers, clues, 2000) < SURELY_LUCK


@pytest.mark.parametrize("suite", ANSWERS)
def test_no_word_that_is_handed_out_tells_an_answer(suite: str) -> None:
    assert told(suite, ANSWERS[suite]) == []


def test_an_answer_in_an_id_is_noticed() -> None:
    samples = [sample for _, sample in next(iter(groups("universe").values()))]
    leaking = [replace(s, id=f"{s.id}_{s.reference['answer']}") for s in samples]

    clue = [CLUES["last letter of the id"](sample, 0) for sample in leaking]

    assert luck([str(s.reference["answer"]) for s in leaking], clue) < 0.01


def test_every_suite_either_has_answers_that_are_tried_here_or_judges_what_was_made() -> None:
    for suite in all_suites():
        answered = any("answer" in sample.reference for sample in suite.samples()[:50])

        assert not answered or suite.name in ANSWERS, suite.name


@pytest.mark.parametrize("suite", ["tailor", "liva", "universe"])
def test_a_starter_folder_holds_no_reference_and_no_question_of_the_judge(
    suite: str, tmp_path: Path
) -> None:
    chosen = suite_named(suite)
    facts = EntryFacts(suite, chosen.version, "demo", "Owls", "Owl", "a@b.org")
    new_entry(tmp_path / "e", facts, "*")

    lines = (tmp_path / "e" / "prompts.jsonl").read_text("utf-8").splitlines()
    samples = chosen_samples(chosen, "demo", "*")
    for line, sample in zip(lines, samples, strict=True):
        assert set(json.loads(line)) <= SHOWN_KEYS
        assert not [q.text for q in sample.questions if q.text in line]
        told_later = [t for t in sample.reference.values() if isinstance(t, str)]
        hidden = [text for text in told_later if len(text) > 30 and text.endswith(".")]
        assert not [text for text in hidden if text in line]
