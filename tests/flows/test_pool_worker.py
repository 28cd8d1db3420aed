"""Who holds Prefect's credential asks for an evaluation and for nothing else: a worker runs our own
flows by our own command, whatever stands on a real server."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from infra.settings import Settings
from tests.bundles import drawn_outputs
from tests.command import Machine
from tests.flows.test_deployments import at_work, state_of, wait_for
from tests.servers import prefect
from tests.servers.unavailable import needs


@contextmanager
def client_of(api: str) -> Iterator[Any]:
    """What an attacker has: the address and the credential."""
    from prefect.client.orchestration import get_client
    from prefect.settings import PREFECT_API_URL, temporary_settings

    with temporary_settings({PREFECT_API_URL: api}), get_client(sync_client=True) as client:
        yield client


def stealing(into: Path) -> str:
    return f'sh -c "env > {into}"'


def attack(client: Any, loot: Path) -> list[Any]:
    """Every way known to us to have a worker run something else; returns the runs that it led
    to."""
    from prefect.client.schemas.actions import DeploymentUpdate, WorkPoolUpdate
    from prefect.exceptions import PrefectHTTPStatusError
    from prefect.workers.process import ProcessWorker

    ours = client.read_deployment_by_name("evaluate/evaluate")
    runs = []
    template = ProcessWorker.get_default_base_job_template()
    template["variables"]["properties"]["command"]["default"] = stealing(loot / "template")
    client.update_work_pool("gpu", WorkPoolUpdate(base_job_template=template))
    shell = {"prefect.deployments.steps.run_shell_script": {"script": f"env > {loot / 'pull'}"}}
    wishes: list[dict[str, Any]] = [
        {},
        {"job_variables": {"command": stealing(loot / "deployment")}},
        {"job_variables": {"env": {"PYTHONPATH": str(loot), "PREFECT_API_URL": "http://a"}}},
        {"pull_steps": [shell]},
        {"entrypoint": "stolen.steal", "path": str(loot)},
    ]
    (loot / "stolen.py").write_text(f"open({str(loot / 'module')!r}, 'w').write('taken')")
    for wish in wishes:
        client.update_deployment(ours.id, DeploymentUpdate(**wish))
        runs.append(ask(client, ours.id, {}))
    for command in ("command", "working_dir"):
        with suppress(PrefectHTTPStatusError):
            runs.append(ask(client, ours.id, {command: stealing(loot / "run")}))
    foreign = client.create_deployment(
        flow_id=ours.flow_id,
        name="another",
        work_pool_name="gpu",
        pull_steps=[shell],
        entrypoint="stolen.steal",
    )
    runs.append(ask(client, foreign, {}))
    return runs


def ask(client: Any, deployment: Any, variables: dict[str, Any]) -> Any:
    run = client.create_flow_run_from_deployment(
        deployment, parameters={"submission_id": "sub-nobody"}, job_variables=variables
    )
    return run.id


@pytest.mark.timeout(900)
@pytest.mark.xdist_group("servers")
def test_no_run_deployment_or_pool_on_the_server_brings_a_worker_to_run_anything_else(
    tmp_path: Path,
) -> None:
    loot = tmp_path / "loot"
    loot.mkdir()
    with needs(prefect.serve()) as server:
        machine = Machine(
            tmp_path / "home",
            {**server.environment, "PREFECT_WORKER_QUERY_SECONDS": "1", "SECRET": "a password"},
        )
        machine.run("init")
        submission = machine.submit(drawn_outputs(tmp_path / "bundle.zip"))
        machine.run("operate", "deploy")
        worker = ("operate", "worker", "--pool", "gpu", "--limit", "2")
        with client_of(server.api_url) as client:
            attacks = attack(client, loot)
            ours = client.read_deployment_by_name("evaluate/evaluate")
            client.create_flow_run_from_deployment(
                ours.id, parameters={"submission_id": submission}
            )
            with at_work(machine, tmp_path / "worker.log", *worker) as process:
                settings = Settings(home=machine.home)
                wait_for(lambda: state_of(settings, submission) == "published", 400, process)
                wait_for(lambda: not unfinished(client, attacks), 400, process)
            said = process.tail()
            ended = {client.read_flow_run(run).state.type.value for run in attacks}

    assert sorted(path.name for path in loot.iterdir()) == ["stolen.py"]
    assert ended <= {"FAILED", "CRASHED", "CANCELLED"}
    assert "a password" not in said


def unfinished(client: Any, runs: list[Any]) -> list[Any]:
    time.sleep(1)
    return [run for run in runs if not client.read_flow_run(run).state.is_final()]


@pytest.mark.timeout(300)
@pytest.mark.xdist_group("servers")
def test_deploying_makes_several_slots_keeps_their_number_and_removes_retired_schedules(
    tmp_path: Path,
) -> None:
    with needs(prefect.serve()) as server, client_of(server.api_url) as client:
        machine = Machine(tmp_path / "home", server.environment)
        machine.run("operate", "deploy")
        fresh = {name: client.read_work_pool(name).concurrency_limit for name in ("cpu", "gpu")}
        ours = client.read_deployment_by_name("evaluate/evaluate")
        client.create_deployment(flow_id=ours.flow_id, name="evaluate-old")
        machine.run("operate", "deploy", "--gpu-slots", "2")
        lowered = client.read_work_pool("gpu").concurrency_limit
        machine.run("operate", "deploy")
        kept = client.read_work_pool("gpu").concurrency_limit

    assert fresh == {"cpu": None, "gpu": 4}
    assert (lowered, kept) == (2, 2)
