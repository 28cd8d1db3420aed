"""Replies of a judge that is paid by the call, kept one by one: a finished call survives a kill
inside its shard."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evaluators.contracts import Answer, Judge, Outcome, Reply, Request
from evaluators.judges.batch.jobs import BatchJob
from evaluators.judges.card import fingerprint as card_fingerprint
from infra.store import Store

if TYPE_CHECKING:
    from evaluators.judges.panel import PanelJudge


def judged(
    judge: Judge,
    fingerprint: str,
    requests: Sequence[Request],
    request_keys: Mapping[str, str],
    store: Store,
) -> Generator[dict[str, Any]]:
    """One record a request, in their order; what lies in the journal is not asked again.

    A local judge answers a shard in seconds and is asked afresh; only a judge behind an endpoint is
    worth a journal.
    """
    from evaluators.judges.batch.judge import BatchJudge
    from evaluators.judges.http.judge import HttpJudge
    from evaluators.judges.panel import PanelJudge

    if isinstance(judge, PanelJudge):
        yield from _by_panel(judge, fingerprint, requests, request_keys, store)
        return
    if not isinstance(judge, (HttpJudge, BatchJudge)):
        for request, reply in zip(requests, judge.judge(requests), strict=True):
            yield record(request, reply)
        return
    keys = {
        request.sample_id: _key(fingerprint, request_keys[request.sample_id], request)
        for request in requests
    }
    stored = {name for name, key in keys.items() if store.exists(key)}

    def keep(request: Request, reply: Reply) -> None:
        if all(answer.value is not None for answer in reply.answers):
            store.put(
                keys[request.sample_id], json.dumps(record(request, reply), sort_keys=True).encode()
            )

    asked = [request for request in requests if request.sample_id not in stored]
    if isinstance(judge, BatchJudge):
        names = {name: hashlib.sha256(key.encode()).hexdigest()[:40] for name, key in keys.items()}
        batch = replace(
            judge,
            keep=keep,
            book=StoredJobs(store, fingerprint),
            names=lambda request: names[request.sample_id],
        )
        fresh = batch.judge(asked)
    else:
        fresh = judge.kept_by(keep).judge(asked)
    for request in requests:
        if request.sample_id in stored:
            yield json.loads(store.get(keys[request.sample_id]))
        else:
            yield record(request, next(fresh))


@dataclass(frozen=True, slots=True)
class StoredJobs:
    """The batch jobs of a judge that have not been read yet, as objects in the store."""

    store: Store
    fingerprint: str

    def note(self, job: BatchJob) -> None:
        """Write a job down as soon as it is put in."""
        self.store.put(self._key(job), json.dumps([job.id, *job.names]).encode())

    def open_jobs(self) -> list[BatchJob]:
        """The jobs that a killed run left behind."""
        listed = [entry.key for entry in self.store.list(f"batches/{self.fingerprint}/")]
        return [
            BatchJob(job, tuple(names))
            for job, *names in (json.loads(self.store.get(key)) for key in sorted(listed))
        ]

    def close(self, job: BatchJob) -> None:
        """Cross out a job whose answers are kept."""
        self.store.delete(self._key(job))

    def _key(self, job: BatchJob) -> str:
        name = hashlib.sha256(job.id.encode()).hexdigest()[:32]
        return f"batches/{self.fingerprint}/{name}.json"


def _by_panel(
    panel: PanelJudge,
    fingerprint: str,
    requests: Sequence[Request],
    request_keys: Mapping[str, str],
    store: Store,
) -> Iterator[dict[str, Any]]:
    """Every member under its own fingerprint: what it answered alone or in another panel is not
    paid for again. What follows the panel's fingerprint, a night say, follows theirs."""
    from evaluators.judges.panel import together

    occasion = fingerprint.removeprefix(card_fingerprint(panel.card))
    of_members = [
        judged(member, card_fingerprint(member.card) + occasion, requests, request_keys, store)
        for member in panel.members
    ]
    for request, *records in zip(requests, *of_members, strict=True):
        yield record(request, together(request, [reply_of(row) for row in records], panel.rule))


def reply_of(fields: Mapping[str, Any]) -> Reply:
    """A reply that was read from the store."""
    answers = tuple(
        Answer(row["question_id"], Outcome(row["outcome"]), row["value"], row["reason"])
        for row in fields["answers"]
    )
    names = ("sample_id", "raw", "tokens_in", "tokens_out", "cost")
    return Reply(answers=answers, **{name: fields[name] for name in names})


def _key(fingerprint: str, request_key: str, request: Request) -> str:
    return f"replies/{fingerprint}/{request_key}/{request.media_sha256}-{request.repeat}.json"


def record(request: Request, reply: Reply) -> dict[str, Any]:
    """A reply as it lies in the store."""
    answers = [
        {
            "question_id": a.question_id,
            "outcome": a.outcome.value,
            "value": a.value,
            "reason": a.reason,
        }
        for a in reply.answers
    ]
    fields = {
        name: getattr(reply, name)
        for name in ("sample_id", "raw", "tokens_in", "tokens_out", "cost")
    }
    return {"media_sha256": request.media_sha256, "answers": answers, **fields}
