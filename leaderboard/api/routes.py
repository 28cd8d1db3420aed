"""What the API answers. Each route asks one question of the board and gives rows or one page of
them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Concatenate, ParamSpec, TypeVar

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from fastapi.responses import FileResponse
from sqlmodel import Session

from infra.settings import Settings
from infra.store import open_store
from infra.tables import Judge, Metric, Suite
from leaderboard import queries
from leaderboard.api.turns import in_turn_to_show
from leaderboard.cache.reader import reader
from leaderboard.queries import addresses, entries, failures, trust
from leaderboard.queries.entries import Figure, TimelineEvent
from leaderboard.queries.ranking import BoardAddress, NotOnBoard, RankedEntry
from leaderboard.queries.samples import JudgeAnswer, RunFacts, ScoredSample, Show
from leaderboard.widgets.thumbnails import media
from submissions.media.derivatives import public_file

P = ParamSpec("P")
T = TypeVar("T")
router = APIRouter()
MEDIA = ("image/", "video/")


@dataclass(frozen=True, slots=True)
class PageRange:
    """Which part of a long list."""

    limit: Annotated[int, Query(ge=1, le=1000)] = 100
    offset: Annotated[int, Query(ge=0)] = 0


class Asking:
    """Questions for the database that this process reads."""

    def __init__(self, request: Request) -> None:
        self.settings: Settings = request.app.state.settings

    def __call__(
        self, question: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        return reader(self.settings).ask(question, *args, **kwargs)


Ask = Annotated[Asking, Depends()]
At = Annotated[BoardAddress, Depends()]
Part = Annotated[PageRange, Depends()]


def paged(rows: Sequence[T], page: PageRange) -> dict[str, Any]:
    """One page of a list, with how many there are and where the next begins."""
    end = page.offset + page.limit
    following = end if end < len(rows) else None
    return {
        "total": len(rows),
        "offset": page.offset,
        "next": following,
        "rows": rows[page.offset : end],
    }


@dataclass(frozen=True, slots=True)
class Listed:
    """A page of a list."""

    total: int
    offset: int
    next: int | None
    rows: list[Any]


@router.get("/suites")
def suites(ask: Ask) -> list[Suite]:
    """All suites."""
    return ask(queries.ranking.suites)


@router.get("/suites/{suite}/metrics")
def metrics(ask: Ask, suite: str) -> list[Metric]:
    """What a suite measures, with formula, range and direction."""
    return ask(queries.ranking.metrics, suite) or _missing(f"There is no suite {suite!r}.")


@router.get("/suites/{suite}/places")
def where(ask: Ask, suite: str, metric: str) -> list[addresses.FiguresAt]:
    """Where a metric has figures."""
    return ask(addresses.places, suite, metric)


@router.get("/suites/{suite}/ranking")
def ranking(ask: Ask, suite: str, at: At, metric: str | None = None) -> list[RankedEntry]:
    """The ranking at one address; figures from papers follow without a rank."""
    return ask(queries.ranking.ranking, suite, metric, at)


@router.get("/suites/{suite}/boards")
def boards(ask: Ask, suite: str) -> list[dict[str, Any]]:
    """The boards of a suite: entries are ranked only within one. `sight` says whether a board's
    judge passed the exam of the suite; null where no exam is for it."""
    by_board: dict[str, dict[str, Any]] = {}
    runs = ask(queries.samples.runs, suite)
    sights = ask(trust.notices, tuple(sorted({run.board for run in runs})))
    for run in runs:
        facts = {
            "board": run.board,
            "version": run.version,
            "subset": run.subset,
            "judge": run.judge,
            "judge_name": run.judge_name,
            "sight": sights.get(run.board),
        }
        by_board.setdefault(run.board, {**facts, "entries": 0})["entries"] += 1
    return list(by_board.values())


@router.get("/suites/{suite}/published", response_model=Listed)
def published(ask: Ask, suite: str, page: Part) -> dict[str, Any]:
    """Every figure that papers print, with its source."""
    return paged(ask(entries.published_figures, suite), page)


@router.get("/runs", response_model=Listed)
def runs(ask: Ask, page: Part, suite: str | None = None) -> dict[str, Any]:
    """Published runs, newest first."""
    return paged(ask(queries.samples.runs, suite), page)


@router.get("/runs/{run}/cells")
def cells(ask: Ask, run: str) -> list[Figure]:
    """Every cell of a run."""
    return ask(entries.figures_of, (_run(ask, run).run_id,))


@router.get("/runs/{run}/samples")
def samples(
    ask: Ask,
    run: str,
    metric: str,
    at: At,
    show: Show = "all",
    page: int = Query(1, ge=1, le=queries.samples.MOST_PAGES),
) -> dict[str, Any]:
    """What is behind a cell, 24 a page."""
    items = ask(queries.samples.items, _run(ask, run), metric, at, show, page)
    following = page + 1 if page * queries.samples.PAGE < items.total else None
    return {
        "total": items.total,
        "page": page,
        "next": following,
        "rows": [asdict(item) for item in items.page],
    }


@router.get("/runs/{run}/samples/{sample}")
def sample(ask: Ask, run: str, sample: str, metric: str) -> ScoredSample:
    """One sample of a run with its score."""
    return ask(queries.samples.item, _run(ask, run), metric, sample) or _missing(
        f"The run has no sample {sample!r}."
    )


@router.get("/runs/{run}/samples/{sample}/verdicts")
def verdicts(ask: Ask, run: str, sample: str) -> list[JudgeAnswer]:
    """Every judge's answers about one output, with raw replies."""
    return ask(queries.samples.answers, _run(ask, run), sample)


@router.get("/runs/{run}/failures", response_model=Listed)
def failure_modes(ask: Ask, run: str, page: Part) -> dict[str, Any]:
    """What went wrong in the weak outputs of a run."""
    return paged(ask(failures.failures, _run(ask, run).run_id), page)


@router.get("/models", response_model=Listed)
def models(ask: Ask, page: Part) -> dict[str, Any]:
    """What was handed in, newest first."""
    return paged(ask(entries.recent_submissions, 100_000), page)


@router.get("/models/{entry}")
def model(ask: Ask, entry: str) -> dict[str, Any]:
    """One entry with its declaration; the list of its files is left out."""
    submission = ask(entries.submission, entry) or _missing(f"There is no entry {entry!r}.")
    declared = {
        key: value for key, value in submission.manifest.items() if key not in ("files", "contact")
    }
    return {**submission.model_dump(mode="json", exclude={"manifest"}), "manifest": declared}


@router.get("/judges")
def judges(ask: Ask) -> list[Judge]:
    """All judges with their cards."""
    return ask(entries.judges)


@router.get("/status")
def status(ask: Ask) -> dict[str, Any]:
    """How many submissions stand where, and when something last came on the board."""
    return {"states": ask(entries.states), "last_published": ask(entries.last_published)}


@router.get("/status/{entry}")
def timeline(ask: Ask, entry: str) -> list[TimelineEvent]:
    """What happened to one submission."""
    return ask(entries.timeline, entry) or _missing(f"There is no entry {entry!r}.")


@router.get("/media/{sha256}", response_class=FileResponse)
async def output(request: Request, ask: Ask, sha256: str) -> FileResponse:
    """An output, encoded again without metadata, in ranges if asked; only what some entry shows."""
    return await in_turn_to_show(request, _output, ask, sha256)


def _output(ask: Asking, sha256: str) -> FileResponse:
    kind = ask(queries.samples.media_type, sha256) or _missing("There is no such output.")
    settings = ask.settings
    store, folder = open_store(settings.objects, settings.s3_endpoint), settings.work / "page-media"
    derived = public_file(store, sha256, kind, folder)
    path = derived.path if derived else media(store, sha256, folder)
    if path is None or (derived is None and kind.startswith(MEDIA)):
        raise HTTPException(503, "The file cannot be fetched from the store now. Try again later.")
    headers = {
        "Cache-Control": "public, max-age=31536000, immutable",
        "Content-Security-Policy": "sandbox",
    }
    return FileResponse(path, media_type=derived.media_type if derived else kind, headers=headers)


def _run(ask: Asking, run: str) -> RunFacts:
    return ask(queries.samples.run_facts, run) or _missing(f"There is no published run {run!r}.")


def _missing(text: str) -> Any:
    raise NotOnBoard(text)
