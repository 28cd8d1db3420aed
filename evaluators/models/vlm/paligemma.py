"""PaliGemma as a judge: its prefix reads both ways, so only the vision encoding is shared, unless
asked otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from evaluators.media import Pixels
from evaluators.models.vlm.packed.decoder import (
    DecodedAnswer,
    Decoder,
    DecoderState,
    EncodedQuestion,
    answer,
    empty_cache,
    segments,
    to_device,
)
from evaluators.models.vlm.packed.packing import PackedRow, TokenSegment, pack

PROMPT = "answer en {question}"
"""The form in which PaliGemma was taught to answer about pictures."""

JUDGING = "answer en The frames were made from this description: {prompt}\n{question}\n{menu}"
"""A judge has to know what was asked for and what it may answer."""

FIRST_POSITION = 1
"""PaliGemma counts positions from one."""


@dataclass(frozen=True, slots=True)
class PaliGemmaClip:
    """A clip ready for the device: its pixels, how many visual tokens they become, and the
    questions."""

    images: int
    pixels: Tensor
    asks: tuple[EncodedQuestion, ...]

    @property
    def tokens(self) -> int:
        """All tokens read."""
        return sum(self.images + len(ask.tokens) for ask in self.asks)

    @property
    def longest(self) -> int:
        """The tokens of one row, if all questions stand in one."""
        return self.images + sum(len(ask.tokens) for ask in self.asks)

    def fits_with(self, clip: PaliGemmaClip) -> bool:
        """Whether both can stand in one batch."""
        return self.pixels.shape == clip.pixels.shape


class PaliGemmaFamily:
    """Exact by default: images and question read each other. With `shared_prefix` images do not see
    the question."""

    def __init__(self, model: Any, processor: Any, shared_prefix: bool = False) -> None:
        self.model, self.processor, self.decoder = model, processor, Decoder(model)
        self.shared_prefix = shared_prefix
        self.image_token = int(model.config.image_token_id)
        self.end = int(processor.tokenizer.eos_token_id)

    def option(self, option: str) -> tuple[int, ...]:
        """An option's tokens; an answer begins right after the line end of the question."""
        return self._tokens(option)

    def decode(self, tokens: Sequence[int]) -> str:
        """The words of an answer."""
        return str(self.processor.tokenizer.decode(tokens, skip_special_tokens=True))

    def prepare(
        self, frames: Pixels, prompts_and_menus: Sequence[tuple[str, tuple[tuple[int, ...], ...]]]
    ) -> PaliGemmaClip:
        """Tokens and pixels of a clip and its questions."""
        pixels = self.processor.image_processor(list(frames), return_tensors="pt")["pixel_values"]
        begin = self.processor.tokenizer.bos_token
        asks = tuple(
            EncodedQuestion(self._tokens(f"{begin}{prompt}\n"), menu)
            for prompt, menu in prompts_and_menus
        )
        return PaliGemmaClip(len(frames) * self.processor.image_seq_length, pixels, asks)

    def answer(self, clips: Sequence[PaliGemmaClip], limit: int) -> list[list[DecodedAnswer]]:
        """Encode the frames once; then a pass a question, or one pass for all behind a shared image
        prefix."""
        pixels = torch.cat([clip.pixels for clip in clips]).to(self.model.device, self.model.dtype)
        features = self.model.get_image_features(pixels).pooler_output.reshape(
            len(clips), clips[0].images, -1
        )
        if self.shared_prefix:
            return self._behind_images(clips, features, limit)
        return [
            [self._alone(clip, ask, features[i : i + 1], limit) for ask in clip.asks]
            for i, clip in enumerate(clips)
        ]

    def _alone(
        self, clip: PaliGemmaClip, ask: EncodedQuestion, features: Tensor, limit: int
    ) -> DecodedAnswer:
        whole = EncodedQuestion((*[self.image_token] * clip.images, *ask.tokens), ask.options)
        row = PackedRow(0, segments([whole], both_ways=True), FIRST_POSITION)
        embeds = self._embed(row, features)
        return answer(self.decoder, [row], [[whole]], empty_cache(), limit, embeds)[0][0]

    def _behind_images(
        self, clips: Sequence[PaliGemmaClip], features: Tensor, limit: int
    ) -> list[list[DecodedAnswer]]:
        images = PackedRow(
            0,
            (TokenSegment((self.image_token,) * clips[0].images, both_ways=True),),
            FIRST_POSITION,
        )
        packed = to_device(pack([images] * len(clips), self.decoder.pad), self.model.device)
        state = DecoderState(empty_cache(), packed.prefix)
        self.decoder.read(features.to(self.decoder.dtype), packed.slots, packed.tables, state)
        rows = [
            PackedRow(clip.images, segments(clip.asks, both_ways=True), FIRST_POSITION)
            for clip in clips
        ]
        return answer(self.decoder, rows, [clip.asks for clip in clips], state.cache, limit)

    def _embed(self, row: PackedRow, features: Tensor) -> Tensor:
        """The row's embeddings with the visual tokens in their places."""
        tokens = pack([row], self.decoder.pad).tokens.to(self.model.device)
        words = self.decoder.embed(tokens.masked_fill(tokens == self.image_token, self.decoder.pad))
        places = (tokens == self.image_token)[..., None].expand_as(words)
        embedded: Tensor = words.masked_scatter(places, features.to(words.dtype))
        return embedded

    def _tokens(self, text: str) -> tuple[int, ...]:
        return tuple(self.processor.tokenizer(text, add_special_tokens=False)["input_ids"])
