"""The group `armillary operate`: services, workers, entries, backups, teams and their tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from flows.cli.commands import entries, teams
from flows.cli.parameters.paths import BACKUP, NewFile, NewFolder, Place
from flows.cli.parameters.values import SCHEDULER, BindAddress, Name, Port
from flows.cli.terminal import fail, plain, progress, reporting_errors, say

Backup = Annotated[Path, typer.Argument(parser=BACKUP)]
OBJECTS = Place(NewFolder("the objects"), "s3://bucket/prefix")


def watchdog(
    once: Annotated[bool, typer.Option("--once", help="Restart what died, then exit.")] = False,
) -> None:
    """Keep the board going: the one process that must always run.

    Restarts evaluations whose worker died, gives up on a submission after its last attempt or its
    deadline, empties the inbox and asks Prefect for an evaluation of whatever waits.
    """
    from flows.workers.executor import prepare

    with reporting_errors() as settings:
        prepare(settings)
        if once:
            from flows.operate.watchdog import look

            say(plain(str(look(settings))).capitalize() + ".")
            return
        from flows.operate.attend import attend

        attend(settings, lambda text: say(plain(text)))


def nightly() -> None:
    """Run the nightly that is due.

    Computes stale results again, checks the judges for drift and records which cells changed.
    """
    from flows.workers.executor import prepare

    with reporting_errors() as settings, progress():
        prepare(settings)
        from flows.nightly.flow import run

        say(plain(run(settings)))


def deploy(
    gpu_slots: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=10_000,
            help="Evaluations at once, over all GPU workers; left out: as it is, 4 when new.",
        ),
    ] = None,
) -> None:
    """Register flows, schedules and limits with Prefect."""
    import os

    from flows.workers.executor import prepare, served

    with reporting_errors() as settings:
        prepare(settings)
        if not served():
            fail(
                "There is no server to tell: set PREFECT_API_URL, such as "
                "http://127.0.0.1:4200/api."
            )
        from flows.operate.deployments import register

        register(settings, gpu_slots, lambda text: say(plain(text)))
        say(
            f"Ready at {os.environ['PREFECT_API_URL']}. Next: armillary operate worker --pool "
            "cpu, armillary operate worker --pool gpu"
        )


def api(port: Port = 8502, address: BindAddress = "127.0.0.1") -> None:
    """Serve the API alone; its pages are under /v1/docs."""
    from flows.cli.serve import run_api

    with reporting_errors() as settings:
        say(f"The API: http://{address}:{port}/v1/docs")
        run_api(settings, address, port)


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
    """Start a worker on this machine; it runs until stopped."""
    from flows.operate.deployments import become, worker_command, worker_name
    from flows.workers import dask_cluster
    from flows.workers.executor import prepare, served

    with reporting_errors() as settings:
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
        called = name or worker_name()
        if pool:
            become(worker_command(pool, limit, called))
        become(dask_cluster.worker_command(scheduler or "", called, limit, settings.certificates))


def scheduler(port: Port = 8786, address: BindAddress = "127.0.0.1") -> None:
    """Start the Dask scheduler that hands shards to workers.

    Beyond this machine it wants certificates: ARMILLARY_CERTIFICATES.
    """
    from flows.operate.deployments import become
    from flows.workers.dask_cluster import scheduler_command
    from flows.workers.executor import prepare

    with reporting_errors() as settings:
        prepare(settings, quiet=False)
        become(scheduler_command(address, port, settings.certificates))


def certificates(
    folder: Annotated[Path, typer.Argument(parser=NewFolder("the certificates"))],
    days: Annotated[int, typer.Option(min=1, max=3650, help="How long they hold.")] = 730,
) -> None:
    """Write certificates for a Dask cluster.

    One folder each for the scheduler, the flows and the workers; ARMILLARY_CERTIFICATES names its
    own to each process. To renew them, write all of them anew.
    """
    from flows.operate.certificates import write_certificates

    with reporting_errors():
        for written in write_certificates(folder, days):
            say(plain(str(written)))


def bucket() -> None:
    """Make the buckets of ARMILLARY_STORE and ARMILLARY_INBOX.

    Those that are there already are left as they are.
    """
    from infra.store.boto import make_bucket

    with reporting_errors() as settings:
        places = [place for place in (settings.store, settings.inbox) if place.startswith("s3://")]
        if not places:
            fail("There is no bucket to make: set ARMILLARY_STORE to s3://bucket/prefix.")
        for name in dict.fromkeys(place.split("/")[2] for place in places):
            is_new = make_bucket(name, settings.s3_endpoint)
            say(f"{name}: {'made' if is_new else 'it is there already'}.")


def backup(
    to: Annotated[Path, typer.Argument(parser=NewFile("the backup"))],
    objects: Annotated[
        str | None,
        typer.Option(parser=OBJECTS, help="Also copy the store's objects here: a folder or s3://."),
    ] = None,
) -> None:
    """Write a consistent copy of all rows into one file.

    Nothing has to be stopped for it.
    """
    from flows.operate.backups import copy_objects, dump

    with reporting_errors() as settings:
        copied = dump(settings, to)
        say(
            f"{copied.rows} rows of {copied.tables} tables (revision {copied.revision}) in "
            f"{plain(str(to))}."
        )
        if objects:
            say(f"{copy_objects(settings, objects)} objects copied that were not there.")


def restore(file: Backup) -> None:
    """Fill an empty database from a backup."""
    from flows.operate.backups import restore as fill

    with reporting_errors() as settings:
        copied = fill(settings, file)
        say(f"{copied.rows} rows of {copied.tables} tables restored. Next: armillary audit run")


def drill(file: Backup) -> None:
    """Test a backup: restore it beside the board and compare.

    The exports of both databases have to be the same, byte by byte.
    """
    from flows.operate.backups import drill as prove

    with reporting_errors() as settings:
        comparison = prove(settings, file)
        if comparison.different:
            different = comparison.different
            fail(f"{len(different)} of {comparison.files} files differ, first {different[0]}.")
        say(
            f"{comparison.rows} rows restored; all {comparison.files} files of the export are the "
            "same."
        )


def prune() -> None:
    """Remove old attempts, uploads, leases and notes.

    They are older than ARMILLARY_KEEP_DAYS.
    """
    from flows.operate.prune import prune as clear

    with reporting_errors() as settings:
        removed = clear(settings)
        say(
            f"{removed.attempts} attempts, {removed.uploads} uploads, {removed.leases} leases, "
            f"{removed.notes} notes removed."
        )


PANELS = {
    "Services": (
        deploy,
        worker,
        scheduler,
        certificates,
        watchdog,
        nightly,
        api,
        teams.intake,
    ),
    "Entries": (
        entries.publish,
        entries.enter,
        entries.withdraw,
        entries.sanity,
        entries.thaw,
    ),
    "Data": (bucket, backup, restore, drill, prune),
}
operate = typer.Typer(help="Services, workers, backups, teams.", no_args_is_help=True)
for panel, functions in PANELS.items():
    for function in functions:
        operate.command(rich_help_panel=panel)(function)
operate.add_typer(teams.teams, name="team", rich_help_panel="Teams")
operate.add_typer(teams.tokens, name="token", rich_help_panel="Teams")
