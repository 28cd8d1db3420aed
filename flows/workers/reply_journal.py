"""Replies of a judge that is paid by the call, kept one by one: a finished call survives a kill
inside its shard."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from evaluators.contracts import Judge, Reply, Request
from infra.store import Store


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
    from evaluators.judges.http.judge import HttpJudge

    if not isinstance(judge, HttpJudge):
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

    fresh = judge.kept_by(keep).judge(
        [request for request in requests if request.sample_id not in stored]
    )
    for request in requests:
        if request.sample_id in stored:
            yield json.loads(store.get(keys[request.sample_id]))
        else:
            yield record(request, next(fresh))


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
