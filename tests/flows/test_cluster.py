"""Shards over a real Dask cluster: the flow does not notice, workers need no database, a dead one's
go on."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from flows.workers.executor import asks_endpoint, dearest_first, finish
from flows.workers.specs import ExamWork, JudgeWork, OutputsWork
from infra.settings import Settings
from tests.bundles import drawn_outputs
from tests.command import Machine
from tests.flows.long_shard import endless
from tests.servers import dask
from tests.servers.prefect import PrefectServer
from tests.servers.process import Running
from tests.servers.unavailable import needs

PATIENCE = 300.0
"""Seconds for what takes a worker two on a quiet machine."""


@pytest.mark.timeout(900)
@pytest.mark.xdist_group("servers")
def test_a_run_goes_over_the_cluster_and_survives_the_death_of_a_worker(
    tmp_path: Path, prefect_server: PrefectServer
) -> None:
    calm = Machine(tmp_path / "calm", {"ARMILLARY_SHARD_SIZE": "6", "ARMILLARY_ENGINE": "here"})
    bundle = drawn_outputs(tmp_path / "bundle.zip")
    calm.run("init")
    submission = calm.submit(bundle)
    calm.run("evaluate", submission)
    nowhere = {"ARMILLARY_DATABASE_URL": "postgresql+psycopg://nobody:none@127.0.0.1:1/none"}
    bare = Machine(tmp_path / "bare", nowhere)
    with needs(dask.serve(tmp_path, 2, bare.environment)) as cluster:
        spread = {
            "ARMILLARY_SHARD_SIZE": "6",
            "ARMILLARY_ENGINE": cluster.engine,
            **prefect_server.environment,
        }
        machine = Machine(tmp_path / "home", spread)
        machine.run("init")
        machine.submit(bundle)

        process = machine.start("evaluate", submission)
        store = machine.home / "store" / "shards"
        deadline = time.monotonic() + 300
        while (
            not any(store.rglob("*.jsonl"))
            and process.poll() is None
            and time.monotonic() < deadline
        ):
            time.sleep(0.05)
        os.killpg(cluster.workers[0].pid, signal.SIGKILL)
        status = process.wait(timeout=400)
        slots = cluster.slots()

    assert (status, slots) == (0, 1)
    assert board(machine) == board(calm)
    said = [
        json.loads(line)
        for line in (bare.home / "logs" / "armillary.log").read_text("utf-8").splitlines()
    ]
    assert {line["submission"] for line in said} == {submission}
    assert {line["stage"] for line in said} == {"outputs", "judge"}
    assert all(line["shard"] for line in said)


def board(machine: Machine) -> list[str]:
    """The board but for when it was published, which is its last column but one."""
    import csv
    import io

    rows = csv.DictReader(io.StringIO(machine.run("board", "tailor", "--format", "csv")))
    return [
        str({name: value for name, value in row.items() if name != "published_at"}) for row in rows
    ]


def test_a_cluster_that_is_not_there_is_named(tmp_path: Path) -> None:
    from flows.workers.dask_cluster import NoCluster, check

    with pytest.raises(NoCluster, match="dask://127.0.0.1:1 does not answer"):
        check(Settings(engine="dask://127.0.0.1:1"), 1)


def test_a_cluster_on_another_machine_wants_certificates(tmp_path: Path) -> None:
    from flows.workers.dask_cluster import NoCluster, check, scheduler_command

    with pytest.raises(NoCluster, match="armillary operate certificates"):
        check(Settings(engine="dask://10.0.0.5:8786"), 1)
    with pytest.raises(NoCluster, match="armillary operate certificates"):
        scheduler_command("0.0.0.0", 8786, None)
    with pytest.raises(NoCluster, match="has no ca.pem"):
        check(Settings(engine="dask://10.0.0.5:8786", certificates=tmp_path), 1)


@pytest.mark.timeout(1800)
@pytest.mark.xdist_group("servers")
def test_only_the_clusters_own_certificates_are_heard_and_what_nobody_wants_stops(
    tmp_path: Path,
) -> None:
    from prefect import task

    from flows.workers.dask_cluster import NoCluster, check
    from flows.workers.dask_shards import DaskRunner, dask_runner

    machine = Machine(tmp_path / "home")
    machine.run("operate", "certificates", str(tmp_path / "tls"))
    machine.run("operate", "certificates", str(tmp_path / "foreign"))
    shard = task(retries=2, retry_delay_seconds=[0, 0])(endless)
    with needs(dask.serve(tmp_path, 1, machine.environment, tmp_path / "tls")) as cluster:
        ours = Settings(engine=cluster.engine, certificates=cluster.certificates)
        for stranger in (None, tmp_path / "foreign" / "flows"):
            with pytest.raises(NoCluster, match="does not answer, or takes no certificate"):
                check(Settings(engine=cluster.engine, certificates=stranger), 3)
        with dask_runner(ours) as runner:
            future = runner.submit(shard, {"folder": str(tmp_path)})
            until((tmp_path / "begun").exists, *cluster.workers)
            runner.cancel([future])
            until((tmp_path / "stopped").exists, *cluster.workers)
            (tmp_path / "stopped").unlink()
            (tmp_path / "begun").unlink()
            held = runner.submit(shard, {"folder": str(tmp_path)})
            until((tmp_path / "begun").exists, *cluster.workers)
            assert not held.done()
            behind = runner.submit(shard, {"folder": str(tmp_path)})
            assert DaskRunner(runner.client).works_on([held, behind])
            assert not DaskRunner(runner.client).works_on([behind]), "it waits for the only slot"
        until((tmp_path / "stopped").exists, *cluster.workers)
        slots = cluster.slots()

    assert slots == 1
    assert (tmp_path / "tls" / "workers" / "key.pem").stat().st_mode & 0o777 == 0o600


def until(happened: Callable[[], bool], *workers: Running) -> None:
    """Wait for what a worker does: on a busy machine it takes minutes to import what it needs."""
    deadline = time.monotonic() + PATIENCE
    while not happened():
        said = "\n".join(worker.tail() for worker in workers)
        assert time.monotonic() < deadline, f"not within {PATIENCE:.0f} seconds:\n{said}"
        time.sleep(0.1)


@pytest.mark.parametrize(
    ("judge", "here"),
    [("scripted", False), ("vlm:/models/a", False), ("http:a@1", True), ("panel", True)],
)
def test_whoever_is_asked_behind_an_endpoint_is_asked_from_the_flow_and_not_from_the_cluster(
    judge: str, here: bool, tmp_path: Path
) -> None:
    file = tmp_path / "panel.toml"
    file.write_text('judges = ["vlm:/models/a", "http:b@1", "scripted"]')
    name = f"panel:{file}" if judge == "panel" else judge

    assert asks_endpoint(JudgeWork("tailor", name, "", {}, {}, {})) is here
    assert asks_endpoint(ExamWork("tailor", name, "", "", (), "first")) is here


def test_a_model_behind_an_api_is_asked_from_the_flow_and_a_handed_in_one_runs_on_the_cluster() -> (
    None
):
    kinds = {
        kind: asks_endpoint(OutputsWork("tailor", (), kind, "", {}))
        for kind in ("api", "model", "outputs")
    }

    assert kinds == {"api": True, "model": False, "outputs": False}


def test_the_dearest_shards_first_lets_workers_finish_together() -> None:
    def shard(stills: int, clips: int) -> OutputsWork:
        ids = tuple(f"{n}.image" for n in range(stills)) + tuple(f"{n}.video" for n in range(clips))
        return OutputsWork(
            "tailor", ids, "model", "", {"steps": 10, "height": 64, "width": 64, "frames": 16}
        )

    from flows.workers.executor import cost

    works = [shard(64, 0)] * 12 + [shard(0, 64)] * 5 + [shard(32, 32)] * 3
    as_given, packed = [cost(work) for work in works], [cost(work) for work in dearest_first(works)]

    assert finish(packed, 4) < finish(as_given, 4)
    assert finish(packed, 4) <= sum(packed) / 4 + min(max(packed), sum(packed) / 4) / 3
