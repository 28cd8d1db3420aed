"""What compose starts, run as shipped: each process with only what its image installs, two replicas
of board and API behind a proxy, two GPU workers, one submission through."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.bundles import drawn_outputs
from tests.command import ROOT
from tests.deployment.composed import COMPOSE, OF_THE_SYSTEM, Composed
from tests.deployment.images import build, extras_of, needed
from tests.deployment.places import AUTH, PASSWORDS, Places, make_databases, places, prefect
from tests.deployment.proxy import proxy
from tests.servers.process import answers, free_ports, wait_until

IMAGES = {"armillary-web": "Dockerfile.web", "armillary-worker": "Dockerfile.worker"}
ENGINES = {"robosuite", "mujoco", "vizdoom"}
WEB_NEVER_HAS = {"torch", "transformers", "diffusers", "distributed", "pytest"} | ENGINES
WORKERS_NEVER_HAVE = {"streamlit", "vl-convert-python", "pytest-xdist", "hypothesis", "ruff"}
PATIENCE = 900.0
TEAM = "Test team"


def test_each_image_installs_what_its_processes_need_and_no_more() -> None:
    web, worker = (needed(extras_of(file)) for file in IMAGES.values())

    assert {"streamlit", "psycopg", "boto3", "prefect", "uvicorn"} <= web
    assert {"torch", "diffusers", "distributed", "psycopg", "prefect", "cryptography"} <= worker
    assert worker >= ENGINES
    assert not WEB_NEVER_HAS & web and not WORKERS_NEVER_HAVE & worker


DRAWN = """
from evaluators.worlds.doom.engine import running
from evaluators.worlds.doom.sessions import SessionOrder
from evaluators.worlds.tabletop.episodes import TableStage
from evaluators.worlds.tabletop.starts import BUSSING, draw_start
with running() as game:
    print(len(game.record(SessionOrder("environment_1", 3, 3)).frames))
stage = TableStage.open()
stage.table.set(draw_start("x7", BUSSING))
print(int(stage.cameras.render().std()))
"""
"""A session of the game, and the table as its cameras see it."""


@pytest.mark.timeout(900)
def test_what_a_worker_s_image_installs_runs_the_engines_of_the_suites(tmp_path: Path) -> None:
    programs = build(tmp_path / "image", extras_of(IMAGES["armillary-worker"]))
    surroundings = {**OF_THE_SYSTEM, "HOME": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path)}

    drawn = subprocess.run(
        [str(programs / "python"), "-P", "-c", DRAWN],
        cwd=tmp_path,
        env=surroundings,
        capture_output=True,
        text=True,
        check=False,
    )

    assert drawn.returncode == 0, drawn.stderr
    takes, contrast = map(int, drawn.stdout.split()[-2:])
    assert takes == 3 and contrast > 25


def test_a_worker_s_image_has_what_the_engines_draw_with() -> None:
    installed = (COMPOSE.parent / IMAGES["armillary-worker"]).read_text().split()
    for_tests = (ROOT / "tests" / "servers" / "install").read_text()
    (drawing,) = re.findall(r"libEGL.*wanted\+=\((.*)\)", for_tests)

    assert {*drawing.split(), "libgl1", "libgl1-mesa-dri", "libglib2.0-0"} <= set(installed)


@pytest.fixture
def composed(tmp_path: Path) -> Iterator[tuple[Composed, Places]]:
    """Everything that compose starts before its own processes."""
    with places() as found:
        (port,) = free_ports(1)
        composed = Composed(tmp_path, _addresses(found, port), _secrets(found), _built(tmp_path))
        make_databases(found, COMPOSE.with_name("databases.sh"), tmp_path)
        told = {
            name: composed._here(str(value)).replace("$$", "$")
            for name, value in composed.services["prefect"]["environment"].items()
        }
        told["PREFECT_SERVER_DATABASE_PASSWORD"] = PASSWORDS["prefect"]
        told["PREFECT_SERVER_API_AUTH_STRING"] = AUTH
        with prefect(found, tmp_path, told):
            yield composed, found


def _addresses(found: Places, scheduler: int) -> dict[str, str]:
    address = found.database.rpartition("@")[2].partition("/")[0]
    return {
        "postgres:5432": address,
        "http://s3:9000": found.objects.endpoint,
        "s3://armillary/": f"s3://{found.objects.fresh_bucket()}/",
        "prefect:4200": f"127.0.0.1:{found.prefect_port}",
        "scheduler:8786": f"127.0.0.1:{scheduler}",
    }


def _secrets(found: Places) -> dict[str, str]:
    return {
        "armillary_database_password": PASSWORDS["armillary"],
        "armillary_s3_key": found.objects.key,
        "armillary_s3_secret": found.objects.secret,
        "armillary_prefect_auth": AUTH,
        "armillary_metrics_token": "a-token-of-instruments",
    }


def _built(folder: Path) -> dict[str, Path]:
    return {
        image: build(folder / "images" / image, extras_of(file)) for image, file in IMAGES.items()
    }


@contextmanager
def whole(composed: Composed) -> Iterator[dict[str, list[int]]]:
    """All processes, those before readers twice; the ports of each replica."""
    scheduler = composed.places["scheduler:8786"].rpartition(":")[2]
    ports = dict(zip(("api", "rating"), [free_ports(2), free_ports(1)], strict=True))
    boards = free_ports(2)
    with ExitStack() as stack:
        started = [
            stack.enter_context(composed.started("scheduler", "scheduler", "--port", scheduler))
        ]
        for name in ("watchdog", "cpu", "evaluations"):
            started.append(stack.enter_context(composed.started(name, name)))
        for number in (1, 2):
            started.append(stack.enter_context(composed.started("gpu", f"gpu-{number}")))
        for name, replicas in ports.items():
            for port in replicas:
                replica = composed.started(name, f"{name}-{port}", "--port", str(port))
                started.append(stack.enter_context(replica))
        for port in boards:
            started.append(stack.enter_context(_board(composed, port)))
        reached = [(port, "/health/ready") for port in ports["api"]]
        reached += [(port, "/_stcore/health") for port in (*boards, *ports["rating"])]
        for port, path in reached:
            wait_until(lambda port=port, path=path: answers(port, path), started, PATIENCE)  # type: ignore[misc]
        yield {"board": list(boards), "api": list(ports["api"])}


def _board(composed: Composed, port: int) -> Any:
    """Containers have a port of their own each; here the setting tells them apart."""
    service = composed.services["board"]
    told = {**service["environment"], "ARMILLARY_PORT": str(port)}
    services = {**composed.services, "board": {**service, "environment": told}}
    apart = Composed(composed.folder, composed.places, composed.secrets, composed.images, services)
    return apart.started("board", f"board-{port}")


@pytest.mark.long
@pytest.mark.timeout(3000)
def test_one_submission_goes_through_the_deployment_as_shipped(
    composed: tuple[Composed, Places], tmp_path: Path
) -> None:
    deployment, _ = composed
    deployment.run("certificates")
    deployment.run("init")
    deployment.run("init", ["armillary", "operate", "team", "add", TEAM])
    token = deployment.run("init", ["armillary", "operate", "token", "create", TEAM]).strip()
    bundle = drawn_outputs(tmp_path / "bundle.zip")

    with whole(deployment) as ports, proxy(ports["api"]) as api, proxy(ports["board"], True) as web:
        server = ("--server", f"http://127.0.0.1:{api}", "--token", token)
        said = deployment.run("api", ["armillary", "submit", str(bundle), *server])
        submission = next(word.strip(".") for word in said.split() if word.startswith("sub-"))
        state = _end_of(submission, api, token)
        doctor = deployment.run("evaluations", ["armillary", "doctor", "--json"])
        readers = [httpx.Client(base_url=f"http://127.0.0.1:{web}") for _ in range(2)]
        replicas = [[client.get("/").headers["X-Replica"] for _ in range(3)] for client in readers]
        model = httpx.get(f"http://127.0.0.1:{web}/api/v1/submissions/{submission}")

    rows = {row["what"]: row for row in json.loads(doctor[doctor.index("[") :])}
    assert state == "published"
    assert "2 shards at once" in rows["cluster"]["detail"]
    assert rows["watchdog"]["state"] == rows["workers gpu"]["state"] == "good"
    assert {len(set(seen)) for seen in replicas} == {1}
    assert replicas[0][0] != replicas[1][0]
    assert model.status_code in (200, 401)


def _end_of(submission: str, api: int, token: str) -> str:
    """Follow it to its end, each look at another replica."""
    headers = {"Authorization": f"Bearer {token}"}
    deadline, state = time.monotonic() + PATIENCE, ""
    while state not in ("published", "failed", "rejected") and time.monotonic() < deadline:
        time.sleep(2)
        answer = httpx.get(
            f"http://127.0.0.1:{api}/v1/submissions/{submission}", headers=headers, timeout=60
        )
        state = answer.json()["state"]
    return state
