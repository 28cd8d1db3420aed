"""Batch jobs: every answer is kept or asked again, none is lost, none is paid twice, and a killed
run finds its jobs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evaluators.contracts import Outcome
from evaluators.judges.batch import judge as batch_judge
from evaluators.judges.batch.jobs import BatchEndpoint, BatchJob
from evaluators.judges.batch.judge import BatchJudge
from evaluators.judges.card import fingerprint
from evaluators.judges.http.budget import Budget
from evaluators.judges.http.endpoint_file import read_endpoint
from evaluators.judges.http.judge import HttpJudge
from evaluators.judges.prompts import render
from flows.workers.judges import BATCH_SHARD, JudgeOptions, open_judge, requests_at_once
from flows.workers.reply_journal import judged
from infra.settings import Settings
from infra.store import Store, open_store
from tests.judges.batch_server import BatchServer, batch_serving
from tests.judges.endpoints import asked

FILE = """
model = "gpt-4o"
snapshot = "2024-11-20"
url = "http://127.0.0.1:9/v1"
batch = true
price_in = 1.25
"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(str(tmp_path / "store"))


def values(replies: Any) -> list[str | None]:
    return [reply.answers[0].value for reply in replies]


def answers(records: Any) -> list[str | None]:
    return [record["answers"][0]["value"] for record in records]


def test_all_requests_go_as_one_job_and_come_back_in_order(tmp_path: Path) -> None:
    with batch_serving(BatchServer()) as server:
        replies = list(BatchJudge(server.config()).judge(asked(30, tmp_path)))

    assert [reply.sample_id for reply in replies] == [f"s{n}" for n in range(30)]
    assert values(replies) == ["yes"] * 30
    assert (len(server.jobs), server.live.total()) == (1, 0)
    assert {reply.raw for reply in replies} == {'{"q1": "yes"}'}


def half_fails(item: int, turn: int) -> str:
    if turn:
        return "answered"
    return ("answered", "error", "missing", "cut off", "nonsense")[item % 5]


def test_what_a_job_that_half_fails_did_not_bring_is_asked_again_and_nothing_else(
    tmp_path: Path,
) -> None:
    with batch_serving(BatchServer(half_fails)) as server:
        replies = list(BatchJudge(server.config(room=400)).judge(asked(50, tmp_path)))

    assert values(replies) == ["yes"] * 50
    assert {server.answered[item] for item in range(50)} == {1}
    assert {server.put_in[item] for item in range(0, 50, 5)} == {1}
    assert {server.put_in[item] for item in range(50) if item % 5} == {2}
    assert server.limits[3] == [100, 200] and server.limits[1] == [100, 100]
    assert server.live.total() == 0


@pytest.mark.parametrize("ends", ["expired", "failed", "cancelled"])
def test_a_job_that_ends_early_keeps_what_it_finished(ends: str, tmp_path: Path) -> None:
    def fate(item: int, _turn: int) -> str:
        return "answered" if item < 4 else "missing"

    with batch_serving(BatchServer(fate, ends=ends)) as server:
        replies = list(BatchJudge(server.config()).judge(asked(6, tmp_path)))

    assert values(replies) == ["yes"] * 6
    assert [server.put_in[item] for item in range(6)] == [1, 1, 1, 1, 3, 3]
    assert dict(server.live) == {4: 1, 5: 1}


def test_nonsense_from_jobs_and_calls_never_becomes_a_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.judges.batch_server.completion", lambda _: _nonsense())
    with batch_serving(BatchServer()) as server:
        (reply,) = BatchJudge(server.config()).judge(asked(1, tmp_path))

    assert reply.answers[0].outcome == Outcome.JUDGE_UNPARSABLE
    assert reply.answers[0].value is None


def _nonsense() -> dict[str, Any]:
    choice = {"message": {"content": "It may be yes."}, "finish_reason": "stop"}
    return {"choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}


def test_a_killed_run_finds_its_job_and_pays_for_nothing_twice(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests, keys = asked(10, tmp_path), _keys(10)

    def killed(_self: BatchEndpoint, _job: BatchJob) -> Iterator[Any]:
        raise KeyboardInterrupt

    with batch_serving(BatchServer()) as server:
        judge = BatchJudge(server.config())
        with monkeypatch.context() as dying:
            dying.setattr(BatchEndpoint, "results", killed)
            with pytest.raises(KeyboardInterrupt):
                list(judged(judge, "fp", requests, keys, store))
        left = [entry.key for entry in store.list("batches/fp/")]
        again = list(judged(judge, "fp", requests[::-1], keys, store))
        third = list(judged(judge, "fp", requests, keys, store))

    assert len(left) == 1
    assert answers(again) == answers(third) == ["yes"] * 10
    assert (len(server.jobs), max(server.put_in.values())) == (1, 1)
    assert not list(store.list("batches/fp/"))


def test_a_kill_before_the_job_was_written_down_finds_it_at_the_endpoint(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests, keys = asked(4, tmp_path), _keys(4)

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    with batch_serving(BatchServer()) as server:
        judge = BatchJudge(server.config())
        with monkeypatch.context() as dying:
            dying.setattr("flows.workers.reply_journal.StoredJobs.note", killed)
            with pytest.raises(KeyboardInterrupt):
                list(judged(judge, "fp", requests, keys, store))
        again = list(judged(judge, "fp", requests, keys, store))

    assert answers(again) == ["yes"] * 4
    assert (len(server.jobs), max(server.put_in.values())) == (1, 1)


def test_a_job_and_calls_share_one_journal_because_they_are_one_judge(
    tmp_path: Path, store: Store
) -> None:
    requests, keys = asked(6, tmp_path), _keys(6)
    with batch_serving(BatchServer()) as server:
        batch = BatchJudge(server.config())
        calls = HttpJudge(server.config(batch=False))
        list(judged(calls, "fp", requests[:3], keys, store))
        records = list(judged(batch, "fp", requests, keys, store))

    assert fingerprint(batch.card) == fingerprint(calls.card)
    assert answers(records) == ["yes"] * 6
    assert sorted(server.put_in) == [3, 4, 5] and sorted(server.live) == [0, 1, 2]


def test_large_batches_are_several_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_judge, "MOST_CALLS", 4)

    with batch_serving(BatchServer()) as server:
        replies = list(BatchJudge(server.config()).judge(asked(10, tmp_path)))

    assert values(replies) == ["yes"] * 10
    assert (len(server.jobs), max(server.put_in.values())) == (3, 1)


def test_the_money_is_held_for_calls_in_a_job_and_booked_at_its_end(tmp_path: Path) -> None:
    price = 1e6 / 120
    with batch_serving(BatchServer()) as server:
        config = server.config(price_in=price, price_out=price)
        requests = asked(6, tmp_path)
        most = config.most(render(requests[0], config.frames, structured=False), 100).money
        budget = Budget(money=most + 1.5)
        replies = list(BatchJudge(config, budget).judge(requests))

    assert budget.spent.money == 2.0
    told = [(reply.answers[0].value, reply.answers[0].reason) for reply in replies]
    assert told == [("yes", "")] * 2 + [(None, "budget")] * 4


def test_an_endpoint_without_jobs_says_what_to_set(tmp_path: Path) -> None:
    with batch_serving(BatchServer(takes_jobs=False)) as server:
        (reply,) = BatchJudge(server.config()).judge(asked(1, tmp_path))

    assert reply.answers[0].outcome == Outcome.JUDGE_ERROR
    assert "set batch = false" in reply.answers[0].reason
    assert server.live.total() == 0


def test_a_job_that_never_ends_is_given_up_in_words(tmp_path: Path) -> None:
    with batch_serving(BatchServer(looks=10**6)) as server:
        config = server.config(batch_hours=0.2 / 3600)
        (reply,) = BatchJudge(config).judge(asked(1, tmp_path))

    assert "has not ended within" in reply.answers[0].reason


def test_a_file_names_a_batch_judge_whose_shards_are_large(tmp_path: Path) -> None:
    file = tmp_path / "judge.toml"
    file.write_text(FILE)
    settings = Settings(judge=f"http:{file}")

    judge = open_judge(settings.judge, "cpu", JudgeOptions.of(settings))

    assert isinstance(judge, BatchJudge)
    assert judge.card.note.startswith("Asked with batch jobs, ")
    live = read_endpoint(FILE.replace("batch = true", ""), "", "")
    assert fingerprint(live.card) == fingerprint(judge.card)
    assert requests_at_once(settings, 100) == BATCH_SHARD
    assert requests_at_once(Settings(judge="scripted"), 100) == 100
    assert replace(live, batch=True).card == live.card


def _keys(count: int) -> dict[str, str]:
    return {f"s{n}": f"asked{n}" for n in range(count)}
