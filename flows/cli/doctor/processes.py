"""What has to run: Prefect's server with pools, deployments and workers, the Dask cluster, and the
watchdog."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from flows.cli.doctor.finding import DoctorFinding, State, graded
from flows.workers.executor import prepare, served
from infra.settings import Settings

if TYPE_CHECKING:
    from datetime import datetime

SECONDS = 5.0
"""How long a server may take to answer the doctor."""
DEPLOY = "Run `armillary operate deploy`."
WATCHDOG = "Start `armillary operate watchdog`; it is the one process that must always run."
MISSED_ROUNDS = 4
"""So many rounds without a sign, and a watchdog is taken for dead."""


def prefect(settings: Settings) -> Iterator[DoctorFinding]:
    """Prefect's server, its pools with our deployments, and whoever works for them."""
    if not served():
        detail = "no server is set: evaluations run where they are started"
        remedy = "For workers of their own set PREFECT_API_URL."
        yield DoctorFinding("Prefect", "note", detail, remedy)
        return
    prepare(settings)
    import httpx
    from prefect.client.orchestration import get_client
    from prefect.settings import PREFECT_API_URL, PREFECT_CLIENT_MAX_RETRIES, temporary_settings

    where, limit = PREFECT_API_URL.value(), {"timeout": SECONDS}
    try:
        with (
            temporary_settings({PREFECT_CLIENT_MAX_RETRIES: 0}),
            get_client(sync_client=True, httpx_settings=limit) as client,
        ):
            client.read_work_pools(limit=1)
            yield DoctorFinding("Prefect", "good", str(where))
            yield from _pools(client)
            yield _deployments(client, settings)
    except httpx.HTTPStatusError as error:
        remedy = "Check ARMILLARY_PREFECT_AUTH (user:password) and the server's release."
        yield DoctorFinding("Prefect", "wrong", f"{where}: {error.response.status_code}", remedy)
    except (httpx.HTTPError, RuntimeError) as error:
        remedy = "It does not answer: start it or change PREFECT_API_URL."
        yield DoctorFinding("Prefect", "wrong", f"{where}: {type(error).__name__}", remedy)


def _pools(client: Any) -> Iterator[DoctorFinding]:
    """Each pool as `armillary operate deploy` made it, and how many take runs from it."""
    from prefect.exceptions import ObjectNotFound

    from flows.operate.deployments import POOLS

    for name in POOLS:
        try:
            pool = client.read_work_pool(name)
        except ObjectNotFound:
            yield DoctorFinding(f"pool {name}", "wrong", "not on the server", DEPLOY)
            continue
        yield _pool(pool)
        yield _workers(name, client.read_workers_for_work_pool(name))


def _pool(pool: Any) -> DoctorFinding:
    from flows.operate.deployments import FIXED_JOB

    subject = f"pool {pool.name}"
    if pool.is_paused:
        remedy = f"Resume it: prefect work-pool resume {pool.name}"
        return DoctorFinding(subject, "wrong", "paused: nothing starts", remedy)
    if pool.base_job_template != FIXED_JOB:
        detail = "its job template is not ours: somebody has changed it on the server"
        return DoctorFinding(subject, "wrong", detail, DEPLOY)
    slots = pool.concurrency_limit
    return DoctorFinding(subject, "good", f"{slots} at once" if slots else "no limit")


def _workers(pool: str, workers: list[Any]) -> DoctorFinding:
    online = [worker.name for worker in workers if worker.status.value == "ONLINE"]
    detail = f"{len(online)} online: {', '.join(online)}" if online else "nobody takes its runs"
    remedy = f"Start `armillary operate worker --pool {pool}`."
    return graded(f"workers {pool}", bool(online), detail, remedy)


def _deployments(client: Any, settings: Settings) -> DoctorFinding:
    """Every flow of ours is registered, and none of an earlier release."""
    from flows.operate.deployments import RETIRED, deployments

    ours = {deployment.name for deployment in deployments(settings)}
    registered = {deployment.name for deployment in client.read_deployments()}
    retired = {name.partition("/")[2] for name in RETIRED} & registered
    missing = ours - registered
    told = [f"missing {name}" for name in sorted(missing)]
    told += [f"of an earlier release {name}" for name in sorted(retired)]
    return graded("deployments", not told, ", ".join(told or sorted(ours)), DEPLOY)


def cluster(settings: Settings) -> Iterator[DoctorFinding]:
    """The Dask cluster, where the settings name one."""
    if not settings.engine.startswith("dask://"):
        return
    from flows.workers.dask_cluster import NoCluster, check

    try:
        slots = check(settings, SECONDS)
    except NoCluster as error:
        yield DoctorFinding("cluster", "wrong", settings.engine, str(error))
        return
    remedy = f"Start `armillary operate worker --scheduler {settings.engine[7:]}` on each GPU."
    yield graded("cluster", slots > 0, f"{settings.engine}: {slots} shards at once", remedy)


def watchdog(settings: Settings) -> Iterator[DoctorFinding]:
    """When each duty of the watchdog last came round, by its signs in the database."""
    from sqlalchemy.exc import SQLAlchemyError

    from flows.operate.attend import DUTIES, seconds_between
    from infra import alive, leases
    from infra.db import session

    try:
        with session(settings.database) as db:
            signs, moment = alive.signs(db), leases.clock(db)
    except SQLAlchemyError:
        detail = "its signs are in the database, which has none yet"
        yield DoctorFinding("watchdog", "note", detail, "Look at the database first.")
        return
    late = [
        duty.name
        for duty in DUTIES
        if _is_late(signs.get(duty.name), moment, seconds_between(duty, settings))
    ]
    yield _attendance(late, signs)


def _is_late(sign: datetime | None, moment: datetime, seconds: float) -> bool:
    return sign is None or moment - sign > timedelta(seconds=MISSED_ROUNDS * seconds)


def _attendance(late: list[str], signs: dict[str, datetime]) -> DoctorFinding:
    """Without a server a watchdog is advised; with one nothing moves without it."""
    if not late:
        return DoctorFinding("watchdog", "good", f"{', '.join(signs)} came round in time")
    state: State = "wrong" if served() else "note"
    ages = [
        f"{name} since {signs[name]:%Y-%m-%d %H:%M:%S} UTC" if name in signs else f"{name} ever"
        for name in late
    ]
    return DoctorFinding("watchdog", state, f"no sign of {', '.join(ages)}", WATCHDOG)
