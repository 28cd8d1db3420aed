"""What a judge is told: a request as chat messages, with words from templates and pictures as data
URLs."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from string import Template

from evaluators.contracts import Json, Question, Request
from evaluators.judges.menus import describe
from evaluators.judges.quoting import quoted, unmarked
from evaluators.judges.showing import (
    PLAIN,
    MediaForm,
    frame_parts,
    is_video,
    picture_parts,
    video_parts,
)

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
VIDEO = "video"
"""The template that stands for `clip` where clips are sent as videos."""

LONGEST_ECHO = 2000


def prompt_sha256(*, structured: bool, video: bool = False, rules: str = "") -> str:
    """The hash of every word a judge may be told, and of the form it is asked to reply in; `rules`
    stands for the general instruction."""
    replaced = {"instruction": rules} if rules else {}
    names = (*NAMES, VIDEO) if video else NAMES
    words = [name + "\0" + replaced.get(name, _template(name).template) for name in names]
    return hashlib.sha256("\0".join([*words, str(structured)]).encode()).hexdigest()


def render(
    request: Request,
    frames: str,
    *,
    structured: bool,
    form: MediaForm = PLAIN,
    rules: str = "",
) -> list[Message]:
    """The messages of a request: the instruction, then what was asked for, the pictures, and the
    questions."""
    kind, media = _media(request, frames, form)
    lead = _fill(kind, prompt=quoted(request.prompt), frames=len(media))
    content: list[Json] = [_text(lead), *media, _text(_ask(request.questions))]
    system = instruction(len(request.questions), structured=structured, rules=rules)
    return [{"role": "system", "content": system}, {"role": "user", "content": content}]


@cache
def instruction(count: int, *, structured: bool, rules: str = "") -> str:
    """The rules of judging, a suite's own if it has any, and of replying to this many questions."""
    reply = _fill("reply_structured" if structured else "reply_text", count=count)
    template = Template(rules) if rules else _template("instruction")
    return template.substitute(reply=reply).strip()


def correction(reply: str, reason: str, count: int) -> list[Message]:
    """What follows a reply that could not be read: the reply, and why it could not."""
    return [
        {"role": "assistant", "content": unmarked(reply.strip()[-LONGEST_ECHO:]) or "(nothing)"},
        {"role": "user", "content": _fill("retry", reason=unmarked(reason), count=count)},
    ]


def _media(request: Request, frames: str, form: MediaForm) -> tuple[str, list[Json]]:
    """The name of the template that leads to the media, and the media."""
    if request.modality == "image":
        return "picture", picture_parts(request.media, form)
    if is_video(frames):
        return VIDEO, video_parts(request.media, frames, form)
    return "clip", frame_parts(request.media, frames, form)


def _ask(questions: Sequence[Question]) -> str:
    numbers = {question.id: number for number, question in enumerate(questions, 1)}
    lines = [
        _fill(
            "question",
            number=f"{numbers[question.id]}{_after(numbers.get(question.parent))}",
            text=quoted(question.text),
            menu=describe(question),
        )
        for question in questions
    ]
    return _fill("questions", questions="\n".join(lines), count=len(questions))


def _after(parent: int | None) -> str:
    """The mark of a question that hangs on another one."""
    return f" [after q{parent}]" if parent else ""


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _fill(name: str, **values: object) -> str:
    return _template(name).substitute(values).strip()


@cache
def _template(name: str) -> Template:
    return Template((TEMPLATES / f"{name}.txt").read_text("utf-8"))
