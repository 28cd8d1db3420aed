"""Talking to a local vision-language model with a chat template: greedy, pictures in the order of
the messages."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from evaluators.judges.http.chat import ChatReply
from evaluators.judges.prompts import Message
from evaluators.models.vlm.judge import load_model, revision

CUT_OFF = "the reply was cut off by the token limit; be briefer"


class LocalTalker:
    """A model of this machine; the same words and pictures bring the same reply."""

    def __init__(
        self,
        folder: Path,
        *,
        model_id: str = "",
        device: str = "cpu",
        dtype: str = "",
        limit: int = 4096,
    ) -> None:
        dtype = dtype or ("fp32" if device == "cpu" else "bf16")
        self._model, self._processor = load_model(folder, device, dtype)
        kind = self._model.config.model_type
        if kind == "paligemma" or not getattr(self._processor, "chat_template", None):
            raise ValueError(
                f"A model of type {kind!r} without a chat template is no chat model. Name the "
                "folder of one that was trained to talk, with its chat_template.jinja."
            )
        self._limit = limit
        self.name = (
            f"{model_id or folder.name}@{revision(folder)[:16]}, greedy, {limit} tokens, {dtype}"
        )

    def say(self, messages: Sequence[Message]) -> ChatReply:
        """One reply."""
        pictures: list[Any] = []
        turns = [
            {"role": turn["role"], "content": _parts(turn["content"], pictures)}
            for turn in messages
        ]
        text = str(self._processor.apply_chat_template(turns, add_generation_prompt=True))
        inputs = self._processor(
            images=[pictures] if pictures else None, text=[text], return_tensors="pt"
        )
        inputs = inputs.to(self._model.device)
        with torch.inference_mode():
            generated = self._model.generate(**inputs, max_new_tokens=self._limit, do_sample=False)
        before = inputs["input_ids"].shape[1]
        tokens = generated[0][before:]
        words = str(self._processor.tokenizer.decode(tokens, skip_special_tokens=True))
        return ChatReply(words, CUT_OFF if len(tokens) >= self._limit else "", before, len(tokens))


def _parts(content: Any, pictures: list[Any]) -> list[dict[str, str]]:
    """A turn as the template takes it; its pictures are put aside in order."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    parts: list[dict[str, str]] = []
    for part in content:
        if part["type"] == "text":
            parts.append({"type": "text", "text": str(part["text"])})
        else:
            pictures.append(_picture(str(part["image_url"]["url"])))
            parts.append({"type": "image"})
    return parts


def _picture(url: str) -> Any:
    from PIL import Image

    with Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))) as image:
        return image.convert("RGB")
