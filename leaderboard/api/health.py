"""Whether the parts answer, and what an operator's instruments read: health and Prometheus metrics,
all from rows."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import JSONResponse, Response
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from sqlalchemy import case, func, text
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import Session, col, select

from infra.db import session
from infra.settings import Settings
from infra.store import StoreError, open_store
from infra.tables import Event, Shard, Submission, Verdict, now
from infra.tables.operations import LEASE_EXPIRED, Drift, Freeze, Lease, Night, SetAside

router = APIRouter(include_in_schema=False)
LOOPBACK = ("127.0.0.1", "::1")
JUDGE_FAILURES = ("judge_unparsable", "judge_error")
TERMINAL = ("published", "rejected", "failed", "withdrawn")


def install(app: FastAPI) -> None:
    """Put the routes beside the API's own."""
    app.include_router(router)


@router.get("/health/live")
async def live() -> dict[str, str]:
    """The process answers, also when all its threads are at work."""
    return {"state": "alive"}


@router.get("/health/ready")
def ready(request: Request) -> JSONResponse:
    """The database and the store answer too; 503 names which does not."""
    settings: Settings = request.app.state.settings
    parts = {"database": _database(settings), "store": _store(settings)}
    good = all(state == "answers" for state in parts.values())
    return JSONResponse({"state": "ready" if good else "not ready", **parts}, 200 if good else 503)


@router.get("/metrics")
def metrics(request: Request) -> Response:
    """What Prometheus reads, with the token of operators' instruments; from this machine without
    one, if nobody set one."""
    settings: Settings = request.app.state.settings
    if not _reads_metrics(request, settings.metrics_token.get_secret_value()):
        return Response("Set ARMILLARY_METRICS_TOKEN and send it as a bearer token.\n", 403)
    registry = CollectorRegistry()
    with session(settings.database) as db:
        registry.register(_CountedMetrics(list(_queue(db)) + list(_work(db)) + list(_nights(db))))
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)


def _reads_metrics(request: Request, token: str) -> bool:
    """Whether the caller has the token; where none is set, whether it is this machine itself and no
    proxy on it that speaks for somebody else."""
    if token:
        sent = request.headers.get("authorization", "").removeprefix("Bearer ")
        return hmac.compare_digest(sent.encode(), token.encode())
    forwarded = {"forwarded", "x-forwarded-for"} & set(request.headers)
    return bool(request.client and request.client.host in LOOPBACK and not forwarded)


class _CountedMetrics:
    """Metrics that are counted already."""

    def __init__(self, families: list[Any]) -> None:
        self.families = families

    def collect(self) -> Iterator[Any]:
        """Give them to the registry."""
        yield from self.families


def _database(settings: Settings) -> str:
    try:
        with session(settings.database) as db:
            db.connection().execute(text("SELECT 1"))
    except SQLAlchemyError:
        return "does not answer"
    return "answers"


def _store(settings: Settings) -> str:
    try:
        open_store(settings.objects, settings.s3_endpoint).exists("health/probe")
    except (StoreError, OSError):
        return "does not answer"
    return "answers"


def _queue(db: Session) -> Iterator[Any]:
    """How many submissions stand where, and how long the oldest has waited."""
    states = GaugeMetricFamily("armillary_submissions", "Submissions by state", labels=["state"])
    ours = Submission.trust != "C"
    for state, count in db.exec(
        select(Submission.state, func.count()).where(ours).group_by(Submission.state)
    ):
        states.add_metric([str(state)], count)
    yield states
    open_ = col(Submission.state).not_in(TERMINAL)
    oldest = db.exec(select(func.min(Submission.created_at)).where(open_)).one()
    yield GaugeMetricFamily(
        "armillary_queue_age_seconds", "Age of the oldest open submission", value=_age(oldest)
    )
    dead = db.exec(
        select(func.count()).where(Lease.state == "held", col(Lease.expires_at) < now())
    ).one()
    yield GaugeMetricFamily(
        "armillary_leases_expired", "Leases that ran out and are not freed yet", value=dead
    )
    freed = db.exec(select(func.count()).where(Event.kind == LEASE_EXPIRED)).one()
    yield CounterMetricFamily(
        "armillary_lease_expiries", "Leases taken from dead workers", value=freed
    )


def _work(db: Session) -> Iterator[Any]:
    """Shards, their time, and what a judge could not answer."""
    shards = CounterMetricFamily("armillary_shards", "Finished shards", labels=["stage"])
    seconds = CounterMetricFamily("armillary_shard_seconds", "Time spent in them", labels=["stage"])
    slowest = GaugeMetricFamily(
        "armillary_shard_seconds_max", "The slowest of them", labels=["stage"]
    )
    gpu = 0.0
    query = select(
        Shard.stage, func.count(), func.sum(Shard.seconds), func.max(Shard.seconds)
    ).group_by(Shard.stage)
    for stage, count, total, longest in db.exec(query):
        shards.add_metric([stage], count)
        seconds.add_metric([stage], total)
        slowest.add_metric([stage], longest)
        gpu += total
    yield from (shards, seconds, slowest)
    yield CounterMetricFamily("armillary_gpu_seconds", "Time in shards, one slot each", value=gpu)
    failed = func.sum(case((col(Verdict.outcome).in_(JUDGE_FAILURES), 1), else_=0))
    answered, errors = db.exec(select(func.count(), failed).select_from(Verdict)).one()
    yield CounterMetricFamily("armillary_judge_answers", "Answers of judges", value=answered)
    yield GaugeMetricFamily(
        "armillary_judge_errors", "Questions without an answer", value=errors or 0
    )
    aside = db.exec(select(func.count()).select_from(SetAside)).one()
    yield CounterMetricFamily(
        "armillary_samples_set_aside", "Samples given up after three tries", value=aside
    )


def _nights(db: Session) -> Iterator[Any]:
    """When the last night was done, how far judges agree, and which boards stand still."""
    last = db.exec(select(func.max(Night.finished_at)).where(Night.state == "done")).one()
    yield GaugeMetricFamily(
        "armillary_nightly_age_seconds", "Time since a night was done", value=_age(last)
    )
    agreement = GaugeMetricFamily(
        "armillary_anchor_agreement", "Of the last night", labels=["suite", "judge"]
    )
    newest = select(func.max(Drift.night)).scalar_subquery()
    for row in db.exec(select(Drift).where(Drift.what == "anchors", Drift.night == newest)):
        agreement.add_metric(
            [row.suite, row.judge], row.agreement if row.agreement is not None else float("nan")
        )
    yield agreement
    frozen = db.exec(
        select(func.count()).where(col(Freeze.lifted_at).is_(None)).select_from(Freeze)
    ).one()
    yield GaugeMetricFamily("armillary_boards_frozen", "Boards that stand still", value=frozen)


def _age(moment: datetime | None) -> float:
    return (now() - moment).total_seconds() if moment else 0.0
