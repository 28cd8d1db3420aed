"""A red-team run: three hundred seeded inputs through API, inbox and command line, each under 20
seconds and 1 GB, while the board's health is asked again and again.

Each input is printed with what came of it, so that one can be made again from the seed alone;
`--seed` draws three hundred others.
"""

from __future__ import annotations

import argparse
import http.client
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import TimeoutExpired
from urllib.parse import urlsplit

import httpx
import psutil

from flows.operate.inbox import sweep
from flows.run import catalogue
from infra.db import migrate, session
from infra.settings import Settings
from infra.store import open_store
from submissions.teams import tokens
from tests.api.handing_in import promise
from tests.bench.red_team_inputs import HostileBundle, HostileRequest, bundles, requests
from tests.bench.report import at_most, report, shown
from tests.servers import postgres
from tests.servers.process import answers, free_ports, running, wait_until
from tests.servers.s3 import S3Server, serve

SEED = 20_261_118
BUNDLES, REQUESTS = 200, 100
SECONDS, GIGABYTES, HEALTH_SECONDS = 20.0, 1.0, 1.0
TEAM = "Test team"
FREE = {
    "ARMILLARY_RATE_REQUESTS": "100000",
    "ARMILLARY_RATE_ADDRESS": "100000",
    "ARMILLARY_RATE_WRONG_TOKENS": "100000",
    "ARMILLARY_QUOTA_SCORED": "100000",
    "ARMILLARY_QUOTA_WAITING": "100000",
}
SERVE = "from flows.cli.serve import run_api; from infra.settings import Settings; import sys; "


@dataclass
class Watch:
    """What was seen while the inputs came: the longest wait for health, the most memory of one
    process, whether health ever failed to answer."""

    health: float = 0.0
    memory: float = 0.0
    unanswered: int = 0
    over: threading.Event = field(default_factory=threading.Event)


def main() -> int:
    """Send everything, and print the table."""
    asked = argparse.ArgumentParser()
    asked.add_argument("--seed", type=int, default=SEED)
    seed: int = asked.parse_args().seed
    with (
        tempfile.TemporaryDirectory(prefix="armillary-red-") as folder,
        serve() as s3,
        postgres.serve() as database,
        _board(Path(folder), s3, database.fresh_database()) as (settings, address, token, watch),
    ):
        results, longest = Counter[str](), 0.0
        for hostile in _inputs(Path(folder), seed):
            began = time.monotonic()
            outcome = _send(hostile, settings, address, token)
            took = time.monotonic() - began
            longest = max(longest, took)
            results[outcome.split()[0]] += 1
            print(f"{hostile.what}: {outcome} in {took:.2f} s", flush=True)
        watch.over.set()
    print(f"seed {seed}: {dict(results)}")
    return report(
        "red_team",
        [
            shown("inputs", results.total()),
            at_most("crashes and faults of ours", results["CRASH"], 0),
            at_most("seconds for the slowest input", longest, SECONDS),
            at_most("gigabytes of the largest process", watch.memory, GIGABYTES),
            at_most("seconds for the slowest health", watch.health, HEALTH_SECONDS),
            at_most("times health did not answer", watch.unanswered, 0),
        ],
    )


def _inputs(folder: Path, seed: int) -> Iterator[HostileBundle | HostileRequest]:
    (folder / "inputs").mkdir()
    yield from bundles(folder / "inputs", BUNDLES, seed)
    yield from requests(REQUESTS, seed)


@contextmanager
def _board(folder: Path, s3: S3Server, database: str) -> Iterator[tuple[Settings, str, str, Watch]]:
    """The API in a process of its own over PostgreSQL and S3, a team's token, and somebody who
    watches."""
    os.environ["ARMILLARY_DATABASE_URL"] = database
    os.environ.update(s3.environment)
    os.environ["ARMILLARY_S3_ENDPOINT"] = s3.endpoint
    os.environ["ARMILLARY_INBOX"] = f"s3://{s3.fresh_bucket()}/inbox"
    os.environ.update(FREE)
    os.environ["ARMILLARY_HOME"] = str(folder / "home")
    settings, port, watch = Settings(), free_ports(1)[0], Watch()
    migrate(settings.database)
    with session(settings.database) as db:
        catalogue.load(db)
        tokens.add_team(db, TEAM)
        token = tokens.create(db, TEAM)
    command = [sys.executable, "-c", f"{SERVE}run_api(Settings(), port={port})"]
    with running(command, folder / "api.log") as server:
        wait_until(lambda: answers(port, "/health/live"), [server], 60)
        watcher = threading.Thread(target=_look, args=(watch, port), daemon=True)
        watcher.start()
        yield settings, f"http://127.0.0.1:{port}", token, watch
        watch.over.set()
        watcher.join()


def _look(watch: Watch, port: int) -> None:
    """Ask for health, and for the memory of this process, which sweeps the inbox, and of every
    child, again and again."""
    this = psutil.Process()
    while not watch.over.wait(0.05):
        began = time.monotonic()
        watch.unanswered += not answers(port, "/health/live")
        watch.health = max(watch.health, time.monotonic() - began)
        for process in (this, *this.children(recursive=True)):
            try:
                watch.memory = max(watch.memory, process.memory_info().rss / 1e9)
            except psutil.Error:
                continue


def _send(
    hostile: HostileBundle | HostileRequest, settings: Settings, address: str, token: str
) -> str:
    """What came of an input: a code or a status, or CRASH and why."""
    if isinstance(hostile, HostileRequest):
        return _asked(hostile, address, token)
    if hostile.door == "api":
        return _uploaded(hostile.path, address, token)
    return _dropped(hostile.path, settings) if hostile.door == "inbox" else _typed(hostile.path)


def _uploaded(path: Path, address: str, token: str) -> str:
    """Promised with its own manifest where it has one, sent, finished; the first refusal counts."""
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": f"key-of-{path.name}"}
    with httpx.Client(base_url=address, headers=headers, timeout=3 * SECONDS) as client:
        answer = client.post("/v1/submissions", json=promise(path, own=True))
        if answer.status_code == 201:
            upload, data = answer.json()["upload"], path.read_bytes()
            for part in upload["parts"]:
                piece = data[part["offset"] : part["offset"] + part["size"]]
                octets = {"Content-Type": "application/octet-stream"}
                client.put(part["path"], content=piece, headers=octets)
            answer = client.post(f"/v1/submissions/uploads/{upload['id']}/finish")
    if answer.status_code >= 500:
        return f"CRASH {answer.status_code}"
    return "taken" if answer.status_code < 400 else f"refused {answer.json()['error']['code']}"


def _dropped(path: Path, settings: Settings) -> str:
    open_store(settings.inbox, settings.s3_endpoint).put_file(f"{TEAM}/{path.name}", path)
    reports = [taken for taken in sweep(settings) if taken.uri.endswith(path.name)]
    if len(reports) != 1 or reports[0].state == "later":
        return f"CRASH {reports}"[:200]
    codes = " ".join(problem.code for problem in reports[0].problems[:1])
    return f"{'taken' if reports[0].submission_id else 'refused'} {codes}"


def _typed(path: Path) -> str:
    command = [sys.executable, "-m", "flows.cli.app", "submit", str(path)]
    process = psutil.Popen(command, stdout=-1, stderr=-2, text=True)
    try:
        output, _ = process.communicate(timeout=3 * SECONDS)
    except TimeoutExpired:
        process.kill()
        return f"CRASH no end within {3 * SECONDS:g} s"
    if "Traceback" in output or process.returncode not in (0, 1, 2):
        return f"CRASH status {process.returncode}: {output[-150:]}"
    return "taken" if process.returncode == 0 else f"refused status {process.returncode}"


def _asked(hostile: HostileRequest, address: str, token: str) -> str:
    parts = urlsplit(address)
    line = http.client.HTTPConnection(parts.netloc, timeout=3 * SECONDS)
    headers = dict(hostile.headers) | {"Authorization": f"Bearer {token}"}
    try:
        line.request(hostile.method, hostile.path, hostile.body, headers)
        status = line.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        return f"CRASH {type(error).__name__}"
    finally:
        line.close()
    return f"CRASH {status}" if status >= 500 else f"answered {status}"


if __name__ == "__main__":
    sys.exit(main())
