"""What the judge says of many questions packed together is what generate() says of each asked
alone."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from evaluators.media import Pixels
from evaluators.models.vlm.chat import ChatFamily
from evaluators.models.vlm.packed import attention, decoder
from evaluators.models.vlm.packed.packing import Tables, visible
from evaluators.models.vlm.packed.sampling import drawn
from tests.models.families import LOW_CAPS, WINDOW, Family, alone, clip, family, read

LIMIT = 6
CLOSE = 1e-4
PALIGEMMA = ("paligemma", "paligemma-window", "paligemma-capped", "paligemma1")
PUBLISHED = (
    *("qwen2_vl", "qwen2_5_vl", "qwen3_vl", "internvl", "gemma3", "llava_onevision"),
    *("smolvlm", "llava", "glm4v"),
)
FAMILIES = ("idefics3", "idefics3-window", *PUBLISHED, *PALIGEMMA)
CAUSAL = tuple(name for name in FAMILIES if not name.startswith("paligemma"))

QUESTIONS = (
    "Is the dog red?",
    "What?",
    "Rate how realistic the motion looks from 0 to 5, and think about the table before you answer.",
    "Which action does the character perform: walk, jump, turn left, turn right, open the door?",
    "Is the dog red? Answer yes or no.",
    "A",
)


@dataclass(frozen=True)
class Gap:
    """How far packed answers are from lone ones: how many differ in a token, and the largest
    difference of a logit."""

    tokens: int
    logits: float


def gap(one: Family, clips: Sequence[Pixels], asked: Sequence[Sequence[str]]) -> Gap:
    """Ask all together in one batch, and each alone."""
    prepared = [
        one.prepare(frames, [(text, ()) for text in texts])
        for frames, texts in zip(clips, asked, strict=True)
    ]
    with torch.inference_mode():
        told = one.answer(prepared, LIMIT)  # type: ignore[arg-type]
    wrong, worst = 0, 0.0
    for frames, texts, row in zip(clips, asked, told, strict=True):
        for text, packed in zip(texts, row, strict=True):
            tokens, first = alone(one, frames, text, LIMIT)
            wrong += tokens != packed.tokens
            worst = max(worst, float((first - packed.first).abs().max()))
    return Gap(wrong, worst)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("equality")


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", FAMILIES)
def test_packed_answers_are_those_of_generate(name: str, seed: int, folder: Path) -> None:
    clips = [clip(10 * seed + i) for i in range(6)]
    asked = [QUESTIONS[: 1 + i] for i in range(6)]

    found = gap(family(name, folder, seed), clips, asked)

    assert found.tokens == 0
    assert found.logits < CLOSE


@pytest.mark.parametrize("name", CAUSAL)
def test_prefixes_of_different_lengths_are_padded_without_a_trace(name: str, folder: Path) -> None:
    captions = ["", "A robot arm lifts a green block and places it in the blue bowl. ", "A dog. "]
    asked = [[caption + question for question in QUESTIONS[:3]] for caption in captions]
    one = family(name, folder)
    lengths = {len(one.prepare(clip(0), [(text, ()) for text in texts]).prefix) for texts in asked}  # type: ignore[union-attr]

    found = gap(one, [clip(20 + i) for i in range(3)], asked)

    assert len(lengths) == 3
    assert found.tokens == 0
    assert found.logits < CLOSE


@pytest.mark.parametrize("name", FAMILIES)
def test_one_question_alone_goes_the_same_way(name: str, folder: Path) -> None:
    found = gap(family(name, folder), [clip(30, frames=1)], [QUESTIONS[:1]])

    assert found.tokens == 0
    assert found.logits < CLOSE


@pytest.mark.parametrize("name", FAMILIES)
def test_frames_of_another_shape_have_the_answers_of_generate_too(name: str, folder: Path) -> None:
    found = gap(family(name, folder), [clip(40, height=32, width=64)], [QUESTIONS[:3]])

    assert found.tokens == 0
    assert found.logits < CLOSE


@pytest.mark.parametrize("name", ["idefics3-window", "paligemma-window"])
def test_the_prefix_is_longer_than_the_window(name: str, folder: Path) -> None:
    one = family(name, folder)
    tokens = one.prepare(clip(0), [("A", ())]).longest

    assert one.model.config.get_text_config().sliding_window == WINDOW
    assert tokens > 2 * WINDOW


@torch.inference_mode()
def test_attention_in_strips_is_eager_attention(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = family("paligemma-window", folder)
    prepared = one.prepare(clip(90), [(text, ()) for text in QUESTIONS])
    monkeypatch.setattr(attention, "STRIP", 7)
    in_strips = one.answer([prepared], LIMIT)[0]  # type: ignore[list-item]
    monkeypatch.setattr(decoder, "in_strips", lambda _: nullcontext())

    eager = one.answer([prepared], LIMIT)[0]  # type: ignore[list-item]

    assert one.decoder.attention == "eager in strips"
    for strip, whole in zip(in_strips, eager, strict=True):
        assert strip.tokens == whole.tokens
        assert float((strip.first - whole.first).abs().max()) < CLOSE


def leaking(tables: Tables) -> Tables:
    return Tables(torch.ones_like(tables.sees), tables.both_ways)


@pytest.mark.parametrize("name", CAUSAL)
def test_a_mask_that_lets_questions_see_each_other_is_caught(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoder, "visible", lambda tables, *rest: visible(leaking(tables), *rest))

    found = gap(family(name, folder), [clip(50), clip(51)], [QUESTIONS[:4]] * 2)

    assert found.tokens > 0
    assert found.logits > CLOSE


@pytest.mark.parametrize("name", CAUSAL)
def test_a_mask_of_truth_values_is_caught(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def truth(seen: Tensor, dtype: torch.dtype) -> Tensor:
        return seen.to(dtype)[:, None]

    monkeypatch.setattr(decoder, "additive", truth)

    found = gap(family(name, folder), [clip(60)], [QUESTIONS[:4]])

    assert found.tokens > 0
    assert found.logits > CLOSE


def test_a_forgotten_window_is_caught(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = family("idefics3-window", folder)
    monkeypatch.setattr(one.decoder, "window", None)

    found = gap(one, [clip(70)], [QUESTIONS[:4]])

    assert found.logits > CLOSE


def test_caps_on_logits_are_those_the_plain_models_apply(folder: Path) -> None:
    caps = {name: family(name, folder).decoder.head.cap for name in FAMILIES}

    low = LOW_CAPS["final_logit_softcapping"]
    capped = {"paligemma": 30.0, "paligemma-window": 30.0, "paligemma-capped": low}
    assert caps == dict.fromkeys(FAMILIES) | capped
    assert family("paligemma1", folder).model.config.text_config.model_type == "gemma"


def test_a_forgotten_cap_on_logits_is_caught(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = family("paligemma-capped", folder)
    monkeypatch.setattr(one.decoder, "head", replace(one.decoder.head, cap=None))

    found = gap(one, [clip(70)], [QUESTIONS[:4]])

    assert found.tokens == 0
    assert found.logits > 0.1


def test_a_forgotten_cap_on_attention_scores_is_caught(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    strips = attention.strips

    def uncapped(
        *tensors: Any, softcap: float | None = None, **settings: Any
    ) -> tuple[Tensor, None]:
        return strips(*tensors, **settings)

    monkeypatch.setattr(attention, "strips", uncapped)

    found = gap(family("paligemma-capped", folder), [clip(70)], [QUESTIONS[:4]])

    assert found.logits > 0.1


def test_a_cap_that_the_plain_model_ignores_is_ignored(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = family("idefics3", folder)
    text = plain.model.config.get_text_config()
    monkeypatch.setattr(
        text, "final_logit_softcapping", LOW_CAPS["final_logit_softcapping"], raising=False
    )

    found = gap(ChatFamily(plain.model, plain.processor), [clip(70)], [QUESTIONS[:4]])

    assert found.logits < CLOSE


@torch.inference_mode()
def test_words_are_drawn_as_often_as_the_plain_models_logits_say(folder: Path) -> None:
    one, temperature, draws = family("paligemma-capped", folder), 0.05, 4000
    read: list[Tensor] = []
    hook = one.model.lm_head.register_forward_hook(
        lambda _module, hidden, _logits: read.append(hidden[0][0, -1])
    )
    _, first = alone(one, clip(70), QUESTIONS[0], 1)
    hook.remove()

    with drawn(one.decoder, temperature, seed=0):
        words = one.decoder.logits(read[0].expand(draws, -1)).argmax(-1)

    word = int(first.argmax())
    share, bare = float((words == word).float().mean()), one.model.lm_head(read[0])
    expected, uncapped = (
        float(torch.softmax(logits / temperature, -1)[word]) for logits in (first, bare)
    )
    error = (expected * (1 - expected) / draws) ** 0.5
    assert abs(share - expected) < 4 * error
    assert abs(uncapped - expected) > 8 * error


def option_scores_alone(one: Family, frames: Pixels, prompt: str, option: Sequence[int]) -> float:
    """The log-probability of an option by feeding the whole sequence, images and all, token after
    token."""
    given: dict[str, Any] = read(one, frames, prompt)
    total = 0.0
    for i, word in enumerate(option):
        longer = {**given, **_longer(given, option[:i], hasattr(one, "shared_prefix"))}
        with torch.inference_mode():
            logits = one.model(**longer).logits[0, -1]
        total += float(torch.log_softmax(logits.float(), -1)[word])
    return total


def _longer(given: dict[str, Any], words: Sequence[int], paligemma: bool) -> dict[str, Tensor]:
    """The inputs with some words of an answer behind them; an answer is of token type one to
    PaliGemma, while one is a picture to Gemma 3."""
    more = torch.tensor([list(words)], dtype=torch.long)
    fills = {
        "input_ids": more,
        "attention_mask": torch.ones_like(more),
        "token_type_ids": torch.full_like(more, int(paligemma)),
        "mm_token_type_ids": torch.zeros_like(more),
    }
    return {
        key: torch.cat([given[key], fill.to(given[key].dtype)], 1)
        for key, fill in fills.items()
        if key in given
    }


@pytest.mark.parametrize("name", FAMILIES)
def test_menus_of_many_tokens_score_as_if_each_option_were_spelled_out(
    name: str, folder: Path
) -> None:
    one = family(name, folder)
    menu = tuple(one.option(word) for word in ("walk", "turn left", "jump over the table", "A"))
    asked = [(QUESTIONS[0], menu), (QUESTIONS[2], ()), (QUESTIONS[3], menu[::-1])]
    frames = clip(80)
    with torch.inference_mode():
        told = one.answer([one.prepare(frames, asked)], LIMIT)[0]  # type: ignore[list-item]

    assert max(map(len, menu)) > 2
    for (prompt, options), packed in zip(asked, told, strict=True):
        spelled = [option_scores_alone(one, frames, prompt, option) for option in options]
        assert packed.scores == pytest.approx(spelled, abs=CLOSE)
