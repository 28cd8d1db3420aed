"""Replies and their exact outcomes: the answers, or the one line that is sent back to the judge."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluators.contracts import Answer, Outcome, Question
from evaluators.judges.completions import Completion
from evaluators.judges.menus import check, schema
from evaluators.judges.replies import NOT_JSON, BadReply, parse_reply, read_completion

YES_NO = Question("holds", "Does it hold?", "yes_no", options=("yes", "no", "unclear"))
RATING = Question("real", "How real?", "rating", low=0, high=5)
CHOICE = Question("tool", "Which tool?", "choice", options=("Claw hammer", "Shoe"))
OPEN = Question("what", "What happens?", "open")

GOOD = '{"q1": "yes", "q2": 4}'
MENU = 'must be one of "yes", "no", "unclear"'
HALVES = "must be a number from 0 to 5 in steps of 0.5"
KEYS = "the keys must be q1 to q2: "
PAGE = "the reply is a web page, not an answer"
TWO = "there is more than one JSON object; give exactly one"
NONE = "there is no JSON object in the reply"

READ: list[tuple[str, str, tuple[str, str]]] = [
    ("bare", GOOD, ("yes", "4")),
    ("with spaces around", f"\n\n  {GOOD}  \n", ("yes", "4")),
    ("after reasoning", f"The shelf bends but holds.\n{GOOD}", ("yes", "4")),
    ("on the line of the reasoning", f"So my answer is {GOOD}", ("yes", "4")),
    ("in a fence", f"```json\n{GOOD}\n```", ("yes", "4")),
    ("in a fence without a name", f"```\n{GOOD}\n```", ("yes", "4")),
    ("in a fence named in capitals", f"```JSON\n{GOOD}\n```", ("yes", "4")),
    ("in a fence after reasoning", f"It holds.\n\n```json\n{GOOD}\n```\n", ("yes", "4")),
    ("in a fence on one line", f"```json {GOOD} ```", ("yes", "4")),
    ("after closed thinking", f"<think>It may be no.</think>{GOOD}", ("yes", "4")),
    ("with a byte order mark", f"\ufeff{GOOD}", ("yes", "4")),
    ("keys in another order", '{"q2": 4, "q1": "yes"}', ("yes", "4")),
    ("an option in capitals", '{"q1": "YES", "q2": 4}', ("yes", "4")),
    ("an option with spaces", '{"q1": " Unclear ", "q2": 4}', ("unclear", "4")),
    ("the lowest rating", '{"q1": "no", "q2": 0}', ("no", "0")),
    ("the highest rating", '{"q1": "no", "q2": 5}', ("no", "5")),
    ("half a point", '{"q1": "no", "q2": 2.5}', ("no", "2.5")),
    ("a whole number as a float", '{"q1": "no", "q2": 3.0}', ("no", "3")),
    ("minus zero", '{"q1": "no", "q2": -0.0}', ("no", "0")),
    ("a rating with an exponent", '{"q1": "no", "q2": 5e-1}', ("no", "0.5")),
    ("escapes in the JSON", '{"\\u0071\\u0031": "\\u0079es", "q2": 4}', ("yes", "4")),
    (
        "braces of a formula in the reasoning",
        f"F = \\frac{{m}}{{2}} holds for {{red, blue}}.\n{GOOD}",
        ("yes", "4"),
    ),
    ("a list in the reasoning", f"I see [a shelf, a book].\n{GOOD}", ("yes", "4")),
]

REFUSED: list[tuple[str, str, str]] = [
    ("empty", "", "the reply is empty"),
    ("blank", " \n\t ", "the reply is empty"),
    ("no JSON", "Yes, it holds, and I give it a 4.", NONE),
    ("a refusal in words", "I'm sorry, but I can't assist with that.", NONE),
    ("a list", '["yes", 4]', NONE),
    ("a string", '"yes"', NONE),
    ("a number", "4", NONE),
    ("null", "null", NONE),
    ("lines instead of an object", "q1: yes\nq2: 4", NONE),
    ("a web page", "<!DOCTYPE html><html><body>502 Bad Gateway</body></html>", PAGE),
    ("a web page in capitals", "<HTML><BODY>Too many requests</BODY></HTML>", PAGE),
    ("an XML error", "<?xml version='1.0'?><Error/>", PAGE),
    ("a page that carries the object", f"<html><script>var a = {GOOD}</script></html>",
     PAGE),
    ("off the menu", '{"q1": "maybe", "q2": 4}', f'q1 is "maybe" but {MENU}'),
    ("an empty choice", '{"q1": "", "q2": 4}', f'q1 is "" but {MENU}'),
    ("a choice with a full stop", '{"q1": "yes.", "q2": 4}', f'q1 is "yes." but {MENU}'),
    ("two choices in one string", '{"q1": "yes/no", "q2": 4}', f'q1 is "yes/no" but {MENU}'),
    ("a prefix of an option", '{"q1": "unc", "q2": 4}', f'q1 is "unc" but {MENU}'),
    ("a boolean for a choice", '{"q1": true, "q2": 4}', f"q1 is true but {MENU}"),
    ("a number for a choice", '{"q1": 1, "q2": 4}', f"q1 is 1 but {MENU}"),
    ("null for a choice", '{"q1": null, "q2": 4}', f"q1 is null but {MENU}"),
    ("a list for a choice", '{"q1": ["yes"], "q2": 4}', f'q1 is ["yes"] but {MENU}'),
    ("an object for a "
     "choice", '{"q1": {"answer": "yes"}, "q2": 4}', f'q1 is {{"answer": "yes"}} but {MENU}'),
    ("above the range", '{"q1": "yes", "q2": 6}', f"q2 is 6 but {HALVES}"),
    ("just above the range", '{"q1": "yes", "q2": 5.5}', f"q2 is 5.5 but {HALVES}"),
    ("below the range", '{"q1": "yes", "q2": -0.5}', f"q2 is -0.5 but {HALVES}"),
    ("another scale", '{"q1": "yes", "q2": 90}', f"q2 is 90 but {HALVES}"),
    ("a third of a point", '{"q1": "yes", "q2": 3.3}', f"q2 is 3.3 but {HALVES}"),
    ("a rating as a string", '{"q1": "yes", "q2": "4"}', f'q2 is "4" but {HALVES}'),
    ("a rating as a fraction", '{"q1": "yes", "q2": "4/5"}', f'q2 is "4/5" but {HALVES}'),
    ("a boolean for a rating", '{"q1": "yes", "q2": true}', f"q2 is true but {HALVES}"),
    ("null for a rating", '{"q1": "yes", "q2": null}', f"q2 is null but {HALVES}"),
    ("NaN", '{"q1": "yes", "q2": NaN}', "NaN is not a number in JSON"),
    ("Infinity", '{"q1": "yes", "q2": Infinity}', "Infinity is not a number in JSON"),
    ("minus Infinity", '{"q1": "yes", "q2": -Infinity}', "-Infinity is not a number in JSON"),
    ("a number too large for a "
     "float", '{"q1": "yes", "q2": 1e999}', f"q2 is Infinity but {HALVES}"),
    ("5,000 digits", f'{{"q1": "yes", "q2": {"9" * 5000}}}',
     "the JSON object holds a number that is too long or is nested too deeply"),
    ("100,000 brackets", '{"q1": ' + "[" * 100_000,
     "the JSON object holds a number that is too long or is nested too deeply"),
    ("two wrong "
     "answers", '{"q1": "maybe", "q2": 9}', f'q1 is "maybe" but {MENU}; q2 is 9 but {HALVES}'),
    ("a missing key", '{"q1": "yes"}', KEYS + "q2 missing"),
    ("an extra key", '{"q1": "yes", "q2": 4, "q3": "yes"}', KEYS + '"q3" not asked for'),
    ("an extra key for "
     "remarks", '{"q1": "yes", "q2": 4, "note": "sure"}', KEYS + '"note" not asked for'),
    ("reasoning as a key where text is wanted", '{"reasoning": "x", "q1": "yes", "q2": 4}',
     KEYS + '"reasoning" not asked for'),
    ("keys that count from "
     "zero", '{"q0": "yes", "q1": "yes"}', KEYS + 'q2 missing; "q0" not asked for'),
    ("keys in "
     "capitals", '{"Q1": "yes", "Q2": 4}', KEYS + 'q1, q2 missing; "Q1", "Q2" not asked for'),
    ("keys of the "
     "questions", '{"holds": "yes", "real": 4}',
     KEYS + 'q1, q2 missing; "holds", "real" not asked for'),
    ("an empty object", "{}", KEYS + "q1, q2 missing"),
    ("everything one level "
     "down", f'{{"answers": {GOOD}}}', KEYS + 'q1, q2 missing; "answers" not asked for'),
    ("a key twice with one "
     "value", '{"q1": "yes", "q1": "yes", "q2": 4}', 'the key "q1" is there twice'),
    ("a key twice with two "
     "values", '{"q1": "no", "q1": "yes", "q2": 4}', 'the key "q1" is there twice'),
    ("two objects", f"{GOOD}\n{GOOD}", TWO),
    ("a draft and a final object", f'First {{"q1": "no", "q2": 1}}, but then {GOOD}',
     TWO),
    ("a draft in the thinking", f"<think>{GOOD}</think>{GOOD}",
     "the JSON object stands inside reasoning that was never closed"),
    ("a Python draft before the object", f"{{'q1': 'no'}}\n{GOOD}", NOT_JSON),
    ("two fences", f"```json\n{GOOD}\n```\n```json\n{GOOD}\n```", TWO),
    ("a fence of something else first", f"```\nlook\n```\n```json\n{GOOD}\n```",
     "there is more than one code fence; use one or none"),
    ("a fence beside the object", f"```\nlook\n```\n{GOOD}",
     "there is a code fence that does not hold the JSON object"),
    ("a fence that is not "
     "closed", f"```json\n{GOOD}", "the code fence around the JSON object is not closed"),
    ("a fence that was not "
     "opened", f"{GOOD}\n```", 'there is text after the JSON object: "```"; end with the object'),
    ("a full stop after the "
     "object", f"{GOOD}.", 'there is text after the JSON object: "."; end with the object'),
    ("words after the object", f"{GOOD}\nI hope this helps!",
     'there is text after the JSON object: "I hope this helps!"; end with the object'),
    ("a list of one "
     "object", f"[{GOOD}]", 'there is text after the JSON object: "]"; end with the object'),
    ("a second brace after the "
     "object", f"{GOOD}}}", 'there is text after the JSON object: "}"; end with the object'),
    ("cut off in a string", '{"q1": "ye', "the JSON object is cut off"),
    ("cut off after a colon", '{"q1": "yes", "q2":', "the JSON object is cut off"),
    ("cut off before the end", '{"q1": "yes", "q2": 4', "the JSON object is cut off"),
    ("cut off after a key", '{"q1": "yes", "q2"', "the JSON object is cut off"),
    ("a comma too many", '{"q1": "yes", "q2": 4,}', NOT_JSON),
    ("single quotes", "{'q1': 'yes', 'q2': 4}", NOT_JSON),
    ("bare keys", "{q1: yes, q2: 4}", NOT_JSON),
    ("a comment", '{"q1": "yes", // sure\n "q2": 4}', NOT_JSON),
    ("a line break in a string", '{"q1": "yes\n", "q2": 4}', NOT_JSON),
    ("curly quotes", "{“q1”: “yes”, “q2”: 4}", NOT_JSON),
    ("thinking that never ends", f"<think>perhaps {GOOD}",
     "the JSON object stands inside reasoning that was never closed"),
    ("a verdict in markup", "<verdict>yes</verdict><score>4</score>", NONE),
]  # fmt: skip


@pytest.mark.parametrize(
    ("reply", "values"), [row[1:] for row in READ], ids=[row[0] for row in READ]
)
def test_a_reply_in_the_form_asked_for_is_read(reply: str, values: tuple[str, str]) -> None:
    answers = parse_reply(reply, (YES_NO, RATING))

    assert answers == (
        Answer("holds", Outcome.SCORED, values[0]),
        Answer("real", Outcome.SCORED, values[1]),
    )


@pytest.mark.parametrize(
    ("reply", "reason"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_any_other_reply_is_no_answer_but_a_reason(reply: str, reason: str) -> None:
    with pytest.raises(BadReply) as bad:
        parse_reply(reply, (YES_NO, RATING))

    assert str(bad.value) == reason


def test_the_table_has_at_least_sixty_replies_and_none_twice() -> None:
    replies = [row[1] for row in READ] + [row[1] for row in REFUSED]

    assert len(set(replies)) == len(replies) >= 60


@pytest.mark.parametrize(
    ("completion", "reason"),
    [
        (
            Completion(GOOD, refusal="I cannot judge people."),
            'the reply is a refusal: "I cannot judge people."',
        ),
        (
            Completion(GOOD, finish="length"),
            "the reply was cut off by the token limit; reason more briefly",
        ),
        (
            Completion(GOOD, finish="content_filter"),
            'the reply ended by "content_filter" instead of stopping by itself',
        ),
        (
            Completion("", finish="tool_calls"),
            'the reply ended by "tool_calls" instead of stopping by itself',
        ),
    ],
)
def test_a_completion_that_was_refused_or_cut_off_is_not_read_even_if_its_text_could_be(
    completion: Completion, reason: str
) -> None:
    with pytest.raises(BadReply) as bad:
        read_completion(completion, (YES_NO, RATING))

    assert str(bad.value) == reason


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        ('"A shelf breaks."', "A shelf breaks."),
        ('"  hold  "', "hold"),
        ('"``` in words"', "``` in words"),
    ],
)
def test_an_open_answer_is_kept_as_it_was_said_without_the_spaces_around_it(
    value: str, answer: str
) -> None:
    assert parse_reply(f'{{"q1": {value}}}', (OPEN,))[0].value == answer


@pytest.mark.parametrize(
    "value", ['""', '"  "', "3", "null", "true", '["a"]', r'"\u0000"', r'"half \ud800"']
)
def test_an_open_answer_that_is_blank_or_not_text_or_cannot_be_stored_is_refused(
    value: str,
) -> None:
    with pytest.raises(BadReply, match="must be a short text"):
        parse_reply(f'{{"q1": {value}}}', (OPEN,))


def test_a_choice_comes_back_as_the_menu_spells_it() -> None:
    assert parse_reply('{"q1": "claw HAMMER"}', (CHOICE,))[0].value == "Claw hammer"


def test_where_only_json_is_allowed_the_reasoning_is_a_key_and_must_be_there() -> None:
    answers = parse_reply('{"reasoning": "It holds.", "q1": "yes"}', (YES_NO,), structured=True)
    with pytest.raises(BadReply, match='"reasoning" is missing'):
        parse_reply('{"q1": "yes"}', (YES_NO,), structured=True)

    assert answers == (Answer("holds", Outcome.SCORED, "yes"),)


def test_every_reason_is_one_short_printable_line() -> None:
    hostile = [
        '{"q1": "%s"}' % ("no\\n" * 500),
        json.dumps({"a" * 900: 1, "\u202e": 2, "b\n": 3, "c": 4, "d": 5}),
        "{}" * 99,
    ]

    for reply in hostile:
        with pytest.raises(BadReply) as bad:
            parse_reply(reply, (YES_NO, RATING))
        assert str(bad.value).isprintable() and len(str(bad.value)) < 300


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="{}[]\"':,`qy12 \n\\es", max_size=40))
def test_random_text_is_either_read_by_the_rule_or_refused(text: str) -> None:
    try:
        answers = parse_reply(text, (YES_NO,))
    except BadReply:
        return

    assert answers[0].value in YES_NO.options


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(YES_NO.options),
    st.integers(0, 10),
    st.text(max_size=30),
    st.text(min_size=1, max_size=30),
)
def test_a_well_formed_reply_is_read_back_whatever_the_reasoning_says(
    option: str, halves: int, reasoning: str, words: str
) -> None:
    reasoning = reasoning.replace("{", "(").replace("`", "'").replace("<", "(")
    words = words.replace("\x00", "").strip() or "x"
    text = reasoning + "\n" + json.dumps({"q1": option, "q2": halves / 2, "q3": words})

    values = [answer.value for answer in parse_reply(text, (YES_NO, RATING, OPEN))]

    assert values == [option, f"{halves / 2:g}", words]


def test_the_schema_offers_exactly_the_menus() -> None:
    form = schema((YES_NO, RATING, CHOICE, OPEN), "reasoning")

    assert form == {
        "type": "object",
        "properties": {
            "reasoning": {"type": "string"},
            "q1": {"type": "string", "enum": ["yes", "no", "unclear"]},
            "q2": {"type": "number", "enum": [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5]},
            "q3": {"type": "string", "enum": ["Claw hammer", "Shoe"]},
            "q4": {"type": "string"},
        },
        "required": ["reasoning", "q1", "q2", "q3", "q4"],
        "additionalProperties": False,
    }
    assert list(form["properties"]) == ["reasoning", "q1", "q2", "q3", "q4"]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "question",
    [
        Question("a", "?", "choice", options=("only",)),
        Question("a", "?", "yes_no"),
        Question("a", "?", "choice", options=("Yes", "yes ", "no")),
        Question("a", "?", "rating"),
        Question("a", "?", "rating", low=5, high=0),
        Question("a", "?", "rating", low=0, high=0.7),
    ],
)
def test_a_question_that_nobody_can_answer_is_the_fault_of_who_asks(question: Question) -> None:
    with pytest.raises(ValueError, match="'a'"):
        check((question,))
