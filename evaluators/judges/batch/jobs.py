"""Batch jobs at an OpenAI-compatible endpoint: put in, found again, waited for, fetched."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from evaluators.judges.batch.lines import CALL, BatchResult, read_results
from evaluators.judges.http.endpoint import HttpJudgeConfig
from evaluators.judges.http.faults import Fault

if TYPE_CHECKING:
    from openai import OpenAI

ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
MARK = "armillary"
LISTED = 100
CONNECTION_TRIES = 5


@dataclass(frozen=True, slots=True)
class BatchJob:
    """A job at the endpoint and the names of its calls."""

    id: str
    names: tuple[str, ...]


class JobBook(Protocol):
    """Where jobs are written down, so that a killed run finds those it has put in."""

    def note(self, job: BatchJob) -> None: ...

    def open_jobs(self) -> Sequence[BatchJob]: ...

    def close(self, job: BatchJob) -> None: ...


class NoBook:
    """Forgets everything: for a judge that is asked by hand."""

    def note(self, job: BatchJob) -> None:
        """Write nothing down."""

    def open_jobs(self) -> Sequence[BatchJob]:
        """No job is known."""
        return ()

    def close(self, job: BatchJob) -> None:
        """Cross nothing out."""


class BatchEndpoint:
    """The file and batch calls of an endpoint; what the client raises becomes a Fault."""

    def __init__(
        self, config: HttpJudgeConfig, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._config, self._clock = config, clock
        self._client = _client(config)

    def put(self, file: Path, names: tuple[str, ...]) -> BatchJob:
        """Put a job in, unless one with the same calls is there: it was put in before a kill that
        came too early to write it down."""
        mark = hashlib.sha256("\n".join(names).encode()).hexdigest()
        if (known := self._marked(mark)) is not None:
            return BatchJob(known, names)
        with file.open("rb") as lines:
            sent = self._try(lambda: self._client.files.create(file=lines, purpose="batch"))
        job = self._try(
            lambda: self._client.batches.create(
                input_file_id=sent.id,
                endpoint=CALL,  # type: ignore[arg-type]
                completion_window="24h",
                metadata={MARK: mark},
            )
        )
        return BatchJob(str(job.id), names)

    def results(self, job: BatchJob) -> Iterator[BatchResult]:
        """Wait for a job's end, and give whatever it brought: one that failed or ran out of time
        may have finished some calls."""
        state = self._ended(job)
        for file in (state.output_file_id, state.error_file_id):
            if file:
                yield from read_results(self._text(file))

    def _text(self, file: str) -> str:
        return str(self._try(lambda: self._client.files.content(file).text))

    def _ended(self, job: BatchJob) -> Any:
        limit = self._clock() + self._config.batch_hours * 3600
        while (
            state := self._try(lambda: self._client.batches.retrieve(job.id))
        ).status not in ENDED:
            if self._clock() > limit:
                hours = self._config.batch_hours
                raise Fault(f"the batch job {job.id} has not ended within {hours:g} hours")
            time.sleep(self._config.batch_poll)
        return state

    def _state(self, job: BatchJob) -> Any:
        return self._try(lambda: self._client.batches.retrieve(job.id))

    def _marked(self, mark: str) -> str | None:
        """The job with this mark that is under way or done, if the endpoint lists one."""
        listed = self._try(lambda: self._client.batches.list(limit=LISTED)).data
        for job in listed:
            if (job.metadata or {}).get(MARK) == mark and job.status not in ENDED - {"completed"}:
                return str(job.id)
        return None

    def _try(self, work: Callable[[], Any]) -> Any:
        """Do it again while the connection fails or the endpoint is busy."""
        import openai

        for turn in range(CONNECTION_TRIES):
            try:
                return work()
            except openai.APIStatusError as error:
                if error.status_code < 500 and error.status_code != 429:
                    hint = "set batch = false: " if error.status_code in (404, 405, 501) else ""
                    reason = f"HTTP {error.status_code}: {hint}{error.message}"
                    raise Fault(reason, again=False, body=error.response.text) from None
                fault = Fault(f"HTTP {error.status_code}: {error.message}")
            except openai.APIError as error:
                fault = Fault(f"the connection failed ({type(error).__name__})")
            time.sleep(self._config.backoff * 2**turn)
        raise fault


def _client(config: HttpJudgeConfig) -> OpenAI:
    from openai import OpenAI

    return OpenAI(
        base_url=config.base_url,
        api_key=config.api_key or "none",
        max_retries=0,
        timeout=config.deadline,
        default_headers=config.sent_headers,
    )
