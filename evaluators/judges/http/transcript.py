"""What a model has replied to one question so far: raw texts, tokens and their cost, without the
API key."""

from __future__ import annotations

from dataclasses import dataclass, field

from evaluators.judges.completions import Completion
from evaluators.judges.http.endpoint import HttpJudgeConfig
from evaluators.judges.quoting import storable


@dataclass
class Transcript:
    """The replies to one question in their order, with the tokens of all of them; `limit` is how
    many the next may take."""

    config: HttpJudgeConfig
    replies: list[str] = field(default_factory=list)
    tokens_in: int = 0
    tokens_out: int = 0
    limit: int = field(init=False)

    def __post_init__(self) -> None:
        self.limit = self.config.max_tokens

    def add(self, completion: Completion) -> None:
        """Note a completion; tokens that the endpoint did not count are 0."""
        self.replies.append(completion.text or completion.refusal)
        self.tokens_in += completion.tokens_in or 0
        self.tokens_out += completion.tokens_out or 0

    @property
    def cost(self) -> float:
        """The price of all tokens so far."""
        return self.config.price(self.tokens_in, self.tokens_out)

    @property
    def last(self) -> str:
        """The latest reply, fit to be stored."""
        return self.clean(self.replies[-1])

    def raw(self, page: str = "") -> str:
        """All replies and, behind them, a page that was no completion, fit to be stored."""
        return self.clean("\n\n".join(filter(None, [*self.replies, page])))

    def clean(self, text: str) -> str:
        """Text without the API key and without characters that a database refuses."""
        return storable(self.config.redact(text))
