"""Telling people how a submission ended: a signed webhook for the operators, e-mail to the team.
Each is told once.

What is owed follows from the timeline, so nothing has to remember to write it down: whoever calls
`deliver` sends what has not gone out yet and tries again what failed.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import smtplib
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from email.message import EmailMessage
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy.orm import defer
from sqlmodel import Session, col, select

from infra.db import add_new, session
from infra.settings import Settings
from infra.tables import Event, Submission, Team, now
from infra.tables.intake import Notice
from submissions.teams.lifecycle import TERMINAL

SIGNATURE = "X-Armillary-Signature"
MOST_TRIES = 8
MOST_FAILURES = 3
"""After so many at once nobody is there: the rest waits for the next time, and whoever called goes
on."""
SECONDS = 10
DAYS = 3
"""Older ends are nobody's news; a webhook that is set up today does not get last year's."""


@dataclass(frozen=True, slots=True)
class Message:
    """What is told about one end of one submission."""

    event_id: int
    submission: str
    team: str
    contact: str
    model: str
    suite: str
    state: str
    fault: str
    code: str
    text: str
    at: str

    @property
    def public(self) -> dict[str, Any]:
        """What a webhook gets: everything but somebody's address."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "contact"}


Send = Callable[[Settings, Message], None]


class NotSent(Exception):
    """The message did not go out; says why."""


def deliver(settings: Settings) -> int:
    """Send everything that is owed by the channels that are set up; how many went out. Never raises
    for a failure."""
    sent = 0
    for channel, send in _channels(settings).items():
        failed = 0
        with session(settings.database) as db:
            owed = _owed(db, channel)
        for message in owed:
            if channel == "email" and "@" not in message.contact:
                continue
            delivered = _deliver(settings, channel, send, message)
            sent, failed = sent + delivered, failed + (not delivered)
            if failed == MOST_FAILURES:
                break
    return sent


def _channels(settings: Settings) -> dict[str, Send]:
    channels: dict[str, Send] = {}
    if settings.webhook_url:
        channels["webhook"] = _post
    if settings.smtp_host:
        channels["email"] = _mail
    return channels


def _owed(db: Session, channel: str) -> list[Message]:
    """The ends of the last days that this channel has not told; once tried too often, it is given
    up."""
    recent = (col(Event.kind).in_(TERMINAL), Event.at > now() - timedelta(days=DAYS))
    joined = select(Event, Submission, Team).join(
        Submission, col(Submission.id) == col(Event.subject)
    )
    joined = joined.join(Team, col(Team.name) == col(Submission.team), isouter=True)
    joined = joined.options(defer(Submission.manifest))  # type: ignore[arg-type]
    settled = select(Notice.event_id).where(
        Notice.channel == channel,
        col(Notice.sent_at).is_not(None) | (col(Notice.tries) >= MOST_TRIES),
    )
    rows = db.exec(joined.where(*recent, col(Event.id).not_in(settled)).order_by(col(Event.id)))
    return [_message(event, row, team) for event, row, team in rows]


def _message(event: Event, row: Submission, team: Team | None) -> Message:
    return Message(
        event_id=event.id or 0,
        submission=row.id,
        team=row.team,
        contact=team.contact if team else "",
        model=row.model,
        suite=row.suite,
        state=event.kind,
        fault=str(event.detail.get("fault", "")),
        code=str(event.detail.get("code", "")),
        text=event.text,
        at=event.at.isoformat(),
    )


def _deliver(settings: Settings, channel: str, send: Send, message: Message) -> bool:
    """Try once; the row is there before the attempt, so that a crash in between is at worst a
    second message."""
    with session(settings.database) as db:
        add_new(
            db,
            Notice,
            [{"event_id": message.event_id, "channel": channel, "tries": 0, "reason": ""}],
        )
    reason = ""
    try:
        send(settings, message)
    except NotSent as error:
        reason = str(error)
    with session(settings.database) as db:
        row = db.get_one(Notice, (message.event_id, channel))
        row.tries, row.reason, row.sent_at = row.tries + 1, reason, None if reason else now()
    return not reason


def signature(secret: str, moment: int, body: bytes) -> str:
    """What the receiver computes again: HMAC-SHA256 of the time, a dot and the body.

    >>> signature("secret", 1, b"{}")[:20]
    't=1,v1=1122767b19311'
    """
    mac = hmac.new(secret.encode(), f"{moment}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={moment},v1={mac}"


def _post(settings: Settings, message: Message) -> None:
    parts = urlsplit(settings.webhook_url)
    body = json.dumps(message.public, sort_keys=True).encode()
    signed = signature(settings.webhook_secret.get_secret_value(), int(time.time()), body)
    headers = {
        "Content-Type": "application/json",
        SIGNATURE: signed,
        "Idempotency-Key": f"event-{message.event_id}",
    }
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    line = kind(parts.netloc, timeout=SECONDS)
    try:
        line.request("POST", parts._replace(scheme="", netloc="").geturl() or "/", body, headers)
        status = line.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        raise NotSent(f"The webhook does not answer ({type(error).__name__}).") from None
    finally:
        line.close()
    if not 200 <= status < 300:
        raise NotSent(f"The webhook answers {status}.")


def _mail(settings: Settings, message: Message) -> None:
    try:
        with smtplib.SMTP(settings.smtp_host, settings.smtp_port, timeout=SECONDS) as server:
            if settings.smtp_tls:
                server.starttls(context=ssl.create_default_context())
            if settings.smtp_user:
                server.login(settings.smtp_user, settings.smtp_password.get_secret_value())
            server.send_message(letter(settings, message))
    except (OSError, smtplib.SMTPException, ValueError) as error:
        raise NotSent(f"The mail server did not take it ({type(error).__name__}).") from None


def letter(settings: Settings, message: Message) -> EmailMessage:
    """The e-mail to a team; what others wrote stands in the body only, where it can steer
    nothing."""
    mail = EmailMessage()
    mail["From"], mail["To"] = settings.smtp_from, message.contact
    mail["Subject"] = f"Armillary: {message.submission} is {message.state}"
    mail["X-Armillary-Event"] = str(message.event_id)
    mail.set_content("\n".join(_lines(message)))
    return mail


def _lines(message: Message) -> Sequence[str]:
    whose: Mapping[str, str] = {
        "ours": "This is our fault and costs you nothing.",
        "submitter": "You can mend this.",
    }
    first = f"{message.model} ({message.suite}, {message.submission}) is {message.state}."
    return [
        line for line in (first, message.text, whose.get(message.fault, ""), message.code) if line
    ]
