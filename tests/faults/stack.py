"""Everything that a board of several machines runs on, each part a process that can be killed and
comes back."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil
import pytest

from flows.evaluate.door import receive
from flows.operate.deployments import register, worker_command
from flows.run import catalogue
from infra.db import migrate, session
from infra.settings import Settings
from tests.command import ROOT, Machine
from tests.servers import postgres, s3
from tests.servers.again import Again, Start
from tests.servers.postgres import PostgresServer
from tests.servers.process import answers, free_ports, running, wait_until

FORKED = ROOT / "tests" / "forked.py"
RUN = "flows.operate.run_main"
IMPORTED = (
    *(
        "great_expectations",
        "boto3",
        "psycopg",
        "asyncpg",
        "flows.cli.app",
        "flows.evaluate.flow",
        "flows.operate.watchdog",
    ),
    *(
        "prefect.cli",
        "prefect.cli.server",
        "prefect.flow_engine",
        "prefect.task_engine",
    ),
    *(
        "flows.operate.pool_worker",
        "prefect.server.api.server",
        "tests.faults.pretending:elsewhere",
    ),
)


@dataclass(frozen=True)
class Stack:
    """A board in work: its parts by name, and the process whose children all those of ours are."""

    parts: Mapping[str, Again]
    mother: psutil.Process

    def runs(self) -> list[psutil.Process]:
        """The evaluations that are in work or begin."""
        return [child for child in self.mother.children() if _is_run(child)]

    def kill_runs(self) -> int:
        """Kill -9 every evaluation; say how many there were."""
        found = self.runs()
        for run in found:
            run.kill()
        return len(found)

    def mend(self) -> None:
        """Start again what does not run, as the platform under it would."""
        for part in self.parts.values():
            if not part.lives():
                part.kill()
                part.start()


def _is_run(process: psutil.Process) -> bool:
    try:
        # The kernel keeps fifteen characters of a name.
        return bool(process.name() == RUN[:15])
    except psutil.NoSuchProcess:
        return False


@contextmanager
def machine_in(
    folder: Path, wishes: Mapping[str, str]
) -> Iterator[tuple[Machine, dict[str, Again]]]:
    """A machine whose database and store are servers, and these; the address of Prefect is set, but
    nobody is there."""
    with postgres.killable() as (database, database_part), s3.killable() as (objects, objects_part):
        (port,) = free_ports(1)
        told = {
            **objects.environment,
            **_prefect(database, port),
            "PREFECT_HOME": str(folder / "prefect"),
            "ARMILLARY_DATABASE_URL": database.fresh_database(),
            "ARMILLARY_STORE": f"s3://{objects.fresh_bucket()}/board",
            "ARMILLARY_S3_ENDPOINT": objects.endpoint,
        }
        yield (
            Machine(folder / "home", {**told, **wishes}),
            {"database": database_part, "S3 server": objects_part},
        )


@contextmanager
def standing(
    folder: Path, bundles: Sequence[Path], slots: int, wishes: Mapping[str, str], *imported: str
) -> Iterator[Stack]:
    """The whole stack with everything handed in, and this process one of those who talk to it."""
    from prefect.settings import PREFECT_API_URL, PREFECT_LOGGING_LEVEL, temporary_settings

    with machine_in(folder, wishes) as (machine, servers), pytest.MonkeyPatch.context() as patch:
        for name, value in machine.environment.items():
            patch.setenv(name, value)
        migrate(Settings().database)
        with session(Settings().database) as db:
            catalogue.load(db)
        for bundle in bundles:
            receive(Settings(), str(bundle), None, None)
        api = machine.variables["PREFECT_API_URL"]
        with (
            temporary_settings({PREFECT_API_URL: api, PREFECT_LOGGING_LEVEL: "CRITICAL"}),
            at_work(folder, machine, servers, slots, *imported) as stack,
        ):
            yield stack


def _prefect(database: PostgresServer, port: int) -> dict[str, str]:
    """One environment for the server and for those who talk to it."""
    url = database.fresh_database().replace("postgresql+psycopg://", "postgresql+asyncpg://")
    return {
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_SERVER_API_PORT": str(port),
        "PREFECT_SERVER_DATABASE_CONNECTION_URL": url,
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_SERVER_UI_ENABLED": "false",
        # Nothing here waits for them, and they take their share of two cores.
        "PREFECT_SERVER_SERVICES_SCHEDULER_ENABLED": "false",
        "PREFECT_SERVER_SERVICES_TRIGGERS_ENABLED": "false",
        "PREFECT_LOGGING_TO_API_ENABLED": "false",
        "PREFECT_CLI_PROMPT": "false",
        "DO_NOT_TRACK": "1",
        "NO_PROXY": "127.0.0.1",
    }


@contextmanager
def at_work(
    folder: Path, machine: Machine, servers: Mapping[str, Again], slots: int, *imported: str
) -> Iterator[Stack]:
    """A Prefect server with our deployments, a worker for so many evaluations at once, and a
    watchdog."""
    port = int(machine.variables["PREFECT_SERVER_API_PORT"])
    with ExitStack() as stack:
        forking = stack.enter_context(_forking(folder, machine.environment, imported))
        prefect = Again(
            [forking.start("prefect", "server", "start")],
            partial(answers, port, "/api/health"),
            600,
        )
        stack.enter_context(prefect)
        register(Settings(), slots, print)
        worker = Again([forking.start(*worker_command("gpu", slots, "worker")[2:])])
        watchdog = Again([forking.start("flows.cli.app", "operate", "watchdog")])
        for part in (worker, watchdog):
            stack.enter_context(part)
        parts = {**servers, "Prefect server": prefect, "worker": worker, "watchdog": watchdog}
        yield Stack(parts, forking.mother)


@dataclass(frozen=True)
class Forking:
    """Where processes come from that need not import anything any more."""

    folder: Path
    environment: Mapping[str, str]
    mother: psutil.Process

    def command(self, *module: str) -> list[str]:
        """What to run instead of `python -m MODULE ARGUMENT...`."""
        return [sys.executable, "-I", "-S", str(FORKED), "run", str(self.folder / "fork"), *module]

    def start(self, *module: str) -> Start:
        """How to start such a process, as often as need be."""
        log = self.folder / f"{module[0]}-{module[1]}.log"
        return partial(
            running, self.command(*module), log, environment=self.environment, folder=ROOT
        )


@contextmanager
def _forking(
    folder: Path, environment: Mapping[str, str], more: Sequence[str]
) -> Iterator[Forking]:
    forked = f"tests.faults.pretending:begin_forked:{folder / 'fork'}"
    imported = (*IMPORTED, forked, *more)
    command = [sys.executable, "-P", str(FORKED), "serve", str(folder / "fork"), *imported]
    path = {**environment, "PYTHONPATH": str(ROOT)}
    with running(command, folder / "forking.log", environment=path, folder=ROOT) as process:
        wait_until((folder / "fork").exists, [process], 600)
        yield Forking(folder, path, psutil.Process(process.pid))
