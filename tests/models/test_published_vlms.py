"""Vision-language models as their authors publish them: taken at the door, loaded with their own
processor, and each answer the one that a plain pass over the same words and pictures gives."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch

from evaluators.contracts import CannotProduce, Outcome, Question, Request
from evaluators.judges.card import fingerprint
from evaluators.media import Pixels, sha256_file, write_mp4
from evaluators.models.vlm.chat import ChatFamily
from evaluators.models.vlm.judge import VlmJudge
from evaluators.models.vlm.packed import decoder
from evaluators.models.vlm.packed.packing import Tables, visible
from evaluators.models.vlm.single import SingleFamily
from evaluators.models.vlm.talk import LocalTalker
from submissions.model_files.model_folder import DeclaredModel
from tests.models.families import clip
from tests.models.published_vlms import FAMILIES, make_published
from tests.submissions.published.folders import problems_of, read, refusals

NEEDS_TORCHVISION = ("mistral3",)
"""Their processors are not exported without it."""
READ = [name for name in FAMILIES if name not in NEEDS_TORCHVISION]
ALONE = ("qwen3_5", "idefics2", "mllama")
"""Recurrent layers; a window of 4,096 tokens, which four tokens a frame do not fill; and pictures
that are no tokens."""
SHARED = [name for name in READ if name not in ALONE]
QUESTION = Question("held", "Is the cup held?", "choice", options=("yes", "no", "walk left"))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("published")


def opened(name: str, folders: Path) -> VlmJudge:
    folder = folders / name
    if not folder.is_dir():
        make_published(name, folder)
    return VlmJudge(folder, frames="uniform-2", limit=5)


def scores(judge: VlmJudge, frames: Pixels, question: str = "Is it red?") -> tuple[float, ...]:
    menu = tuple(judge.family.option(option) for option in QUESTION.options)
    family: Any = judge.family
    with torch.inference_mode():
        asked = family.prepare(frames, [(question, menu)])
        return tuple(family.answer([asked], 5)[0][0].scores)


def plain_score(family: SingleFamily, frames: Pixels, question: str, option: str) -> float:
    """One pass over question and option together, without any cache."""
    inputs = family.format.inputs(frames, family.text(len(frames), question))
    said = torch.tensor([family.option(option)])
    asked = inputs["input_ids"].shape[1]
    whole = dict(inputs) | {"input_ids": torch.cat([inputs["input_ids"], said], 1)}
    for name in ("attention_mask", "token_type_ids", "mm_token_type_ids"):
        if name in whole:
            fill = torch.full_like(said, 1 if name == "attention_mask" else 0)
            whole[name] = torch.cat([whole[name], fill], 1)
    if "cross_attention_mask" in whole:
        seen = whole["cross_attention_mask"]
        whole["cross_attention_mask"] = torch.cat(
            [seen, seen[:, -1:].expand(-1, said.shape[1], -1, -1)], 1
        )
    with torch.inference_mode():
        logits = torch.log_softmax(family.model(**whole).logits[0].float(), -1)
    return sum(float(logits[asked - 1 + i, token]) for i, token in enumerate(said[0].tolist()))


@pytest.mark.parametrize("name", READ)
def test_a_judge_as_published_is_taken_and_sees_the_frames(name: str, folders: Path) -> None:
    judge = opened(name, folders)

    problems = problems_of(read(folders / name), DeclaredModel())

    assert refusals(problems) == []
    assert scores(judge, clip(0, frames=2)) != scores(judge, clip(1, frames=2))
    assert scores(judge, clip(0, frames=2)) != scores(judge, clip(0, frames=2)[::-1])


@pytest.mark.parametrize("name", READ)
def test_options_score_as_in_one_plain_pass(name: str, folders: Path) -> None:
    judge, frames = opened(name, folders), clip(2, frames=2)
    alone = SingleFamily(judge.family.model, judge.family.processor)

    by_menu = scores(judge, frames)

    plain = [plain_score(alone, frames, "Is it red?", option) for option in QUESTION.options]
    assert by_menu == pytest.approx(plain, abs=2e-3)


@pytest.mark.parametrize("name", READ)
def test_the_proof_at_loading_chooses_how_a_class_is_asked(name: str, folders: Path) -> None:
    judge = opened(name, folders)

    shares = isinstance(judge.family, ChatFamily)
    assert shares == (name in SHARED)
    assert ("a pass of its own" in judge.card.decoding) != shares
    assert judge.card.note.startswith("Questions share no prefix: ") != shares


@pytest.mark.parametrize("name", ["qwen3_vl", "gemma3", "internvl", "llava_onevision"])
def test_a_mask_that_leaks_is_found_when_the_model_is_loaded(
    name: str, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = opened(name, folders)

    def leaking(tables: Tables, *rest: Any) -> Any:
        return visible(Tables(torch.ones_like(tables.sees), tables.both_ways), *rest)

    monkeypatch.setattr(decoder, "visible", leaking)

    lone = opened(name, folders)

    assert isinstance(lone.family, SingleFamily)
    assert "apart" in lone.card.note
    assert fingerprint(lone.card) != fingerprint(shared.card)


def test_a_window_that_is_forgotten_is_found_by_a_clip_longer_than_it(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = decoder.Decoder._mask

    def whole(self: Any, _kind: str, *rest: Any) -> Any:
        return plain(self, "full_attention", *rest)

    monkeypatch.setattr(decoder.Decoder, "_mask", whole)

    assert isinstance(opened("gemma3", folders).family, SingleFamily)


def test_frames_of_a_clip_are_whole_and_a_picture_is_cut_into_tiles(folders: Path) -> None:
    form = opened("internvl", folders).family.format  # type: ignore[union-attr]
    picture, frames = clip(5, frames=1, height=96, width=64), clip(5, frames=4)

    tiles = form.inputs(picture, form.text(1, "What?"))["pixel_values"]
    whole = form.inputs(frames, form.text(4, "What?"))["pixel_values"]

    assert len(tiles) > 1
    assert len(whole) == 4


@pytest.mark.parametrize("name", READ)
def test_questions_of_both_kinds_are_answered_for_a_clip(
    name: str, folders: Path, tmp_path: Path
) -> None:
    judge = opened(name, folders)
    file = write_mp4(clip(3, frames=4), tmp_path / "a.mp4", 8)
    questions = (QUESTION, Question("real", "How real is it?", "rating", low=0, high=5))
    request = Request("a", file, sha256_file(file), "video", "a dog runs", questions)

    (reply,) = judge.judge([request])

    assert [answer.outcome for answer in reply.answers] == [Outcome.SCORED] * 2
    assert judge.tell(clip(3, frames=4), ["Who is it?"]) == judge.tell(
        clip(3, frames=4), ["Who is it?"]
    )


def test_drawn_words_are_the_same_for_the_same_seed_only(folders: Path) -> None:
    judge, frames = opened("llava", folders), clip(4, frames=2)

    first = judge.tell(frames, ["Who is it?"], temperature=5.0, seed=1)
    again = judge.tell(frames, ["Who is it?"], temperature=5.0, seed=1)
    other = judge.tell(frames, ["Who is it?"], temperature=5.0, seed=2)

    assert first == again != other


def test_what_the_folder_says_of_sampling_changes_no_score(folders: Path, tmp_path: Path) -> None:
    folder = make_published("llava", tmp_path / "model")
    before = scores(opened("llava", folders), clip(5, frames=2))
    file = folder / "generation_config.json"
    settings = {"do_sample": True, "repetition_penalty": 9.0, "suppress_tokens": [1, 2, 3]}
    file.write_text(json.dumps(json.loads(file.read_text()) | settings))

    assert scores(VlmJudge(folder, frames="uniform-2"), clip(5, frames=2)) == before


@pytest.mark.parametrize("name", NEEDS_TORCHVISION)
def test_a_library_that_a_processor_insists_on_is_named_to_the_operator(
    name: str, folders: Path
) -> None:
    if find_spec("torchvision"):
        pytest.skip("torchvision is here")

    with pytest.raises(CannotProduce, match=r"pip install torchvision\."):
        opened(name, folders)


def test_a_judge_without_a_chat_template_is_told_at_the_door_and_when_it_is_opened(
    tmp_path: Path,
) -> None:
    folder = make_published("llava", tmp_path / "model")
    (folder / "chat_template.jinja").unlink()

    warned = problems_of(read(folder), DeclaredModel())

    assert [problem.code for problem in warned if "TEMPLATE" in problem.code] == ["W_TEMPLATE"]
    with pytest.raises(ValueError, match=r"Add its chat_template\.jinja"):
        VlmJudge(folder)
    with pytest.raises(ValueError, match="is no chat model"):
        LocalTalker(folder)


def test_any_of_them_can_be_the_agent_s_model(folders: Path) -> None:
    opened("internvl", folders)

    reply = LocalTalker(folders / "internvl", limit=4).say([{"role": "user", "content": "?"}])

    assert reply.tokens_in > 0
