"""The judge behind an endpoint: order, concurrency, deadlines, accounting, memory, and a key that
nobody sees."""

from __future__ import annotations

import gc
import json
import logging
import os
import random
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evaluators.contracts import Judge, Outcome, Reply, Request
from evaluators.judges.card import fingerprint
from evaluators.judges.http.judge import HttpJudge, HttpJudgeConfig
from evaluators.judges.http.rate_limit import Pace
from evaluators.media import write_mp4
from tests.judges.endpoints import KEY, QUESTIONS, asked, serving, until
from tests.judges.misbehaviour import REPLIES, TRANSPORT
from tests.judges.server import Item, Script

CONFIG = HttpJudgeConfig("http://localhost:1/v1", "m", "r1", api_key=KEY)


def test_replies_come_in_the_order_of_the_requests_however_long_each_takes(tmp_path: Path) -> None:
    draw = random.Random(5)
    latencies = {str(n): draw.choice([0.0, 0.02, 0.1]) for n in range(120)}
    items = {str(n): Item(answers={"q1": draw.choice(["yes", "no"])}) for n in range(120)}

    with serving(Script(items=items, latencies=latencies), tmp_path) as endpoint:
        judge: Judge = HttpJudge(endpoint.config(concurrency=16))
        replies = list(judge.judge(asked(120, tmp_path)))

    assert [reply.sample_id for reply in replies] == [f"s{n}" for n in range(120)]
    assert [reply.answers[0].value for reply in replies] == [
        item.answers["q1"] for item in items.values()
    ]


def test_no_more_calls_are_under_way_than_allowed_and_all_lines_are_used(tmp_path: Path) -> None:
    with serving(Script(latency=1.0), tmp_path) as endpoint:
        list(HttpJudge(endpoint.config(concurrency=7)).judge(asked(14, tmp_path)))
        most = endpoint.book()["most_at_once"]

    assert most == 7


def test_calls_go_on_while_the_caller_works_but_only_a_window_of_them(tmp_path: Path) -> None:
    with serving(Script(), tmp_path) as endpoint:
        replies = HttpJudge(endpoint.config(concurrency=2)).judge(asked(100, tmp_path))
        next(replies)
        until(lambda: len(endpoint.book()["times"]) > 2)
        time.sleep(1.5)
        made = len(endpoint.book()["times"])
        replies.close()  # type: ignore[attr-defined]

    assert 2 < made <= 9


def test_a_caller_that_stops_early_leaves_no_thread_behind(tmp_path: Path) -> None:
    before = set(threading.enumerate())

    with serving(Script(latency=90.0, latencies={"0": 0.0}), tmp_path) as endpoint:
        started = time.monotonic()
        for _ in HttpJudge(endpoint.config(concurrency=4, deadline=120)).judge(asked(50, tmp_path)):
            break
        gc.collect()
        took = time.monotonic() - started
        left = _of_a_judge(set(threading.enumerate()) - before)

    assert took < 60, "it waited for calls that nobody wants"
    assert left == []


def _of_a_judge(threads: set[threading.Thread]) -> list[str]:
    """Those of a judge's loop and of its executors; other libraries start threads when they
    like."""
    ours = ("http-judge", "asyncio_", "ThreadPoolExecutor-", "_do_shutdown")
    return [thread.name for thread in threads if any(name in thread.name for name in ours)]


@pytest.mark.parametrize("fault", ["silence", "drip"])
def test_a_call_ends_at_its_deadline_even_if_bytes_keep_trickling_in(
    fault: str, tmp_path: Path
) -> None:
    with serving(Script(items={"0": Item((fault,) * 2)}, silence=30), tmp_path) as endpoint:
        started = time.monotonic()
        (reply,) = HttpJudge(endpoint.config(deadline=0.5, tries=2)).judge(asked(1, tmp_path))

        took = time.monotonic() - started

    assert reply.answers[0].reason == "no answer within 0.5 seconds"
    assert took < 20, "the endpoint is silent for 30 seconds"


def test_structured_output_is_asked_for_only_where_the_endpoint_offers_it(tmp_path: Path) -> None:
    answers = {"q1": "no", "q2": 4.5, "q3": "shoe", "q4": "it falls"}

    for structured in (False, True):
        script = Script(items={"0": Item(answers=answers)}, structured=structured)
        with serving(script, tmp_path) as endpoint:
            (reply,) = HttpJudge(endpoint.config(structured=structured)).judge(
                asked(1, tmp_path, QUESTIONS)
            )
            fields = endpoint.book()["fields"]["0"]

        assert [answer.value for answer in reply.answers] == ["no", "4.5", "shoe", "it falls"]
        assert ("response_format" in fields) == structured


def test_a_clip_goes_as_frames_by_the_rule_and_a_picture_as_one_png(tmp_path: Path) -> None:
    clip = write_mp4(np.zeros((12, 32, 32, 3), dtype=np.uint8), tmp_path / "clip.mp4", fps=8)
    still, moving = asked(2, tmp_path)

    with serving(Script(), tmp_path) as endpoint:
        judge = HttpJudge(endpoint.config(frames="uniform-5"))
        list(judge.judge([still, replace(moving, media=clip, modality="video")]))
        pictures = endpoint.book()["pictures"]

    assert [url.split(",")[0] for url in pictures["0"]] == ["data:image/png;base64"]
    assert [url.split(",")[0] for url in pictures["1"]] == 5 * ["data:image/jpeg;base64"]


def test_tokens_and_money_of_every_reply_are_counted_bad_ones_too(tmp_path: Path) -> None:
    with serving(Script(items={"0": Item(("off menu", "500"))}), tmp_path) as endpoint:
        judge = HttpJudge(endpoint.config(price_in=2.0, price_out=10.0))
        bad, good = judge.judge(asked(2, tmp_path))

    assert (bad.tokens_in, bad.tokens_out, good.tokens_in, good.tokens_out) == (200, 40, 100, 20)
    assert [bad.cost, good.cost] == pytest.approx([0.0008, 0.0004])
    assert (judge.budget.spent.calls, judge.budget.spent.tokens) == (4, 360)
    assert judge.budget.spent.money == pytest.approx(0.0012)


def test_the_endpoint_never_sees_more_calls_in_a_window_than_it_allows(tmp_path: Path) -> None:
    with serving(Script(), tmp_path) as endpoint:
        judge = HttpJudge(endpoint.config(concurrency=16), pace=Pace(rpm=20, window=1.0))
        started = time.monotonic()
        replies = list(judge.judge(asked(60, tmp_path)))
        times = sorted(endpoint.book()["times"])

    # A busy machine makes calls arrive late and closer together, and none of them early.
    assert times[20] >= started + 1.0 and times[40] >= started + 2.0
    assert len(replies) == len(times) == 60


def test_each_reply_is_handed_over_when_it_is_complete_not_when_its_turn_comes(
    tmp_path: Path,
) -> None:
    heard: list[str] = []

    def keep(request: Request, reply: Reply) -> None:
        assert request.sample_id == reply.sample_id
        heard.append(reply.sample_id)

    with serving(Script(latencies={"0": 4.0}), tmp_path) as endpoint:
        replies = list(HttpJudge(endpoint.config(), keep=keep).judge(asked(10, tmp_path)))

    assert sorted(heard) == sorted(reply.sample_id for reply in replies)
    assert heard[-1] == "s0" and replies[0].sample_id == "s0"


def test_the_judge_runs_again_and_from_two_threads_at_once(tmp_path: Path) -> None:
    found: dict[int, int] = {}

    with serving(Script(latency=0.01), tmp_path) as endpoint:
        judge = HttpJudge(endpoint.config())
        threads = [
            threading.Thread(
                target=lambda n=n: found.update({n: len(list(judge.judge(asked(20, tmp_path))))})
            )
            for n in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        again = len(list(judge.judge(asked(5, tmp_path))))

    assert found == {0: 20, 1: 20} and again == 5


def test_no_request_is_no_reply() -> None:
    assert list(HttpJudge(CONFIG).judge([])) == []


@pytest.mark.timeout(120)
def test_memory_stays_flat(tmp_path: Path) -> None:
    requests = asked(800, tmp_path)
    sizes: list[float] = []

    with serving(Script(), tmp_path) as endpoint:
        for number, _ in enumerate(HttpJudge(endpoint.config(concurrency=16)).judge(requests)):
            if number % 100 == 99:
                sizes.append(_megabytes())

    assert sizes[-1] - sizes[2] < 8, sizes


def test_the_key_reaches_the_endpoint_and_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    items = {str(n): Item((fault,) * 9) for n, fault in enumerate([*TRANSPORT, *REPLIES])}

    with serving(Script(items=items, silence=3.0), tmp_path) as endpoint:
        judge = HttpJudge(endpoint.config(tries=2, deadline=2.5, concurrency=8))
        replies = list(judge.judge(asked(len(items) + 1, tmp_path)))
        keys = endpoint.book()["keys"]
        shown = [
            repr(judge.config),
            str(judge.card),
            repr(judge.__dict__),
            repr(replies),
            caplog.text,
            *capfd.readouterr(),
        ]

    assert keys == [KEY]
    assert not any(KEY in text for text in shown)
    assert {
        outcome for reply in replies for outcome in {answer.outcome for answer in reply.answers}
    } == {
        Outcome.SCORED,
        Outcome.JUDGE_ERROR,
        Outcome.JUDGE_UNPARSABLE,
    }


def test_an_endpoint_that_quotes_the_key_in_its_error_does_not_get_it_into_a_reply(
    tmp_path: Path,
) -> None:
    with serving(Script(items={"0": Item(("401 with the key",))}), tmp_path) as endpoint:
        (reply,) = HttpJudge(endpoint.config()).judge(asked(1, tmp_path))

    assert reply.answers[0].outcome == Outcome.JUDGE_ERROR and "HTTP 401" in reply.answers[0].reason
    assert KEY not in repr(reply) and "[key]" in reply.raw


def test_the_card_changes_with_everything_that_can_change_a_verdict_and_not_with_the_key() -> None:
    same = [
        CONFIG,
        replace(CONFIG, api_key="another"),
        replace(CONFIG, concurrency=3, rpm=9, tpm=9, deadline=3, price_in=1),
    ]
    other = [
        replace(CONFIG, model="n"),
        replace(CONFIG, revision="r2"),
        replace(CONFIG, frames="first-8"),
        replace(CONFIG, temperature=0.7),
        replace(CONFIG, temperature=None),
        replace(CONFIG, max_tokens=9),
        replace(CONFIG, structured=True),
        replace(CONFIG, base_url="http://elsewhere/v1"),
    ]

    assert len({fingerprint(config.card) for config in same}) == 1
    assert len({fingerprint(config.card) for config in [CONFIG, *other]}) == 1 + len(other)
    assert KEY not in json.dumps(repr(CONFIG))


@pytest.mark.parametrize(
    "wrong",
    [
        {"base_url": "ftp://x"},
        {"base_url": "http://user:secret@x/v1"},
        {"model": ""},
        {"revision": ""},
        {"concurrency": 0},
        {"tries": 0},
        {"deadline": 0},
        {"frames": "some-8"},
        {"rules": "Judge."},
    ],
)
def test_settings_that_cannot_work_are_refused_without_showing_what_is_secret(
    wrong: dict[str, object],
) -> None:
    with pytest.raises(ValueError) as refused:
        replace(CONFIG, **wrong)  # type: ignore[arg-type]

    assert "secret" not in str(refused.value)


def _megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
