"""Handing in from Python: begin an entry, check, pack and submit it, and ask where it stands.

The same as the commands of these names. What is refused raises `Refused`, whose `problems` say what
is wrong, where, and what to do.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from submissions.format.errors import IntakeError as Refused
from submissions.format.errors import Problem

if TYPE_CHECKING:
    from submissions.bundle.check import CheckedBundle
    from submissions.tools.client import HandedIn, RemoteStatus
    from submissions.tools.starter import PackedEntry

__all__ = ["Problem", "Refused", "check", "new", "pack", "status", "submit"]
TOKEN = "ARMILLARY_TOKEN"  # noqa: S105
"""The variable that holds a team's token where none is given."""


def new(
    suite: str,
    folder: str | os.PathLike[str],
    *,
    subset: str = "full",
    modality: str = "*",
    team: str = "My team",
    model: str | None = None,
    contact: str = "not stated",
) -> int:
    """Begin an entry: a folder with manifest, prompts and media; gives the number of samples."""
    from flows.cli.starter import new_entry, version_of
    from submissions.tools.starter import EntryFacts

    place = Path(folder)
    name = model or place.resolve().name
    facts = EntryFacts(suite, version_of(suite), subset, team, name, contact)
    return new_entry(place, facts, modality)


def check(entry: str | os.PathLike[str]) -> CheckedBundle:
    """Check a bundle or a folder as the server would; nothing is sent."""
    from flows.cli.starter import checked_folder
    from flows.run.catalogue import from_code
    from infra.settings import Settings
    from submissions.bundle.reader_pool import readers_of

    place, settings = Path(entry), Settings()
    if place.is_dir():
        return checked_folder(settings, place)
    return readers_of(settings).check(place, from_code())


def pack(
    folder: str | os.PathLike[str],
    to: str | os.PathLike[str] | None = None,
    *,
    partial: bool = False,
) -> PackedEntry:
    """Make a bundle of a folder whose files are named by sample, beside it unless `to` names
    another place."""
    from flows.cli.starter import packed_folder

    place = Path(folder).resolve()
    bundle = Path(to) if to is not None else place.with_name(f"{place.name}.zip")
    return packed_folder(place, bundle, partial)


def submit(bundle: str | os.PathLike[str], *, server: str, token: str | None = None) -> HandedIn:
    """Hand a bundle in at a board by its address; again sends only what is missing."""
    from submissions.tools.client import Server

    return Server(server, _token(token)).hand_in(Path(bundle))


def status(
    submission_id: str, *, server: str, token: str | None = None, wait: bool = False
) -> RemoteStatus:
    """Where a submission of the team stands; with `wait`, how it ended."""
    from submissions.tools.client import Server

    door = Server(server, _token(token))
    if not wait:
        return door.status(submission_id)
    *_, last = door.watch(submission_id)
    return last


def _token(token: str | None) -> str:
    return token or os.environ.get(TOKEN, "")
