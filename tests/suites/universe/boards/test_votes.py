"""From eight votes to numbers: constant answers are worth nothing, a failed judge is no zero."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from evaluators.contracts import Answer, Outcome, Output, Question, Sample
from evaluators.suites.universe.boards.worlds.bank import samples
from evaluators.suites.universe.boards.worlds.looking import parts
from evaluators.suites.universe.boards.worlds.scoring import score, score_by_rule, vote
from evaluators.suites.universe.boards.worlds.showings import SHOWINGS

FOUND = {"gain": 1.5, "psnr": 22.0, "psnr_early": 25.0, "ssim": 0.7}


def rolled(sample: Sample, **changes: object) -> Output:
    value = {**FOUND, "read": str(_labels(sample)["action"]), **changes}
    shown = {name: f"{number:064x}" for number, name in enumerate(SHOWINGS)}
    return Output(sample.id, Outcome.SCORED, record={"value": value, "showings": shown})  # type: ignore[dict-item]


def answered(sample: Sample, say: Callable[[Question, str], str | None]) -> Mapping[str, Answer]:
    """A judge's answers to all showings of a rollout."""
    answers = {}
    for part in parts(sample, rolled(sample)):
        for question in part.questions:
            said = say(question, part.id)
            outcome = Outcome.SCORED if said else Outcome.JUDGE_UNPARSABLE
            answers[question.id] = Answer(question.id, outcome, said)
    return answers


def truth(sample: Sample) -> Callable[[Question, str], str]:
    labels = _labels(sample)

    def say(question: Question, _showing: str) -> str:
        label = labels["action" if "/action" in question.id else "character"]
        if question.kind == "choice":
            return label
        return "yes" if f" {label} on" in question.text or f" {label}?" in question.text else "no"

    return say


def _labels(sample: Sample) -> dict[str, str]:
    labels = sample.reference["labels"]
    assert isinstance(labels, dict)
    return {name: str(label) for name, label in labels.items()}


def values(sample: Sample, answers: Mapping[str, Answer]) -> dict[str, float | None]:
    return {each.metric: each.value for each in score(sample, rolled(sample), answers)}


def of_kind(setting: str) -> Sample:
    return next(sample for sample in samples() if sample.facets.setting == setting)


def test_a_judge_that_sees_what_was_given_scores_every_rollout_full() -> None:
    for sample in samples():
        found = values(sample, answered(sample, truth(sample)))

        assert found["score"] == found["judged_action"] == found["judged_character"] == 100


@pytest.mark.parametrize("word", ["yes", "no"])
def test_a_constant_answer_scores_nothing_on_pairs(word: str) -> None:
    for sample in samples():
        if sample.facets.setting == "yes_no":
            assert values(sample, answered(sample, lambda _q, _s: word))["score"] == 0


def test_a_constant_choice_is_right_as_often_as_chance() -> None:
    menus = [sample for sample in samples() if sample.facets.setting == "choice"]
    first = [
        values(sample, answered(sample, lambda q, _s: q.options[0]))["judged_action"]
        for sample in menus
    ]

    assert sum(map(float, filter(None, first))) / len(first) == pytest.approx(12.5)


def test_three_blinded_showings_do_not_move_the_vote_and_five_do() -> None:
    sample = of_kind("choice")
    right = truth(sample)
    wrong = next(o for o in sample.questions[0].options if o != _labels(sample)["action"])

    def with_wrong(names: list[str]) -> dict[str, float | None]:
        def say(question: Question, showing: str) -> str:
            spoiled = showing in names and "/action" in question.id
            return wrong if spoiled else right(question, showing)

        return values(sample, answered(sample, say))

    assert with_wrong(list(SHOWINGS)[:3])["judged_action"] == 100
    assert with_wrong(list(SHOWINGS)[:5])["judged_action"] == 0
    assert with_wrong(list(SHOWINGS)[:3])["vote_agreement"] == pytest.approx(100 * (5 + 8) / 16)


def test_an_unread_answer_is_no_vote_and_no_answer_at_all_is_the_judges_failure() -> None:
    sample = of_kind("yes_no")
    right = truth(sample)
    some = answered(sample, lambda q, s: right(q, s) if s == "plain" else None)

    results = score(sample, rolled(sample), answered(sample, lambda _q, _s: None))

    assert values(sample, some)["score"] == 100
    assert vote(sample, sample.questions[0], some).count == 1
    judged = [each for each in results if each.metric == "score"]
    assert [(each.outcome, each.value) for each in judged] == [(Outcome.JUDGE_UNPARSABLE, None)]
    assert all(each.value is not None for each in results if each.metric == "psnr")


def test_a_missing_rollout_fails_every_number() -> None:
    sample = of_kind("choice")
    missing = Output(sample.id, Outcome.OUTPUT_MISSING)

    assert {each.outcome for each in score(sample, missing, {})} == {Outcome.OUTPUT_MISSING}


def test_buttons_are_followed_only_where_the_action_is_read_and_a_frozen_frame_is_beaten() -> None:
    sample = of_kind("choice")
    other = next(o for o in sample.questions[0].options if o != _labels(sample)["action"])

    def followed(output: Output) -> float | None:
        scores = score_by_rule(sample, output, {})
        return next(each.value for each in scores if each.metric == "followed")

    assert followed(rolled(sample)) == 100
    assert followed(rolled(sample, gain=0.4)) == 0
    assert followed(rolled(sample, read=other)) == 0
