"""Panels: one answer of several, and no answer where a silent judge could have decided."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from evaluators.contracts import Answer, Outcome, Question, Reply, Request
from evaluators.judges.card import fingerprint
from evaluators.judges.http.judge import HttpJudge
from evaluators.judges.panel import PanelJudge, PanelRule, read_panel, split_of, together
from evaluators.judges.scripted import ScriptedJudge
from flows.workers.judges import JudgeOptions, UnknownJudge, check_judge, open_judge
from flows.workers.reply_journal import judged
from infra.settings import Settings
from infra.store import open_store
from tests.judges.endpoints import YES_NO, asked, serving
from tests.judges.server import Item, Script

CLOSED = Question("held", "Is it held?", "yes_no", options=("yes", "no", "unclear"))
PLAIN = Question("done", "Is it done?", "yes_no", options=("1", "0"))
RATING = Question("real", "How real?", "rating", low=0, high=5)
CHOICE = Question("what", "Which?", "choice", options=("walk", "jump", "turn"))


def ruled(question: Question, *values: str | None, rule: PanelRule = "majority") -> Answer:
    request = Request("s", Path("none"), "0" * 64, "image", "a cup", (question,))
    replies = [
        Reply("s", (Answer(question.id, _outcome(value), value, "" if value else "HTTP 500"),))
        for value in values
    ]
    return together(request, replies, rule).answers[0]


def _outcome(value: str | None) -> Outcome:
    return Outcome.SCORED if value else Outcome.JUDGE_ERROR


def test_the_majority_decides_and_a_tie_is_unclear_or_as_the_first_judge_says() -> None:
    assert ruled(CLOSED, "yes", "no", "no").value == "no"
    assert ruled(CLOSED, "yes", "no", "unclear").value == "unclear"
    assert ruled(CHOICE, "turn", "jump", "walk").value == "turn"
    assert ruled(CLOSED, "yes", "yes", "no", "no", "unclear").value == "unclear"
    assert ruled(CHOICE, "walk", "jump", "jump", "turn", "turn").value == "jump"


def test_ratings_are_the_middle_one_or_the_mean() -> None:
    assert ruled(RATING, "1", "4.5", "2").value == "2"
    assert ruled(RATING, "1", "4.5", "2", rule="mean").value == "2.5"


def test_a_judge_without_an_answer_matters_only_where_it_could_have_decided() -> None:
    decided, open_ = ruled(PLAIN, "1", None, "1"), ruled(PLAIN, "1", None, "0")

    assert (decided.outcome, decided.value) == (Outcome.SCORED, "1")
    assert (open_.outcome, open_.value) == (Outcome.JUDGE_ERROR, None)
    assert "HTTP 500" in open_.reason
    assert ruled(RATING, "3", None, "3").value is None


def test_every_vote_and_every_word_is_kept_and_the_split_is_read_from_them() -> None:
    request = Request("s", Path("none"), "0" * 64, "image", "a cup", (CLOSED, PLAIN))
    words = [("yes", "1"), ("no", "1"), ("yes", "1")]
    replies = [
        Reply("s", (_said(CLOSED, held), _said(PLAIN, done)), f"I say {held}", 10, 2, 0.5)
        for held, done in words
    ]

    reply = together(request, replies, "majority")

    raw = json.loads(reply.raw)
    assert raw["votes"] == {"held": ["yes", "no", "yes"], "done": ["1", "1", "1"]}
    assert raw["raw"] == ["I say yes", "I say no", "I say yes"]
    assert (reply.tokens_in, reply.tokens_out, reply.cost) == (30, 6, 1.5)
    assert (split_of(reply.raw).questions, split_of(reply.raw).split) == (2, 1)
    assert split_of("no JSON").questions == split_of("[1]").questions == 0


def test_another_member_order_or_rule_is_another_judge() -> None:
    first, second, third, fourth = (ScriptedJudge(name=name) for name in "abcd")
    panel = PanelJudge((first, second, third))

    prints = {
        fingerprint(other.card)
        for other in (
            panel,
            PanelJudge((first, second, fourth)),
            PanelJudge((second, first, third)),
            replace(panel, rule="mean"),
        )
    }

    assert len(prints) == 4
    assert fingerprint(panel.card) == fingerprint(PanelJudge((first, second, third)).card)


def test_each_member_is_paid_once_whether_it_judges_alone_or_in_a_panel(tmp_path: Path) -> None:
    requests = asked(4, tmp_path, [YES_NO])
    keys = {request.sample_id: "asked" + request.sample_id for request in requests}
    store = open_store(str(tmp_path / "store"))
    with serving(Script(), tmp_path) as endpoint:
        members = tuple(
            HttpJudge(replace(endpoint.config(), model=f"model-{name}")) for name in "abc"
        )
        panel, alone = PanelJudge(members), fingerprint(members[0].card)
        list(judged(members[0], alone, requests, keys, store))
        first = list(judged(panel, fingerprint(panel.card), requests, keys, store))
        again = list(judged(panel, fingerprint(panel.card), requests, keys, store))
        tonight = list(judged(panel, fingerprint(panel.card) + "-night", requests, keys, store))
        calls = sum(endpoint.book()["calls"].values())

    assert [row["answers"][0]["value"] for row in first] == ["yes"] * 4
    assert first == again and len(tonight) == 4
    assert calls == 4 + 2 * 4 + 3 * 4


def test_a_member_that_fails_spoils_no_answer_that_the_others_decide(tmp_path: Path) -> None:
    requests = asked(2, tmp_path, [YES_NO])
    bad = {"0": Item(("500",) * 9), "1": Item(("500",) * 9)}
    with serving(Script(items=bad), tmp_path) as broken, serving(Script(), tmp_path) as good:
        members = (
            HttpJudge(replace(broken.config(), tries=1)),
            HttpJudge(good.config()),
            ScriptedJudge(lambda *_: "yes"),
        )
        replies = list(PanelJudge(members).judge(requests))

    assert [reply.answers[0].value for reply in replies] == ["yes", "yes"]
    assert [split_of(reply.raw).questions for reply in replies] == [0, 0]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("judges = [", "no TOML"),
        ("judges = ['scripted']", "judges"),
        ("judges = ['http:a@1', 'http:b@1', 'http:c@1', 'http:d@1']", "odd number"),
        ("judges = ['scripted', 'scripted', 'scripted']", "each once"),
        ("judges = ['a', 'b', 'c']\nrule = 'loudest'", "rule"),
        ("judges = ['a', 'b', 'c']\nvoices = 3", "voices"),
    ],
)
def test_a_file_that_is_no_panel_says_why(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read_panel(text)


def test_a_panel_is_named_by_its_file_and_checked_before_anything_runs(tmp_path: Path) -> None:
    file = tmp_path / "panel.toml"
    file.write_text("judges = ['http:a@1', 'http:b@1', 'scripted']\nrule = 'mean'")
    check_judge(f"panel:{file}")
    settings = Settings(judge_url="http://127.0.0.1:9/v1", judge_budget=9.0)

    panel = open_judge(f"panel:{file}", "cpu", JudgeOptions.of(settings))

    assert isinstance(panel, PanelJudge) and panel.rule == "mean"
    assert isinstance(panel.members[0], HttpJudge) and panel.members[0].budget.money == 3.0
    for text, problem in (
        ("judges = ['http:a@1', 'nobody', 'scripted']", "There is no judge 'nobody'"),
        (f"judges = ['panel:{file}', 'http:b@1', 'scripted']", "names another panel"),
    ):
        (tmp_path / "bad.toml").write_text(text)
        with pytest.raises(UnknownJudge, match=problem):
            check_judge(f"panel:{tmp_path / 'bad.toml'}")
    with pytest.raises(UnknownJudge, match="cannot be read"):
        check_judge(f"panel:{tmp_path / 'none.toml'}")


def _said(question: Question, value: str) -> Answer:
    return Answer(question.id, Outcome.SCORED, value)
