"""An exam for judges: media with known content, questions in a suite's own words, right answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from evaluators.contracts import Json, Question, Request
from evaluators.media import sha256_file

HIGH, LOW = "high", "low"
"""The right answers to ratings: the sound twin has to be rated above the spoiled one."""

SHARD = 20
"""Items whose media lie on the disk at once."""


@dataclass(frozen=True, slots=True)
class ExamItem:
    """A picture or clip drawn from `scene`, the questions about it, and the right answer to each.

    Items that share media or a scene share a `cluster`. Two items with the same `twin` are the
    sound and the spoiled version of one scene, with one rating to give.
    """

    id: str
    cluster: str
    modality: str
    prompt: str
    questions: tuple[Question, ...]
    answers: Mapping[str, str]
    scene: Mapping[str, Json]
    twin: str = ""


@dataclass(frozen=True, slots=True)
class ExamBounds:
    """What a judge has to reach in kappa, in answers, and in twins rated in the right order.

    Of kappa and of the order the lower end of the interval counts. `yes_bias` is how far the share
    of favourable answers may be from the right share; here the end of the interval counts that is
    farther from zero.
    """

    kappa: float = 0.4
    yes_bias: float = 0.2
    answer_rate: float = 0.95
    order: float = 0.6


@dataclass(frozen=True, slots=True)
class Exam:
    """What a suite asks a judge before it ranks anybody; another version is another exam.

    `menu` is what its closed questions offer, the favourable answer first. `write` draws an item's
    media into a folder, the same bytes each time, under a name that tells nothing. `must_lose` are
    the titles of the sanity rows that entries have to be surely above.
    """

    version: str
    menu: tuple[str, ...]
    items: Callable[[], tuple[ExamItem, ...]]
    write: Callable[[ExamItem, Path], Path]
    bounds: ExamBounds = ExamBounds()
    must_lose: tuple[str, ...] = ()


def request_of(item: ExamItem, media: Path) -> Request:
    """What a judge is asked about an item: as about an output, and nothing of the answers."""
    return Request(item.id, media, sha256_file(media), item.modality, item.prompt, item.questions)


def shards(items: Sequence[ExamItem], size: int = SHARD) -> Iterator[Sequence[ExamItem]]:
    """The items in order, so many at a time."""
    return (items[start : start + size] for start in range(0, len(items), size))


def opaque_id(exam: str, *address: object) -> str:
    """An id that tells nothing of what it stands for; items are sorted by it.

    >>> opaque_id("tailor", "rope", 3)
    'exam.7126f7'
    """
    return f"exam.{hashlib.sha256(repr((exam, *address)).encode()).hexdigest()[:6]}"


NO_PARENT = '"parent": "", '


def items_sha256(items: Sequence[ExamItem]) -> str:
    """The hash of every word, scene and right answer of an exam, in their order."""
    listed = json.dumps([asdict(item) for item in items], sort_keys=True, ensure_ascii=False)
    # An exam's questions hang on no others, and its hash is that of the time before they could.
    return hashlib.sha256(listed.replace(NO_PARENT, "").encode()).hexdigest()
