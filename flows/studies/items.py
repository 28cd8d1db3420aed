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
from flows.run.output_rows import outputs_of
from flows.run.questions import output_of
from infra import tables
from infra.db import session
from infra.settings import Settings
from infra.store import Store, fetch_blob, open_store, put_blob
from leaderboard.studies.states import StudyError
from submissions.format.suggestions import no_such

MOST = 60
"""So many samples a study is about where nobody names a number or a subset."""
REAL = "real"
"""The method of an item that shows what really happened."""
LETTERS = "ABCD"

Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class EntryOutput:
    """One entry's output for one sample."""

    submission: str
    team: str
    sample: Sample
    row: tables.Output


def items_of_board(
    settings: Settings,
    suite: str,
    submissions: Sequence[str],
    max_samples: int | None,
    seed: int,
    subset: str = "",
) -> list[Item]:
    """Items from what is on the board: the same samples of every submission, drawn from a seed; of
    a subset all, unless fewer are asked for.

    A sample is drawn whether or not its outputs are there: one that failed is shown to nobody, and
    counts as failed.
    """
    rating, samples = _rating(suite), _samples(suite, subset)
    most = max_samples or (len(samples) if subset else MOST)
    with session(settings.database) as db:
        entries = [
            _outputs_of_entry(db, suite, name, samples) for name in dict.fromkeys(submissions)
        ]
    if subset and not any(entries):
        raise StudyError(
            f"No entry named has an output of {suite}'s subset {subset!r}. Choose entries that "
            "answered it, or leave the subset out."
        )
    store, dice = open_store(settings.objects, settings.s3_endpoint), random.Random(seed)  # noqa: S311
    if rating.side_by_side:
        return _sets(rating, store, entries, most, dice)
    shared = (
        [name for name in entries[0] if all(name in entry for entry in entries)] if entries else []
    )
    outputs = [
        output
        for name in sorted(dice.sample(shared, min(most, len(shared))))
        for output in _at(entries, name)
    ]
    items = [_alone(rating, store, output) for output in outputs]
    clusters = {output.sample.cluster: output.sample for output in outputs} if rating.real else {}
    return items + [_real(rating, store, sample) for sample in clusters.values()]


def _rating(name: str) -> Rating:
    rating = suite_named(name).rating
    if rating is None:
        raise StudyError(
            f"Nobody has said how people rate {name}. Choose another suite, or bring a file of "
            "items."
        )
    return rating


def _samples(name: str, subset: str) -> dict[str, Sample]:
    """The suite's samples by their ids, or those of one subset."""
    suite = suite_named(name)
    if subset and subset not in suite.subsets:
        raise StudyError(no_such("subset", subset, suite.subsets, within=name))
    chosen = suite.subsets[subset] if subset else None
    return {sample.id: sample for sample in suite.samples() if not chosen or chosen(sample)}


def _outputs_of_entry(
    db: Session, suite: str, submission: str, samples: Mapping[str, Sample]
) -> dict[str, EntryOutput]:
    row = db.get(tables.Submission, submission)
    if row is None or row.suite != suite:
        raise StudyError(
            f"{submission!r} is no submission of {suite}. `armillary status` lists them."
        )
    rows = outputs_of(db, submission)
    return {
        name: EntryOutput(submission, row.team, samples[name], rows[name])
        for name in samples
        if name in rows
    }


def _at(entries: Sequence[Mapping[str, EntryOutput]], name: str) -> list[EntryOutput]:
    return [outputs[name] for outputs in entries if outputs[name].row.outcome == Outcome.SCORED]


def _alone(rating: Rating, store: Store, output: EntryOutput) -> Item:
    behind = {
        "methods": {"A": output.submission},
        "samples": {"A": output.sample.id},
        "teams": [output.team],
    }
    words = rating.words(output.sample, output_of(output.sample, output.row))
    return {**words, "media": [_medium(rating, store, output)], "behind": behind}


def _real(rating: Rating, store: Store, sample: Sample) -> Item:
    """What really happened, rated like everything else and by nobody's leave known as such."""
    words = rating.words(sample, Output(sample.id, Outcome.SCORED))
    behind = {"methods": {"A": REAL}, "samples": {"A": sample.id}, "teams": []}
    return {**words, "media": [_drawn(rating, store, sample, None)], "behind": behind}


def _sets(
    rating: Rating,
    store: Store,
    entries: Sequence[Mapping[str, EntryOutput]],
    max_clusters: int,
    dice: random.Random,
) -> list[Item]:
    """Two to four outputs of one cluster beside each other. An entry that was run in several
    settings is compared with itself; otherwise entries are compared with each other, dealt to
    several sets where there are more than four."""
    clusters: dict[str, list[EntryOutput]] = {}
    for output in (output for entry in entries for output in entry.values()):
        if output.row.outcome == Outcome.SCORED:
            clusters.setdefault(output.sample.cluster, []).append(output)
    able = sorted(name for name, outputs in clusters.items() if len(outputs) > 1)
    chosen = sorted(dice.sample(able, min(max_clusters, len(able))))
    return [
        _set(rating, store, outputs) for name in chosen for outputs in _dealt(clusters[name], dice)
    ]


def _dealt(outputs: Sequence[EntryOutput], dice: random.Random) -> list[list[EntryOutput]]:
    by_entry: dict[str, list[EntryOutput]] = {}
    for output in outputs:
        by_entry.setdefault(output.submission, []).append(output)
    blocks = [block for block in by_entry.values() if len(block) > 1]
    alone = [output for block in by_entry.values() if len(block) == 1 for output in block]
    if len(alone) > 1 or not blocks:
        blocks.append(alone)
    return [part for block in blocks for part in _mixed(block, dice)]


def _mixed(outputs: Sequence[EntryOutput], dice: random.Random) -> list[list[EntryOutput]]:
    count = -(-len(outputs) // len(LETTERS))
    mixed = dice.sample(outputs, len(outputs))
    return [mixed[number::count] for number in range(count)]


def _set(rating: Rating, store: Store, outputs: Sequence[EntryOutput]) -> Item:
    named = dict(zip(LETTERS, outputs, strict=False))
    behind = {
        "methods": {letter: output.submission for letter, output in named.items()},
        "samples": {letter: output.sample.id for letter, output in named.items()},
        "teams": sorted({output.team for output in outputs}),
    }
    first = output_of(outputs[0].sample, outputs[0].row)
    begin = rating.begins(first) if rating.begins else ""
    return {
        **rating.words(outputs[0].sample, first),
        "media": [_medium(rating, store, output) for output in outputs],
        "context": [{"sha256": begin, "media_type": "image/png"}] if begin else [],
        "behind": behind,
    }


def _medium(rating: Rating, store: Store, output: EntryOutput) -> dict[str, str]:
    if rating.show is None:
        return {"sha256": output.row.media_sha256, "media_type": output.row.media_type}
    with tempfile.TemporaryDirectory(prefix="armillary-study-") as folder:
        file = Path(folder) / "output"
        fetch_blob(store, output.row.media_sha256, file)
        return _drawn(rating, store, output.sample, file)


def _drawn(rating: Rating, store: Store, sample: Sample, file: Path | None) -> dict[str, str]:
    assert rating.show is not None
    with tempfile.TemporaryDirectory(prefix="armillary-study-") as folder:
        return {
            "sha256": put_blob(store, rating.show(sample, file, Path(folder))),
            "media_type": "video/mp4",
        }


def items_of_file(path: Path) -> list[Item]:
    """Items from a JSONL file, one a line, media named relative to it."""
    file_items = []
    try:
        lines = path.read_text("utf-8").splitlines()
    except UnicodeDecodeError:
        raise StudyError(f"{path} is not text in UTF-8. Write one item a line, as JSON.") from None
    for number, line in enumerate(lines, 1):
        try:
            item = json.loads(line)
            item["media"] = [str(path.parent / name) for name in item["media"]]
            item["context"] = [str(path.parent / name) for name in item.get("context", ())]
        except (ValueError, KeyError, TypeError):
            raise StudyError(
                f"Line {number} of {path.name} is no item. Write a JSON object with `media`, a "
                "list of files."
            ) from None
        file_items.append(item)
    return file_items
