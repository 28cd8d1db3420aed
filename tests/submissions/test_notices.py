"""Who is told how a submission ended: by a real web server and a real mail server, each once."""

from __future__ import annotations

import email
import hashlib
import hmac
import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from sqlmodel import select

from infra.db import migrate, session
from infra.settings import Settings
from infra.tables import Event, Submission, Suite, Team, now
from infra.tables.intake import Notice
from submissions.intake import notices
from submissions.teams.lifecycle import State, advance, record


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Two submissions that have ended, of a team with an address, and one that has not."""
    made = Settings(home=tmp_path / "home")
    migrate(made.database)
    with session(made.database) as db:
        db.add(
            Suite(
                name="s",
                position=0,
                version="1",
                scorer_version="1",
                items_sha256="",
                title="S",
                facts=[],
            )
        )
        db.add(Team(name="Owls", contact="owls@example.org"))
        db.flush()
        for number in range(3):
            db.add(
                Submission(
                    id=f"sub-{number}",
                    team="Owls",
                    model="Owl\n2",
                    organisation="o",
                    suite="s",
                    suite_version="1",
                    subset="full",
                    kind="outputs",
                    trust="B",
                    state="received",
                    bundle_sha256="",
                )
            )
        db.flush()
        advance(db, "sub-0", State.PUBLISHED, "On the board.")
        advance(db, "sub-1", State.FAILED, "The judge was away.", fault="ours", code="E_JUDGE")
        advance(db, "sub-2", State.GENERATING, "Preparing.")
    return made


@contextmanager
def webhook(statuses: list[int]) -> Iterator[tuple[str, list[tuple[dict[str, str], bytes]]]]:
    """A web server that answers with these statuses, then 200, and keeps what it was sent."""
    got: list[tuple[dict[str, str], bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.append((dict(self.headers), body))
            self.send_response(statuses.pop(0) if statuses else 200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/hook?a=b", got
        server.shutdown()


@contextmanager
def mailbox() -> Iterator[tuple[int, list[tuple[str, Any]]]]:
    """A mail server that takes everything and keeps it."""
    got: list[tuple[str, Any]] = []

    class Handler(socketserver.StreamRequestHandler):
        def say(self, text: str) -> None:
            self.wfile.write(text.encode() + b"\r\n")

        def handle(self) -> None:
            self.say("220 ready")
            to = ""
            while line := self.rfile.readline():
                word = line.decode().strip()
                if word.upper().startswith("RCPT"):
                    to = word.partition("<")[2].partition(">")[0]
                if word.upper() == "DATA":
                    self.say("354 go on")
                    data = b"".join(iter(self.rfile.readline, b".\r\n"))
                    got.append((to, email.message_from_bytes(data)))
                self.say("221 bye" if word.upper() == "QUIT" else "250 ok")
                if word.upper() == "QUIT":
                    return

    with socketserver.TCPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1], got
        server.shutdown()


def test_the_webhook_gets_each_end_once_and_can_check_who_sent_it(settings: Settings) -> None:
    with webhook([]) as (url, got):
        told = settings.model_copy(
            update={"webhook_url": url, "webhook_secret": SecretStr("a secret")}
        )

        counts = [notices.deliver(told), notices.deliver(told)]

    assert counts == [2, 0]
    said = [json.loads(body) for _, body in got]
    assert [(one["submission"], one["state"], one["fault"]) for one in said] == [
        ("sub-0", "published", ""), ("sub-1", "failed", "ours")
    ]  # fmt: skip
    assert "owls@" not in str(said) and "a secret" not in str(got)
    headers, body = got[0]
    moment, _, mac = headers[notices.SIGNATURE].partition(",v1=")
    again = hmac.new(
        b"a secret", moment.removeprefix("t=").encode() + b"." + body, hashlib.sha256
    ).hexdigest()
    assert hmac.compare_digest(mac, again)


def test_what_the_webhook_did_not_take_is_sent_again_and_given_up_in_the_end(
    settings: Settings,
) -> None:
    with webhook([500, 200, 503]) as (url, got):
        told = settings.model_copy(update={"webhook_url": url})
        counts = [notices.deliver(told) for _ in range(3)]

    assert counts == [1, 0, 1] and len(got) == 4
    away = settings.model_copy(update={"webhook_url": "http://127.0.0.1:9/"})
    with session(settings.database) as db:
        for row in db.exec(select(Notice)):
            db.delete(row)
    for _ in range(notices.MOST_TRIES + 3):
        assert notices.deliver(away) == 0
    with session(settings.database) as db:
        rows = db.exec(select(Notice)).all()
    assert {(row.tries, row.sent_at) for row in rows} == {(notices.MOST_TRIES, None)}
    assert "does not answer" in rows[0].reason


def test_the_team_gets_an_e_mail_that_says_whose_fault_it_was(settings: Settings) -> None:
    with mailbox() as (port, got):
        told = settings.model_copy(
            update={"smtp_host": "127.0.0.1", "smtp_port": port, "smtp_tls": False}
        )

        counts = [notices.deliver(told), notices.deliver(told)]

    assert counts == [2, 0] and [to for to, _ in got] == ["owls@example.org"] * 2
    failed = got[1][1]
    assert failed["Subject"] == "Armillary: sub-1 is failed"
    text = failed.get_payload(decode=True).decode()
    assert "The judge was away." in text and "our fault" in text and "E_JUDGE" in text


def test_old_ends_and_teams_without_an_address_are_left_in_peace(settings: Settings) -> None:
    with session(settings.database) as db:
        db.get_one(Team, "Owls").contact = "ask at the desk"
        for event in db.exec(select(Event).where(Event.subject == "sub-0")):
            event.at = now() - timedelta(days=notices.DAYS + 1)
    with mailbox() as (port, got), webhook([]) as (url, posts):
        told = settings.model_copy(
            update={
                "smtp_host": "127.0.0.1",
                "smtp_port": port,
                "smtp_tls": False,
                "webhook_url": url,
            }
        )

        assert notices.deliver(told) == 1

    assert got == [] and len(posts) == 1


def test_a_channel_on_which_nobody_answers_holds_nobody_up(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []

    def nobody(_settings: Settings, message: notices.Message) -> None:
        tried.append(message.submission)
        raise notices.NotSent("The webhook does not answer.")

    monkeypatch.setattr(notices, "_post", nobody)
    with session(settings.database) as db:
        for number in range(20):
            record(db, f"sub-{number % 2}", State.FAILED, "Again.")

    assert notices.deliver(settings.model_copy(update={"webhook_url": "http://nobody"})) == 0
    assert len(tried) == notices.MOST_FAILURES


def test_with_nothing_set_up_nothing_is_written(settings: Settings) -> None:
    assert notices.deliver(settings) == 0
    with session(settings.database) as db:
        assert db.exec(select(Notice)).all() == []
