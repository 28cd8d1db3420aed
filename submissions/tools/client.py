"""Handing a bundle in at a server: every step may be repeated, so a lost answer or a cut line costs
nothing."""

from __future__ import annotations

import hashlib
import http.client
import json
import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from submissions.bundle.check import declared
from submissions.format.errors import IntakeError, Problem, refusal, shown

TRIES = 6
PAUSE = 0.2
POLL_SECONDS = 600
Answer = tuple[int, bytes]
Progress = Callable[[int, int], None]
"""Called with the bytes that the server has and the bytes there are."""


PREFIXES = ("", "/api")
FINAL = ("published", "rejected", "failed", "withdrawn")


@dataclass(frozen=True, slots=True)
class RemoteEvent:
    """One line of a timeline, as the server tells it."""

    at: str
    what: str
    text: str


@dataclass(frozen=True, slots=True)
class RemoteStatus:
    """Where a submission stands, as the server tells it; `waits` says for what, if it waits."""

    submission_id: str
    state: str
    reason: str
    waits: str
    events: tuple[RemoteEvent, ...]


@dataclass(frozen=True, slots=True)
class HandedIn:
    """What the server made of a bundle; `page` is where people follow it, if there is one."""

    submission_id: str
    duplicate: bool
    warnings: tuple[Problem, ...]
    suite: str
    page: str


def left_of_the_quota(quota: Mapping[str, Any]) -> str:
    """What `/v1/teams/me` says of a suite, in a sentence."""
    when = (
        f"; the next place is free at {quota['renews_at'][:16].replace('T', ' ')} UTC"
        if quota["renews_at"]
        else ""
    )
    running = f", {quota['running']} running" if quota["running"] else ""
    return f"Quota: {quota['left']} of {quota['limit']} scored submissions left{running}{when}."


class Server:
    """A server that takes submissions, and the token to come with."""

    def __init__(self, address: str, token: str) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
            raise refusal(
                "E_ARGUMENTS", "server", f"{shown(address)} is no address.", "Write https://host."
            )
        self._parts, self._token = parts, token
        self._prefix: str | None = None

    def page_of(self, submission_id: str) -> str:
        """Where people follow a submission; empty where the address is an API without pages."""
        base = f"{self._parts.scheme}://{self._parts.netloc}{self._parts.path.rstrip('/')}"
        if self._found_prefix():
            return f"{base}/submit?id={submission_id}"
        return f"{base.removesuffix('/api')}/submit?id={submission_id}" * base.endswith("/api")

    def status(self, submission_id: str) -> RemoteStatus:
        """Where a submission of the team stands, and its timeline."""
        row = self.ask("GET", f"/v1/submissions/{submission_id}", b"", {})
        events = self.ask("GET", f"/v1/submissions/{submission_id}/timeline", b"", {})
        lines = tuple(
            RemoteEvent(event["at"][:19].replace("T", " "), event["kind"], event["text"])
            for event in events
        )
        return RemoteStatus(submission_id, row["state"], row["reason"], row["waits"], lines)

    def watch(self, submission_id: str, seconds: float = 3.0) -> Iterator[RemoteStatus]:
        """The status whenever it changes, until it is final."""
        before: RemoteStatus | None = None
        while before is None or before.state not in FINAL:
            current = self.status(submission_id)
            if current != before:
                yield current
            before = current
            if before.state not in FINAL:
                time.sleep(seconds)

    def _found_prefix(self) -> str:
        """What leads from the address to the API: nothing for the API itself, `/api` for a
        board's own address."""
        if self._prefix is None:
            self._prefix = next((p for p in PREFIXES if self._answers(p)), PREFIXES[0])
        return self._prefix

    def _answers(self, prefix: str) -> bool:
        try:
            path = f"{prefix}/v1/openapi.json"
            status, answer = _request(self._parts, "GET", path, b"", {})
            return status == 200 and "openapi" in json.loads(answer)
        except (OSError, http.client.HTTPException, ValueError, _Failing):
            return False

    def hand_in(self, bundle: Path, progress: Progress = lambda _sent, _size: None) -> HandedIn:
        """Send a bundle and have it checked; what the server has already is not sent again."""
        with bundle.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        manifest = declared(bundle).model_dump(mode="json")
        key = hashlib.sha256(
            f"{sha256} {manifest['suite']} {manifest['suite_version']}".encode()
        ).hexdigest()
        size = bundle.stat().st_size
        body = json.dumps({"manifest": manifest, "size": size, "sha256": sha256}).encode()
        headers = {"Content-Type": "application/json", "Idempotency-Key": key}
        upload = self.ask("POST", "/v1/submissions", body, headers)["upload"]
        self._send(bundle, upload, progress)
        return self._finish(upload["id"], manifest["suite"])

    def _send(self, bundle: Path, upload: Mapping[str, Any], progress: Progress) -> None:
        sent = sum(part["size"] for part in upload["parts"] if part["received"])
        progress(sent, upload["size"])
        with bundle.open("rb") as file:
            for part in upload["parts"]:
                if not part["received"]:
                    file.seek(part["offset"])
                    self._send_part(part, file.read(part["size"]))
                    sent += part["size"]
                    progress(sent, upload["size"])

    def _send_part(self, part: Mapping[str, Any], data: bytes) -> None:
        if part["link"]:
            link = self.ask(
                "GET", f"{part['link']}?sha256={hashlib.sha256(data).hexdigest()}", b"", {}
            )
            _retried(lambda: _put(link["url"], data, link["headers"]))
        else:
            self.ask("PUT", part["path"], data, {"Content-Type": "application/octet-stream"})

    def _finish(self, upload_id: str, suite: str) -> HandedIn:
        until = time.monotonic() + POLL_SECONDS
        while time.monotonic() < until:
            answer = self.ask("POST", f"/v1/submissions/uploads/{upload_id}/finish", b"", {})
            if answer["submission"]:
                warnings = tuple(Problem(**warning) for warning in answer["warnings"])
                page = self.page_of(answer["submission"])
                return HandedIn(answer["submission"], answer["duplicate"], warnings, suite, page)
            time.sleep(PAUSE)
        raise refusal(
            "E_TIMEOUT", "server", "The check takes very long.", "Run the same command again later."
        )

    def ask(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Any:
        """One request, tried again while the line or the server fails; a refusal is IntakeError."""
        sent = {"Authorization": f"Bearer {self._token}", **headers}
        whole = self._found_prefix() + path
        status, answer = _retried(lambda: _request(self._parts, method, whole, body, sent))
        if status >= 400:
            raise _refused(status, answer)
        return json.loads(answer) if answer else None


class _Failing(Exception):
    """The server cannot answer now."""


def _retried(ask: Callable[[], Answer]) -> Answer:
    for number in range(TRIES):
        try:
            return ask()
        except (OSError, http.client.HTTPException, _Failing):
            if number == TRIES - 1:
                break
            time.sleep(PAUSE * 2**number * random.uniform(0.5, 1))  # noqa: S311
    raise refusal(
        "E_SERVER", "server", "The server does not answer.", "Run the same command again later."
    )


def _request(
    parts: SplitResult, method: str, path: str, body: bytes, headers: Mapping[str, str]
) -> Answer:
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.netloc, timeout=120)
    try:
        connection.request(method, parts.path.rstrip("/") + path, body, dict(headers))
        answer = connection.getresponse()
        status_and_body = answer.status, answer.read()
    finally:
        connection.close()
    if status_and_body[0] >= 500:
        raise _Failing
    return status_and_body


def _put(url: str, data: bytes, headers: Mapping[str, str]) -> Answer:
    parts = urlsplit(url)
    status, answer = _request(
        parts._replace(path=""), "PUT", f"{parts.path}?{parts.query}", data, headers
    )
    if status >= 400:
        raise refusal(
            "E_S3_UNREADABLE",
            "store",
            f"The store answers {status}.",
            "Run the same command again.",
        )
    return status, answer


def _refused(status: int, answer: bytes) -> IntakeError:
    try:
        problems = json.loads(answer)["error"]["problems"]
        return IntakeError([Problem(**problem) for problem in problems])
    except (ValueError, KeyError, TypeError):
        return refusal("E_SERVER", "server", f"The server answers {status}.", "Check its address.")
