"""The local judge: a vision-language model from a folder that answers all questions about a clip
together."""

from __future__ import annotations

import hashlib
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch

from evaluators.contracts import JudgeCard, Question, Reply, Request
from evaluators.media import Pixels, Unreadable, frame_indices, sample_frames, sha256_file
from evaluators.models.processors import read_processor
from evaluators.models.vlm.chat import PROMPT as CHAT_PROMPT
from evaluators.models.vlm.chat import ChatFamily
from evaluators.models.vlm.menu import (
    UNSURE,
    Menu,
    above_blank,
    failed,
    menu_of,
    reply,
    wording,
)
from evaluators.models.vlm.packed.attention import STRIP
from evaluators.models.vlm.packed.decoder import DecodedAnswer
from evaluators.models.vlm.packed.sampling import drawn
from evaluators.models.vlm.paligemma import JUDGING, PaliGemmaFamily
from evaluators.models.vlm.paligemma import PROMPT as PALIGEMMA_PROMPT
from evaluators.models.vlm.proof import prefix_family
from evaluators.models.vlm.single import SingleFamily

CODE = "vlm-3"
GREY = 128
AHEAD = 4
"""Clips decoded before they are needed, while the device works on others."""

DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
WEIGHTS = ("*.safetensors", "*.json", "*.jinja", "*.model", "*.txt")
"""Whatever in a folder can change an answer."""

_BUSY = threading.Lock()
"""Judges in one process share a model, and Qwen-VL keeps the last clip's positions in it."""

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request with its frames and tokens, or with the reason why there are none.

    `blank` holds the questions that may be answered with "unclear", asked about grey frames.
    """

    request: Request
    menus: tuple[Menu, ...] = ()
    clip: Any = None
    blank: Any = None
    problem: str = ""


class VlmJudge:
    """A judge on transformers: PaliGemma, or a model with a chat template that transformers knows.

    Questions about a clip share its prefix where that is proved to change nothing when the model is
    loaded, and are asked one by one where it is not. PaliGemma's images and question read each
    other; `shared_prefix` keeps the question from its images, which is quicker and another judge,
    with another card.
    """

    def __init__(
        self,
        folder: Path,
        *,
        model_id: str = "",
        frames: str = "uniform-8",
        device: str = "cpu",
        dtype: str = "",
        prompt: str = "",
        limit: int = 32,
        memory: int = 4 << 30,
        shared_prefix: bool = False,
        shelf: Path | None = None,
        base: str = "",
    ) -> None:
        self.frames, self.limit, self.memory = frames, limit, memory
        dtype = dtype or ("fp32" if device == "cpu" else "bf16")
        model, processor = load_model(folder, device, dtype, shelf, base)
        self.family = _family(model, processor, shared_prefix)
        paligemma = isinstance(self.family, PaliGemmaFamily)
        self.prompt = prompt or (JUDGING if paligemma else CHAT_PROMPT)
        self.telling = prompt or (PALIGEMMA_PROMPT if paligemma else CHAT_PROMPT)
        self.card = JudgeCard(
            name=model_id or folder.name,
            kind="auto",
            model=model_id or folder.name,
            revision=revision(folder),
            prompt_sha256=hashlib.sha256(wording(self.prompt).encode()).hexdigest(),
            decoding=_decoding(self.family, limit, shared_prefix),
            frames=frames,
            code=CODE,
            precision=f"{dtype} on {device.partition(':')[0]}, attention "
            f"{self.family.decoder.attention}",
            note=_why_alone(self.family),
        )

    def judge(self, requests: Sequence[Request]) -> Iterator[Reply]:
        """Replies in the order of the requests; the next clips are decoded while the present ones
        are judged."""
        for group in self._groups(_ahead(self._prepare, requests)):
            yield from self._replies(group)

    def tell(
        self, frames: Pixels, questions: Sequence[str], temperature: float = 0.0, seed: int = 0
    ) -> list[str]:
        """Answer open questions about the frames of one clip in words, all together; the frame rule
        chooses them.

        With a temperature the words are drawn, the same ones for the same seed.
        """
        chosen_frames = frames[list(frame_indices(self.frames, len(frames)))]
        texts = [Menu(Question(text, text, "open")).text(self.telling, "") for text in questions]
        clip: Any = self.family.prepare(chosen_frames, [(text, ()) for text in texts])
        with _BUSY, torch.inference_mode(), drawn(self.family.decoder, temperature, seed):
            decoded = self.family.answer([clip], self.limit)[0]
        return [self.family.decode(decoded_answer.tokens).strip() for decoded_answer in decoded]

    def _prepare(self, request: Request) -> Prepared:
        try:
            menus = tuple(
                menu_of(question, self.family.option, self.family.end)
                for question in request.questions
            )
            texts = [menu.text(self.prompt, request.prompt) for menu in menus]
            prompts_and_menus = [
                (text, menu.tokens)
                for text, menu in zip(texts, menus, strict=True)
                if not menu.problem
            ]
            frames = sample_frames(request.media, self.frames, request.modality)
            clip = self.family.prepare(frames, prompts_and_menus) if prompts_and_menus else None
            blank = self._blank(frames, menus, texts) if clip else None
        except (Unreadable, OSError, ValueError) as error:
            return Prepared(request, problem=f"{type(error).__name__}: {error}")
        return Prepared(request, menus, clip, blank)

    def _blank(self, frames: Pixels, menus: Sequence[Menu], texts: Sequence[str]) -> Any:
        """The same questions about frames that show nothing, for a model without a habit of saying
        that it cannot tell."""
        unsure = [
            (text, menu.tokens)
            for text, menu in zip(texts, menus, strict=True)
            if menu.has_unsure and not menu.problem
        ]
        if not unsure or not isinstance(self.family, PaliGemmaFamily):
            return None
        return self.family.prepare(np.full_like(frames, GREY), unsure)

    def _groups(self, prepared: Iterable[Prepared]) -> Iterator[list[Prepared]]:
        """Neighbours that can stand in one batch, as many as the memory holds."""
        group: list[Prepared] = []
        used = 0
        for item in prepared:
            need = self._bytes(item)
            if group and not (_together(group[-1], item) and used + need <= self.memory):
                yield group
                group, used = [], 0
            group, used = [*group, item], used + need
        if group:
            yield group

    def _replies(self, group: Sequence[Prepared]) -> list[Reply]:
        """Judge a batch; split it in halves on an error. A single request that fails has no
        answers."""
        if len(group) == 1 and group[0].clip is None:
            return [
                reply(group[0].request, group[0].menus, (), self.family.decode, 0, group[0].problem)
            ]
        try:
            decoded = self._decoded(group)
        except Exception as error:
            if isinstance(error, getattr(torch, "AcceleratorError", ())):
                raise
            if len(group) == 1:
                return [failed(group[0].request, f"{type(error).__name__}: {str(error)[:300]}")]
            half = len(group) // 2
            return [*self._replies(group[:half]), *self._replies(group[half:])]
        return [
            reply(item.request, item.menus, answers, self.family.decode, item.clip.tokens)
            for item, answers in zip(group, decoded, strict=True)
        ]

    def _decoded(self, group: Sequence[Prepared]) -> list[list[DecodedAnswer]]:
        """What the model says of each clip, less what it says of grey frames where that was
        asked."""
        with _BUSY, torch.inference_mode():
            decoded = self.family.answer([item.clip for item in group], self.limit)
            for item, answers in zip(group, decoded, strict=True):
                if item.blank is not None:
                    blanks = iter(self.family.answer([item.blank], self.limit)[0])
                    asked = [menu for menu in item.menus if not menu.problem]
                    for place, menu in enumerate(asked):
                        if menu.has_unsure:
                            answers[place] = above_blank(answers[place], next(blanks))
        return decoded

    def _bytes(self, item: Prepared) -> int:
        """About what one clip needs: its keys and values, one layer's work and a strip of its
        attention."""
        if item.clip is None:
            return 0
        text, tokens = self.family.model.config.get_text_config(), item.clip.longest
        heads, width = text.num_attention_heads, text.hidden_size
        head = getattr(text, "head_dim", None) or width // heads
        keys = getattr(text, "num_key_value_heads", None) or heads
        cached = 2 * text.num_hidden_layers * keys * head * tokens
        work = tokens * (6 * width + 3 * text.intermediate_size) + 2 * heads * STRIP * tokens
        return int((cached + work) * self.family.model.dtype.itemsize)


def load_model(
    folder: Path,
    device: str = "cpu",
    dtype: str = "fp32",
    shelf: Path | None = None,
    base: str = "",
) -> tuple[Any, Any]:
    """Model and processor of a folder, from safetensors only; the last ones loaded stay in the
    process.

    An adapter stands on its base model, which is looked for on the shelf: the `base` that was
    declared, as `org/name@revision`, or the one that its config names.
    """
    named = folder / "adapter_config.json"
    adapted = named.is_file()
    changed = (named if adapted else folder / "config.json").stat().st_mtime_ns
    return _load(
        folder.resolve(), changed, device, dtype, *((shelf, base) if adapted else (None, ""))
    )


@lru_cache(maxsize=1)
def _load(
    folder: Path, _changed: int, device: str, dtype: str, shelf: Path | None, base: str
) -> tuple[Any, Any]:
    if (folder / "adapter_config.json").is_file():
        from evaluators.models.vlm.adapter import load_adapted

        model, processor = load_adapted(folder, shelf, dtype, base)
        return model.to(device).eval(), processor
    return read_folder(folder, device, dtype)


def read_folder(folder: Path, device: str, dtype: str) -> tuple[Any, Any]:
    """A whole model and its processor, fresh from the folder."""
    from transformers import AutoModelForImageTextToText

    read_model: Any = AutoModelForImageTextToText.from_pretrained
    model = read_model(folder, local_files_only=True, use_safetensors=True, dtype=DTYPES[dtype])
    return model.to(device).eval(), read_processor(folder)


def revision(folder: Path) -> str:
    """One hash over the weights and everything beside them that changes an answer."""
    files = sorted({path for pattern in WEIGHTS for path in folder.glob(pattern)})
    listing = "\n".join(f"{path.name} {sha256_file(path)}" for path in files)
    return hashlib.sha256(listing.encode()).hexdigest()


def _family(
    model: Any, processor: Any, shared_prefix: bool
) -> ChatFamily | SingleFamily | PaliGemmaFamily:
    kind = model.config.model_type
    if kind == "paligemma":
        return PaliGemmaFamily(model, processor, shared_prefix)
    if shared_prefix:
        raise ValueError(
            f"A {kind} shares its prefix wherever that changes nothing; shared_prefix is for "
            "PaliGemma only."
        )
    with _BUSY:
        return prefix_family(model, processor)


def _decoding(
    family: ChatFamily | SingleFamily | PaliGemmaFamily, limit: int, shared_prefix: bool
) -> str:
    words = [
        "menu by the mean log-probability of an option's tokens, closed by the end token where one "
        "option begins another",
        f"open greedy, at most {limit} tokens",
    ]
    if isinstance(family, PaliGemmaFamily):
        words.append(f"menus with {UNSURE!r} less the same about grey frames")
    if isinstance(family, SingleFamily):
        words.append("each question by a pass of its own")
    return "; ".join([*words, *["images do not see the question"] * shared_prefix])


def _why_alone(family: ChatFamily | SingleFamily | PaliGemmaFamily) -> str:
    return f"Questions share no prefix: {family.why}." if isinstance(family, SingleFamily) else ""


def _together(first: Prepared, second: Prepared) -> bool:
    return (
        first.clip is not None
        and second.clip is not None
        and bool(first.clip.fits_with(second.clip))
    )


def _ahead(work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """Do the work in a thread, a few items before they are asked for."""
    pool = ThreadPoolExecutor(1, "frames")
    waiting: deque[Future[R]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
