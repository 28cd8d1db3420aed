"""Endpoints that misbehave: no judgement is lost, none is made twice, and none is made up."""

from __future__ import annotations

import random
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evaluators.contracts import Outcome, Question, Reply
from evaluators.judges.http.judge import HttpJudge
from evaluators.judges.replies import parse_reply
from tests.judges.endpoints import QUESTIONS, YES_NO, asked, serving
from tests.judges.misbehaviour import REPLIES, TRANSPORT
from tests.judges.server import Item, Script

SEED = 20261116
CALLS = 500
FAULTS = 2000
SLOW = ["silence", "drip"]


def outcomes(reply: Reply) -> set[Outcome]:
    return {answer.outcome for answer in reply.answers}


def values(reply: Reply) -> list[str | None]:
    return [answer.value for answer in reply.answers]


def truth(draw: random.Random) -> dict[str, Any]:
    """Answers to the four questions."""
    return {
        "q1": draw.choice(["yes", "no", "unclear"]),
        "q2": draw.randint(0, 10) / 2,
        "q3": draw.choice(["hammer", "shoe", "cannot tell"]),
        "q4": f"it does {draw.randint(0, 999)} things",
    }


def as_values(answers: dict[str, Any]) -> list[str]:
    return [value if isinstance(value, str) else f"{value:g}" for value in answers.values()]


def sampled(seed: int) -> dict[str, Item]:
    """So many faults over so many items; at most two replies of an item are bad, for then the judge
    gives up.

    Silences are as long as on a real line in relation to the deadline, and rarer, so that the test
    takes half a minute.
    """
    draw = random.Random(seed)
    faults: list[list[str]] = [[] for _ in range(CALLS)]
    quick = [kind for kind in TRANSPORT if kind not in SLOW]
    for _ in range(FAULTS):
        hit = draw.choice(faults)
        kinds = [*quick, *REPLIES] if sum(fault in REPLIES for fault in hit) < 2 else quick
        hit.append(draw.choice(SLOW if draw.random() < 0.03 else kinds))
    return {str(number): Item(tuple(hit), truth(draw)) for number, hit in enumerate(faults)}


@pytest.mark.timeout(600)
def test_two_thousand_faults_over_five_hundred_calls_lose_no_judgement_and_double_none(
    tmp_path: Path,
) -> None:
    items = sampled(SEED)
    requests = asked(CALLS, tmp_path, QUESTIONS)
    started = time.monotonic()

    with serving(Script(items=items, silence=5.5), tmp_path) as endpoint:
        config = endpoint.config(concurrency=32, deadline=5.0, tries=30, backoff=0.001)
        judge = HttpJudge(config)
        replies = list(judge.judge(requests))
        book = endpoint.book()

    print(
        f"seed {SEED}: {FAULTS} faults, {len(book['times'])} calls, "
        f"{time.monotonic() - started:.1f} s"
    )
    assert [reply.sample_id for reply in replies] == [request.sample_id for request in requests]
    assert all(outcomes(reply) == {Outcome.SCORED} for reply in replies)
    assert [values(reply) for reply in replies] == [
        as_values(item.answers) for item in items.values()
    ]
    assert all(parse_reply(reply.raw, QUESTIONS) == reply.answers for reply in replies)
    assert book["calls"] == {key: len(item.faults) + 1 for key, item in items.items()}
    assert book["answered"] == dict.fromkeys(items, 1)
    assert (
        judge.budget.spent.calls >= CALLS + FAULTS
    )  # on a busy machine a call may time out before it arrives
    assert set(Counter(fault for item in items.values() for fault in item.faults)) == {
        *TRANSPORT,
        *REPLIES,
    }


def test_a_reply_that_stays_bad_is_unparsable_after_two_retries_and_its_words_are_kept(
    tmp_path: Path,
) -> None:
    items = {str(number): Item((fault,) * 9) for number, fault in enumerate(REPLIES)}

    with serving(Script(items=items), tmp_path) as endpoint:
        replies = list(HttpJudge(endpoint.config()).judge(asked(len(items), tmp_path)))
        book = endpoint.book()

    assert book["calls"] == dict.fromkeys(items, 3)
    for number, (fault, reply) in enumerate(zip(REPLIES, replies, strict=True)):
        told = book["last_words"][str(number)].replace("\\u003c", "<")
        assert outcomes(reply) == {Outcome.JUDGE_UNPARSABLE} and values(reply) == [None], fault
        assert f"could not be read: {reply.answers[0].reason}" in told, fault
        assert (reply.tokens_in, reply.tokens_out) == (300, 60), fault
        assert bool(reply.raw) == (fault not in {"empty", "null", "filtered"}), fault


def test_of_a_reply_that_stays_incomplete_only_what_is_missing_or_off_the_menu_has_no_answer(
    tmp_path: Path,
) -> None:
    partly = {"q1": "yes", "q2": 7, "q4": "it holds"}

    with serving(Script(items={"0": Item(answers=partly)}), tmp_path) as endpoint:
        (reply,) = HttpJudge(endpoint.config()).judge(asked(1, tmp_path, QUESTIONS))
        calls = endpoint.book()["calls"]

    lost = Outcome.JUDGE_UNPARSABLE
    assert calls == {"0": 3}
    assert [answer.outcome for answer in reply.answers] == [
        Outcome.SCORED,
        lost,
        lost,
        Outcome.SCORED,
    ]
    assert values(reply) == ["yes", None, None, "it holds"]


def test_nothing_is_taken_from_a_reply_with_keys_that_were_not_asked_for(tmp_path: Path) -> None:
    wrong = {"q1": "yes", "q2": 3, "q3": "shoe", "q5": "it holds"}

    with serving(Script(items={"0": Item(answers=wrong)}), tmp_path) as endpoint:
        (reply,) = HttpJudge(endpoint.config()).judge(asked(1, tmp_path, QUESTIONS))

    assert values(reply) == [None] * 4


def test_a_fault_on_the_way_that_stays_is_a_judge_error_and_never_a_score(tmp_path: Path) -> None:
    items = {str(number): Item((fault,) * 9) for number, fault in enumerate(TRANSPORT)}

    with serving(Script(items=items, silence=6.0), tmp_path) as endpoint:
        judge = HttpJudge(endpoint.config(tries=3, deadline=4.0, concurrency=16))
        replies = list(judge.judge(asked(len(items), tmp_path)))
        book = endpoint.book()

    assert book["calls"] == dict.fromkeys(items, 3)
    for fault, reply in zip(TRANSPORT, replies, strict=True):
        assert outcomes(reply) == {Outcome.JUDGE_ERROR} and values(reply) == [None], fault
        assert reply.answers[0].reason, fault


def test_three_bad_replies_in_a_row_are_unparsable_even_with_faults_of_the_way_between_them(
    tmp_path: Path,
) -> None:
    faults = ("500", "empty", "reset", "off menu", "page", "two objects", "500")

    with serving(Script(items={"0": Item(faults)}), tmp_path) as endpoint:
        (reply,) = HttpJudge(endpoint.config()).judge(asked(1, tmp_path))

    assert outcomes(reply) == {Outcome.JUDGE_UNPARSABLE}
    assert reply.answers[0].reason == "there is more than one JSON object; give exactly one"
    assert '"perhaps"' in reply.raw


def test_a_wrong_request_is_not_sent_again(tmp_path: Path) -> None:
    with serving(Script(), tmp_path) as endpoint:
        judge = HttpJudge(endpoint.config(base_url=f"http://127.0.0.1:{endpoint.port}/nowhere"))
        (reply,) = judge.judge(asked(1, tmp_path))

    assert outcomes(reply) == {Outcome.JUDGE_ERROR}
    assert reply.answers[0].reason.startswith("HTTP 404")
    assert judge.budget.spent.calls == 1


def test_an_endpoint_that_is_not_there_is_a_judge_error(tmp_path: Path) -> None:
    with serving(Script(), tmp_path) as endpoint:
        config = endpoint.config(tries=2)

    judge = HttpJudge(config)
    replies = list(judge.judge(asked(3, tmp_path)))

    assert [outcomes(reply) for reply in replies] == 3 * [{Outcome.JUDGE_ERROR}]
    assert replies[0].answers[0].reason == "the connection failed (ConnectError)"
    assert judge.budget.spent.tokens == 0


def test_retry_after_is_waited_for_by_everybody(tmp_path: Path) -> None:
    # Whichever request is ready first is refused once, so its order does not matter.
    refused_once = {name: Item(("429",)) for name in ("0", "1")}
    script = Script(items=refused_once, retry_after="1", latencies={"0": 0.0, "1": 0.0})

    with serving(script, tmp_path) as endpoint:
        judge = HttpJudge(endpoint.config(concurrency=1))
        replies = list(judge.judge(asked(2, tmp_path)))
        times = endpoint.book()["times"]

    assert all(outcomes(reply) == {Outcome.SCORED} for reply in replies)
    assert len(times) == 4
    assert times[1] - times[0] >= 1.0


def test_a_retry_after_beyond_our_patience_is_not_waited_for(tmp_path: Path) -> None:
    with serving(Script(items={"0": Item(("429",))}, retry_after="3600"), tmp_path) as endpoint:
        started = time.monotonic()
        (reply,) = HttpJudge(endpoint.config()).judge(asked(1, tmp_path))
        took = time.monotonic() - started

    assert outcomes(reply) == {Outcome.JUDGE_ERROR} and "429" in reply.answers[0].reason
    assert took < 60, "the endpoint asks for an hour"


def test_a_medium_that_cannot_be_read_costs_no_call(tmp_path: Path) -> None:
    broken, gone = tmp_path / "broken.png", tmp_path / "gone.png"
    broken.write_bytes(b"\x89PNG\r\n\x1a\n and nothing more")
    base = asked(3, tmp_path)
    requests = [replace(base[0], media=broken), replace(base[1], media=gone), base[2]]

    with serving(Script(), tmp_path) as endpoint:
        judge = HttpJudge(endpoint.config())
        replies = list(judge.judge(requests))

    assert [outcomes(reply) for reply in replies] == [
        {Outcome.JUDGE_ERROR},
        {Outcome.JUDGE_ERROR},
        {Outcome.SCORED},
    ]
    assert replies[1].answers[0].reason == "media: gone.png: No such file or directory"
    assert str(tmp_path) not in replies[0].answers[0].reason
    assert judge.budget.spent.calls == 1


def test_a_question_without_a_menu_stops_the_run_before_the_first_call(tmp_path: Path) -> None:
    request = asked(1, tmp_path, [YES_NO])[0]
    bad = replace(request, questions=(Question("a", "?", "choice"),))

    with serving(Script(), tmp_path) as endpoint:
        with pytest.raises(ValueError, match="at least two different options"):
            list(HttpJudge(endpoint.config()).judge([request, bad]))
        assert endpoint.book()["calls"] == {}
