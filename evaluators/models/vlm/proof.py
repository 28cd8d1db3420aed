"""Whether a model's questions may share one prefix: asked both ways when it is loaded, on noise,
and only equal numbers are taken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from evaluators.media import Pixels
from evaluators.models.vlm.chat import ChatFamily
from evaluators.models.vlm.chat_format import ChatFormat
from evaluators.models.vlm.packed.decoder import DecodedAnswer
from evaluators.models.vlm.single import SingleFamily

FRAMES, SIDES = 3, (64, 48)
MOST_FRAMES = 64
TOKENS = 4
CLOSE = {torch.float32: 1e-3}
ROUNDED = 0.1
"""How far logits may be apart, in their own spread: by rounding only. A question that sees another
one, or a position off by one, moves them by more."""

CAPTIONS = ("A dog runs over the table. ", "")
QUESTIONS = (
    "Is the cup held?",
    "Which action does the person in the clip perform, and with which hand?",
    "Who?",
)
MENU = ("yes", "no", "turn left", "unclear")
Asks = Sequence[tuple[str, tuple[tuple[int, ...], ...]]]


def prefix_family(model: Any, processor: Any) -> ChatFamily | SingleFamily:
    """The way to ask this model: with a shared prefix if that changes nothing, else each question
    alone."""
    ChatFormat(model, processor)
    try:
        shared = ChatFamily(model, processor)
        why = objection(shared, SingleFamily(model, processor))
    except Exception as error:  # whatever a class of models does not know speaks against sharing
        if isinstance(error, getattr(torch, "AcceleratorError", ())):
            raise
        why = f"{type(error).__name__}: {str(error)[:200]}"
    else:
        if not why:
            return shared
    return SingleFamily(model, processor, why)


@torch.inference_mode()
def objection(shared: ChatFamily, lone: SingleFamily) -> str:
    """What speaks against a shared prefix; empty when answers are the same both ways."""
    menu = tuple(shared.option(option) for option in MENU)
    for frames in _clips(shared):
        asked = [_asks(caption, menu) for caption in CAPTIONS]
        clips = [frames, frames[::-1].copy()]
        together = shared.answer(
            [shared.prepare(clip, asks) for clip, asks in zip(clips, asked, strict=True)], TOKENS
        )
        for clip, asks, row in zip(clips, asked, together, strict=True):
            apart = lone.answer([lone.prepare(clip, asks)], TOKENS)[0]
            if why := _differ(row, apart, shared, CLOSE.get(shared.model.dtype, ROUNDED)):
                return f"with {len(frames)} frames, {why}"
    return ""


def _asks(caption: str, menu: tuple[tuple[int, ...], ...]) -> Asks:
    menus: list[tuple[tuple[int, ...], ...]] = [menu, (), menu[::-1]]
    return [(caption + text, options) for text, options in zip(QUESTIONS, menus, strict=True)]


def _clips(shared: ChatFamily) -> list[Pixels]:
    """Noise; more of it where the decoder sees a window only, so that its edge is passed."""
    short = _noise(FRAMES)
    window = shared.decoder.window
    if not window or "sliding_attention" not in shared.decoder.kinds:
        return [short]
    a_frame = max(1, len(shared.prepare(short, [("?", ())]).prefix) // FRAMES)
    count = window // a_frame + FRAMES
    if count > MOST_FRAMES:
        raise ValueError(f"its window of {window} tokens is longer than {MOST_FRAMES} frames")
    return [short] if count <= FRAMES else [short, _noise(count)]


def _noise(frames: int) -> Pixels:
    shape = (frames, *SIDES, 3)
    return np.random.default_rng(frames).integers(0, 256, shape, dtype=np.uint8)


def _differ(
    together: Sequence[DecodedAnswer],
    apart: Sequence[DecodedAnswer],
    shared: ChatFamily,
    bound: float,
) -> str:
    for number, (packed, alone) in enumerate(zip(together, apart, strict=True), 1):
        reference = torch.log_softmax(alone.first.float(), -1)
        spread = float(reference.std()) or 1.0
        first = torch.log_softmax(packed.first.float(), -1)
        gaps = [float((first - reference.to(first)).abs().max())]
        gaps += [abs(a - b) for a, b in zip(packed.scores, alone.scores, strict=True)]
        if not max(gaps) / spread <= bound:
            return f"question {number} is {max(gaps) / spread:.2g} of the logits' spread apart"
        words = tuple(token for token in packed.tokens if token not in shared.decoder.ends)
        if bound < ROUNDED and words != alone.tokens:
            return f"question {number} is answered in other words"
    return ""
