"""A run as a process that can be killed: it writes down every reply when it is complete, and asks
only for the rest."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from evaluators.contracts import Reply, Request
from evaluators.judges.card import request_key
from evaluators.judges.http.judge import HttpJudge
from tests.judges.endpoints import Endpoint, asked


def _key(request: Request) -> str:
    return (
        f"{request.media_sha256} {request_key(request.prompt, request.modality, request.questions)}"
    )


def main(port: int, folder: Path, count: int) -> None:
    """Judge what the journal does not have yet."""
    path = folder / "journal.jsonl"
    config = Endpoint(port, 0).config(concurrency=8)
    with path.open("a+") as journal:
        journal.seek(0)
        known = {json.loads(line)["key"] for line in journal if line.endswith("\n")}

        def keep(request: Request, reply: Reply) -> None:
            line = {"key": _key(request), "sample": reply.sample_id, "raw": reply.raw}
            journal.write(json.dumps(line) + "\n")
            journal.flush()
            os.fsync(journal.fileno())

        left = [request for request in asked(count, folder) if _key(request) not in known]
        for _ in HttpJudge(config, keep=keep).judge(left):
            pass


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
