"""Bundles on their way in: promised with a key, sent in parts that may be sent again, finished
once."""

from __future__ import annotations

import hashlib
import json
import tempfile
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import func, update
from sqlmodel import Session, col, select

from infra.db import claim, session
from infra.settings import Settings
from infra.store import Store, open_store
from infra.tables import Submission, Team, Upload, now
from submissions.bundle.check import expected_of
from submissions.bundle.listing import item_problems
from submissions.bundle.reader_pool import readers_of
from submissions.format.errors import IntakeError, Problem, refusal
from submissions.format.manifest import Manifest
from submissions.intake.entry import check_entry, check_waiting
from submissions.intake.hub import fetched_bundle
from submissions.intake.intake import Received, accept, catalogue
from submissions.teams.quotas import check_quota

PART = 8 << 20
MOST_PARTS = 1_000
STALE = timedelta(minutes=10)
"""A check that takes longer has died with its process; the upload may be finished again."""
KEY = 200


@dataclass(frozen=True, slots=True)
class Promise:
    """What a client says it will send."""

    manifest: Manifest
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class UploadPart:
    """A piece of a bundle: which bytes, and whether they are here."""

    number: int
    offset: int
    size: int
    received: bool


def read_promise(
    manifest: Mapping[str, Any], size: int, sha256: str, settings: Settings
) -> Promise:
    """Check what is promised; every problem of the manifest at once."""
    if size > settings.upload_bytes:
        message, limit = (
            f"{size} bytes; the limit is {settings.upload_bytes}.",
            settings.upload_bytes,
        )
        raise refusal("E_TOO_LARGE", "size", message, "Hand in less, or ask for S3.", limit)
    return Promise(readers_of(settings).manifest(json.dumps(manifest)), size, sha256)


def create(
    db: Session, settings: Settings, team: str, key: str, promise: Promise
) -> tuple[Upload, bool]:
    """Open an upload, once for a key; True if it is new."""
    request = _request_hash(promise)
    existing = db.exec(
        select(Upload).where(Upload.team == team, Upload.idempotency_key == key)
    ).first()
    if existing is None:
        _check_promise(db, settings, team, promise)
        moment = now()
        row = Upload(
            id=f"upl-{uuid.uuid4().hex}",
            team=team,
            idempotency_key=key,
            request_sha256=request,
            suite=promise.manifest.suite,
            size=promise.size,
            sha256=promise.sha256,
            state="open",
            problems=[],
            expires_at=moment + timedelta(hours=settings.upload_hours),
        )
        if claim(db, Upload, row.model_dump()):
            return row, True
        existing = db.exec(
            select(Upload).where(Upload.team == team, Upload.idempotency_key == key)
        ).one()
    if existing.request_sha256 != request:
        hint = "Use a new key for another bundle."
        raise refusal(
            "E_IDEMPOTENCY_CONFLICT",
            "Idempotency-Key",
            "This key was used for another request.",
            hint,
        )
    return existing, False


def _request_hash(promise: Promise) -> str:
    request = json.dumps(
        [promise.manifest.model_dump(mode="json"), promise.size, promise.sha256], sort_keys=True
    )
    return hashlib.sha256(request.encode()).hexdigest()


def _check_promise(db: Session, settings: Settings, team: str, promise: Promise) -> None:
    """Everything that can be said before a byte travels: version, subset, kind, samples, quota."""
    manifest = promise.manifest
    suite, expected = expected_of(manifest, catalogue(db))
    if manifest.kind == "outputs":
        problems = list(item_problems(manifest, expected, suite.rules))
        if problems:
            raise IntakeError(problems)
    check_entry(db, manifest, team, settings.closes)
    check_waiting(db, settings, team)
    check_quota(db, settings, team, manifest.suite, manifest.subset)
    _check_room(db, settings, team, promise.size)


def _check_room(db: Session, settings: Settings, team: str, size: int) -> None:
    """Refuse a promise that, with the team's other open uploads, would fill the store."""
    # Two promises at once are counted one after the other.
    db.connection().execute(update(Team).where(col(Team.name) == team).values(name=team))
    unfinished = (
        Upload.team == team,
        col(Upload.state).in_(("open", "checking")),
        Upload.expires_at > now(),
    )
    promised, until = db.exec(
        select(func.sum(Upload.size), func.min(Upload.expires_at)).where(*unfinished)
    ).one()
    if promised and promised + size > settings.uploads_bytes:
        message = f"Uploads of {promised} bytes are open; with this one it is over the limit."
        hint = f"Finish them first; the oldest is dropped at {until:%Y-%m-%d %H:%M} UTC."
        raise refusal("E_QUOTA", "size", message, hint, settings.uploads_bytes)


def find(db: Session, team: str, upload_id: str) -> Upload:
    """A team's upload; one of another team is none."""
    row = db.get(Upload, upload_id)
    if row is None or row.team != team:
        raise refusal("E_NOT_FOUND", "upload", "There is no such upload.", "Check the id.")
    if row.state == "open" and row.expires_at < now():
        # Only as seen from here; `expire` writes it when it has removed what came.
        db.expunge(row)
        row.state = "expired"
    return row


def part_size(size: int) -> int:
    """How large the parts of a bundle are."""
    return max(PART, -(-size // MOST_PARTS))


def part_key(upload_id: str, number: int) -> str:
    """Where a part lies in the store."""
    return f"uploads/{upload_id}/{number:05d}"


def parts(store: Store, row: Upload) -> list[UploadPart]:
    """The parts of an upload, and which have come."""
    received_sizes = {stored.key: stored.size for stored in store.list(f"uploads/{row.id}/")}
    step, upload_parts = part_size(row.size), list[UploadPart]()
    for number, offset in enumerate(range(0, row.size, step), 1):
        size = min(step, row.size - offset)
        upload_parts.append(
            UploadPart(number, offset, size, received_sizes.get(part_key(row.id, number)) == size)
        )
    return upload_parts


def put_part(store: Store, row: Upload, number: int, file: Path) -> None:
    """Keep one part, which has come as a file; the same part again changes nothing."""
    if row.state != "open":
        raise refusal("E_UPLOAD_CLOSED", "upload", f"The upload is {row.state}.", "Open a new one.")
    part, size = part_named(row, number), file.stat().st_size
    if size != part.size:
        code = "E_EMPTY" if not size else "E_INCOMPLETE" if size < part.size else "E_TOO_LARGE"
        message = f"Part {number} has {size} bytes, not {part.size}."
        raise refusal(
            code, f"part {number}", message, "Send exactly the bytes of this part.", part.size
        )
    store.put_file(part_key(row.id, number), file)


def part_named(row: Upload, number: int) -> UploadPart:
    """Which bytes a part has."""
    step = part_size(row.size)
    offset = (number - 1) * step
    if not 0 <= offset < row.size:
        raise refusal(
            "E_NOT_FOUND", f"part {number}", "There is no such part.", "See the list of parts."
        )
    return UploadPart(number, offset, min(step, row.size - offset), False)


def finish(settings: Settings, team: str, upload_id: str) -> Received | None:
    """Put the parts together and hand the bundle in, once; None while another request is at it."""
    with session(settings.database) as db:
        row = find(db, team, upload_id)
    if row.state == "finished":
        return _as_before(settings, row)
    if row.state == "refused":
        raise IntakeError([Problem(**problem) for problem in row.problems])
    if row.state == "expired":
        raise refusal("E_UPLOAD_CLOSED", "upload", "The upload has expired.", "Open a new one.")
    store = open_store(settings.objects, settings.s3_endpoint)
    _check_whole(store, row)
    with session(settings.database) as db:
        check_waiting(db, settings, team)
    if not _take(settings, row.id):
        return None
    try:
        with _kept_fresh(settings, row.id):
            received = _hand_in(settings, store, row)
    except IntakeError as error:
        _settle(
            settings,
            row.id,
            state="refused",
            problems=[asdict(problem) for problem in error.problems],
        )
        clear(store, row.id)
        raise
    except BaseException:
        _settle(settings, row.id, state="open")
        raise
    clear(store, row.id)
    return received


def _check_whole(store: Store, row: Upload) -> None:
    missing = [part.number for part in parts(store, row) if not part.received]
    if missing:
        first = ", ".join(map(str, missing[:20]))
        message = f"{len(missing)} parts have not come, first: {first}."
        raise refusal(
            "E_INCOMPLETE", "upload", message, "Send them, then finish again.", len(missing)
        )


def _take(settings: Settings, upload_id: str) -> bool:
    with session(settings.database) as db:
        free = (col(Upload.state) == "open") | (
            (col(Upload.state) == "checking") & (col(Upload.updated_at) < now() - STALE)
        )
        mine = (
            update(Upload)
            .where(col(Upload.id) == upload_id, free)
            .values(state="checking", updated_at=now())
        )
        return db.connection().execute(mine).rowcount == 1


@contextmanager
def _kept_fresh(settings: Settings, upload_id: str) -> Iterator[None]:
    """Say from time to time that the check goes on: fetching a large model from a hub takes a
    while."""
    stopped = threading.Event()

    def tell() -> None:
        while not stopped.wait(STALE.total_seconds() / 3):
            _settle(settings, upload_id, state="checking")

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def _hand_in(settings: Settings, store: Store, row: Upload) -> Received:
    settings.work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="upload-", dir=settings.work) as folder:
        path = Path(folder) / "bundle.zip"
        if _assemble(store, row, path) != row.sha256:
            message = "The bytes that came have another SHA-256 than was promised."
            raise refusal(
                "E_CHECKSUM", "upload", message, "Open a new upload and send the bundle again."
            )
        readers = readers_of(settings)
        with session(settings.database) as db:
            suites = catalogue(db)
        fetch_named = partial(fetched_bundle, folder=Path(folder), max_bytes=settings.upload_bytes)
        read = readers.read(path, suites, fetch_named)
        checked = readers.decode(read, suites)
        with session(settings.database) as db:
            received = accept(db, store, read.path, checked, row.team, settings.closes)
            values = {
                "state": "finished",
                "submission_id": received.submission_id,
                "updated_at": now(),
            }
            warnings = [asdict(warning) for warning in received.warnings]
            done = update(Upload).where(col(Upload.id) == row.id)
            db.connection().execute(
                done.values(
                    **values, detail={"duplicate": received.duplicate, "warnings": warnings}
                )
            )
    return received


def _assemble(store: Store, row: Upload, path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("wb") as file:
        for part in parts(store, row):
            data = store.get(part_key(row.id, part.number))
            digest.update(data)
            file.write(data)
    return digest.hexdigest()


def _as_before(settings: Settings, row: Upload) -> Received:
    assert row.submission_id is not None
    with session(settings.database) as db:
        assert db.get(Submission, row.submission_id) is not None
    warnings = tuple(Problem(**problem) for problem in row.detail["warnings"])
    return Received(row.submission_id, row.detail["duplicate"], warnings)


def _settle(settings: Settings, upload_id: str, **values: Any) -> None:
    with session(settings.database) as db:
        settled = (
            update(Upload).where(col(Upload.id) == upload_id).values(**values, updated_at=now())
        )
        db.connection().execute(settled)


def clear(store: Store, upload_id: str) -> None:
    """Remove an upload's parts."""
    for stored in list(store.list(f"uploads/{upload_id}/")):
        store.delete(stored.key)


def expire(db: Session, store: Store) -> int:
    """Drop uploads that were not finished in time, with what came of them; how many. For the
    watchdog to call. A link holds a while longer than its upload: what came by one is dropped
    too."""
    abandoned = (col(Upload.state) == "checking") & (col(Upload.updated_at) < now() - STALE)
    late = (Upload.expires_at < now(), (col(Upload.state) == "open") | abandoned)
    rows = db.exec(
        select(Upload).where(*late).order_by(Upload.id).with_for_update(skip_locked=True)
    ).all()
    for row in rows:
        clear(store, row.id)
        row.state, row.updated_at = "expired", now()
    db.flush()
    _drop_late_parts(db, store)
    return len(rows)


def _drop_late_parts(db: Session, store: Store) -> None:
    """Remove parts of uploads that are closed, or of none."""
    uploads_with_parts = {stored.key.split("/")[1] for stored in store.list("uploads/")}
    if not uploads_with_parts:
        return
    under_way = col(Upload.state).in_(("open", "checking"))
    kept = set(db.exec(select(Upload.id).where(under_way)))
    for upload_id in uploads_with_parts - kept:
        clear(store, upload_id)
