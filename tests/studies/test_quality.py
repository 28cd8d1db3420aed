"""Careless raters are found, careful ones are left in, and one who wishes harm does none that stays
unseen."""

from __future__ import annotations

import random
from typing import Any

import pytest

from evaluators.contracts import RatedItem
from flows.studies.create import StudyPlan, attention, with_checks
from flows.studies.protocols import form_for
from flows.studies.ratings import agreement_with_others
from flows.studies.tables import table_of
from infra.tables.study import Study
from leaderboard.studies.forms import Form, Medium
from leaderboard.studies.quality import ExclusionRule, GoldAnswer, checks_of, quality
from leaderboard.studies.states import StudyError
from tests.studies.making import QUESTIONS, by_chance, by_reading

RULE = ExclusionRule()
WORDS: dict[str, dict[str, Any]] = {
    "tailor": {"prompt": "A shoe drives a nail.", "questions": QUESTIONS},
    "liva": {"intention": "Make tea.", "subgoals": ["water boils", "cup is full"]},
    "universe": {"question": "What does it do?", "answer": "It jumps."},
    "sc3": {"instruction": "Clear the table.", "objects": ["cup"]},
}
MEDIA = {"liva": "ABCD"}


def dealt(protocol: str, seed: int, items: int) -> list[tuple[str, Form, dict[str, str]]]:
    """The first items on one rater's desk, of a study of two hundred."""
    plan = StudyPlan("s", protocol, protocol, "s", seed=seed)
    whole = list(with_checks(plan, [{**WORDS[protocol], "number": n} for n in range(200)]))
    return [_made(protocol, one) for one in random.Random(seed).sample(whole, items)]


def _made(protocol: str, item: Any) -> tuple[str, Form, dict[str, str]]:
    media = [Medium(letter, "ab", "video/mp4") for letter in MEDIA.get(protocol, "A")]
    form = form_for(protocol, item, media)
    return (
        ("attention", *attention(form)) if item.get("kind") == "attention" else ("real", form, {})
    )


def caught(protocol: str, seed: int, answer: Any) -> bool:
    checks: list[GoldAnswer] = []
    for kind, form, expected in dealt(protocol, seed, 40):
        checks += (
            checks_of(kind, expected, {ask.id: answer(ask, form) for ask in form.asks})
            if expected
            else []
        )
    return bool(quality("r", checks, [5.0], 5.0, None, RULE).left_out)


@pytest.mark.parametrize("protocol", WORDS)
def test_a_random_clicker_is_caught_within_forty_items_in_at_least_95_of_100_runs(
    protocol: str,
) -> None:
    assert sum(caught(protocol, seed, by_chance(seed)) for seed in range(100)) >= 95


@pytest.mark.parametrize("protocol", WORDS)
def test_a_careful_rater_is_left_in(protocol: str) -> None:
    def slips(seed: int) -> Any:
        dice = random.Random(seed)
        return lambda ask, form: (
            by_chance(seed)(ask, form) if dice.random() < 0.002 else by_reading(ask, form)
        )

    assert sum(caught(protocol, seed, slips(seed)) for seed in range(100)) <= 5


def test_somebody_far_too_fast_or_against_everybody_is_left_out_with_the_reason() -> None:
    assert "median is 40 s" in quality("r", [], [4.0, 5.0], 40.0, None, RULE).left_out
    assert "-0.40" in quality("r", [], [30.0], 40.0, -0.4, RULE).left_out
    assert quality("r", [], [], None, None, RULE).left_out == ""


@pytest.mark.parametrize("seed", range(20))
def test_one_hostile_rater_of_nine_is_flagged_or_changes_no_rank_beyond_its_interval(
    seed: int,
) -> None:
    """Eight see the methods as they are, with noise; the ninth turns everything round."""
    dice = random.Random(seed)
    truth = {"north": 0.75, "south": 0.6, "east": 0.45, "west": 0.3}
    honest: list[RatedItem] = []
    hostile: list[RatedItem] = []
    for number in range(60):
        method, worth = list(truth.items())[number % 4]
        for rater in dice.sample(range(9), 3):
            mark = min(5, max(0, round(5 * worth + dice.gauss(0, 0.8))))
            said = {"c1": "yes" if dice.random() < worth else "no", "realism": str(mark)}
            turned = {"c1": "no" if said["c1"] == "yes" else "yes", "realism": str(5 - mark)}
            behind = {"methods": {"A": method}, "samples": {"A": f"s{number}"}}
            place = RatedItem(
                f"i{number}", "real", f"r{rater}", 0, turned if rater == 8 else said, behind, 20.0
            )
            (hostile if rater == 8 else honest).append(place)
    study = Study(
        id="s",
        suite="tailor",
        version="1",
        protocol="tailor",
        title="s",
        state="closed",
        raters_per_item=3,
        session_items=10,
        minutes=30,
        seed=0,
        consent_version="1",
    )

    agrees = agreement_with_others([*honest, *hostile], "r8")
    flagged = bool(quality("r8", [], [20.0] * len(hostile), 20.0, agrees, RULE).left_out)

    order = [_order(table_of(study, some)) for some in ([*honest, *hostile], honest)]
    assert flagged or order[0] == order[1]
    everybody = [*honest, *hostile]
    agree = {name: agreement_with_others(everybody, name) for name in {one.rater for one in honest}}
    wrongly = [
        name for name, how in agree.items() if quality(name, [], [20.0], 20.0, how, RULE).left_out
    ]
    assert len(wrongly) <= 1, "those who rate honestly are left in"


def _order(table: dict[str, dict[str, Any]]) -> list[str]:
    return sorted(table, key=lambda method: -table[method]["realism"])


def test_an_unknown_protocol_is_an_error_and_never_another_suites() -> None:
    study = Study(
        id="s",
        suite="tailor",
        version="1",
        protocol="tailr",
        title="s",
        state="closed",
        raters_per_item=3,
        session_items=10,
        minutes=30,
        seed=0,
        consent_version="1",
    )

    with pytest.raises(StudyError, match="no protocol 'tailr'. Use one of tailor"):
        table_of(study, [])
    with pytest.raises(StudyError, match="no protocol 'tailr'"):
        form_for("tailr", {"prompt": "", "questions": []}, [])
