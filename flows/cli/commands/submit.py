"""The panel Submit: a suite's samples, making, checking and handing in a bundle, its progress."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli.parameters.names import (
    HUB,
    SUBMISSION,
    SUITE,
    NameWithin,
    SubmissionId,
    SuiteName,
    modality_of,
    subset_of,
)
from flows.cli.parameters.paths import (
    BUNDLE,
    MANIFEST,
    Either,
    ExistingFile,
    ExistingFolder,
    Manifest,
    NewBundle,
    NewFile,
    NewFolder,
    Place,
)
from flows.cli.parameters.values import CONTACT, KEY, Name, Url, Words
from flows.cli.terminal import (
    AsJson,
    fail,
    plain,
    progress,
    reporting_errors,
    say,
    show_rows,
    show_tables,
    warn,
)

if TYPE_CHECKING:
    from infra.settings import Settings

STARTER = ExistingFolder("the folder that `armillary new` made", ("manifest.json",))
BUNDLE_OR_STARTER = Either(BUNDLE, STARTER)
NAMED_SUBMISSION = Words("the id of a submission", 80)
"""Here or at a server; what is not there is told by who is asked."""
SENT_BUNDLE = Place(BUNDLE, "s3://bucket/path/bundle.zip")
SENT_MODEL = Place(ExistingFolder("the folder that save_pretrained made"), "s3://bucket/prefix")


def new(
    suite: SuiteName,
    folder: Annotated[Path, typer.Argument(parser=NewFolder("the entry"))],
    subset: Annotated[str, typer.Option(parser=NameWithin("subset"))] = "full",
    modality: Annotated[
        str, typer.Option(parser=NameWithin("modality"), help="One, or * for all.")
    ] = "*",
    team: Annotated[str, typer.Option(parser=Name("a team"), help="Your team.")] = "My team",
    model: Annotated[
        str | None,
        typer.Option(parser=Name("a model"), help="Your model. Default: the folder's name."),
    ] = None,
    contact: Annotated[
        str | None,
        typer.Option(parser=CONTACT, help="An address for questions; it is not shown."),
    ] = None,
) -> None:
    """Begin an entry: a folder with manifest, prompts and media."""
    from evaluators.suites import suite_named
    from flows.cli.starter import new_entry
    from submissions.tools.starter import EntryFacts

    with reporting_errors(folder):
        chosen = suite_named(suite)
        subset, modality = subset_of(chosen, subset), modality_of(chosen, modality)
        named = model or folder.resolve().name
        facts = EntryFacts(suite, chosen.version, subset, team, named, contact or "not stated")
        count = new_entry(folder, facts, modality)
        place = plain(str(folder))
        say(f"{count} samples of {suite} {chosen.version}: {place}/prompts.jsonl names the files.")
        say(f"Write them into {place}/outputs. Next: armillary pack {place}")


def pack(
    folder: Annotated[Path, typer.Argument(parser=STARTER)],
    to: Annotated[
        Path | None,
        typer.Option(parser=NewFile("the bundle"), help="Default: the folder's name with .zip."),
    ] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Some samples are left out: shown, never ranked.")
    ] = False,
) -> None:
    """Make a bundle of a folder whose files are named by sample."""
    from flows.cli.starter import packed_folder

    with reporting_errors(folder):
        whole = folder.resolve()
        packed = packed_folder(folder, to or whole.with_name(f"{whole.name}.zip"), partial)
        for modality in packed.left_out:
            say(f"No file for {modality}: the bundle says that the model makes none.")
        beside = packed.path.parent == Path.cwd()
        path = plain(packed.path.name if beside else str(packed.path))
        say(f"Written: {path}, {packed.files} files. Next: armillary submit {path}")


def samples(
    suite: SuiteName,
    subset: Annotated[str, typer.Option(parser=NameWithin("subset"))] = "full",
    modality: Annotated[
        str, typer.Option(parser=NameWithin("modality"), help="One, or * for all.")
    ] = "*",
    media: Annotated[
        Path | None,
        typer.Option(
            parser=NewFolder("the media"), help="Write what each sample starts from there too."
        ),
    ] = None,
    blocked: Annotated[
        list[str] | None,
        typer.Option(
            parser=NameWithin("sample"),
            help="A sample that a safety filter blocked: list what stands in for it instead.",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=2**63 - 1, help="With --blocked: the manifest's seed.")
    ] = 0,
) -> None:
    """List a suite's sample ids and prompts as JSON lines."""
    from evaluators.suites import suite_named
    from flows.cli.starter import chosen_samples, handed_out, stand_ins

    with reporting_errors():
        chosen = suite_named(suite)
        if media is not None and chosen.hand_out is None:
            fail(f"The samples of {suite} start from their prompts alone. Leave out --media.")
        modality = modality_of(chosen, modality)
        listed = chosen_samples(chosen, subset_of(chosen, subset), modality)
        if blocked:
            listed = stand_ins(chosen, listed, blocked, seed)
        names = handed_out(chosen, listed, media) if media is not None else []
        for number, sample in enumerate(listed):
            line = {
                "sample": sample.id,
                "modality": sample.facets.modality,
                "prompt": sample.prompt,
                **({"media": names[number]} if names else {}),
            }
            typer.echo(json.dumps(line))


def schema() -> None:
    """Print the JSON schema of manifest.json."""
    from submissions.format.manifest import json_schema

    typer.echo(json.dumps(json_schema(), indent=2, sort_keys=True))


def check(
    bundle: Annotated[
        Path, typer.Argument(parser=BUNDLE_OR_STARTER, help="A bundle, or the folder of one.")
    ],
    as_json: AsJson = False,
) -> None:
    """Check a bundle or folder as the server would; nothing is sent."""
    from flows.cli.starter import checked_folder
    from flows.run.catalogue import from_code
    from submissions.bundle.reader_pool import readers_of

    with reporting_errors(bundle) as settings:
        if bundle.is_dir():
            checked = checked_folder(settings, bundle)
        else:
            checked = readers_of(settings).check(bundle, from_code())
        warn(checked.warnings)
        files = len(checked.media) or len(checked.manifest.files)
        if as_json:
            codes = [warning.code for warning in checked.warnings]
            facts = {"suite": checked.manifest.suite, "files": files, "warnings": codes}
            typer.echo(json.dumps({"good": True, **facts, "samples": len(checked.expected)}))
            return
        say(
            f"Good: {plain(checked.manifest.model.name)}, {files} files for "
            f"{len(checked.expected)} samples of {checked.manifest.suite}."
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
    """Hand in a bundle of outputs or a model; prints its id."""
    from flows.evaluate.door import bundle_to_send, receive

    if hub and model:
        fail(f"--model {model} and --hub {hub} name two models. Hand them in one after the other.")
    named = f"hub:{hub}" if hub else model
    if server:
        with (
            reporting_errors(bundle or named),
            TemporaryDirectory(prefix="armillary-door-") as folder,
        ):
            _send(server, token or "", bundle_to_send(Path(folder), bundle, named, manifest))
        return
    with reporting_errors(bundle or named) as settings:
        received = receive(settings, bundle, named, manifest)
        warn(received.warnings)
        again = (
            " It was handed in before; this is the same submission." if received.duplicate else ""
        )
        say(f"Received as {received.submission_id}.{again}")
        say(f"Next: armillary evaluate {received.submission_id}")


def import_outputs(
    folder: Annotated[
        Path, typer.Argument(parser=ExistingFolder("the folder that holds the outputs"))
    ],
    to: NewBundle,
    manifest: Manifest,
    listed: Annotated[
        Path | None,
        typer.Option(
            parser=ExistingFile("a CSV with the columns sample and file"),
            help="CSV sample,file. Default: by file names.",
        ),
    ] = None,
    tasks: Annotated[
        Path | None,
        typer.Option(
            parser=ExistingFile("a CSV with the columns number and task"),
            help="CSV number,task. Default: our order, from 1.",
        ),
    ] = None,
    suite: Annotated[
        str | None, typer.Option(parser=SUITE, help="Default: the one that the manifest names.")
    ] = None,
) -> None:
    """Make a bundle from a folder of outputs.

    Files called by their sample's id, or named in --listed; TailOR's also by their own names.
    """
    from flows.suites.tailor_import import Outputs, bundle

    with reporting_errors(listed or folder):
        path = plain(str(bundle(Outputs(folder, manifest, listed, tasks, suite), to)))
        say(f"Written: {path}. Next: armillary check {path}")


def status(
    submission: Annotated[str | None, typer.Argument(parser=NAMED_SUBMISSION)] = None,
    server: Annotated[
        str | None,
        typer.Option(parser=Url("an Armillary server"), help="Ask this server instead."),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(parser=KEY, envvar="ARMILLARY_TOKEN", help="With --server: your team's key."),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="With --server: tell every change until the end.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show all submissions, or the timeline of one."""
    from flows.cli.status import overview, timeline

    if server:
        with reporting_errors():
            _remote_status(server, token or "", submission, watch, as_json)
        return
    if watch:
        fail("--watch follows a submission at a server. Name it by --server ADDRESS.")
    with reporting_errors() as settings:
        known = SUBMISSION(submission) if submission else None
        show_rows(timeline(settings, known) if known else overview(settings), as_json)


def _remote_status(
    server: str, token: str, submission: str | None, watch: bool, as_json: bool
) -> None:
    """What a server says of the team's submissions, or of one of them."""
    from submissions.tools.client import Server

    door = Server(server, token)
    if submission is None:
        rows = door.ask("GET", "/v1/submissions", b"", {})
        columns = ("id", "suite", "model", "state", "reason")
        show_rows([{name: row[name] for name in columns} for row in rows], as_json)
        return
    told = 0
    for status in door.watch(submission) if watch else [door.status(submission)]:
        events = status.events[told:]
        told = len(status.events)
        show_rows([{"when": e.at, "what": e.what, "text": e.text} for e in events], as_json)
        if status.waits and not as_json:
            say(plain(status.waits))
    if watch and status.state != "published":
        fail(f"{submission} ended as {status.state}. {status.reason}")


def report(
    submission: SubmissionId,
    limit: Annotated[
        int, typer.Option(min=1, max=100_000, help="How many files are shown, the worst first.")
    ] = 20,
    docs: Annotated[
        Path | None,
        typer.Option(
            parser=NewFolder("the pages"),
            help="Also write Great Expectations' own pages into this folder.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what the checks between the stages found, by file.

    The files with the worst findings come first.
    """
    from infra.store import open_store
    from submissions.gates.report import finding_rows, load_results, worst_lines

    with reporting_errors() as settings:
        store = open_store(settings.objects, settings.s3_endpoint)
        reports = load_results(store, submission)
        if not reports:
            fail(f"No gate has seen {submission} yet. `armillary status` lists the submissions.")
        files = worst_lines(reports, limit)
        tables = {"gates": finding_rows(reports), "files": files}
        show_tables(tables if files or as_json else {"gates": tables["gates"]}, as_json)
        if docs:
            path = _write_docs(settings, submission, docs)
            say(f"Written: {plain(str(path))}", err=as_json)


def _send(server: str, token: str, bundle: Path) -> None:
    """Upload a bundle with a progress bar; an interrupted upload resumes."""
    from flows.durable.progress import set_progress, start_progress
    from submissions.tools.client import Server, left_of_the_quota

    def show(sent: int, total: int) -> None:
        if not sent:
            start_progress("bytes", total)
        set_progress("bytes", sent)

    with reporting_errors(), progress():
        door = Server(server, token)
        handed = door.hand_in(bundle, show)
        warn(handed.warnings)
        say(f"Received as {handed.submission_id}.")
        if handed.page:
            say(f"See it at {handed.page}")
        say(left_of_the_quota(door.ask("GET", "/v1/teams/me", b"", {})["quotas"][handed.suite]))


def _write_docs(settings: Settings, submission_id: str, folder: Path) -> Path:
    from flows.workers.executor import prepare

    prepare(settings)
    from flows.evaluate.validate import bundle_gate, outputs_gate, scores_gate
    from flows.publish.publish import stored_scores
    from flows.run.case import open_case
    from flows.run.output_rows import outputs_of
    from infra.db import session
    from submissions.gates.expectations import write_docs

    case = open_case(settings, submission_id)
    with session(settings.database) as db:
        outputs = outputs_of(db, submission_id)
    scores = stored_scores(case)
    reports = (bundle_gate(case), outputs_gate(case, outputs), scores_gate(case, scores))
    return write_docs(reports, folder)
