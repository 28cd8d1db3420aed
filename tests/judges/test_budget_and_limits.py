"""What a run may spend and how fast it may go."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from evaluators.contracts import Outcome
from evaluators.judges.http.budget import Budget, Usage
from evaluators.judges.http.faults import Fault, refused, retry_after, wait_before
from evaluators.judges.http.judge import HttpJudge
from evaluators.judges.http.rate_limit import AdmittedCall, Pace
from tests.judges.endpoints import asked, serving
from tests.judges.server import Item, Script


@pytest.mark.parametrize(
    ("budget", "scored"),
    [
        (Budget(calls=37), 37),
        (Budget(calls=0), 0),
        (Budget(tokens=5000), None),
        (Budget(money=0.02), None),
    ],
)
def test_a_spent_budget_ends_the_run_cleanly(
    budget: Budget, scored: int | None, tmp_path: Path
) -> None:
    with serving(Script(latency=0.01), tmp_path) as endpoint:
        judge = HttpJudge(
            endpoint.config(concurrency=8, price_in=5, price_out=5, image_tokens=100), budget
        )
        replies = list(judge.judge(asked(100, tmp_path)))
        made = len(endpoint.book()["times"])

    done = [reply for reply in replies if reply.answers[0].outcome == Outcome.SCORED]
    rest = [reply for reply in replies if reply not in done]
    assert [reply.sample_id for reply in replies] == [f"s{n}" for n in range(100)]
    assert {(reply.answers[0].outcome, reply.answers[0].reason) for reply in rest} == {
        (Outcome.JUDGE_ERROR, "budget")
    }
    assert len(done) == made == budget.spent.calls
    assert scored in {None, made}
    assert (
        budget.spent.calls <= budget.calls
        and budget.spent.tokens <= budget.tokens
        and budget.spent.money <= budget.money
    )
    assert 0 < made < 100 or scored == 0


def test_a_budget_that_ends_between_two_tries_of_a_request_leaves_it_unjudged_with_its_words_kept(
    tmp_path: Path,
) -> None:
    with serving(Script(items={"0": Item(("off menu",))}), tmp_path) as endpoint:
        (reply,) = HttpJudge(endpoint.config(), Budget(calls=1)).judge(asked(1, tmp_path))

    assert (reply.answers[0].outcome, reply.answers[0].reason) == (Outcome.JUDGE_ERROR, "budget")
    assert "perhaps" in reply.raw and reply.tokens_in == 100


def test_a_budget_is_shared_by_runs(tmp_path: Path) -> None:
    budget = Budget(calls=15)

    with serving(Script(), tmp_path) as endpoint:
        runs = [
            list(HttpJudge(endpoint.config(), budget).judge(asked(10, tmp_path))) for _ in range(3)
        ]

    assert [sum(r.answers[0].outcome == Outcome.SCORED for r in run) for run in runs] == [10, 5, 0]


def test_what_may_have_been_billed_is_booked_in_full_and_what_was_turned_away_is_not(
    tmp_path: Path,
) -> None:
    items = {"0": Item(("silence",)), "1": Item(("500", "429"))}

    with serving(Script(items=items, silence=1.0), tmp_path) as endpoint:
        config = endpoint.config(deadline=0.4)
        first, second = HttpJudge(config), HttpJudge(config)
        (silent, busy) = asked(2, tmp_path)
        list(first.judge([silent]))
        list(second.judge([busy]))

    assert first.budget.spent.calls == 2 and first.budget.spent.tokens > 1000 + 120
    assert second.budget.spent == Usage(3, 120, 0.0)


def test_leave_is_a_wait_while_calls_in_flight_may_turn_out_cheap() -> None:
    budget = Budget(tokens=100)
    dear = Usage(1, 80)

    first, second = budget.ask(dear), budget.ask(dear)
    budget.settle(dear, Usage(1, 10))
    third = budget.ask(dear)
    budget.settle(dear, Usage(1, 75))

    assert (first, second, third) == ("go", "wait", "go")
    assert budget.ask(Usage(1, 20)) == "stop" and budget.exhausted
    assert budget.ask(Usage()) == "stop"


class Clock:
    """Time that passes only when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("seed", range(5))
def test_no_minute_sees_more_calls_or_tokens_than_allowed(seed: int) -> None:
    draw, clock = random.Random(seed), Clock()
    pace = Pace(rpm=30, tpm=10_000, clock=clock)
    made: list[tuple[float, int]] = []

    while len(made) < 300:
        tokens = draw.randint(1, 900)
        while isinstance(wait := pace.enter(tokens), float):
            clock.now += wait
        made.append((clock.now, tokens))
        clock.now += draw.choice([0, 0, 0.01, 2.0])

    for start, _ in made:
        inside = [tokens for at, tokens in made if start <= at < start + 60]
        assert len(inside) <= 30 and sum(inside) <= 10_000
    assert made[-1][0] - made[0][0] < 60 * (300 / 10)


def test_a_correction_makes_room_and_a_giant_goes_alone() -> None:
    clock = Clock()
    pace = Pace(tpm=1000, clock=clock)

    first = pace.enter(1000)
    full = pace.enter(1000)
    assert isinstance(first, AdmittedCall)
    pace.correct(first, 10)
    after = pace.enter(900)
    giant = pace.enter(5000)
    clock.now += 60

    assert full == 60.0 and isinstance(after, AdmittedCall) and giant == 60.0
    assert isinstance(pace.enter(5000), AdmittedCall)


def test_a_pause_holds_everybody_and_is_never_shortened() -> None:
    clock = Clock()
    pace = Pace(clock=clock)

    pace.pause(30)
    pace.pause(5)

    assert pace.enter(1) == 30.0


def test_retry_after_is_read_as_seconds_milliseconds_or_a_date() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=40), usegmt=True)

    assert retry_after({"retry-after": "2.5"}) == 2.5
    assert retry_after({"retry-after-ms": "1500", "retry-after": "9"}) == 1.5
    assert 35 < retry_after({"retry-after": date}) <= 40
    assert [retry_after({"retry-after": odd}) for odd in ("soon", "-5", "nan", "inf", "")] == [
        0,
        0,
        0,
        0,
        0,
    ]


def test_waits_grow_spread_out_and_never_fall_short_of_what_was_asked_for() -> None:
    busy = Fault("busy", after=7.0)

    for attempt in range(10):
        waits = [wait_before(attempt, Fault("x"), 0.5) for _ in range(50)]
        most = min(30.0, 0.5 * 2**attempt)
        assert most / 2 <= min(waits) < max(waits) <= most
    assert all(7.0 <= wait_before(3, busy, 0.5) <= 7.5 for _ in range(50))


def test_only_what_may_pass_is_tried_again() -> None:
    again = {status for status in range(400, 600) if refused(status, {}, "", "").again}

    assert again == {408, 409, 425, 429, *range(500, 600)}
