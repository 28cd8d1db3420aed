"""What a suite asks: samples with their questions, and the outputs that came back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from evaluators.contracts.outcomes import Facets, Json, Outcome

QuestionKind = Literal["yes_no", "rating", "choice", "open"]


@dataclass(frozen=True, slots=True)
class Question:
    """One thing asked about one output; `options` is the whole menu of a closed question.

    With a `parent`, another question of the same output by its id, it is asked only where the
    parent is met: otherwise its answer does not count.
    """

    id: str
    text: str
    kind: QuestionKind
    part: str = ""
    options: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    parent: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """One item of a suite: what the model is given, and what will be asked about its answer."""

    id: str
    facets: Facets
    cluster: str
    prompt: str
    questions: tuple[Question, ...] = ()
    reference: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Output:
    """What came back for a sample. `file` is set when the outcome is scored.

    Where the suite wants no media but an answer, actions or an outcome, `record["value"]` holds
    what the file says. Files in `beside` go into the store too, and `record["files"]` then holds
    their hashes by name: for the panel.
    """

    sample_id: str
    outcome: Outcome
    file: Path | None = None
    record: Mapping[str, Json] = field(default_factory=dict)
    reason: str = ""
    beside: Mapping[str, Path] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of an output that is judged by itself, a clip of a longer video say; it lies in the
    store by its hash."""

    id: str
    media_sha256: str
    media_type: str
    prompt: str
    questions: tuple[Question, ...]
