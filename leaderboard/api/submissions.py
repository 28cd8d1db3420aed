"""Handing in through the API: create, send the parts, finish; then status, timeline, report,
cancel, withdraw."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path as FilePath
from tempfile import NamedTemporaryFile
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Header, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.exc import DataError, DisconnectionError, InterfaceError, OperationalError
from sqlalchemy.orm import defer
from sqlmodel import col, select

from infra.db import session
from infra.settings import Settings
from infra.store import StoreError, open_store, report_key
from infra.tables import Submission, Suite, Upload
from leaderboard.api import bodies
from leaderboard.api.caller import Conf, Reads, Submits
from leaderboard.api.problems import WORDS, away, bad_value, refusals, refused, wrong_method
from leaderboard.api.screen import Screen
from leaderboard.api.turns import in_turn, turn_to_promise
from leaderboard.queries.glance.waiting import waiting_sentence
from submissions.format.errors import IntakeError, refusal, shown
from submissions.format.strict_json import BadJson
from submissions.gates.report import load_results
from submissions.intake import inbox, uploads
from submissions.intake.links import takes_links, upload_link
from submissions.intake.submission_log import log_lines
from submissions.teams.lifecycle import State, advance, state_of, timeline
from submissions.teams.quotas import allowance

router = APIRouter(tags=["submissions"])
MOST_BODY = 6 << 20
MOST_ADDRESS = 64 << 10
"""The longest body that only names a place."""
TYPES = ("application/octet-stream", "application/zip")
ID = Annotated[str, Path(pattern=r"^[a-z0-9-]{1,60}$")]
Key = Annotated[
    str, Header(alias="Idempotency-Key", min_length=8, max_length=100, pattern=r"^[\x21-\x7e]+$")
]


Sha256 = Annotated[str, Query(pattern=r"^[0-9a-f]{64}$")]


class Create(BaseModel):
    """What will be sent: the manifest as in the bundle, and the bundle's length and SHA-256."""

    model_config = ConfigDict(extra="forbid", strict=True)
    manifest: dict[str, Any]
    size: Annotated[int, Field(ge=1)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


def install(app: FastAPI) -> None:
    """Add the routes and the shape of their refusals to an application that has
    `app.state.settings`."""
    app.add_middleware(Screen)
    app.include_router(router, prefix="/v1", responses=refusals(*WORDS))
    app.exception_handler(IntakeError)(refused)
    app.exception_handler(405)(wrong_method)
    app.exception_handler(StoreError)(away)
    for unreachable in (OperationalError, InterfaceError, DisconnectionError):
        app.exception_handler(unreachable)(away)
    app.exception_handler(DataError)(bad_value)
    app.exception_handler(RequestValidationError)(_invalid)
    app.exception_handler(400)(_unreadable)


def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return refused(request, bodies.refused(error.errors()))


def _unreadable(request: Request, _error: Exception) -> JSONResponse:
    """A body that is no text at all, which is found before anything of ours looks at it."""
    return refused(
        request, refusal("E_REQUEST", "body", "This is not JSON in UTF-8.", "See /v1/docs.")
    )


@router.post("/submissions", status_code=201, openapi_extra=bodies.schema_of(Create))
async def create(
    request: Request, response: Response, settings: Conf, who: Submits, key: Key
) -> dict[str, Any]:
    """Promise a bundle; the same key and body again is the same upload."""
    async with turn_to_promise(request, who.team):
        body = await bodies.json_bytes(request, MOST_BODY)
        upload, new = await run_in_threadpool(_create, settings, who.team, key, body)
    response.status_code = 201 if new else 200
    return await run_in_threadpool(_upload, settings, upload)


def _read_create(body: bytes) -> Create:
    try:
        return bodies.parsed(body, Create)
    except BadJson as bad:
        raise refusal(
            f"E_MANIFEST_{bad.kind}", f"body {bad.where}", bad.message, bad.hint
        ) from None


def _create(settings: Settings, team: str, key: str, body: bytes) -> tuple[Upload, bool]:
    creation = _read_create(body)
    promise = uploads.read_promise(creation.manifest, creation.size, creation.sha256, settings)
    with session(settings.database) as db:
        return uploads.create(db, settings, team, key, promise)


def _upload(settings: Settings, row: Upload) -> dict[str, Any]:
    """An upload as the client sees it: which parts are here, and where to send the others."""
    store = open_store(settings.objects, settings.s3_endpoint)
    parts = uploads.parts(store, row) if row.state in ("open", "checking") else []
    path = f"/v1/submissions/uploads/{row.id}/parts"
    links = takes_links(settings)
    shown_parts = [
        {
            **asdict(part),
            "path": f"{path}/{part.number}",
            "link": f"{path}/{part.number}/link" if links else None,
        }
        for part in parts
    ]
    facts = {
        "id": row.id,
        "state": row.state,
        "size": row.size,
        "sha256": row.sha256,
        "expires_at": row.expires_at,
    }
    return {
        "upload": {**facts, "parts": shown_parts, "problems": row.problems},
        "submission": row.submission_id,
    }


@router.get("/submissions/uploads/{upload_id}")
def upload(settings: Conf, who: Submits, upload_id: ID) -> dict[str, Any]:
    """Where an upload stands: what to send again after a cut."""
    with session(settings.database) as db:
        row = uploads.find(db, who.team, upload_id)
    return _upload(settings, row)


@router.put(
    "/submissions/uploads/{upload_id}/parts/{number}",
    status_code=204,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {TYPES[0]: {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def part(
    request: Request, settings: Conf, who: Submits, upload_id: ID, number: int
) -> Response:
    """Send one part, exactly its bytes; sending it again is harmless."""
    bodies.check_type(request, TYPES, "A part is plain bytes.")
    row = await run_in_threadpool(_find, settings, who.team, upload_id)
    size = uploads.part_named(row, number).size
    store = open_store(settings.objects, settings.s3_endpoint)
    settings.work.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(prefix="part-", dir=settings.work) as file:
        await bodies.save(request, size, f"part {number}", file)
        await run_in_threadpool(uploads.put_part, store, row, number, FilePath(file.name))
    return Response(status_code=204)


@router.get("/submissions/uploads/{upload_id}/parts/{number}/link")
def link(
    settings: Conf, who: Submits, upload_id: ID, number: int, sha256: Sha256
) -> dict[str, Any]:
    """Where to send one part straight to the store: this key, length, type and SHA-256, for a
    quarter of an hour."""
    row = _find(settings, who.team, upload_id)
    if row.state != "open":
        raise refusal("E_UPLOAD_CLOSED", "upload", f"The upload is {row.state}.", "Open a new one.")
    upload_target = upload_link(settings, row, uploads.part_named(row, number), sha256)
    if upload_target is None:
        raise refusal(
            "E_NOT_FOUND",
            "link",
            "Parts are sent to this server itself.",
            "PUT it at the part's path.",
        )
    return asdict(upload_target)


def _find(settings: Settings, team: str, upload_id: str) -> Upload:
    with session(settings.database) as db:
        return uploads.find(db, team, upload_id)


@router.post("/submissions/uploads/{upload_id}/finish", status_code=202)
async def finish(request: Request, settings: Conf, who: Submits, upload_id: ID) -> dict[str, Any]:
    """Hand in what was sent; again gives the same answer."""
    return await in_turn(request, who.team, _finish, settings, who.team, upload_id)


def _finish(settings: Settings, team: str, upload_id: str) -> dict[str, Any]:
    received = uploads.finish(settings, team, upload_id)
    if received is None:
        return {"submission": None, "state": "checking", "duplicate": False, "warnings": []}
    warnings = [asdict(warning) for warning in received.warnings[:50]]
    return {
        "submission": received.submission_id,
        "link": f"/submit?id={received.submission_id}",
        "state": "received",
        "duplicate": received.duplicate,
        "warnings": warnings,
    }


class FromInbox(BaseModel):
    """A bundle that lies in the team's own folder of the inbox."""

    model_config = ConfigDict(extra="forbid", strict=True)
    uri: Annotated[str, Field(min_length=1, max_length=2000)]


@router.post("/inbox", status_code=202, openapi_extra=bodies.schema_of(FromInbox))
async def from_inbox(request: Request, settings: Conf, who: Submits) -> dict[str, Any]:
    """Hand in a bundle that was dropped into S3, without waiting for the inbox to be looked
    through."""
    body = await bodies.json_bytes(request, MOST_ADDRESS)
    return await in_turn(request, who.team, _from_inbox, settings, who.team, body)


def _from_inbox(settings: Settings, team: str, body: bytes) -> dict[str, Any]:
    try:
        order = bodies.parsed(body, FromInbox)
    except BadJson as bad:
        raise refusal("E_REQUEST", f"body {bad.where}", bad.message, "See /v1/docs.") from None
    received = inbox.hand_in_now(settings, team, order.uri)
    warnings = [asdict(warning) for warning in received.problems]
    return {"submission": received.submission_id, "state": received.state, "warnings": warnings}


@router.get("/submissions")
def mine(settings: Conf, who: Reads) -> list[dict[str, Any]]:
    """What the team has handed in, newest first."""
    with session(settings.database) as db:
        rows = db.exec(
            select(Submission)
            .options(defer(Submission.manifest))  # type: ignore[arg-type]
            .where(Submission.team == who.team)
            .order_by(col(Submission.created_at).desc())
        )
        return [_status(row) for row in rows]


@router.get("/submissions/{submission_id}")
def status(settings: Conf, who: Reads, submission_id: ID) -> dict[str, Any]:
    """Where a submission stands, and whose turn it is."""
    row = _owned(settings, who.team, submission_id)
    with session(settings.database) as db:
        return {**_status(row), "waits": waiting_sentence(db, submission_id)}


@router.get("/submissions/{submission_id}/timeline")
def events(settings: Conf, who: Reads, submission_id: ID) -> list[dict[str, Any]]:
    """What happened to a submission, oldest first."""
    _owned(settings, who.team, submission_id)
    with session(settings.database) as db:
        return [event.model_dump(mode="json") for event in timeline(db, submission_id)]


@router.get("/submissions/{submission_id}/logs")
def logs(settings: Conf, who: Reads, submission_id: ID) -> list[dict[str, Any]]:
    """What was done for a submission, line by line, oldest first; it grows while the work goes
    on."""
    _owned(settings, who.team, submission_id)
    with session(settings.database) as db:
        return [
            {**asdict(line), "at": line.at.isoformat()} for line in log_lines(db, submission_id)
        ]


@router.get("/submissions/{submission_id}/report")
def report(settings: Conf, who: Reads, submission_id: ID) -> dict[str, Any]:
    """What the door found in the bundle, and what the gates between the stages found since, the
    worst files first."""
    _owned(settings, who.team, submission_id)
    store = open_store(settings.objects, settings.s3_endpoint)
    checks: dict[str, Any] = json.loads(store.get(report_key(submission_id)))
    return {
        **checks,
        "validation": [asdict(gate) for gate in load_results(store, submission_id)],
    }


@router.post("/submissions/{submission_id}/cancel")
def cancel(settings: Conf, who: Submits, submission_id: ID) -> dict[str, Any]:
    """Take back a submission that is not on the board yet."""
    return _withdraw(settings, who.team, submission_id, "Cancelled by its team.", published=False)


@router.post("/submissions/{submission_id}/withdraw")
def withdraw(settings: Conf, who: Submits, submission_id: ID) -> dict[str, Any]:
    """Take a submission off the board; its row, its reason and the count of attempts stay."""
    return _withdraw(settings, who.team, submission_id, "Withdrawn by its team.", published=True)


@router.get("/teams/me", tags=["teams"])
def me(settings: Conf, who: Reads) -> dict[str, Any]:
    """The caller's team, what the token opens, and what is left of the quotas."""
    with session(settings.database) as db:
        suites = db.exec(select(Suite.name).order_by(col(Suite.position))).all()
        left = {suite: allowance(db, settings, who.team, suite) for suite in suites}
    quotas = {suite: {**asdict(quota), "left": quota.left} for suite, quota in left.items()}
    return {"team": who.team, "token": who.prefix, "scopes": who.scopes, "quotas": quotas}


def _withdraw(
    settings: Settings, team: str, submission_id: str, text: str, published: bool
) -> dict[str, Any]:
    row = _owned(settings, team, submission_id)
    with session(settings.database) as db:
        state = state_of(db, submission_id)
        if (state is State.PUBLISHED) == published or (published and state is State.WITHDRAWN):
            advance(
                db,
                submission_id,
                State.WITHDRAWN,
                text,
                fault="submitter",
                code="E_WITHDRAWN",
                actor=team,
            )
        elif state is not State.WITHDRAWN:
            hint = "Use cancel before publication, withdraw after it."
            raise refusal("E_STATE", "submission", f"The submission is {state}.", hint)
    return _status(_owned(settings, team, row.id))


def _owned(settings: Settings, team: str, submission_id: str) -> Submission:
    with session(settings.database) as db:
        row = db.get(Submission, submission_id)
    if row is None or row.team != team:
        message = f"There is no submission {shown(submission_id)}."
        raise refusal("E_NOT_FOUND", "submission", message, "Check the id.")
    return row


def _status(row: Submission) -> dict[str, Any]:
    return row.model_dump(mode="json", exclude={"manifest", "contents_sha256"})
