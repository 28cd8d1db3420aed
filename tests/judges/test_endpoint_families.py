"""Endpoints as they are: thinking eats the limit, fields and parts are refused, tokens run out by
the minute. Each answer is kept or asked for again, none is lost, doubled or made up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evaluators.contracts import Outcome, Request
from evaluators.judges.http.budget import Budget
from evaluators.judges.http.chat import HttpTalker
from evaluators.judges.http.judge import HttpJudge
from evaluators.judges.showing import MediaForm
from evaluators.media import write_mp4
from tests.judges.endpoints import KEY, asked, serving
from tests.judges.families import Family
from tests.judges.server import Item, Script


def clips(count: int, folder: Path) -> list[Request]:
    """Requests about a short clip."""
    levels = np.linspace(0, 240, 12, dtype=np.uint8)
    frames = np.tile(levels[:, None, None, None], (1, 32, 48, 3))
    media = write_mp4(frames, folder / "clip.mp4", fps=6)
    return [replace(request, media=media, modality="video") for request in asked(count, folder)]


def test_a_reply_that_thinking_cut_off_is_asked_for_with_more_room_until_it_fits(
    tmp_path: Path,
) -> None:
    script = Script(items={"1": Item(answers={"q1": "no"})}, family=Family(thinking=700))

    with serving(script, tmp_path) as endpoint:
        judge = HttpJudge(endpoint.config(max_tokens=200, room=5000, price_out=1e6))
        replies = list(judge.judge(asked(3, tmp_path)))
        book = endpoint.book()

    assert [reply.answers[0].value for reply in replies] == ["yes", "no", "yes"]
    assert book["limits"] == {str(n): [200, 400, 800] for n in range(3)}
    assert set(book["answered"].values()) == {1}
    assert [reply.tokens_out for reply in replies] == 3 * [200 + 400 + 720]
    assert judge.budget.spent.money == pytest.approx(3 * 1320)


def test_room_has_a_bound_behind_which_there_is_no_answer_and_no_score(tmp_path: Path) -> None:
    with serving(Script(family=Family(thinking=9000)), tmp_path) as endpoint:
        (reply,) = HttpJudge(endpoint.config(max_tokens=200, room=500)).judge(asked(1, tmp_path))
        limits = endpoint.book()["limits"]["0"]

    assert limits == [200, 400, 500, 500, 500]
    assert reply.answers[0].outcome == Outcome.JUDGE_UNPARSABLE
    assert reply.answers[0].value is None and "cut off" in reply.answers[0].reason


def test_a_judge_without_room_is_asked_within_its_limit_only(tmp_path: Path) -> None:
    with serving(Script(family=Family(thinking=700)), tmp_path) as endpoint:
        (reply,) = HttpJudge(endpoint.config(max_tokens=200)).judge(asked(1, tmp_path))
        limits = endpoint.book()["limits"]["0"]

    assert limits == 3 * [200]
    assert reply.answers[0].value is None


def test_more_room_is_held_within_the_budget(tmp_path: Path) -> None:
    with serving(Script(family=Family(thinking=700)), tmp_path) as endpoint:
        config = endpoint.config(max_tokens=200, room=5000, image_tokens=10)
        budget = Budget(tokens=3000)
        replies = list(HttpJudge(config, budget).judge(asked(6, tmp_path)))
        answered = sum(endpoint.book()["answered"].values())

    scored = [reply for reply in replies if reply.answers[0].outcome == Outcome.SCORED]
    assert budget.spent.tokens <= 3000 and budget.exhausted
    assert len(scored) == answered < 6 == len(replies)
    assert {r.answers[0].reason for r in replies if r not in scored} == {"budget"}


def test_an_agent_gets_more_room_too_and_pays_for_both_calls(tmp_path: Path) -> None:
    with serving(Script(family=Family(thinking=700)), tmp_path) as endpoint:
        talker = HttpTalker(endpoint.config(max_tokens=500, room=4000, price_out=1e6))
        content = [{"type": "text", "text": "item 0"}]
        said = talker.say([{"role": "user", "content": content}])  # type: ignore[dict-item]
        talker.close()
        limits = endpoint.book()["limits"]["0"]

    assert limits == [500, 1000]
    assert said.problem == "" and '"q1": "yes"' in said.text
    assert said.tokens_out == 500 + 720 and said.cost == pytest.approx(1220)


@pytest.mark.parametrize(
    ("refused", "settings", "advice"),
    [
        ("response_format", {"structured": True}, "schema = false"),
        ("temperature", {}, "temperature = 'default'"),
        ("max_tokens", {}, "limit_name"),
        ("reasoning_effort", {"effort": "low"}, "effort"),
        ("video_url", {"frames": "video"}, "frames = 'uniform-16'"),
    ],
)
def test_what_the_endpoint_refuses_is_no_score_and_the_reason_says_what_to_set(
    refused: str, settings: dict[str, object], advice: str, tmp_path: Path
) -> None:
    with serving(Script(family=Family(refuses=(refused,))), tmp_path) as endpoint:
        replies = list(HttpJudge(endpoint.config(**settings)).judge(clips(3, tmp_path)))
        calls = endpoint.book()["calls"]

    assert {reply.answers[0].outcome for reply in replies} == {Outcome.JUDGE_ERROR}
    assert all(advice in reply.answers[0].reason for reply in replies)
    assert set(calls.values()) == {1}


def test_a_family_that_takes_no_temperature_and_another_name_of_the_limit_is_served(
    tmp_path: Path,
) -> None:
    family = Family(thinking=300, refuses=("temperature", "max_tokens", "response_format"))

    with serving(Script(family=family), tmp_path) as endpoint:
        config = endpoint.config(
            temperature=None, limit_name="max_completion_tokens", effort="low", max_tokens=400
        )
        (reply,) = HttpJudge(config).judge(asked(1, tmp_path))
        body = endpoint.book()["bodies"]["0"]

    assert reply.answers[0].value == "yes"
    assert body == {"model": "m", "max_completion_tokens": 400, "reasoning_effort": "low"}


def test_tokens_a_minute_that_run_out_hold_calls_back_and_lose_none(tmp_path: Path) -> None:
    items = {str(n): Item(answers={"q1": "no" if n % 3 else "yes"}) for n in range(24)}
    family = Family(tokens=1000, window=0.5)

    with serving(Script(items=items, family=family), tmp_path) as endpoint:
        judge = HttpJudge(endpoint.config(concurrency=6))
        replies = list(judge.judge(asked(24, tmp_path)))
        book = endpoint.book()

    assert [r.answers[0].value for r in replies] == [i.answers["q1"] for i in items.values()]
    assert set(book["answered"].values()) == {1} and len(book["answered"]) == 24
    assert book["refused"]["429 Too Many Requests"] > 0
    assert judge.budget.spent.calls == 24 + book["refused"]["429 Too Many Requests"]


def test_a_judge_that_knows_the_tokens_a_minute_is_hardly_ever_turned_away(tmp_path: Path) -> None:
    with serving(Script(family=Family(tokens=12_000, window=1.0)), tmp_path) as endpoint:
        config = endpoint.config(concurrency=8, image_tokens=100, max_tokens=1000, tpm=9000)
        replies = list(HttpJudge(config).judge(asked(8, tmp_path)))
        refused = endpoint.book()["refused"]

    assert {reply.answers[0].value for reply in replies} == {"yes"}
    assert not refused


@pytest.mark.parametrize(("part", "holder"), [("video_url", "url"), ("file", "file_data")])
def test_a_clip_goes_as_one_video_with_its_rate(part: str, holder: str, tmp_path: Path) -> None:
    form = MediaForm("fit-1536", part)  # type: ignore[arg-type]

    with serving(Script(), tmp_path) as endpoint:
        config = endpoint.config(frames="video-2", form=form)
        (reply,) = HttpJudge(config).judge(clips(1, tmp_path))
        (sent,) = endpoint.book()["parts"]["0"]

    assert reply.answers[0].value == "yes"
    assert sent["type"] == part and sent["fps"] == 2.0
    assert sent[part][holder].startswith("data:video/mp4;base64,")


def test_headers_reach_the_endpoint_with_the_key_in_its_place_and_the_card_without(
    tmp_path: Path,
) -> None:
    headers = (("api-key", "${KEY}"), ("x-title", "board"))

    with serving(Script(), tmp_path) as endpoint:
        judge = HttpJudge(endpoint.config(headers=headers))
        (reply,) = judge.judge(asked(1, tmp_path))
        heads = endpoint.book()["heads"]

    assert reply.answers[0].value == "yes"
    assert f"api-key: {KEY}" in heads and "x-title: board" in heads
    assert '"api-key": "${KEY}"' in judge.card.decoding and KEY not in str(judge.card)
