"""What a judge is told: a request as chat messages, with words from templates and pictures as data
URLs."""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from string import Template

from evaluators.contracts import Json, Question, Request
from evaluators.judges.menus import describe
from evaluators.judges.quoting import quoted, unmarked
from evaluators.media import Pixels, sample_frames

Message = dict[str, Json]

TEMPLATES = files(__package__) / "templates"
NAMES = (
    "instruction",
    "reply_text",
    "reply_structured",
    "picture",
    "clip",
    "questions",
    "question",
    "retry",
)
JPEG_QUALITY = 92
ENCODING = f"png, clips jpeg {JPEG_QUALITY}"
"""How pictures and frames are sent; both are encoded anew from pixels, so no metadata goes
along."""

LONGEST_ECHO = 2000


def prompt_sha256(*, structured: bool) -> str:
    """The hash of every word a judge may be told, and of the form it is asked to reply in."""
    words = [name + "\0" + _template(name).template for name in NAMES]
    return hashlib.sha256("\0".join([*words, str(structured)]).encode()).hexdigest()


def render(request: Request, frames: str, *, structured: bool) -> list[Message]:
    """The messages of a request: the instruction, then what was asked for, the pictures, and the
    questions."""
    pixels_shown = sample_frames(request.media, frames, request.modality)
    kind = "picture" if request.modality == "image" else "clip"
    lead = _fill(kind, prompt=quoted(request.prompt), frames=len(pixels_shown))
    pictures: list[Json] = [_picture(pixels, lossless=kind == "picture") for pixels in pixels_shown]
    content: list[Json] = [_text(lead), *pictures, _text(_ask(request.questions))]
    return [
        {"role": "system", "content": instruction(len(request.questions), structured=structured)},
        {"role": "user", "content": content},
    ]


@cache
def instruction(count: int, *, structured: bool) -> str:
    """The rules of judging and of replying to this many questions."""
    reply = _fill("reply_structured" if structured else "reply_text", count=count)
    return _fill("instruction", reply=reply)


def correction(reply: str, reason: str, count: int) -> list[Message]:
    """What follows a reply that could not be read: the reply, and why it could not."""
    return [
        {"role": "assistant", "content": unmarked(reply.strip()[-LONGEST_ECHO:]) or "(nothing)"},
        {"role": "user", "content": _fill("retry", reason=unmarked(reason), count=count)},
    ]


def data_url(pixels: Pixels, *, lossless: bool) -> str:
    """Pixels as a data URL: PNG, or JPEG where loss is allowed."""
    from PIL import Image

    buffer = io.BytesIO()
    image = Image.fromarray(pixels)
    if lossless:
        image.save(buffer, format="PNG", compress_level=1)
    else:
        image.save(buffer, format="JPEG", quality=JPEG_QUALITY, subsampling=0)
    encoded = base64.b64encode(buffer.getvalue()).decode()
    return f"data:image/{'png' if lossless else 'jpeg'};base64,{encoded}"


def _ask(questions: Sequence[Question]) -> str:
    lines = [
        _fill("question", number=number, text=quoted(question.text), menu=describe(question))
        for number, question in enumerate(questions, 1)
    ]
    return _fill("questions", questions="\n".join(lines), count=len(questions))


def _picture(pixels: Pixels, *, lossless: bool) -> Json:
    return {"type": "image_url", "image_url": {"url": data_url(pixels, lossless=lossless)}}


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _fill(name: str, **values: object) -> str:
    return _template(name).substitute(values).strip()


@cache
def _template(name: str) -> Template:
    return Template((TEMPLATES / f"{name}.txt").read_text("utf-8"))
