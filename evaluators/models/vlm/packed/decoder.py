"""A decoder asked many things at once: menus by the logits of their options, open questions
greedily."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from evaluators.models.vlm.packed.attention import in_strips
from evaluators.models.vlm.packed.head import head_of
from evaluators.models.vlm.packed.packing import (
    PackedRow,
    PackedRows,
    Slots,
    Tables,
    TokenSegment,
    additive,
    pack,
    visible,
)

HEAD_ROWS = 64
"""Positions whose logits are held at once; a vocabulary can have 257,000 words."""


@dataclass(frozen=True, slots=True)
class EncodedQuestion:
    """A question as tokens, with its menu as tokens; no menu is an open question."""

    tokens: tuple[int, ...]
    options: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class DecodedAnswer:
    """The log-probability of each option, or the tokens of an open answer and whether it came to
    its end."""

    first: Tensor
    scores: tuple[float, ...] = ()
    tokens: tuple[int, ...] = ()
    ended: bool = False


@dataclass(slots=True)
class DecoderState:
    """What a decoder has read so far: its cache, and which segment and position each cached token
    has.

    `shift` is what a model with positions in space (Qwen-VL) adds to a token's count to get its
    position, a row each.
    """

    cache: Any
    slots: Slots
    shift: Tensor | int = 0


class Decoder:
    """The language half of a vision-language model, run with masks of our own."""

    def __init__(self, model: Any) -> None:
        self.body, self.embed = model.get_decoder(), model.get_input_embeddings()
        self.head, self.dtype, self.device = head_of(model), model.dtype, model.device
        self.text = text = model.config.get_text_config()
        kernel = str(text._attn_implementation)
        self.attention = "eager in strips" if kernel == "eager" else kernel
        self.window: int | None = getattr(text, "sliding_window", None)
        plain = "full_attention" if self.window is None else "sliding_attention"
        self.kinds = sorted(set(getattr(text, "layer_types", None) or [plain]))
        if unknown := set(self.kinds) - {"full_attention", "sliding_attention"}:
            raise ValueError(
                f"The decoder has layers of kind {sorted(unknown)}; only full and sliding ones are "
                "known."
            )
        ends = model.generation_config.eos_token_id
        self.ends: frozenset[int] = frozenset(ends if isinstance(ends, list) else [ends])
        self.pad = int(getattr(text, "pad_token_id", None) or 0)

    def read(self, embeds: Tensor, slots: Slots, tables: Tables, state: DecoderState) -> Tensor:
        """Hidden states of these tokens, which see what the tables say; they join what has been
        seen."""
        state.slots = Slots(torch.cat([state.slots.segment, slots.segment], 1),
                           torch.cat([state.slots.position, slots.position], 1))  # fmt: skip
        masks = {kind: self._mask(kind, tables, slots, state.slots) for kind in self.kinds}
        mask = masks if len(masks) > 1 else masks[self.kinds[0]]
        with in_strips(self.text):
            read = self.body(
                inputs_embeds=embeds,
                attention_mask=mask,
                position_ids=slots.position + state.shift,
                past_key_values=state.cache,
                use_cache=True,
            )
        hidden: Tensor = read.last_hidden_state
        return hidden

    def logits(self, hidden: Tensor) -> Tensor:
        """Logits in full precision, capped where the model caps them."""
        return self.head.logits(hidden)

    def _mask(self, kind: str, tables: Tables, queries: Slots, keys: Slots) -> Tensor:
        window = self.window if kind == "sliding_attention" else None
        return additive(visible(tables, queries, keys, window), self.dtype)


def segments(asks: Sequence[EncodedQuestion], both_ways: bool = False) -> tuple[TokenSegment, ...]:
    """A segment a question, behind it one for each option's inner tokens and an empty one for an
    open answer."""
    token_segments: list[TokenSegment] = []
    for ask in asks:
        token_segments.append(TokenSegment(ask.tokens, both_ways=both_ways))
        parent = len(token_segments)
        token_segments += [TokenSegment(option[:-1], parent) for option in ask.options] or [
            TokenSegment((), parent)
        ]
    return tuple(token_segments)


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where an ask stands: its row, its segment's number, the index of its last token, and where an
    answer begins."""

    row: int
    segment: int
    last: int
    after: int
    ask: EncodedQuestion


def answer(
    decoder: Decoder,
    rows: Sequence[PackedRow],
    asks: Sequence[Sequence[EncodedQuestion]],
    cache: Any,
    limit: int,
    embeds: Tensor | None = None,
    shift: Tensor | int = 0,
) -> list[list[DecodedAnswer]]:
    """Answer the asks of each row, whose segments `segments` made; the cache holds the prefixes."""
    packed = to_device(pack(rows, decoder.pad), decoder.device)
    state = DecoderState(cache, packed.prefix, shift)
    inputs = decoder.embed(packed.tokens) if embeds is None else embeds
    hidden = decoder.read(inputs, packed.slots, packed.tables, state)
    spots = [spot for r, row in enumerate(asks) for spot in _spots(packed, r, row)]
    firsts = decoder.logits(hidden[[spot.row for spot in spots], [spot.last for spot in spots]])
    answers = [DecodedAnswer(first) for first in firsts]
    _score(decoder, packed, hidden, spots, answers)
    _speak(decoder, packed, state, spots, answers, limit)
    flat = iter(answers)
    return [[next(flat) for _ in row] for row in asks]


def _spots(packed: PackedRows, r: int, asks: Sequence[EncodedQuestion]) -> Iterator[_Spot]:
    at = 1
    for ask in asks:
        begin, start = packed.begins[r][at - 1], packed.starts[r][at - 1]
        yield _Spot(r, at, begin + len(ask.tokens) - 1, start + len(ask.tokens), ask)
        at += 1 + max(1, len(ask.options))


def _score(
    decoder: Decoder,
    packed: PackedRows,
    hidden: Tensor,
    spots: Sequence[_Spot],
    answers: list[DecodedAnswer],
) -> None:
    """Sum each option's log-probabilities, token by token."""
    inner: list[tuple[int, int, int, int]] = []
    for n, spot in enumerate(spots):
        if not spot.ask.options:
            continue
        starts = torch.log_softmax(answers[n].first, -1)
        answers[n] = replace(
            answers[n], scores=tuple(float(starts[option[0]]) for option in spot.ask.options)
        )
        begins = packed.begins[spot.row][spot.segment :]
        for k, option in enumerate(spot.ask.options):
            inner += [(n, k, begins[k] + i, word) for i, word in enumerate(option[1:])]
    for chunk in (inner[i : i + HEAD_ROWS] for i in range(0, len(inner), HEAD_ROWS)):
        places = hidden[[spots[n].row for n, _, _, _ in chunk], [place for _, _, place, _ in chunk]]
        log_probabilities = torch.log_softmax(decoder.logits(places), -1)
        for line, (n, k, _, word) in zip(log_probabilities, chunk, strict=True):
            scores = list(answers[n].scores)
            scores[k] += float(line[word])
            answers[n] = replace(answers[n], scores=tuple(scores))


def _speak(
    decoder: Decoder,
    packed: PackedRows,
    state: DecoderState,
    spots: Sequence[_Spot],
    answers: list[DecodedAnswer],
    limit: int,
) -> None:
    """Generate all open answers side by side, one token of each a step."""
    words = {
        n: [int(answers[n].first.argmax())] for n, spot in enumerate(spots) if not spot.ask.options
    }
    for step in range(limit - 1):
        live = [n for n, spoken in words.items() if spoken[-1] not in decoder.ends]
        if not live:
            break
        columns = _columns([spots[n].row for n in live])
        slots, tokens = _next_slots(
            packed, [spots[n] for n in live], [words[n][-1] for n in live], columns, step
        )
        hidden = decoder.read(decoder.embed(tokens), slots, packed.tables, state)
        best = decoder.logits(hidden[[spots[n].row for n in live], columns]).argmax(-1).tolist()
        for n, word in zip(live, best, strict=True):
            words[n].append(word)
    for n, spoken in words.items():
        answers[n] = replace(answers[n], tokens=tuple(spoken), ended=spoken[-1] in decoder.ends)


def _columns(rows: Sequence[int]) -> list[int]:
    """The place of each item among those of its row.

    >>> _columns([0, 0, 1, 1, 1])
    [0, 1, 0, 1, 2]
    """
    counts: Counter[int] = Counter()
    places = []
    for row in rows:
        places.append(counts[row])
        counts[row] += 1
    return places


def _next_slots(
    packed: PackedRows,
    spots: Sequence[_Spot],
    words: Sequence[int],
    columns: Sequence[int],
    step: int,
) -> tuple[Slots, Tensor]:
    """One token for each live answer; rows with fewer are padded by tokens that nothing sees."""
    shape, device = (len(packed.tokens), max(columns) + 1), packed.tokens.device
    tokens, position = torch.zeros(shape, dtype=torch.long), torch.zeros(shape, dtype=torch.long)
    segment = torch.full(shape, packed.tables.both_ways.shape[1] - 1)
    for spot, word, column in zip(spots, words, columns, strict=True):
        tokens[spot.row, column], position[spot.row, column] = word, spot.after + step
        segment[spot.row, column] = spot.segment + 1
    return Slots(segment.to(device), position.to(device)), tokens.to(device)


def to_device(packed: PackedRows, device: torch.device) -> PackedRows:
    """The same on the device."""
    slots, prefix, tables = packed.slots, packed.prefix, packed.tables
    return replace(
        packed,
        tokens=packed.tokens.to(device),
        slots=Slots(slots.segment.to(device), slots.position.to(device)),
        prefix=Slots(prefix.segment.to(device), prefix.position.to(device)),
        tables=Tables(tables.sees.to(device), tables.both_ways.to(device)),
    )


def empty_cache() -> Any:
    """A cache that keeps every token of every layer: a sliding one drops what a packed question may
    still see."""
    from transformers import DynamicCache

    return DynamicCache()
