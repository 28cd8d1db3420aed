"""What a rater fills in: a few media, a text, and asks. Each suite's protocol makes forms; one page
draws them all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

AskKind = Literal["choice", "scale", "tick", "letter", "watched"]
UNABLE = "unable"
"""The ask that says: this cannot be labelled. If it is ticked, nothing else is required."""

Answers = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FormQuestion:
    """One question. `about` is the letter of the medium it is asked of, empty for the whole; it is
    asked only where the answer to `after` is yes."""

    id: str
    text: str
    kind: AskKind
    about: str = ""
    options: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    required: bool = True
    after: str = ""

    def is_open(self, answers: Answers) -> bool:
        """Whether it is asked, by what was answered so far."""
        return not self.after or answers.get(self.after) == "yes"


@dataclass(frozen=True, slots=True)
class Medium:
    """One picture or clip under its letter; `blob` is the hash of the blinded file."""

    letter: str
    blob: str
    media_type: str


@dataclass(frozen=True, slots=True)
class Form:
    """One item as a rater sees it; `context` are pictures that nothing is asked about."""

    text: str
    media: tuple[Medium, ...]
    asks: tuple[FormQuestion, ...]
    differ: tuple[tuple[str, str], ...] = ()
    heading: str = ""
    legend: tuple[str, ...] = ()
    warning: str = ""
    context: tuple[Medium, ...] = ()

    def as_row(self) -> dict[str, Any]:
        """The form as JSON."""
        return asdict(self)


def form_of(row: Mapping[str, Any]) -> Form:
    """A form from its JSON."""
    return Form(
        row["text"],
        tuple(Medium(**fields) for fields in row["media"]),
        tuple(
            FormQuestion(
                **{
                    **fields,
                    "options": tuple(fields["options"]),
                    "anchors": tuple(fields["anchors"]),
                }
            )
            for fields in row["asks"]
        ),
        tuple((first, second) for first, second in row["differ"]),
        row.get("heading", ""),
        tuple(row.get("legend", ())),
        row.get("warning", ""),
        tuple(Medium(**fields) for fields in row.get("context", ())),
    )


def problems(form: Form, answers: Answers) -> list[str]:
    """Why these answers cannot be handed in yet, in words; nothing if they can.

    >>> question = FormQuestion("q1", "Is the nail in?", "choice", options=("yes", "no"))
    >>> problems(Form("", (), (question,)), {})
    ['Is the nail in?: no answer yet.']
    >>> problems(Form("", (), (question,)), {"q1": "yes"})
    []
    """
    unknown = [
        f"{name!r} is not asked here."
        for name in answers
        if name not in {ask.id for ask in form.asks}
    ]
    if answers.get(UNABLE) is True:
        return unknown
    unanswered = [
        problem
        for ask in form.asks
        if ask.is_open(answers) and (problem := _problem(ask, answers.get(ask.id)))
    ]
    texts = {ask.id: ask.text for ask in form.asks}
    same = [
        f"{texts[first]} and {texts[second]} cannot be the same."
        for first, second in form.differ
        if answers.get(first) is not None and answers.get(first) == answers.get(second)
    ]
    return unknown + unanswered + same


def _problem(ask: FormQuestion, answer: Any) -> str:
    if ask.kind == "watched":
        return "" if answer is True else f"{ask.about}: play it to the end first."
    if answer is None:
        return f"{ask.text}: no answer yet." if ask.required and ask.kind != "tick" else ""
    if ask.kind == "tick":
        return "" if isinstance(answer, bool) else f"{ask.text}: ticked or not."
    return (
        ""
        if answer in ask.options
        else f"{ask.text}: {str(answer)[:40]!r} is none of {', '.join(ask.options)}."
    )


def lettered(form: Form, order: str) -> Form:
    """The form as one rater sees it: the media under letters in this rater's own order.

    `order` names the media by their true letters in the order shown; the first is shown as A.
    """
    if not order:
        return form
    shown_letters = {true: "ABCD"[place] for place, true in enumerate(order)}
    media = sorted(
        (
            Medium(shown_letters[medium.letter], medium.blob, medium.media_type)
            for medium in form.media
        ),
        key=lambda m: m.letter,
    )
    asks = [_relettered(ask, shown_letters) for ask in form.asks]
    asks.sort(key=lambda ask: ask.about or "Z")
    return replace(form, media=tuple(media), asks=tuple(asks))


def _relettered(ask: FormQuestion, shown_letters: Mapping[str, str]) -> FormQuestion:
    if not ask.about:
        return ask
    letter = shown_letters[ask.about]
    return replace(ask, id=f"{letter}.{_bare(ask.id)}", about=letter)


def unlettered(answers: Answers, order: str) -> dict[str, Any]:
    """Answers under shown letters, brought back to the true ones.

    >>> unlettered({"A.pps": "5", "best": "B"}, "BA")
    {'B.pps': '5', 'best': 'A'}
    """
    true = {"ABCD"[place]: letter for place, letter in enumerate(order)}
    if not order:
        return dict(answers)
    return {_true_name(name, true): true.get(value, value) if name in LETTERS else value
            for name, value in answers.items()}  # fmt: skip


LETTERS = ("best", "worst")


def _true_name(name: str, true: Mapping[str, str]) -> str:
    letter, dot, question = name.partition(".")
    return f"{true[letter]}.{question}" if dot and letter in true else name


def _bare(name: str) -> str:
    return name.partition(".")[2] or name


def letters(media: Sequence[Medium]) -> str:
    """The letters of some media, in their order."""
    return "".join(medium.letter for medium in media)


def compared(form: Form) -> str:
    """The letters that a rater compares, and that are therefore shuffled; views of one thing are
    not."""
    return letters(form.media) if any(ask.about for ask in form.asks) else ""
