"""The operator's commands: the watchdog, the nightly, deployments, workers, backups."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from flows.cli.parameters.names import SuiteName
from flows.cli.parameters.paths import BACKUP, NewFile, NewFolder, Place
from flows.cli.parameters.values import SCHEDULER, By, Name
from flows.cli.terminal import fail, plain, progress, say, told

Backup = Annotated[Path, typer.Argument(parser=BACKUP)]
OBJECTS = Place(NewFolder("the objects"), "s3://bucket/prefix")


def watchdog(
    once: Annotated[bool, typer.Option("--once", help="One look, then end.")] = False,
) -> None:
    """Free what died, start it again where it stopped, and see every submission to an end."""
    from flows.workers.executor import prepare

    with told() as settings:
        prepare(settings)
        from flows.operate.watchdog import look, watch

        if once:
            say(plain(str(look(settings))).capitalize() + ".")
        else:
            watch(settings, lambda text: say(plain(text)))


def nightly() -> None:
    """Do the night that is due: compute again what is stale, watch the judges, write down what
    moved."""
    from flows.workers.executor import prepare

    with told() as settings, progress():
        prepare(settings)
        from flows.nightly.flow import run

        say(plain(run(settings)))


def thaw(suite: SuiteName, by: By) -> None:
    """Open a suite's frozen boards again; what waited for them goes on."""
    from infra.db import session

    with told() as settings, session(settings.database) as db:
        from flows.publish.freeze import thaw as lift

        opened = lift(db, suite, by)
        say(
            f"{opened} boards of {plain(suite)} are open again."
            if opened
            else f"No board of {plain(suite)} is frozen."
        )


def deploy(
    gpu_slots: Annotated[
        int, typer.Option(min=1, max=10_000, help="Evaluations at once, over all GPU workers.")
    ] = 1,
) -> None:
    """Tell the Prefect server which flows there are, when they run, and how many at once."""
    import os

    from flows.workers.executor import prepare, served

    with told() as settings:
        prepare(settings)
        if not served():
            fail(
                "There is no server to tell: set PREFECT_API_URL, such as "
                "http://127.0.0.1:4200/api."
            )
        from flows.operate.deployments import register

        register(settings, gpu_slots, lambda text: say(plain(text)))
        say(
            f"Ready at {os.environ['PREFECT_API_URL']}. Next: armillary worker --pool cpu, "
            "armillary worker --pool gpu"
        )


def worker(
    pool: Annotated[
        Literal["cpu", "gpu"] | None, typer.Option(help="Take whole evaluations from this pool.")
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            parser=SCHEDULER, help="Take shards from this Dask scheduler instead, host:8786."
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many at once.")] = 1,
    name: Annotated[
        str | None,
        typer.Option(
            parser=Name("a worker"), help="What it is called; default: the machine and its process."
        ),
    ] = None,
) -> None:
    """Start a worker on this machine; it runs until somebody stops it."""
    from flows.operate.deployments import become
    from flows.workers.executor import prepare, served

    with told() as settings:
        if (pool is None) == (not scheduler):
            fail(
                "Name one place to take work from: --pool cpu, --pool gpu, or --scheduler "
                "HOST:8786."
            )
        if pool and not served():
            fail(
                "There is no server to take work from: set PREFECT_API_URL, such as "
                "http://127.0.0.1:4200/api."
            )
        prepare(settings, quiet=False)
        become(pool, scheduler or "", limit, name or "")


def backup(
    to: Annotated[Path, typer.Argument(parser=NewFile("the backup"))],
    objects: Annotated[
        str | None,
        typer.Option(parser=OBJECTS, help="Also copy the store's objects here: a folder or s3://."),
    ] = None,
) -> None:
    """Write every row into one file, of one moment, while everything goes on."""
    from flows.operate.backups import copy_objects, dump

    with told() as settings:
        done = dump(settings, to)
        say(
            f"{done.rows} rows of {done.tables} tables (revision {done.revision}) in "
            f"{plain(str(to))}."
        )
        if objects:
            say(f"{copy_objects(settings, objects)} objects copied that were not there.")


def restore(file: Backup) -> None:
    """Fill an empty database from a backup."""
    from flows.operate.backups import restore as fill

    with told() as settings:
        done = fill(settings, file)
        say(f"{done.rows} rows of {done.tables} tables restored. Next: armillary audit")


def drill(file: Backup) -> None:
    """Prove a backup: restore it beside the board and compare the two exports byte by byte."""
    from flows.operate.backups import drill as prove

    with told() as settings:
        done = prove(settings, file)
        if done.different:
            fail(f"{len(done.different)} of {done.files} files differ, first {done.different[0]}.")
        say(f"{done.rows} rows restored; all {done.files} files of the export are the same.")


def prune() -> None:
    """Remove attempts, expired uploads and notes that nobody asks for any more."""
    from flows.operate.prune import prune as clear

    with told() as settings:
        done = clear(settings)
        say(
            f"{done.attempts} attempts, {done.uploads} uploads, {done.leases} leases, {done.notes} "
            "notes removed."
        )


COMMANDS = (watchdog, nightly, thaw, deploy, worker, backup, restore, drill, prune)
