"""Lessons for models with a chat template: each question a row of its own, asked in the words in
which the judge will ask it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from evaluators.models.adapt.batches import IGNORED, Lesson, Mask, Teacher
from evaluators.models.adapt.loader import Packs
from evaluators.models.vlm.chat import PROMPT, chat_clip
from evaluators.models.vlm.chat_format import ChatFormat
from evaluators.models.vlm.packed.head import head_of


@dataclass(frozen=True, slots=True)
class WeightlessModel:
    """What a chat format asks of a model, without the model."""

    config: Any
    device: str = "cpu"
    dtype: torch.dtype = torch.float32


@dataclass(frozen=True, slots=True)
class ChatTaught:
    """A lesson as tokens: what all its rows begin with, what goes along with that, its pixels, and
    each question with its answer."""

    prefix: tuple[int, ...]
    beside: dict[str, tuple[int, ...]]
    pixels: dict[str, Tensor]
    questions: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class ChatBatch:
    """Rows padded behind their end, with the pixels of each; a label that is ignored has no
    loss."""

    tokens: Tensor
    attention: Tensor
    beside: dict[str, Tensor]
    pixels: dict[str, Tensor]
    labels: Tensor


class AnyTeacher(Protocol):
    """What training and exams ask: a model, how lessons become its batches, logits and loss."""

    model: Any

    @property
    def packer(self) -> Packs:
        """How lessons become batches."""

    def logits(self, batch: Any) -> Tensor:
        """Logits where something is to be learned, in the order of the rows."""

    def loss(self, batch: Any) -> Tensor:
        """The mean cross-entropy of the answers' tokens."""


class ChatPacker:
    """Turns lessons into batches through a model's own processor and template."""

    def __init__(self, config: Any, processor: Any) -> None:
        self.format = ChatFormat(WeightlessModel(config), processor)
        self.pad = int(processor.tokenizer.pad_token_id or 0)

    def read(self, lesson: Lesson) -> ChatTaught:
        """A lesson's pixels and tokens, as the judge will see them."""
        texts = lesson.texts(PROMPT, PROMPT)
        clip = chat_clip(self.format, lesson.frames, [(text, ()) for text in texts])
        answers = [(*self.format.option(words), self.format.end) for _, words in lesson.questions]
        asked = tuple((ask.tokens, words) for ask, words in zip(clip.asks, answers, strict=True))
        return ChatTaught(clip.prefix, clip.beside, clip.pixels, asked)

    def rows(self, taught: ChatTaught) -> list[int]:
        """How long the rows of a lesson are."""
        prefix = len(taught.prefix)
        return [prefix + len(question) + len(words) for question, words in taught.questions]

    def batch(self, lessons: Sequence[ChatTaught]) -> ChatBatch:
        """A row a question."""
        width = max(length for lesson in lessons for length in self.rows(lesson))
        tokens, labels, attention = [], [], []
        for lesson in lessons:
            for question, words in lesson.questions:
                row = (*lesson.prefix, *question, *words[:-1])
                tokens.append(_padded(row, width, self.pad))
                attention.append(_padded((1,) * len(row), width, 0))
                unlearned = (IGNORED,) * (len(lesson.prefix) + len(question) - 1)
                labels.append(_padded((*unlearned, *words), width, IGNORED))
        each = [lesson for lesson in lessons for _ in lesson.questions]
        beside = {
            key: torch.tensor([_padded(lesson.beside[key], width, 0) for lesson in each])
            for key in lessons[0].beside
        }
        pixels = {key: torch.cat([lesson.pixels[key] for lesson in each]) for key in each[0].pixels}
        ids, seen = torch.tensor(tokens), torch.tensor(attention)
        return ChatBatch(ids, seen, beside, pixels, torch.tensor(labels))


class ChatTeacher:
    """Computes logits and loss of a chat model's batches."""

    def __init__(self, model: Any, processor: Any) -> None:
        self.model, self.processor = model, processor
        self.packer = ChatPacker(model.config, processor)

    def logits(self, batch: ChatBatch) -> Tensor:
        """Logits where something is to be learned, in the order of the rows."""
        hidden = self.hidden(batch)
        learned = batch.labels.to(hidden.device) != IGNORED
        return head_of(self.model).logits(hidden[learned])

    def loss(self, batch: ChatBatch) -> Tensor:
        """The mean cross-entropy of the answers' tokens."""
        labels = batch.labels[batch.labels != IGNORED].to(self.model.device)
        return torch.nn.functional.cross_entropy(self.logits(batch), labels)

    def hidden(self, batch: ChatBatch) -> Tensor:
        """What the decoder makes of every token: [row, token, width]."""
        device, dtype = self.model.device, self.model.dtype
        pixels = {
            key: values.to(device, dtype) if values.is_floating_point() else values.to(device)
            for key, values in batch.pixels.items()
        }
        beside = {key: values.to(device) for key, values in batch.beside.items()}
        read = self.model.model(
            input_ids=batch.tokens.to(device),
            attention_mask=batch.attention.to(device),
            use_cache=False,
            **pixels,
            **beside,
        )
        hidden: Tensor = read.last_hidden_state
        return hidden


def teacher_of(model: Any, processor: Any, mask: Mask = "own") -> AnyTeacher:
    """The teacher of a model's family."""
    if model.config.model_type == "paligemma":
        return Teacher(model, processor, mask)
    if mask != "own":
        raise ValueError(
            f"The mask {mask} is for PaliGemma. A {model.config.model_type} reads forwards: its "
            "images never see the question."
        )
    return ChatTeacher(model, processor)


def _padded(row: Sequence[int], width: int, fill: int) -> list[int]:
    return [*row, *[fill] * (width - len(row))]
