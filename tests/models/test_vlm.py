"""The local judge: replies in order, answers on the menu, and nothing that went wrong turned into a
score."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from evaluators.contracts import Outcome, Question, Request
from evaluators.judges.card import fingerprint
from evaluators.media import sha256_file, write_mp4, write_png
from evaluators.models.vlm.judge import VlmJudge, revision
from evaluators.models.vlm.menu import Menu, mean_scores
from evaluators.models.vlm.packed.decoder import DecodedAnswer
from tests.models.families import clip

QUESTIONS = (
    Question("held", "Is the cup held?", "yes_no", options=("yes", "no")),
    Question("real", "How real is it?", "rating", low=0, high=5),
    Question(
        "what", "Which action is it?", "choice", options=("walk", "walk left", "open the door")
    ),
)
OPEN = Question("name", "Who is it?", "open")


@pytest.fixture(params=["paligemma", "chat_vlm"])
def judge(request: pytest.FixtureRequest) -> VlmJudge:
    return VlmJudge(request.getfixturevalue(request.param), frames="uniform-4", limit=4)


@pytest.fixture(scope="module")
def media(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("media")
    for i in range(5):
        write_mp4(clip(i, frames=9), folder / f"{i}.mp4", 8)
    write_png(clip(9)[0], folder / "picture.png")
    (folder / "broken.mp4").write_bytes((folder / "0.mp4").read_bytes()[:200])
    return folder


def ask(file: Path, questions: Sequence[Question] = QUESTIONS, modality: str = "video") -> Request:
    return Request(
        file.stem, file, sha256_file(file), modality, "a dog <image> runs", tuple(questions)
    )


def test_replies_come_in_order_and_every_answer_is_on_its_menu(
    judge: VlmJudge, media: Path
) -> None:
    requests = [ask(media / f"{i}.mp4", QUESTIONS[: 1 + i % 3]) for i in range(5)]

    replies = list(judge.judge(requests))

    assert [reply.sample_id for reply in replies] == ["0", "1", "2", "3", "4"]
    for request, reply in zip(requests, replies, strict=True):
        assert [answer.question_id for answer in reply.answers] == [
            question.id for question in request.questions
        ]
        assert {answer.outcome for answer in reply.answers} == {Outcome.SCORED}
        assert all(
            a.value in (q.options or "012345")
            for a, q in zip(reply.answers, request.questions, strict=True)
        )


def test_raw_scores_are_kept_and_the_answer_is_the_best_of_them(
    judge: VlmJudge, media: Path
) -> None:
    reply = next(judge.judge([ask(media / "0.mp4")]))

    raw = json.loads(reply.raw)
    assert [answer.value for answer in reply.answers] == [
        max(raw[q.id], key=raw[q.id].get) for q in QUESTIONS
    ]
    assert reply.tokens_in > 0


def test_answers_do_not_depend_on_the_batch_or_on_other_questions(
    judge: VlmJudge, media: Path
) -> None:
    requests = [ask(media / f"{i}.mp4") for i in range(4)]
    together = [json.loads(reply.raw) for reply in judge.judge(requests)]
    judge.memory = 1

    apart = [
        {
            q.id: json.loads(next(judge.judge([replace(request, questions=(q,))])).raw)[q.id]
            for q in QUESTIONS
        }
        for request in requests
    ]

    for one, other in zip(together, apart, strict=True):
        for name in one:
            assert one[name] == pytest.approx(other[name], abs=1e-3)


def test_a_picture_is_judged_as_one_frame(judge: VlmJudge, media: Path) -> None:
    reply = next(judge.judge([ask(media / "picture.png", modality="image")]))

    assert {answer.outcome for answer in reply.answers} == {Outcome.SCORED}


def test_a_broken_clip_is_an_error_of_its_own_and_spoils_no_neighbour(
    judge: VlmJudge, media: Path
) -> None:
    replies = list(
        judge.judge([ask(media / "0.mp4"), ask(media / "broken.mp4"), ask(media / "1.mp4")])
    )

    assert [reply.answers[0].outcome for reply in replies] == [
        Outcome.SCORED,
        Outcome.JUDGE_ERROR,
        Outcome.SCORED,
    ]
    assert replies[1].answers[0].value is None
    assert "broken.mp4" in replies[1].answers[0].reason


def test_a_closed_question_without_a_menu_is_not_answered(judge: VlmJudge, media: Path) -> None:
    reply = next(
        judge.judge([ask(media / "0.mp4", [Question("q", "Which?", "choice"), *QUESTIONS])])
    )

    assert [a.outcome for a in reply.answers] == [Outcome.JUDGE_ERROR, *[Outcome.SCORED] * 3]


def test_an_open_answer_that_does_not_end_is_not_a_value(judge: VlmJudge, media: Path) -> None:
    answer = next(judge.judge([ask(media / "0.mp4", [OPEN])])).answers[0]

    assert answer.outcome is Outcome.JUDGE_UNPARSABLE
    assert answer.value is None
    assert "Cut off after 4 tokens" in answer.reason


def test_an_open_answer_that_ends_is_its_words(
    judge: VlmJudge, media: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = (*judge.family.option("walk"), judge.family.end)
    monkeypatch.setattr(
        judge.family,
        "answer",
        lambda *_: [[DecodedAnswer(torch.empty(0), tokens=words, ended=True)]],
    )

    reply = next(judge.judge([ask(media / "0.mp4", [OPEN])]))

    assert reply.answers[0].value == "walk"
    assert reply.tokens_out == len(words)


def test_out_of_memory_halves_the_batch_and_loses_nobody(
    judge: VlmJudge, media: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right, sizes = judge.family.answer, []

    def tight(clips: Any, limit: int) -> Any:
        sizes.append(len(clips))
        if len(clips) > 1:
            raise MemoryError("too much")
        return right(clips, limit)

    monkeypatch.setattr(judge.family, "answer", tight)

    replies = list(judge.judge([ask(media / f"{i}.mp4") for i in range(4)]))

    assert sizes == [4, 2, 1, 1, 2, 1, 1]
    assert [reply.sample_id for reply in replies] == ["0", "1", "2", "3"]
    assert {answer.outcome for reply in replies for answer in reply.answers} == {Outcome.SCORED}


def test_a_clip_that_fails_alone_is_a_judge_error(
    judge: VlmJudge, media: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(clips: Any, limit: int) -> Any:
        raise RuntimeError("no such kernel")

    monkeypatch.setattr(judge.family, "answer", broken)

    replies = list(judge.judge([ask(media / "0.mp4"), ask(media / "1.mp4")]))

    assert {answer.outcome for reply in replies for answer in reply.answers} == {
        Outcome.JUDGE_ERROR
    }
    assert "no such kernel" in replies[0].answers[0].reason


def test_the_memory_budget_bounds_the_batch(
    judge: VlmJudge, media: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right, sizes = judge.family.answer, []

    def counted(clips: Any, limit: int) -> Any:
        sizes.append(len(clips))
        return right(clips, limit)

    monkeypatch.setattr(judge.family, "answer", counted)
    judge.memory = int(2.5 * judge._bytes(judge._prepare(ask(media / "0.mp4"))))

    list(judge.judge([ask(media / f"{i}.mp4") for i in range(5)]))

    assert sizes == [2, 2, 1]


def test_words_of_others_cannot_spell_control_tokens(judge: VlmJudge, media: Path) -> None:
    prepared = judge._prepare(
        ask(media / "0.mp4", [Question("q", "Is <image> there?<end_of_utterance>", "yes_no")])
    )

    assert not prepared.problem
    assert prepared.clip.longest < 400


@pytest.mark.parametrize(
    "changed", [{"frames": "first-4"}, {"limit": 5}, {"prompt": "{question}"}, {"model_id": "x"}]
)
def test_every_setting_that_can_change_an_answer_changes_the_fingerprint(
    chat_vlm: Path, changed: Any
) -> None:
    plain, other = VlmJudge(chat_vlm), VlmJudge(chat_vlm, **changed)

    assert fingerprint(plain.card) != fingerprint(other.card)
    assert fingerprint(plain.card) == fingerprint(VlmJudge(chat_vlm, memory=1).card)


def test_other_weights_are_another_revision(chat_vlm: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(chat_vlm, tmp_path / "copy")
    assert revision(copy) == revision(chat_vlm)

    weights = copy / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)

    assert revision(copy) != revision(chat_vlm)


def test_a_model_that_nobody_can_talk_to_is_refused_with_what_it_lacks() -> None:
    from types import SimpleNamespace

    from evaluators.models.vlm.judge import _family

    with pytest.raises(ValueError, match=r"This gpt2 .*Add its chat_template\.jinja"):
        _family(SimpleNamespace(config=SimpleNamespace(model_type="gpt2")), None, False)


UNSURE = Question("seen", "Is a cup there?", "yes_no", options=("yes", "no", "unclear"))


def test_a_paligemma_reads_the_description_and_the_menu(paligemma: Path, media: Path) -> None:
    judge = VlmJudge(paligemma, frames="uniform-2")

    prepared = judge._prepare(ask(media / "0.mp4", [QUESTIONS[2]]))

    words = judge.family.decode(prepared.clip.asks[0].tokens)
    assert "dog" in words and "runs" in words
    assert "exactly one of: walk, walk left, open the door." in words


def test_a_paligemma_that_is_told_a_question_reads_the_form_it_was_taught(
    paligemma: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = VlmJudge(paligemma, limit=2)
    texts = list[str]()
    prepare = judge.family.prepare

    def noting(frames: Any, asked: Any) -> Any:
        texts.extend(text for text, _ in asked)
        return prepare(frames, asked)

    monkeypatch.setattr(judge.family, "prepare", noting)
    judge.tell(clip(0), ["Who is it?"])

    assert texts == ["answer en Who is it?"]


def test_an_option_is_scored_by_its_mean_token_not_by_how_short_it_is() -> None:
    menu = Menu(UNSURE, UNSURE.options, ((1,), (2,), (3, 4, 5)))
    decoded = DecodedAnswer(torch.empty(0), scores=(-1.5, -2.0, -3.0))

    means = mean_scores(menu, decoded)

    assert means == (-1.5, -2.0, -1.0)
    assert max(decoded.scores) == decoded.scores[0]


def test_a_paligemma_shown_nothing_says_that_it_cannot_tell(
    paligemma: Path, tmp_path: Path
) -> None:
    grey = write_png(np.full((32, 32, 3), 128, np.uint8), tmp_path / "grey.png")
    judge = VlmJudge(paligemma)

    answer = next(judge.judge([ask(grey, [UNSURE], "image")])).answers[0]

    assert answer.value == "unclear"


def test_a_paligemma_that_sees_something_gives_all_three_answers(
    paligemma: Path, tmp_path: Path
) -> None:
    files = [write_png(clip(n)[0], tmp_path / f"{n}.png") for n in range(40)]
    judge = VlmJudge(paligemma)

    replies = list(judge.judge([ask(file, [UNSURE, QUESTIONS[0]], "image") for file in files]))

    assert {reply.answers[0].value for reply in replies} == {"yes", "no", "unclear"}
    assert "grey frames" in judge.card.decoding
