"""What judging many questions together saves against one generate() a question, on one core in CPU
seconds."""

from __future__ import annotations

import ctypes
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from evaluators.media import Pixels
from evaluators.models.small import VlmSize, make_chat_vlm, make_paligemma
from evaluators.models.vlm.chat import ChatFamily
from evaluators.models.vlm.judge import load_model
from evaluators.models.vlm.paligemma import PaliGemmaFamily
from tests.bench.report import Row, at_least, at_most, report, shown

SIZE = VlmSize(
    image=224,
    patch=14,
    vision_width=512,
    vision_layers=8,
    vision_heads=8,
    width=768,
    layers=12,
    heads=12,
    kv_heads=4,
    mlp=2048,
    spread=0.05,
)
"""About 90 million parameters, a sixth of them for seeing, as in PaliGemma 2 3B; 256 visual tokens
a frame."""

FRAMES = 8
LIMIT = 8
"""Tokens of an open answer."""

SHARE = 0.85
"""Of what counted FLOPs allow."""

TURNS = 3

Family = ChatFamily | PaliGemmaFamily


def questions(count: int) -> list[str]:
    """Short questions of different lengths."""
    things = ("cup", "red table", "robot arm", "dog in the grass", "child", "green block", "ball")
    return [
        f"Is the {things[i % 7]} number {i} still there after the person has moved "
        f"it{' away' * (i % 4)}?"
        for i in range(count)
    ]


WORDS = tuple(questions(36))
"""What the tokenizer learns, so that a question has as many tokens as with a large one."""


def frames_of(count: int) -> Pixels:
    """Noise of the size the model takes."""
    return np.random.default_rng(count).integers(
        0, 256, (count, SIZE.image, SIZE.image, 3), dtype=np.uint8
    )


def plain(one: Family, frames: Pixels, question: str, limit: int = LIMIT) -> None:
    """One question with the images and generate()."""
    text = (
        one.text(len(frames), question)
        if isinstance(one, ChatFamily)
        else "<image>" * len(frames) + question
    )
    given = dict(one.processor(images=[list(frames)], text=[text], return_tensors="pt"))
    given.pop("labels", None)
    one.model.generate(**given, max_new_tokens=limit, do_sample=False, eos_token_id=None)


def packed(one: Family, frames: Pixels, asked: Sequence[str], limit: int = LIMIT) -> None:
    """All questions about a clip together."""
    one.answer([one.prepare(frames, [(text, ()) for text in asked])], limit)  # type: ignore[list-item]


def closed(one: Family, frames: Pixels, asked: Sequence[str]) -> None:
    """All questions about a clip together, each with a menu."""
    menu = (one.option("yes"), one.option("no"))
    one.answer([one.prepare(frames, [(text, menu) for text in asked])], LIMIT)  # type: ignore[list-item]


def cpu(work: Callable[[], None]) -> float:
    """CPU seconds of the work."""
    start = time.process_time()
    work()
    return time.process_time() - start


def flops(work: Callable[[], None]) -> int:
    """Counted floating-point operations; the CPU's attention kernel is not in the library's
    list."""
    attention: Any = {torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: _attention_flops}
    with FlopCounterMode(display=False, custom_mapping=attention) as counter:
        work()
    return int(counter.get_total_flops())


def _attention_flops(
    query: Any, key: Any, value: Any, dropout: float = 0.0, is_causal: bool = False, **_: Any
) -> int:
    batch, heads, asking, width = query
    return int(2 * batch * heads * asking * key[2] * (width + value[3]) // (2 if is_causal else 1))


def peak(work: Callable[[], None]) -> int:
    """The most memory the work holds above what was there before, in bytes."""
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmRSS")
    work()
    return _status("VmHWM") - before


def _status(field: str) -> int:
    line = next(
        line
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith(field)
    )
    return int(line.split()[1]) * 1024


@dataclass
class Timing:
    """CPU seconds of the plain way a question, and of all together by their number."""

    plain: list[float]
    packed: dict[int, list[float]]

    def ratio(self, count: int) -> float:
        """How many times quicker all together are; the plain way costs the same for every
        question."""
        return count * median(self.plain) / median(self.packed[count])


def interleaved(one: Family, counts: Sequence[int], turns: int) -> Timing:
    """Time both ways in turns, so that a slow minute of the machine meets both."""
    frames, asked = frames_of(FRAMES), questions(max(counts))
    plain(one, frames, asked[0], 1)
    found = Timing([], {count: [] for count in counts})
    for i in range(turns):
        for count in counts:
            found.plain.append(cpu(lambda text=asked[i]: plain(one, frames, text)))  # type: ignore[misc]
            found.packed[count].append(cpu(lambda n=count: packed(one, frames, asked[:n])))  # type: ignore[misc]
    return found


@dataclass(frozen=True)
class Counted:
    """FLOPs of a question asked the plain way, of the prefix, and of one more token behind it."""

    plain: int
    prefix: int
    token: float

    def bound(self, count: int, own: int) -> float:
        """What FLOPs allow: the prefix once and each question's own tokens, against everything for
        each question."""
        return count * self.plain / (self.prefix + count * self.token * (own + LIMIT - 1))


def counted(one: ChatFamily) -> Counted:
    """Count a question alone; all of its text but the last token is in the prefix then."""
    frames, asked = frames_of(FRAMES), questions(1)
    prepared = one.prepare(frames, [(asked[0], ())])
    prefix = flops(lambda: one._prefill([prepared]))
    whole = flops(lambda: packed(one, frames, asked))
    return Counted(flops(lambda: plain(one, frames, asked[0])), prefix, (whole - prefix) / LIMIT)


def causal_rows(folder: Path) -> list[Row]:
    """The rows of a decoder with a causal prefix."""
    one = ChatFamily(*load_model(make_chat_vlm(folder / "chat", size=SIZE, sentences=WORDS)))
    one.decoder.ends = frozenset()
    timing, numbers, frames = interleaved(one, (6, 18), TURNS), counted(one), frames_of(FRAMES)
    rows = [shown("parameters of the chat model, millions", _millions(one))]
    for count in (6, 18):
        asks = one.prepare(frames, [(text, ()) for text in questions(count)]).asks
        best = numbers.bound(count, sum(len(ask.tokens) for ask in asks) // count)
        rows.append(shown(f"causal, {count} questions: bound from counted FLOPs", best))
        rows.append(
            at_least(
                f"causal, {count} questions against the plain way",
                timing.ratio(count),
                SHARE * best,
            )
        )
    menus = cpu(lambda: closed(one, frames, questions(18)))
    rows.append(
        shown("causal, 18 closed questions in one forward pass", 18 * median(timing.plain) / menus)
    )
    single = peak(lambda: plain(one, frames, questions(1)[0]))
    many = peak(lambda: packed(one, frames, questions(18)))
    rows.append(at_most("causal, memory of 18 questions against one", many / single, 1.3))
    return [*rows, *growth_rows(one, median(timing.plain))]


def growth_rows(one: ChatFamily, a_question: float) -> list[Row]:
    """How the cost grows with questions and with frames, in the plain cost of one question of eight
    frames."""
    rows = []
    for count in (1, 6, 18, 36):
        cost = cpu(lambda n=count: packed(one, frames_of(FRAMES), questions(n)))  # type: ignore[misc]
        rows.append(
            shown(
                f"cost of {count} questions on {FRAMES} frames; the plain way {count}",
                cost / a_question,
            )
        )
    for count in (1, 4, 8, 16):
        once = cpu(lambda n=count: plain(one, frames_of(n), questions(1)[0]))  # type: ignore[misc]
        cost = cpu(lambda n=count: packed(one, frames_of(n), questions(6)))  # type: ignore[misc]
        rows.append(
            shown(
                f"cost of 6 questions on {count} frames; the plain way {6 * once / a_question:.2f}",
                cost / a_question,
            )
        )
    return [*rows, long_clip_row(one, a_question)]


def long_clip_row(one: ChatFamily, a_question: float) -> Row:
    """18 questions on a clip of 32 frames, against the plain way by its cost for one of them."""
    asked = questions(18)
    once = cpu(lambda: plain(one, frames_of(32), asked[0]))
    cost = cpu(lambda: packed(one, frames_of(32), asked))
    return shown(
        f"cost of 18 questions on 32 frames, {18 * once / cost:.1f} times quicker than the plain "
        f"way {18 * once / a_question:.1f}",
        cost / a_question,
    )


def paligemma_rows(folder: Path) -> list[Row]:
    """PaliGemma: the vision encoding shared, which is exact, and the image prefix shared, which is
    another judge."""
    model, processor = load_model(make_paligemma(folder / "paligemma", size=SIZE, sentences=WORDS))
    exact, shared = (
        PaliGemmaFamily(model, processor),
        PaliGemmaFamily(model, processor, shared_prefix=True),
    )
    for one in (exact, shared):
        one.decoder.ends = frozenset()
    timing, frames = interleaved(exact, (6,), 2), frames_of(FRAMES)
    other = [cpu(lambda: packed(shared, frames, questions(6))) for _ in range(2)]
    pixels = exact.prepare(frames, [("?", ())]).pixels
    whole, seeing = (
        flops(lambda: plain(exact, frames, questions(1)[0])),
        flops(lambda: model.get_image_features(pixels)),
    )
    return [
        shown("parameters of the PaliGemma, millions", _millions(exact)),
        shown(
            "PaliGemma, 6 questions: FLOPs saved by encoding the vision once",
            6 * whole / (6 * whole - 5 * seeing),
        ),
        at_least(
            "PaliGemma, 6 questions, vision encoded once and attention in strips",
            timing.ratio(6),
            1.15,
        ),
        shown(
            "PaliGemma as another judge, image prefix shared, 6 questions",
            6 * median(timing.plain) / median(other),
        ),
    ]


def _millions(one: Family) -> float:
    return float(sum(weights.numel() for weights in one.model.parameters()) / 1e6)


@torch.inference_mode()
def main() -> int:
    """Run both and report."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        return report("judging", [*causal_rows(Path(folder)), *paligemma_rows(Path(folder))])


if __name__ == "__main__":
    sys.exit(main())
