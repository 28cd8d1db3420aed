"""Keys hit only when everything that can change a verdict is the same."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from evaluators.contracts import JudgeCard, Question
from evaluators.judges.card import fingerprint, request_key
from infra.tables.results import question_key

CARD = JudgeCard("a", "auto", "b", "c", "d", "e", "f", "g", "h")
QUESTION = Question("q", "Is it red?", "yes_no", "colour", ("yes", "no"), 0, 1)
SECOND = replace(QUESTION, id="r")


def test_every_field_but_the_note_changes_the_fingerprint() -> None:
    changes: list[dict[str, Any]] = [{field.name: "human"} for field in fields(CARD)]
    changed = {name: fingerprint(replace(CARD, **change)) for change in changes for name in change}

    assert changed.pop("note") == fingerprint(CARD)
    assert len({*changed.values(), fingerprint(CARD)}) == len(changed) + 1


def test_a_fingerprint_is_sixteen_hex_digits_and_does_not_change_with_the_code() -> None:
    assert fingerprint(CARD) == "85971a3aaa0751e1"


def test_every_field_of_a_question_its_order_and_the_description_change_its_key() -> None:
    others = [
        replace(QUESTION, text="x"),
        replace(QUESTION, kind="choice"),
        replace(QUESTION, part="x"),
        replace(QUESTION, options=("no", "yes")),
        replace(QUESTION, low=1),
        replace(QUESTION, high=2),
    ]
    asked = [("a cup", "video", (question, SECOND)) for question in (QUESTION, *others)]
    asked += [("a mug", "video", (QUESTION, SECOND)), ("a cup", "image", (QUESTION, SECOND))]
    asked += [
        ("a cup", "video", (SECOND, QUESTION)),
        ("a cup", "video", (QUESTION, replace(SECOND, id="s"))),
    ]

    keys = {question_key(request_key(*one), "q") for one in asked}

    assert len(keys) == len(asked) == len(others) + 5


def test_each_field_of_a_question_is_in_its_key() -> None:
    changes: list[dict[str, Any]] = [{field.name: "other"} for field in fields(QUESTION)]
    changed = [replace(QUESTION, **change) for change in changes]

    keys = {request_key("a cup", "video", (question,)) for question in (QUESTION, *changed)}

    assert len(keys) == len(changed) + 1


def test_two_questions_of_one_request_have_two_keys_and_the_same_one_always_the_same() -> None:
    request = request_key("a cup", "video", (QUESTION, SECOND))

    assert question_key(request, "q") != question_key(request, "r")
    assert request == request_key("a cup", "video", (replace(QUESTION), replace(SECOND)))


def test_the_key_of_a_question_is_that_of_the_verdicts_which_are_stored() -> None:
    stored = "6a9191842165dc1dc084a2f5485608828de25bb1f85f1d552f83f459cffd4d4c"

    assert question_key("ab" * 32, "part.1") == stored
