"""What a study is about: items from the outputs of entries on the board, or from a file."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlmodel import Session

from evaluators.contracts import Outcome, Output, Rating, Sample
from evaluators.suites import suite_named
from flows.run.questions import output_of
from flows.run.tables_io import outputs_of
from infra import tables
from infra.db import session
from infra.settings import Settings
from infra.store import Store, fetch_blob, open_store, put_blob
from leaderboard.studies.states import StudyError

REAL = "real"
"""The method of an item that shows what really happened."""
LETTERS = "ABCD"

Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Made:
    """One entry's output for one sample."""

    submission: str
    team: str
    sample: Sample
    row: tables.Output


def items_of_board(
    settings: Settings, suite: str, submissions: Sequence[str], most: int, seed: int
) -> list[Item]:
    """Items from what is on the board: the same samples of every submission, drawn from a seed.

    A sample is drawn whether or not its outputs are there: one that failed is shown to nobody, and
    counts as failed.
    """
    rating = _rating(suite)
    with session(settings.database) as db:
        made = [_made(db, suite, name) for name in dict.fromkeys(submissions)]
    store, dice = open_store(settings.objects, settings.s3_endpoint), random.Random(seed)  # noqa: S311
    if rating.side_by_side:
        return _sets(rating, store, made, most, dice)
    shared = [name for name in made[0] if all(name in one for one in made)] if made else []
    shown = [
        one
        for name in sorted(dice.sample(shared, min(most, len(shared))))
        for one in _at(made, name)
    ]
    items = [_alone(rating, store, one) for one in shown]
    seen = {one.sample.cluster: one.sample for one in shown} if rating.real else {}
    return items + [_real(rating, store, sample) for sample in seen.values()]


def _rating(name: str) -> Rating:
    rating = suite_named(name).rating
    if rating is None:
        raise StudyError(
            f"Nobody has said how people rate {name}. Choose another suite, or bring a file of "
            "items."
        )
    return rating


def _made(db: Session, suite: str, submission: str) -> dict[str, Made]:
    row = db.get(tables.Submission, submission)
    if row is None or row.suite != suite:
        raise StudyError(
            f"{submission!r} is no submission of {suite}. `armillary status` lists them."
        )
    samples = {sample.id: sample for sample in suite_named(suite).samples()}
    found = outputs_of(db, submission)
    return {
        name: Made(submission, row.team, samples[name], found[name])
        for name in samples
        if name in found
    }


def _at(made: Sequence[Mapping[str, Made]], name: str) -> list[Made]:
    return [one[name] for one in made if one[name].row.outcome == Outcome.SCORED]


def _alone(rating: Rating, store: Store, one: Made) -> Item:
    behind = {
        "methods": {"A": one.submission},
        "samples": {"A": one.sample.id},
        "teams": [one.team],
    }
    words = rating.words(one.sample, output_of(one.sample, one.row))
    return {**words, "media": [_medium(rating, store, one)], "behind": behind}


def _real(rating: Rating, store: Store, sample: Sample) -> Item:
    """What really happened, rated like everything else and by nobody's leave known as such."""
    words = rating.words(sample, Output(sample.id, Outcome.SCORED))
    behind = {"methods": {"A": REAL}, "samples": {"A": sample.id}, "teams": []}
    return {**words, "media": [_drawn(rating, store, sample, None)], "behind": behind}


def _sets(
    rating: Rating, store: Store, made: Sequence[Mapping[str, Made]], most: int, dice: random.Random
) -> list[Item]:
    """Two to four outputs of one cluster beside each other; where there are more, they are dealt to
    several sets."""
    clusters: dict[str, list[Made]] = {}
    for one in (one for entry in made for one in entry.values()):
        if one.row.outcome == Outcome.SCORED:
            clusters.setdefault(one.sample.cluster, []).append(one)
    able = sorted(name for name, some in clusters.items() if len(some) > 1)
    chosen = sorted(dice.sample(able, min(most, len(able))))
    return [_set(rating, store, some) for name in chosen for some in _dealt(clusters[name], dice)]


def _dealt(some: Sequence[Made], dice: random.Random) -> list[list[Made]]:
    count = -(-len(some) // len(LETTERS))
    mixed = dice.sample(some, len(some))
    return [mixed[number::count] for number in range(count)]


def _set(rating: Rating, store: Store, some: Sequence[Made]) -> Item:
    named = dict(zip(LETTERS, some, strict=False))
    behind = {
        "methods": {letter: one.submission for letter, one in named.items()},
        "samples": {letter: one.sample.id for letter, one in named.items()},
        "teams": sorted({one.team for one in some}),
    }
    words = rating.words(some[0].sample, output_of(some[0].sample, some[0].row))
    return {**words, "media": [_medium(rating, store, one) for one in some], "behind": behind}


def _medium(rating: Rating, store: Store, one: Made) -> dict[str, str]:
    if rating.show is None:
        return {"sha256": one.row.media_sha256, "media_type": one.row.media_type}
    with tempfile.TemporaryDirectory(prefix="armillary-study-") as folder:
        file = Path(folder) / "output"
        fetch_blob(store, one.row.media_sha256, file)
        return _drawn(rating, store, one.sample, file)


def _drawn(rating: Rating, store: Store, sample: Sample, file: Path | None) -> dict[str, str]:
    assert rating.show is not None
    with tempfile.TemporaryDirectory(prefix="armillary-study-") as folder:
        return {
            "sha256": put_blob(store, rating.show(sample, file, Path(folder))),
            "media_type": "video/mp4",
        }


def items_of_file(path: Path) -> list[Item]:
    """Items from a JSONL file, one a line, media named relative to it."""
    found = []
    try:
        lines = path.read_text("utf-8").splitlines()
    except UnicodeDecodeError:
        raise StudyError(f"{path} is not text in UTF-8. Write one item a line, as JSON.") from None
    for number, line in enumerate(lines, 1):
        try:
            item = json.loads(line)
            item["media"] = [str(path.parent / name) for name in item["media"]]
        except (ValueError, KeyError, TypeError):
            raise StudyError(
                f"Line {number} of {path.name} is no item. Write a JSON object with `media`, a "
                "list of files."
            ) from None
        found.append(item)
    return found
