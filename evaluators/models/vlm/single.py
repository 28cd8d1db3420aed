"""Judges with a chat template of any other kind: each question is asked alone, through the model's
own way of generating."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from evaluators.media import Pixels
from evaluators.models.vlm.chat_format import ChatFormat
from evaluators.models.vlm.packed.decoder import DecodedAnswer, EncodedQuestion

NOT_TALKED_TO = frozenset(
    {
        *("blip", "blip-2", "instructblip", "instructblipvideo", "git", "pix2struct", "fuyu"),
        *("kosmos-2", "kosmos-2.5", "udop", "vision-encoder-decoder", "florence2", "idefics"),
        *("pp_formulanet", "evolla", "pi0", "diffusion_gemma", "t5gemma2", "shieldgemma2"),
    }
)
"""Model types that transformers lists beside these and that read pictures without turns of talk, or
answer with something else than words one after the other."""


@dataclass(frozen=True, slots=True)
class SingleClip:
    """A clip's frames and, for each question about it, its whole text."""

    frames: Pixels
    texts: tuple[str, ...]
    asks: tuple[EncodedQuestion, ...]

    @property
    def tokens(self) -> int:
        """All tokens of words; what a frame becomes is the processor's affair."""
        return sum(len(ask.tokens) for ask in self.asks)

    @property
    def longest(self) -> int:
        """The words of the longest question."""
        return max(len(ask.tokens) for ask in self.asks)

    def fits_with(self, clip: SingleClip) -> bool:  # noqa: ARG002
        """Clips are asked about one by one."""
        return False


class SingleDecoder:
    """What the judge asks of a decoder: which attention it runs, and logits that a draw may change
    (evaluators/models/vlm/packed/sampling.py)."""

    def __init__(self, model: Any) -> None:
        self.attention = f"{model.config.get_text_config()._attn_implementation}, one by one"

    def logits(self, scores: Tensor) -> Tensor:
        """As the model gave them."""
        return scores


class SingleFamily:
    """Any model with pictures, words and a chat template that transformers can generate with; `why`
    says what speaks against a shared prefix."""

    def __init__(self, model: Any, processor: Any, why: str = "") -> None:
        self.format = ChatFormat(model, processor)
        self.model, self.processor, self.decoder = model, processor, SingleDecoder(model)
        self.end, self.why = self.format.end, why
        ends = model.generation_config.eos_token_id
        self.ends = frozenset(
            [self.end, *(ends if isinstance(ends, list) else [ends] if ends is not None else [])]
        )

    def text(self, frames: int, prompt: str) -> str:
        """A question's whole text, as the model was taught to read it."""
        return self.format.text(frames, prompt)

    def option(self, option: str) -> tuple[int, ...]:
        """An option's tokens as the template writes an assistant's words."""
        return self.format.option(option)

    def decode(self, tokens: Sequence[int]) -> str:
        """The words of an answer."""
        return self.format.decode(tokens)

    def prepare(
        self, frames: Pixels, prompts_and_menus: Sequence[tuple[str, tuple[tuple[int, ...], ...]]]
    ) -> SingleClip:
        """The texts of a clip's questions."""
        texts = tuple(self.text(len(frames), prompt) for prompt, _ in prompts_and_menus)
        asks = tuple(
            EncodedQuestion(self.format.tokens(text), menu)
            for text, (_, menu) in zip(texts, prompts_and_menus, strict=True)
        )
        return SingleClip(frames, texts, asks)

    def answer(self, clips: Sequence[SingleClip], limit: int) -> list[list[DecodedAnswer]]:
        """One question after the other."""
        return [
            [
                self._answer(self.format.inputs(clip.frames, text), ask, limit)
                for text, ask in zip(clip.texts, clip.asks, strict=True)
            ]
            for clip in clips
        ]

    def _answer(self, inputs: Any, ask: EncodedQuestion, limit: int) -> DecodedAnswer:
        if not ask.options:
            return self._spoken(inputs, limit)
        first = self._forced(inputs, ask.options[0][:1])
        # All options begin after the same words; only one of several tokens needs its own way.
        every = [
            first if len(option) == 1 else self._forced(inputs, option) for option in ask.options
        ]
        scores = tuple(
            sum(float(row[token]) for row, token in zip(rows, option, strict=True))
            for rows, option in zip(every, ask.options, strict=True)
        )
        return DecodedAnswer(first[0], scores)

    def _forced(self, inputs: Any, option: Sequence[int]) -> Tensor:
        """The log-probabilities, one row a token, while the model is made to say an option."""
        start = inputs["input_ids"].shape[1]

        def force(ids: Tensor, scores: Tensor) -> Tensor:
            only = torch.full_like(scores, float("-inf"))
            only[:, option[ids.shape[1] - start]] = 0.0
            return only

        said = self._generate(inputs, len(option), force)
        logits = torch.cat([step.float() for step in said.logits])
        return torch.log_softmax(logits, -1)

    def _spoken(self, inputs: Any, limit: int) -> DecodedAnswer:
        def choose(_ids: Tensor, scores: Tensor) -> Tensor:
            return self.decoder.logits(scores)

        said = self._generate(inputs, limit, choose)
        tokens = said.sequences[0, inputs["input_ids"].shape[1] :].tolist()
        ended = bool(tokens) and tokens[-1] in self.ends
        words = tuple(tokens[:-1] if ended else tokens)
        return DecodedAnswer(said.logits[0][0].float(), tokens=words, ended=ended)

    def _generate(self, inputs: Any, tokens: int, processor: Any) -> Any:
        """Greedy, whatever the folder says of sampling: a judge's answer is the same each time."""
        from transformers import GenerationConfig, LogitsProcessorList

        own = self.model.generation_config
        pad = self.end if own.pad_token_id is None else own.pad_token_id
        self.model.generation_config = GenerationConfig(
            eos_token_id=sorted(self.ends), pad_token_id=pad, bos_token_id=own.bos_token_id
        )
        try:
            return self.model.generate(
                **inputs,
                max_new_tokens=tokens,
                do_sample=False,
                output_logits=True,
                return_dict_in_generate=True,
                logits_processor=LogitsProcessorList([processor]),
            )
        finally:
            self.model.generation_config = own
