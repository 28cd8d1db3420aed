"""From questions to menus of tokens, and from a model's output to answers on the menu."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor

from evaluators.contracts import Answer, Json, Outcome, Question, Reply, Request
from evaluators.judges.quoting import quoted, unmarked
from evaluators.models.vlm.packed.decoder import DecodedAnswer

UNSURE = "unclear"
CLOSED = "Answer with exactly one of: {options}."
OPEN = "Answer in a few words."


@dataclass(frozen=True, slots=True)
class Menu:
    """A question with the tokens of its options; none for an open one, a problem for one that
    cannot be asked."""

    question: Question
    options: tuple[str, ...] = ()
    tokens: tuple[tuple[int, ...], ...] = ()
    problem: str = ""

    @property
    def has_unsure(self) -> bool:
        """Whether one may answer that it cannot be told."""
        return UNSURE in self.options

    def text(self, template: str, prompt: str) -> str:
        """What the model reads; the description it was made from goes in as quoted data."""
        menu = CLOSED.format(options=", ".join(self.options)) if self.options else OPEN
        return template.format(
            question=unmarked(self.question.text), menu=menu, prompt=quoted(prompt)
        )


def wording(template: str) -> str:
    """All words that are ours, for the prompt's hash."""
    return "\n".join((template, CLOSED, OPEN))


def options_of(question: Question) -> tuple[str, ...]:
    """The menu of a question; a rating without one offers the whole numbers of its range.

    >>> options_of(Question("q", "How real?", "rating", low=0, high=3))
    ('0', '1', '2', '3')
    """
    if question.kind == "open":
        return ()
    if question.options:
        return question.options
    if question.kind == "yes_no":
        return ("yes", "no")
    if question.kind == "rating" and question.low is not None and question.high is not None:
        return tuple(str(number) for number in range(ceil(question.low), floor(question.high) + 1))
    return ()


def menu_of(question: Question, encode: Callable[[str], tuple[int, ...]], end: int) -> Menu:
    """The question's menu as tokens; if one option begins another, all are closed by the end
    token."""
    options = options_of(question)
    if question.kind == "open":
        return Menu(question)
    if len(options) < 2:
        return Menu(
            question, problem=f"The closed question {question.id!r} offers fewer than two answers."
        )
    tokens = tuple(encode(option) for option in options)
    if len(set(tokens)) < len(tokens):
        return Menu(
            question,
            problem=f"Two options of {question.id!r} are the same to this model's tokenizer.",
        )
    if any(
        option_tokens != longer and longer[: len(option_tokens)] == option_tokens
        for option_tokens in tokens
        for longer in tokens
    ):
        tokens = tuple((*option, end) for option in tokens)
    return Menu(question, options, tokens)


def reply(
    request: Request,
    menus: Sequence[Menu],
    decoded: Sequence[DecodedAnswer],
    decode: Callable[[Sequence[int]], str],
    tokens_in: int,
    problem: str = "",
) -> Reply:
    """Answers on the menu, the scores or words behind them kept raw."""
    if problem:
        return failed(request, problem)
    heard = iter(decoded)
    answers: list[Answer] = []
    raw: dict[str, Json] = {}
    for menu in menus:
        answer, words = _answer(menu, None if menu.problem else next(heard), decode)
        answers.append(answer)
        raw[menu.question.id] = words
    spoken = sum(len(answer_tokens.tokens) for answer_tokens in decoded)
    return Reply(
        request.sample_id, tuple(answers), json.dumps(raw, ensure_ascii=False), tokens_in, spoken
    )


def failed(request: Request, problem: str) -> Reply:
    """No answers, and why."""
    answers = tuple(
        Answer(question.id, Outcome.JUDGE_ERROR, reason=problem) for question in request.questions
    )
    return Reply(request.sample_id, answers)


def above_blank(decoded: DecodedAnswer, blank: DecodedAnswer) -> DecodedAnswer:
    """Scores less those of the same question about grey frames, so that a habit of saying yes is
    none of the answer: what the frames do not tell is nothing, for every option."""
    pairs = zip(decoded.scores, blank.scores, strict=True)
    return replace(decoded, scores=tuple(round(seen - unseen, 6) for seen, unseen in pairs))


def mean_scores(menu: Menu, decoded: DecodedAnswer) -> tuple[float, ...]:
    """The log-probability of each option a token: by their sums, an option of three tokens would
    lose to one of a single token that is less likely in every place."""
    pairs = zip(decoded.scores, menu.tokens, strict=True)
    return tuple(score / len(tokens) for score, tokens in pairs)


def _answer(
    menu: Menu, decoded: DecodedAnswer | None, decode: Callable[[Sequence[int]], str]
) -> tuple[Answer, Json]:
    name = menu.question.id
    if decoded is None:
        return Answer(name, Outcome.JUDGE_ERROR, reason=menu.problem), None
    if menu.options:
        means = mean_scores(menu, decoded)
        best = max(range(len(means)), key=lambda k: (means[k], menu.options[k] == UNSURE))
        scores: dict[str, Json] = {
            option: round(mean, 4) for option, mean in zip(menu.options, means, strict=True)
        }
        return Answer(name, Outcome.SCORED, menu.options[best]), scores
    words = decode(decoded.tokens).strip()
    if not decoded.ended:
        return Answer(
            name, Outcome.JUDGE_UNPARSABLE, reason=f"Cut off after {len(decoded.tokens)} tokens."
        ), words
    if not words:
        return Answer(name, Outcome.JUDGE_UNPARSABLE, reason="The answer is empty."), words
    return Answer(name, Outcome.SCORED, words), words
