"""The inbox in S3: what teams drop into folders of their own is handed in, and a report is put
beside it.

A drop is an object `<inbox>/<team>/….zip`, or a folder of a model with `armillary.json` in it (put
that there last).
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from pathlib import Path, PurePosixPath

from sqlmodel import Session, select

from infra.db import add_new, session
from infra.settings import Settings
from infra.store import BadKey, Store, Stored, StoreError, check_key, open_store
from infra.tables import Team, now
from infra.tables.intake import Drop
from submissions.bundle.declarations import DECLARATION, read_declaration
from submissions.bundle.pack import pack_model
from submissions.bundle.reader_pool import readers_of
from submissions.format.errors import IntakeError, Problem, refusal, shown
from submissions.intake import remote
from submissions.intake.entry import check_waiting
from submissions.intake.hub import fetch as fetch_from_hub
from submissions.intake.hub import fetched_bundle, hub_of
from submissions.intake.intake import Received, accept, catalogue
from submissions.teams.quotas import check_quota

REPORTS = (".report.json", ".report.txt")
MOST_FILES = 2_000


@dataclass(frozen=True, slots=True)
class InboxItem:
    """Something in the inbox: where, whose, and the objects it is made of, as they were when they
    were listed."""

    uri: str
    team: str
    key: str
    version: str
    objects: tuple[Stored, ...]

    @property
    def is_model(self) -> bool:
        return PurePosixPath(self.key).name == DECLARATION


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a drop: received, rejected, or `later` when the fault is ours and it is tried
    again."""

    uri: str
    team: str
    state: str
    submission_id: str | None = None
    problems: tuple[Problem, ...] = ()


def waiting(db: Session, settings: Settings, prefix: str = "") -> list[InboxItem]:
    """What lies in the inbox and has not been looked at since it was put there."""
    inbox = settings.inbox.rstrip("/")
    drops = list(_drops(inbox, _inbox(settings.inbox, settings.s3_endpoint).list(prefix)))
    handled = set(db.exec(select(Drop.uri, Drop.version)))
    return [drop for drop in drops if (drop.uri, drop.version) not in handled]


@lru_cache(maxsize=4)
def _inbox(inbox: str, endpoint: str | None) -> Store:
    """The inbox as a store, whose client is slow to make."""
    return open_store(inbox, endpoint)


def _drops(inbox: str, objects: Iterable[Stored]) -> Iterator[InboxItem]:
    """Bundles one by one; a model is all objects below the folder of its declaration."""
    candidates = [
        stored for stored in objects if "/" in stored.key and not stored.key.endswith(REPORTS)
    ]
    roots = {
        str(PurePosixPath(stored.key).parent)
        for stored in candidates
        if PurePosixPath(stored.key).name == DECLARATION
    }
    models: dict[str, list[Stored]] = {root: [] for root in roots if "/" in root}
    for stored in candidates:
        root = next(
            (str(up) for up in PurePosixPath(stored.key).parents if str(up) in models), None
        )
        if root is not None:
            models[root].append(stored)
        elif stored.key.endswith(".zip") or stored.key.count("/") == 1:
            yield _found(inbox, stored.key, [stored])
    for root, parts in models.items():
        yield _found(inbox, f"{root}/{DECLARATION}", parts)


def _found(inbox: str, key: str, parts: list[Stored]) -> InboxItem:
    versions = json.dumps([(stored.key, stored.version) for stored in parts])
    version = parts[0].version if len(parts) == 1 else hashlib.sha256(versions.encode()).hexdigest()
    return InboxItem(f"{inbox}/{key}", key.partition("/")[0], key, version, tuple(parts))


def take(settings: Settings, drop: InboxItem) -> Taken:
    """Hand a drop in, write the report beside it, and note that it was looked at; again changes
    nothing."""
    warnings: tuple[Problem, ...] = ()
    try:
        received = _hand_in(settings, drop)
        warnings = received.warnings
        outcome = Taken(drop.uri, drop.team, "received", received.submission_id, warnings)
    except IntakeError as error:
        outcome = Taken(drop.uri, drop.team, "rejected", None, error.problems)
    except StoreError as error:
        later = Problem("E_STORE", shown(drop.uri), str(error), "Nothing to do: it is tried again.")
        return Taken(drop.uri, drop.team, "later", None, (later,))
    _report(_inbox(settings.inbox, settings.s3_endpoint), drop, outcome)
    with session(settings.database) as db:
        problems = [asdict(problem) for problem in outcome.problems]
        row = {"uri": drop.uri, "version": drop.version, "team": drop.team, "state": outcome.state}
        add_new(
            db,
            Drop,
            [{**row, "submission_id": outcome.submission_id, "problems": problems, "at": now()}],
        )
    return outcome


def hand_in_now(settings: Settings, team: str, uri: str) -> Taken:
    """Take one bundle of a team's folder at once, because the team asks for it."""
    remote.place(uri, settings.inbox, team)
    key = uri.removeprefix(settings.inbox.rstrip("/") + "/")
    listed = _inbox(settings.inbox, settings.s3_endpoint).list(key)
    listed_object = next((stored for stored in listed if stored.key == key), None)
    if listed_object is None:
        raise refusal(
            "E_S3_UNREADABLE",
            shown(uri),
            "It cannot be read: there is no such object.",
            "Check the address.",
        )
    outcome = take(settings, _found(settings.inbox.rstrip("/"), key, [listed_object]))
    if outcome.state == "received":
        return outcome
    raise IntakeError(outcome.problems)


def _hand_in(settings: Settings, found: InboxItem) -> Received:
    with session(settings.database) as db:
        if db.get(Team, found.team) is None:
            message = f"There is no team {shown(found.team)}."
            raise refusal(
                "E_TEAM_UNKNOWN",
                shown(found.uri),
                message,
                "The folder must bear your team's name.",
            )
    settings.work.mkdir(parents=True, exist_ok=True)
    readers = readers_of(settings)
    with tempfile.TemporaryDirectory(prefix="inbox-", dir=settings.work) as folder:
        path = (
            _model(settings, found, Path(folder))
            if found.is_model
            else _bundle(settings, found, Path(folder))
        )
        with session(settings.database) as db:
            suites = catalogue(db)
        fetch_named = partial(fetched_bundle, folder=Path(folder), max_bytes=settings.upload_bytes)
        read = readers.read(path, suites, fetch_named)
        with session(settings.database) as db:
            manifest = read.contents.manifest
            check_waiting(db, settings, found.team)
            check_quota(db, settings, found.team, manifest.suite, manifest.subset)
        checked = readers.decode(read, suites)
        store = open_store(settings.objects, settings.s3_endpoint)
        with session(settings.database) as db:
            return accept(db, store, read.path, checked, found.team, settings.closes)


def _bundle(settings: Settings, found: InboxItem, folder: Path) -> Path:
    path = folder / "bundle.zip"
    remote.fetch(
        found.uri, settings.inbox, found.team, path, settings.s3_endpoint, settings.upload_bytes
    )
    return path


def _model(settings: Settings, drop: InboxItem, folder: Path) -> Path:
    """The bundle of a model that lies in the inbox as a folder."""
    size = sum(stored.size for stored in drop.objects)
    if size > settings.upload_bytes or len(drop.objects) > MOST_FILES:
        message = f"{len(drop.objects)} files of {size} bytes."
        hint = f"At most {MOST_FILES} files of {settings.upload_bytes} bytes in all."
        raise refusal("E_TOO_LARGE", "size", message, hint, settings.upload_bytes)
    store, root, model = (
        _inbox(settings.inbox, settings.s3_endpoint),
        PurePosixPath(drop.key).parent,
        folder / "model",
    )
    for stored in drop.objects:
        try:
            store.fetch(stored.key, model / PurePosixPath(stored.key).relative_to(root))
        except BadKey:
            raise refusal(
                "E_S3_KEY", shown(stored.key), "This is no name for a file.", "Use plain names."
            ) from None
    _check_unchanged(store, drop, f"{root}/")
    declaration = read_declaration(model / DECLARATION, DECLARATION)
    on_a_hub = hub_of(declaration) if len(drop.objects) == 1 else None
    if on_a_hub:
        fetch_from_hub(on_a_hub, model, settings.upload_bytes)
    return pack_model(folder / "bundle.zip", declaration, model, model / DECLARATION)


def _check_unchanged(store: Store, drop: InboxItem, prefix: str) -> None:
    versions = {
        stored.key: stored.version
        for stored in store.list(prefix)
        if not stored.key.endswith(REPORTS)
    }
    if versions != {stored.key: stored.version for stored in drop.objects}:
        hint = "Put armillary.json there last."
        raise refusal(
            "E_OBJECT_CHANGED", shown(drop.uri), "The folder changed while it was read.", hint
        )


def _report(store: Store, drop: InboxItem, outcome: Taken) -> None:
    """Tell the team, in words and for programs, beside what they dropped."""
    document = {**asdict(outcome), "version": drop.version}
    try:
        check_key(drop.key + REPORTS[0])
    except BadKey:
        return  # where the name itself is the trouble, there is no place beside it
    store.put(drop.key + REPORTS[0], json.dumps(document, indent=1, sort_keys=True).encode())
    store.put(drop.key + REPORTS[1], report_text(outcome).encode())


def report_text(outcome: Taken) -> str:
    """The report as a person reads it."""
    first = (
        f"Received as {outcome.submission_id}."
        if outcome.state == "received"
        else "Not taken; nothing was stored."
    )
    lines = [
        f"{problem.code} {problem.where}: {problem.message} {problem.hint}"
        for problem in outcome.problems
    ]
    return "\n".join([outcome.uri, first, *lines, ""])
