"""The commands that make, check and hand in a bundle."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from flows.cli.parameters.names import HUB, SUITE
from flows.cli.parameters.paths import BUNDLE, MANIFEST, File, Folder, Manifest, NewBundle, Place
from flows.cli.parameters.values import KEY, Url
from flows.cli.terminal import fail, plain, progress, say, told, warn

SENT_BUNDLE = Place(BUNDLE, "s3://bucket/path/bundle.zip")
SENT_MODEL = Place(Folder("the folder that save_pretrained made"), "s3://bucket/prefix")


def check(bundle: Annotated[Path, typer.Argument(parser=BUNDLE)]) -> None:
    """Check a bundle as the server would, before anything is sent."""
    from flows.run.catalogue import from_code
    from submissions.bundle.reader_pool import readers_of

    with told(bundle) as settings:
        checked = readers_of(settings).check(bundle, from_code())
        warn(checked.warnings)
        manifest, samples = checked.manifest, len(checked.expected)
        files = len(checked.media) or len(manifest.files)
        say(
            f"Good: {plain(manifest.model.name)}, {files} files for {samples} samples of "
            f"{manifest.suite}."
        )


def submit(
    bundle: Annotated[
        str | None, typer.Argument(parser=SENT_BUNDLE, help="A bundle, or s3://bucket/key of one.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            parser=SENT_MODEL, help="A model folder instead, here or at s3://bucket/prefix."
        ),
    ] = None,
    hub: Annotated[
        str | None,
        typer.Option(parser=HUB, help="A model on a hub instead: org/name@REVISION (40 digits)."),
    ] = None,
    manifest: Annotated[
        Path | None,
        typer.Option(parser=MANIFEST, help="With --model or --hub: the manifest without files."),
    ] = None,
    server: Annotated[
        str | None,
        typer.Option(
            parser=Url("an Armillary server"), help="Hand the bundle in at this server instead."
        ),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(parser=KEY, envvar="ARMILLARY_TOKEN", help="With --server: your team's key."),
    ] = None,
) -> None:
    """Hand in a bundle of outputs or a model; prints the id to follow it by."""
    from flows.evaluate.door import bundle_to_send, receive

    if hub and model:
        fail(f"--model {model} and --hub {hub} name two models. Hand them in one after the other.")
    named = f"hub:{hub}" if hub else model
    if server:
        with told(bundle or named), TemporaryDirectory(prefix="armillary-door-") as folder:
            _send(server, token or "", bundle_to_send(Path(folder), bundle, named, manifest))
        return
    with told(bundle or named) as settings:
        received = receive(settings, bundle, named, manifest)
        warn(received.warnings)
        again = (
            " It was handed in before; this is the same submission." if received.duplicate else ""
        )
        say(f"Received as {received.submission_id}.{again}")
        say(f"Next: armillary evaluate {received.submission_id}")


def import_outputs(
    folder: Annotated[Path, typer.Argument(parser=Folder("the folder that holds the outputs"))],
    to: NewBundle,
    manifest: Manifest,
    listed: Annotated[
        Path | None,
        typer.Option(
            parser=File("a CSV with the columns sample and file"),
            help="CSV sample,file. Default: TailOR's names.",
        ),
    ] = None,
    tasks: Annotated[
        Path | None,
        typer.Option(
            parser=File("a CSV with the columns number and task"),
            help="CSV number,task. Default: our order, from 1.",
        ),
    ] = None,
    suite: Annotated[
        str | None, typer.Option(parser=SUITE, help="Default: the one that the manifest names.")
    ] = None,
) -> None:
    """Make a bundle from a folder of outputs: of any suite with --listed, of TailOR also by its own
    file names."""
    from flows.suites.tailor_import import Outputs, bundle

    with told(listed or folder):
        written = plain(str(bundle(Outputs(folder, manifest, listed, tasks, suite), to)))
        say(f"Written: {written}. Next: armillary check {written}")


def _send(server: str, token: str, bundle: Path) -> None:
    """Hand a bundle in over the network, with a bar for its bytes; a broken upload goes on where it
    stopped."""
    from flows.durable.progress import begin, reach
    from submissions.tools.client import Server, left_of_the_quota

    def show(sent: int, total: int) -> None:
        if not sent:
            begin("bytes", total)
        reach("bytes", sent)

    with told(), progress():
        door = Server(server, token)
        handed = door.hand_in(bundle, show)
        warn(handed.warnings)
        say(f"Received as {handed.submission_id}.")
        say(left_of_the_quota(door.ask("GET", "/v1/teams/me", b"", {})["quotas"][handed.suite]))
