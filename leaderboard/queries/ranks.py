"""The ranks that publication stored: who is where, how sure that is, and why somebody has none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import bindparam
from sqlalchemy import select as bare_select
from sqlmodel import Session, and_, col, select

from infra.db import columns_of
from infra.tables.standing import Roster, Seal, Standing

if TYPE_CHECKING:
    from leaderboard.queries.ranking import BoardAddress

BY_VALUE = (
    "by value alone: no rank intervals are kept where more than one of scenario, task and setting "
    "is fixed"
)
OTHER_SAMPLES = "answers only part of the samples here: ranked where its modality is chosen"
PAPER = (
    "taken from a paper: what lies behind each task is not known, so no rank and no rank interval"
)
FEW = "too few tasks here to tell anybody apart"
LEAST_BAR = 1e9
"""A bar that nothing passes: with fewer than six tasks."""


@dataclass(frozen=True, slots=True)
class Ranks:
    """One board at one address: rank, best and worst rank by run, and whether anybody could be told
    apart."""

    places: dict[str, tuple[int, int, int]]
    too_few_tasks: bool


def stored(db: Session, boards: Iterable[str], metric: str, at: BoardAddress) -> dict[str, Ranks]:
    """The stored ranks of each board; of several sets of samples the largest counts."""
    parameters = {"boards": sorted(set(boards)), "metric": metric, **asdict(at)}
    return {
        board: _ranks(*columns) for board, *columns in db.connection().execute(STORED, parameters)
    }


ROSTER, STANDING = columns_of(Roster), columns_of(Standing)
SAME = [ROSTER[name] == STANDING[name] for name in ("board", "samples_sha256", "modality")]
FREE = [STANDING[name] == bindparam(name) for name in ("metric", "scenario", "task", "setting")]
STORED = (
    bare_select(
        ROSTER.board, ROSTER.runs, *(STANDING[name] for name in ("rank", "better", "worse", "bar"))
    )
    .select_from(ROSTER.board.table)
    .join(STANDING.rank.table, and_(*SAME))
    .where(
        ROSTER.board.in_(bindparam("boards", expanding=True)),
        ROSTER.modality == bindparam("modality"),
        *FREE,
    )
    .order_by(ROSTER.n_samples, ROSTER.samples_sha256)
)


def _ranks(
    runs: Sequence[str],
    rank: Sequence[Any],
    better: Sequence[Any],
    worse: Sequence[Any],
    bar: float,
) -> Ranks:
    ranked = [number for number, value in enumerate(rank[: len(runs)]) if value is not None]
    places = {runs[n]: (rank[n], 1 + better[n], len(ranked) - worse[n]) for n in ranked}
    return Ranks(places, too_few_tasks=bar >= LEAST_BAR and len(ranked) > 1)


class Placed(NamedTuple):
    """Where an entry stands, and why somewhere without a rank or an interval."""

    rank: int | None
    best: int | None
    worst: int | None
    why: str
    note: str


def place(
    run_id: str,
    paper: bool,
    by_value: int | None,
    note: str,
    ranks: Ranks | None,
    held_back: str | None,
    withheld: str = "",
) -> Placed:
    """An entry's stored rank; without one it says why, an attempt that did not count in the words
    of its team's row. `withheld` says why a whole board has no ranks."""
    if paper:
        return Placed(None, None, None, PAPER, note)
    if by_value is None:
        return Placed(None, None, None, note, note)
    if withheld:
        return Placed(None, None, None, withheld, note)
    if ranks is None:
        return Placed(by_value, None, None, BY_VALUE, note)
    if stored_ranks := ranks.places.get(run_id):
        return Placed(*stored_ranks, FEW if ranks.too_few_tasks else "", note)
    why = held_back or OTHER_SAMPLES
    return Placed(None, None, None, why, "; ".join(filter(None, (note, why))))


def audit_head(db: Session) -> dict[str, Any]:
    """The head of the audit's chain, for an export: `armillary audit run --head HEAD` tells
    whether it is still in the chain."""
    last = db.exec(select(Seal).order_by(col(Seal.seq).desc()).limit(1)).first()
    return {"head": last.sha256 if last else "", "links": last.seq if last else 0}
