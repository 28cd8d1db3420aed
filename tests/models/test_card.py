"""Keys hit only when everything that can change a verdict is the same."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from evaluators.contracts import JudgeCard, Question, Request
from evaluators.judges.card import fingerprint, question_hash, request_key

CARD = JudgeCard("a", "auto", "b", "c", "d", "e", "f", "g", "h")
QUESTION = Question("q", "Is it red?", "yes_no", "colour", ("yes", "no"), 0, 1)
REQUEST = Request("s", Path("a.mp4"), "ab" * 32, "video", "a red cup", (QUESTION, replace(QUESTION, id="r")))


def test_every_field_but_the_note_changes_the_fingerprint() -> None:
    changes: list[dict[str, Any]] = [{field.name: "human"} for field in fields(CARD)]
    changed = {name: fingerprint(replace(CARD, **change)) for change in changes for name in change}

    assert changed.pop("note") == fingerprint(CARD)
    assert len({*changed.values(), fingerprint(CARD)}) == len(changed) + 1


def test_a_fingerprint_is_sixteen_hex_digits_and_does_not_change_with_the_code() -> None:
    assert fingerprint(CARD) == "85971a3aaa0751e1"


def test_every_field_of_a_question_and_the_description_change_its_hash() -> None:
    others = [
        replace(QUESTION, id="x"), replace(QUESTION, text="x"), replace(QUESTION, kind="choice"),
        replace(QUESTION, part="x"), replace(QUESTION, options=("no", "yes")), replace(QUESTION, low=1),
        replace(QUESTION, high=2),
    ]  # fmt: skip

    hashes = {question_hash(question) for question in [QUESTION, *others]} | {question_hash(QUESTION, "a cup")}

    assert len(hashes) == len(others) + 2


def test_a_request_is_known_by_the_bytes_of_its_medium_and_not_by_its_names() -> None:
    same = replace(REQUEST, sample_id="other", media=Path("b.mp4"))
    others = [
        replace(REQUEST, media_sha256="cd" * 32), replace(REQUEST, modality="image"), replace(REQUEST, prompt="x"),
        replace(REQUEST, questions=REQUEST.questions[::-1]), replace(REQUEST, repeat=1),
    ]  # fmt: skip

    keys = {request_key(CARD, request) for request in [REQUEST, same, *others]}

    assert request_key(CARD, same) == request_key(CARD, REQUEST)
    assert len({*keys, request_key(replace(CARD, model="x"), REQUEST)}) == len(others) + 2
