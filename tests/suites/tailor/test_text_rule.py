"""Whether words tell the scenario: the rule finds what does, and the open bank's figures stand in
the suite's README."""

from __future__ import annotations

import random
from importlib.resources import files

import pytest

from evaluators.suites.tailor.bank import public
from evaluators.suites.tailor.soundness import text_rule
from evaluators.suites.tailor.soundness.text_rule import TEXTS, WATCHED, TextUnit

README = (files("evaluators.suites.tailor") / "README.md").read_text("utf-8")


def units(word: str) -> list[TextUnit]:
    """A hundred tasks of a fit and an impossible instance, which has the word."""
    words = [frozenset({f"w{(7 * n) % 11}", f"v{(5 * n) % 13}"}) for n in range(200)]
    return [
        TextUnit(
            f"task{n // 2}",
            n % 2,
            ("fit", "impossible")[n % 2],
            words[n] | ({word} if n % 2 and word else frozenset()),
        )
        for n in range(200)
    ]


def test_a_text_rule_finds_the_word_that_gives_the_scenario_away_and_nothing_in_noise() -> None:
    told, silent = text_rule.rule(units("still")), text_rule.rule(units(""))

    assert told.tells and told.telling[0] == "still"
    assert not silent.tells


def test_shuffled_labels_are_told_by_chance_only() -> None:
    told, silent = units("still"), units("")

    assert text_rule.rule(told).accuracy > text_rule.by_shuffling(told)
    assert text_rule.rule(silent).accuracy <= text_rule.by_shuffling(silent)


def test_labels_are_shuffled_by_instance_and_within_a_task() -> None:
    twice = [unit for unit in units("") for _ in range(2)]

    dealt = text_rule._shuffled(twice, random.Random(1))

    assert [unit.scenario for unit in dealt] != [unit.scenario for unit in twice]
    assert all(
        dealt[n].scenario == dealt[n + 1].scenario != dealt[n + 2].scenario
        for n in range(0, len(dealt), 4)
    )


@pytest.mark.parametrize("name", TEXTS)
def test_words_do_not_tell_the_scenario_in_the_open_bank(name: str) -> None:
    result = text_rule.rule(TEXTS[name](public()))

    assert not result.tells, result


@pytest.mark.parametrize("name", WATCHED)
def test_the_readme_says_what_words_tell_in_the_open_bank(name: str) -> None:
    texts = WATCHED[name](public())
    result, bound = text_rule.rule(texts), text_rule.by_shuffling(texts)

    right, allowed = f"{100 * result.accuracy:.1f} %", f"{100 * result.allowed:.1f} %"
    tells = "**yes**" if result.accuracy > bound else "no"
    row = f"| {name} | {right} | {allowed} | {100 * bound:.1f} % | {tells} |"
    assert row in README
