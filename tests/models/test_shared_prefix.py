"""PaliGemma whose images do not see the question: another judge, compared with its mask written
out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from evaluators.media import Pixels
from evaluators.models.vlm.judge import VlmJudge
from evaluators.models.vlm.paligemma import PaliGemmaFamily
from tests.models.families import clip, family

QUESTIONS = (
    "Is the dog red?",
    "What?",
    "Rate how realistic the motion looks from 0 to 5, and take your time.",
)
LIMIT = 5


@pytest.fixture(scope="module", params=["paligemma", "paligemma-window", "paligemma-capped"])
def shared(request: pytest.FixtureRequest, models: Path) -> PaliGemmaFamily:
    exact = family(request.param, models / "shared")
    assert isinstance(exact, PaliGemmaFamily)
    return PaliGemmaFamily(exact.model, exact.processor, shared_prefix=True)


def masks(images: int, question: int, answer: int, window: int) -> dict[str, Tensor]:
    """Written out by hand: images see images, a question sees them and itself, an answer what is
    before it."""
    total = images + question + answer
    place = torch.arange(total)
    behind = place[:, None] - place[None, :]
    block = torch.zeros(total, total, dtype=torch.bool)
    block[:images, :images] = True
    block[images : images + question, images : images + question] = True
    both = {
        "full_attention": block | (behind >= 0),
        "sliding_attention": block | ((behind >= 0) & (behind < window)),
    }
    low = torch.finfo(torch.float32).min
    return {
        kind: torch.zeros(seen.shape).masked_fill(~seen, low)[None, None]
        for kind, seen in both.items()
    }


def by_hand(one: PaliGemmaFamily, frames: Pixels, prompt: str) -> tuple[tuple[int, ...], Tensor]:
    """One question alone, no cache: the whole sequence again for every token."""
    prepared = one.prepare(frames, [(prompt, ())])
    model: Any = one.model
    features = model.get_image_features(prepared.pixels).pooler_output.reshape(
        1, prepared.images, -1
    )
    said: list[int] = []
    first = None
    while len(said) < LIMIT and (not said or said[-1] not in one.decoder.ends):
        words = model.get_input_embeddings()(torch.tensor([[*prepared.asks[0].tokens, *said]]))
        whole = torch.cat([features, words], 1)
        mask = masks(
            prepared.images,
            len(prepared.asks[0].tokens),
            len(said),
            model.config.text_config.sliding_window,
        )
        places = torch.arange(1, whole.shape[1] + 1)[None]
        hidden = model.get_decoder()(
            inputs_embeds=whole, attention_mask=mask, position_ids=places, use_cache=False
        )
        cap = model.config.text_config.final_logit_softcapping
        logits = cap * torch.tanh(model.lm_head(hidden.last_hidden_state[0, -1]) / cap)
        first = logits if first is None else first
        said.append(int(logits.argmax()))
    assert first is not None
    return tuple(said), first


@torch.inference_mode()
def test_packed_answers_are_those_of_the_mask_written_out_by_hand(shared: PaliGemmaFamily) -> None:
    clips = [clip(i) for i in range(3)]
    prepared = [shared.prepare(frames, [(text, ()) for text in QUESTIONS]) for frames in clips]

    told = shared.answer(prepared, LIMIT)

    for frames, row in zip(clips, told, strict=True):
        for text, packed in zip(QUESTIONS, row, strict=True):
            tokens, first = by_hand(shared, frames, text)
            assert packed.tokens == tokens
            assert float((packed.first - first).abs().max()) < 1e-4


@torch.inference_mode()
def test_it_is_another_computation_than_the_exact_one(shared: PaliGemmaFamily) -> None:
    exact = PaliGemmaFamily(shared.model, shared.processor)
    prepared = shared.prepare(clip(7), [(text, ()) for text in QUESTIONS])

    here, there = shared.answer([prepared], LIMIT)[0], exact.answer([prepared], LIMIT)[0]

    assert all(
        float((one.first - other.first).abs().max()) > 1e-3
        for one, other in zip(here, there, strict=True)
    )


def test_it_has_a_card_of_its_own(paligemma: Path) -> None:
    exact, other = VlmJudge(paligemma), VlmJudge(paligemma, shared_prefix=True)

    assert exact.card != other.card
    assert "do not see" in other.card.decoding


def test_a_causal_model_has_no_such_choice(chat_vlm: Path) -> None:
    with pytest.raises(ValueError, match="for PaliGemma only"):
        VlmJudge(chat_vlm, shared_prefix=True)
