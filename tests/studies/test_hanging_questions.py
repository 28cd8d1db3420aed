"""A question that hangs on another one appears to a rater after a yes, and only then has to be
answered."""

from __future__ import annotations

from dataclasses import asdict

from evaluators.contracts import Outcome, Output
from evaluators.suites.tailor import rating
from evaluators.suites.tailor.bank import samples_of
from leaderboard.studies.forms import Form, FormQuestion, form_of, problems
from tests.suites.tailor.banks import small

SAMPLE = samples_of(small())[0]


def tailor_form() -> Form:
    words = rating.words(SAMPLE, Output(SAMPLE.id, Outcome.SCORED))
    form = rating.form(words, ())
    return Form(form.text, (), tuple(FormQuestion(**asdict(ask)) for ask in form.asks))


def test_tailor_s_form_knows_what_hangs_on_what_and_keeps_it_as_json() -> None:
    form = tailor_form()

    after = {ask.id: ask.after for ask in form.asks}
    assert after == {question.id: question.parent for question in SAMPLE.questions}
    assert form_of(form.as_row()) == form


def test_what_hangs_on_a_no_is_not_asked_and_what_hangs_on_a_yes_is() -> None:
    form = tailor_form()
    roots = {ask.id: "no" for ask in form.asks if not ask.after and ask.kind == "choice"}
    marks = {ask.id: "3" for ask in form.asks if ask.kind == "scale"}

    assert problems(form, {**roots, **marks}) == []
    twine = {**roots, **marks, "entity_1": "yes"}
    open_again = [ask for ask in form.asks if ask.after == "entity_1"]
    assert len(problems(form, twine)) == len(open_again) > 0
    assert len(problems(form, {**twine, "entity_1": "unclear"})) == 0


def test_a_form_that_was_stored_before_questions_could_hang_on_others_is_read() -> None:
    row = tailor_form().as_row()
    for ask in row["asks"]:
        del ask["after"]

    assert {ask.after for ask in form_of(row).asks} == {""}
