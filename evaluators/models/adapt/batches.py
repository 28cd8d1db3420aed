"""From clips, questions and answers to packed rows, and to a loss that touches the answers only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from evaluators.contracts import Question
from evaluators.media import Pixels
from evaluators.models.vlm.menu import Menu
from evaluators.models.vlm.packed.decoder import to_device
from evaluators.models.vlm.packed.head import head_of
from evaluators.models.vlm.packed.packing import (
    PackedRow,
    PackedRows,
    TokenSegment,
    additive,
    pack,
    visible,
)
from evaluators.models.vlm.paligemma import FIRST_POSITION, JUDGING, PROMPT

Mask = Literal["own", "image_first"]
"""PaliGemma's own mask lets images read the question; with `image_first` they do not, so questions
share them."""

IGNORED = -100


@dataclass(frozen=True, slots=True)
class Judged:
    """How a judge is asked: from what description a clip was made, and what each question may be
    answered with."""

    description: str
    menus: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Lesson:
    """The frames an evaluator sees of a clip, and the questions about it with their answers; asked
    openly, or in the words in which a judge is asked."""

    frames: Pixels
    questions: tuple[tuple[str, str], ...]
    judged: Judged | None = None

    def texts(self, telling: str, judging: str) -> list[str]:
        """All that is read of each question, by a family's templates."""
        if self.judged is None:
            return [Menu(Question(q, q, "open")).text(telling, "") for q, _ in self.questions]
        made_from = self.judged.description
        pairs = zip(self.questions, self.judged.menus, strict=True)
        return [
            Menu(Question(q, q, "choice", options=menu), menu).text(judging, made_from)
            for (q, _), menu in pairs
        ]


@dataclass(frozen=True, slots=True)
class Taught:
    """A lesson as tensors and tokens: each question up to its line end, each answer with its end
    token."""

    pixels: Tensor
    questions: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class Batch:
    """Packed rows with their pixels; `clip` names the clip of each row, a label that is ignored has
    no loss."""

    pixels: Tensor
    packed: PackedRows
    labels: Tensor
    clip: tuple[int, ...]
    images: int


class LessonPacker:
    """Turns lessons into batches for one PaliGemma; it needs the processor and no weights."""

    def __init__(self, config: Any, processor: Any, mask: Mask = "own") -> None:
        self.processor, self.mask = processor, mask
        self.image_token = int(config.image_token_id)
        self._known: dict[str, tuple[int, ...]] = {}
        self.end = int(processor.tokenizer.eos_token_id)
        self.pad = int(getattr(config.get_text_config(), "pad_token_id", None) or 0)

    def read(self, lesson: Lesson) -> Taught:
        """A lesson's pixels and tokens, as the judge will see them."""
        texts = lesson.texts(PROMPT, JUDGING)
        answers = (answer for _, answer in lesson.questions)
        token_pairs = tuple(map(self.tokens, texts, answers))
        return Taught(self.pixels(lesson.frames), token_pairs)

    def pixels(self, frames: Pixels) -> Tensor:
        """What the image processor makes of the frames; those of the model's size need no resizing,
        so no Pillow."""
        images = self.processor.image_processor
        if frames.shape[1:3] != (images.size["height"], images.size["width"]):
            processed: Tensor = images(list(frames), return_tensors="pt")["pixel_values"]
            return processed
        mean, std = torch.tensor(images.image_mean), torch.tensor(images.image_std)
        scaled = torch.from_numpy(np.ascontiguousarray(frames)).float() * images.rescale_factor
        normal: Tensor = (scaled - mean) / std
        return normal.permute(0, 3, 1, 2)

    def tokens(self, text: str, answer: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Begin, what is asked and line end; answer and end."""
        begin = self.processor.tokenizer.bos_token
        return self._encode(f"{begin}{text}\n"), (
            *self._encode(answer),
            self.end,
        )

    def rows(self, taught: Taught) -> list[int]:
        """How long the rows of a lesson are: one a question under the own mask, else one."""
        images = len(taught.pixels) * int(self.processor.image_seq_length)
        asked = [len(question) + len(words) - 1 for question, words in taught.questions]
        return [images + sum(asked)] if self.mask == "image_first" else [images + n for n in asked]

    def batch(self, lessons: Sequence[Taught]) -> Batch:
        """Rows of several clips with equally many frames: a row a clip, or a row a question under
        the own mask."""
        images = len(lessons[0].pixels) * int(self.processor.image_seq_length)
        rows, labels, clips = [], [], []
        for number, lesson in enumerate(lessons):
            groups = (
                [lesson.questions]
                if self.mask == "image_first"
                else [(pair,) for pair in lesson.questions]
            )
            for group in groups:
                row, label = self._row(images, group)
                rows.append(row)
                labels.append(label)
                clips.append(number)
        packed = pack(rows, self.pad)
        width = packed.tokens.shape[1]
        padded = [[*label, *[IGNORED] * (width - len(label))] for label in labels]
        pixels = torch.cat([lesson.pixels for lesson in lessons])
        return Batch(pixels, packed, torch.tensor(padded), tuple(clips), images)

    def _row(
        self, images: int, token_pairs: Sequence[tuple[tuple[int, ...], tuple[int, ...]]]
    ) -> tuple[PackedRow, list[int]]:
        """The last token of a question says the first of its answer, and so on to the end token."""
        image_tokens = (self.image_token,) * images
        shared = self.mask == "image_first"
        segments = [TokenSegment(image_tokens, both_ways=True)] if shared else []
        labels = [IGNORED] * images
        for question, answer in token_pairs:
            parent = 1 if shared else 0
            segments.append(
                TokenSegment(
                    question if shared else (*image_tokens, *question), parent, both_ways=True
                )
            )
            segments.append(TokenSegment(answer[:-1], len(segments)))
            labels += [IGNORED] * (len(question) - 1) + list(answer)
        return PackedRow(0, tuple(segments), FIRST_POSITION), labels

    def _encode(self, text: str) -> tuple[int, ...]:
        if text not in self._known:
            self._known[text] = tuple(
                self.processor.tokenizer(text, add_special_tokens=False)["input_ids"]
            )
        return self._known[text]


class Teacher:
    """Turns lessons into batches for one PaliGemma and computes their logits and loss."""

    def __init__(self, model: Any, processor: Any, mask: Mask = "own") -> None:
        self.model, self.processor, self.mask = model, processor, mask
        self.packer = LessonPacker(model.config, processor, mask)
        text = model.config.get_text_config()
        self.window: int | None = getattr(text, "sliding_window", None)
        plain = "full_attention" if self.window is None else "sliding_attention"
        self.kinds = sorted(set(getattr(text, "layer_types", None) or [plain]))

    def read(self, lesson: Lesson) -> Taught:
        """A lesson's pixels and tokens."""
        return self.packer.read(lesson)

    def pixels(self, frames: Pixels) -> Tensor:
        """What the image processor makes of the frames."""
        return self.packer.pixels(frames)

    def batch(self, lessons: Sequence[Taught]) -> Batch:
        """Rows of several clips with equally many frames."""
        return self.packer.batch(lessons)

    def logits(self, batch: Batch, hidden: Tensor | None = None) -> Tensor:
        """Logits where something is to be learned, in the order of the rows: [learned tokens,
        vocabulary].

        Who has read the batch already hands over what `hidden` gave.
        """
        hidden = self.hidden(batch) if hidden is None else hidden
        learned = batch.labels.to(hidden.device) != IGNORED
        return head_of(self.model).logits(hidden[learned])

    def loss(self, batch: Batch, hidden: Tensor | None = None) -> Tensor:
        """The mean cross-entropy of the answers' tokens."""
        labels = batch.labels[batch.labels != IGNORED].to(self.model.device)
        return torch.nn.functional.cross_entropy(self.logits(batch, hidden), labels)

    def hidden(self, batch: Batch) -> Tensor:
        """What the decoder makes of every token: [row, token, width]."""
        device = self.model.device
        image_features = self.model.get_image_features(
            batch.pixels.to(device, self.model.dtype)
        ).pooler_output
        features = image_features.reshape(-1, batch.images, image_features.shape[-1])[
            list(batch.clip)
        ]
        packed = to_device(batch.packed, device)
        tokens = packed.tokens
        words = self.model.get_input_embeddings()(
            tokens.masked_fill(tokens == self.packer.image_token, self.packer.pad)
        )
        places = (tokens == self.packer.image_token)[..., None].expand_as(words)
        embeds = words.masked_scatter(places, features.to(words.dtype))
        masks = {kind: self._mask(kind, packed, embeds.dtype) for kind in self.kinds}
        mask = masks if len(masks) > 1 else masks[self.kinds[0]]
        body = self.model.get_decoder()
        read = body(
            inputs_embeds=embeds,
            attention_mask=mask,
            position_ids=packed.slots.position,
            use_cache=False,
        )
        hidden: Tensor = read.last_hidden_state
        return hidden

    def _mask(self, kind: str, packed: PackedRows, dtype: torch.dtype) -> Tensor:
        window = self.window if kind == "sliding_attention" else None
        return additive(visible(packed.tables, packed.slots, packed.slots, window), dtype)
