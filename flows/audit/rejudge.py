"""Another judge, or another scorer: a suite's stored outputs are judged and scored again onto a new
board.

The old board stays as it is. Nothing is generated: outputs come from the store, and answers that
the judge has given already are not asked for again. So a new scorer costs no call at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluators.contracts import Suite
from evaluators.suites import suite_named
from flows.nightly.staleness import EntryOnBoard, entries
from flows.publish import board_changes as changes
from flows.run.board_keys import board_key
from flows.run.case import Stopped
from flows.workers.judges import judge_of
from infra.db import session
from infra.settings import Settings
from infra.tables import Run
from infra.tables.standing import RankChange


@dataclass(frozen=True, slots=True)
class Rejudged:
    """The result of re-judging one board: the new board, failures and changed ranks."""

    board_before: str
    board: str
    entries: int
    judged: int
    failed: tuple[str, ...]
    changes: tuple[RankChange, ...]
    line: str


def rejudge(settings: Settings, suite_name: str, judge: str = "") -> list[Rejudged]:
    """Bring every published entry of a suite onto the board of this judge and of today's scorer;
    one a board left."""
    suite = suite_named(suite_name)
    if judge and suite.own_judge:
        raise Stopped(
            "E_NO_JUDGE",
            "submitter",
            f"{suite.title} is scored by rule: there is no judge to change. Leave --judge.",
        )
    chosen = settings.model_copy(update={"judge": judge or settings.judge})
    with session(settings.database) as db:
        suite_entries = [
            entry for entry in entries(db, settings) if entry.submission.suite == suite.name
        ]
    todo: dict[tuple[str, str], list[EntryOnBoard]] = {}
    for entry in suite_entries:
        new = board_key(suite, entry.run.subset, judge_of(chosen, suite, chosen.judge))
        if new != entry.run.board and entry.run.suite_version == suite.version:
            todo.setdefault((entry.run.board, new), []).append(entry)
    return [
        _moved(chosen, suite, before, after, board_entries)
        for (before, after), board_entries in todo.items()
    ]


def _moved(
    settings: Settings, suite: Suite, before: str, after: str, board_entries: Sequence[EntryOnBoard]
) -> Rejudged:
    """In the order of publication, so that the attempts of a team follow each other as they did."""
    judged, failed = 0, []
    for entry in board_entries:
        try:
            judged += _again(settings, entry)
        except Stopped as error:
            failed.append(f"{entry.submission.id}: {error.text}")
    with session(settings.database) as db:
        changed = tuple(changes.settle(db, suite, before, after))
        line = changes.scores_line(db, suite, before, after)
    return Rejudged(
        before, after, len(board_entries) - len(failed), judged, tuple(failed), changed, line
    )


def _again(settings: Settings, entry: EntryOnBoard) -> int:
    from flows.evaluate.flow import run_here  # Prefect takes seconds to load

    result = run_here(entry.submission.id, settings, settings.judge)
    with session(settings.database) as db:
        if db.get_one(Run, result.run_id).state != "published":
            raise Stopped(
                "E_OPEN", "ours", f"It is {result.state} under the new judge. Evaluate it again."
            )
    return result.judged


def into_changelog(path: Path, lines: Sequence[str]) -> int:
    """Write lines under the newest heading of a changelog, those that are not there yet; return how
    many."""
    text = path.read_text("utf-8")
    new = [f"- {line}" for line in lines if f"- {line}\n" not in text]
    rows = text.splitlines()
    at = next((number for number, row in enumerate(rows) if row.startswith("## ")), len(rows) - 1)
    path.write_text("\n".join([*rows[: at + 1], *new, *rows[at + 1 :]]) + "\n", "utf-8")
    return len(new)


def columns(row: RankChange) -> Iterator[str]:
    """The columns of a changed rank, for a terminal."""
    yield from (row.submission_id, row.metric)
    yield f"{row.rank_before or '–'} → {row.rank or '–'}"
    yield from ("—" if value is None else f"{value:.3f}" for value in (row.value_before, row.value))
    yield row.reason
