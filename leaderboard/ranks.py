"""The ranks that publication stored: who is where, how sure that is, and why somebody has none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlmodel import Session, and_, col, select

from infra.tables_standing import Roster, Rung, Seal, Standing

if TYPE_CHECKING:
    from leaderboard.queries import Address, Entry

BY_VALUE = "by value alone: no rank intervals are kept where more than one of scenario, task and setting is fixed"
OTHER_SAMPLES = "answers only part of the samples here: ranked where its modality is chosen"
PAPER = "taken from a paper: what lies behind each task is not known, so no rank and no rank interval"
FEW = "too few tasks here to tell anybody apart"
LEAST_BAR = 1e9
"""A bar that nothing passes: with fewer than six tasks."""


@dataclass(frozen=True, slots=True)
class Ranks:
    """One board at one address: rank, best and worst rank by run, and whether anybody could be told apart."""

    places: dict[str, tuple[int, int, int]]
    few: bool


@dataclass(frozen=True, slots=True)
class Tried:
    """A run as its team's attempt."""

    attempt: int
    moves: bool
    text: str


def stored(db: Session, boards: Iterable[str], metric: str, at: Address) -> dict[str, Ranks]:
    """The stored ranks of each board; of several sets of samples the largest counts."""
    same = [getattr(Roster, name) == getattr(Standing, name) for name in ("board", "samples_sha256", "modality")]
    free = [getattr(Standing, facet) == getattr(at, facet) for facet in ("scenario", "task", "setting")]
    query = (
        select(Roster.board, Roster.runs, Standing.rank, Standing.better, Standing.worse, Standing.bar)  # type: ignore[call-overload]
        .join(Standing, and_(*same))
        .where(col(Roster.board).in_(sorted(set(boards))), Roster.modality == at.modality)
        .where(Standing.metric == metric, *free)
        .order_by(Roster.n_samples, Roster.samples_sha256)
    )
    return {board: _ranks(*rest) for board, *rest in db.execute(query)}


def _ranks(runs: Sequence[str], rank: Sequence[Any], better: Sequence[Any], worse: Sequence[Any], bar: float) -> Ranks:
    known = [number for number, value in enumerate(rank[: len(runs)]) if value is not None]
    places = {runs[n]: (rank[n], 1 + better[n], len(known) - worse[n]) for n in known}
    return Ranks(places, few=bar >= LEAST_BAR and len(known) > 1)


def tried(db: Session, boards: Iterable[str]) -> dict[str, Tried]:
    """Every scored run's attempt."""
    query = select(Rung.run_id, Rung.attempt, Rung.moves, Rung.text).where(col(Rung.board).in_(sorted(set(boards))))
    return {run: Tried(attempt, moves, text) for run, attempt, moves, text in db.execute(query)}


def placed(entry: Entry, ranks: Ranks | None, attempts: dict[str, Tried]) -> Entry:
    """An entry with its stored rank; without one it says why."""
    attempt = attempts.get(entry.run_id)
    return replace(entry, attempt=attempt.attempt if attempt else None, **_place(entry, ranks, attempt))


def _place(entry: Entry, ranks: Ranks | None, attempt: Tried | None) -> dict[str, Any]:
    """What of the entry changes, all in one: a copy of an entry costs as much as reading its row."""
    if entry.trust == "C":
        return {"rank": None, "why_no_ranks": PAPER}
    if entry.rank is None or entry.value is None:
        return {"rank": None, "why_no_ranks": entry.note}
    if ranks is None:
        return {"why_no_ranks": BY_VALUE}
    if found := ranks.places.get(entry.run_id):
        rank, best, worst = found
        return {"rank": rank, "best_rank": best, "worst_rank": worst, "why_no_ranks": FEW if ranks.few else ""}
    why = attempt.text if attempt and not attempt.moves else OTHER_SAMPLES if attempt is None or attempt.moves else ""
    return {"rank": None, "why_no_ranks": why, "note": "; ".join(filter(None, (entry.note, why)))}


def audit_head(db: Session) -> dict[str, Any]:
    """The head of the audit's chain, for an export: `armillary audit --head` tells whether it is still in the chain."""
    last = db.exec(select(Seal).order_by(col(Seal.seq).desc()).limit(1)).first()
    return {"head": last.sha256 if last else "", "links": last.seq if last else 0}
