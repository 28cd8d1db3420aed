"""A judge behind an endpoint in the whole path: named in the settings, paid once a call, honest
when it fails."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from evaluators.judges.http.judge import HttpJudge
from flows.workers.reply_journal import judged
from infra.store import open_store
from tests.bundles import demo_samples, drawn_outputs
from tests.command import Machine
from tests.judges.endpoints import asked, serving
from tests.judges.server import Item, Script


def test_a_finished_call_is_not_made_again_after_a_kill(tmp_path: Path) -> None:
    requests = asked(12, tmp_path)
    keys = {request.sample_id: "asked" + request.sample_id for request in requests}
    store = open_store(str(tmp_path / "store"))

    with serving(Script(latency=0.02), tmp_path) as endpoint:
        first = judged(HttpJudge(endpoint.config(concurrency=2)), "fp", requests, keys, store)
        cut = [next(first) for _ in range(5)]
        first.close()
        time.sleep(0.2)
        again = list(judged(HttpJudge(endpoint.config()), "fp", requests, keys, store))
        calls = endpoint.book()["calls"]

    assert again[:5] == cut
    assert [record["sample_id"] for record in again] == [request.sample_id for request in requests]
    assert max(calls.values()) == 1 or sum(calls.values()) <= 12 + 2


def test_a_reply_that_was_no_answer_is_asked_for_again(tmp_path: Path) -> None:
    requests = asked(1, tmp_path)
    keys = {requests[0].sample_id: "asked"}
    store = open_store(str(tmp_path / "store"))
    bad = {"0": Item(answers={"q1": "perhaps"}), "1": Item(answers={"q1": "perhaps"})}

    with serving(Script(items=bad), tmp_path) as endpoint:
        failed = list(judged(HttpJudge(endpoint.config()), "fp", requests, keys, store))
    with serving(Script(), tmp_path) as endpoint:
        good = list(judged(HttpJudge(endpoint.config()), "fp", requests, keys, store))

    assert failed[0]["answers"][0]["outcome"] == "judge_unparsable"
    assert failed[0]["answers"][0]["value"] is None
    assert good[0]["answers"][0]["value"] == "yes"


@pytest.mark.xdist_group("embedded")
def test_an_endpoint_named_in_the_settings_judges_a_submission(tmp_path: Path) -> None:
    """The server gives q1 only; a TailOR request has many questions, so every reply is unusable:
    ours, not theirs."""
    assert len(demo_samples()[0].questions) > 1
    with serving(Script(), tmp_path) as endpoint:
        variables = {
            "ARMILLARY_JUDGE": "http:small@2026-11",
            "ARMILLARY_JUDGE_URL": endpoint.config().base_url,
            "ARMILLARY_JUDGE_KEY": "a-key-nobody-may-see",
        }
        machine = Machine(tmp_path / "home", variables)
        machine.run("init")
        submission = machine.submit(drawn_outputs(tmp_path / "bundle.zip"))
        said = machine.run("evaluate", submission, status=2)
        status = machine.run("status", submission)

    assert "E_JUDGE" in said and "our fault" in said
    assert "failed" in status
    assert "a-key-nobody-may-see" not in said + status
    for path in machine.home.rglob("*"):
        assert not path.is_file() or b"a-key-nobody-may-see" not in path.read_bytes()
