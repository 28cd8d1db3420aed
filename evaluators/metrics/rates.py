"""L-IVA's three means over judgments: task success (TSR), clip alignment (AFS) and plausibility
(PPS)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.metrics.means import group, mean, mean_of_means


@dataclass(frozen=True, slots=True)
class SubgoalJudgment:
    """How many of a case's subgoals one evaluator saw completed."""

    case: str
    evaluator: str
    completed: int | None
    total: int
    unable_to_label: bool = False


@dataclass(frozen=True, slots=True)
class TaskSuccess:
    """The share of subgoals completed, from 0 to 1."""

    value: float | None
    n_cases: int
    n_left_out: int


@dataclass(frozen=True, slots=True)
class Alignment:
    """The share of clips that show their caption, from 0 to 1."""

    value: float | None
    n_scored: int
    n_invalid: int


@dataclass(frozen=True, slots=True)
class PlausibilityRating:
    """One evaluator's physical plausibility of one video, from 1 to 5."""

    video: str
    evaluator: str
    score: float | None
    unable_to_label: bool = False


@dataclass(frozen=True, slots=True)
class Plausibility:
    """The mean physical plausibility, from 1 to 5."""

    value: float | None
    n_videos: int
    n_ratings: int
    n_left_out: int


def tsr(judgments: Sequence[SubgoalJudgment]) -> TaskSuccess:
    """Average the completed share over cases, evaluators within a case first; unusable judgments
    are left out.

    >>> tsr([SubgoalJudgment("a", "e1", 3, 5), SubgoalJudgment("b", "e1", 0, 0)])
    TaskSuccess(value=0.6, n_cases=1, n_left_out=1)
    """
    shares = [(j.case, share) for j in judgments if (share := _share(j)) is not None]
    cases = group(shares)
    return TaskSuccess(mean_of_means(cases.values()), len(cases), len(judgments) - len(shares))


def afs(verdicts: Sequence[int | None]) -> Alignment:
    """Average the clips' verdicts, 1 for aligned and 0 for not; any other reply is counted as
    invalid.

    >>> afs([1, 0, None, 1, 1])
    Alignment(value=0.75, n_scored=4, n_invalid=1)
    """
    scored = [verdict for verdict in verdicts if verdict in (0, 1)]
    return Alignment(
        mean([float(v) for v in scored if v is not None]), len(scored), len(verdicts) - len(scored)
    )


def pps(ratings: Sequence[PlausibilityRating]) -> Plausibility:
    """Average the ratings over videos, evaluators within a video first; ratings outside 1 to 5 are
    left out.

    >>> rows = [("a", "e1", 5), ("b", "e1", 2), ("b", "e2", 6)]
    >>> pps([PlausibilityRating(*row) for row in rows])
    Plausibility(value=3.5, n_videos=2, n_ratings=2, n_left_out=1)
    """
    usable = [
        r for r in ratings if r.score is not None and 1 <= r.score <= 5 and not r.unable_to_label
    ]
    videos = group((r.video, r.score) for r in usable if r.score is not None)
    return Plausibility(
        mean_of_means(videos.values()), len(videos), len(usable), len(ratings) - len(usable)
    )


def _share(judgment: SubgoalJudgment) -> float | None:
    if judgment.unable_to_label or judgment.completed is None or judgment.total < 1:
        return None
    return (
        judgment.completed / judgment.total if 0 <= judgment.completed <= judgment.total else None
    )
