"""How a chat model is shown frames and a question: through its own processor and chat template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torch import Tensor

from evaluators.media import Pixels

TILES = ("crop_to_patches", "do_image_splitting")
"""Settings that cut a large picture into tiles. The frames of a clip are shown whole, as those who
published such models show theirs: tiles would be dozens of pictures a frame."""


THINKING = "enable_thinking"
"""How templates name the switch of models that can think aloud before they answer."""


class NoChat(ValueError):
    """The model cannot be asked through a chat template; the message says why."""


@dataclass(frozen=True)
class ChatFormat:
    """A model's processor and template, and what they make of frames and words."""

    model: Any
    processor: Any

    def __post_init__(self) -> None:
        if not getattr(self.processor, "chat_template", None):
            raise NoChat(
                f"This {self.model.config.model_type} came without a chat template, so nobody can "
                "tell how to talk to it. Add its chat_template.jinja to the folder."
            )

    @property
    def end(self) -> int:
        """The token that ends an answer."""
        return int(self.processor.tokenizer.eos_token_id)

    @cached_property
    def placeholders(self) -> frozenset[int]:
        """The tokens that stand for pictures in a template or in what the model reads."""
        words, config = self.processor.tokenizer, self.model.config
        named = (getattr(self.processor, name, None) for name in ("image_token", "boi_token"))
        ids = {words.convert_tokens_to_ids(token) for token in named if isinstance(token, str)}
        listed = (getattr(config, name, None) for name in ("image_token_id", "image_token_index"))
        return frozenset(ids | {number for number in listed if isinstance(number, int)})

    def text(self, frames: int, prompt: str) -> str:
        """A question's whole text, as the model was taught to read it."""
        content: list[dict[str, str]] = [{"type": "image"}] * frames + [
            {"type": "text", "text": prompt}
        ]
        return self._written([{"role": "user", "content": content}], True)

    def option(self, option: str) -> tuple[int, ...]:
        """An option's tokens as the template writes an assistant's words."""
        user_turn = {"role": "user", "content": [{"type": "text", "text": "?"}]}
        assistant_turn = {"role": "assistant", "content": [{"type": "text", "text": option}]}
        before = self._written([user_turn], True)
        whole = self._written([user_turn, assistant_turn], False)
        written = whole.removeprefix(before) if whole.startswith(before) else option
        return self.tokens(written[: written.index(option) + len(option)])

    def decode(self, tokens: Sequence[int]) -> str:
        """The words of an answer."""
        return str(self.processor.tokenizer.decode(list(tokens), skip_special_tokens=True))

    def tokens(self, text: str) -> tuple[int, ...]:
        """A text's tokens, nothing put before or behind them."""
        return tuple(self.processor.tokenizer(text, add_special_tokens=False)["input_ids"])

    def inputs(self, frames: Pixels, text: str) -> dict[str, Tensor]:
        """What the model reads: tokens and pixels."""
        from PIL import Image

        settings = self._whole_frames(len(frames))
        begin = getattr(self.processor.tokenizer, "bos_token", None)
        if begin and text.startswith(begin):
            # Many templates write the token that begins a text; there must not be another.
            settings["add_special_tokens"] = False
        pictures = [Image.fromarray(pixels) for pixels in frames]
        read = self.processor(images=[pictures], text=[text], return_tensors="pt", **settings)
        device, dtype = self.model.device, self.model.dtype
        return {
            name: values.to(device, dtype) if values.is_floating_point() else values.to(device)
            for name, values in read.items()
        }

    def _written(self, messages: list[dict[str, Any]], answering: bool) -> str:
        """A judge is asked for a few words; a model that can think aloud first is told not to."""
        quiet = {THINKING: False} if THINKING in str(self.processor.chat_template) else {}
        return str(
            self.processor.apply_chat_template(
                messages, add_generation_prompt=answering, tokenize=False, **quiet
            )
        )

    def _whole_frames(self, frames: int) -> dict[str, Any]:
        images = getattr(self.processor, "image_processor", None)
        return {name: False for name in TILES if frames > 1 and hasattr(images, name)}


def by_token(inputs: Mapping[str, Tensor]) -> frozenset[str]:
    """The names of what goes along with the tokens, one value or row for each."""
    shape = inputs["input_ids"].shape
    return frozenset(
        name for name, values in inputs.items() if values.ndim > 1 and values.shape[:2] == shape
    )
