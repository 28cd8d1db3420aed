"""The nightly: what is stale is computed again and nothing else, the judges are asked whether they
still agree with themselves, and what moved is written down. One run a date, however often it
fires."""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime

from prefect import flow
from sqlalchemy import update
from sqlmodel import Session, col, select

from evaluators.suites import suite_named
from flows.durable.lease import check_lease, hold_lease
from flows.evaluate.flow import judge_missing, run_here
from flows.nightly.cell_changes import moved, numbers_of, rescore, write
from flows.nightly.judge_drift import examine, watch_judge
from flows.nightly.night_dates import schedule
from flows.nightly.staleness import EntryOnBoard, Stale, entries, is_under_its_judge, stale
from flows.publish import board_changes
from flows.run.case import open_case
from infra.db import claim, session
from infra.settings import Settings
from infra.tables import Run
from infra.tables.operations import Night
from infra.tables.standing import RankChange
from submissions.teams.lifecycle import record

log = logging.getLogger("armillary")


@dataclass(frozen=True, slots=True)
class NightTally:
    """What a night did, in numbers."""

    submissions: int = 0
    stale: int = 0
    recomputed: int = 0
    failed: int = 0
    judge_calls: int = 0
    moved: int = 0
    alarms: int = 0
    reasons: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.stale:
            recomputation = "nothing was stale"
        else:
            recomputation = (
                f"{self.recomputed} of {self.stale} stale entries computed again, {self.moved} "
                f"cells moved ({'; '.join(self.reasons)})"
            )
        broken = f", {self.failed} failed" if self.failed else ""
        alarms = (
            f"; {self.alarms} ALARM: a judge has drifted, its boards are frozen"
            if self.alarms
            else ""
        )
        return (
            f"{self.submissions} entries looked at, {recomputation}{broken}, {self.judge_calls} "
            f"judge calls{alarms}."
        )


@flow(name="nightly", retries=0, persist_result=False, validate_parameters=False)
def nightly() -> str:
    """The newest night that was due, if it has not been done."""
    return run(Settings())


def run(settings: Settings, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> str:
    """Do the night that is due by the clock; a night that is done, or older than the newest, is
    left alone."""
    plan, moment = schedule(settings.nightly_at, settings.nightly_zone), clock()
    night = plan.night_of(moment)
    with hold_lease(settings, "nightly", "nightly"):
        with session(settings.database) as db:
            newest = last_night(db)
            if newest and (
                newest.night > night or (newest.night == night and newest.state == "done")
            ):
                due = plan.next_after(newest.night)
                return (
                    f"The night of {newest.night} is done: {newest.text} The next is due at "
                    f"{due:%Y-%m-%d %H:%M} UTC."
                )
            row = Night(
                night=night, state="running", late=plan.is_late(moment), due_at=plan.due(night)
            )
            claim(db, Night, row.model_dump())
        return _through(settings, night)


def _through(settings: Settings, night: date) -> str:
    """Run the night and record how it ended; a killed night resumes from its rows."""
    start = time.monotonic()
    try:
        tally = _work(settings, night)
    except Exception as error:
        _close(
            settings,
            night,
            "failed",
            NightTally(),
            time.monotonic() - start,
            f"It broke: {type(error).__name__}.",
        )
        raise
    text = str(tally)
    _close(settings, night, "done", tally, time.monotonic() - start, text)
    return f"The night of {night}: {text}"


def _work(settings: Settings, night: date) -> NightTally:
    with session(settings.database) as db:
        board_entries = entries(db, settings)
    tally = _watch(settings, night, board_entries, NightTally(submissions=len(board_entries)))
    with session(settings.database) as db:
        todo = list(stale(db, settings, board_entries))
    reasons = tuple(dict.fromkeys(stale_entry.why for stale_entry in todo))
    tally = replace(tally, stale=len(todo), reasons=reasons)
    for stale_entry in todo:
        check_lease()
        tally = _again(settings, night, stale_entry, tally)
    _settle(
        settings, [stale_entry.entry.run.id for stale_entry in todo if not stale_entry.in_place]
    )
    return tally


def _settle(settings: Settings, left: list[str]) -> None:
    """Entries that came onto other boards in this night: each pair of boards is held against each
    other once."""
    with session(settings.database) as db:
        rows = db.exec(select(RankChange).where(col(RankChange.run_before).in_(left))).all()
        for suite, before, after in sorted(
            {(row.suite, row.board_before, row.board) for row in rows}
        ):
            board_changes.settle(db, suite_named(suite), before, after)


def _watch(
    settings: Settings, night: date, board_entries: list[EntryOnBoard], tally: NightTally
) -> NightTally:
    """Each judge of each suite once, on the entries that stand under it. An entry for which another
    judge is set by now is left out: it moves to that judge's board, which has its own anchors."""
    under: dict[tuple[str, str], list[EntryOnBoard]] = defaultdict(list)
    for entry in board_entries:
        if not _has_rules_only(entry) and is_under_its_judge(settings, entry):
            under[entry.submission.suite, entry.run.judge].append(entry)
    for _, judged_entries in sorted(under.items()):
        rows, calls = watch_judge(settings, night, judged_entries)
        calls += examine(settings, night, judged_entries[0])
        alarms = sum(row.alarm for row in rows)
        tally = replace(tally, judge_calls=tally.judge_calls + calls, alarms=tally.alarms + alarms)
    return tally


def _has_rules_only(entry: EntryOnBoard) -> bool:
    return suite_named(entry.submission.suite).own_judge is not None


def _again(settings: Settings, night: date, stale_entry: Stale, tally: NightTally) -> NightTally:
    """Compute one entry again; one that fails does not keep the others from their turn."""
    try:
        calls, cells = (_in_place if stale_entry.in_place else _anew)(settings, night, stale_entry)
    except Exception:
        log.exception("nightly: %s", stale_entry.entry.submission.id)
        return replace(tally, failed=tally.failed + 1)
    counted = replace(tally, recomputed=tally.recomputed + 1)
    return replace(counted, judge_calls=counted.judge_calls + calls, moved=counted.moved + cells)


def _in_place(settings: Settings, night: date, stale_entry: Stale) -> tuple[int, int]:
    """The same run: answers that are owed are asked for, then its numbers are computed from its
    rows."""
    chosen = settings.model_copy(update={"judge": stale_entry.entry.judge_setting})
    with hold_lease(settings, stale_entry.entry.submission.id, "evaluate", {"judge": chosen.judge}):
        case = open_case(chosen, stale_entry.entry.submission.id)
        calls = judge_missing(case) if stale_entry.cause == "data" else 0
        return calls, rescore(case, night, stale_entry)


def _anew(settings: Settings, night: date, stale_entry: Stale) -> tuple[int, int]:
    """Another board: the flow makes what is missing there, and the two runs are compared."""
    result = run_here(stale_entry.entry.submission.id, settings, stale_entry.entry.judge_setting)
    with session(settings.database) as db:
        fresh = db.get(Run, result.run_id)
        assert fresh is not None
        difference = moved(numbers_of(db, stale_entry.entry.run.id), numbers_of(db, fresh.id))
        write(db, night, fresh, stale_entry.entry.run.id, difference, stale_entry)
    return result.judged, len(difference)


def _close(
    settings: Settings, night: date, state: str, tally: NightTally, seconds: float, text: str
) -> None:
    with session(settings.database) as db:
        values = {
            "state": state,
            "finished_at": datetime.now(UTC),
            "seconds": seconds,
            "text": text,
            **{name: count for name, count in asdict(tally).items() if name != "reasons"},
        }
        db.connection().execute(update(Night).where(col(Night.night) == night).values(**values))
        record(db, "nightly", "nightly", f"The night of {night}: {text}", actor="nightly")


def last_night(db: Session) -> Night | None:
    """The newest night there is a row of."""
    return db.exec(select(Night).order_by(col(Night.night).desc()).limit(1)).first()
