"""The same door for everyone: a bundle on disk or in S3, or a model (a folder, in S3, on a hub)
bundled on the way."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

from infra.db import session
from infra.settings import Settings
from infra.store import Missing, StoreError, open_store
from submissions.bundle.declarations import DECLARATION, read_declaration
from submissions.bundle.pack import on_hub, pack_hub, pack_model
from submissions.bundle.reader_pool import readers_of
from submissions.format.errors import IntakeError, Problem, shown
from submissions.intake.hub import fetch, fetched_bundle, read_hub
from submissions.intake.intake import Received, accept, catalogue
from submissions.teams.roles import Role

HUB = "hub:"


def receive(
    settings: Settings,
    bundle: str | None,
    model: Path | str | None,
    manifest: Path | None,
    role: Role = "entry",
) -> Received:
    """Bring whatever was named to one local bundle and hand that in; `model` may be s3://… or
    hub:org/name@revision."""
    if (bundle is None) == (model is None):
        raise _refused(
            "E_ARGUMENTS",
            "arguments",
            "Name one thing to hand in.",
            "Give a BUNDLE, or --model DIR.",
        )
    with tempfile.TemporaryDirectory(prefix="armillary-door-") as folder:
        path = (
            _model_bundle(Path(folder), model, manifest, settings)
            if model
            else _local(Path(folder), bundle or "", settings)
        )
        readers = readers_of(settings)
        with session(settings.database) as db:
            suites = catalogue(db)
        fetch_named = partial(fetched_bundle, folder=Path(folder), max_bytes=settings.upload_bytes)
        read = readers.read(path, suites, fetch_named)
        checked = readers.decode(read, suites)
        store = open_store(settings.objects, settings.s3_endpoint)
        with session(settings.database) as db:
            return accept(db, store, read.path, checked, closes=settings.closes, role=role)


def _local(folder: Path, bundle: str, settings: Settings) -> Path:
    if not bundle.startswith("s3://"):
        path = Path(bundle)
        if not path.is_file():
            raise _refused(
                "E_NO_FILE",
                shown(bundle),
                "There is no such file.",
                "Give the path of a bundle (a zip file).",
            )
        return path
    place, _, key = bundle.rpartition("/")
    if not key or place == "s3:/":
        raise _refused(
            "E_S3_KEY", shown(bundle), "This names no object.", "Write s3://bucket/path/bundle.zip."
        )
    try:
        open_store(place, settings.s3_endpoint).fetch(key, folder / "bundle.zip")
    except Missing:
        raise _refused(
            "E_S3_UNREADABLE", shown(bundle), "There is no such object.", "Check the address."
        ) from None
    except StoreError as error:
        raise _refused(
            "E_S3_UNREADABLE", shown(bundle), str(error), "Check the address and the credentials."
        ) from None
    return folder / "bundle.zip"


def _model_bundle(
    folder: Path, named: Path | str, manifest: Path | None, settings: Settings
) -> Path:
    if str(named).startswith(HUB):
        return _hub_bundle(folder, str(named).removeprefix(HUB), manifest, settings)
    model = (
        _from_s3(folder / "model", named, settings)
        if str(named).startswith("s3://")
        else Path(named)
    )
    manifest = manifest or model / DECLARATION
    if not model.is_dir():
        hint = "Give the folder that save_pretrained made."
        raise _refused("E_NO_FILE", shown(str(model)), "There is no such folder.", hint)
    return pack_model(folder / "bundle.zip", read_declaration(manifest), model, skip=manifest)


def _hub_bundle(folder: Path, named: str, manifest: Path | None, settings: Settings) -> Path:
    """A model of a hub; the bundle says which commit it is."""
    hub = read_hub(named)
    declaration = on_hub(read_declaration(manifest or folder / DECLARATION), hub)
    fetch(hub, folder / "model", settings.upload_bytes)
    return pack_model(folder / "bundle.zip", declaration, folder / "model")


def bundle_to_send(
    folder: Path, bundle: str | None, model: str | None, manifest: Path | None
) -> Path:
    """One local bundle of whatever was named, for a server; a model on a hub is only named, the
    server fetches it."""
    if (bundle is None) == (model is None):
        raise _refused(
            "E_ARGUMENTS",
            "arguments",
            "Name one thing to hand in.",
            "Give a BUNDLE, --model or --hub.",
        )
    if model and model.startswith(HUB):
        declaration = read_declaration(manifest or folder / DECLARATION)
        return pack_hub(folder / "bundle.zip", declaration, read_hub(model.removeprefix(HUB)))
    settings = Settings()
    return (
        _model_bundle(folder, model, manifest, settings)
        if model
        else _local(folder, bundle or "", settings)
    )


def _from_s3(folder: Path, place: Path | str, settings: Settings) -> Path:
    """Everything under a prefix, as a folder."""
    try:
        store = open_store(str(place), settings.s3_endpoint)
        for entry in store.list(""):
            store.fetch(entry.key, folder / entry.key)
    except StoreError as error:
        hint = "Check the address and the credentials."
        raise _refused("E_S3_UNREADABLE", shown(str(place)), str(error), hint) from None
    return folder


def _refused(code: str, where: str, message: str, hint: str) -> IntakeError:
    return IntakeError([Problem(code, where, message, hint)])
